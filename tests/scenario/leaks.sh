#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a program has taken and not given back, against what it says itself; and specs from files.
. tests/scenario/lib.sh
armed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q libc; }

# told FILE: "WAY COUNT BYTES" of each way to take memory that the output has, from one or many objects
told() {
	python_of() { command -v /usr/bin/python3; }
	"$(python_of)" - "$1" <<'EOF'
import json, re, sys
ways = {w: [0, 0] for w in ("by_malloc", "by_calloc", "by_realloc", "by_aligned")}
for line in open(sys.argv[1]):
    row = json.loads(line)
    way = re.fullmatch(r"taking:(by_\w+)\+0x[0-9a-f]+", row["stack"][1]) if len(row["stack"]) > 1 else None
    if not way:
        continue
    assert row["stack_end"] in ("complete", "outermost"), row
    ways[way[1]][0] += row["count"]
    ways[way[1]][1] += row["sum"]
for way, (count, sum) in ways.items():
    print(way, count, sum)
EOF
}

for arm in interior quiesce trap; do
	rounds=20000
	[ $arm != trap ] || rounds=3000
	DPROBES_ARM=$arm "$DPROBES" leaks --block --json -o "$dir/leaks" -- "$VICTIMS/taking" 4 $rounds >"$dir/out" 2>"$dir/err"
	is "$arm: as the program says" "$? $(told "$dir/leaks")" "0 $(cat "$dir/out")"
	like "$arm: how many" "$(cat "$dir/err")" 'dprobes: [1-9][0-9]+ taken, [1-9][0-9]+ of them given back'
done

# Each process has what it has taken itself. The child of fork has blocks of its own; those of the parent it has none of.
"$DPROBES" leaks -f --block --json -o "$dir/leaks" -- "$VICTIMS/taking" 1 20000 fork >"$dir/out" 2>"$dir/err"
is "of a child, too: the same again" "$(told "$dir/leaks")" "$(awk '{ print $1, 2 * $2, 2 * $3 }' "$dir/out")"

# Two at once, of which the one that began first ends first
"$DPROBES" leaks -f --block --json -o "$dir/leaks" -- sh -c '"$0" 1 2000 >"$1/one" & "$0" 1 20000 >"$1/two" & wait' "$VICTIMS/taking" "$dir" 2>"$dir/err"
is "of two at once" "$(told "$dir/leaks")" "$(paste -d' ' "$dir/one" "$dir/two" | awk '{ print $1, $2 + $5, $3 + $6 }')"

# A process that runs
: >"$dir/text"
obey "$VICTIMS/taking" 2 20000 wait
"$DPROBES" leaks --block --json -o "$dir/leaks" -p "$victim" 2>"$dir/err" &
tool=$!
pids+=("$tool")
poll 20 armed "$victim"
bid go
poll 20 grep -q by_aligned "$dir/out"
kill -INT "$tool"
wait "$tool"
is "of a process that runs" "$(told "$dir/leaks")" "$(grep by_ "$dir/out")"
dismiss end

# The text: most first, as the rows of JSON; and the sums of others
"$DPROBES" leaks --block -- "$VICTIMS/taking" 1 3000 >"$dir/out" 2>"$dir/err"
is "most first" "$(grep -oE '^[0-9]+  sum\([a-z* ]+\)=[0-9]+' "$dir/out" | sed 's/.*=//')" \
	"$(grep -oE '^[0-9]+  sum\([a-z* ]+\)=[0-9]+' "$dir/out" | sed 's/.*=//' | sort -rn)"
like "how many, how much, and who" "$(cat "$dir/out")" '^[1-9][0-9]*  sum\(nmemb \* size\)=[0-9]+  r:libc\.so\.6:calloc'
all=$(grep -oE '^[0-9]+  sum.*=[0-9]+' "$dir/out" | sed 's/ .*=/ /' | awk 'NR > 1 { n += $1; s += $2 } END { print n, s }')
"$DPROBES" leaks --block --top 1 -- "$VICTIMS/taking" 1 3000 >"$dir/out" 2>"$dir/err"
is "the sums of others" "$(sed -n 's/^and \([0-9]*\) more of [0-9]* other stacks, \([0-9]*\) in all$/\1 \2/p' "$dir/out")" "$all"
is "with --top, one stack" "$(grep -cE '^[0-9]+  sum' "$dir/out")" 1

# Other things than memory: what is given to another number is not lost, and one that is taken again is one
cat >"$dir/fds.c" <<'EOF'
#include <fcntl.h>
#include <unistd.h>
__attribute__((noipa)) int lost(const char *p) { int fd = open(p, O_RDONLY); __asm__ volatile(""); return fd; }
int main(void)
{
	for (int i = 0; i < 20; i++) { int fd = lost("/dev/null"); if (i % 4) close(fd); }
	lost("/nonexistent");
	close(3); lost("/dev/null");
	return 0;
}
EOF
gcc -O1 -o "$dir/fds" "$dir/fds.c"
cat >"$dir/open.specs" <<'EOF'
# descriptors

  r:libc.so.6:open(retval) if retval >= 0
EOF
printf 'until:libc.so.6:close(fd)\r\n\t# the end' >"$dir/close.specs"
"$DPROBES" leaks "@$dir/open.specs" "@$dir/close.specs" -- "$dir/fds" >"$dir/out" 2>"$dir/err"
is "descriptors, by files of specs" "$(sed -n 's/^\([0-9]*\)  r:libc.so.6:open(retval) if retval >= 0$/\1/p' "$dir/out" | sort)" $'1\n4'
is "and who has taken them" "$(grep -c '^    fds:lost+0x' "$dir/out")" 2

# A number that is taken again is the later one: this one is opened by one function, and by another in its place.
cat >"$dir/again.c" <<'EOF'
__attribute__((noipa)) long take(long n, long much) { __asm__ volatile(""); return n; }
__attribute__((noipa)) void give(long n) { __asm__ volatile(""); }
__attribute__((noipa)) void earlier(void) { take(7, 100); __asm__ volatile(""); }
__attribute__((noipa)) void later(void) { take(7, 5); __asm__ volatile(""); }
int main(void) { earlier(); later(); take(8, 1000); give(8); give(9); return 0; }
EOF
gcc -O1 -o "$dir/again" "$dir/again.c"
"$DPROBES" leaks 'take(arg0, arg1)' 'until:give(arg0)' -- "$dir/again" >"$dir/out" 2>"$dir/err"
is "taken again: the later one, and no more" "$(sed 's/+0x.*//' "$dir/out" | head -n 3)" "1  sum(arg1)=5  take(arg0, arg1)
    again:take
    again:later"
like "of three, one is given back" "$(cat "$dir/err")" 'dprobes: 3 taken, 1 of them given back'

# A program that takes more than there is room for: the records that are lost are told of
"$DPROBES" leaks --buffer 1 -- "$VICTIMS/taking" 4 100000 >"$dir/out" 2>"$dir/err"
like "records that are lost" "$(cat "$dir/err")" 'records were lost, so some of this may have been given back; with --block none is'

# What cannot be meant
wrong() {
	local name=$1 words=$2
	shift 2
	"$DPROBES" leaks "$@" -- true >"$dir/out" 2>"$dir/err"
	is "$name: status" $? 2
	like "$name: words" "$(cat "$dir/err")" "$words"
	like "$name: where" "$(cat "$dir/err")" '^ +\^~*$'
}
wrong "no value" 'what is taken is to be in parentheses behind it, as in r:malloc\(retval, size\)' r:libc.so.6:malloc
wrong "no value of what is given back" 'what is given back is to be in parentheses' until:libc.so.6:free
wrong "two values of what is given back" 'until: has one value' 'until:libc.so.6:free(ptr, 1)'
wrong "three values" 'or a second one, how much it is' 'r:libc.so.6:malloc(retval, size, 1)'
wrong "empty parentheses" 'there is one value, what is taken' 'r:libc.so.6:malloc()'
wrong "a string" 'what is taken, and how much it is, are numbers' 'libc.so.6:getenv(name)'
wrong "a name that is not known" 'nonsuch' 'r:libc.so.6:malloc(retval, nonsuch)'

# Files of specs, also of other verbs
: >"$dir/empty.specs"
echo '# nothing' >"$dir/nothing.specs"
printf 'malloc\0free\n' >"$dir/binary.specs"
printf 'libc.so.6:malloc\nlibc.so.6:free\n' >"$dir/two.specs"
file() {
	local name=$1 status=$2 words=$3
	shift 3
	"$DPROBES" "$@" >"$dir/out" 2>"$dir/err"
	is "$name: status" $? "$status"
	like "$name" "$(cat "$dir/out" "$dir/err")" "$words"
}
file "a file that is not there" 1 'cannot read /nonexistent/x: No such file' stat @/nonexistent/x -- true
file "a directory" 1 "cannot read $dir: Is a directory" stat "@$dir" -- true
file "an empty file" 2 'there is no spec in @.*empty' stat "@$dir/empty.specs" -- true
file "a file of comments" 2 'there is no spec in @.*nothing' stat "@$dir/nothing.specs" -- true
file "a file that is no text" 2 'is no text: specs, a line each' stat "@$dir/binary.specs" -- true
file "two, and one more" 0 '3 probes at 3 sites' stat "@$dir/two.specs" libc.so.6:calloc -- true
file "of trace" 0 'libc.so.6:malloc size=' trace "@$dir/two.specs" -- sort /dev/null
file "of list" 0 'libc.so.6:free' list "@$dir/two.specs" -- true
file "of stacks" 0 'malloc' stacks "@$dir/two.specs" -- sort /dev/null
file "of graph" 0 'malloc\(' graph "@$dir/two.specs" -- sort /dev/null
file "run has files of its own" 1 "@$dir/two.specs" run "@$dir/two.specs" -- true

"$DPROBES" leaks --show-spec >"$dir/memory.specs"
"$DPROBES" leaks "@$dir/memory.specs" --block --json -o "$dir/leaks" -- "$VICTIMS/taking" 1 2000 >"$dir/out" 2>"$dir/err"
is "what --show-spec prints does the same" "$(told "$dir/leaks")" "$(cat "$dir/out")"
is "and is what the example has" "$(cat "$dir/memory.specs")" "$(grep -v '^#' examples/questions/leaks.specs)"
plan
