#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs at a low address that leave their functions in every way there is, with every function of
# theirs followed: in their own process, and by a tool.
. tests/scenario/lib.sh
. tests/scenario/lib-torture.sh
follow=${DPROBES%/*}/tests/follow-all.so

while read -r status exits name args; do
	# shellcheck disable=SC2086
	set -- "$torture/$name-low" $args
	run "$dir/bare" "$@"
	is "$name-low${args:+ $args}: alone" "$(<"$dir/bare/status")" "$status"
	rm -f "$dir/report"
	run "$dir/own" env FOLLOW=all FOLLOW_REPORT="$dir/report" LD_PRELOAD="$follow" "$@"
	is "$name-low${args:+ $args}: followed in its own process" "$(differs "$dir/own")" ""
	[ "$exits" != exits ] || like "$name-low${args:+ $args}: calls were followed" "$(cat "$dir/report")" 'entries [1-9]'
	run "$dir/foreign" "$DPROBES" stat -q -o "$dir/stat" "r:*" -- "$@"
	sed -i -E '/^dprobes: [0-9]+ (of [0-9]+ matches cannot|more matches are) /d' "$dir/foreign/err"
	is "$name-low${args:+ $args}: by a tool" "$(differs "$dir/foreign")" ""
done < <(cases)
plan
