#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every test there is runs in `make check` or in `make check-long`, and in one of them only.
. tests/scenario/lib.sh
build=${DPROBES%/dprobes}
unset MAKEFLAGS MAKELEVEL T

# What there is, found without the Makefile.
there() {
	local f t
	for f in tests/scenario/*.sh; do
		case $f in tests/scenario/lib*.sh) ;; *) echo "$f" ;; esac
	done
	for f in tests/unit/test_*.c tests/self/*.c tests/self/*.cc; do
		t=${f%.*}
		echo "$build/$t"
	done
	# The same at a low address
	echo "$build/tests/self/jumps-low"
	echo "$build/tests/self/overlap-low"
	for t in layers hit-half bare format circles compat-free conform/about-{coverage,examples,exports,kernel} \
		conform/run-{trap,interior,quiesce}-{1,8} conform/run-interior-{1,8}-toggled; do
		echo "$build/tests/$t"
	done
}
listed() { make -s B="$build" "$@" list-tests; }
named() { sed -n 's/^check\(-long\)\? \([^-]\)/\2/p'; }

listed >"$dir/listed"
there | sort >"$dir/there"
named <"$dir/listed" | sort >"$dir/named"
is "no test is without a place, none has two, and none is listed that is not there" \
	"$(diff "$dir/there" "$dir/named")" ""
for target in check check-long; do
	like "$target has tests to run" "$(grep -c "^$target [^-]" "$dir/listed")" '^[1-9]'
done
is "what the plan names is there" "$(awk '/^(long|together) / { print $2 }' tests/plan | sort -u |
	while read -r t; do grep -qE "^($build/)?tests/$t\$" "$dir/there" || echo "$t"; done)" ""
is "a line of the plan says one thing of one test, once" \
	"$(grep -vE '^#|^(long|together) [^ ]+$' tests/plan; grep -v '^#' tests/plan | sort | uniq -d)" ""
is "a test that the plan does not name runs in check, by itself" \
	"$(listed SCENARIO=tests/scenario/novel.sh | sed -n '/^check --$/,/^check-long/p' | grep -c 'check tests/scenario/novel.sh')" 1
is "check runs those that are listed for it, side by side where the plan says so" \
	"$(make -sn B="$build" check 2>/dev/null | grep -o ' tests/run .*' | cut -d' ' -f3- | tr ' ' '\n')" \
	"$(sed -n 's/^check //p' "$dir/listed")"
is "and check-long those that are listed for that" \
	"$(make -sn B="$build" check-long 2>/dev/null | grep -o ' tests/run .*' | cut -d' ' -f3- | tr ' ' '\n')" \
	"$(sed -n 's/^check-long //p' "$dir/listed")"
plan
