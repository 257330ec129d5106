#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Values by the names that prototypes have: as strace shows them, in conditions, and what is returned.
. tests/scenario/lib.sh
# Only these tables: a user's would have the word.
export DPROBES_PROTOTYPES=share/dprobes/prototypes XDG_DATA_HOME=$dir

run() {
	timeout 100 "$DPROBES" "$@" >"$dir/stdout" 2>"$dir/err" </dev/null
	status=$?
	out=$(<"$dir/stdout") err=$(<"$dir/err")
}
# lines FUNCTION: what trace has said of it, from its values on
lines() { sed -n "s/.* libc.so.6:$1 //p" "$dir/lines"; }
# sorted: flags in one order
sorted() { perl -pe 's/\b([A-Z_0-9]+(?:\|[A-Z_0-9]+)+)/join "|", sort split m{\|}, $1/ge'; }

git=$(command -v git) repo=$dir/repo
"$git" -c init.defaultBranch=main init -q "$repo"
echo one >"$repo/file"
"$DPROBES" trace -q -o "$dir/lines" 'libc.so.6:open64(path, flags)' -- "$git" -C "$repo" status --short >/dev/null 2>"$dir/err"
lines open64 | sorted >"$dir/ours"
strace -e trace=openat,open -o "$dir/strace" "$git" -C "$repo" status --short >/dev/null 2>&1
sed -nE 's/^openat\(AT_FDCWD, (".*"), ([A-Z_|]+)[,)].*/path=\1 flags=\2/p' "$dir/strace" | sorted >"$dir/theirs"
# The loader and libc itself open files, too: ours are those of the program, in the same order.
subsequence() { awk 'NR == FNR { want[++n] = $0; next } i < n && $0 == want[i + 1] { i++ } END { print n, n - i }' "$1" "$2"; }
like "path and flags of git's files are those that strace shows" "$(subsequence "$dir/ours" "$dir/theirs")" '^[1-9][0-9]* 0$'
like "all that are not the loader's or libc's own" "$(grep -c "path=\"[^\"]*\.git" "$dir/ours") $(grep -c "path=\"[^\"]*\.git" "$dir/theirs")" \
	'^([1-9][0-9]*) [1-9]'

cat >"$dir/calls.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	char bytes[300], *(*volatile copy)(char *, const char *) = strcpy;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	memset(bytes, 'x', sizeof(bytes));
	write(1, "hello", 3);
	write(1, bytes, sizeof(bytes));
	write(1, "", 0);
	open("/none/here", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	open("/etc/hostname", O_RDONLY);
	open((char *)8, O_WRONLY | O_APPEND);
	mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_lock(&m);
	pthread_mutex_trylock(&m);
	printf("%ld\n", strtol("-7", NULL, 10));
	return abs(-3);
}
END
"${CC:-gcc}" -w -O1 -fno-builtin -o "$dir/calls" "$dir/calls.c"
run trace -q -o "$dir/lines" 'libc.so.6:write(fd, buf, count)' 'libc.so.6:open(path, flags, mode)' -- "$dir/calls"
is "a string whose length is an argument, no longer than is shown" "$(lines write | cut -c1-30)" "fd=1 buf=\"hel\" count=3
fd=1 buf=\"xxxxxxxxxxxxxxxxxxxx
fd=1 buf=\"\" count=0
fd=1 buf=\"-7\\n\" count=3"
is "names of flags, an octal mode, a pointer that leads nowhere" "$(lines open | sed 's/ mode=0$//')" \
	'path="/none/here" flags=O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC mode=0640
path="/etc/hostname" flags=O_RDONLY
path=0x8 flags=O_WRONLY|O_APPEND'
run trace -q -o "$dir/lines" 'libc.so.6:open(path) if flags & O_CREAT && path ~ "/none/*"' \
	'libc.so.6:mmap(length, n=length + 1, prot, fd) if prot & PROT_WRITE == PROT_WRITE && fd < 0' -- "$dir/calls"
is "names and constants in a condition" "$(lines open) $(lines mmap | tail -n 1)" \
	'path="/none/here" length=8192 n=8193 prot=PROT_READ|PROT_WRITE fd=-1'
run stat -q -o "$dir/counts" 'libc.so.6:open if path == "/etc/hostname"' -- "$dir/calls"
is "stat, too" "$(hits "$dir/counts" libc.so.6:open)" 1
run trace -q -o "$dir/lines" libc.so.6:open libc.so.6:strtol -- "$dir/calls"
like "all of them, where none are named" "$(lines open | head -n 1) $(lines strtol)" \
	'^path(name)?="/none/here" flags=O_RDWR.* mode=0640 nptr="-7" endptr=0x0 base=10$'
run trace -q -o "$dir/lines" 'r:libc.so.6:strtol()' 'r:libc.so.6:open()' 'r:libc.so.6:pthread_mutex_trylock()' 'r:libc.so.6:abs()' \
	-- "$dir/calls"
is "what is returned has its type, and an error its name" \
	"$(grep -oE '(strtol|open|trylock|abs) = .* <' "$dir/lines" | sed 's/open = [0-9]* </open = N </')" \
	"open = -1 ENOENT (No such file or directory) <
open = N <
open = -1 EFAULT (Bad address) <
trylock = 16 EBUSY (Device or resource busy) <
strtol = -7 <
abs = 3 <"
run trace --json -q -o "$dir/lines" 'libc.so.6:open(path, flags)' -- "$dir/calls"
like "JSON has numbers" "$(head -n 1 "$dir/lines")" '"args":\{"path":"/none/here","flags":524866\}\}$'
run list -v libc.so.6:open 'libc.so.6:mem*' -- "$dir/calls"
is "what could be printed there" "$(grep values: <<<"$out")" '    values: pathname, flags, mode'
run trace 'libc.so.6:open(path, foo)' -- "$dir/calls"
like "a name that it has not: it says which there are" "$status $err" '^2 .*this function has path[a-z]*, flags, mode; a value is one of these'
like "and where" "$err" '^                       \^~~$'
run trace 'libm.so.6:pow(x)' -- "$dir/calls"
like "one that is floating point" "$status $err" '^2 .*floating-point arguments.* are not there yet'
# A thread's number, at the entry of what it calls
cat >"$dir/threads.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) void here(int id) { }
static void *go(void *arg) { here(gettid()); here(gettid()); return arg; }
int main(void)
{
	pthread_t t[3];
	int i;

	here(gettid());
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, go, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"${CC:-gcc}" -O1 -pthread -o "$dir/threads" "$dir/threads.c"
for how in DPROBES_ARM=interior DPROBES_ARM=trap; do
	env $how "$DPROBES" trace -q -o "$dir/lines" 'here(tid, a=arg0:u32, pid) if tid == arg0:u32 && tid >= pid' -- "$dir/threads"
	is "$how: tid" "$(awk '{ split($6, t, "="); split($7, a, "="); n += $3 == t[2] && t[2] == a[2] } END { print NR, n }' "$dir/lines")" "7 7"
done
# Names and types of debug information, of the program itself
cat >"$dir/shapes.c" <<'END'
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
enum hue { RED = 1, GREEN, BLUE };
struct point { int x, y; };
struct shape {
	const char *name;
	struct point at;
	enum hue hue;
	union { unsigned char bytes[4]; uint32_t word; };
	double size;
	unsigned flag : 1;
	bool filled;
	char tag[8];
	struct shape *next;
};
#define KEPT __attribute__((noinline, noclone, noipa))
KEPT int draw(const struct shape *s, double scale, enum hue hue, short n, const char *const *words)
{
	return s ? s->at.x + n : -1;
}
KEPT long add(long a, long b, long c, long d, long e, long f, char seventh, int eighth)
{
	return a + seventh + eighth;
}
KEPT struct shape copy(const struct shape *s) { return *s; }
static KEPT unsigned hidden(unsigned level) { return level + 1; }
int main(void)
{
	const char *words[] = { "a", "b" };
	struct shape last = { "last", { 3, -4 }, BLUE, { { 9, 8, 7, 6 } }, 2.5, 1, true, "tag", 0 };
	struct shape one = { "one", { 1, -2 }, RED, { { 1, 2, 3, 255 } }, -0.5, 0, false, "eightlong", &last };

	copy(&one);
	printf("%d %ld %u\n", draw(&one, 1.5, GREEN, -7, words) + draw(NULL, 0, 0, 0, NULL), add(1, 2, 3, 4, 5, 6, -7, 8), hidden(41));
	return 0;
}
END
shapes() { grep -oE "$1 .*" "$dir/lines" | sed "s/^$1 //"; }
"${CC:-gcc}" -w -O2 -g -o "$dir/shapes" "$dir/shapes.c"
for how in whole separate; do
	if [ $how = separate ]; then
		objcopy --only-keep-debug "$dir/shapes" "$dir/shapes.debug"
		objcopy --strip-debug --add-gnu-debuglink="$dir/shapes.debug" "$dir/shapes"
	fi
	run trace -o "$dir/lines" 'draw(s->name, s->at, x=s->at.x, s->hue, s->bytes, w=s->word:x32, s->size, s->filled, s->tag)' \
		'draw(*s->next, n, hue, words[1]) if s->next->at.y == -4 && s->hue == RED && n < 0' -- "$dir/shapes"
	is "$how: members" "$status $(shapes draw | grep name= | head -n 1)" \
		'0 s->name="one" s->at={x=1,y=-2} x=1 s->hue=RED s->bytes={1,2,3,255} w=0xff030201 s->size=-0.5 s->filled=false s->tag="eightlon"'
	like "$how: each of what is not there" "$(shapes draw | tail -n 1)" '^s->name=0x0 s->at=<bad address 0x8> .* s->tag=0x[0-9a-f]+$'
	like "$how: a whole struct, an enumeration, a condition on members" "$(shapes draw | grep n=)" \
		'^\*s->next=\{name=0x[0-9a-f]+,at=\{x=3,y=-4\},hue=BLUE,bytes=\{9,8,7,6\},word=101124105,size=2.5,filled=true,tag="tag",next=0x0\} n=-7 hue=GREEN words\[1\]="b"$'
	is "$how: once" "$(shapes draw | grep -c n=-7)" 1
	run trace -q -o "$dir/lines" 'add(a, f, seventh, eighth)' 'hidden(level)' -- "$dir/shapes"
	is "$how: on the stack, too, and of a static function" "$(shapes add) $(shapes hidden)" 'a=1 f=6 seventh=-7 eighth=8 level=41'
	run stat -q -o "$dir/counts" 'add if seventh == -7 && eighth > 7' 'draw if s == 0' -- "$dir/shapes"
	is "$how: stat" "$(hits "$dir/counts" shapes:add) $(hits "$dir/counts" shapes:draw)" "1 1"
	run stat -q -o "$dir/counts" 'draw if s->next->name ~ "las*" && s->tag == "eightlo"' 'add if a == 2' -- "$dir/shapes"
	is "$how: strings of members" "$status $(hits "$dir/counts" shapes:draw)" "0 0"
	run stat -q -o "$dir/counts" 'draw if s->next->name ~ "las*" && s->tag ~ "eightlo*"' -- "$dir/shapes"
	is "$how: strings of members that hold" "$status $(hits "$dir/counts" shapes:draw)" "0 1"
	run stat -q -o "$dir/counts" 'draw if s->name ~ "*n[a-e]" && s->tag == "eightlon" && !(s->tag ~ "*long")' -- "$dir/shapes"
	is "$how: patterns, and an array of characters without an end" "$status $(hits "$dir/counts" shapes:draw)" "0 1"
	run list -v 'draw' hidden -- "$dir/shapes"
	is "$how: what could be printed" "$(grep values: <<<"$out")" "    values: s->{name, at, hue, bytes, word, size, filled, tag, next}, scale, hue, n, words
    values: level"
	run trace 'copy(s)' -- "$dir/shapes"
	like "$how: a function that returns a struct" "$status $err" '^2 .*returns a struct, are not there yet'
	run trace 'draw(s->nme)' -- "$dir/shapes"
	like "$how: a member that it has not" "$status $err" '^2 .*the struct has name, at, hue, '
	run trace 'draw(what)' -- "$dir/shapes"
	like "$how: a name that it has not" "$status $err" '^2 .*this function has s, scale, hue, n, words;'
done
# Functions of random parameters, whose values the program's source has: VALUES_SEED, VALUES_ROUNDS
seed=${VALUES_SEED:-$RANDOM}
for ((round = 0; round < ${VALUES_ROUNDS:-4}; round++, seed++)); do
	flags=("-O2 -g" "-O1 -gdwarf-4" "-O3 -g" "-O0 -g -fdebug-types-section")
	/usr/bin/python3 tests/tools/random-values.py "$seed" 50 "$dir"
	# shellcheck disable=SC2086
	(cd "$dir" && "${CC:-gcc}" -w ${flags[round % 4]} -o random random.c)
	mapfile -t specs <"$dir/specs"
	"$DPROBES" trace -q -o "$dir/lines" "${specs[@]}" -- "$dir/random" >/dev/null 2>"$dir/err"
	sed 's/^.* random random://' "$dir/lines" >"$dir/got"
	is "seed $seed, ${flags[round % 4]}: $(grep -o ' v[0-9]*=' "$dir/wanted" | wc -l) values are those of the source" \
		"$(diff "$dir/got" "$dir/wanted" | head -n 4)$(head -n 3 "$dir/err")" ""
done
run trace --json -q -o "$dir/lines" 'draw(*s->next, s->at)' -- "$dir/shapes"
is "JSON has objects" "$(head -n 1 "$dir/lines" | grep -o '"args".*' | sed 's/"name":"0x[0-9a-f]*"/"name":P/')" \
	'"args":{"*s->next":{"name":P,"at":{"x":3,"y":-4},"hue":3,"bytes":[9,8,7,6],"word":101124105,"size":2.5,"filled":true,"tag":"tag","next":"0x0"},"s->at":{"x":1,"y":-2}}}'
run trace -f 'draw(s)' -- "$dir/shapes"
like "with -f it is refused by name" "$status $err" '^2 .*with -f, names of debug information are not there yet'
run trace 'draw+4(s)' -- "$dir/shapes"
like "not in the middle of a function" "$status $err" '^2 .*names are those of one function, at its entry'
strip "$dir/shapes"
run trace 'main(argc)' -- "$dir/calls"
like "without debug information it says which is missing" "$status $err" '^2 .*no names are known; its debug information is not installed \(package'
plan
