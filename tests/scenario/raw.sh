#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Binary records (--raw), read by a program that knows only what the manual says, and compared with what --json prints
# of the same run. [rows 260, 261]
. tests/scenario/lib.sh

if ! python3 -c '' 2>"$dir/err"; then
	skip "binary records" "no python3"
	plan
	exit
fi
# One line a record: what decode.py finds in the file; or what convert.py makes of the other output
cat >"$dir/decode.py" <<'END'
import struct, sys
bytes_ = open(sys.argv[1], "rb").read()
at = 0
def take(form):
    global at
    v = struct.unpack_from("<" + form, bytes_, at)
    at += struct.calcsize("<" + form)
    return v[0] if len(v) == 1 else v
def items(begin):
    # token and count; 0, 1, 254, 255 count bytes, 4 to 7 elements
    global at
    while bytes_[at:at + 2] != b"\r\n":
        token, n = take("BH")
        if token == 2:
            traces(n)
        else:
            at += n * 8 if token in (4, 5, 6, 7) else n
            assert token in (0, 1, 4, 5, 6, 7, 254, 255), "token %d at %d" % (token, at)
        if begin and token == 1:
            at += 8 + 2 + 2 + 2
            begin = False
def traces(n):
    global at
    for i in range(n):
        at += 32
        token, frames = take("BH")
        assert token == 3
        for k in range(frames):
            at += 16
            for want in (4, 5, 6):
                token, count = take("BH")
                assert token == want
                at += 8 * count
while at < len(bytes_):
    start = at
    ident, length, mask, major, minor = take("HHQHH")
    assert ident == 1 and mask & 3 == 3 and not mask & ~0x3067f, hex(mask)
    head = {}
    for bit, form, name in ((4, "I", "cpu"), (8, "I", "pid"), (0x10, "I", "uid"), (0x20, "H", "cs"), (0x40, "Q", "eip"),
                            (0x200, "QQ", "time"), (0x400, "16s", "comm"), (0x10000, "I", "length")):
        if mask & bit:
            head[name] = take(form)
    assert at - start == length, "header of %d, length %d" % (at - start, length)
    begin = at
    if "length" in head:
        at += head.pop("length")
    else:
        items(major == 0)
    data = bytes_[begin:at].hex()
    assert take("2s") == b"\r\n"
    if "comm" in head:
        head["comm"] = head["comm"].rstrip(b"\0").decode()
    if "time" in head:
        head["time"] = head["time"][0] * 10 ** 9 + head["time"][1]
    more = ["%s=%s" % (k, head[k]) for k in sys.argv[2:] if k in head]
    print("%d,%d cpu=%d" % (major, minor, head["cpu"]), "truncated" if mask & 0x20000 else "whole", *more, data)
END
cat >"$dir/convert.py" <<'END'
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    more = ["%s=%s" % (k, r[k]) for k in sys.argv[2:]]
    print("%d,%d cpu=%d" % (r["major"], r["minor"], r["cpu"]), "truncated" if r.get("truncated") else "whole", *more, r["data"])
END
decode() { python3 "$dir/decode.py" "$@" 2>&1; }
convert() { python3 "$dir/convert.py" "$dir/records" "$@" 2>&1; }
# run PROGRAM OPTIONS...: the logger's known stack, or the command in $cmd
cmd=("$VICTIMS/logger" stack)
run() {
	local file=$dir/$1.dp
	shift
	"$DPROBES" run -q --json -o "$dir/records" --raw "$dir/raw" "$@" "$file" -- "${cmd[@]}" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
}
# program NAME HEADER CODE: at logger_deep
program() {
	printf 'name = logger\nmodtype = user\nmajor = 1\nid = 9\n%s\noffset = logger_deep\nminor = 1\n%s\n' "$2" "$3" >"$dir/$1.dp"
}

# The record of the specification's example, with what a machine of 64 bits has in it: 16 bytes of the stack
program example '' $'push 16\npush 8\npush r,rsp\nadd\nlog mrf'
run example
is "the program goes on" "$status $(cat "$dir/stdout" "$dir/stderr")" "0 42"
cpu=$(sed -n 's/.*"cpu":\([0-9]*\).*/\1/p' "$dir/records")
is "byte for byte" "$(od -An -v -tx1 "$dir/raw" | tr -d ' \n')" \
	"010014000700000000000000""01000100$(printf '%02x000000' "$cpu")""001000""11111111111111112222222222222222""0d0a"
is "decoded, it is what --json prints" "$(decode "$dir/raw")" "$(convert)"

# Everything that a log may have in it
program all $'vars = 2\ngvars = 1' $'inc lv,1\npush 5\npush 6\nlog 2\npush 0\npush 2\nlog lv\npush 0\npush 1\nlog gv
push 8\npush r,rsp\nlog mrf\npush 3\npush r,rip\nlog str\nlog 0\npush 8\npush 5\nlog mrf'
run all
is "items of every kind" "$(decode "$dir/raw")" "$(convert)"
like "among them a bad address" "$(decode "$dir/raw")" 'ff08000500000000000000$'
program none '' 'exit 20'
run none
is "no log at all" "$(decode "$dir/raw")" "$(convert)"
like "is a header and its end" "$(wc -c <"$dir/raw")" '^22$'
program cut 'logmax = 20' $'push 1\npush 2\npush 3\nlog 3'
run cut
is "a log that was cut says so" "$(decode "$dir/raw")" "$(convert)"
like "in its header" "$(decode "$dir/raw")" '^1,1 cpu=[0-9]* truncated '
program half '' $'push 0x0d0a0d0a\npush 1\nlog 2\npush 9\npop lp'
run half
is "one that is no whole items says how long it is" "$(decode "$dir/raw")" "$(convert)"

# Stack traces are a record of their own: the module, the probe's offset, id and codes, and the traces
program traced 'vars = 1' $'push 0\npush 1\ntrace lv\ncall F\nexit\nF: push 0\npush 1\ntrace lv\npush 7\ncall G\nret\nG: log st\npush 1\nlog 1\nlog st\nret'
run traced
decode "$dir/raw" >"$dir/decoded"
is "the log" "$(sed -n 1p "$dir/decoded")" "$(convert)"
offset=$(readelf -sW "$VICTIMS/logger" | awk '$8 == "logger_deep" { print $2 }')
at=$(printf '%016x' "$((16#$offset))" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\8\7\6\5\4\3\2\1/')
traces=$(sed -n 's/.*"traces":"\([0-9a-f]*\)".*/\1/p' "$dir/records")
[ ${#traces} -gt 200 ] || not_ok "there are traces" "$traces"
is "the traces" "$(sed -n 2p "$dir/decoded")" "0,0 cpu=$(sed -n 's/.*"cpu":\([0-9]*\).*/\1/p' "$dir/records") whole 010600$(printf logger | od -An -tx1 | tr -d ' \n')${at}090001000100020200$traces"
is "and no more" "$(wc -l <"$dir/decoded")" 2
program short '' $'call F\nexit\nF: log st\npush 40\npop stp\nret'
run short
decode "$dir/raw" >"$dir/decoded"
like "traces that were cut have their length" "$(sed -n 2p "$dir/decoded")" "0020000$(sed -n 's/.*"traces":"\([0-9a-f]*\)".*/\1/p' "$dir/records")\$"

# What --log puts in front
run all --log pid,procname
is "process and name" "$(decode "$dir/raw" pid comm)" "$(convert pid comm)"
run all --log all
is "with all items" "$(decode "$dir/raw" pid comm)" "$(convert pid comm)"
head=$(decode "$dir/raw" uid cs eip time)
like "user, segment and address" "$head" "(uid=$(id -u) )?cs=51 eip=[0-9]+ time=[0-9]+ "
eip=$(sed -n 's/.*eip=\([0-9]*\).*/\1/p' <<<"$head")
is "the address is the function's" "$(printf '%03x' $((eip & 4095)))" "${offset: -3}"
time=$(sed -n 's/.*time=\([0-9]*\).*/\1/p' <<<"$head") now=$(awk '{ print int($1 * 1000) }' /proc/uptime)
[ $((now - time / 1000000)) -ge 0 ] && [ $((now - time / 1000000)) -lt 30000 ] && ok "the time is of the clock that does not jump" ||
	not_ok "the time is of the clock that does not jump" "$time $now"

# Many, of several threads, with none lost and none torn; in their order in time
printf 'name = logger\nmodtype = user\nmajor = 1\noffset = logger_tick\npush r,rsi\npush r,rdi\nlog 2\n' >"$dir/many.dp"
cmd=("$VICTIMS/logger" threads 4 5000)
run many --log tsc
is "20000 records" "$(decode "$dir/raw" | md5sum)" "$(convert | md5sum)"
is "all of them" "$(decode "$dir/raw" | wc -l)" 20000
decode "$dir/raw" time | sed 's/.*time=\([0-9]*\).*/\1/' >"$dir/times"
# A thread that is taken off its CPU between its time and its record comes late.
is "their times go forward" "$(awk '{ if ($1 + 50000 < last) n++; last = $1 } END { print (n > 20) }' "$dir/times")" 0
[ "$(sort -u "$dir/times" | wc -l)" -gt 5000 ] && ok "in nanoseconds" || not_ok "in nanoseconds" "$(sort -u "$dir/times" | wc -l)"

# With a log beside it; a file that cannot be written
cmd=("$VICTIMS/logger" stack)
"$DPROBES" run -q --log-target file -o "$dir/log" --raw "$dir/raw" "$dir/example.dp" -- "${cmd[@]}" >"$dir/stdout" 2>"$dir/stderr"
is "beside DProbes' log" "$(sed -n 's/^0x[0-9a-f]* : \(.*\) : .*/\1/p' "$dir/log" | tr -d ' \n')" "$(decode "$dir/raw" | sed 's/.* //')"
run example --raw "$dir/no/raw"
like "a directory that is not there" "$status $(cat "$dir/stderr")" '^1 dprobes: --raw: cannot write .*/no/raw: No such file or directory'
if [ -w /dev/full ]; then
	run example --raw /dev/full
	is "no room: the program goes on" "$status $(cat "$dir/stdout")" "0 42"
	like "and it is told" "$(cat "$dir/stderr")" '^dprobes: 1 record could not be written to /dev/full$'
fi
"$DPROBES" trace --raw "$dir/raw" main -- true >"$dir/stdout" 2>&1
like "trace does not use it" "$? $(cat "$dir/stdout")" '^2 dprobes: trace does not use --raw'
plan
