#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Facilities of a process of its own (dp_facility_register()): it counts and sums what its functions are given, and
# that is compared with what the tool's records say. [rows 249, 260]
. tests/scenario/lib.sh

# program NAME NUMBER [KEYWORDS]: probes at plain() and load(), whose instruction may fault
program() {
	printf "name = facility\nmodtype = user\nmajor = 1\noffset = plain\n%b\npush r,rdi\nlog 1\nexit $2\noffset = load\n%b\npush r,rdi\nlog 1\nexit $2\n" \
		"${3:-}" "${3:-}" >"$dir/$1.dp"
}
# sums OUTCOME: how many records say that, and the sum of what they have logged
cat >"$dir/sums.py" <<'END'
import json, struct, sys
n = total = 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["outcome"] == sys.argv[2]:
        n += 1
        total += struct.unpack_from("<Q", bytes.fromhex(r["data"]), 3)[0]
print("%d calls, sum %d," % (n, total % 2 ** 64))
END
sums() { python3 "$dir/sums.py" "$dir/records" "$1"; }
mine="taken by the process's own facility"
# hosted PROGRAM [OPTIONS...]: the process runs, the tool comes and goes, the process ends
hosted() {
	local name=$1
	shift
	start "$TOOLS/facility" ${argument:+"$argument"}
	"$DPROBES" run --json -o "$dir/records" --duration 0.4 "$@" "$dir/$name.dp" -p "$victim" 2>"$dir/err.tool"
	status=$?
	kill -TERM "$victim"
	wait "$victim"
	is "$arm, $name: the process has ended well" "$?" 0
}
of() { sed -n "s/^$1: \(.*\) [0-9]* wrong/\1/p" "$dir/out"; }
discarded() { grep -oE '[0-9]+ records? discarded' "$dir/err.tool" | grep -oE '[0-9]+' || echo 0; }

if ! python3 -c '' 2>"$dir/err"; then
	skip "facilities of a process's own" "no python3"
	plan
	exit
fi
argument=
program commit 20
program once 21
program fault 22
program nest 23
program none 24
program return 20 'retprobe = yes'
for arm in interior quiesce trap; do
	export DPROBES_ARM=$arm
	hosted commit
	[ "$(wc -l <"$dir/records")" -gt 200 ] || not_ok "$arm, commit: there are records" "$(cat "$dir/err.tool")"
	is "$arm, commit: each record, and no more" "$(of 20)" "$(sums "$mine")"
	is "$arm, commit: another exit of the hook sees each" "$(sed -n 's/^seen: .* \([0-9]*\) records$/\1/p' "$dir/out")" "$(grep -c "$mine" "$dir/records")"
	is "$arm, commit: all records say so" "$(grep -vc "$mine" "$dir/records")" 0
	[ "$(discarded)" -gt 100 ] && ok "$arm, commit: not for instructions that failed" || not_ok "$arm, commit: not for instructions that failed" "$(cat "$dir/err.tool")"
	is "$arm, commit: nothing else is told" "$(grep -c '^dprobes: exit' "$dir/err.tool")" 0
	is "$arm, commit: nothing of the program's has changed" "$(tail -n 1 "$dir/out") $(grep -c ' 0 wrong$' "$dir/out")" "0 wrong, 0 reports 4"
	hosted once
	read -r n _ <<<"$(of 21)"
	is "$arm, once: for instructions that failed, too" "$n" "$(($(wc -l <"$dir/records") + $(discarded)))"
	is "$arm, once: nothing of the program's has changed" "$(tail -n 1 "$dir/out")" "0 wrong, 0 reports"
	hosted return
	is "$arm, return: each record, and no more" "$(of 20)" "$(sums "$mine")"
	[ "$(wc -l <"$dir/records")" -gt 200 ] || not_ok "$arm, return: there are records" "$(cat "$dir/err.tool")"
	hosted fault
	read -r n _ <<<"$(of 22)"
	[ "${n:-0}" -ge 2 ] && [ "$n" -le 4 ] && ok "$arm, fault: the probe has been disabled" || not_ok "$arm, fault: the probe has been disabled" "$(cat "$dir/out")"
	like "$arm, fault: the process is told" "$(tail -n 1 "$dir/out")" '^0 wrong, [1-2] reports$'
	hosted nest
	like "$arm, nest: no facility in a facility" "$(cat "$dir/records")" "the process's own facility, which could not be called there"
	like "$arm, nest: that is counted" "$(cat "$dir/err.tool")" '^dprobes: exit 23: [0-9]+ records? that the facility could not take$'
	is "$arm, nest: the others are taken" "$(of 23)" "$(sums "$mine")"
	hosted none
	like "$arm, none: nobody has registered" "$(head -n 1 "$dir/records")" '"outcome":"a facility that nobody has registered"'
	argument=toggle
	hosted commit
	is "$arm, one that comes and goes: each record says which" "$(of 20)" "$(sums "$mine")"
	is "$arm, one that comes and goes: others were not there" "$(grep -c 'that nobody has registered' "$dir/records")" \
		"$(($(wc -l <"$dir/records") - $(grep -c "$mine" "$dir/records")))"
	is "$arm, one that comes and goes: nothing has changed" "$(tail -n 1 "$dir/out")" "0 wrong, 0 reports"
	argument=
done
unset DPROBES_ARM
arm=any
start "$TOOLS/facility"
is "the hooks are listed, with their exits in order" "$("$DPROBES" hooks -p "$victim" 2>"$dir/err" | awk '$1 ~ /^dprobes_/ { $3 = "" } { print }' | sort)" \
	"$(printf '%s\n' "dprobes_call active " "  1 sees_call 1" "  2 external 1" "  3 external 1" "  4 external 1" "  5 external 1" "  6 sees_value 1" \
		"dprobes_facility active " "  1 commit 1" "  2 once 1" "  3 fault 1" "  4 nest 1" "  5 sees_record 1 writable" | sort)"
"$DPROBES" hooks --disarm dprobes_facility:commit -p "$victim" 2>"$dir/err"
like "a function is not for others to disarm" "$? $(cat "$dir/err")" '^1 .*exit commit is not for others to arm'
"$DPROBES" hooks --disarm dprobes_facility:sees_record -p "$victim" 2>"$dir/err"
is "another exit may be" "$? $("$DPROBES" hooks -p "$victim" | grep sees_record)" "0   5 sees_record 0 writable"
kill -TERM "$victim"
wait "$victim"
# A command by the same number has the record, too.
hosted commit -n 3 --facility "20=cat >>$dir/got"
is "a command has it, too" "$(wc -l <"$dir/got")" 3
read -r n _ <<<"$(of 20)"
[ "$n" -ge 3 ] && ok "and so has the facility" || not_ok "and so has the facility" "$n"
is "errors have numbers" "$(head -n 1 "$dir/out")" "-16 facility 20 is taken: commit; -22 -22 -22 -22 -22 -2"
plan
