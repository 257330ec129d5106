#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The trees of calls of a program whose threads have several stacks, against what it says itself of each call: what has
# made it, whether it is on its own stack, and how long it took.
. tests/scenario/lib.sh
sources=tests/victims/trees

c++ -O1 -w -pthread -I$sources -o "$dir/fibers" $sources/fibers.cc
cat >"$dir/compare.py" <<'EOP'
import json, sys
told = {}
for line in open(sys.argv[1]):
    n, name, by, apart, least, most = line.split()
    told[int(n)] = [name, int(by), apart == "1"], int(least), int(most)
differ, late, seen, outer, apart = [], [], set(), [], 0
for line in open(sys.argv[2]):
    c = json.loads(line)
    n = c["args"]["arg0"]
    del outer[c["depth"]:]
    is_, least, most = told[n]
    was = [c["probe"].split(":")[-1], outer[-1] if outer else 0, c.get("own_stack", False)]
    if was != is_ or n in seen:
        differ.append((n, was, is_))
    if "latency_ns" in c and not least <= c["latency_ns"] <= (most or 1e18):
        late.append((n, c["latency_ns"], least, most))
    outer.append(n)
    seen.add(n)
    apart += is_[2]
print(len(told) - len(seen), differ[:3], late[:3], apart > 100)
EOP
# graph ARGS...: of the program, with numbers of calls
graph() {
	timeout 100 "$DPROBES" graph --block -o "$dir/graph" "$@" >"$dir/told" 2>"$dir/err" </dev/null
	status=$?
}

seed=0
for switch in u h; do
	for stacks in m a b; do
		seed=$((seed + 1))
		graph --json 'f_*(arg0:u64)' -- "$dir/fibers" $switch $stacks $seed
		is "$switch $stacks: ends well" "$status" 0
		inside=$(grep -oE '[0-9]+ still inside' "$dir/err" | grep -oE '^[0-9]+')
		# Of some calls it is not known yet that longjmp has left them.
		is "$switch $stacks: each call in its place, with its time, and marked" \
			"$(/usr/bin/python3 "$dir/compare.py" "$dir/told" "$dir/graph")" "${inside:-0} [] [] True"
	done
done

# Calls that wait for room are later, for the reader, than they were.
graph --json --buffer 4k 'f_*(arg0:u64)' -- "$dir/fibers" $switch $stacks $seed
inside=$(grep -oE '[0-9]+ still inside' "$dir/err" | grep -oE '^[0-9]+')
is "with little room: each call in its place" \
	"$(/usr/bin/python3 "$dir/compare.py" "$dir/told" "$dir/graph")" "${inside:-0} [] [] True"

apart=$(awk '$4' "$dir/told" | wc -l)
graph 'f_*(arg0:u64)' -- "$dir/fibers" $switch $stacks $seed
is "text: those on their own stacks are marked" \
	"$(sed -nE 's/.*\| *([0-9]+: )?f_walk\(arg0=([0-9]+)\).*[;{] \/\* on its own stack \*\/$/\2/p' "$dir/graph" | sort -n)" \
	"$(awk '$4 { print $1 }' "$dir/told")"
is "and no others" "$(grep -c 'own stack' "$dir/graph")" "$apart"

graph --format chrome 'f_*' -- "$dir/fibers" $switch $stacks $seed
is "Chrome's events: within one another, on each track" "$(/usr/bin/python3 - "$dir/graph" <<'EOP'
import json, sys
tracks, calls, begun = {}, 0, {}
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    track = e["pid"], e["tid"], e.get("id")
    assert ("id" in e) == (e["ph"] in "ben"), e
    if e["ph"] == "e":
        begun[track].append(e["ts"])
        tracks.setdefault(track, []).append(begun.pop(track))
        continue
    calls += 1
    if e["ph"] == "b":
        begun[track] = [e["ts"]]
    elif e["ph"] == "X":
        tracks.setdefault(track, []).append([e["ts"], e["ts"] + e["dur"]])
assert not begun
for track, events in tracks.items():
    inside = []
    for begin, end in events:
        # Times are of a double's precision.
        while inside and inside[-1] <= begin + 1:
            inside.pop()
        assert not inside or end <= inside[-1] + 1, (track, begin, end)
        inside.append(end)
print(calls, sum(t[2] is not None for t in tracks))
EOP
)" "$(($(wc -l <"$dir/told") - $(grep -oE '[0-9]+ still inside' "$dir/err" | grep -oE '^[0-9]+'))) $apart"
plan
