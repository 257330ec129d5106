#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Specs of the kernel, where it cannot be probed: what is said. tests/kernel/tool_init.c has the others.
. tests/scenario/lib.sh

# says STATUS PATTERN ARGS...: what it is told, and where
says() {
	local status wanted=$1 words=$2

	shift 2
	"$DPROBES" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	like "$*: $words" "$status $(tr '\n' ' ' <"$dir/err")" "^$wanted dprobes: .*$words"
}

if [ -e /dev/dprobes ]; then
	echo "1..0 # SKIP the kernel can be probed"
	exit 0
fi
for verb in stat trace list; do
	says 1 'there is no /dev/dprobes: load dprobes.ko' "$verb" kernel:vfs_read
done
says 1 'there is no /dev/dprobes' stat kernel:ext4:ext4_map+0x4 -- true
says 1 'there is no /dev/dprobes' stat 'kernel:vfs_read if arg2 > 100 && *(u64 *)(arg0 + 8) == 5'
for verb in stat trace; do
	says 2 "leave -p away.*\^~~~~~" "$verb" kernel:vfs_read -p $$
	says 2 'leave -f away' "$verb" -f kernel:vfs_read -- true
	says 2 'take a command each' "$verb" kernel:vfs_read libc.so.6:read -- true
	says 2 'take a command each' "$verb" libc.so.6:read kernel:vfs_read -- true
	says 1 'there is no /dev/dprobes' "$verb" --pending kernel:ext4:ext4_map
	says 2 'kernel, whose debug information is not read' "$verb" --inlined kernel:vfs_read
	says 1 'there is no /dev/dprobes' "$verb" 'kernel:vfs_read if count > 5'
	says 1 'there is no /dev/dprobes' "$verb" r:kernel:vfs_read
	says 1 'there is no /dev/dprobes' "$verb" --maxactive 8192 'r:kernel:vfs_read if (int)retval < 0 || latency > 1ms'
	says 1 'there is no /dev/dprobes' "$verb" 'r:kernel:vfs_read if retval < 0'
	says 2 'a return probe has no offset' "$verb" r:kernel:vfs_read+0x4 -- true
	says 2 '8192 calls are followed at a time' "$verb" --maxactive 8193 r:kernel:vfs_read
	says 2 'not a number of calls' "$verb" --maxactive 0 r:kernel:vfs_read
	says 2 'maxactive is for r:kernel:FUNCTION' "$verb" --maxactive 5 r:libc.so.6:read -- true
	says 2 'does not tell how many bytes a variable has' "$verb" w:kernel:jiffies
	says 2 'not FUNCTION or FUNCTION.OFFSET' "$verb" kernel:0xffffffff81000000
done
says 1 'there is no /dev/dprobes' stat 'r:kernel:vfs_read{hist(latency), max(arg2) by comm} if (long)retval > 0'
says 1 'there is no /dev/dprobes' stat 'kernel:vfs_read{count() by stack}'
says 1 'there is no /dev/dprobes' trace --stack kernel:vfs_read
says 1 'there is no /dev/dprobes' stacks kernel:vfs_read
says 2 'leave -p away' stacks kernel:vfs_read -p $$
says 2 'leave --block and --buffer away' trace --block kernel:vfs_read
says 2 'for dprobes stat, trace, stacks, list and run so far' graph kernel:vfs_read -- true
says 2 'leave --coarse-time away' trace --coarse-time kernel:vfs_read

# program LINE...: a file; runs it
program() {
	printf '%s\n' "name = vmlinux" "modtype = kernel" "$@" >"$dir/p.dp"
}

program 'offset = vfs_read' 'log 0'
says 1 'there is no /dev/dprobes' run "$dir/p.dp"
says 1 'there is no /dev/dprobes' run "$dir/p.dp" -- true
says 1 'without -p PID or -- CMD programs are for the kernel, or for all processes: there is no /dev/dprobes' run examples/fork-kill.dp
says 1 'without -p PID or -- CMD programs are for the kernel, or for all processes: there is no /dev/dprobes' run examples/every-program.dp
says 1 'for the kernel, or for all processes: there is no /dev/dprobes' --insert examples/every-program.dp
says 2 'leave -p away' run "$dir/p.dp" -p $$
says 2 'leave -f away' run -f "$dir/p.dp" -- true
for option in --minidump '--core=core.%p' '--debugger=gdb -p %p'; do
	says 2 'are the kernel.s own: leave --core' run "$option" "$dir/p.dp"
done
says 1 'there is no /dev/dprobes' --insert "$dir/p.dp"
says 2 'leave -p away' --insert "$dir/p.dp" -P $$
printf 'name = libc.so.6\nmodtype = user\noffset = read\nexit\n' >"$dir/user.dp"
says 2 'has the path of its file as its name' run "$dir/p.dp" "$dir/user.dp"
says 2 'has the path of its file as its name; -p PID, or -- CMD' run "$dir/user.dp"

# returns LINE...: a program at returns of the tool itself, in all processes
returns() {
	printf '%s\n' "name = \"$(realpath "$DPROBES")\"" 'modtype = user' "$@" 'retprobe = yes' exit >"$dir/r.dp"
}

returns 'offset = main'
says 1 'there is no /dev/dprobes' run "$dir/r.dp"
returns 'offset = _start'
says 2 'r.dp:3:10: where the function returns is not known: it is not entered there by a call' run "$dir/r.dp"
returns 'offset = main' 'opcode = 0x00'
says 2 'the opcode there is another' run "$dir/r.dp"
printf 'name = kernel\nmodtype = user\noffset = vfs_read\nexit\n' >"$dir/p.dp"
says 2 'p.dp:1:8: .*write modtype = kernel' run "$dir/p.dp"
program 'offset = 0x1000' 'exit'
says 2 'p.dp:3:10: a place in the kernel is a function' run "$dir/p.dp"
program 'address = 0xffffffff81000000' 'exit'
says 2 'a place in the kernel is a function' run "$dir/p.dp"
program 'offset = vfs_read - 4' 'exit'
says 2 'is not before its function' run "$dir/p.dp"
program 'offset = fs.c:12' 'exit'
says 2 'p.dp:3:10: .*debug information is not read' run "$dir/p.dp"
program 'offset = vfs_read' 'retprobe = yes' 'exit'
says 1 'there is no /dev/dprobes' run "$dir/p.dp"
program 'offset = vfs_read + 4' 'retprobe = yes' 'exit'
says 2 'write offset = FUNCTION' run "$dir/p.dp"
program 'offset = jiffies' 'watch = w' 'exit'
says 2 'write len = 1, 2, 4 or 8' run "$dir/p.dp"
program 'offset = jiffies' 'watch = w' 'len = 8' 'exit'
says 1 'there is no /dev/dprobes' run "$dir/p.dp"
program 'comm = bash' 'offset = vfs_read' 'exit'
says 2 'p.dp:1:8: probes in the kernel are everybody' run "$dir/p.dp"
program 'build_id = 0123456789abcdef' 'offset = vfs_read' 'exit'
says 2 'p.dp:3:12: build_id is of files' run "$dir/p.dp"
program 'offset = vfs_read' 'push 1' 'push 2' 'pop mem,u8' 'exit'
says 2 'allow' run "$dir/p.dp"
program 'allow = call' 'offset = vfs_read' 'push 0' 'push 0' 'call_kmod' 'exit'
says 1 'there is no /dev/dprobes' run --allow call "$dir/p.dp"
printf '%s\n' 'name = /bin/true' 'modtype = user' 'major = 1' 'allow = call' 'offset = main' 'push 0' 'call_kmod' 'exit' >"$dir/p.dp"
says 2 'p.dp:7:1: call_kmod calls functions of the kernel.s modules, or of the process' run --allow call "$dir/p.dp"
program 'offset = vfs_read' 'exit'
says 2 'p.dp:1:8: .*insert the file itself' --build-ppdf "$dir/p.dp" -o "$dir/p.ppdf"
plan
