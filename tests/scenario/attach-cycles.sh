#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Attach and detach, again and again, on a program that checks its own results.
. tests/scenario/lib.sh
cycles=${CYCLES:-60}

text_sum() { "$TOOLS/text-sum" "$1"; }
status_of() { grep -E '^(SigBlk|SigIgn|SigCgt|Threads)' "/proc/$1/status"; }

start "$VICTIMS/busy" 4
maps_of "$victim" >"$dir/maps"
text_sum "$victim" >"$dir/text"
status_of "$victim" >"$dir/status"
fds=$(ls "/proc/$victim/fd" | wc -l)
total=0 bad=0 rss=0
for ((i = 0; i < cycles; i++)); do
	"$DPROBES" stat -q -o "$dir/counts" --duration 5ms -p "$victim" \
		libc.so.6:malloc libc.so.6:free libc.so.6:qsort_r libc.so.6:memset \
		'libc.so.6:str*' busy:+0x$(readelf -hW "$VICTIMS/busy" | awk '/Entry/ { sub(/0x/, "", $NF); print $NF }') \
		2>"$dir/err" || { bad=$((bad + 1)); cat "$dir/err"; }
	total=$((total + $(awk 'NR > 1 { n += $1 } END { print n + 0 }' "$dir/counts")))
	maps_of "$victim" | cmp -s - "$dir/maps" || { bad=$((bad + 1)); maps_of "$victim" | diff "$dir/maps" -; }
	[ "$i" -ne 5 ] || rss=$(awk '/RssAnon/ { print $2 }' "/proc/$victim/status")
done
is "$cycles cycles of attach and detach, maps identical after each" "$bad" 0
if [ "$total" -gt 0 ]; then ok "hits were counted: $total"; else not_ok "hits were counted"; fi
is "the text is byte-identical" "$(text_sum "$victim")" "$(cat "$dir/text")"
is "signal actions and masks are what they were" "$(status_of "$victim")" "$(cat "$dir/status")"
is "no descriptor is left" "$(ls "/proc/$victim/fd" | wc -l)" "$fds"
now=$(awk '/RssAnon/ { print $2 }' "/proc/$victim/status")
if [ $((now - rss)) -lt 512 ]; then ok "no memory is left ($rss kB, then $now kB)"
else not_ok "no memory is left" "$rss kB, then $now kB"; fi
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
plan
