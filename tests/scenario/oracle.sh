#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Our counts and those of the kernel's uprobes, on the same binary and run.
# Single-threaded programs: the kernel's inherited events lose hits of threads. Not
# memset: the kernel's probe on its EVEX entry makes programs go astray.
. tests/scenario/lib.sh

busy="malloc free realloc calloc memcpy memchr strlen strcmp read write close \
open64 fopen64 fwrite fread fclose fstat64 getenv qsort_r vsnprintf strtol pthread_mutex_lock \
pthread_mutex_unlock malloc+0x2 free+0x4 realloc+0x2"

# The kernel wants file offsets. spec-offset says where a name leads in this
# program, an IFUNC's implementation included.
compare() {
	local name=$1 specs=$2 list="" f off
	shift 2
	for f in $busy; do specs="$specs libc.so.6:$f"; done
	: >"$dir/specs"
	for f in $specs; do
		off=$(setarch -R "$TOOLS/spec-offset" "$f" -- "$@" 2>/dev/null) || continue
		echo "$f $off" >>"$dir/specs"
	done
	specs=$(cut -d' ' -f1 "$dir/specs")
	list=$(cut -d' ' -f2 "$dir/specs")
	timeout 300 setarch -R "$TOOLS/uprobe-count" -o "$dir/kernel" $list -- "$@" >"$dir/out.kernel" 2>"$dir/err"
	if [ $? -eq 77 ]; then
		skip "$name" "the kernel's uprobe PMU is not to be had: $(cat "$dir/err")"
		return
	fi
	timeout 300 setarch -R "$TOOLS/uprobe-count" -o "$dir/again" $list -- "$@" >/dev/null 2>&1
	setarch -R "$DPROBES" stat -q --json -o "$dir/ours" $specs -- "$@" >"$dir/out.ours" 2>"$dir/err"
	sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/ours" | paste "$dir/specs" - "$dir/kernel" "$dir/again" |
		awk '{ ours = $3; kernel = $4; again = $6
			if (kernel == "refused") { print "the kernel cannot: " $1 > "/dev/stderr"; next }
			if (kernel != again) { print "varies: " $1, kernel, again > "/dev/stderr"; next }
			n++
			if (kernel > 0) busy++
			if (ours != kernel) { print "differs: " $1 ": ours " ours ", kernel " kernel; bad++ }
		} END { print n + 0, busy + 0, bad + 0 }' >"$dir/result" 2>"$dir/varies"
	read -r n busy_n bad < <(tail -n 1 "$dir/result")
	if [ "${bad:-1}" -eq 0 ] && [ "${busy_n:-0}" -ge 12 ]; then
		ok "$name: $n counts equal the kernel's, $busy_n of them not zero"
	else
		not_ok "$name: ours equal the kernel's" "$(cat "$dir/result" "$dir/varies" "$dir/err")"
	fi
	"$@" >"$dir/out.plain" 2>/dev/null
	if [ -s "$dir/out.plain" ] && cmp -s "$dir/out.plain" "$dir/out.ours"; then
		ok "$name: the output is that of an unprobed run"
	else
		not_ok "$name: the output is that of an unprobed run"
	fi
}

export PYTHONHASHSEED=0 LC_ALL=C HOME=$dir GIT_CONFIG_NOSYSTEM=1
seq 20000 | awk '{ print ($1 * 7919) % 20011, "line", $1 }' >"$dir/unsorted"
git init -q "$dir/repo" && (
	cd "$dir/repo" || exit 1
	git config user.name a && git config user.email a@b
	for i in 1 2 3 4 5; do
		seq $((i * 100)) >file$i
		git add . && git commit -qm "commit $i"
	done
) >/dev/null

compare python3 '' /usr/bin/python3 -S -E -c 'import json, re
d = {str(i): [i, i * 2] for i in range(2000)}
print(len(json.dumps(d)), len(re.findall(r"\d+", json.dumps(d))))
open("/dev/null", "wb").write(b"x" * 100000)'
compare sort '' sort --parallel=1 "$dir/unsorted"
compare git '' git -C "$dir/repo" --no-pager log --stat -p
compare sqlite3 'libsqlite3.so.0:sqlite3_step libsqlite3.so.0:sqlite3_malloc' sqlite3 :memory: 'create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, x * 7 % 101 from c;
select b, count(*), sum(a) from t group by b order by 3 desc limit 5;'
compare thrower 'thrower:thrower_inner thrower:thrower_outer+0x4 libstdc++.so.6:__cxa_throw
libstdc++.so.6:__cxa_begin_catch libstdc++.so.6:_Znwm libgcc_s.so.1:_Unwind_Resume' "$VICTIMS/thrower"
plan
