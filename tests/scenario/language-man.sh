#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dprobes.lang(7) is complete, and its examples do what it says.
. tests/scenario/lib.sh

page=man/dprobes.lang.7
logger=$VICTIMS/logger
# Its literal blocks that are programs, in files of their own
awk -v dir="$dir" '/^\.Ed/ { if (is) n++; on = is = 0 } on { gsub(/\\e/, "\\"); text = text $0 "\n"; if (/^name = /) is = 1 }
	on && is { printf "%s", text >(dir "/" n ".dp"); text = "" } /^\.Bd -literal/ { on = 1; text = "" }' n=1 "$page"
is "the page has programs" "$(cd "$dir" && ls *.dp | tr '\n' ' ')" "1.dp 2.dp 3.dp 4.dp 5.dp "
printf '#include <stdlib.h>\nint main(void)\n{\n\tvoid *volatile p = malloc(0x20000000);\n\tchar *volatile q = malloc(5000);\n\n\tfree(p);\n\tfree(q);\n\treturn 0;\n}\n' >"$dir/grab.c"
cc -O0 -o "$dir/grab" "$dir/grab.c"
"$DPROBES" run "$dir/1.dp" -- "$dir/grab" >"$dir/out" 2>"$dir/err"
is "the first one: who asks for more than 4096 bytes, and for how many" "$(grep elements "$dir/out" | tr '\n' ' ')" "  elements 0x20000000   elements 0x1388 "
"$DPROBES" run "$dir/2.dp" -- "$dir/grab" >"$dir/out" 2>"$dir/err"
is "the second one: who asks for 512 MB" "$(grep -c 'elements 0x20000000$' "$dir/out") $(grep -c 'memory, 16 bytes' "$dir/out")" "1 1"
"$DPROBES" run "$dir/3.dp" -- "$dir/grab" >"$dir/out" 2>"$dir/err"
is "the third one: a list that may be broken" "$? $(grep -c 'elements' "$dir/out")" "0 1"
"$DPROBES" run "$dir/4.dp" -- "$dir/grab" >"$dir/out" 2>"$dir/err"
is "the fourth one: what malloc returns" "$? $(grep -c 'elements 0x[0-9a-f]*$' "$dir/out")" "0 2"
if [ -e /dev/dprobes ]; then
	skip "the fifth one is for the kernel" "the kernel can be probed"
else
	like "the fifth one is for the kernel" "$("$DPROBES" run "$dir/5.dp" 2>&1)" 'there is no /dev/dprobes'
fi

# What the assembler knows, as it says itself
printf 'colour = 1\n' >"$dir/unknown.dp"
keywords=$("$DPROBES" run "$dir/unknown.dp" -- true 2>&1 | sed -n 's/.*the header has \(.*\), and a probe \(.*\)/\1 \2/p')
lacking=
for k in $keywords; do
	sed 's/_//g' "$page" | grep -qE "^${k//_/}( |\$)" || lacking+=" $k"
done
is "the page has every keyword" "${#keywords} $lacking" "${#keywords} "
like "and there are many" "$(wc -w <<<"$keywords")" '^3[0-9]$'
# Those that can be read, and those that are refused by name; a row of them is "r8 to r15".
registers=$(sed -n '/^\.Sh REGISTERS/,/^\.Sh EXECUTION/p' "$page" | tr -s ',\n' ' ')
printf 'name = libc.so.6\nmodtype = user\noffset = malloc\npush r,nosuch\n' >"$dir/register.dp"
known=$("$DPROBES" run "$dir/register.dp" -- true 2>&1 | sed -n 's/.*; there are \(.*\), fr0 to fr7, xmm0 to xmm15$/\1/p')
kernels=$(sed -n '/define DP_KERNEL_REGS/,/^$/p' arch/x86/regs.h | grep -o 'X([a-z0-9]*)' | tr -d 'X()' | xargs)
in_row() {
	local stem=${1%%[0-9]*} n=${1##*[a-z]} first last

	while read -r _ first _ last; do
		[ "$first" ] && [ "$n" -ge "${first#"$stem"}" ] && [ "$n" -le "${last#"$stem"}" ] && return 0
	done < <(grep -oE "(^| )${stem}[0-9]+ (\.Li )?to (\.Li )?${stem}[0-9]+" <<<"$registers" | sed 's/\.Li //g; s/^ *\([a-z]*[0-9]*\) to/x \1 to/')
	return 1
}
lacking=
for r in $known $kernels fr0 fr7 xmm0 xmm15 xmm0l xmm15l; do
	grep -qw -- "$r" <<<"$registers" || { [[ $r =~ ^[a-z]+[0-9]+$ ]] && in_row "$r"; } || lacking+=" $r"
done
is "the page has every register" "$lacking" ""
like "and there are many of the kernel's" "$(wc -w <<<"$kernels") $(wc -w <<<"$known")" '^1[0-9] [4-6][0-9]$'
lacking=
for ex in $(sed -n 's/^	DP_\(EX_[A-Z_]*\) = 0x.*/\1/p' engine/vm/vm.h); do
	grep -qE "^0x[0-9a-f]{4} $ex\b" "$page" || lacking+=" $ex"
	grep -q "define DP_$ex 0x" include/dprobes/dp.h || lacking+=" dp.h:$ex"
done
is "and every exception" "$lacking" ""
lacking=
for macro in $(sed -n 's/^\(DP_[A-Z_0-9]*\).*/\1/p' "$page"); do
	grep -q "#define $macro\b" include/dprobes/dp.h || lacking+=" $macro"
done
is "and no macro that there is not" "$lacking" ""

# The examples of the source
examples=$PWD/examples
echo text >"$dir/text"
"$DPROBES" run -o "$dir/out" "$examples/big-reads.dp" -D SIZE=1000 -- cat "$dir/text" 2>"$dir/err" | cat >"$dir/said"
like "big-reads.dp" "$? $(cat "$dir/out")" 'elements 0x3 0x20000 0x[0-9a-f]+'
# Each macro of the header, once
cat >"$dir/macros.dp" <<'END2'
#include <dprobes/dp.h>
name = logger
modtype = user
offset = logger_deep
	DP_LOG3(DP_ARG(1), DP_ARG_U32(1), DP_ARG_S32(1))
	DP_LOG1(DP_RETURN_ADDRESS)
	DP_THREAD(5); DP_COMPARE(32); jge wrong
	push r,rsp
	DP_FIELD(8, 64)
	log 1
	push r,rsp; DP_OFFSET(16)
	DP_LOG_BYTES(8)
	push r,rsp; DP_OFFSET(8)
	DP_LOG_STRING(4)
	push 5
	DP_IF(4, wrong)
	push 5
	DP_UNLESS(5, wrong)
	push 5
	DP_COMPARE(6)
	jge wrong
	pop 1
	DP_LOG2(push 1, push 2)
	push 5
	DP_IF(5, right)
wrong:	abort
right:	log 0
END2
"$DPROBES" run -q --json "$dir/macros.dp" -- "$logger" stack >"$dir/out" 2>"$dir/err"
like "the macros of dp.h" "$(cat "$dir/out" "$dir/err")" \
	'"data":"070300(2900000000000000){3}070100[0-9a-f]{16}0701001{16}0008002{16}0104001{8}07020001(00){7}02(00){7}070000"'
plan
