# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib-stored: what the tests share whose victim, stored, writes variables by threads for ever. Sourced, behind lib.sh.
stored=$VICTIMS/stored
program() { # NAME ADDRESS...: that counts each hit, of a point or more
	printf 'name = stored\nmodtype = user\nvars = 1\nlogmax = 0\n' >"$dir/$1.dp"
	for at in "${@:2}"; do printf '%s\n\tinc lv,0\n\texit\n' "$at" >>"$dir/$1.dp"; done
}
several() { # NAME VARIABLE...: a watchpoint of each
	local points=() at
	for at in "${@:2}"; do points+=("$(printf 'watch = w\naddress = %s\nlen = 4' "$at")"); done
	program "$1" "${points[@]}"
}
count_program() { program count $'watch = w\naddress = stored'; }
# While threads trap all the time a hold may answer too late.
answered() {
	err=$("$DPROBES" "$@" -P "$victim" 2>&1 >"$dir/stdout")
	status=$?
	! grep -q 'does not answer' <<<"$err"
}
classic() { poll 60 answered "$@"; } # sets $status, $err
has_no_hold() { ! "$DPROBES" --query --all -P "$victim" >/dev/null 2>"$dir/asked" && ! grep -q 'does not answer' "$dir/asked"; }
removed() { has_no_hold || { "$DPROBES" --remove --all -P "$victim" >/dev/null 2>&1; has_no_hold; }; }
put_away() { poll 60 removed; }
hits() { "$DPROBES" list -v -p "$victim" 2>/dev/null | sed -n "s/.* w  $1+0x0 .*  \([0-9]*\) hits.*/\1/p"; }
has_hits() { [ "$(hits "$1")" -gt 0 ] 2>/dev/null; }
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | sed -n 's/.* w  \([a-z_]*\)+0x0 .*/\1/p' | sort | tr '\n' ' ' | sed 's/ $//'; }
rounds() { tail -n 1 "$dir/out"; }
goes_on() { [ "$(rounds)" -gt "$before" ] 2>/dev/null; }
registers_of() { "$TOOLS/registers" "$victim" 2>/dev/null; }
is_clean() { [ -z "$(registers_of)" ] && ! maps_of "$victim" | grep -q dprobes; }
# As many runs of the program as hits, and nothing of ours left
counts() {
	"$DPROBES" run --duration 0.1 "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk"
	[ "$(sed -n 's/.* lv\[0\] = .*(\([0-9]*\)).*/\1/p' "$dir/talk")" = \
		"$(sed -n 's/.*: \([1-9][0-9]*\) hits*, 0 missed.*/\1/p' "$dir/talk")" ] && is_clean
}
survives() { # NAME
	before=$(rounds)
	if kill -0 "$victim" && poll 10 goes_on && counts; then ok "$1"; else
		not_ok "$1" "$(cat "$dir/err" "$dir/talk")" "$(registers_of)"
		kill -0 "$victim" || { plan; exit; }
	fi
}
# The first local variable, of the program that is shown last; and more than $had
lv() { "$DPROBES" --getvars --all -p "$victim" 2>/dev/null | sed -n 's/.*lv\[0\] = .*(\([0-9]*\)).*/\1/p' | tail -n 1; }
grows() { [ "$(lv)" -gt "$had" ] 2>/dev/null; }
has_events() { ls -l "/proc/$1/fd" 2>/dev/null | grep -q perf_event; }
end_stored() { # NAME
	put_away
	poll 10 is_clean
	is "$1: all is taken away" $? 0
	before=$(rounds)
	poll 10 goes_on
	is "$1: the program goes on" $? 0
	kill "$victim"
	wait "$victim" 2>/dev/null
}
# A hold is no child of the test.
leave() {
	[ $BASHPID = $$ ] || return
	[ -z "${victim:-}" ] || put_away
	cleanup
}
trap leave EXIT
