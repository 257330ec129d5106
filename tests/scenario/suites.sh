#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Test suites of other people's, as Debian has them, with a probe on every function of their main
# library or program: what they find is what they find alone.
. tests/scenario/lib.sh
limit=${SUITE_LIMIT:-600}
ulimit -c 0

# suite NAME SPEC LEAST CMD...: with LEAST hits at least
suite() {
	local name=$1 spec=$2 least=$3
	shift 3
	talk "$dir/alone" "$@"
	talk "$dir/probed" "$DPROBES" stat -q -o "$dir/counts" "$spec" -- "$@"
	if cmp -s "$dir/alone" "$dir/probed"; then
		ok "$name: finds what it finds alone ($(tail -n 1 "$dir/alone"))"
	else
		not_ok "$name: finds what it finds alone" "$(diff "$dir/alone" "$dir/probed" | head -n 20)"
	fi
	awk -v least="$least" 'NR > 1 { sum += $1; n++ } END { printf "# %d probes, %d hits\n", n, sum; exit sum < least }' \
		"$dir/counts" || not_ok "$name: every function of it is probed" "$(wc -l <"$dir/counts") lines"
}
# talk FILE CMD...: what it says, but for times, addresses and numbers of processes; and its status
talk() {
	local to=$1
	shift
	timeout -k 5 "$limit" "$@" >"$dir/raw" 2>&1 </dev/null
	echo "status $?" >>"$dir/raw"
	sed -E 's/ in [0-9.]+ ?s(ecs?)?$//; s/0x[0-9a-f]+/ADDR/g; s/\b[0-9]+\.[0-9]+ ?(s|secs|seconds|ms)\b/TIME/g
		/^# /d; s/^\(([^:]*):[0-9]+\)/(\1)/' "$dir/raw" >"$to"
}

# sqlite_suite: each of its tests in a process of its own, with every return of the program followed
sqlite_suite() {
	local t
	mkdir -p "$dir/sqlite"
	for t in select1 select3 insert update delete index join where trigger1 expr func date types fkey1 savepoint rollback \
		vacuum window1 with1 json101 alter analyze btree01 collate1 conflict distinct in limit minmax null pragma \
		printf quote rowid sort subquery tempdb trans unique view; do
		(cd "$dir/sqlite" && "$@" "$sqlite/testfixture" "$sqlite/test/$t.test")
	done | sed -E '/^(Current|Maximum|Memory|Page-cache|Scratch|Lookaside|Number|Allocation)/d; s/[0-9]+ microseconds/TIME/; s/Time: .*//'
}
sqlite=$(realpath -m "${DPROBES%/*}")/suites/sqlite
if [ -x "$sqlite/testfixture" ]; then
	sqlite_suite >"$dir/alone" 2>&1
	sqlite_suite "$(realpath "$DPROBES")" stat -q -o "$dir/counts" 'r:*' -- >"$dir/probed" 2>"$dir/err"
	found=$(grep -c ' Ok$' "$dir/alone")
	if [ "$found" -gt 5000 ] && cmp -s "$dir/alone" "$dir/probed"; then
		ok "sqlite3's: finds what it finds alone ($found tests)"
	else
		not_ok "sqlite3's: finds what it finds alone" "$found tests; $(diff "$dir/alone" "$dir/probed" | head -n 20)"
	fi
else
	skip "sqlite3's" "they are not there: make check-victims"
fi

modules="test_json test_generators test_exceptions test_contextlib test_struct test_re test_dict test_list test_set test_bytes
	test_unicode test_float test_itertools test_functools test_threading_local test_weakref test_zlib"
if /usr/bin/python3 -I -c 'import test.test_json' 2>/dev/null; then
	# shellcheck disable=SC2086
	suite "python's" '*' 1000000 /usr/bin/python3 -I -m unittest -q $(printf 'test.%s ' $modules)
else
	skip "python's" "they are not installed: make check-victims"
fi

glib=/usr/libexec/installed-tests/glib
if [ -d $glib ]; then
	for t in array-test base64 bitlock bytes charset checksum collate cond convert dataset date dir error \
		fileutils gdatetime hash hmac hook hostutils iochannel-test keyfile list mainloop mappedfile \
		markup-parse markup-subparser mem-overflow mutex node onceinit pattern private protocol queue rand \
		rec-mutex refstring regex rwlock scannerapi sequence shell slice slist sort spawn-multithreaded \
		string strvbuilder strfuncs test-printf thread thread-pool timeout timer tree unicode uri utf8-misc \
		utils uuid variant unix; do
		[ -x "$glib/$t" ] || continue
		G_TEST_SRCDIR=$glib G_TEST_BUILDDIR=$glib \
			suite "glib's $t" 'libglib-2.0.so.0:*' 100 "$glib/$t" --tap --seed R02S17c1a1eb5e8c1f6f3a2b1c0d4e5f6071
	done
else
	skip "glib's" "they are not installed: make check-victims"
fi
plan
