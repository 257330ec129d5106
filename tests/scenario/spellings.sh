#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each form that ftrace (uprobetracer) and perf-probe(1) document: the right value, or a refusal by name. What is right,
# the program prints.
. tests/scenario/lib.sh

cat >"$dir/forms.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define KEPT __attribute__((noipa))
enum hue { RED = 1, GREEN, BLUE };
struct thing { uint32_t word; uint16_t half; uint8_t bytes[6]; const char *name; int64_t number; struct thing *next; };
struct thing things[2] = { { 0xfedcba98, 0xffee, { 1, 2, 0x80, 0xff, 'x', 0 }, "a name", -5, &things[1] }, { 7, 8, "text", "next", 9, NULL } };
unsigned counter = 4711;
static int hidden[2] = { 7, -9 };
char told[] = "what is told";
double ratio = 1.5;
const char *where = "there";
KEPT long probed(struct thing *t, const char *text, int n, unsigned flags, enum hue hue, long six, long seven, long eight)
{
	hidden[1]--;
	return n + seven + hidden[0];
}
int main(void)
{
	struct thing *t = things;

	/* FORM ANSWER, as a value of probed()'s entry */
	printf("di=0x%lx\n", (unsigned long)t);
	printf("word=%u half=%d\n", t->word, (int16_t)t->half);
	printf("field4=%u field1=%u\n", t->word >> 4 & 15, t->word >> 31);
	probed(t, "some text", -3, 0xa5, BLUE, 6, 77, -88);
	return 0;
}
END
"${CC:-gcc}" -w -O2 -g -o "$dir/forms" "$dir/forms.c"
is_shown() {
	local form=$1 wanted=$2 kind=${3:-}

	"$DPROBES" trace -q -o "$dir/lines" "${kind}probed(v=$form)" -- "$dir/forms" >"$dir/out" 2>"$dir/err"
	is "$form" "$? $(sed -E 's/.* v=//; s/ = -?[0-9]+ <.*//' "$dir/lines")$(head -n 1 "$dir/err")" "0 $wanted"
}
is_refused() {
	"$DPROBES" trace -q -o "$dir/lines" "${3:-}probed($1)" -- "$dir/forms" >"$dir/out" 2>"$dir/err"
	like "$1: refused" "$? $(head -n 1 "$dir/err")" "^2 dprobes: .*$2"
	like "$1: with a caret" "$(tail -n 1 "$dir/err")" '^ *\^~*$'
}
said() { "$dir/forms" | grep -oE "(^| )$1=[^ ]*" | sed 's/.*=//'; }

# uprobetracer: FETCHARGS
is_shown '%si:string' '"some text"'
is_shown '%dx:s32' -3
is_shown '%cx' 0xa5
is_shown '%ip:symbol' 'forms:probed+0x0'
is_shown '%ip:ip' 'forms:probed+0x0'
is_shown '%ip:symstr' 'forms:probed+0x0'
is_shown '$stack0:sym' "$("$DPROBES" trace -q -o "$dir/lines" 'probed(v=caller:sym)' -- "$dir/forms" >/dev/null; sed 's/.* v=//' "$dir/lines")"
is_shown '$stack1:s64' 77
is_shown '+16(%sp):s64' -88
is_shown '+8($stack):u8' 77
is_shown '$arg3:s32' -3
is_shown '$arg7' 0x4d
is_shown '+0(%di):u32' "$(said word)"
is_shown '+4(%di):s16' "$(said half)"
is_shown '+u4(%di):s16' "$(said half)"
is_shown '-4(+16(%di)):x8' "$(printf '0x%x' "$(objdump -s -j .rodata "$dir/forms" >/dev/null; "$DPROBES" trace -q -o "$dir/lines" 'probed(v=*((u8 *)t->name - 4):u)' -- "$dir/forms" >/dev/null; sed 's/.* v=//' "$dir/lines")")"
is_shown '+0(+16(%di)):string' '"a name"'
is_shown '+0(+16(%di)):ustring' '"a name"'
is_shown '+0(+16(+32(%di))):string' '"next"'
is_shown '+6(+32(%di)):string' '"text"'
is_shown '+24(%di):s64' -5
is_shown '@counter:u32' 4711
is_shown '@hidden:s32[2]' '{7,-9}'
is_shown '@hidden+4:s32' -9
is_shown '@told:string' '"what is told"'
is_shown '@told+5:string' '"is told"'
is_shown '*(char *)(@where:u64):str' '"there"'
is_shown '@ratio:f64' 1.5
is_shown '@ratio:f64 > 1.25 && @counter:u32 == 4711' true
is_shown '@0x8:u8' '<bad address 0x8>'
is_shown '\5' 5
is_shown '\-5' -5
is_shown '\0x1f:x8' 0x1f
# … and types
for bits in 8 16 32 64; do
	for letter in u s x; do is_shown "%cx:$letter$bits" "$(case $letter$bits in s8) echo -91 ;; x*) echo 0xa5 ;; *) echo 165 ;; esac)"; done
done
is_shown '+6(%di):char' 1
is_shown "+10(%di):char" "'x'"
is_shown '+6(%di):u8[4]' '{1,2,128,255}'
is_shown '+6(%di):s8[4]' '{1,2,-128,-1}'
is_shown '+6(%di):x8[1]' '{0x1}'
is_shown '+0(%di):b4@4/32' "$(said field4)"
is_shown '+0(%di):b1@31/32' "$(said field1)"
is_shown '%cx:b3@5/8' 5
is_shown '+0($retval):x8' '<bad address 0x51>' r:
is_shown '@hidden+4:s32' -9 r:
# perf-probe: C expressions
is_shown 'n' -3
is_shown 'flags:x' 0xa5
is_shown 'flags:u' 165
is_shown 't->word' "$(said word)"
is_shown 't->bytes[1]' 2
is_shown 't->next->name' '"next"'
is_shown 't->next->name:string' '"next"'
is_shown 't->number:x64' 0xfffffffffffffffb
is_shown 'hue' BLUE
is_shown 'hue:enum' BLUE
is_shown 'n:x32' 0xfffffffd
is_shown 'n > 0' false
"$DPROBES" trace -q -o "$dir/lines" 'probed%return(n, $retval)' -- "$dir/forms" >/dev/null 2>"$dir/err"
like "probed%return" "$(cat "$dir/lines" "$dir/err")" 'n=-3 = 81 <'
# A variable of the C library that the program has a copy of
cat >"$dir/copied.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	printf("0x%lx 0x%lx\n", (unsigned long)stdout, (unsigned long)environ);
	fflush(stdout);
	return strtol("1", NULL, 10) != 1;
}
END
"${CC:-gcc}" -w -D_GNU_SOURCE -fno-builtin -no-pie -o "$dir/copied" "$dir/copied.c"
"$DPROBES" trace -q -o "$dir/lines" 'libc.so.6:strtol(a=@stdout, b=@environ)' -- "$dir/copied" >"$dir/out" 2>"$dir/err"
is "@stdout and @environ are the program's" "$(sed -E 's/.* a=(\S+) b=(\S+)$/\1 \2/' "$dir/lines" | tail -n 1)" "$(cat "$dir/out")"
"$DPROBES" trace 'probed(@nothing)' -- "$dir/forms" >/dev/null 2>"$dir/err"
like "a symbol that is none" "$(<"$dir/err")" '@nothing: forms has no symbol of that name'
# What has another word here, or none
is_refused '$comm' 'every line has the name of its thread'
is_refused '@+16' 'offsets in a file are not there yet'
is_refused '$params' 'shown where no values are given'
is_refused '$vars' 'shown where no values are given'
is_refused '+0(%di):string[2]' 'an array of strings is not there yet'
is_refused '%di:bitfield' 'a bit field is b4@8/32'
is_refused '%di:b4@30/32' 'within the 8, 16, 32 or 64 bits'
is_refused '%di:u33' 'a format is u8 to u64'
is_refused '+0(%di):u8[65]' 'an array has 1 to 64 elements'
is_refused '%rax5' 'a value is one of these|this function has'
is_refused '\"text"' 'behind this is a number'
is_refused '$stack0:enum' 'no enumeration is known'
is_refused '$retval' 'retval is of return probes'
plan
