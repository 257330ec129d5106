# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib-beats: programs whose threads leave a beat (tests/victims/beats.c), in C, Python and Go.
beats=$dir/beats
library=$dir/library.so
cat >"$dir/library.c" <<'C'
long probed(long n);
__attribute__((noipa)) long probed(long n) { return n * 3; }
C
"${CC:-cc}" -shared -fPIC -O1 -o "$library" "$dir/library.c" || exit 1

# The words of its file.
words() { od -An -v -t u8 -w8 "$beats" | tr -d ' '; }
are_there() { [ -s "$beats" ] && [ "$(words | tail -n 1)" -gt 0 ]; }
# begin COMMAND...: that is to beat; sets $victim
begin() {
	rm -f "$beats"
	"$@" >"$dir/out" 2>"$dir/said" &
	victim=$!
	pids+=("$victim")
	poll 20 are_there
}
is_over() { ! kill -0 "$victim" 2>/dev/null || grep -q '^State:.*[ZX]' "/proc/$victim/status" 2>/dev/null; }
no_less() { [ "$(paste "$dir/before" "$dir/now" | head -n "$(tail -n 1 "$dir/now")" | awk '$1 == $2' | wc -l)" -eq 0 ]; }
# Each thread has come round again, or there is none.
beat_again() { is_over || { words >"$dir/now" && no_less; }; }
goes_on() {
	words >"$dir/before"
	poll 20 beat_again && ! is_over
}
finish() {
	kill -KILL "$victim"
	wait "$victim"
} 2>/dev/null
