#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Real programs with every function followed that their main program or library has a name for, and
# those that it calls by name: what they say and how they end is the same.
. tests/scenario/lib.sh
follow=${DPROBES%/*}/tests/follow-all.so
limit=${VICTIM_LIMIT:-600}
ulimit -c 0
: >"$dir/input"

# talk DIR CMD...: what it says in $dir/input's presence, and its status, without its timings
talk() {
	mkdir -p "$1"
	{ timeout -k 5 "$limit" "${@:2}" >"$1/raw" 2>&1 <"$dir/input"; } 2>/dev/null
	echo "status $?" >>"$1/raw"
	sed -E 's/ in [0-9.]+s$//' "$1/raw" >"$1/said"
}

# same NAME MODULE LEAST CMD...: followed in MODULE ("" is the program), with LEAST calls at least
same() {
	local name=$1 module=$2 least=$3 sums
	shift 3
	rm -f "$dir/report"
	talk "$dir/alone" "$@"
	talk "$dir/followed" env ${module:+FOLLOW_MODULE="$module"} FOLLOW=all FOLLOW_ACTIVE="${active:-100}" \
		FOLLOW_REPORT="$dir/report" LD_PRELOAD="$follow" "$@"
	if cmp -s "$dir/alone/said" "$dir/followed/said"; then ok "$name: it does what it does alone"
	else not_ok "$name: it does what it does alone" "$(diff "$dir/alone/said" "$dir/followed/said" | head -n 12)"; fi
	sums=$(awk -v least="$least" '/^#/ { print; next }
		{
			for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
			good = v["entries"] >= least && !v["damaged"] && !v["wrong"] &&
				v["entries"] == v["returned"] + v["unwound"] + v["abandoned"] + v["inside"]
			if (!good) print
		}
		END { if (!NR) print "no report" }' "$dir/report" 2>&1 | head -n 8)
	if [ -z "$sums" ]; then ok "$name: the account"; else not_ok "$name: the account" "$sums"; fi
	[ ! -s "$dir/report" ] || sed "s/^probes/# $name: probes/" "$dir/report" | grep '^# .* probes' | head -n 1
}

script() {
	cat >"$dir/script.py" <<-'END'
	import collections, contextlib, decimal, io, json, re, sys, threading, zlib
	def deep(n):
	    return n if n == 0 else 1 + deep(n - 1)
	def raising(n):
	    if n == 0:
	        raise ValueError(n)
	    return raising(n - 1)
	caught = 0
	for i in range(100):
	    try:
	        raising(i)
	    except ValueError:
	        caught += 1
	print(deep(500), caught)
	print(zlib.crc32(json.dumps([json.loads(json.dumps({"a": [i, str(i), i / 3]})) for i in range(1000)]).encode()))
	print(re.sub(r"(\w+)=(\d+)", r"\2=\1", "a=1 b=22 c=333"))
	sums = []
	threads = [threading.Thread(target=lambda i=i: sums.append(sum(range(i * 1000)))) for i in range(8)]
	[t.start() for t in threads]
	[t.join() for t in threads]
	print(sorted(sums), decimal.Decimal(2).sqrt(), collections.Counter("abracadabra"))
	def generator():
	    with contextlib.suppress(KeyError):
	        yield from range(5)
	        {}[1]
	print(list(generator()), len(io.StringIO("x\n" * 100).readlines()))
	try:
	    deep(10000)
	except RecursionError as e:
	    print(e)
	sys.exit(3)
	END
}

same "a million exceptions" "" 1000000 "$VICTIMS/millions" "${TIMES:-1000000}"

script
same "python" "" 100000 /usr/bin/python3 -I "$dir/script.py"
suite=(test_json test_generators test_exceptions test_contextlib test_struct test_long)
if /usr/bin/python3 -I -c 'import test.test_long' 2>/dev/null; then
	same "python's own tests" "" 100000 /usr/bin/python3 -I -m unittest -q "${suite[@]/#/test.}"
else
	skip "python's own tests" "they are not installed: make check-victims"
fi

cat >"$dir/input" <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
	insert into t select i, printf('word %d', i * 7919 % 10007), i / 3.0 from n;
create index tb on t(b);
select count(*), sum(a), min(b), max(b), round(avg(c), 3) from t;
select a, b from t where b like 'word 9%' order by b limit 5;
select json_group_array(a) from (select a from t where a < 10);
insert into t values(1, 'again', 0);
select * from nowhere;
END
same "sqlite3" "" 1000 sqlite3 :memory:
same "sqlite3's library" libsqlite3 100000 sqlite3 :memory:
: >"$dir/input"

git init -q "$dir/repository"
for ((i = 0; i < 20; i++)); do
	echo "$i" >>"$dir/repository/file"
	git -C "$dir/repository" add file
	git -C "$dir/repository" -c user.name=a -c user.email=a@b commit -q -m "number $i"
done
same "git log" "" 1000 git -C "$dir/repository" --no-pager log --stat -p

code='let s = 0; for (let i = 0; i < 1e5; i++) s += i; const deep = n => n ? 1 + deep(n - 1) : 0;
	try { JSON.parse("{") } catch (e) { console.log(e.name) }
	try { deep(1e6) } catch (e) { console.log(e.name) }
	Promise.all([1, 2, 3].map(async i => i * 2)).then(a => console.log(s, a.join(), deep(100)));'
if command -v node >/dev/null; then
	# It has tens of thousands of names.
	active=2 same "node" "" 10000 node -e "$code"
else
	skip "node" "node is not there"
fi
plan
