#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of a signal's handler that has interrupted threads anywhere in code of ours: in detours, copies and
# the agent. The program says itself in which function a thread is, and who has called that.
. tests/scenario/lib.sh

victim=$VICTIMS/ticked
# The dynamic linker has code whose frames walks cannot follow: what binds a name at its first call.
export LD_BIND_NOW=1

# Each stack, by what its hit says: all frames from the handler to the function, and the known callers.
cat >"$dir/check.py" <<'END'
import json, sys
NAMES = [None, "work", "plain", "looping", "crowded", "framed", "again", "indirect", "sorting", "masking",
         "waiting", "parsing"]
# What may be between: called by the function of that name
CALLED = {"plain": {"plain"}, "looping": {"looping", "plain"}, "crowded": {"crowded", "plain"},
          "framed": {"framed", "plain"}, "again": {"again", "plain"},
          "indirect": {"indirect", "looping", "framed", "plain"}}
wrong, hits, kinds = [], 0, set()
instructions = set(open(sys.argv[3]).read().split())
for line in open(sys.argv[1]):
    row = json.loads(line)
    by = row.get("by", row)
    if "stack" not in by:
        continue
    count = row.get("count()", 1)
    names = [f.rpartition(":")[2].partition("+")[0] for f in by["stack"]]
    hits += count
    try:
        assert by["stack_end"] == "complete", by["stack_end"]
        # first() may be a jump's target, but it has a caller.
        chain = names.index("first")
        assert names[chain - 3:chain + 1] == ["work", "third", "second", "first"], "callers"
        if names[0] != "seen":
            continue
        args = list(row["args"].values()) if "args" in row else [v for k, v in by.items() if not k.startswith("stack")]
        which, depth = (int(a, 0) if isinstance(a, str) else a for a in args)
        inner = names[:chain - 3]
        assert inner[:2] == ["seen", "on_signal"], "the handler"
        at = 3                 # behind the frame to which the handler returns
        while names[at:at + 2] == ["seen", "on_signal"]:
            at += 3            # it has been interrupted itself
        inner = inner[at:]
        where = by["stack"][at].rpartition(":")[2]
        if names[at] in NAMES:
            assert (where if "+" in where else where + "+0x0") in instructions, "between instructions"
        kinds.add(which)
        name = NAMES[which]
        if not inner:
            continue           # in work() itself: before the call, or after it
        assert inner[-1] == name, "who is called by work()"
        if name in CALLED:
            assert set(inner) <= CALLED[name], "what is called by it"
        if name == "again":
            deep = inner.count("again")
            assert abs(deep - depth) <= 1, "how deep"
    except (AssertionError, ValueError) as e:
        wrong.append((str(e), count, by["stack"], by["stack_end"]))
for w in wrong[:5]:
    print("#", *w, file=sys.stderr)
print(sum(w[1] for w in wrong), "wrong,", "enough" if hits >= int(sys.argv[2]) else f"only {hits}",
      "of most" if len(kinds) >= 6 else "of few", "functions")
print("#", hits, "stacks", file=sys.stderr)
END
check() { python3 "$dir/check.py" "$1" "$2" "$dir/all" 2>"$dir/wrong"; }

# A probe on every instruction of these, and others on their entries and returns
workers="plain looping crowded framed again indirect sorting masking waiting parsing work third second first"
nm -S "$victim" | awk '{ print $4, $1, $2 }' >"$dir/symbols"
objdump -d --no-show-raw-insn "$victim" | python3 -c '
import re, sys
wanted = set(sys.argv[2:])
symbols = [(n, int(a, 16), int(s, 16)) for n, a, s in
           (line.split() for line in open(sys.argv[1]) if len(line.split()) == 3) if n in wanted]
for line in sys.stdin:
    m = re.match(r" +([0-9a-f]+):", line)
    for name, start, size in symbols:
        if m and start <= int(m[1], 16) < start + size:
            print("%s+0x%x" % (name, int(m[1], 16) - start))' "$dir/symbols" $workers >"$dir/all"

# run NAME LEAST SPEC…: $how, with the victim's arguments in $as
run() {
	local name=$1 least=$2

	shift 2
	timeout 120 "$DPROBES" $how -q --json -o "$dir/rows" "$@" -- "$victim" ${TICKS:-3000} $as >"$dir/out" 2>"$dir/talk"
	is "$name: all stacks are right, and the program is" "$? $(cat "$dir/out") $(check "$dir/rows" $least)" \
		"0 ticked 0 wrong, enough of most functions"
	sed 's/^# */# /' "$dir/wrong"
	[ ! -s "$dir/talk" ] || sed 's/^/# /' "$dir/talk"
}

seen='seen{count() by arg0, arg1, stack}'
counted() { how=stat run "$1: every instruction counted" 1000 "$seen" "@$dir/all"; }
calls() { how=stat run "$1: calls counted, and timed" 1000 "$seen" $(printf 'r:%s ' $workers); }
kept() {
	how=stat run "$1: values kept by keys" 1000 "$seen" 'plain{hist(arg0) by arg1}' \
		'crowded{sum(arg1), max(arg2) by arg0 & 15, arg4}' 'framed{count() by arg0}' 'again{sum(arg0)}'
}
records() {
	how="trace --stack" run "$1: records with stacks" 1000 'seen(arg0, arg1)' plain crowded r:again r:framed waiting
}

# armed HOW, the victim's arguments, WHAT…
armed() {
	local as=$2 what

	export DPROBES_ARM=$1
	for what in "${@:3}"; do $what "$1${as:+, $as}"; done
}
armed interior "" counted calls kept records
armed interior away counted records
armed interior caught counted records
armed quiesce "" counted records
armed trap "" counted calls kept records
armed trap caught counted calls kept records
plan
