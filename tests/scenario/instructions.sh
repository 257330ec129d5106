#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every encoding shape found in programs compiled from C and C++ does from its copy what it does
# in place.
. tests/scenario/lib.sh
exec timeout 600 "$TOOLS/insn-diff" /lib/x86_64-linux-gnu/libc.so.6 /usr/bin/python3 /usr/bin/node \
	/usr/bin/git /usr/lib/x86_64-linux-gnu/libstdc++.so.6
