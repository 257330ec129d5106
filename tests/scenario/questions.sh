#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The files of specs among the examples find what they look for, in programs that have it.
. tests/scenario/lib.sh
armed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q libc; }
questions=$PWD/examples/questions
# asked VERB NAME ARGS...: sets $out and $err
asked() {
	local verb=$1 name=$2
	shift 2
	"$DPROBES" "$verb" "@$questions/$name.specs" "$@" >"$dir/out" 2>"$dir/err"
	out=$(cat "$dir/out") err=$(cat "$dir/err")
}
gcc -g -O2 -pthread -o "$dir/server" "$questions/server.c"

# Every fifth answer is not freed, and there are two threads.
asked leaks leaks --block -- "$dir/server"
want=$(awk 'BEGIN { for (i = 0; i < 200; i++) if (i % 7 && i % 5 == 0) { n += 2; s += 2 * 64 * 2 ^ (i % 6) } print n "  sum(size)=" s }')
is "leaks" "$(grep -B2 'server:answer' <<<"$out" | head -n 1)" "$want  r:libc.so.6:malloc(retval, size) if retval != 0"

asked stat locks -- "$dir/server"
like "lock waits: of which mutex, who has it, who waits" "$out" '^ +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]*  0x[0-9a-f]+ <lock> +[1-9][0-9]* +server:handle\+0x[0-9a-f]+$'
like "and nobody else" "$(grep -c 'server:handle' <<<"$out") $(grep -c '<lock>' <<<"$out")" '^([23]) \1$'

cat >"$dir/fds.c" <<'EOF'
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
__attribute__((noipa)) int forgets(void) { int fd = socket(AF_UNIX, SOCK_STREAM, 0); __asm__ volatile(""); return fd; }
int main(void)
{
	close(open("/dev/null", O_RDONLY));
	for (volatile int i = 0; i < 3; i++)
		forgets();
	return 0;
}
EOF
gcc -O1 -o "$dir/fds" "$dir/fds.c"
asked leaks descriptors -- "$dir/fds"
is "descriptors: how many, of what" "$(grep '^[0-9]' <<<"$out")" "3  r:libc.so.6:socket(retval) if retval >= 0"
like "descriptors: who" "$out" '^    fds:forgets\+0x'

mkfifo "$dir/late"
cat "$dir/late" >/dev/null &
victim=$!
pids+=("$victim")
exec 6>"$dir/late"
poll 10 asleep "$victim"
"$DPROBES" trace --stack "@$questions/slow-reads.specs" -p "$victim" 6>&- >"$dir/out" 2>"$dir/err" &
tool=$!
pids+=("$tool")
poll 20 armed "$victim"
# The first one began before there was a probe.
echo first >&6
sleep 0.2
echo second >&6
exec 6>&-
wait "$tool"
like "slow reads: one" "$(grep -v '^    ' "$dir/out")" '^[0-9:.]+ [0-9]+ [0-9]+ cat r:libc\.so\.6:read fd=3 nbytes=131072 = 7 <0\.[0-9]+>$'
# But the one that finds the end, where that comes late.
is "slow reads: no other" "$(grep -v '^    ' "$dir/out" | grep -vc ' = 0 <')" 1
like "slow reads: who waits" "$(cat "$dir/out")" '^    libc\.so\.6:__libc_start_main'

cat >"$dir/throws.cc" <<'EOF'
#include <stdexcept>
struct mine { int n; };
__attribute__((noipa)) static int check(int n) { if (n % 3 == 0) throw std::runtime_error("three"); if (n == 4) throw mine{ n }; return n; }
int main() { int sum = 0; for (int i = 1; i < 10; i++) try { sum += check(i); } catch (...) { } return sum != 19; }
EOF
g++ -g -O1 -o "$dir/throws" "$dir/throws.cc"
asked stat throws -- "$dir/throws"
is "who throws what" "$(grep -E '^type|throws:check' <<<"$out" | sed 's/+0x.*//')" 'type="St13runtime_error"  count()=3
    throws:check
type="4mine"  count()=1
    throws:check'

asked stat types -- /usr/bin/python3 -c 'class Thing: pass
kept = [Thing() for i in range(1234)]
more = [[] for i in range(4321)]'
like "objects of a class of Python" "$out" '^ +1234  "Thing"$'
like "and of one that is built in" "$out" '^ +(43[2-9][0-9]|4[4-9][0-9][0-9])  "list"$'

lacking=
for f in "$questions"/*.specs; do
	grep -q "$(basename "$f")" examples/questions/README.md || lacking+=" $f"
done
is "each is on the page" "$lacking" ""
plan
