#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What nobody asks for is not opened: neither libdw nor tables of prototypes, where there is no value whose
# name or type has to be known.
. tests/scenario/lib.sh
export DPROBES_PROTOTYPES=$PWD/share/dprobes/prototypes

if ! strace -o /dev/null true 2>/dev/null; then
	skip "what is opened" "there is no strace that may trace"
	plan
	exit
fi
start "$VICTIMS/questions"
# named: what of the two has been found in lines of files that were opened
named() { grep -oE '/libdw[^/"]*|/prototypes/[^/"]*\.conf' | sed -E 's,^/(prototypes|libdw).*,\1,' | sort -u | tr '\n' ' '; }
# opens ARGS...: by the tool and its children
opens() {
	strace -f -qq -e trace=openat,open -o "$dir/strace" "$DPROBES" "$@" >"$dir/said" 2>"$dir/err" || cat "$dir/err"
	grep -v ' = -1 ' "$dir/strace" | named
}
# launches ARGS...: the same where strace may not have the children, which the tool traces: the dynamic linker
# tells of these
launches() {
	rm -f "$dir"/linker*
	LD_DEBUG=files LD_DEBUG_OUTPUT=$dir/linker strace -qq -e trace=openat,open -o "$dir/strace" "$DPROBES" "$@" >"$dir/said" 2>"$dir/err" ||
		cat "$dir/err"
	{ grep -v ' = -1 ' "$dir/strace"; cat "$dir"/linker*; } | named
}
at=(--duration 50ms -p "$victim")
is "stat" "$(opens stat handle "${at[@]}")" ""
is "stat of libraries" "$(opens stat libm.so.6:cos libc.so.6:malloc "${at[@]}")" ""
is "stat of a glob" "$(opens stat 'libc.so.6:mem*' "${at[@]}")" ""
is "stat of returns" "$(opens stat r:handle r:libc.so.6:read "${at[@]}")" ""
is "a condition on registers" "$(opens stat 'handle if %rdi != 0' "${at[@]}")" ""
is "stat of a command" "$(launches stat libc.so.6:malloc -- true)" ""
is "and of its children" "$(launches stat -f libc.so.6:malloc -- sh -c 'true; /bin/true')" ""
is "detach, doctor, list of what is armed" "$(opens detach -p "$victim"; opens doctor -p "$victim"; opens list -p "$victim")" ""
# The same finds what is opened.
is "a name of a table: that" "$(opens trace 'libc.so.6:open(path)' "${at[@]}")" "prototypes "
is "also of a command" "$(launches trace 'libc.so.6:getenv(name)' -- true)" "prototypes "
like "a struct of the program's: libdw" "$(opens trace 'handle(r->path)' "${at[@]}")" '(^| )libdw '
like "it has been read" "$(cat "$dir/said")" ' r->path="/(etc|no)/'
like "also of a command" "$("$DPROBES" list -v handle -- "$VICTIMS/questions" 2>&1)" 'values: r->\{path'
kill -KILL "$victim"
wait "$victim" 2>/dev/null
plan
