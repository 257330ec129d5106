#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every sentence with which a program of the language is refused has a test of its own: tests/lang/err.TAG.NAME.dp, which
# says in its first line where it comes, and whose TAG says what is wrong. A new sentence without one is noticed here.
. tests/scenario/lib.sh

# What an error is about; a new kind of errors is put here first.
tags="ALLOW ARG KEY LABEL LATER LINE OPERAND RANGE REG SUBST SYMBOL SYNTAX VAR WATCH"
strange=
for f in tests/lang/err.*.dp; do
	name=${f##*/err.} tag=${name%%.*}
	[[ " $tags " == *" $tag "* ]] && [[ $name =~ ^[A-Z]+\.[a-z0-9-]+(\.[a-z0-9-]+)?\.dp$ ]] || strange+=" $f"
done
is "each has a tag, and a name" "$strange" ""
used=$(printf '%s\n' tests/lang/err.*.dp | sed 's/.*err\.\([A-Z]*\)\..*/\1/' | sort -u | xargs)
is "each tag is used" "$used" "$tags"

# What is said of each, in one line
for f in tests/lang/err.*.dp; do
	"$DPROBES" run "$f" -- true 2>&1 | head -n 1
	head -n 1 "$f"
done >"$dir/said"

# Sentences are what the objects of the language, and of the tool that takes its files, have as text: three words or more. A conversion stands for anything. What a
# small file cannot show, or the tool says later, is in some other test: four words of it are, one behind the other.
build=${DPROBES%/*}
export LC_ALL=C.UTF-8
strings -d -e S -n 10 "$build"/lang/*.o "$build"/lang/value/*.o "$build"/tracer/{program,filter}.o | grep -aE '[a-z]+ .* [a-z]' | sort -u >"$dir/sentences"
like "there are many" "$(wc -l <"$dir/sentences")" '^1[0-9][0-9]$'
# Names of groups and of types are no sentences.
sed -n 's/^#define DP_GROUP_.* "\(.*\)"/\1/p' engine/vm/ops.h >"$dir/names"
plain() { tr -d '\\"' | tr -s ' \t\n' ' ' | sed 's/[;:,.]\( \|$\)/\1/g'; }
printf '%s\n' tests/unit/*.[ch] tests/kernel/*_init.c tests/scenario/*.sh | grep -v diagnostics.sh | xargs cat | sed 's/"$/"\x01/; s/^[ \t]*"/\x01/' |
	sed -z 's/"\x01\n\x01//g; s/\x01//g' | plain >"$dir/elsewhere"
# windows: each four words of it; or all, if there are fewer
windows() { awk '{ $1 = $1; if (NF < 5) print; else for (i = 1; i <= NF - 3; i++) print $i, $(i + 1), $(i + 2), $(i + 3) }'; }
conversion='%(\.\*|0?[0-9])*(ll|z|l)?[a-zA-Z]'
untold= elsewhere=0
while IFS= read -r text; do
	case $text in *"no memory"*|*"out of memory"*|*" int"|*unsigned*|*" = yes") continue ;; esac
	grep -qxF -- "$text" "$dir/names" && continue
	# No instruction does that yet.
	[ "$text" != "calls a function" ] || ! grep -q 'CALL_KMOD.*LATER' engine/vm/ops.h || continue
	pattern=$(sed -E "s/$conversion/\x01/g"'; s/[][().*^$+?{}|\\]/\\&/g; s/\x01/.*/g' <<<"$text")
	grep -qaE -- "$pattern" "$dir/said" && continue
	if sed -E "s/$conversion/\n/g" <<<"$text" | while read -r piece; do plain <<<"$piece"; echo; done | grep -a '[^ ]* [^ ]* ' |
		windows | grep -qaF -f - "$dir/elsewhere"; then elsewhere=$((elsewhere + 1)); else untold+="
$text"; fi
done <"$dir/sentences"
is "each of them has its test" "$untold" ""
echo "# $(wc -l <"$dir/sentences") sentences, of which $elsewhere are shown by other tests than tests/lang"
plan
