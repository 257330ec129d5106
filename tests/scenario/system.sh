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
	says 2 'that first' "$verb" --pending kernel:vfs_read
	says 2 'kernel, whose debug information is not read' "$verb" --inlined kernel:vfs_read
	says 2 'debug information is not read: write arg0' "$verb" 'kernel:vfs_read if count > 5'
	says 2 'other probes than plain ones.*not there yet' "$verb" r:kernel:vfs_read
	says 2 'other probes than plain ones.*not there yet' "$verb" w:kernel:jiffies
	says 2 'not FUNCTION or FUNCTION.OFFSET' "$verb" kernel:0xffffffff81000000
done
says 2 'in braces, are not there yet' stat 'kernel:vfs_read{count() by arg0}'
says 2 'leave --stack away' trace --stack kernel:vfs_read
says 2 'leave --block and --buffer away' trace --block kernel:vfs_read
says 2 'for dprobes stat, trace and list so far' stacks kernel:vfs_read -- true
plan
