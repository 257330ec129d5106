#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Lua and sqlite3 with every return followed by a tool: what they say and how they end is the same, and each
# function's account closes. Of Lua there are two: errors are thrown by longjmp, and as C++ exceptions.
# In both strategies no exit traps in a loop.
#   WHOLE=1: the time is at most four times the bare one, if that is half a second or more.
. tests/scenario/lib.sh
scripts=$PWD/tests/victims
whole=${WHOLE:-}
dprobes=$(realpath "$DPROBES")
mkdir -p "$dir/bin" "$dir/at"
TIMEFORMAT='%U %S'

# say FILE CMD...: in a folder of its own, what it says, its status, and its time in FILE.time
say() {
	local to=$1
	shift
	rm -rf "$dir/at"
	cp -r "$dir/files" "$dir/at"
	{ time (cd "$dir/at" && "$@" >"$to" 2>&1 <"$input"); } 2>"$to.time"
	echo "status $?" >>"$to"
}
# accounts FILE: what is not as it should be
accounts() {
	awk '/"returned":/ {
		n++
		for (k in names) { match($0, "\"" k "\":[0-9]+"); v[k] = substr($0, RSTART + length(k) + 3, RLENGTH - length(k) - 3) }
		hits += v["hits"]
		if (v["hits"] != v["missed"] + v["returned"] + v["tail"] + v["unwound"] + v["abandoned"] + v["inside"])
			print
	}
	BEGIN { split("hits missed returned tail unwound abandoned inside", l, " "); for (i in l) names[l[i]] = 1 }
	END { if (hits < 100000) print "only", hits, "hits of", n, "probes" }' "$1" | head -n 4
}
# traps FILE: how many hits are by traps, if that is one of a hundred
traps() {
	awk '{
		match($0, /"hits":[0-9]+/); n = substr($0, RSTART + 7, RLENGTH - 7); hits += n
		if (/"mode":"trap"/) traps += n
		if (match($0, /"interior":[0-9]+/)) traps += substr($0, RSTART + 11, RLENGTH - 11)
	}
	END { if (traps * 100 > hits) print traps, "traps of", hits }' "$1"
}
# followed NAME ARM SPEC CMD...
followed() {
	local name="$1, $2" arm=$2 spec=$3 ratio
	shift 3
	say "$dir/bare" "$@"
	DPROBES_ARM=$arm say "$dir/probed" "$dprobes" stat -q --all --json -o "$dir/json" "$spec" -- "$@"
	is "$name: it says what it says alone" "$(tell "$dir/probed")" "$(tell "$dir/bare")"
	is "$name: the account" "$(accounts "$dir/json")" ""
	is "$name: no exit traps in a loop" "$(traps "$dir/json")" ""
	[ -n "$whole" ] || return
	awk '{ exit $1 + $2 < 0.5 }' "$dir/bare.time" || return
	ratio=$(paste "$dir/probed.time" "$dir/bare.time" | awk '{ printf "%.2f", ($1 + $2) / ($3 + $4) }')
	is "$name: in $ratio times the time" "$(awk "BEGIN { print ($ratio <= 4) }")" 1
}
# What the tool has to say about the account is among what is said.
tell() { grep -vE '^dprobes: ([0-9]+ \(|[0-9]+ of [0-9]+ matches|r:.* traps in the middle)' "$1" | sed -E 's/\bpid [0-9]+//' | md5sum; }
# traced NAME SPEC CMD...
traced() {
	local name=$1 spec=$2
	shift 2
	say "$dir/bare" "$@"
	say "$dir/probed" "$dprobes" trace -q -o /dev/null "$spec" -- "$@"
	is "$name, each return told: it says what it says alone" "$(tell "$dir/probed")" "$(tell "$dir/bare")"
}

mkdir "$dir/files"
input=/dev/null
headers=/usr/include/lua5.4
# lua NAME CC LIBRARY
lua() {
	local name=$1 program=$dir/bin/$1 parts=("$scripts"/lua/{errors,coroutines,values}.lua)
	if [ ! -e "$headers/lua.h" ] || ! gcc -O2 -I$headers -c -o "$program.o" "$scripts/lua/main.c" ||
	   ! "$2" -o "$program" "$program.o" "-l:$3" -lm -ldl; then
		skip "$name" "there is no $3: make check-victims"
		return
	fi
	followed "$name" interior 'r:*' "$program" "${parts[@]}"
	followed "$name" quiesce 'r:*' "$program" "${parts[@]}"
	traced "$name" 'r:*' "$program" "$scripts/lua/coroutines.lua"
}
lua "Lua" gcc liblua5.4.a
lua "Lua in C++" g++ liblua5.4-c++.a

# A file that is spoiled here and there, one that is cut off, and one that never was a database
cd "$dir/files" || exit 1
sqlite3 spoiled.db "create table t(a integer primary key, b text, c blob); create index tb on t(b);
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
	insert into t select i, hex(i * 7919), zeroblob(i % 300) from n;"
head -c 100000 spoiled.db >short.db
for i in 9 21 33 47; do
	printf 'spoiled bytes, again and again' | dd of=spoiled.db bs=1 seek=$((i * 4096 + i * 13)) conv=notrunc status=none
done
head -c 20000 /usr/bin/sqlite3 >noise.db
cd "$OLDPWD" || exit 1
for part in queries storage extensions; do
	input=$scripts/sql/$part.sql
	followed "sqlite3's $part" interior 'r:libsqlite3.so.0:*' sqlite3 -batch :memory:
	followed "sqlite3's $part" quiesce 'r:libsqlite3.so.0:*' sqlite3 -batch :memory:
	traced "sqlite3's $part" 'r:libsqlite3.so.0:*' sqlite3 -batch :memory:
done
plan
