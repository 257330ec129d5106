#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dprobes doctor: real obstacles, each named with what would help, and the same
# answer as an attach gives.
. tests/scenario/lib.sh

chmod 755 "$dir"
cp "$DPROBES" "$dir/dprobes" && chmod 755 "$dir/dprobes"
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

cat >"$dir/victim.c" <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { 1, &allow };
	if (argc > 1 && !strcmp(argv[1], "hidden"))
		prctl(PR_SET_DUMPABLE, 0);
	if (argc > 1 && !strcmp(argv[1], "confined") &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)))
		return 1;
	if (argc > 1 && !strcmp(argv[1], "parent") && fork() == 0)
		return 0;
	write(1, "ready\n", 6);
	while (!pause())
		;
	return pause();
}
END
cc -O1 -w -o "$dir/victim" "$dir/victim.c" || exit 1
chmod 755 "$dir/victim"
end() { kill -KILL "$victim"; wait "$victim" 2>/dev/null; }

# doctor ARGS...: sets $out $status
doctor() {
	out=$("${user[@]}" "$dir/dprobes" doctor "$@" 2>&1)
	status=$?
}
# An attach, which has to agree.
attaches() {
	"${user[@]}" "$dir/dprobes" stat -q -o /dev/null --duration 1ms "${probed:-libc.so.6:malloc}" -p "$1" >/dev/null 2>&1
	echo $?
}
# finds NAME PID STATUS PATTERN...: a line for each pattern, and the answer
finds() {
	local name=$1 pid=$2 wanted=$3 can="can be probed" p
	shift 3
	[ "$wanted" = 0 ] || can="cannot be probed"
	doctor -p "$pid"
	is "$name: the answer" "$status $(tail -n 1 <<<"$out")" "$wanted process $pid $can"
	for p in "$@"; do like "$name: ${p%%:*}" "$out" "^$p"; done
	is "$name: an attach agrees" "$(attaches "$pid")" "$wanted"
}

user=()
doctor
is "the machine" "$status $(tail -n 1 <<<"$out")" "0 processes can be probed on this machine"
like "the kernel" "$out" "^ok +kernel: Linux $(uname -r) on x86_64$"
like "who asks" "$out" "^ok +you: uid $(id -u), with(out)? CAP_SYS_PTRACE: "
for f in pidfd membarrier memfd process_vm_readv wipe-on-fork write-to-text; do
	like "$f" "$out" "^ok +$f: works$"
done
doctor -q
is "quiet, and nothing in the way" "$status $out" "0 processes can be probed on this machine"
doctor libc.so.6:malloc
like "a SPEC is a mistake" "$status $out" '^2 dprobes: doctor takes no SPEC'

start "$dir/victim"
maps_of "$victim" >"$dir/maps"
finds "nothing in the way" "$victim" 0 'ok +user: it belongs to uid [0-9]+, as whom you are running$' \
	'ok +tracer: nobody traces it$' 'ok +seccomp: none$' 'ok +program: .*/victim is a 64-bit program$' \
	'ok +ptrace: the kernel permits it$' 'ok +attach: nothing is in the way$'
doctor --json -p "$victim"
if command -v python3 >/dev/null; then
	is "JSON" "$status $(python3 -c '
import json, sys
facts = [json.loads(l) for l in sys.stdin]
print(all(set(f) == {"check", "state", "text", "remedy"} for f in facts[:-1]), facts[-1])' <<<"$out")" \
		"0 True {'check': 'verdict', 'state': 'ok', 'pid': $victim}"
else
	skip "JSON" "there is no python3"
fi
is "nothing was touched" "$(maps_of "$victim" | diff "$dir/maps" -)" ""

kill -STOP "$victim"
poll 10 grep -q '^State:.T' "/proc/$victim/status"
doctor -p "$victim"
like "stopped" "$status $out" 'note +state: it is stopped; send it SIGCONT for anything to be seen'
kill -CONT "$victim"

"$DPROBES" stat -q -o /dev/null libc.so.6:malloc -p "$victim" &
tracer=$!
pids+=("$tracer")
poll 10 sh -c "'$DPROBES' list -p $victim | grep -q malloc"
finds "probed already" "$victim" 1 "no +probes: dprobes $tracer probes it already \(1 probes\); end that one first: kill -INT $tracer\$"
interrupt "$tracer"

for t in strace gdb; do
	if ! command -v $t >/dev/null; then
		for i in 1 2 3; do skip "traced by $t, $i" "there is no $t"; done
		continue
	fi
	if [ $t = strace ]; then
		strace -o /dev/null -p "$victim" 2>/dev/null &
	else
		gdb -q -batch -ex 'shell sleep 600' -p "$victim" >/dev/null 2>&1 &
	fi
	tracer=$!
	pids+=("$tracer")
	poll 20 grep -q '^TracerPid:.[1-9]' "/proc/$victim/status"
	traced=$(sed -n 's/^TracerPid:.//p' "/proc/$victim/status")
	finds "traced by $t" "$victim" 1 "no +tracer: it is being traced by process $traced \($t\); end process $traced, or have it detach\$"
	pkill -KILL -P "$tracer" 2>/dev/null
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	poll 10 grep -q '^TracerPid:.0' "/proc/$victim/status"
done
end

start "$dir/victim" confined
finds "seccomp" "$victim" 0 'note +seccomp: it runs under seccomp: a filter' \
	'note +no-new-privs: set, which probes do not mind$'
end

start "$dir/victim" parent
poll 10 sh -c "grep -qs '^State:.Z' /proc/\$(pgrep -P $victim)/status"
finds "a zombie" "$(pgrep -P "$victim")" 1 'no +process: it has ended, and its parent has not waited for it'
end

finds "a process that is not there" 99999999 1 'no +process: there is no process 99999999; '
thread=$(awk '$2 ~ /kthreadd/ { print $1 }' /proc/[0-9]*/stat 2>/dev/null | head -n 1)
if [ -n "$thread" ]; then
	finds "a kernel thread" "$thread" 1 "no +process: it is a kernel thread; "
else
	for i in 1 2 3; do skip "a kernel thread, $i" "none is seen here"; done
fi

# Without libc, so that no 32-bit one has to be there.
echo 'void _start(void) { for (;;) __asm__(""); }' >"$dir/small.c"
for bits in 32 64; do
	if ! cc -m$bits -nostdlib -static -o "$dir/small" "$dir/small.c" 2>/dev/null; then
		for i in 1 2 3; do skip "$bits bits, no libc, $i" "it cannot be built"; done
		continue
	fi
	"$dir/small" 2>/dev/null &
	victim=$!
	pids+=("$victim")
	runs() { [ "$(readlink "/proc/$victim/exe")" = "$dir/small" ]; }
	poll 10 sh -c "! kill -0 $victim || [ \"\$(readlink /proc/$victim/exe)\" = '$dir/small' ]" 2>/dev/null
	if ! runs; then
		for i in 1 2 3; do skip "$bits bits, no libc, $i" "this kernel runs no such program"; done
		continue
	fi
	[ $bits = 32 ] && words="is a 32-bit program" || words="is a 64-bit program"
	probed=_start
	finds "$bits bits, no libc" "$victim" "$([ $bits = 32 ] && echo 1 || echo 0)" \
		"(no|ok|note) +program: .*/small $words"
	probed=
	end
done

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	start "$dir/victim"
	user=("${as_nobody[@]}")
	finds "another user's" "$victim" 1 \
		"no +user: it belongs to uid 0 and you are uid 65534; become that user \(sudo -u root\) or root, or get CAP_SYS_PTRACE\$" \
		'no +capabilities: it has capabilities that you have not'
	end
	start "${as_nobody[@]}" "$dir/victim"
	# The victim is no child of the tool, and has allowed nobody to trace it.
	scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
	finds "one's own, as an ordinary user" "$victim" "$((scope > 0))" \
		'ok +user: it belongs to uid 65534, as whom you are running$' "$([ "$scope" -gt 0 ] && echo no || echo ok) +yama: "
	end
	start "${as_nobody[@]}" "$dir/victim" hidden
	finds "one's own that hides" "$victim" 1 \
		'no +dumpable: it is not dumpable .*; become root, or get CAP_SYS_PTRACE$'
	user=()
	finds "which root sees" "$victim" 0 'note +dumpable: '
	end
else
	skip "other users" "needs root and setpriv to be somebody else"
fi

if unshare -Ur true 2>/dev/null; then
	start unshare -U "$dir/victim"
	finds "a user namespace" "$victim" "$([ "$(id -u)" = 0 ] && echo 0 || echo "$((${scope:-0} > 0))")" \
		'note +namespaces: it has its own: user'
	end
else
	for i in 1 2 3; do skip "a user namespace, $i" "none can be made here"; done
fi
plan
