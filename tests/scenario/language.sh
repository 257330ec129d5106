#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The whole language in real processes: exceptions and stack traces, the heap, variables that are allocated, rights, the
# preprocessor, symbols, filters, returns.
. tests/scenario/lib.sh

logger=$VICTIMS/logger
# So much lies behind the stack pointer.
export PADDING=$(printf 'x%.0s' {1..9000})
# program NAME HEADER BODY [POINT KEYWORDS]: writes $dir/NAME.dp, at logger_deep
program() {
	printf 'name = logger\nmodtype = user\nmajor = 1\nvars = 4\n%s\noffset = logger_deep\nminor = 7\n%s\n%s\n' \
		"$2" "${4:-}" "$3" >"$dir/$1.dp"
}
# text NAME ARGS...: runs it at "logger stack"; sets $out, the record but its first line, $status and $err
text() {
	local file=$dir/$1.dp
	shift
	"$DPROBES" run "$@" "$file" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(grep '^  ' "$dir/stdout") err=$(cat "$dir/stderr")
}
# data NAME [ENV]: the log in hexadecimal, of all records
data() { env ${2:+"$2"} "$DPROBES" run -q --json "$dir/$1.dp" -- "$logger" stack | sed -n 's/.*"data":"\([0-9a-f]*\)".*/\1/p'; }

# Handlers [row 293] [defect 18]
program handled '' $'sx H\npush 1\npush 0\ndiv\nH: log 3'
text handled
is "a handler gets the code and what goes with it" "$out" "  elements 0x20 0x0 0x0"
program bad '' $'sx H\npush 0x10\npush mem,u8\nexit\nH: ros 1\nlog 1\npush x\nlog 1'
text bad
is "also of a bad address" "$out" $'  elements 0x10\n  elements 0x1'
program own '' $'push 3\npush 2\npush 0x8000\nrx'
text own
is "an exception of one's own ends a program without a handler" "$out" "  ended by EX_USER (0x2, 0x3)"
program masked '' $'sx H\npush 1\npush 0\ndiv\nexit\nH: abort' 'ex_mask = 0x1000'
text masked
is "one that is masked out ends it in spite of a handler" "$out" "  ended by EX_DIV_BY_ZERO (0x0)"
program full 'logmax = 8' $'sx H\npush 7\nlog 1\nexit\nH: setmin 9' 'ex_mask = 0x1fff'
"$DPROBES" run -q --json "$dir/full.dp" -- "$logger" stack >"$dir/stdout"
like "a full log is an exception where it is asked for" "$(cat "$dir/stdout")" '"minor":9,.*"data":"070000","truncated":true'
program wraps '' $'add' 'ex_mask = 0x2fff'
text wraps
is "and so is an empty stack" "$out" "  ended by EX_RPN_STACK_WRAP (0x0)"
for arm in interior trap; do
	is "what is raised in a handler's entry counts as a jump ($arm)" "$(DPROBES_ARM=$arm data handled)" \
		0703002000000000000000""0000000000000000""0000000000000000
done

# Stack traces
program traces '' $'call F\nexit\nF: push 1\npush 1\ntrace lv\ninc lv,1\nlog st\nret'
text traces
is "a stack trace" "$out" $'  stack trace\n    #0 in the call of 10, returns to 9\n      local variables 0x1'
program auto 'autostacktrace = yes' $'call F\nexit\nF: push 1\npush 0\ndiv\nret'
text auto
is "one of each exception" "$out" $'  stack trace, EX_DIV_BY_ZERO (0x0, 0x0)\n    #0 in the call of 10, returns to 9\n  ended by EX_DIV_BY_ZERO (0x0)'
program purged '' $'log st\npurge st\npush stp\nlog 1'
text purged
is "traces are thrown away" "$out" "  elements 0x0"
program cuttrace 'ex_logmax = 40' $'log st\nlog st'
text cuttrace
is "what has no room is not begun" "$out" $'  stack trace\n  cut: the log is full (logmax)'
is "as JSON" "$("$DPROBES" run -q --json "$dir/traces.dp" -- "$logger" stack | grep -o '"traces":"[0-9a-f]*"' | wc -c)" 148

# The heap
program heap '' $'push 0x1234\npush 2\nmalloc\ndup 1\npop lv,0\npush 0\npoph u16,1\npush lv,0\npush 1\npushh u8,1\nlog 1\npush lv,0\nfree\npush lv,0\nfree'
text heap
is "bytes go into a block and come out of it" "$out" $'  elements 0x12\n  ended by EX_HEAP_INVALID_HANDLE (0x8, 0x0)'
program small 'heapmax = 200' $'push 100\nmalloc\nlog 1' 'heap = 100'
text small
is "a probe has as much as it asks for" "$out" "  ended by EX_HEAP_NOMEM (0x64)"

# Variables that are allocated [rows 292, 295]
cat >"$dir/alloc.dp" <<'END2'
name = logger
modtype = user
gvars = 3
offset = logger_tick
minor = 1
	push gv,2
	jnz have
	push 2
	alloc gv
	pop gv,2
have:	push gv,2
	inc gv
	push gv,2
	push gv
	push gv,2
	log 2
offset = logger_tick
minor = 2
	push 6
	push r,rsi
	sub
	jnz out
	push gv,2
	free gv
	push gv,2
	inc gv
out:	exit
END2
"$DPROBES" run "$dir/alloc.dp" -- "$logger" threads 1 7 >"$dir/stdout" 2>"$dir/stderr"
is "a global variable that one hit allocates is there at the next" "$(grep -c 'elements 0x100 0x' "$dir/stdout") $(grep -o '0x100 0x[0-9]*' "$dir/stdout" | tail -1)" "7 0x100 0x7"
like "until it is given back" "$(cat "$dir/stdout")" 'ended by EX_INVALID_OPERAND \(0x2, 0x100\)'
# Two files have the same global variables; local ones are each file's own. [rows 289, 292]
printf 'name = logger\nmodtype = user\nvars = 1\noffset = logger_deep\ninc lv,0\ninc gv,1\n' >"$dir/one.dp"
printf 'name = logger\nmodtype = user\nvars = 1\ngvars = 2\noffset = logger_call\ninc lv,0\ninc gv,1\n' >"$dir/two.dp"
"$DPROBES" run "$dir/one.dp" "$dir/two.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "global variables are common to files" "$(grep -c 'lv\[0\] = 0x1 ' "$dir/stderr") $(grep 'gv\[1\]' "$dir/stderr")" "2 dprobes: global gv[1] = 0x2 (2)"

# Rights [row 248] [defect 15]
printf 'name = logger\nmodtype = user\noffset = logger_deep\npush r,rsp\npush 1\npop mem,u64\n' >"$dir/writes.dp"
"$DPROBES" run "$dir/writes.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "memory is not written without being asked for" "$? $(cat "$dir/stderr" "$dir/stdout")" \
	'^2 dprobes: .*writes.dp:6:1: this writes memory, which the header does not ask for; put "allow = write" into it'
program writes 'allow = write, reg' $'push 100\npop r,rdi\npush r,rsp\npush 24\nadd\ndup 1\npush mem,u64\npop mem,u64'
"$DPROBES" run -q --allow write,reg "$dir/writes.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "with it, it is" "$? $(cat "$dir/stdout" "$dir/stderr")" "0 101"
"$DPROBES" run -q --allow reg "$dir/writes.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "unless the command line forbids it" "$? $(cat "$dir/stderr" "$dir/stdout")" \
	'^2 dprobes: .*writes.dp:5:9: the program asks for more than --allow permits'
"$DPROBES" run -q --allow none "$dir/handled.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "a program that asks for nothing runs anyway" "$? $(grep -c elements "$dir/stdout")" "0 1"
"$DPROBES" run --allow write,jump "$dir/handled.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "a right that there is not" "$? $(cat "$dir/stderr")" '^2 dprobes: --allow is a list of write, reg, io and call, or none; "jump" is not of it'

# Ports, where the kernel does not give the right to them [row 305]
program ports 'allow = io' $'push 0x80\npush io,u8\nlog 1'
text ports
if [ -w /dev/port ]; then like "a port" "$out" 'elements|EX_INVALID_OPERAND'; else is "a port" "$out" "  ended by EX_INVALID_OPERAND (0x7, 0x80)"; fi
program outs 'allow = io' $'push 0x10000\npush 1\npop io,u8'
text outs
is "one that there is not" "$out" "  ended by EX_INVALID_OPERAND (0x7, 0x10000)"
program segments '' $'push r,ds\npush r,rsp\nseg2lin\npush r,esp\nsub\nlog 1\npush 0x10\npush 0\nseg2lin'
text segments
is "a segment" "$out" $'  elements 0x0\n  bad segment 0x10\n  ended by EX_SEG_FAULT (0x10)'

# As DProbes wrote it before there was seg2lin
program segmented '' $'push 8\npush r,ss\npush r,rsp\npush 8\nadd\nlog mrs\npush 1\npush 0x10\npush 0\nlog str,s'
text segmented
is "memory of a segment, and of none" "$(grep -v '^    ' <<<"$out") $(grep -o '11 11 11 11 11 11 11 11 ' <<<"$out")" \
	$'  memory, 8 bytes\n  bad segment 0x10\n  ended by EX_SEG_FAULT (0x10) 11 11 11 11 11 11 11 11 '

# Registers of the floating-point units are the same in a detour and in a trap. [row 299]
program vectors '' $'push u,xmm0\npush u,mxcsr\npush r,fcw\npush r,xmm15\nlog 6'
is "vector registers, in a detour and in a trap" "$(data vectors DPROBES_ARM=trap)" "$(data vectors DPROBES_ARM=interior)"
is "and mxcsr" "$(data vectors | cut -c$((7 + 48))-$((6 + 64)))" "801f000000000000"

# [row 310] The paper's first program: 16 bytes of the stack, on a machine whose stack pointer has 64 bits
program paper 'logmax = 100' $'inc lv,0\npush d,16\npush r, esp\nlog mrf'
like "esp is the whole stack pointer" "$(data paper)" '^001000[0-9a-f]{16}1111111111111111$'

# Logs of more than 1 KiB [row 262]
program long 'logmax = 65536' $'push 4000\npush r,rsp\nlog mrf\npush r,rdi\nlog 1'
is "4000 bytes of memory" "$(data long | wc -c)" $((2 * (3 + 4000 + 3 + 8) + 1))
is "in a trap, too" "$(data long DPROBES_ARM=trap | wc -c)" $((2 * (3 + 4000 + 3 + 8) + 1))
program longest 'logmax = 65536' $'push 20\nL: push 4000\npush r,rsp\nlog mrf\nloop L'
"$DPROBES" run --json "$dir/longest.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "as many as there is room for, and a mark" "$(wc -c <"$dir/stdout") $(tail -c 20 "$dir/stdout")" '^131[0-9]{3} .*"truncated":true'
cat >"$dir/many.dp" <<'END2'
name = logger
modtype = user
logmax = 20000
offset = logger_tick
	push r,rsi
	log 1
	push 3000
	push r,rsp
	log mrf
END2
"$DPROBES" run --json --block "$dir/many.dp" -- "$logger" threads 2 3000 >"$dir/stdout" 2>"$dir/stderr"
is "long records of two threads, none lost" "$(grep -c '"data":"070100' "$dir/stdout") $(grep -o '[0-9]* hits, 0 missed, [0-9]* records' "$dir/stderr")" \
	"6000 6000 hits, 0 missed, 6000 records"

# The preprocessor [row 264]
mkdir "$dir/more"
cat >"$dir/macros.h" <<'END2'
#define WHERE logger_deep
#define LOG2(a, b) push a; push b; log 2
END2
echo '#define SEVEN 7' >"$dir/more/seven.h"
cat >"$dir/macros.dp" <<'END2'
#include "macros.h"
#include <seven.h>
name = logger
modtype = user
#if LEVEL > 1
offset = WHERE
	LOG2(SEVEN, %size%)	// 'c' and "quotes" in a comment
#endif
END2
text macros --include "$dir/more" -D LEVEL=2 -D size=0x10
is "macros, conditions and files" "$status $out" "0   elements 0x10 0x7"
text macros --include "$dir/more" -D LEVEL=1 -D size=0x10
like "what is left out is" "$status $err" '^2 dprobes: .*macros.dp:[0-9]*:1: this file has no probe'
text macros --include "$dir/more" -D LEVEL=2
like "a value that is missing" "$status $err" '^2 dprobes: .*macros.dp:7:[0-9]+: there is no value for %size%; give it one with -D size=VALUE'
text macros -D LEVEL=2
like "a file that is missing" "$status $err" '^1 dprobes: .*macros.dp:2:10: seven.h: No such file or directory'
sed -i 's/log 2/lgo 2/' "$dir/macros.h"
text macros --include "$dir/more" -D LEVEL=2 -D size=0x10
like "an error in a macro is shown in the line that uses it" "$status $err" 'macros.dp:7:[0-9]+: there is no instruction "lgo"'
printf '\npusch 1\n' >>"$dir/more/seven.h"
text macros --include "$dir/more" -D LEVEL=2 -D size=0x10
like "one in a file that is included, there" "$err" 'more/seven.h:3:1: '
printf 'name = logger\nmodtype = user\n\n#define X 1\n\noffset = logger_deep\n\tlog X\n\tpusch X\n' >"$dir/lines.dp"
text lines
like "lines are counted as they are written" "$err" 'lines.dp:8:2: there is no instruction "pusch"'
PATH=/nowhere "$DPROBES" run "$dir/lines.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "no compiler" "$(cat "$dir/stderr")" 'lines.dp:4: this line is for the C preprocessor, and there is no cc, gcc or clang; install one'
mkdir "$dir/bin"
: >"$dir/bin/cc"
PATH=$dir/bin "$DPROBES" run "$dir/lines.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "one that cannot be executed" "$(cat "$dir/stderr")" 'lines.dp:4: the C preprocessor cannot be started: Permission denied'
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/cc"
chmod +x "$dir/bin/cc"
PATH=$dir/bin "$DPROBES" run "$dir/lines.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "one that fails without a word" "$(cat "$dir/stderr")" 'lines.dp: the C preprocessor has failed'
printf '#iff\n' >"$dir/lines.dp"
text lines
like "what the preprocessor says" "$err" 'lines.dp:1:2: invalid preprocessing directive #iff'
program subst '' 'push %n%; log 1'
sed -i 's/^name = .*/name = %prog%/' "$dir/subst.dp"
text subst -D n=3 -D prog=logger
is "values without a preprocessor" "$out" "  elements 0x3"
text subst -D n
like "a value without a name" "$status $err" '^2 dprobes: -D n is not KEY=VALUE'

# Symbols, lines, arguments [row 300]
program symbols '' $'push &logger_deep\npush r,rip\nsub\nlog 1\npush logger_call + 2\npush &logger_call\nrsub\nlog 1'
text symbols
is "addresses of symbols" "$out" $'  elements 0x0\n  elements 0x2'
program nosymbol '' $'push 1\n\tpush &logger_deeper'
text nosymbol
like "one that there is not" "$status $err" '^2 dprobes: .*nosymbol.dp:10:8: &logger_deeper: logger has no symbol of that name'
program args '' $'push arg,1\nlog 1'
text args
is "an argument" "$out" "  elements 0x29"
# Values as specs have them, by tables of prototypes and by debug information
printf 'struct req { int len; struct req *next; };\n__attribute__((noipa)) int handle(struct req *r, int extra) { return r->len + extra; }\n' >"$dir/req.c"
printf 'int main(void)\n{\n\tstruct req b = { 9, 0 }, a = { 7, &b };\n\n\treturn handle(&a, 5) + handle(&b, 1) - 22;\n}\n' >>"$dir/req.c"
cc -g -O1 -o "$dir/req" "$dir/req.c"
printf 'name = req\nmodtype = user\noffset = handle\n\tsx bad\n\tpush v,"r->len + extra * 2"\n\tlog 1\n\tpush v,"r->next->len"\n\tlog 1\n\texit\nbad:\tlog 1\n' >"$dir/value.dp"
for native in 0 1; do
	is "values of debug information, and a bad pointer (native $native)" \
		"$(DPROBES_NATIVE=$native "$DPROBES" run -q "$dir/value.dp" -- "$dir/req" | grep elements | tr -d '\n')" \
		"  elements 0x11  elements 0x9  elements 0xb  elements 0x1"
done
sed -i 's/extra/extro/' "$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- "$dir/req" >"$dir/stdout" 2>"$dir/stderr"
like "a name that there is not" "$? $(cat "$dir/stderr")" '^2 dprobes: .*value.dp:5:9: this function has r, extra; '
printf 'name = libc.so.6\nmodtype = user\noffset = write\n\tpush v,"fd == 1"\n\tpush v,"count"\n\tlog 2\noffset = write\nretprobe = yes\n\tpush v,"retval"\n\tlog 1\n' >"$dir/value.dp"
"$DPROBES" run -q -o "$dir/records" "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
is "values of the table of prototypes" "$(grep elements "$dir/records" | tr -d '\n')" "  elements 0x5 0x1  elements 0x5"
sed -i 's/retval/fd/' "$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
like "what is gone at the return" "$(cat "$dir/stderr")" 'value.dp:9:9: this is known at the entry, and the probe is at the return'
printf 'name = libc.so.6\nmodtype = user\noffset = write\n\tpush v,"retval"\n\tlog 1\n' >"$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
like "what is not known yet at the entry" "$(cat "$dir/stderr")" 'value.dp:4:9: '
printf 'name = libc.so.6\nmodtype = user\noffset = write\nretprobe = yes\n\tpush v,"latency"\n\tlog 1\n' >"$dir/value.dp"
for arm in interior trap; do
	DPROBES_ARM=$arm "$DPROBES" run -q -o "$dir/records" "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
	took=$(sed -n 's/.*elements //p' "$dir/records")
	[ $((took)) -ge 100 ] && [ $((took)) -lt 10000000000 ] && ok "how long a call has taken ($arm)" || not_ok "how long a call has taken ($arm)" "$took" "$(cat "$dir/stderr")"
done
sed -i '/^retprobe/d' "$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
like "which is known at its end" "$? $(cat "$dir/stderr")" '^[12] dprobes: .*value.dp:4:9: a latency is that of a call that returns'
{ printf 'name = libc.so.6\nmodtype = user\noffset = write\n\tpush v,"count"\n\tlog 1\n'; yes nop | head -n 65521; } >"$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- sh -c 'echo four' >"$dir/stdout" 2>"$dir/stderr"
like "more code than a file has room for" "$? $(cat "$dir/stderr")" '^[12] dprobes: .*value.dp:4:9: there is no room for the code of this value'
printf 'namespace ns {\n__attribute__((noipa)) int twin(int given) { return given + 1; }\n__attribute__((noipa)) int twin(long given) { return (int)given + 2; }\n}\n' >"$dir/twins.cc"
printf 'int main()\n{\n\treturn ns::twin(1) + ns::twin(1l) - 5;\n}\n' >>"$dir/twins.cc"
g++ -g -O1 -o "$dir/twins" "$dir/twins.cc"
printf 'name = twins\nmodtype = user\noffset = "ns::twin"\n\tpush v,"given"\n\tlog 1\n' >"$dir/value.dp"
"$DPROBES" run "$dir/value.dp" -- "$dir/twins" >"$dir/stdout" 2>"$dir/stderr"
like "of two functions of a name" "$? $(cat "$dir/stderr")" '^[12] dprobes: .*value.dp:4:9: the probe of this value is at 2 places, and values are of one'
line=$(($(grep -n '^__attribute__((noipa)) void logger_tick' tests/victims/logger.c | cut -d: -f1) + 2))
printf 'name = logger\nmodtype = user\noffset = logger.c:%s\n\tlog 0\n' "$line" >"$dir/line.dp"
"$DPROBES" run "$dir/line.dp" -- "$logger" threads 1 5 >"$dir/stdout" 2>"$dir/stderr"
like "a line of the source" "$(cat "$dir/stderr")" ': 5 hits, 0 missed, 5 records'
printf 'name = logger\nmodtype = user\noffset = logger.c:99999\n\tlog 0\n' >"$dir/line.dp"
"$DPROBES" run "$dir/line.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "one that there is not" "$? $(cat "$dir/stderr")" '^[12] dprobes: .*line.dp:3:10: '

# As the program itself sees it
printf '#include <errno.h>\n#include <stdio.h>\n__attribute__((noipa)) int sets(int n) { errno = n; return n; }\n' >"$dir/errno.c"
printf 'int main(void)\n{\n\treturn sets(7) + sets(70000) + sets(0) - 70007;\n}\n' >>"$dir/errno.c"
printf 'modtype = user\noffset = sets\n\tpush v,"errno"\n\tlog 1\noffset = sets\nretprobe = yes\n\tpush v,"errno"\n\tlog 1\n' >"$dir/errno.dp"
sed '1s/^/name = errno\n/' "$dir/errno.dp" >"$dir/errno2.dp"
cc -O1 -o "$dir/errno" "$dir/errno.c"
cc -O1 -static -o "$dir/errno-static" "$dir/errno.c"
sed 's/^name = .*/name = errno-static/' "$dir/errno2.dp" >"$dir/errno3.dp"
for what in "errno2 errno" "errno3 errno-static"; do
	"$DPROBES" run -q "$dir/${what% *}.dp" -- "$dir/${what#* }" >"$dir/stdout" 2>"$dir/stderr"
	is "errno, before and after (${what#* })" "$(sed -n 's/^  elements //p' "$dir/stdout" | xargs) $(cat "$dir/stderr")" "0x0 0x7 0x7 0x11170 0x11170 0x0 "
done

printf 'name = bare\nmodtype = user\noffset = bare_return\n\tpush v,"errno"\n\tlog 1\n' >"$dir/errno.dp"
timeout 20 "$DPROBES" run "$dir/errno.dp" -- "$VICTIMS/bare/bare" >"$dir/stdout" 2>"$dir/stderr"
like "a program without any" "$? $(cat "$dir/stderr")" '^[12] dprobes: .*errno.dp:4:9: where errno is in this process is not known: it has no C library'

# Returns [defect 22]
program returns 'logmax = 100' $'push retval\nlog 1\nsetmin 8' 'retprobe = yes'
sed -i 's/^offset = .*/offset = logger_deep/' "$dir/returns.dp"
"$DPROBES" run "$dir/returns.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "what a function returns" "$(tr '\n' ' ' <"$dir/stdout")" ' r:logger:logger_deep major=1 minor=8   elements 0x2a '
program returned 'allow = reg' $'push 5\npop r,rax' 'retprobe = yes'
"$DPROBES" run -q "$dir/returned.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "and what it returns instead" "$(cat "$dir/stdout" "$dir/stderr")" 5
cat >"$dir/some.dp" <<'END2'
name = logger
modtype = user
offset = logger_tick
retprobe = yes
pass_count = 2
max_hits = 3
	push 1
	push 0
	log st
	div
END2
"$DPROBES" run --json "$dir/some.dp" -- "$logger" threads 1 10 >"$dir/stdout" 2>"$dir/stderr"
is "of the third, the fourth and the fifth call" "$(grep -c '"traces":"[0-9a-f]*","exception":"EX_DIV_BY_ZERO"' "$dir/stdout")" 3
like "and the account is right" "$(cat "$dir/stderr")" ': 10 hits, 0 missed, 3 records, 2 let pass; calls: 10 returned'

# Filters [defect 21]
printf 'name = logger\nmodtype = user\ncomm = log*\nuid = %s\noffset = logger_deep\n\tlog 0\n' "$(id -u)" >"$dir/filter.dp"
text filter
is "the right process" "$status $(grep -c major= "$dir/stdout")" "0 1"
sed -i 's/^comm.*/comm = logging/' "$dir/filter.dp"
text filter
like "the wrong one" "$status $err" '^1 dprobes: .*filter.dp is not for this process: comm = logging, and process [0-9]+ is "logger"'
sed -i 's/^comm.*/uid = nobody-there/; /^uid = [0-9]/d' "$dir/filter.dp"
text filter
like "nobody" "$err" 'uid = nobody-there, and there is no such user'
sed -i 's/^uid.*/uid = 4242/' "$dir/filter.dp"
text filter
like "somebody else" "$err" 'uid = 4242, and process [0-9]+ is another user.s'
sed -i 's/^uid.*/pid = 1/' "$dir/filter.dp"
text filter
like "by number" "$err" 'pid = 1, and this is process [0-9]+'
sed -i 's/^pid.*/cgroup = no\/such/' "$dir/filter.dp"
text filter
like "by group" "$err" 'cgroup = no/such, and process [0-9]+ is in "'
printf 'name = logger\nmodtype = user\ncomm = logger\noffset = logger_deep\n\tlog 0\n' >"$dir/filter.dp"
cp "$logger" "$dir/other"
printf 'name = "*"\nmodtype = user\ncomm = other\noffset = logger_deep\n\tlog 0\n' >"$dir/filter2.dp"
"$DPROBES" run -f "$dir/filter.dp" "$dir/filter2.dp" -- sh -c "$logger stack; $dir/other stack" >"$dir/stdout" 2>"$dir/stderr"
is "each in its own process of a tree" "$(grep -o ' logger logger:\| other other:' "$dir/stdout" | tr -d '\n')" " logger logger: other other:"
plan
