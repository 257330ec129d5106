# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where gdb's line table and blocks have the lines of a source: gdb -batch -nx -x source-lines.py PROGRAM
# prints "LINE ADDRESS…" for each line of the file $SOURCE that has code: the lowest address of a row that
# begins a statement, in each function and each inlined copy. A row whose address has rows of other lines
# behind it, and no function that begins before the line, is one that the compiler has left behind.
import os
import re

import gdb

source = os.environ["SOURCE"]


def is_source(symtab):
    return symtab == source or symtab.endswith("/" + source)


def rows():
    gdb.execute("maint expand-symtabs")
    symtab, last, found = "", {}, []
    for text in gdb.execute("maint info line-table", to_string=True).splitlines():
        head = re.match(r"symtab: (.*) \(\(struct", text)
        row = re.match(r"\d+\s+(\d+)\s+0x([0-9a-f]+)\s+(Y?)", text)
        if head:
            symtab = head.group(1)
        elif row and is_source(symtab):
            line, pc = int(row.group(1)), int(row.group(2), 16)
            last[pc] = line
            if row.group(3):
                found.append((line, pc))
    return [(line, pc, last[pc] != line) for line, pc in sorted(found)]


def function_at(pc, line, empty):
    block = gdb.block_for_pc(pc)
    while block and not (block.function and not (empty and is_after(block.function, line))):
        block = block.superblock
    return block and (block.start, block.end, str(block.function))


def is_after(function, line):
    return function.line > line or not is_source(function.symtab.filename)


lines = {}
for line, pc, empty in rows():
    function = function_at(pc, line, empty)
    if function or not empty:
        lines.setdefault(line, {}).setdefault(function, pc)
for line, places in lines.items():
    print(line, *sorted("%x" % pc for pc in places.values()))
