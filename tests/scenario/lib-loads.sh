# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib-loads: the program that loads and unloads (tests/victims/loads.c), and its libraries.
cat >"$dir/library.c" <<'C'
int fresh;
long probed(long n);
__attribute__((noipa)) long probed(long n) { return n * 3; }
__attribute__((constructor)) static void early(void) { probed(1); probed(2); fresh = 1; }
C
# made KIND COMPILER: the program and its libraries, built that way
made() {
	bin=$dir/$1 lib=$dir/$1-one.so other=$dir/$1-two.so
	command -v "$2" >/dev/null || return 1
	"$2" -D_GNU_SOURCE -O2 -pthread -o "$bin" tests/victims/loads.c &&
		"$2" -shared -fPIC -O1 -o "$lib" "$dir/library.c" && cp "$lib" "$other"
}
begin() { # EVENT ROUNDS: it waits for a line before that, and for one more behind it
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	"$bin" "$1" "$lib" "$other" "$2" wait <"$dir/in" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
}
is_done() { grep -q '^done' "$dir/out"; }
end() { echo quit >&5; exec 5>&-; wait "$victim"; }
