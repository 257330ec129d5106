#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes in other namespaces and directory trees, in all states, and of others.
. tests/scenario/lib.sh

armed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q ' k '; }
# probe NAME PID SPEC: counts, and leaves
# Their heaps are their own.
probe() {
	maps_of "$2" | grep -vF '[heap]' >"$dir/maps"
	until_hit "${3##*:}" stat -q -o "$dir/counts" "$3"
	like "$1: hits" "$? $(awk 'NR == 2 { print $1 }' "$dir/counts") $(cat "$dir/err")" '^0 [1-9][0-9]* $'
	is "$1: nothing is left" "$(maps_of "$2" | grep -vF '[heap]' | diff "$dir/maps" -)" ""
}
# finish NAME PID PATTERN: by SIGTERM
ended() { ! kill -0 "$1" 2>/dev/null; }
finish() {
	kill -TERM "$2"
	poll 10 ended "$2"
	like "$1: it found its results right" "$(tail -n 1 "$dir/out")" '^right'
}

# A tree of its own, with what the programs need.
tree=$dir/tree
mkdir -p "$tree/bin" "$tree/proc"
cp "$VICTIMS/bare/bare" "$tree/bin/inside-bare"
cp "$VICTIMS/blocked" "$tree/bin/inside"
for lib in $(ldd "$VICTIMS/blocked" | grep -o '/[^ ]*'); do
	mkdir -p "$tree/$(dirname "$lib")"
	cp "$lib" "$tree/$lib"
done
inside() { # NAME ARGS: in namespaces and a tree of its own; sets $victim
	local name=$1
	shift
	: >"$dir/out"
	unshare -U -r -m -p -n -f chroot "$tree" "/bin/$name" "$@" >"$dir/out" 2>"$dir/err" &
	pids+=($!)
	poll 10 test -s "$dir/out"
	# Not one of its children.
	victim=$(pgrep -P $!)
	pids+=("$victim")
}
if unshare -U -r -m -p -n -f chroot "$tree" /bin/inside-bare 1 >/dev/null 2>&1; then
	inside inside mask 0
	probe "other namespaces and root" "$victim" work
	probe "a library of another root" "$victim" libc.so.6:malloc
	"$DPROBES" stat -q -o /dev/null work -p "$victim" 2>/dev/null &
	tool=$!
	pids+=($tool)
	poll 10 armed "$victim"
	kill -KILL $tool
	wait $tool 2>/dev/null
	"$DPROBES" stat -q -o "$dir/counts" --duration 20ms work -p "$victim" 2>"$dir/err"
	like "other namespaces: a killed tool is cleaned up after" "$? $(hits "$dir/counts" inside:work)" '^0 [1-9]'
	finish "other namespaces and root" "$victim"

	inside inside-bare
	probe "other namespaces, no libc" "$victim" work
	until_hit work trace -q -o "$dir/lines" 'work()'
	unknown=$(awk '{ print $2, $3 }' "$dir/lines" | sort -u | while read -r p t; do
		[ -d "/proc/$p/task/$t" ] || echo "$p $t"
	done)
	is "threads are known by our numbers" "$(wc -l <"$dir/lines" | grep -c '^[1-9]') $unknown" "1 "
	finish "other namespaces, no libc" "$victim"

	# The tool in there with them, as the root of a namespace of its own.
	out=$(unshare -U -r -m -p -f --mount-proc bash -c "'$VICTIMS/static/blocked' mask 0 >'$dir/inside' & p=\$!
		until [ -s '$dir/inside' ]; do sleep 0.02; done
		'$DPROBES' stat -q -o '$dir/counts' work -p \$p & t=\$!
		until '$DPROBES' list -v -p \$p 2>/dev/null | grep -q '  [1-9][0-9]* hits'; do sleep 0.02; done
		while kill -INT \$t 2>/dev/null; do sleep 0.02; done
		wait \$t
		kill -TERM \$p
		wait \$p
		status=\$?
		cat '$dir/inside'
		exit \$status" 2>"$dir/err")
	like "the tool in the same namespaces" "$? $(tail -n 1 <<<"$out") $(hits "$dir/counts" blocked:work)" \
		'^0 right: mask.* [1-9][0-9]*$'
else
	skip "other namespaces" "unshare -U is not permitted here"
fi

# Stopped: stays stopped, whenever the stop came, and goes on as if nothing had been.
start "$VICTIMS/busy" 3
kill -STOP "$victim"
poll 5 stopped "$victim"
"$DPROBES" stat -q -o "$dir/counts" --duration 20ms work -p "$victim" 2>"$dir/err"
is "a stopped process" "$? $(hits "$dir/counts" busy:work)" "0 0"
if poll 5 stopped "$victim"; then ok "stays stopped"; else not_ok "stays stopped"; fi
kill -CONT "$victim"
bad=0
for i in 0 1 2 3 4 5 6 7 8 9; do
	"$DPROBES" stat -q -o "$dir/counts" --duration 50ms work 'libc.so.6:m*' -p "$victim" 2>>"$dir/err" &
	tool=$!
	sleep 0.0$i
	kill -STOP "$victim"
	wait $tool || bad=$((bad + 1))
	poll 5 stopped "$victim" || bad=$((bad + 1))
	kill -CONT "$victim"
done
is "one that is stopped at any moment of that" "$bad $(cat "$dir/err")" "0 "
finish "stopped and continued" "$victim"

# In vfork, where no stop reaches it (D state).
for arguments in "20" "20 2"; do
	# shellcheck disable=SC2086
	start "$VICTIMS/vforks" $arguments
	bad=0
	for i in 1 2 3 4 5 6 7 8; do
		until_hit victim_function stat -q -o "$dir/counts" victim_function &&
			[ "$(hits "$dir/counts" vforks:victim_function)" -gt 0 ] ||
			{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
	done
	is "in vfork nearly always ($arguments)" "$bad" 0
	finish "in vfork ($arguments)" "$victim"
done
start "$VICTIMS/vforks" 20000 1
maps_of "$victim" >"$dir/maps"
"$DPROBES" stat -q victim_function -p "$victim" >/dev/null 2>"$dir/err"
like "in vfork for too long" "$? $(cat "$dir/err")" '^1 dprobes: process [0-9]* has another process running in its memory \(vfork\).*try again$'
is "was not touched" "$(maps_of "$victim" | diff "$dir/maps" -)" ""
pkill -KILL -P "$victim"
kill -KILL "$victim"

# Just executed, so that its linker is still at work, or nothing has run at all.
for v in busy static/busy musl/busy bare/bare; do
	bad=$(python3 - "$DPROBES" "$VICTIMS/$v" <<-'END'
		import subprocess, sys
		bad = 0
		for i in range(10):
		    victim = subprocess.Popen([sys.argv[2]], stdout=subprocess.PIPE)
		    tool = subprocess.run([sys.argv[1], "stat", "-q", "-o", "/dev/null", "--duration", "20ms", "-p", str(victim.pid), "work"])
		    victim.terminate()
		    out = victim.communicate()[0].decode()
		    bad += tool.returncode != 0 or victim.returncode not in (0, -15) or "wrong" in out
		print(bad)
	END
	)
	is "just after exec: $v" "$bad" 0
done

# An ordinary user, on processes of his own and of another.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
	chmod 755 "$dir"
	install -m 755 "$DPROBES" "$VICTIMS/calls" "$dir"
	mkdir "$dir/theirs"
	chmod 777 "$dir/theirs"
	for v in blocked static/blocked bare/bare; do
		install -m 755 "$VICTIMS/$v" "$dir/victim"
		mode="mask 0"
		[ $v != bare/bare ] || mode=
		: >"$dir/out"
		# shellcheck disable=SC2086
		$nobody "$dir/victim" $mode >"$dir/out" 2>&1 &
		victim=$!
		pids+=($victim)
		poll 10 grep -q running "$dir/out"
		$nobody "$dir/dprobes" stat -q -o "$dir/theirs/counts" --duration 50ms work -p $victim 2>"$dir/err"
		status=$?
		if [ $status -eq 1 ] && grep -q ptrace_scope "$dir/err"; then
			skip "an ordinary user: $v" "Yama forbids it here: kernel.yama.ptrace_scope"
		else
			like "an ordinary user: $v" "$status $(hits "$dir/theirs/counts" victim:work) $(cat "$dir/err")" '^0 [1-9][0-9]* $'
		fi
		finish "an ordinary user: $v" $victim
	done
	out=$($nobody "$dir/dprobes" stat -q -o "$dir/theirs/counts" victim_function -- "$dir/calls" 2 1000 2>"$dir/err")
	is "an ordinary user's command" "$? $out $(hits "$dir/theirs/counts" calls:victim_function)" "0 2999000 2000"
else
	skip "an ordinary user" "needs root and setpriv to become one"
fi
# What the plan was made for has changed before threads are held: it is made again.
for step in 'install: agent' 'install: pools' 'install: rseq'; do
	start "$VICTIMS/blocked" mask 0
	DPROBES_FAIL=$step DPROBES=build/tests/dprobes-kill-points probe "another plan, $step" $victim work
	DPROBES_FAIL=$step build/tests/dprobes-kill-points trace -q -o "$dir/lines" --duration 50ms \
		'work(arg0) if arg0 > 1' r:work -p $victim 2>"$dir/err"
	like "another plan, $step: programs and calls" \
		"$? $(grep -c ' = ' "$dir/lines") $(grep -c ' arg0=' "$dir/lines") $(cat "$dir/err")" '^0 [1-9][0-9]* [1-9][0-9]* $'
	finish "another plan, $step" $victim
done
# A plan by mappings that have changed every other time.
start "$VICTIMS/remaps"
bad=0
for ((i = 0; i < 20; i++)); do
	{ "$DPROBES" stat -q -o "$dir/counts" --duration 5ms work r:work -p $victim 2>"$dir/err" &&
		[ "$(awk '$1 > 0 && !$2 && $4 == "remaps:work"' "$dir/counts" | wc -l)" -eq 1 ]; } ||
		{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err" "$dir/counts"; }
done
is "mappings that change all the time: 20 tools" "$bad" 0
finish "mappings that change all the time" $victim
# Processes that end while they are being attached to
other=0
for ((i = 0; i < 40; i++)); do
	sleep "0.0$((i % 5))$((i % 10))" &
	victim=$!
	"$DPROBES" stat -q --duration 1ms libc.so.6:malloc -p $victim >/dev/null 2>"$dir/err" ||
		grep -qE "process $victim (has (ended|executed another program)|executes|is just)|no process $victim|has ended, or executes" "$dir/err" ||
		{ other=$((other + 1)); sed 's/^/# /' "$dir/err"; }
	wait $victim
done
is "a process that ends meanwhile is said to have ended" "$other" 0
plan
