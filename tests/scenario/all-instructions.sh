#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A probe on every instruction: whatever runs, runs from its copy. [row 255]
. tests/scenario/lib.sh
export PYTHONHASHSEED=0 LC_ALL=C
executed=0

# all NAME MODULE AT_LEAST CMD...: the output is that of an unprobed run
# logged NAME…: the same with a record for each instruction, when it has completed
logged() { how="${how:-} -l" all "$@"; }
# some NAME…: the same for some instructions only, as breakpoints cost microseconds; EVERY=1: for all
some() { how="${how:-} -n ${EVERY:-10}" "$@"; }
# jumped HOW…: the same in jump mode
jumped() { how="-j $1" "${@:2}"; }
all() {
	local name=$1 module=$2 least=$3 wanted got status armed
	shift 3
	wanted=$("$@" 2>/dev/null | cksum)
	got=$(timeout 600 "$TOOLS/arm-all" ${how:-} -m "$module" -- "$@" 2>"$dir/err" | cksum; exit "${PIPESTATUS[0]}")
	status=$?
	armed=$(tail -n 1 "$dir/err" | awk '{ print $1 }')
	if [ "$status" -eq 0 ] && [ "$got" = "$wanted" ] && [ "${armed:-0}" -ge "$least" ]; then
		ok "$name: $(tail -n 1 "$dir/err")"
		executed=$((executed + $(tail -n 1 "$dir/err" | awk '{ print $3 }')))
	else
		not_ok "$name" "status $status" "$(cat "$dir/err")" "output $got, unprobed $wanted"
	fi
}

all "libc under a self-checking program" libc.so.6 300000 "$VICTIMS/busy" 1 20
all "the text of python3" 'python3*' 300000 /usr/bin/python3 --version
some all "the text of python3 at work" 'python3*' 30000 /usr/bin/python3 -I -S -c 'print(sum(range(10)))'
all "libsqlite3" 'libsqlite3*' 100000 sqlite3 :memory: 'select count(*), max(1), upper("a")'
all "git" git 100000 git --version
all "libstdc++ with exceptions" 'libstdc++*' 100000 "$VICTIMS/thrower"
logged "libc, with records" libc.so.6 300000 /usr/bin/sort /etc/services
logged "libc, with records, under a self-checking program" libc.so.6 300000 "$VICTIMS/busy" 1 4
some logged "libstdc++ with exceptions, with records" 'libstdc++*' 10000 "$VICTIMS/thrower"
logged "git, with records" git 100000 git --version
jumped interior all "libc under a self-checking program, by jumps" libc.so.6 300000 "$VICTIMS/busy" 1 20
jumped interior all "libstdc++ with exceptions, by jumps" 'libstdc++*' 100000 "$VICTIMS/thrower"
jumped interior all "libsqlite3, by jumps" 'libsqlite3*' 100000 sqlite3 :memory: 'select count(*), max(1), upper("a")'
jumped interior logged "git, by jumps, with records" git 100000 git --version
jumped interior logged "libc, by jumps, with records" libc.so.6 300000 /usr/bin/sort /etc/services
if [ "$executed" -ge 20000 ]; then ok "$executed distinct instructions were executed from their copies"
else not_ok "only $executed distinct instructions were executed from their copies"; fi
plan
