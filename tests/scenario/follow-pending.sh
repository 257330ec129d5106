#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -f, and a library that comes later: in the process itself, in its children, in what they execute.
. tests/scenario/lib.sh
. tests/scenario/lib-loads.sh

said() { sed -n "s/^right: .*$1 \([0-9]*\).*/\1/p" "$dir/out"; }
sum() { grep "$1" "$dir/counts" | sed 's/.*"hits":\([0-9]*\).*/\1/' | awk '{ s += $1 } END { print s + 0 }'; }
# What we counted is what the program did. Each process that is killed may have counted a call that it did not
# make, or not have counted those of a constructor.
balance() { # ROUNDS EVENT
	local off most=0
	off=$(($(said calls) - $(sum one.so:)))
	[ "$2" != kill ] || most=$((2 * $1))
	if [ ${off#-} -le $most ] && [ "$(said others)" = "$(sum two.so:)" ]; then
		echo all
	else
		echo "$(sum one.so:) of $(said calls), $(sum two.so:) of $(said others)"
	fi
}
pending() { "$DPROBES" list -p "$victim" | grep -q "one.so:probed.*PENDING\|probed.*one.so \[PENDING\]"; }
attach() { # OPTION...
	"${tool_cmd:-$DPROBES}" stat --json -f -o "$dir/counts" "$@" "$lib:probed" "$other:probed" -p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 pending
}

events="fork before close clone vfork posix_spawn exec threads kill"
for kind in glibc musl; do
	compiler=${CC:-cc}
	[ $kind = glibc ] || compiler=musl-gcc
	made $kind $compiler 2>"$dir/err" || { skip "$kind" "it cannot be built: $(head -n 1 "$dir/err")"; continue; }
	for event in $events; do
		"$DPROBES" stat --json -q -f -o "$dir/counts" "$lib:probed" "$other:probed" -- \
			"$bin" $event "$lib" "$other" 3 >"$dir/out" 2>"$dir/talk"
		is "$kind, $event, launched" "$? $(balance 3 $event)" "0 all"
		begin $event 3
		attach -q
		echo go >&5
		poll 20 is_done
		end
		status=$?
		wait $tool
		is "$kind, $event, attached" "$status $? $(balance 3 $event)" "0 0 all"
	done
done
made glibc "${CC:-cc}"

for arm in quiesce trap; do
	for event in fork close threads; do
		DPROBES_ARM=$arm "$DPROBES" stat --json -q -f -o "$dir/counts" "$lib:probed" "$other:probed" -- \
			"$bin" $event "$lib" "$other" 3 >"$dir/out" 2>"$dir/talk"
		is "$arm, $event" "$? $(balance 3 $event)" "0 all"
	done
done

# What is said, of which process.
"$DPROBES" stat -f -v -o "$dir/counts" "$lib:probed" -- "$bin" fork "$lib" "$other" 1 >"$dir/out" 2>"$dir/talk"
first=$(sed -n 's/.*process \([0-9]*\) exited with status 0$/\1/p' "$dir/talk")
is "what is pending, by process: nothing comes to the first one" \
	"$(grep -c "^dprobes: process $first: .* is pending: .* is not loaded yet$" "$dir/talk") $(
		grep -c "^dprobes: process $first: .*was never armed: .* was not loaded$" "$dir/talk") $(
		grep -c 'is not pending any more$' "$dir/talk") $(grep "not pending any more" "$dir/talk" | grep -c "process $first:")" "1 1 2 0"
like "and the summary counts those where it came" "$(tail -n 1 "$dir/talk")" \
	'^dprobes: 2 process images with probes, 1 without: 16 hits, 0 missed; process [0-9]+ exited with status 0$'
"$DPROBES" stat -f "$lib:probed" -- true >/dev/null 2>"$dir/talk"
like "a library that came to none of them is named" "$? $(tail -n 1 "$dir/talk")" '^0 dprobes: no process had .*one.so:probed$'
"$DPROBES" trace -f -o "$dir/lines" "r:$lib:probed" -- "$bin" fork "$lib" "$other" 1 >"$dir/out" 2>"$dir/talk"
is "records, of calls that are followed, each of its process" \
	"$(grep -c 'probed .*= rax=0x' "$dir/lines") $(awk '{ print $2 }' "$dir/lines" | sort | uniq -c | awk '{ print $1 }' | sort -n | xargs)" "16 7 9"
printf 'name = "%s"\nmodtype = user\nmajor = 1\nvars = 1\noffset = probed\nminor = 1\ninc lv,0\n' "$lib" >"$dir/count.dp"
"$DPROBES" run -f -o "$dir/lines" "$dir/count.dp" -- "$bin" fork "$lib" "$other" 1 >"$dir/out" 2>"$dir/talk"
is "probe programs: a variable of each" "$? $(sed -n 's/.*lv\[0\] = .*(\([0-9]*\))$/\1/p' "$dir/talk" | sort -n | xargs)" "0 7 9"

begin close 1
attach -q
echo go >&5
poll 20 is_done
list=$("$DPROBES" list -p "$victim")
end
wait $tool
like "the list of what is left in the first one" "$list" '^0000[0-9a-f]{12}  k  .*\[GONE\]$'

# The interpreter loads a module in written C in its children only.
python=/usr/bin/python3
module=$($python -c 'import audioop; print(audioop.__file__)' 2>/dev/null)
if [ -n "$module" ]; then
	cat >"$dir/children.py" <<-'P'
		import multiprocessing, os, sys
		def child(n):
		    import audioop
		    return audioop.add(bytes([n]), bytes([1]), 1)[0]
		if __name__ == "__main__":
		    pid = os.fork()
		    if not pid:
		        import audioop
		        os._exit(audioop.max(b"\x05", 1))
		    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
		    ctx = multiprocessing.get_context("fork")
		    with ctx.Pool(3) as pool:
		        assert pool.map(child, range(30)) == list(range(1, 31))
		    assert "audioop" not in sys.modules
		    procs = [ctx.Process(target=child, args=(1,)) for _ in range(4)]
		    for p in procs: p.start()
		    for p in procs: p.join()
		    assert all(p.exitcode == 0 for p in procs)
		    print("right")
	P
	for how in exec "bash -c"; do
		if [ "$how" = exec ]; then command=($python "$dir/children.py"); else command=(bash -c "$python $dir/children.py; echo \$?"); fi
		out=$("$DPROBES" stat --json -q -f -o "$dir/counts" "$module:PyInit_audioop" -- "${command[@]}" 2>"$dir/talk")
		status=$?
		# Of the pool each worker that got something to do.
		n=$(sum PyInit_audioop)
		like "python3 ($how): children that import a module" \
			"$status $(head -n 1 <<<"$out") $([ "$n" -ge 6 ] && [ "$n" -le 8 ] && echo "6 to 8" || echo "$n")" '^0 right 6 to 8$'
	done
else
	skip "python3: children that import a module" "it has no audioop"
fi

# The tool ends, in whatever way, while libraries come and go in several processes.
clean() { ! grep -q dprobes /proc/"$1"/maps; }
for how in INT KILL STOP; do
	begin threads 15
	attach -q
	echo go >&5
	sleep 0.1
	kill -$how $tool
	[ $how != STOP ] || { sleep 0.3; kill -CONT $tool; sleep 0.1; kill -INT $tool; }
	wait $tool
	status=$?
	poll 30 is_done
	"$DPROBES" detach -q -p "$victim" || not_ok "SIG$how: detach"
	like "the tool gets SIG$how: the program is right and left as it was" \
		"$status $(clean "$victim" && echo clean) $(grep -c '^right' "$dir/out")$([[ $status =~ ^(0|137)$ ]] || cat "$dir/talk")" \
		'^(0|137) clean 1$'
	end
done 2>/dev/null

# And at each step of adding probes to a child, and of taking in one.
tool_cmd=build/tests/dprobes-kill-points
bad=0 seen=0
for ((n = 24; n < 400; n += 3)); do
	export DPROBES_KILL_POINT=$n
	begin fork 1
	attach -q
	export -n DPROBES_KILL_POINT
	echo go >&5
	poll 20 is_done || bad=$((bad + 1))
	end || bad=$((bad + 1))
	wait $tool
	[ $? -eq 137 ] || break
	seen=$((seen + 1))
done 2>/dev/null
like "killed at every third step: the program is right, $seen times" "$bad $seen" '^0 [1-9][0-9]'
unset tool_cmd
plan
