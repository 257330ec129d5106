#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every error a user can cause: one helpful sentence, a caret, an exit status,
# and a command that has not run. [defect 24]
. tests/scenario/lib.sh

chmod 755 "$dir"
ran="$dir/ran"

# refuses NAME STATUS PATTERN CARETS ARGS...: CARETS is the line under the spec,
# "" if there is none.
refuses() {
	local name=$1 status=$2 pattern=$3 carets=$4 got line
	shift 4
	rm -f "$ran"
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	got=$?
	line=$(sed -n 3p "$dir/stderr")
	if [ $got -ne "$status" ]; then
		not_ok "$name" "status $got, not $status" "$(cat "$dir/stderr")"
	elif ! head -1 "$dir/stderr" | grep -qE -- "^dprobes: .*$pattern"; then
		not_ok "$name" "$(cat "$dir/stderr")" "wanted: $pattern"
	elif [ "${line#  }" != "$carets" ]; then
		not_ok "$name" "caret: |$line|" "wanted: |  $carets|"
	elif [ -s "$dir/stdout" ]; then
		not_ok "$name" "on stdout: $(cat "$dir/stdout")"
	elif [ -e "$ran" ]; then
		not_ok "$name" "the command has run"
	else
		ok "$name"
	fi
}

cat >"$dir/armed.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
void never(void);
__asm__(".text\n.globl never\n.type never, @function\n"
	"never: mov $0x90909090, %eax\nnop\nnop\nret\n.size never, . - never\n"
	".globl stop\n.type stop, @function\n"
	"stop: nop\nhlt\nret\n.size stop, . - stop\n"
	".globl quiet\n.type quiet, @function\n"
	"quiet: nop\nmov $1, %eax\nret\n.size quiet, . - quiet\n");
int main(void)
{
	int fd = open("/proc/self/mem", O_RDWR);
	if (pwrite(fd, "\xcc", 1, (long)never) != 1)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
END
cc -O1 -o "$dir/armed" "$dir/armed.c" || exit 1

touch_it=(-- /usr/bin/touch "$ran")

# Functions and modules
refuses "unknown function, with near names" 2 'no function "mallok" in libc.so.6; near.* malloc' \
	'          ^~~~~~' stat libc.so.6:mallok "${touch_it[@]}"
refuses "unknown function, with nothing near" 2 'no function "qqxxqqxx" in libc.so.6' \
	'          ^~~~~~~~' stat libc.so.6:qqxxqqxx "${touch_it[@]}"
refuses "a function that another module has" 2 'libc.so.6' '^~~~~~' stat malloc "${touch_it[@]}"
refuses "a glob that matches nothing" 2 'qqxx\*' '          ^~~~~' stat 'libc.so.6:qqxx*' "${touch_it[@]}"
refuses "unknown module" 2 'no module "libq.so.9" in .*libc.so.6' \
	'^~~~~~~~~' stat libq.so.9:malloc "${touch_it[@]}"
refuses "the second of two specs is the wrong one" 2 'no function "mallok"' \
	'          ^~~~~~' stat libc.so.6:malloc libc.so.6:mallok "${touch_it[@]}"

# Offsets and addresses
refuses "offset beyond the function" 2 'malloc has only 0x[0-9a-f]+ bytes' \
	'                ^~~~~~~~~' stat libc.so.6:malloc+0x100000 "${touch_it[@]}"
refuses "file offset that is not code" 2 'offset 0x7ffff000 of libc.so.6 is not mapped as code' \
	'          ^~~~~~~~~~~' stat libc.so.6:+0x7ffff000 "${touch_it[@]}"
refuses "address not in text" 2 '0x10 is not in the text of any module of process [0-9]+' \
	'^~~~' stat 0x10 "${touch_it[@]}"
refuses "signal return code" 2 'signal return code is recognised by its bytes' \
	'          ^~~~~~~~~~~~' stat libc.so.6:__restore_rt "${touch_it[@]}"

# A process with a breakpoint of its own
start "$dir/armed"
refuses "offset not at an instruction" 2 \
	'armed:quiet\+0x3 is not at an instruction; nearest are \+0x1 and \+0x6' \
	'     ^~' stat quiet+3 -p "$victim"
refuses "an instruction that cannot run elsewhere" 2 'armed:stop\+0x1 cannot be probed: .*hlt' \
	'    ^~' stat stop+1 -p "$victim"
refuses "a breakpoint already there" 2 'armed:never cannot be probed: a breakpoint is already there' \
	'^~~~~' stat never -p "$victim"
refuses "between instructions, behind a breakpoint" 2 \
	'armed:never\+0x2 is not at an instruction; nearest are \+0x0 and \+0x5' \
	'     ^~~~' stat never+0x2 -p "$victim"
is "an instruction behind a breakpoint is found" \
	"$("$DPROBES" list never+6 -p "$victim" 2>&1)" armed:never+0x6
text=$("$DPROBES" list --json never+6 -p "$victim")
addr=$(printf '%s\n' "$text" | sed -n 's/.*"addr":"\(0x[0-9a-f]*\)".*/\1/p')
is "its address leads back to it" "$("$DPROBES" list "$addr" -p "$victim" 2>&1)" armed:never+0x6
refuses "address not at an instruction" 2 \
	"nearest are $(printf '0x%x and 0x%x' $((addr - 6)) $((addr - 1)))" \
	"^$(printf '%*s' $((${#addr} - 1)) '' | tr ' ' '~')" \
	stat "$(printf '0x%x' $((addr - 2)))" -p "$victim"
refuses "address in another module than the one named" 2 "$addr is not in the text of libc.so.6" \
	"          ^$(printf '%*s' $((${#addr} - 1)) '' | tr ' ' '~')" \
	stat "libc.so.6:$addr" -p "$victim"
like "a glob tells what it leaves out" \
	"$("$DPROBES" list -v 'nev*' -p "$victim" 2>&1)" 'armed:never cannot be probed: a breakpoint is already there'
like "a glob counts what it leaves out" \
	"$("$DPROBES" list '[ns][et][vo]*' -p "$victim" 2>&1)" '1 of [0-9]+ matches cannot be probed'

# IFUNCs
cat >"$dir/pick.c" <<'END'
int one(void) { return 1; }
static void *choose(void) { return one; }
int pick(void) __attribute__((ifunc("choose")));
int main(int argc, char **argv) { return CALL; }
END
cc -O0 -DCALL='0' -o "$dir/unused" "$dir/pick.c"
cc -O0 -DCALL='pick()' -o "$dir/used" "$dir/pick.c"
refuses "an IFUNC without an implementation" 2 'pick is an IFUNC whose implementation this process has not chosen' \
	'^~~~' stat pick -- "$dir/unused"
"$DPROBES" stat -q -o "$dir/counts" pick one -- "$dir/used" 2>/dev/null
is "an IFUNC means its implementation" "$(awk 'NR > 1 { printf "%s ", $1 }' "$dir/counts")" "1 1 "

# Specs
refuses "malformed spec" 2 'an offset is a number' '            ^' stat 'libc.so.6:f+zz' "${touch_it[@]}"
refuses "a return probe inside a function" 2 'a return probe has no offset' '             ^~' stat r:libc.so.6:f+1 "${touch_it[@]}"
refuses "arguments of a count" 2 'arguments .* are for dprobes trace' ' ^~~' stat 'f(a)' "${touch_it[@]}"
refuses "a value that is none" 2 'a value is arg0, arg1 …, a register' '   ^~' trace 'f*(di)' "${touch_it[@]}"
refuses "a type that is none" 2 'a format is u8 to u64' '       ^~~' trace 'f(arg0:u12)' "${touch_it[@]}"
refuses "no sign" 2 'no sign .* \(int\)arg0, or arg0:s64' '     ^~~~' stat 'f if arg0 == -1' "${touch_it[@]}"
refuses "an assignment" 2 'equality is "=="' '         ^' stat 'f if rdi = 3' "${touch_it[@]}"
refuses "a parenthesis that is open" 2 "a '\)' is missing here" '               ^' stat 'f if (arg0 == 1' "${touch_it[@]}"
refuses "too much behind a condition" 2 'only && and || may follow' '               ^' stat 'f if (arg0==1) 2' "${touch_it[@]}"
refuses "a string or none" 2 'this is no string: write :str' '     ^~~' stat 'f if rdi == "a"' "${touch_it[@]}"
refuses "values without a comma" 2 'values are separated by commas' '       ^~~~' trace 'f(arg0 arg1)' "${touch_it[@]}"
refuses "a source line that nothing is known of" 2 'source lines are not known: .* NAME-dbgsym|no source file "no.c"' '^~~~' stat 'no.c:3' "${touch_it[@]}"
refuses "the return of a source line" 2 'a return probe follows a function, not a line' '       ^' stat 'r:no.c:3' "${touch_it[@]}"
refuses "a source line before the first" 2 'lines are counted from 1' '     ^' stat 'no.c:0' "${touch_it[@]}"
refuses "inlined copies of a glob" 2 'functions that are named one by one' '^~' stat --inlined 'f*' "${touch_it[@]}"
refuses "inlined copies of an address" 2 'goes with functions, by their names' '^~~~' stat --inlined '+0x1' "${touch_it[@]}"
refuses "returns of inlined copies" 2 'an inlined copy does not return' '  ^' stat --inlined r:f "${touch_it[@]}"
refuses "an offset in inlined copies" 2 'an inlined copy has no offsets' '^~~' stat --inlined f+4 "${touch_it[@]}"
refuses "arguments of inlined copies" 2 'no arguments in registers of their own' '  ^~~~' trace --inlined 'f(arg1)' "${touch_it[@]}"
refuses "conditions on arguments of inlined copies" 2 'no arguments in registers of their own' '                 ^~~~' stat --inlined 'f if rdi == 1 || arg2 == 3' "${touch_it[@]}"
refuses "other probes in the kernel" 2 'other probes than kernel:FUNCTION.* are not there yet' '     ^~~~~~' stat 'usdt:kernel:x:y' "${touch_it[@]}"
refuses "data of the kernel without a size" 2 'write /1, /2, /4 or /8 behind it' '         ^~~~~~~' stat 'w:kernel:jiffies' "${touch_it[@]}"
if [ ! -e /dev/dprobes ]; then
	refuses "the kernel, without the module" 1 'there is no /dev/dprobes: load dprobes.ko' '' stat 'kernel:do_exit' "${touch_it[@]}"
else
	skip "the kernel, without the module" "it is there"
fi

# Probe programs
printf 'name = libc.so.6\nmodtype = user\noffset = mallok\nnop\n' >"$dir/a.dp"
refuses "a program's symbol" 2 'a.dp:3:10: no function "mallok" in libc.so.6' '         ^~~~~~' run "$dir/a.dp" "${touch_it[@]}"
printf 'name = libq.so.9\nmodtype = user\noffset = malloc\nnop\n' >"$dir/a.dp"
refuses "a program's module" 2 'a.dp:3:10: no module "libq.so.9"' '         ^~~~~~' run "$dir/a.dp" "${touch_it[@]}"
is "and run, which cannot wait for it, does not say that anything could" "$("$DPROBES" run "$dir/a.dp" "${touch_it[@]}" 2>&1 | grep -c pending)" 0
printf 'name = bzImage\nmodtype = kernel\noffset = 0x1234\nnop\n' >"$dir/a.dp"
refuses "a program for the kernel" 2 'a.dp:3:10: a place in the kernel is a function' '         ^~~~~~' run "$dir/a.dp" "${touch_it[@]}"
printf 'name = libc.so.6\nmodtype = user\noffset = malloc\n\tpush r,xyz\n' >"$dir/a.dp"
refuses "a program that is wrong" 2 'a.dp:4:9: there is no register "xyz"' '               ^~~' run "$dir/a.dp" "${touch_it[@]}"
refuses "a program that is not there" 1 'cannot read .*/none.dp: No such file' '' run "$dir/none.dp" "${touch_it[@]}"
refuses "no program" 2 'run needs a FILE' '' run "${touch_it[@]}"
refuses "getvars of nothing in particular" 2 'needs --all or --name' '' --getvars
head -c 16777216 /dev/zero | tr '\0' '#' >"$dir/large.dp"
refuses "a program that is too large" 1 'cannot read .*/large.dp: File too large' '' run "$dir/large.dp" "${touch_it[@]}"
refuses "getvars with a bad index" 2 'is no index' '' -g -a --index=x
refuses "getvars with an index that is too large" 2 '"0-4294967296" is no index' '' -g -a --index=0-4294967296
refuses "getvars of a process id that is too large" 2 '"4294967297" is not a process id' '' -g -a -p 4294967297
refuses "getvars of what no program has" 1 'no running probe program has such variables' '' -g --name nosuch --local
refuses "getvars of a process that is not probed" 1 'is not probed' '' -g -a -p $$

# Processes
sleep 0 &
gone=$!
wait $gone
refuses "no such process" 1 "no process $gone" '' stat libc.so.6:malloc -p $gone
refuses "several processes" 2 'several processes .* are not there yet' '' stat f -p "$victim,$$"
refuses "a duration that is too long" 2 '"1000000h" is not a duration' '' stat f --duration 1000000h "${touch_it[@]}"
refuses "a process id that is none" 2 '"12x" is not a process id' '' stat f -p 12x
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	refuses "a kernel thread" 1 'process 2' '' stat f -p 2
else
	skip "a kernel thread" "there is none to be seen"
fi

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip "no permission" "needs root and setpriv to be somebody else"
	skip "no permission to list" "needs root and setpriv to be somebody else"
else
	cp "$DPROBES" "$dir/dprobes"
	said=$(setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/dprobes" stat libc.so.6:malloc -p "$victim" 2>&1)
	status=$?
	pattern="no permission .*process $victim.* uid 0 .* uid 65534.*CAP_SYS_PTRACE"
	scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
	[ "$scope" = 0 ] || pattern="$pattern.*ptrace_scope is $scope"
	like "no permission: uid, Yama and capability are named" "$status $said" "^1 dprobes: $pattern"
	said=$(setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/dprobes" list libc.so.6:malloc -p "$victim" 2>&1)
	like "no permission to list" "$? $said" "^1 dprobes: no permission"
fi

# Commands
refuses "no such command" 127 "/no/such/thing: no such command" '' stat f -- /no/such/thing
refuses "no such command in PATH" 127 "no-such-thing: no such command" '' stat f -- no-such-thing
refuses "a directory" 126 "/tmp" '' stat f -- /tmp
echo text >"$dir/text"
refuses "not executable" 126 "$dir/text" '' stat f -- "$dir/text"
chmod +x "$dir/text"
refuses "not a program" 126 "$dir/text is not a program" '' stat f -- "$dir/text"
head -c 64 /bin/true >"$dir/short"
chmod +x "$dir/short"
refuses "a damaged program" 126 "$dir/short is not a program" '' stat f -- "$dir/short"

# Programs that cannot be handled yet
echo 'void _start(void) { for (;;) ; }' >"$dir/bare.c"
if cc -m32 -static -nostdlib -o "$dir/narrow" "$dir/bare.c" 2>/dev/null; then
	refuses "a 32-bit program" 1 "narrow is a 32-bit program" '' stat f -- "$dir/narrow"
else
	skip "a 32-bit program" "cc -m32 does not link"
fi
cp /bin/true "$dir/foreign"
printf '\xb7' | dd of="$dir/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
refuses "a program for another machine" 1 "foreign is a program for another machine" '' stat f -- "$dir/foreign"
printf '#!%s\n' "$dir/foreign" >"$dir/script"
chmod +x "$dir/script"
refuses "a script for such a program" 1 "foreign is a program for another machine" '' stat f -- "$dir/script"
printf '#!/bin/sh\nexit 5\n' >"$dir/script"
"$DPROBES" stat -q libc.so.6:exit -- "$dir/script" >"$dir/stdout" 2>"$dir/stderr"
is "a script is its interpreter" "$? $(awk 'NR == 2 { print $4 }' "$dir/stdout")" "5 libc.so.6:exit"

# Somebody else's breakpoints while ours are in
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q "$1"; }
byte() { # ADDR [VALUE]: read or write one
	if [ $# -gt 1 ]; then printf "\\x$2" | dd of="/proc/$victim/mem" bs=1 seek=$(($1)) conv=notrunc 2>/dev/null
	else dd if="/proc/$victim/mem" bs=1 skip=$(($1)) count=1 2>/dev/null | od -An -tx1 | tr -d ' '; fi
}
start "$VICTIMS/busy" 2
"$DPROBES" stat -q libc.so.6:strtod libc.so.6:system -p "$victim" >/dev/null 2>"$dir/stderr" &
tool=$!
poll 10 armed system
addr=0x$("$DPROBES" list -p "$victim" | awk '/ system\+/ { print $1 }')
ours=$(byte "$addr")
byte "$addr" 90
interrupt $tool
like "text that someone else has changed" "$? $(cat "$dir/stderr")" \
	"^1 dprobes: the code at 0x0*${addr#0x0000} of process $victim was changed by someone else"
is "is left as it is" "$(byte "$addr")" 90
byte "$addr" "$ours"
"$DPROBES" stat -q -o /dev/null --duration 10ms libc.so.6:strtod -p "$victim"
is "and when it is ours again the next tool cleans up" "$? $(byte "$addr" | grep -c "$ours")" "0 0"
if command -v gdb >/dev/null; then
	# At an instruction that is not executed: gdb takes traps for its own.
	before=$(byte "$addr")
	"$DPROBES" stat -q libc.so.6:system -p "$victim" >/dev/null 2>"$dir/stderr" &
	tool=$!
	poll 10 armed system
	until_gone="while kill -INT $tool 2>/dev/null && ! grep -qs '^State:.Z' /proc/$tool/status; do sleep 0.02; done"
	timeout 300 gdb -p "$victim" -batch -ex 'set breakpoint always-inserted on' -ex "break *$addr" -ex "shell $until_gone" -ex detach >/dev/null 2>&1
	wait $tool
	like "a detach under gdb" "$? $(cat "$dir/stderr")" '^1 dprobes: .*is being traced by someone else'
	like "what is left there says that its tool has ended" "$("$DPROBES" list -v -p "$victim")" ' system\+.* its tool has ended$'
	until_hit strtod stat -q -o "$dir/counts" libc.so.6:strtod
	like "an attach after gdb" "$? $(cat "$dir/err") $(awk 'NR == 2 { print $1 }' "$dir/counts")" '^0  [1-9]'
	is "and no breakpoint is left behind" "$(byte "$addr")" "$before"
else
	skip "a detach under gdb" "gdb is not there"
	skip "what is left there says that its tool has ended" "gdb is not there"
	skip "an attach after gdb" "gdb is not there"
	skip "and no breakpoint is left behind" "gdb is not there"
fi
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"

plan
