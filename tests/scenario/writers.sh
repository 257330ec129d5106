#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who can write what a probed program executes: no child of it with fewer rights. And what
# a program can do to the files that a tool shares with it: nothing to any other file.
. tests/scenario/lib.sh
chmod 755 "$dir"
rounds=${WRITERS:-2}

# With variables, which no child has.
cat >"$dir/count.dp" <<'END'
name = "writers"
modtype = user
major = 1
vars = 2

offset = work
minor = 1
	inc lv,0
	push lv,0
	push d,1000
	sub
	jz take
	exit
take:
	log 1
	exit
END

# The program "writers" under COMMAND..., with a child that does its worst from then on.
under() {
	local name=$1 said
	shift
	start "$VICTIMS/writers" 2
	"$DPROBES" "$@" -q --duration 900ms -p "$victim" >"$dir/tool" 2>&1 &
	local tool=$!
	pids+=("$tool")
	poll 10 grep -q 'memfd:dprobes' "/proc/$victim/maps"
	poll 10 sh -c "$DPROBES list -p $victim 2>/dev/null | grep -q ."
	maps=$(grep 'memfd:dprobes' "/proc/$victim/maps")
	kill -USR1 "$victim"
	wait "$tool"
	local status=$?
	wait "$victim"
	said="$? $(tr '\n' ' ' <"$dir/out")"
	like "$name: the child could write nothing that its parent executes, and did no harm" "$said" \
		'^0 ready tried [0-9]+ right $'
	if [ $status -lt 124 ]; then ok "$name: the tool ends by itself"; else not_ok "$name: the tool" "$status" "$(tail -n 3 "$dir/tool")"; fi
}

for how in interior quiesce trap; do
	export DPROBES_ARM=$how
	for ((round = 0; round < rounds; round++)); do
		under "$how, counts" stat work outer
		is "$how: no code of ours is shared" "$(echo "$maps" | grep -c ' ..xs ')" 0
		is "$how: none can be written" "$(echo "$maps" | grep -c ' .wx. ')" 0
		under "$how, returns" stat r:outer r:work
		under "$how, records" trace 'work(arg0)'
		under "$how, records of returns" trace 'r:outer(arg0)'
		under "$how, a program with variables" run "$dir/count.dp"
	done
done
unset DPROBES_ARM


if [ "$(id -u)" = 0 ]; then
	install -m 755 "$VICTIMS/swapper" "$dir/swapper"
	for what in swap shrink close; do
		bad=0 died=0 n=0
		for us in 0 20 40 60 80 120 200 400; do
			echo "for root alone" >"$dir/precious"
			chmod 600 "$dir/precious"
			start setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/swapper" "$dir/precious" $what $us
			timeout -k 5 120 "$DPROBES" stat -q --duration 30ms libc.so.6:malloc -p "$victim" >"$dir/tool" 2>&1
			[ $? -lt 124 ] || died=$((died + 1))
			[ "$(cat "$dir/precious")" = "for root alone" ] || bad=$((bad + 1))
			grep -qE 'truncated|grown' "$dir/out" && bad=$((bad + 1))
			n=$((n + 1))
			kill -KILL "$victim" 2>/dev/null
			wait "$victim" 2>/dev/null
		done 2>/dev/null
		is "$what: of $n files of others, and of ours, none was changed" "$bad" 0
		is "$what: no tool died" "$died" 0
	done
else
	skip "descriptors that are changed meanwhile" "needs root"
fi
plan
