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
		'^\*s->next=\{name="last",at=\{x=3,y=-4\},hue=BLUE,bytes=\{9,8,7,6\},word=101124105,size=2.5,flag=1,filled=true,tag="tag",next=0x0\} n=-7 hue=GREEN words\[1\]="b"$'
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
	is "$how: what could be printed" "$(grep values: <<<"$out")" "    values: s->{name, at, hue, bytes, word, size, flag, filled, tag, next}, scale, hue, n, words
    values: level"
	run trace -q -o "$dir/lines" 'copy(s->name)' -- "$dir/shapes"
	is "$how: a function that returns a struct" "$(shapes copy)" 's->name="one"'
	run trace 'draw(s->nme)' -- "$dir/shapes"
	like "$how: a member that it has not" "$status $err" '^2 .*the struct has name, at, hue, '
	run trace 'draw(what)' -- "$dir/shapes"
	like "$how: a name that it has not" "$status $err" '^2 .*this function has s, scale, hue, n, words;'
done
# Functions of random parameters, whose values the program's source has: VALUES_SEED, VALUES_ROUNDS
seed=${VALUES_SEED:-$RANDOM}
for ((round = 0; round < ${VALUES_ROUNDS:-6}; round++, seed++)); do
	flags=("-O2 -g" "-O1 -gdwarf-4" "-O3 -g" "-O0 -g -fdebug-types-section" "-O2 -gdwarf-3" "-O1 -gdwarf-2")
	/usr/bin/python3 tests/tools/random-values.py "$seed" 50 "$dir"
	# shellcheck disable=SC2086
	(cd "$dir" && "${CC:-gcc}" -w ${flags[round % 6]} -o random random.c)
	mapfile -t specs <"$dir/specs"
	"$DPROBES" trace -q -o "$dir/lines" "${specs[@]}" -- "$dir/random" >/dev/null 2>"$dir/err"
	sed 's/^.* random random://; s/0x[0-9a-f]*/P/g' "$dir/lines" >"$dir/got"
	is "seed $seed, ${flags[round % 6]}: $(grep -o ' v[0-9]*=' "$dir/wanted" | wc -l) values are those of the source" \
		"$(diff "$dir/got" "$dir/wanted" | head -n 4)$(head -n 3 "$dir/err")" ""
done
run trace --json -q -o "$dir/lines" 'draw(*s->next, s->at)' -- "$dir/shapes"
is "JSON has objects" "$(head -n 1 "$dir/lines" | grep -o '"args".*')" \
	'"args":{"*s->next":{"name":"last","at":{"x":3,"y":-4},"hue":3,"bytes":[9,8,7,6],"word":101124105,"size":2.5,"flag":1,"filled":true,"tag":"tag","next":"0x0"},"s->at":{"x":1,"y":-2}}}'
# Names anywhere in a function: the program prints what it has at the labels that it exports.
cat >"$dir/places.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; int v; const char *name; };
typedef struct node node_t;
struct pair { long a; int b; };
struct reals { double x, y; };
struct big { long a[5]; };
enum colour { RED = 1, GREEN = 5 };
enum colour hue = GREEN;
node_t *list;
static long secret = 99;
__thread int own = 3;
#define KEPT __attribute__((noinline, noclone, noipa))
#define HERE(name) __asm__ volatile(".globl " #name "\n.type " #name ", @function\n" #name ": nop" ::: "memory")
KEPT long work(struct pair p, int n, struct big b, const char *s, struct reals r, float f)
{
	long total = secret++;
	for (int i = 0; i < n; i++) {
		int square = i * i;
		total += square + b.a[i] + own;
		HERE(inner);
		printf("inner i=%d square=%d total=%ld\n", i, square, total);
	}
	{
		const char *s = "inner";
		HERE(shadow);
		printf("shadow s=\"%s\" n=%d\n", s, n);
		printf("%ld\n", p.a);
	}
	return total + (long)strlen(s) + (long)(r.x + r.y + f);
}
KEPT struct big make(int x, struct pair p) { return (struct big){ { x, p.a } }; }
int main(int argc, char **argv)
{
	struct node last = { 0, 2, "two" }, first = { &last, 1, "one" };
	struct big b = { { 1, 2, 3, 4, 5 } };

	list = &first;
	setbuf(stdout, NULL);
	b = make((int)work((struct pair){ 11, 22 }, 3, b, "hello", (struct reals){ 1.5, -2.5 }, 0.25f), (struct pair){ 33, 44 });
	if (argc == 2 && !fork())
		execl(argv[1], argv[1], NULL);
	return b.a[1] != 33;
}
END
places() { sed -n "s/.* places:$1 //p" "$dir/lines"; }
printed() { sed -n "s/^$1 //p" "$dir/printed"; }
for flags in "-O2 -g" "-O0 -g" "-O1 -g -gdwarf-4 -fno-pie -no-pie"; do
	# shellcheck disable=SC2086
	"${CC:-gcc}" -w $flags -o "$dir/places" "$dir/places.c"
	"$DPROBES" trace -q -o "$dir/lines" 'inner(i, square, total)' 'shadow(s, n)' -- "$dir/places" >"$dir/printed" 2>"$dir/err"
	is "$flags: locals and parameters in the middle of a function" "$(places inner) $(cat "$dir/err")" "$(printed inner) "
	is "$flags: the innermost of a name" "$(places shadow)" "$(printed shadow)"
	run trace -q -o "$dir/lines" 'work(p, p.b, n, b, s, r, r.y, f, hue, secret, list->next->name)' \
		'make(x, p, (enum colour)x, v=((struct node *)list)->v, w=((node_t *)list)->next->name)' -- "$dir/places"
	is "$flags: parameters by the whole ABI, and globals" "$status $(places work)" \
		'0 p={a=11,b=22} p.b=22 n=3 b={a={1,2,3,4,5}} s="hello" r={x=1.5,y=-2.5} r.y=-2.5 f=0.25 hue=GREEN secret=99 list->next->name="two"'
	like "$flags: of a function that returns a struct in memory, and casts to types of the program" "$(places make)" \
		'^x=1[0-9]+ p=\{a=33,b=44\} \(enum colour\)x=1[0-9]+ v=1 w="two"$'
	run trace 'work(own)' -- "$dir/places"
	like "$flags: thread-local" "$status $err" '^2 dprobes: own is of each thread its own'
	run stat -q -o "$dir/counts" 'inner if square == 4 && b.a[2] == 3' 'work if f == 0.25 && r.x > 1.0' -- "$dir/places"
	is "$flags: conditions" "$status $(hits "$dir/counts" places:inner) $(hits "$dir/counts" places:work)" "0 1 1"
done
"${CC:-gcc}" -w -O2 -g -o "$dir/places" "$dir/places.c"
run trace 'work(total)' -- "$dir/places"
like "what is not there yet, and where it is" "$status $err" '^2 dprobes: total is optimised out here; it is known from work\+0x[0-9a-f]+ to \+0x'
like "its caret" "$err" '^       \^~~~~$'
run trace 'shadow(p.a)' -- "$dir/places"
like "pieces that GCC says to be where something else is" "$status $err" '^2 dprobes: p is (in pieces here that GCC does not follow|optimised out)'
run list -v work -- "$dir/places"
like "list: values" "$out" 'values: p\.\{a, b\}, n, b\.\{a\}, s, r\.\{x, y\}, f'
like "list: what has none" "$out" 'without a value here: .*total'
"${CC:-gcc}" -w -O0 -g -o "$dir/bare" "$dir/places.c"
run trace 'work+1(n)' -- "$dir/bare"
like "before the frame is built" "$status $err" "^2 dprobes: n is not in its place here: the function's frame is not built yet"
run trace 'r:work(v=retval + secret)' -- "$dir/places"
like "a variable at the return" "$status $err" '^2 dprobes: this is read at the entry, retval at the return'
run trace 'work((struct nothing *)s)' -- "$dir/places"
like "a type that it has not" "$status $err" '^2 dprobes: no type of this name is known of the program'
# Two functions of a name: each has its own types and places
cat >"$dir/one.c" <<'END'
struct item { int a; long b; };
static __attribute__((noinline, noipa)) long same(struct item *p, int only) { return p->b + only; }
extern long two(void);
struct hidden;
extern struct hidden *make(void);
__attribute__((noinline, noipa)) int use(struct hidden *h) { return h != 0; }
int main(void) { use(make()); struct item i = { 1, 2 }; return same(&i, 5) + two() != 12; }
END
cat >"$dir/two.c" <<'END'
struct item { long b; char pad[40]; int a; };
struct hidden { int first; struct item item; };
struct hidden *make(void) { static struct hidden h = { 77, { 88 } }; return &h; }
static __attribute__((noinline, noipa)) long same(int n, struct item *p) { return p->b + n; }
long two(void) { struct item i = { 3, "", 4 }; return same(2, &i); }
END
"${CC:-gcc}" -w -O2 -g -o "$dir/both" "$dir/one.c" "$dir/two.c"
run trace 'same(p->a)' -- "$dir/both"
one=$(sed -n 's/^ *\([^ ]*\) *(one.c)$/\1/p' <<<"$err") two=$(sed -n 's/^ *\([^ ]*\) *(two.c)$/\1/p' <<<"$err")
run trace -q -o "$dir/lines" "$one(p->a, p->b, only)" "$two(p->a, p->b, n)" -- "$dir/both"
is "functions of a name, by their offsets" "$status $(sed 's/.* both:[^ ]* //' "$dir/lines")" "0 p->a=1 p->b=2 only=5
p->a=4 p->b=3 n=2"
run trace -q -o "$dir/lines" 'use(h->first, h->item.b)' -- "$dir/both"
is "a struct that is defined elsewhere" "$status $(sed 's/.* both:use //' "$dir/lines")" "0 h->first=77 h->item.b=88"
# With -f: the same file, and another build of it
sed 's/struct pair { long a; int b; }/struct pair { int b; long a; }/; s/{ 11, 22 }/{ 22, 11 }/; s/{ 33, 44 }/{ 44, 33 }/' "$dir/places.c" >"$dir/other.c"
mkdir -p "$dir/other"
"${CC:-gcc}" -w -O1 -g -o "$dir/other/places" "$dir/other.c"
for to in places other/places; do
	run trace -f -q -o "$dir/lines" 'work(p.a, p.b, n, secret)' -- "$dir/places" "$dir/$to"
	is "with -f, $to" "$status $(places work | sort | uniq -c | sed 's/^ *//')" "0 2 p.a=11 p.b=22 n=3 secret=99"
done
# Pointers that lead to variables have their names behind them.
cat >"$dir/aims.c" <<'END'
struct node { int v; } fixed[4];
static long word = 1;
__attribute__((noinline, noipa)) void aim(struct node *n, long *w, struct node *none, struct node *own) { }
int main(void) { struct node own; aim(&fixed[2], &word, 0, &own); return 0; }
END
"${CC:-gcc}" -w -O1 -g -o "$dir/aims" "$dir/aims.c"
for how in whole stripped; do
	[ $how = whole ] || { objcopy --only-keep-debug "$dir/aims" "$dir/aims.debug" && strip "$dir/aims" &&
		objcopy --add-gnu-debuglink="$dir/aims.debug" "$dir/aims"; }
	run trace 'aim(n, w, none, own)' -- "$dir/aims"
	is "$how: pointers to variables" "$status $(sed 's/.* aims:aim //; s/=0x[1-9a-f][0-9a-f]*/=P/g' <<<"$out")" \
		"0 n=P <fixed+0x8> w=P <word> none=0x0 own=P"
done
run trace --json 'aim(n)' -- "$dir/aims"
like "JSON has the address alone" "$out" '"args":\{"n":"0x[0-9a-f]+"\}'
if command -v gdb >/dev/null; then
	"${CXX:-g++}" -w -O2 -g -o "$dir/values" tests/victims/values.cc
	# Others are drawn by gdb-values.sh, under `make stress`.
	seed=${VALUES_SEED:-5555}
	timeout 200 /usr/bin/python3 tests/tools/gdb-values.py "$DPROBES" "$seed" 12 "$dir" values "$dir/values" >"$dir/said" 2>&1
	like "seed $seed: as gdb has them: $(head -n 1 "$dir/said")" "$(grep -c ': dprobes .*, gdb ' "$dir/said") $(head -n 1 "$dir/said")" '^0 .*[1-9][0-9]* equal'
else
	skip "as gdb has them" "there is no gdb"
fi
strip "$dir/shapes"
run trace 'main(argc)' -- "$dir/calls"
like "without debug information it says which is missing" "$status $err" '^2 .*no names are known; its debug information is not installed \(package'
plan
