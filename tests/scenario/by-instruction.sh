#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each instruction of the language in a real process: what it leaves is the same in a detour, in the interpreter
# behind a jump, and in a trap.
. tests/scenario/lib.sh

logger=$(realpath "$VICTIMS/logger")
# A probe for each: elements, the instruction, and what is on the stack then. Functions that the tool names are no part of this.
sed -n 's/^	X(\(0x..\), [A-Z0-9_]*, \([A-Z0-9]*\),.* READY, [A-Z]*, "\(.*\)").*/\1 \2 \3/p' engine/vm/ops.h |
	grep -v ' call_kmod$' >"$dir/table"
operand() {
	case $1 in
	U8) echo 3 ;; U16) echo 2 ;; S16) echo 1 ;; UL) echo 0x123456789 ;; REL) echo "L$2" ;;
	REG) echo rdi ;; REGW) echo r11 ;; LV|GV) echo 1 ;; [0-9]*) echo "$1" ;;
	esac
}
{
	printf 'name = "%s"\nmodtype = user\nvars = 4\ngvars = 4\nallow = write, reg, io\nlogmax = 200\n' "$logger"
	while read -r code kind text; do
		printf 'offset = logger_deep\nminor = %d\n' "$code"
		case $text in
		*" mem,"*|vfy*) printf '\tpush 7\n\tpush r,rsp; push 40; sub; neg; push 1; add\n' ;;
		"log mrf"|"log str") printf '\tpush 5\n\tpush r,rsp; push 8; add\n' ;;
		seg2lin) printf '\tpush 0x2b; push 0x77\n' ;;
		"log lv"|"log gv"|"trace lv"|"trace gv") printf '\tpush 1; push 2\n' ;;
		"pop lp") printf '\tlog 0; push 2\n' ;;
		"pop stp") printf '\tlog st; push 2\n' ;;
		"free gv") printf '\tpush 1; alloc gv\n' ;;
		free|pushh*) printf '\tpush 24; malloc; dup 1; pop lv,3; push 9; push lv,3; push 0; poph u64,1\n\tpush lv,3\n' ;;
		poph*) printf '\tpush 77; push 88; push 99; push 24; malloc\n' ;;
		*) printf '\tpush 5; push 4; push 3; push 2\n' ;;
		esac
		case $text in
		pop\ mem*) printf '\tpush 0x1122334455667788\n' ;;
		pushh*|poph*) printf '\tpush 0\n' ;;
		esac
		# The port is none.
		case $text in
		push\ io*) printf '\tpush 0x10000\n' ;;
		pop\ io*) printf '\tpush 0x10000; push 1\n' ;;
		esac
		# That is what "alloc gv" has given.
		[ "$text" != "free gv,%" ] || kind=256
		[ "$text" != "exit %" ] || kind=20
		printf '\t%s\n' "${text/\%/$(operand "$kind" "$code")}"
		case $text in
		"push procid"|"push pid") printf '\tros 1\n' ;;
		"push task"|"push r,"*|"push u,"*) printf '\tpush 0; and\n' ;;
		esac
		case $text in
		"log mrf"|"log str") printf 'L%s:\tlog 0\n' "$code" ;;
		*" mem,u"*) printf 'L%s:\tlog 1\n' "$code" ;;
		"call %") printf '\tlog 2\n\texit\nL%s:\tpush 9\n\tret\n' "$code" ;;
		*) printf 'L%s:\tlog 3\n' "$code" ;;
		esac
	done <"$dir/table"
} >"$dir/all.dp"
# records ARM NATIVE: minor, data and the rest of each. The program's environment, and so its stack, is as large in any case.
records() {
	env DPROBES_ARM="$1" DPROBES_NATIVE="$2" FILL="$(printf "%$((40 - ${#1} - ${#2}))s" '')" \
		setarch -R "$DPROBES" run -q --json -o "$dir/records" "$dir/all.dp" -- "$logger" stack 2>&1
	sed 's/.*"minor"/"minor"/; s/"cpu":[0-9]*,//' "$dir/records" | sort
}
records interior 1 >"$dir/native"
n=$(wc -l <"$dir/table")
like "there are many instructions" "$n" '^1[3-9][0-9]$'
is "each has been a probe" "$(grep -c '^offset' "$dir/all.dp")" "$n"
# Those that end without a log or with abort have no record; that is the same everywhere, too.

like "most have a record" "$(grep -c minor "$dir/native")" '^1[2-9][0-9]$'
records interior 0 >"$dir/interpreted"
is "the interpreter leaves what detours leave" "$(diff "$dir/native" "$dir/interpreted" | head -n 6)" ""
records trap 1 >"$dir/trap"
is "and so does a trap" "$(diff "$dir/native" "$dir/trap" | head -n 6)" ""
for k in 3 5 7; do
	records interior "leave:$k" >"$dir/left"
	is "and a detour that is left at instruction $k" "$(diff "$dir/native" "$dir/left" | head -n 6)" ""
done
is "but for those of ret, rx and ports there is no exception" \
	"$(grep -o '"exception":"[A-Z_]*"' "$dir/native" | sort | uniq -c | tr -s ' \n' ' ')" \
	' 1 "exception":"EX_CALL_STACK_OVERFLOW" 6 "exception":"EX_INVALID_OPERAND" 1 "exception":"EX_SEG_FAULT" '
is "all have a record that do not end the program, or change its code" "$(comm -23 <(cut -d ' ' -f 1 "$dir/table" | sort) \
	<(grep -o '"minor":[0-9]*' "$dir/native" | cut -d : -f 2 | xargs printf '0x%02x\n' | sort) | xargs)" "0x0b 0x0c 0x0d 0x0f 0x11 0x12"
plan
