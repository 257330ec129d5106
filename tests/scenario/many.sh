#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process cannot make the tool slow without bound: very many mappings of code, libraries, symbols. The
# bounds are several times what it takes by their number, and a part of what it takes by their square.
. tests/scenario/lib.sh
export TIMEFORMAT='%U %S'

# took SECONDS COMMAND...: of the CPU, no more; the command's own status
took() {
	local used status
	used=$({ time "${@:2}" >"$dir/out.tool" 2>"$dir/err"; echo "status $?" >"$dir/status"; } 2>&1)
	status=$(<"$dir/status")
	awk -v most="$1" -v status="$status" -v used="$used" 'BEGIN {
		split(used, s, " ")
		print status (s[1] + s[2] <= most ? "" : ", but it took " s[1] "+" s[2] " s")
	}'
}

start "$VICTIMS/many" text 60000
like "mappings of one file" "$(<"$dir/out")" '^[1-9][0-9]{4}$'
is "a probe beside them" "$(took 6 "$DPROBES" stat -q -o "$dir/counts" --duration 200ms libc.so.6:usleep -p "$victim")" \
	"status 0"
like "it has hits" "$(hits "$dir/counts" libc.so.6:usleep)" '^[1-9]'
kill -KILL "$victim"

echo 'int tiny(int a) { return a + 1; }' >"$dir/tiny.c"
gcc -O2 -shared -fPIC -nostdlib -s -Wl,-z,noseparate-code -o "$dir/tiny.so" "$dir/tiny.c"
mkdir "$dir/libs"
start "$VICTIMS/many" libs 20000 "$dir/tiny.so" "$dir/libs"
poll 60 test -s "$dir/out"
is "libraries" "$(<"$dir/out")" 20000
is "a probe in each of them" \
	"$(took 10 "$DPROBES" stat -q --all -o "$dir/counts" --duration 200ms 'lib*:tiny' libc.so.6:usleep -p "$victim")" "status 0"
is "each is named" "$(grep -cE ' lib[0-9]+\.so:tiny$' "$dir/counts")" 20000
is "one of them" "$(took 3 "$DPROBES" stat -q -o "$dir/counts" --duration 50ms lib777.so:tiny -p "$victim")" "status 0"
kill -KILL "$victim"
rm -rf "$dir/libs"

{
	printf '.text\n.globl main\nmain: mov $100, %%ecx\n1: call f777\n dec %%ecx\n jnz 1b\n xor %%eax, %%eax\n ret\n'
	seq 262144 | sed 's/.*/.type f&, @function\nf&: ret\n.size f&, 1/'
	echo '.section .note.GNU-stack'
} >"$dir/symbols.s"
gcc -o "$dir/symbols" "$dir/symbols.s"
is "a function among 262144" "$(took 5 "$DPROBES" stat -q -o "$dir/counts" f777 -- "$dir/symbols")" \
	"status 0"
is "it has hits" "$(hits "$dir/counts" symbols:f777)" 100
is "all of them listed" "$(took 10 "$DPROBES" list 'f*' -- "$dir/symbols"; grep -c '^symbols:f[0-9]' "$dir/out.tool")" \
	"status 0
262144"
plan
