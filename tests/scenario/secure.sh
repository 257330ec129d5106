#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that has more rights than its caller does not obey the caller's environment.
. tests/scenario/lib.sh

modules=$PWD/${MODULES:-build/tests/modules}
chmod 755 "$dir"
cp "$TOOLS/secure" "$dir/plain"
cp "$TOOLS/secure" "$dir/suid"
chmod 755 "$dir/plain"
chmod 4755 "$dir/suid"
# As the tool makes it; whoever can make a file can make one of these.
truncate -s 4M "$dir/shared"
chmod 666 "$dir/shared"
order="$dir/shared

$modules/params.so
number=5"
loaded() { # does what a module says when it is loaded stand in the shared file?
	grep -c 'params: 5' "$dir/shared"
}
as() { # VARIABLES... -- COMMAND...: as a user without rights
	local variables=()
	while [ "$1" != -- ]; do variables+=("$1"); shift; done
	shift
	truncate -s 0 "$dir/shared"
	truncate -s 4M "$dir/shared"
	got=$(setpriv --reuid=65534 --regid=65534 --clear-groups env "${variables[@]}" "$@" 2>&1 | tr '\n' ' ')
}

if [ "$(id -u)" -ne 0 ]; then
	skip "a set-user-ID program does not obey the environment" "only root can make one for another user"
	plan
	exit
fi
as -- "$dir/suid"
if [ "${got#secure 1}" = "$got" ]; then
	skip "a set-user-ID program does not obey the environment" "$dir does not honour the bit, or the program cannot run: $got"
	plan
	exit
fi

# What they would do, so that the rest is about something.
as DPROBES_ARM=trap -- "$dir/plain"
is "without rights: the arming is obeyed" "$got" "secure 0 uid 65534 armed by a breakpoint DPROBES_ARM is there "
as "DPROBES_INSMOD=$order" -- "$dir/plain"
is "without rights: the module is loaded" "$(loaded) $got" "1 secure 0 uid 65534 armed by a jump "

as DPROBES_ARM=trap -- "$dir/suid"
is "with rights: the arming is not" "$got" "secure 1 uid 0 armed by a jump "
as "DPROBES_INSMOD=$order" -- "$dir/suid"
is "with rights: the module is not" "$(loaded) $got" "0 secure 1 uid 0 armed by a jump "
as "DPROBES_INSMOD=$order" DPROBES_ARM=trap -- "$dir/suid" then "$dir/plain"
is "nor by a program that it executes, whose rights do not tell" "$(loaded) $got" \
	"0 secure 1 uid 0 armed by a jump secure 0 uid 0 armed by a jump "

# The tool itself, as those install it who have others probe their own processes only.
cp "$DPROBES" "$dir/tool"
chmod 4755 "$dir/tool"
mkdir "$dir/bin"
printf '#!/bin/sh\necho the wrong one\n' >"$dir/bin/true"
chmod 755 "$dir/bin" "$dir/bin/true"
as DPROBES_ARM=none PATH="$dir/bin:$PATH" -- "$dir/tool" stat -q -o /dev/null libc.so.6:malloc -- true
is "the tool does not either, nor look for commands in its caller's PATH" "$got" ""
printf '#define X 1\nname = libc.so.6\nmodtype = user\noffset = malloc\nlog X\n' >"$dir/x.dp"
as -- "$dir/tool" run "$dir/x.dp" -- true
is "nor does it run a compiler" "$got" \
	"dprobes: $dir/x.dp:1: with more rights than its caller's, dprobes does not run the C preprocessor "
cp "$DPROBES" "$dir/tool-plain"
as DPROBES_ARM=none -- "$dir/tool-plain" stat -q libc.so.6:malloc -- true
like "without rights it does" "$got" 'DPROBES_ARM is "none"'
plan
