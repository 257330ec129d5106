#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A line for every hit: arguments, conditions, order, and what strace sees.
. tests/scenario/lib.sh

run() { # ARGS...: sets $out $err $status
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}

echo secret >"$dir/a file"
run trace -o "$dir/lines" 'libc.so.6:open(arg0:str) if arg1 == 0' -- cat "$dir/a file"
is "the command's own output and status" "$status $out" "0 secret"
if command -v strace >/dev/null; then
	seen=$(strace -e trace=open,openat cat "$dir/a file" 2>&1 >/dev/null | sed -n 's/.*AT_FDCWD, \("[^"]*a file"\), O_RDONLY).*/\1/p')
else
	seen="\"$dir/a file\""
fi
is "the path that strace prints" "$(sed -n 's/.*arg0=//p' "$dir/lines")" "$seen"
like "time, pid, tid, name, probe" "$(cat "$dir/lines")" \
	'^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} ([0-9]+) \1 cat libc\.so\.6:open arg0="/'

run trace --json -o "$dir/lines" 'libc.so.6:open(arg0:str, arg1:x32) if arg1 == 0' -- cat "$dir/a file"
like "JSON" "$(cat "$dir/lines")" \
	'^\{"time":[0-9]+\.[0-9]{6},"pid":[0-9]+,"tid":[0-9]+,"comm":"cat","probe":"libc.so.6:open","args":\{"arg0":"/.*/a file","arg1":"0x0"\}\}$'

# What a parser makes of it: an object with a member a value, each of its type.
cat >"$dir/says.c" <<'END'
#include <string.h>
__attribute__((noinline)) void say(const char *text, long a, unsigned long b)
{
	__asm__ volatile("" : : "r"(text), "r"(a), "r"(b) : "memory");
}
int main(void)
{
	char longer[300];
	memset(longer, 'x', 299);
	longer[299] = 0;
	say("quoted \"\\ \t\001 end", -5, ~0ul);
	say(longer, 0x7fffffff80ff, 7);
	say((char *)8, 0, 0);
	return 0;
}
END
cc -O1 -o "$dir/says" "$dir/says.c"
cat >"$dir/args.py" <<'END'
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    r = json.loads(line)
    a = r["args"]
    if len(str(a.get("arg0"))) > 100:
        a["arg0"] = a["arg0"][0] + str(len(a["arg0"]))
    print(sorted(a.items()), r.get("truncated", False))
END
run trace --json -o "$dir/lines" 'say(arg0:str, arg1:s64, arg1:u8, arg1:s8, arg2:u64, arg2, rdx:x8)' -- "$dir/says"
is "JSON: strings, numbers with their signs, 64 bits, hexadecimal, no address, what is cut" \
	"$(python3 "$dir/args.py" "$dir/lines")" \
	"[('arg0', 'quoted \"\\\\ \\t\\x01 end'), ('arg1', -5), ('arg1_2', 251), ('arg1_3', -5), ('arg2', 18446744073709551615), ('arg2_2', '0xffffffffffffffff'), ('rdx', '0xff')] False
[('arg0', 'x200'), ('arg1', 140737488322815), ('arg1_2', 255), ('arg1_3', -1), ('arg2', 7), ('arg2_2', '0x7'), ('rdx', '0x7')] True
[('arg0', {'bad_address': '0x8'}), ('arg1', 0), ('arg1_2', 0), ('arg1_3', 0), ('arg2', 0), ('arg2_2', '0x0'), ('rdx', '0x0')] False"
run trace --json -o "$dir/lines" 'say()' -- "$dir/says"
is "JSON without values" "$(python3 "$dir/args.py" "$dir/lines" | sort | uniq -c | xargs)" "3 [] False"

run trace 'logger_tick(arg1:u32) if arg1 >= 7 && arg1 != 8' -- "$VICTIMS/logger" threads 1 10
is "a condition" "$(sed -n 's/.*arg1=//p' "$dir/stdout" | tr '\n' ' ')" "7 9 "
like "the account" "$err" ': 10 hits, 0 missed, 2 records; logger exited with status 0$'
run trace logger_call -- "$VICTIMS/logger" stack
like "six arguments when none are named" "$out" ' logger:logger_call arg0=0x29 arg1=0x[0-9a-f]+ arg2=.* arg3=.* arg4=.* arg5=0x[0-9a-f]+$'
run trace 'logger_deep()' -- "$VICTIMS/logger" stack
like "none when that is asked for" "$out" ' logger logger:logger_deep$'
run trace 'logger_deep(rdi:s8, edi, rip, arg0:str)' -- "$VICTIMS/logger" stack
like "types, registers, and a pointer that leads nowhere" "$out" 'rdi=41 edi=0x29 rip=0x[0-9a-f]+ arg0=0x29$'
run trace 'libc.so.6:execve(path=arg0:str, a=*(char **)(rsi+8), b=+0(+8(%si)):string, +0(%di):c, $arg1:s) if arg0:str ~ "/bin/ec*" && !(arg1 == 0)' \
	-- sh -c 'exec /bin/echo one two'
like "what pointers lead to, in a condition too, as C and as ftrace write it" "$(grep execve <<<"$out")" \
	' sh libc.so.6:execve path="/bin/echo" a="one" b="one" \+0\(%di\)='"'/'"' \$arg1="/bin/echo"$'
is "once" "$(grep -c execve <<<"$out")" 1
run trace 'logger_deep(caller:sym, arg0:symbol)' -- "$VICTIMS/logger" stack
like "an address by name, and one that is none" "$out" ' caller=logger:[a-z_]+\+0x[0-9a-f]+ arg0=0x29$'
run trace 'logger_deep+4(rax)' -- "$VICTIMS/logger" stack
like "inside a function" "$out" ' logger:logger_deep\+0x4 rax=0x2a$'
run trace 'logger_*(rdi) if rdi == 41' -- "$VICTIMS/logger" stack
is "a glob, in the order of time" "$(grep -o 'logger:[a-z_]*' "$dir/stdout" | tr '\n' ' ')" "logger:logger_call logger:logger_deep "
run stat -o "$dir/counts" 'logger_tick if arg1 < 3' logger_tick -- "$VICTIMS/logger" threads 2 10
is "stat with a condition, beside one without" "$(awk 'NR > 1 { print $1 }' "$dir/counts" | tr '\n' ' ')" "20 6 "
like "its summary" "$err" '40 hits \(26 counted\), 0 missed'

# What the kernel counts is what is traced.
if "$TOOLS/uprobe-count" -o "$dir/counts" "/bin/true:0x0" -- /bin/true 2>/dev/null ||
	[ $? -ne 77 ]; then
	libc=/lib/x86_64-linux-gnu/libc.so.6
	offset=$("$TOOLS/spec-offset" libc.so.6:malloc -- /bin/true | cut -d: -f2)
	"$TOOLS/uprobe-count" -o "$dir/counts" "$(readlink -f $libc):$offset" -- /usr/bin/sort /etc/services >/dev/null
	run trace -o "$dir/lines" 'libc.so.6:malloc(arg0:u64)' -- /usr/bin/sort /etc/services
	is "as many lines as the kernel's uprobe has hits" "$(wc -l <"$dir/lines")" "$(cut -d' ' -f1 "$dir/counts")"
else
	skip "as many lines as the kernel's uprobe has hits" "the kernel's uprobe PMU is not to be had"
fi

# A running process, until told to stop
start "$VICTIMS/logger" forever 2
"$DPROBES" trace --duration 50ms 'logger_tick(arg0, arg1) if arg1:u8 == 0' -p "$victim" >"$dir/stdout" 2>"$dir/stderr"
like "a running process" "$? $(tail -n 1 "$dir/stdout")" '^0 .* logger logger:logger_tick arg0=0x[01] arg1=0x[0-9a-f]*00$'
"$DPROBES" trace 'logger_tick(arg1) if arg0 == 0' -p "$victim" 2>"$dir/stderr" | head -3 >"$dir/stdout"
is "a reader that goes away" "${PIPESTATUS[0]} $(wc -l <"$dir/stdout") $(cat "$dir/stderr")" "0 3 "
"$DPROBES" trace -f 'logger_tick(arg1) if arg0 == 0' -p "$victim" 2>"$dir/stderr" | head -3 >"$dir/stdout"
is "with -f" "${PIPESTATUS[0]} $(wc -l <"$dir/stdout") $(cat "$dir/stderr")" "0 3 "
poll 10 sh -c "! '$DPROBES' list -p $victim | grep -q ."
is "ends the probes" "$("$DPROBES" list -p "$victim")" ""
kill -TERM "$victim"
wait "$victim"
is "the process ends well" "$?" 0
plan
