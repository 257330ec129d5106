#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Core dumps of processes that run on (exit 3), read by gdb, and compared with the processes.
. tests/scenario/lib.sh
ulimit -c 0

python=/usr/bin/python3
if ! "$python" -c '' 2>"$dir/err" || ! gdb -nx -batch 2>"$dir/err"; then
	skip "core dumps of python3 in gdb" "no python3, or no gdb"
	plan
	exit
fi
python=$(realpath "$python")
cat >"$dir/threads.py" <<'END'
import os, select, sys, threading, time
data = bytearray(b"0123456789abcdef" * 65536)
def leaf(): time.sleep(1000)
def polls(): select.epoll().poll()
if "NAME" in os.environ:
    open("/proc/self/comm", "w").write(os.environ["NAME"])
wanted = leaf if len(sys.argv) < 3 else polls
for i in range(7):
    threading.Thread(target=wanted, daemon=True).start()
time.sleep(0.5)
print("there", flush=True)
for i in range(int(sys.argv[1])):
    time.sleep(0.02)
    os.getppid()
time.sleep(0.3)
print("done", flush=True)
END
cat >"$dir/core.dp" <<'END'
name = libc.so.6
modtype = user
major = 1
offset = getppid
minor = 3
exit 3
END
# What a core file has, and what is told of it: cores.py WHAT CORE [PID]
cat >"$dir/cores.py" <<'END'
import struct, sys
what, name = sys.argv[1:3]
core = open(name, "rb").read()
phoff, = struct.unpack_from("<Q", core, 32)
size, n = struct.unpack_from("<HH", core, 54)
heads = [struct.unpack_from("<IIQQQQQQ", core, phoff + i * size) for i in range(n)]
loads = [h for h in heads if h[0] == 1]
notes, files = [], []
for h in heads:
    at = h[2]
    while h[0] == 4 and at < h[2] + h[5]:
        a, b, kind = struct.unpack_from("<III", core, at)
        owner = core[at + 12:at + 12 + a - 1].decode()
        at += 12 + (a + 3 & ~3)
        notes.append((owner, kind, core[at:at + b]))
        at += b + 3 & ~3
for owner, kind, desc in notes:
    if kind == 0x46494c45:
        count, page = struct.unpack_from("<QQ", desc)
        names = desc[16 + 24 * count:].split(b"\0")
        files = [struct.unpack_from("<QQQ", desc, 16 + 24 * i) + (names[i].decode(),) for i in range(count)]
def merge(ranges):
    out = []
    for a, b in sorted(ranges):
        if out and out[-1][1] == a: out[-1][1] = b
        else: out.append([a, b])
    return out
if what == "text":
    # Every byte of code that it has is its file's.
    bad = seen = 0
    for kind, flags, off, addr, _, filesz, memsz, _ in loads:
        for a, b, page, path in files:
            if flags & 1 and filesz and a <= addr < b:
                f = open(path, "rb")
                f.seek(page * 4096 + addr - a)
                theirs = f.read(filesz)
                ours = core[off:off + len(theirs)]
                seen += len(ours)
                bad += sum(x != y for x, y in zip(ours, theirs))
    print(bad, "bytes differ", "of many" if seen > 100000 else "of %d" % seen)
elif what == "maps":
    maps = []
    for line in open("/proc/%s/maps" % sys.argv[3]):
        a, b = line.split()[0].split("-")
        maps.append((int(a, 16), int(b, 16)))
    ours = merge((h[3], h[3] + h[6]) for h in loads)
    theirs = merge(maps)
    print("same" if ours == theirs else ["%x-%x" % tuple(x) for x in ours + theirs if x not in ours or x not in theirs])
elif what == "data":
    print(sum(core[h[2]:h[2] + h[5]].count(b"0123456789abcdef" * 65536) for h in loads))
elif what == "about":
    print(next(d for o, k, d in notes if o == "DPROBES").decode().rstrip("\0"), end="")
END
about() { "$python" "$dir/cores.py" "$@"; }
# frames GDB ARGUMENTS...: of each thread, the names of its functions
frames() {
	gdb -nx -batch -ex 'thread apply all bt' "$@" 2>"$dir/gdb" | grep -v -e '^warning' |
		sed -n 's/^Thread [0-9]* (.*LWP \([0-9]*\)).*/T \1/p; s/^#[0-9]* *\(0x[0-9a-f]* in \)\?\([^ ]*\) .*/\2/p' |
		awk '$1 == "T" { t = $2; next } t { print t, $0 }' | sort -s -k1,1n
}

# at_getppid GDB ARGUMENTS...: names of functions and of registers with their values, of the thread that is there
at_getppid() {
	gdb -nx -batch "$@" -ex bt -ex 'info registers rip rsp rbp rbx r12 r13 r14 r15' -ex 'p $mxcsr' -ex 'x/4i getppid' 2>"$dir/gdb" |
		grep -A1000 '^#0 .*getppid' | grep -E '^(#|r[a-z0-9]+ |\$|=?>? +0x)' | grep -v '^#0.*nanosleep' |
		sed 's/^\(#[0-9]*\) *\(0x[0-9a-f]* in \)\?\([^ ]*\) .*/\1 \3/; s/^=>/  /' | awk '!seen[$0]++'
}

# Backtraces are those that gdb shows of the process itself, and at a breakpoint of its own. [rows 318, 321]
for arm in interior trap; do
	start "$python" "$dir/threads.py" 1000000
	DPROBES_ARM=$arm "$DPROBES" run -n 1 --core "$dir/$arm.%p" "$dir/core.dp" -p "$victim" >"$dir/records" 2>"$dir/stderr"
	core=$dir/$arm.$victim
	like "$arm: a core dump of python3 with 8 threads" "$(cat "$dir/records")" "  exit 3: a core dump: $core, 8 threads, held for [0-9]+ us$"
	echo "# $(sed -n 's/.*held/held/p' "$dir/records"), $(stat -c %s "$core") bytes, $(du -k "$core" | cut -f1) kB on disk"
	is "$arm: for its user alone" "$(stat -c %a "$core")" 600
	frames "$python" "$core" >"$dir/ours"
	frames -p "$victim" >"$dir/theirs"
	is "$arm: gdb shows 8 threads" "$(cut -d' ' -f1 "$dir/ours" | sort -u | wc -l)" 8
	[ "$(grep -vc "^$victim " "$dir/theirs")" -gt 60 ] || not_ok "$arm: gdb shows the process" "$(cat "$dir/gdb")"
	is "$arm: the frames of 7 are those of the process" "$(grep -v "^$victim " "$dir/ours" | md5sum)" "$(grep -v "^$victim " "$dir/theirs" | md5sum)"
	at_getppid -p "$victim" -ex 'break getppid' -ex continue >"$dir/theirs"
	at_getppid "$python" "$core" >"$dir/ours"
	[ "$(wc -l <"$dir/theirs")" -gt 25 ] || not_ok "$arm: gdb shows its breakpoint" "$(cat "$dir/gdb")"
	is "$arm: those of the one that was hit are as at a breakpoint there" "$(cat "$dir/ours")" "$(cat "$dir/theirs")"
	is "$arm: its code is the program's" "$(about text "$core")" "0 bytes differ of many"
	is "$arm: its mappings are the program's" "$(about maps "$core" "$victim")" same
	[ "$(about data "$core")" -ge 1 ] && ok "$arm: its data is there" || not_ok "$arm: its data is there"
	like "$arm: it says what is from when" "$(about about "$core")" '^held: at [0-9.]+, for [0-9]+ ns: registers, and the stacks below; other memory is later$'
	is "$arm: readelf has no complaint" "$(readelf -hlW "$core" 2>&1 >"$dir/headers" | head -n 3)" ""
	is "$arm: the process runs on" "$(kill -0 "$victim" && echo runs)" runs
	kill "$victim"
done

# Threads that ask for one at the same time: each is where it has asked in its own.
cat >"$dir/together.py" <<'END'
import os, threading, time
def asks(): barrier.wait(); os.getppid()
barrier = threading.Barrier(4)
threads = [threading.Thread(target=asks) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
time.sleep(0.3)
print("done", flush=True)
END
for arm in interior trap; do
	DPROBES_ARM=$arm "$DPROBES" run -q --core "$dir/together.%n" "$dir/core.dp" -- "$python" "$dir/together.py" >"$dir/records" 2>"$dir/stderr"
	is "$arm: four at once" "$? $(grep -c '^done$' "$dir/records") $(grep -c 'threads, held for [0-9]* us$' "$dir/records")" "0 1 4"
	for n in 1 2 3 4; do
		gdb -nx -batch -ex 'info threads' "$python" "$dir/together.$n" 2>"$dir/gdb" | sed -n 's/^\* 1 .*LWP \([0-9]*\).*getppid .*/\1/p'
	done | sort -u >"$dir/first"
	is "$arm: each has its own thread first" "$(wc -l <"$dir/first")" 4
	rm "$dir"/together.?
done

# Small ones
start "$python" "$dir/threads.py" 1000000
"$DPROBES" run -q -n 1 --minidump --core "$dir/small.%n" "$dir/core.dp" -p "$victim" >"$dir/records" 2>"$dir/stderr"
frames "$python" "$dir/small.1" >"$dir/ours"
frames -p "$victim" >"$dir/theirs"
is "a small one has the same frames" "$(grep -v "^$victim " "$dir/ours" | md5sum)" "$(grep -v "^$victim " "$dir/theirs" | md5sum)"
is "and not the data" "$(about data "$dir/small.1")" 0

# Names
one() { "$DPROBES" run -q -n 1 --minidump "$@" "$dir/core.dp" -p "$victim" 2>"$dir/stderr" | grep -o 'exit 3: .*'; }
echo mine >"$dir/there"
like "a file that is there is not written to" "$(one --core "$dir/there")" 'exit 3: a core dump, but .*/there cannot be made: File exists'
is "it is as it was" "$(cat "$dir/there")" mine
ln -s "$dir/target" "$dir/link"
like "nor through a link" "$(one --core "$dir/link")" 'cannot be made: File exists'
is "nothing is there" "$(ls "$dir/target" 2>&1 | grep -c .)" 1
like "a directory that is not there" "$(one --core "$dir/no/core")" 'cannot be made: No such file or directory'
like "that is counted" "$(cat "$dir/stderr")" '^dprobes: exit 3: 1 record that the facility could not take$'
mkdir "$dir/in"
tool=$(realpath "$DPROBES")
for name in ../../evil .. '$(id)' 'a b;c' $'x\033[31m'; do
	(cd "$dir/in" && NAME=$name "$tool" run -q --minidump --core %e "$dir/core.dp" -- "$python" "$dir/threads.py" 1 >"$dir/records" 2>&1)
done
is "the process's name does not say where" "$(ls "$dir/in" | sort | tr '\n' ' ')" "$(printf '%s\n' _._.._evil _. __id_ a_b_c x__31m | sort | tr '\n' ' ')"
for bad in %x % 'a%'; do
	"$DPROBES" run --core "$bad" "$dir/core.dp" -- true >"$dir/records" 2>&1
	like "--core $bad is refused" "$? $(cat "$dir/records")" '^2 dprobes: --core .* stands for nothing'
done
# No room
out=$(ulimit -f 40000; "$DPROBES" run -q -n 1 --core "$dir/large" "$dir/core.dp" -p "$victim" 2>"$dir/stderr")
like "no room for the file" "$out" 'exit 3: a core dump, which failed: File too large$'
is "then there is none" "$(ls "$dir/large" 2>&1 | grep -c 'No such')" 1
is "and the process runs on" "$(kill -0 "$victim" && echo runs)" runs
kill "$victim"

# Threads that a stop would wake are left alone, and that is told.
start "$python" "$dir/threads.py" 1000000 polls
like "threads that are left asleep" "$(one --core "$dir/asleep")" 'asleep, 8 threads, held for [0-9]+ us, of 7 only pc and stack are known'
is "their note says so" "$(about about "$dir/asleep" | grep -c ', asleep: not held')" 7
is "gdb shows where they sleep" "$(frames "$python" "$dir/asleep" | grep -c ' epoll_wait$')" 7
kill "$victim"

# Many in a row, none lost
for arm in interior trap; do
	DPROBES_ARM=$arm "$DPROBES" run --minidump --core "$dir/many-$arm.%n" "$dir/core.dp" -- "$python" "$dir/threads.py" 100 >"$dir/records" 2>"$dir/stderr"
	is "$arm: the program ends as ever" "$? $(grep -c '^done$' "$dir/records")" "0 1"
	is "$arm: 100 in a row" "$(ls "$dir/many-$arm".* | wc -l)" 100
	is "$arm: of its own moment" "$(grep -c 'gone on' "$dir/records")" 0
	like "$arm: each hit has its own" "$(cat "$dir/stderr")" ': 100 hits, 0 missed, 100 records'
	echo "# $arm: held $(sed -n 's/.*held for \([0-9]*\) us.*/\1/p' "$dir/records" | sort -n | awk '{ v[NR] = $1 } END { print "median", v[int(NR / 2)], "most", v[NR], "us" }')"
	is "$arm: the last one opens" "$(frames "$python" "$dir/many-$arm.100" | cut -d' ' -f1 | sort -u | wc -l)" 8
done
plan
