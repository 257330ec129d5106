#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a person sees, on terminals of two sizes: tests/golden/screens/NAME-SIZE. Only process ids and times
# are replaced. SCREENS_UPDATE=1 writes the files anew.
. tests/scenario/lib.sh

golden=tests/golden/screens
build=$PWD/${DPROBES%/*}
if ! command -v tmux >/dev/null; then
	skip "screens" "there is no tmux"
	plan
	exit
fi

# A library of 3,000 functions and nothing else: fn_0001 is called once, fn_3000 3,000 times. A line that is
# read has some called: "1" the first ten, "2" others.
awk 'BEGIN {
	for (i = 1; i <= 3000; i++)
		printf "void fn_%04d(void) { __asm__ volatile(\".rept 8; nop; .endr\"); }\n", i
	print "void (*const fns[])(void) = {"
	for (i = 1; i <= 3000; i++)
		printf "fn_%04d,\n", i
	print "};"
}' >"$dir/screens.c"
cat >"$dir/main.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
extern void (*const fns[3000])(void);
static void calls(int from, int to)
{
	for (int i = from; i <= to; i++)
		for (int n = 0; n < i; n++)
			fns[i - 1]();
}
int main(int argc, char **argv)
{
	FILE *lines = argc > 1 && argv[1][0] != 'h' ? NULL : fopen("lines", "r");
	char line[8];

	if (!lines)
		calls(1, atoi(argv[1]));
	while (argc > 1 && lines && fgets(line, sizeof(line), lines) && *line != '0') {
		printf("half of %c, ", *line);
		fflush(stdout);
		fns[0]();
	}
	while (argc == 1 && lines && fgets(line, sizeof(line), lines))
		calls(*line == '1' ? 1 : 2990, *line == '1' ? 10 : 2993);
	return 0;
}
END
cat >"$dir/names.cc" <<'END'
#define APART __attribute__((noinline, noclone))
#define BODY { __asm__ volatile(".rept 8; nop; .endr"); }
namespace warehouse {
template <typename Goods, int Places> struct shelf_of_a_certain_size {
	APART void reserve(const Goods *what, long how_many) BODY
	APART void give_back_what_was_reserved_for_somebody_else(const Goods &what) BODY
};
struct pallet {
	APART void lift() BODY
	APART bool operator<(const pallet &) const { __asm__ volatile(".rept 8; nop; .endr"); return true; }
};
APART void count_everything_that_is_there_and_write_it_down(const pallet *first, const pallet *last, unsigned long) BODY
}
int main()
{
	warehouse::shelf_of_a_certain_size<warehouse::pallet, 16> shelf;
	warehouse::pallet one;
	for (int i = 0; i < 5000; i++) {
		one.lift();
		if (i < 400)
			shelf.reserve(&one, i);
		if (i < 30)
			shelf.give_back_what_was_reserved_for_somebody_else(one);
		if (i < 2)
			warehouse::count_everything_that_is_there_and_write_it_down(&one, &one, 0);
	}
	return !(one < one);
}
END
cc -O1 -shared -fPIC -nostdlib -Wl,-soname,libscreens.so -o "$dir/libscreens.so" "$dir/screens.c" &&
	cc -O1 -o "$dir/screens" "$dir/main.c" -L"$dir" -lscreens -Wl,-rpath,"$dir" &&
	c++ -O1 -o "$dir/names" "$dir/names.cc" || exit 1
printf './screens 3\n./names\n./screens 5 && ./screens 20\n' >"$dir/script"
mkfifo "$dir/lines"
printf 'set -g status off\nset -g default-terminal screen\nset -g exit-empty off\n' >"$dir/tmux.conf"
tmux_() { env -u TMUX -u COLUMNS -u LINES LC_ALL=C.UTF-8 tmux -S "$dir/socket" -f "$dir/tmux.conf" "$@"; }
# Lines that are longer than the screen are shown whole, so that a process id does not move what follows.
joined=-J
# look SIZE: into $dir/now, without the empty lines at its end
look() {
	local text

	text=$(tmux_ capture-pane -p ${joined-} -t "$1" | sed -E 's/ +$//
		s/\b[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\b/HH:MM:SS/; s/(HH:MM:SS)\.[0-9]{6} [0-9]+ [0-9]+ /\1.UUUUUU PID TID /; s/(probing|process) [0-9]+/\1 PID/')
	printf '%s\n' "$text" >"$dir/now"
}
# begin SIZE ARGS...: dprobes at a terminal of its own
begin() {
	local size=$1 command
	shift
	command=$(printf '%q ' "$build/dprobes" "$@")
	rm -f "$dir/over"
	tmux_ new-session -d -s "$size" -x "${size%x*}" -y "${size#*x}" \
		"cd $(printf %q "$dir") && $command; echo \"status \$?\"; : >over; exec sleep 600"
}
end() { tmux_ kill-session -t "$1"; }
# as_ever NAME SIZE: what was on the screen is what the file has
as_ever() {
	local file=$golden/$1-$2

	[ -z "${SCREENS_UPDATE-}" ] || cp "$dir/now" "$file"
	is "$1, $2" "$(cat "$dir/now")" "$(cat "$file")"
}
# screen NAME ARGS...: when it is over
screen() {
	local name=$1 size
	shift
	for size in 80x24 200x50; do
		begin "$size" "$@"
		poll 20 test -e "$dir/over" || not_ok "$name, $size: it ends"
		look "$size"
		as_ever "$name" "$size"
		end "$size"
	done
}

screen stat-library stat 'libscreens.so:*' -- ./screens 3000
screen stat-top stat --top 15 'libscreens.so:*' -- ./screens 3000
screen stat-names stat 'warehouse::*' -- ./names
screen stat-children stat -f 'libscreens.so:fn_000[1-4]' 'warehouse::pallet::lift' libc.so.6:exit -- dash script
screen list list 'libscreens.so:fn_00[0-3]?' -- ./screens 1
screen list-names list -v 'warehouse::*' -- ./names
screen stat-refused stat 'libscreens.so:fn_9' -- ./screens 1

# Each table of an interval is where the one before was. What is called in one interval is in one table, unless
# the calls were just at its end; then they are made again.
shows() { look "$1" && grep -q "$2" "$dir/now"; }
is_as() { look "$1" && cmp -s "$dir/now" "$2"; }
# again SIZE LINE FILE: the calls, which are as in FILE
again() {
	poll 10 shows "$1" 'no hits'
	echo "$2" >&7
	[ -z "${SCREENS_UPDATE-}" ] || { poll 10 shows "$1" 'fn_'; return; }
	poll 1 is_as "$1" "$3"
}
for size in 80x24 200x50; do
	exec 7<>"$dir/lines"
	begin "$size" stat -i 700ms 'libscreens.so:*' -- ./screens
	for n in 1 2; do
		poll 10 again "$size" "$n" "$golden/stat-interval$n-$size"
		as_ever "stat-interval$n" "$size"
	done
	end "$size"
	exec 7>&-
done

# What the command has left of a line stays by itself: of several, and at the end.
joined=
for size in 80x24 200x50; do
	exec 7<>"$dir/lines"
	begin "$size" trace 'libscreens.so:fn_0001(x=1)' -- ./screens halves
	for n in 1 2; do
		echo "$n" >&7
		traced() { look "$size" && [ "$(grep -c 'libscreens.so:fn_0001' "$dir/now")" = "$n" ]; }
		poll 10 traced
	done
	echo 0 >&7
	poll 20 test -e "$dir/over"
	look "$size"
	as_ever trace-halves "$size"
	end "$size"
	exec 7>&-
done
screen stat-halves stat libc.so.6:exit -- dash -c 'printf "half a line"'
tmux_ kill-server
plan
