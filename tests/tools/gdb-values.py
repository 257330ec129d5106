# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Values by name at random places, as dprobes prints them and as gdb does in the same run of a program:
# gdb-values.py DPROBES SEED FUNCTIONS DIR MODULES PROGRAM ARGS... prints a line of counts, and a line for each
# value that differs. gdb reads this file, too, with GDB_VALUES naming a file of what is asked.
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
# These names are never those of variables.
OURS = re.compile(r"arg\d+|farg\d+|[er]?(ax|bx|cx|dx|si|di|bp|sp|ip)|r\d+|xmm\d+|[re]?flags|cs|ss|pid|tid|cpu|caller|retval|latency|[fg]s_base|orig_rax")
SPOILT = 50  # hits of a place at which the second run spoils the stack
# All that is allocated is in one place, which is the same with gdb and with dprobes.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc", "MALLOC_MMAP_THRESHOLD_": "1000000000"}
REASONS = ["is optimised out here", "is not kept here", "is of each thread", "points to what is in pieces", "is computed here",
           "is in a register here", "is in a vector register", "is not in its place here", "how this is passed is not known",
           "is in pieces here that GCC", "has no size", "no members that are known", "is not known to be a struct"]


# In gdb

def word(value):
    """The bits of a number, as 64 with its sign; None if it is none."""
    import gdb
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return word(value.referenced_value())
    if kind.code == gdb.TYPE_CODE_FLT and kind.sizeof == 8:
        return struct.unpack("<Q", struct.pack("<d", float(value)))[0]
    if kind.code == gdb.TYPE_CODE_FLT and kind.sizeof == 4:
        return struct.unpack("<I", struct.pack("<f", float(value)))[0]
    return int(value) & MASK


def is_number(kind):
    import gdb
    if kind.code == gdb.TYPE_CODE_FLT:
        return kind.sizeof in (4, 8)
    # References of Rust are pointers to gdb.
    if str(kind).startswith(("*mut ", "*const ")):
        return False
    return kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM,
                         gdb.TYPE_CODE_PTR) and kind.sizeof <= 8


def is_float(kind):
    import gdb
    return kind.code == gdb.TYPE_CODE_FLT and kind.sizeof == 4


def expressions(name, kind):
    """What is asked of a variable: (path, is it a float) of it, or of the numbers in it. A reference stands for what
    it refers to."""
    import gdb
    kind = kind.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        kind = kind.target().strip_typedefs()
    if str(kind) == "struct sysinfo":
        return  # of the whole machine, from one moment to the next
    if is_number(kind):
        yield [name], is_float(kind)
    elif kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in kind.fields():
            plain = hasattr(field, "bitpos") and not field.bitsize and field.name and re.fullmatch(r"[A-Za-z_]\w*", field.name)
            if plain and not field.is_base_class and is_number(field.type.strip_typedefs()):
                yield [name, field.name], is_float(field.type.strip_typedefs())


def is_enumerator(s):
    import gdb
    return s.is_constant and s.type.code == gdb.TYPE_CODE_ENUM and any(f.name == s.name for f in s.type.fields())


def hides(s):
    """Does its name stand for it, and not for what an outer block has?"""
    import gdb
    label = s.type is None or s.type.name == "__CORE_ADDR"
    return not label and s.addr_class not in (gdb.SYMBOL_LOC_TYPEDEF, gdb.SYMBOL_LOC_LABEL)


def symbols(addr):
    """Those of the blocks around an address, the innermost of each name, each with the number of the inlined
    function that has it. A variable that has the same value everywhere is a constant to gdb: the block of an inlined
    function's abstract instance has it, too, without one."""
    import gdb
    block, seen, depth = gdb.block_for_pc(addr), set(), 0
    while block and not block.is_global and not block.is_static:
        for s in block:
            if s.name in seen or not re.fullmatch(r"[A-Za-z_]\w*", s.name) or not hides(s) or OURS.fullmatch(s.name):
                continue
            seen.add(s.name)
            if s.is_variable or s.is_argument or s.is_constant and not is_enumerator(s):
                yield s, depth
        if block.function and not is_inlined(block):
            break
        depth += bool(block.function)
        block = block.superblock


def is_inlined(block):
    """A function that is defined in another one has a symbol where it begins."""
    import gdb
    return " + " in gdb.execute("info symbol %d" % block.start, to_string=True)


def places_in(rng, addr):
    """The entry of a function, and two instructions of it."""
    import gdb
    block = gdb.block_for_pc(addr)
    while block and not block.function:
        block = block.superblock
    if not block or block.start != addr:
        return []
    end = min(block.end, addr + 4000)
    insns = gdb.selected_inferior().architecture().disassemble(addr, end - 1)
    inner = rng.sample([i["addr"] for i in insns[1:]], min(2, len(insns) - 1))
    return inner if os.environ.get("GDB_VALUES_INNER") else [addr] + inner


def read(frame, symbol, path):
    import gdb
    try:
        value = frame.read_var(symbol)
        for name in path[1:]:
            value = value[name]
        if value.is_optimized_out:
            return "out"
        return word(value)
    except gdb.error as e:
        return "out" if "optimized out" in str(e) else "error"
    except (ValueError, OverflowError, RuntimeError, TypeError):
        return "error"


def is_in_range(text, pc):
    start, end = (int(n, 16) for n in re.match(r"0x([0-9a-f]+)-0x([0-9a-f]+)", text).groups())
    return start <= pc < end


def pieces_end(symbol, depth, pc):
    """Bytes of a variable that pieces say something of here; None if it has none. To gdb, what is behind them is 0."""
    import gdb
    frame = gdb.newest_frame()
    for _ in range(depth):
        frame = frame.older()
    frame.select()
    try:
        text = gdb.execute("info address " + symbol.name, to_string=True)
    except gdb.error:
        return None  # gdb cannot say it of every form
    ranges = re.split(r"  Range ", text)[1:]
    if ranges:
        text = next((r for r in ranges if is_in_range(r, pc)), "")
    sizes = re.findall(r"\[(\d+)-byte piece\]", text)
    return sum(int(n) for n in sizes) if sizes else None


def end_of(symbol, path):
    """Where a variable, or its member, ends."""
    import gdb
    kind = symbol.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return 0
    if len(path) == 1:
        return kind.sizeof
    field = next(f for f in kind.fields() if f.name == path[1])
    return field.bitpos // 8 + field.type.sizeof


def asked_of(addr, entry):
    asked = []
    for s, _ in symbols(addr):
        for path, narrow in expressions(s.name, s.type):
            asked.append({"path": path, "float": narrow, "parameter": s.is_argument})
    return {"addr": addr, "entry": entry, "asked": asked[:12], "hit": False}


def see(place, pc):
    import gdb
    frame = gdb.newest_frame()
    while frame.type() == gdb.INLINE_FRAME and frame.older():
        frame = frame.older()
    by_name = {s.name: (s, depth) for s, depth in symbols(pc)}
    for a in place["asked"]:
        symbol, depth = by_name[a["path"][0]]
        a["gdb"] = read(frame, symbol, a["path"])
        a["cut"] = end_of(symbol, a["path"]) > (pieces_end(symbol, depth, pc) or 1 << 32)
    place["hit"] = True


def spoil_stack():
    """What is behind the red zone is anything: a variable that has no value yet may be that."""
    import gdb
    sp = int(gdb.parse_and_eval("$sp")) & MASK
    for size in (4096, 2048, 1024):
        try:
            gdb.selected_inferior().write_memory(sp - 128 - size, b"\x5a" * size)
            return
        except gdb.MemoryError:
            pass


def mappings():
    """Where each file is, from its first byte on."""
    import gdb
    maps = {}
    for line in gdb.execute("info proc mappings", to_string=True).splitlines():
        words = line.split()
        if len(words) > 5 and words[-1].startswith("/"):
            maps.setdefault(words[-1], int(words[0], 16))
    return maps


def choose(entries, rng, maps):
    places = {}
    for entry in entries:
        for addr in places_in(rng, entry):
            place = asked_of(addr, entry)
            place["file"], base = max(((f, b) for f, b in maps.items() if b <= addr), key=lambda x: x[1])
            place["offset"] = addr - base
            if place["asked"]:
                places[addr] = place
    return places


def in_gdb(file):
    import gdb
    with open(file) as f:
        job = json.load(f)
    gdb.execute("set startup-with-shell off")
    gdb.execute("unset environment")
    for name, value in ENVIRONMENT.items():
        gdb.execute("set environment %s %s" % (name, value))
    gdb.execute("tbreak main")
    gdb.execute("run")
    maps = mappings()
    if job.get("places"):
        places = {maps[p["file"]] + p["offset"]: dict(p, hit=False) for p in job["places"]}
    else:
        places = choose(job["entries"], random.Random(job["seed"]), maps)
    # Where an inlined function begins, gdb hides its frame from those who have set no breakpoint there: internal ones.
    points = {addr: gdb.Breakpoint("*%d" % addr) for addr in places}
    hits = {}
    while gdb.selected_inferior().pid:
        gdb.execute("continue")
        if not gdb.selected_inferior().pid:
            break
        pc = gdb.newest_frame().pc()
        if pc not in points:
            continue
        if not places[pc]["hit"]:
            see(places[pc], pc)
        hits[pc] = hits.get(pc, 0) + 1
        if job.get("places"):
            spoil_stack()
        if hits[pc] == (SPOILT if job.get("places") else 1):
            points.pop(pc).delete()
        if not points:
            gdb.execute("kill")
    with open(file + ".out", "w") as f:
        json.dump([p for p in places.values() if p["hit"]], f)


# The driver

def run(args, **more):
    return subprocess.run(["setarch", "-R"] + args, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **more)


def functions(dprobes, to, modules, command, rng, n):
    """Entries of random functions that the program calls, but not all the time."""
    main = []
    for module in modules:
        run([dprobes, "stat", "-q", "--json", "-o", to + "/counts", module + ":*", "--"] + command)
        with open(to + "/counts") as f:
            rows = [json.loads(line) for line in f]
        main += sorted(r["probe"] for r in rows if 0 < r.get("hits", 0) < 3000)
    chosen = rng.sample(main, min(n, len(main)))
    found = run([dprobes, "list", "--json"] + chosen + ["--"] + command).stdout.decode().splitlines()
    return [int(json.loads(line)["addr"], 16) for line in found]


def move_mappings():
    """The second run has its libraries elsewhere: what is another number then says nothing."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 29, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def ask_gdb(to, job, command, before=None):
    with open(to + "/job", "w") as f:
        json.dump(job, f)
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "source " + os.path.abspath(__file__),
                           "--args"] + command, env=dict(os.environ, GDB_VALUES=to + "/job"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, preexec_fn=before)
    if not os.path.exists(to + "/job.out"):
        sys.exit("gdb: " + done.stdout.decode()[-400:])
    with open(to + "/job.out") as f:
        places = json.load(f)
    os.unlink(to + "/job.out")
    return places


def spec_of(number, place):
    """The spec, and where each value begins in it."""
    text, starts = "0x%x(" % place["addr"], []
    for k, a in enumerate(place["asked"]):
        if a.get("refused"):
            continue
        starts.append((len(text), k))
        text += "p%d_%d=%s:x%d, " % (number, k, ".".join(a["path"]), 32 if a["float"] else 64)
    return text.rstrip(", ") + ")", starts


def refuse(dprobes, command, number, place):
    """Leave out what dprobes refuses. Return: the spec of the rest."""
    while True:
        spec, starts = spec_of(number, place)
        if not starts:
            return None
        done = run([dprobes, "list", spec, "--"] + command)
        if not done.returncode:
            return spec
        lines = done.stderr.decode().splitlines()
        caret = next((line.index("^") - 2 for line in lines if re.match(r" *\^", line)), 0)
        k = [k for at, k in starts if at <= caret]
        if not k:
            place["whole"] = lines[0]
            for a in place["asked"]:
                a["refused"] = a.get("refused") or lines[0]
            return None
        place["asked"][k[-1]]["refused"] = lines[0]


def ask_dprobes(dprobes, to, command, places):
    main = os.path.basename(os.path.realpath(command[0])) + ":main"
    specs = [refuse(dprobes, command, i, p) for i, p in enumerate(places)]
    run([dprobes, "trace", "-q", "--json", "--buffer", "16M", "-o", to + "/lines", main + "()"] + [s for s in specs if s] + ["--"] + command)
    begun = False
    with open(to + "/lines") as f:
        for line in f:
            record = json.loads(line)
            begun |= record["probe"] == main
            for name, value in record["args"].items() if begun else ():
                i, k = re.match(r"p(\d+)_(\d+)", name).groups()
                places[int(i)]["asked"][int(k)].setdefault("ours", value)


def same(a, b):
    """Mappings that a program makes later are elsewhere: dprobes has made some before them."""
    late = range(0x7ff000000000, 0x7ffff7fff000)
    return a == b or a in late and b in late and (a - b) % 4096 == 0


def judge(place, asked):
    ours, theirs, why = asked.get("ours"), asked["gdb"], asked.get("refused")
    if theirs == "error":
        return "gdb failed"
    if theirs != asked["again"] and not (isinstance(theirs, int) and isinstance(asked["again"], int) and same(theirs, asked["again"])):
        return "not the same twice"
    if why:
        known = next((r for r in REASONS if r in why), None)
        if known == REASONS[0] and asked.get("cut"):
            return "cut off by the pieces, which is 0 to gdb"
        if not known or known == REASONS[0] and theirs != "out":
            return "MISMATCH"
        return "optimised out in both" if known == REASONS[0] else "refused"
    if ours is None:
        return "not hit"
    if isinstance(ours, dict):
        return "MISMATCH"
    if theirs == "out":
        return "known by the ABI" if place["addr"] == place["entry"] and asked["parameter"] else "MISMATCH"
    return "equal" if same(int(ours, 16), theirs) else "MISMATCH"


def main():
    dprobes, seed, n, to, modules = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5].split(",")
    command, rng = sys.argv[6:], random.Random(int(sys.argv[2]))
    job = {"seed": seed, "entries": functions(dprobes, to, modules, command, rng, n)}
    places = ask_gdb(to, job, command)
    moved = ask_gdb(to, dict(job, places=places), command, move_mappings)
    twice = {(p["file"], p["offset"]): p for p in moved}
    for p in places:
        again = twice.get((p["file"], p["offset"]))
        for k, a in enumerate(p["asked"]):
            a["again"] = again["asked"][k]["gdb"] if again else None
    ask_dprobes(dprobes, to, command, places)
    counts, reasons = {}, {}
    for p in places:
        for a in p["asked"]:
            verdict = judge(p, a)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict == "refused":
                reason = next(r for r in REASONS if r in a["refused"])
                reasons[reason] = reasons.get(reason, 0) + 1
            if verdict == "MISMATCH":
                print("%#x (+%#x) %s: dprobes %s, gdb %s" % (p["addr"], p["addr"] - p["entry"], ".".join(a["path"]),
                                                            a.get("refused") or a.get("ours"),
                                                            hex(a["gdb"]) if isinstance(a["gdb"], int) else a["gdb"]))
    print(", ".join("%d %s" % (c, v) for v, c in sorted(counts.items(), key=lambda x: -x[1])))
    print("refused: " + ", ".join("%d %s" % (c, v) for v, c in sorted(reasons.items(), key=lambda x: -x[1])))


if "GDB_VALUES" in os.environ:
    in_gdb(os.environ["GDB_VALUES"])
else:
    main()
