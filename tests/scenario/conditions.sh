#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Real programs under conditions on memory, most of which is none: what they say and how they end is
# the same, and every load that faults is one that the program does not notice.
. tests/scenario/lib.sh
limit=${VICTIM_LIMIT:-300}
ulimit -c 0

# alike NAME SPEC… -- CMD...: under stat, and under trace, which reads memory, too
alike() {
	local name=$1 specs=() wanted how got sites
	shift
	while [ "$1" != -- ]; do specs+=("$1"); shift; done
	shift
	wanted=$("$@" 2>&1; echo "status $?")
	for how in stat trace; do
		got=$(timeout -k 5 "$limit" "$DPROBES" $how -o "$dir/counts" "${specs[@]}" -- "$@" 2>&1; echo "status $?")
		sites=$(grep -oE '[0-9]+ probes at [0-9]+ sites \([0-9]+ trap, [0-9]+ jump\): [0-9]+ hits' <<<"$got")
		is "$name, $how: it does what it does alone" "$(grep -v '^dprobes: ' <<<"$got")" "$wanted"
		like "$name, $how: what was probed" "$sites" ' sites \([0-9]+ trap, [1-9][0-9]* jump\): [1-9]'
	done
}

# Numbers, lengths and flags are no addresses: nearly every load of some of these faults.
memory='*(u32 *)arg0 > 100 && ((u8 *)arg1)[1] != 7 || *(char **)(arg0+8) == "x"'
alike "python3" "* if $memory" -- /usr/bin/python3 -S -c '
import json, zlib
print(zlib.crc32(json.dumps([json.loads(json.dumps({"a": [i, str(i)]})) for i in range(50)]).encode()))
try:
    raise ValueError(3)
except ValueError as e:
    print(e)'
alike "perl" "* if $memory" "libc.so.6:mem* if $memory" -- perl -e \
	'my %h; $h{$_ % 7} .= $_ for 1 .. 500; print join(",", map { "$_=$h{$_}" } sort keys %h), "\n"; eval { die "no\n" }; print $@;'
alike "bash" "* if $memory" -- bash -c 'for i in {1..50}; do x+=$((i * i)); done; (echo "$x"; exit 3); echo $?'
alike "sort" "libc.so.6:str* if $memory" "* if $memory" -- sort -k2 /etc/services
if command -v git >/dev/null; then alike "git" "libc.so.6:m* if $memory" "libz*:* if $memory" -- git --no-pager log --oneline -n 3
else skip "git" "git is not there"; fi
if command -v sqlite3 >/dev/null; then
	alike "sqlite3" "libsqlite3*:* if $memory" -- sqlite3 :memory: \
		'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 200) insert into t select i, hex(i * i) from n; select sum(a), max(b), count(*) from t;'
else skip "sqlite3" "sqlite3 is not there"; fi
alike "exceptions" "libstdc++*:* if $memory" "* if $memory" -- "$VICTIMS/thrower"
if command -v node >/dev/null; then
	alike "node" "node:*v8*Heap* if $memory" "libc.so.6:m* if $memory" -- node -e \
		'const o = []; for (let i = 0; i < 1e4; i++) o.push({ i, s: String(i) }); console.log(JSON.stringify(o).length)'
else skip "node" "node is not there"; fi
if command -v java >/dev/null; then
	cat >"$dir/Nulls.java" <<-'END'
	class Nulls {
	    int x;
	    static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
	    static int over(int n) { return 1 + over(n + 1); }
	    public static void main(String[] args) {
	        int caught = 0, overflows = 0;
	        Nulls[] all = { new Nulls(), null };
	        for (int i = 0; i < 20000; i++)
	            try { all[i & 1].x++; } catch (NullPointerException e) { caught++; }
	        for (int i = 0; i < 5; i++)
	            try { over(0); } catch (StackOverflowError e) { overflows++; }
	        System.out.println(caught + " " + overflows + " " + all[0].x + " " + deep(500));
	    }
	}
	END
	alike "a JVM" --pending "libjvm.so:JVM_* if $memory" "libc.so.6:m* if $memory" -- java -XX:+UseSerialGC "$dir/Nulls.java"
else skip "a JVM" "java is not there"; fi
plan
