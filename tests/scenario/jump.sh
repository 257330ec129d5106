#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Jumps of five bytes, written into code that other threads are executing.
. tests/scenario/lib.sh
toggles=${TOGGLES:-10000}
ulimit -c 0

# reach WHAT AT_LEAST OPTION... -- CMD...: of 10,000 so many can be jumps
reach() {
	local what=$1 least=$2 armed=0 jumps=0 share
	shift 2
	read -r armed jumps < <(timeout 600 "$TOOLS/arm-all" "$@" 2>&1 >/dev/null </dev/null |
		awk '/armed/ { print $1, $(NF - 1) }')
	share=$((armed ? jumps * 10000 / armed : 0))
	printf -v what '%s: %d of %d are jumps, %d.%02d %%' "$what" "$jumps" "$armed" $((share / 100)) $((share % 100))
	if [ "$share" -ge "$least" ]; then ok "$what"; else not_ok "$what"; fi
}
# entries NAME MODULE AT_LEAST CMD...
entries() {
	local name=$1 module=$2 least=$3
	shift 3
	reach "$name, function entries" "$least" -e -j interior -m "$module" -- "$@"
}
entries "git" git 10000 git --version
entries "libsqlite3" 'libsqlite3*' 10000 sqlite3 :memory: 'select 1'
entries "libstdc++" 'libstdc++*' 10000 "$VICTIMS/thrower"
entries "libc" libc.so.6 9980 "$VICTIMS/busy" 1 1
if command -v node >/dev/null; then entries "node" node 9990 node -e 0
else skip "node, function entries" "node is not there"; fi
# One in 16 of libc's instructions: about 20,000
reach "libc, instructions by chance" 9900 -n 16 -j interior -- "$VICTIMS/busy" 1 1

# Of what is read only, and executed meanwhile. [rows 279, 280]
# toggled STRATEGY CMD...: while probes come and go the program finds its results right
toggled() {
	local how=$1
	shift
	timeout 600 "$TOOLS/toggle" -j "$how" -t "$toggles" -- "$@" >"$dir/out" 2>"$dir/err"
	like "$how, $toggles toggles under ${*##*/}" "$? $(tail -n 1 "$dir/err")" \
		"^0 9[0-9]* sites, [1-9].* $toggles toggles, [1-9][0-9]{3}"
}
for how in interior quiesce trap; do
	toggled $how "$VICTIMS/storm" -t 4
	toggled $how "$VICTIMS/storm" -t 4 -b
	toggled $how "$VICTIMS/storm" -t 4 -c -f
	toggled $how "$VICTIMS/storm" -t 4 -b -c -f
done

# The proof proves something: without breakpoints, and without a stop, it does not go well.
cat >"$dir/inner.c" <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int stop;
static void end(int sig)
{
	stop = 1;
}
long work(void);
/* It is in the middle of something nearly always, and of nothing that could fault. */
__asm__(".text\n.globl work\n.type work, @function\nwork: .cfi_startproc\n xor %eax, %eax\n"
	".rept 64\n inc %eax\n.endr\n ret\n.cfi_endproc\n.size work, . - work\n");
static void *run(void *arg)
{
	while (!stop)
		if (work() != 64)
			_exit(1);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	signal(SIGTERM, end);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
EOF
cc -O2 -pthread -o "$dir/inner" "$dir/inner.c"
"$TOOLS/toggle" -m inner -i 1 -t 10000 -- "$dir/inner" >"$dir/out" 2>"$dir/err"
is "a program that is in the middle of a jump nearly always" "$?" 0
# Sites side by side would be breakpoints, because no thread may come out of a copy into a jump.
end=$((SECONDS + 120))
for ((i = 0; SECONDS < end; i++)); do
	"$TOOLS/toggle" -B -m inner -i 12 -t 100000 -- "$dir/inner" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 0 ] || break
done
if [ $status -ne 0 ]; then ok "a broken protocol breaks the program (status $status, run $((i + 1)))"
else not_ok "a broken protocol breaks the program"; fi

# Whoever comes to the middle of a jump is sent on, and it is told.
cat >"$dir/middle.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
long work(long n);
/* A loop whose head lies in the first five bytes of the function. */
__asm__(".text\n.globl work\n.type work, @function\nwork: xor %eax, %eax\n"
	"1: add %rdi, %rax\n dec %rdi\n jnz 1b\n ret\n.size work, . - work\n");
int main(int argc, char **argv)
{
	printf("%ld\n", work(atol(argv[1])));
}
EOF
gcc -O1 -o "$dir/middle" "$dir/middle.c"
out=$("$DPROBES" stat -v work -- "$dir/middle" 1000 2>"$dir/err")
like "a branch into the middle of a jump" "$out" '500500'
like "the probe is a jump, and counts once" "$out" ' 1 +0  jump  middle:work'
like "the summary says what it costs" "$(cat "$dir/err")" ', 999 traps in the middle of a jump; '
out=$(DPROBES_ARM=quiesce "$DPROBES" stat -v work -- "$dir/middle" 1000 2>"$dir/err")
like "by quiesce it is a breakpoint" "$out" ' 1 +0  trap  middle:work .*branches'
like "DPROBES_ARM" "$(DPROBES_ARM=magic "$DPROBES" stat work -- "$dir/middle" 1 2>&1)" 'interior, quiesce or trap'
plan
