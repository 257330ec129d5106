#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dprobes stacks: its tree, folded lines and flame graph, against {count() by stack}.
. tests/scenario/lib.sh

cat >"$dir/prog.c" <<'END'
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
void leaf(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
__attribute__((noinline)) void hostile(int n) { leaf(n); __asm__ volatile(""); }
__attribute__((noinline)) void deeper(int n)
{
	if (n)
		deeper(n - 1);
	leaf(n);
	__asm__ volatile("");
}
int main(void)
{
	/* push rbp; call *%rsi; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0xff, 0xd6, 0x5d, 0xc3 };
	void (*made)(int, void (*)(int)) = mmap(0, 4096, 7, 34, -1, 0);
	int i;

	prctl(PR_SET_NAME, "<&;\001\302\233\377\357\277\277\"");
	memcpy((void *)made, code, sizeof(code));
	for (i = 0; i < 60; i++) {
		deeper(i % 5);
		hostile(i);
	}
	for (i = 0; i < 7; i++)
		made(i, leaf);
	return 0;
}
END
bad='a;b <i>&amp; "q'"'"']]>%s'
gcc -O1 -fno-inline -fomit-frame-pointer -c -o "$dir/prog.o" "$dir/prog.c"
objcopy --redefine-sym "hostile=$bad" "$dir/prog.o"
gcc -o "$dir/prog" "$dir/prog.o"

# stacks OPTIONS: into $out
stacks() { out=$(timeout 60 "$DPROBES" stacks -q "$@" leaf -- "$dir/prog" 2>"$dir/err"); }

# The thread's name has what a terminal obeys, and what is no XML.
comm='<&_\x01\xc2\x9b\xff'$'\357\277\277''"'
stacks --folded
is "folded: a line a stack, with its count; what would take a line apart, or a terminal obey, is escaped" \
	"$(sed 's/;_start;.*main;/;main;/' <<<"$out")" "$comm;[unknown];[unknown];leaf 7
$comm;main;"'a_b <i>&amp_ "q'"'"']]>%s;leaf 60
'"$comm;main;deeper;deeper;deeper;deeper;deeper;leaf 12
$comm;main;deeper;deeper;deeper;deeper;leaf 24
$comm;main;deeper;deeper;deeper;leaf 36
$comm;main;deeper;deeper;leaf 48
$comm;main;deeper;leaf 60"
is "counts are all hits" "$(awk '{ n += $NF } END { print n }' <<<"$out")" 247
folded=$out

stacks --json
is "--json: the same counts" "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
for r in rows:
    assert r["hits"] == r["count()"]
print(sum(r["hits"] for r in rows), len(rows), sorted({r["by"]["stack_end"] for r in rows}))' <<<"$out")" \
	"247 $(wc -l <<<"$folded") ['complete', 'unknown']"

stacks
is "a tree: what has called several is told apart" "$(sed -n '/ main/,$p' <<<"$out")" \
	'         240  97.2%      main
         180  72.9%      + deeper
         120  48.6%        + deeper
          72  29.1%          + deeper
          36  14.6%            + deeper
          24   9.7%              + leaf
          12   4.9%              + deeper
          12   4.9%                leaf
          36  14.6%            + leaf
          48  19.4%          + leaf
          60  24.3%        + leaf
          60  24.3%      + a;b <i>&amp; "q'"'"']]>%s
          60  24.3%        leaf
           7   2.8%    + [unknown]
           7   2.8%      [unknown]
           7   2.8%      leaf'
stacks --depth 5
is "--depth: so many frames from the outermost on" "$(sed -n '/ main/,$p' <<<"$out")" \
	'         240  97.2%      main
         180  72.9%      + deeper
          60  24.3%      + a;b <i>&amp; "q'"'"']]>%s
           7   2.8%    + [unknown]
           7   2.8%      [unknown]
           7   2.8%      leaf'
is "no frame is deeper" "$(stacks --folded --depth 5; awk -F';' 'NF != 6 && NF != 4' <<<"$out")" ""
is "counts of what is deeper are their callers'" "$(stacks --folded --depth 5; awk '{ n += $NF } END { print n }' <<<"$out")" 247

stacks --flame "$dir/out.svg"
is "--flame prints nothing else" "$out$(<"$dir/err")" ""
cat >"$dir/svg.py" <<'END'
import sys, xml.dom.minidom
doc = xml.dom.minidom.parse(sys.argv[1])
frames = []
for g in doc.getElementsByTagName("g"):
    x, w, d = (float(g.getAttribute("data-" + k)) for k in "xwd")
    title = g.getElementsByTagName("title")[0].firstChild.data
    rect = g.getElementsByTagName("rect")[0]
    assert abs(float(rect.getAttribute("x")) - x) < 1e-3 and abs(float(rect.getAttribute("width")) - w) < 1e-3
    name, _, rest = title.rpartition(" (")
    count, _, share = rest.partition(", ")
    assert name == g.getAttribute("data-n")
    assert abs(int(count) * 1180 / 247 - w) < 1e-2, title
    assert abs(int(count) * 100 / 247 - float(share[:-2])) < 0.01, title
    frames.append((x, w, d, name, int(count), float(rect.getAttribute("y"))))
lines = []
for x, w, d, name, count, y in frames:
    # Callees are within their caller, do not overlap, and are one line above it.
    under = sorted(f for f in frames if f[2] == d + 1 and f[0] > x - 1e-3 and f[0] < x + w - 1e-3)
    at = x
    for f in under:
        assert f[0] > at - 1e-3 and f[5] == y - 16, (name, f)
        at = f[0] + f[1]
    assert at < x + w + 1e-2, name
    own = count - sum(f[4] for f in under)
    assert own >= 0
    if own:
        path, fx, fd = [], x, d
        while fd >= 1:
            path.append(next(f[3] for f in frames if f[2] == fd and f[0] < fx + 1e-3 and f[0] + f[1] > fx + 1e-3))
            fd -= 1
        lines.append("%s %d" % (";".join(p.replace(";", "_") for p in reversed(path)), own))
print("\n".join(sorted(lines)))
END
is "the picture is valid, its widths add up, and it has the same stacks" \
	"$(python3 "$dir/svg.py" "$dir/out.svg" 2>&1 | sort)" "$(sed 's/'$'\357\277\277''/\\xef\\xbf\\xbf/' <<<"$folded" | sort)"
is "it has one script, which has no names in it" "$(grep -c '<script>' "$dir/out.svg") $(sed -n '/<script>/,$p' "$dir/out.svg" | grep -c 'leaf\|deeper\|&')" \
	"1 $(sed -n '/<script>/,$p' "$dir/out.svg" | grep -c '&&')"
is "and refers to nothing outside" "$(grep -o '[a-z]*://[^"]*' "$dir/out.svg" | sort -u)" "http://www.w3.org/2000/svg"
if command -v node >/dev/null; then
	sed -n '/<script>/,/<\/script>/p' "$dir/out.svg" | sed '1d;$d' >"$dir/script.js"
	is "the script can be read" "$(node --check "$dir/script.js" 2>&1)" ""
else
	skip "the script can be read" "there is no node"
fi
"$DPROBES" stacks --flame "$dir/none/out.svg" leaf -- "$dir/prog" 2>"$dir/err"
is "a file that cannot be written" "$? $(<"$dir/err")" "1 dprobes: cannot write $dir/none/out.svg: No such file or directory"
"$DPROBES" stacks --flame /dev/full leaf -- "$dir/prog" >/dev/null 2>"$dir/err"
like "a file that takes nothing" "$? $(tr '\n' ' ' <"$dir/err")" '^1 dprobes: cannot write /dev/full: No space left on device dprobes: '
"$DPROBES" stacks 'leaf{sum(n)}' -- "$dir/prog" 2>"$dir/err"
like "braces" "$? $(tr '\n' ' ' <"$dir/err")" '^2 dprobes: stacks counts by stack.* \^~+ $'

# Watchpoints: refused where the stacks of hits are wanted, at the place of the spec, before the program begins
printf 'int counter;\nint main(void) { counter = 1; return 5; }\n' >"$dir/counts.c"
cc -O1 -g -o "$dir/counts" "$dir/counts.c"
refusal="2 dprobes: a watchpoint's hits have no stacks: dprobes trace shows which instruction writes (by=FUNCTION+OFFSET), and a probe there has them"
for verb in "trace --stack w:counter" "trace --stack --json w:counter(new)" "stacks w:counter" "stacks --folded w:counter" "stat w:counter{count()§by§stack}" "leaks w:counter"; do
	args=($verb)
	"$DPROBES" "${args[@]//§/ }" -- "$dir/counts" >"$dir/out" 2>"$dir/err"
	is "${verb//§/ }" "$? $(head -n 1 "$dir/err")" "$refusal"
	is "${verb//§/ }: where" "$(sed -n '3s/^  //p' "$dir/err" | awk '{ match($0, /\^+~*/); print RSTART, RLENGTH }')" "3 7"
done
"$DPROBES" stat 'w:counter{count()}' -- "$dir/counts" 2>"$dir/err"
like "without stacks, it is another sentence" "$? $(<"$dir/err")" "^2 dprobes: a watchpoint's hits are counted by the kernel"
"$DPROBES" trace --stack main -- "$dir/counts" >"$dir/out" 2>"$dir/err"
is "a probe has them" "$? $(grep -c '^    counts:main' "$dir/out")" "5 1"
plan
