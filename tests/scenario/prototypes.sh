#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tables of prototypes say what the headers say: how many arguments a function has, of which
# classes and sizes, and how large the structs are that they point at.
. tests/scenario/lib.sh

export DPROBES_PROTOTYPES=share/dprobes/prototypes
# library SONAME AT-LEAST HEADER
library() {
	local name=${1%%.so*}.so got

	[ -e "/usr/include/$3" ] || { skip "$name" "there is no $3"; return; }
	"$TOOLS/prototypes" "$1" >"$dir/said" 2>"$dir/err"
	is "$name: every line is understood" "$(cat "$dir/err")" ""
	got=$(tools/check-prototypes "$name" "${CC:-gcc}" <"$dir/said" 2>&1)
	is "$name: as its headers have it" "$(sed '$d' <<<"$got")" ""
	got=${got##*$'\n'}
	is "$name: $got, at least $2" "$((${got% compared} >= $2))" 1
}

library libc.so.6 1500 stdio.h
library libm.so.6 800 math.h
library libz.so.1 80 zlib.h
library libsqlite3.so.0 200 sqlite3.h
library libssl.so.3 400 openssl/ssl.h
library libcrypto.so.3 4000 openssl/ssl.h

# Files of that program, in the same format, where it is installed
if [ -e /etc/ltrace.conf ]; then
	cp /etc/ltrace.conf "$dir/libltraced.so.conf"
	DPROBES_PROTOTYPES=$dir "$TOOLS/prototypes" libltraced.so >"$dir/said" 2>"$dir/err"
	is "a file of ltrace's is understood" "$(cat "$dir/err")" ""
	is "all of its lines" "$(grep -c . "$dir/said")" "$(grep '^[a-z]' /etc/ltrace.conf | grep -vc '^typedef')"
else
	skip "a file of ltrace's is understood" "ltrace is not there"
fi

# The example of the manual page
awk '/^\.Bd -literal/ { inside = 1; next } /^\.Ed/ { exit } inside' man/dprobes-prototypes.5 >"$dir/libfoo.so.conf"
got=$(DPROBES_PROTOTYPES=$dir "$TOOLS/prototypes" libfoo.so.1 2>&1 | LC_ALL=C sort | tr '\n' ',')
is "the example of the manual page" "$got" "foo_lock i4 p0 i4,foo_open p0 p0 i4,foo_read i8 p0 p0 i8,"

# Where else files are looked for: beside the tool, in the user's home
mkdir -p "$dir/there/bin" "$dir/there/share/dprobes/prototypes" "$dir/home/.local/share/dprobes/prototypes"
cp "$TOOLS/prototypes" "$dir/there/bin/tool"
cp "$dir/libfoo.so.conf" "$dir/there/share/dprobes/prototypes"
echo 'int foo_more();' >"$dir/home/.local/share/dprobes/prototypes/libfoo.so.1.conf"
clean() { env -u DPROBES_PROTOTYPES -u XDG_DATA_HOME "$@" libfoo.so.1 2>&1 | wc -l; }
is "a file beside the tool" "$(clean HOME=/nonexistent "$dir/there/bin/tool")" 3
is "one in the user's home adds to it" "$(clean HOME="$dir/home" "$dir/there/bin/tool")" 4
is "XDG_DATA_HOME is another place for that" "$(clean HOME="$dir/home" XDG_DATA_HOME=/nonexistent "$dir/there/bin/tool")" 3

# With more rights than its user the tool does not read what that one has written.
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env DPROBES_PROTOTYPES="$dir" "$@" libfoo.so.1 2>&1 | wc -l; }
if [ "$(id -u)" -ne 0 ]; then
	skip "a set-user-ID program" "only root can make one for another user"
else
	chmod 755 "$dir"
	cp "$TOOLS/prototypes" "$dir/plain"
	cp "$TOOLS/prototypes" "$dir/suid"
	chmod 4755 "$dir/suid"
	is "a program without more rights reads files of its user" "$(as_user "$dir/plain")" 3
	if findmnt -nT "$dir" -o OPTIONS | grep -q nosuid; then
		skip "a set-user-ID program does not" "$dir does not honour the bit"
	else
		is "a set-user-ID program does not" "$(as_user "$dir/suid")" 0
	fi
fi
plan
