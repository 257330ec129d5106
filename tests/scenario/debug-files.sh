#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug information wherever it is kept: the same names and values, or a sentence that says what is missing.
. tests/scenario/lib.sh
export DPROBES_PROTOTYPES=share/dprobes/prototypes XDG_DATA_HOME=$dir
export DEBUGINFOD_CACHE_PATH=$dir/cache
CC=${CC:-gcc}

cat >"$dir/kept.h" <<'END'
struct part { int number; const char *word; };
struct whole { struct part part[2]; long sum; enum { RED, GREEN, BLUE } hue; struct whole *next; double size; };
#define KEPT __attribute__((noinline)) /* as clang knows it, too */
int first(int n, struct whole *w);
short second(const struct whole *list, unsigned char c);
END
cat >"$dir/first.c" <<'END'
#include "kept.h"
KEPT int first(int n, struct whole *w) { __asm__ volatile("" : "+r"(w)); return n + w->part[1].number - 100; }
END
cat >"$dir/second.c" <<'END'
#include <stdio.h>
#include "kept.h"
KEPT short second(const struct whole *list, unsigned char c) { __asm__ volatile("" : "+r"(list)); return list->sum - c; }
int main(int argc, char **argv)
{
	struct whole last = { { { 1, "a" }, { 2, "b" } }, 7, RED, 0, 0.25 };
	struct whole w = { { { 3, "c" }, { -4, "d" } }, -9, BLUE, &last, -1.5 };
	int got;

	printf("first n=%d w->sum=%ld w->part[1].word=\"%s\" w->hue=BLUE w->next->size=%g", 5, w.sum, w.part[1].word, last.size);
	got = first(5, &w);
	printf(" = %d\nsecond c=%d list->next->part={{number=%d,word=\"%s\"},{number=%d,word=\"%s\"}}", got, 200,
		last.part[0].number, last.part[0].word, last.part[1].number, last.part[1].word);
	got = second(&w, 200);
	printf(" = %d\n", got);
	return 0;
}
END
# Another build of the same
sed 's/- 100/- 101/; s/int n,/int n0,/; s/{ __asm/{ int n = n0; __asm/' "$dir/first.c" >"$dir/other.c"

spec=('r:first(n, w->sum, w->part[1].word, w->hue, w->next->size)' 'r:second(c, list->next->part)')
run() {
	timeout 60 "$DPROBES" "$@" >"$dir/stdout" 2>"$dir/err" </dev/null
	status=$?
	out=$(<"$dir/stdout") err=$(<"$dir/err")
}
# shows NAME PROGRAM
shows() {
	run trace -q -o "$dir/lines" "${spec[@]}" -- "$2"
	is "$1: values are what the program prints" "$status $(sed -E 's/^.* [^ ]*:(first|second) /\1 /; s/ <[0-9.]+>$//' "$dir/lines")$err" \
		"0 $out"
	run list -v first -- "$2"
	is "$1: list -v" "$(grep values: <<<"$out")" "    values: n, w->{part, sum, hue, next, size}"
}
# refuses NAME PROGRAM PATTERN [PATTERN-OF-NOTES]
refuses() {
	run trace -v "${spec[0]}" -- "$2"
	like "$1: no value" "$status $(grep '^dprobes: a value' <<<"$err")" "^2 .*$3"
	[ $# -lt 4 ] || like "$1: -v says which" "$err" "$4"
	run trace -q -o "$dir/lines" 'r:first()' -- "$2"
	like "$1: what is returned is shown as the register" "$status $(cut -d: -f4- "$dir/lines")" '^0 [a-z]*:first = rax=0x'
}
# build NAME [FLAGS]: a program of two units, in its own directory
build() {
	local at=$dir/$1
	shift
	mkdir -p "$at"
	cp "$dir/kept.h" "$dir/first.c" "$dir/second.c" "$at"
	(cd "$at" && "${compiler:-$CC}" -w -O1 -g "$@" -c first.c && "${compiler:-$CC}" -w -O1 -g "$@" -c second.c &&
		"${compiler:-$CC}" -Wl,--build-id -o prog first.o second.o)
}

build inside
keep=$dir/inside/prog
like "the program says what is wanted" "$("$keep")" '^first n=5 .* = -99$'
shows "in the program" "$keep"

# Separate files
cp "$keep" "$dir/linked"
(cd "$dir" && objcopy --only-keep-debug linked linked.debug && objcopy --strip-debug --add-gnu-debuglink=linked.debug linked)
shows "by .gnu_debuglink" "$dir/linked"
mkdir "$dir/.debug" && mv "$dir/linked.debug" "$dir/.debug"
shows "by .gnu_debuglink, in .debug" "$dir/linked"
id=$(readelf -n "$keep" | sed -n 's/.*Build ID: //p')
by_id=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
made=
[ -d "${by_id%/*}" ] || made=${by_id%/*}
if mkdir -p "${by_id%/*}" 2>/dev/null && mv "$dir/.debug/linked.debug" "$by_id" 2>/dev/null; then
	trap '[ $BASHPID != $$ ] || { rm -f "$by_id"; [ -z "$made" ] || rmdir "$made" 2>/dev/null; }; cleanup' EXIT
	shows "by build-id" "$dir/linked"
	rm "$by_id"
else
	skip "by build-id" "/usr/lib/debug cannot be written to"
fi
build another -O0
objcopy --only-keep-debug "$dir/another/prog" "$dir/linked.debug"
rm -rf "$dir/.debug"
refuses "a debug file of another build" "$dir/linked" 'its debug information is not installed \(package'

# Compressed sections
libelf=$(ldconfig -p | awk '/libelf\.so\.1 .*x86-64/ { print $NF; exit }')
for how in zlib zlib-gnu zstd; do
	if ! objcopy --compress-debug-sections=$how "$keep" "$dir/packed" 2>/dev/null; then
		skip "compressed by $how" "objcopy does not know it"
	elif [ $how = zstd ] && ! ldd "$libelf" | grep -q libzstd; then
		refuses "compressed by zstd, for which libelf is too old" "$dir/packed" 'is compressed by zstd.*objcopy --decompress-debug-sections'
	else
		shows "compressed by $how" "$dir/packed"
	fi
done

# More than there is time for: each unit imports the next one twice.
bomb() {
	local k n=$1
	printf '%s\n' '.section .note.GNU-stack,"",@progbits' '.section .debug_abbrev,"",@progbits' '.Labbrev:' \
		'.uleb128 1, 0x11; .byte 1; .uleb128 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07; .byte 0, 0' \
		'.uleb128 2, 0x3d; .byte 0; .uleb128 0x18, 0x10; .byte 0, 0' '.uleb128 3, 0x3c; .byte 1, 0, 0, 0' '.section .debug_info,"",@progbits'
	for ((k = 0; k < n; k++)); do
		printf '%s\n' ".long .Lend$k - .Lstart$k" ".Lstart$k: .short 4; .long .Labbrev; .byte 8" ".Ldie$k:"
		[ $k = 0 ] && echo '.uleb128 1; .byte 12; .quad first, 4096' || echo '.uleb128 3'
		[ $k = $((n - 1)) ] || echo ".uleb128 2; .long .Ldie$((k + 1)); .uleb128 2; .long .Ldie$((k + 1))"
		printf '%s\n' '.byte 0' ".Lend$k:"
	done
}
bomb 48 >"$dir/bomb.s"
(cd "$dir/inside" && "$CC" -O1 -w -g0 -o ../bomb first.c second.c ../bomb.s)
before=$SECONDS
refuses "debug information without an end" "$dir/bomb" 'takes longer than five seconds to read'
is "which is not waited for any longer" $((SECONDS - before < 60)) 1
is "and whose readers have ended" "$(pgrep -P $$ dprobes)" ""
# More than there is memory for, or that is said to be so
for size in "12 9 takes more than 4 GB of memory to read" "11 80 its debug information is damaged"; do
	read -r byte value why <<<"$size"
	objcopy --compress-debug-sections=zlib "$keep" "$dir/packed"
	info=$((0x$(readelf -SW "$dir/packed" | sed -nE 's/.*\.debug_info *PROGBITS *[0-9a-f]* ([0-9a-f]*) .*/\1/p')))
	printf "\\x$value" | dd of="$dir/packed" bs=1 seek=$((info + byte)) conv=notrunc status=none
	refuses "a section that is said to be too large ($why)" "$dir/packed" "$why"
done
cp "$keep" "$dir/heavy"
truncate -s 1500M "$dir/heavy"
shows "a file of more than a GB" "$dir/heavy"
rm "$dir/heavy"

# What several files have in common
if command -v dwz >/dev/null; then
	for form in inside separate; do
		at=$dir/dwz-$form
		mkdir "$at"
		cp "$keep" "$at/prog"
		cp "$dir/another/prog" "$at/another"
		(cd "$at" && dwz -m common.debug -M common.debug prog another
		 [ $form = inside ] || { objcopy --only-keep-debug prog prog.debug && objcopy --strip-debug --add-gnu-debuglink=prog.debug prog; }) 2>/dev/null
		like "dwz, $form: a part is in another file" "$(readelf -p .gnu_debugaltlink "$at"/prog* 2>/dev/null)" common.debug
		shows "dwz, $form" "$at/prog"
	done
	at=$dir/dwz-inside
	mv "$at/common.debug" "$at/kept"
	refuses "dwz, without the common file" "$at/prog" 'its debug information is in part in other files, which are not there' \
		'^dprobes: debug information that prog has in common with other files \(dwz\) is not there: common.debug$'
	cp "$dir/another/prog" "$at/common.debug"
	refuses "dwz, with a common file of another build" "$at/prog" 'its debug information is in part in other files' \
		'^dprobes: debug information that prog has in common with other files is not used, as it is of another build: common.debug$'
else
	skip "dwz" "there is no dwz"
fi

# Split off
for compiler in "$CC" clang; do
	command -v "$compiler" >/dev/null || { skip "split by $compiler" "there is no $compiler"; continue; }
	for version in 4 5; do
		what="split, DWARF $version of ${compiler##*/}" at=$dir/split-${compiler##*/}-$version
		build "${at##*/}" -gdwarf-$version -gsplit-dwarf
		is "$what: a .dwo file each" "$(cd "$at" && echo *.dwo)" "first.dwo second.dwo"
		shows "$what, .dwo" "$at/prog"
		mkdir "$at/moved" "$at/away" && cp "$at/prog" "$at"/*.dwo "$at/moved" && mv "$at"/*.dwo "$at/away"
		shows "$what, .dwo files beside the moved program" "$at/moved/prog"
		refuses "$what, .dwo files lost" "$at/prog" 'or put PROGRAM.dwp beside the program' \
			"^dprobes: debug information that is split off is not there: first.dwo, in $at\$"
		for tool in dwp llvm-dwp llvm-dwp-14; do
			# That of binutils 2.40 knows no DWARF 5, and that of LLVM 14 may look for a free slot for ever.
			[ $tool$version != dwp5 ] && command -v "$tool" >/dev/null || continue
			(cd "$at/away" && timeout 3 "$tool" first.dwo second.dwo -o ../prog.dwp) >/dev/null 2>&1 || { rm -f "$at/prog.dwp"; continue; }
			shows "$what, .dwp by $tool" "$at/prog"
			mv "$at/prog.dwp" "$at/away"
			[ $tool = dwp ] || break
		done
		[ -e "$at/away/prog.dwp" ] || skip "$what, .dwp" "there is no dwp(1) for it"
	done
done
compiler=$CC
for version in 4 5; do
	build types-$version -gdwarf-$version -gsplit-dwarf -fdebug-types-section
	shows "split, DWARF $version, types in sections of their own" "$dir/types-$version/prog"
done
at=$dir/split-${CC##*/}-5
partly='its debug information is in part in other files'
(cd "$at" && cp ../other.c first.c && "$CC" -w -O1 -g -gdwarf-5 -gsplit-dwarf -c first.c)
refuses "a .dwo of another build" "$at/prog" "$partly" \
	'^dprobes: debug information that is split off is not used, as it is of another build: first.dwo$'
cp "$at/away/second.dwo" "$at"
run trace -o "$dir/lines" 'r:first()' 'r:second()' -- "$at/prog"
is "the other .dwo is used" "$(sed -E 's/.*:(first|second) /\1 /; s/ <.*//; s/0x.*/N/' "$dir/lines")" "first = rax=N
second = -209"
like "and which of the two is not, is said" "$err" '^dprobes: what some functions of prog return is shown as rax: its debug information is in part'
# What has only the name of one: it is not read, and not waited for.
rm "$at/first.dwo"
mkfifo "$at/first.dwo"
refuses "a FIFO in place of a .dwo" "$at/prog" "$partly" 'split off is not there: first.dwo'
rm "$at/first.dwo"
echo "root:secret" >"$at/first.dwo"
refuses "a text in place of a .dwo" "$at/prog" "$partly" 'split off is not there: first.dwo'
is "which is not shown" "$(cat "$dir/err" "$dir/lines" "$dir/stdout" | grep -c secret)" 0
head -c 700 "$at/away/first.dwo" >"$at/first.dwo"
refuses "a truncated .dwo" "$at/prog" "$partly"
at=$dir/split-${CC##*/}-4
if [ -e "$at/away/prog.dwp" ]; then
	size=$(stat -c %s "$at/away/prog.dwp")
	head -c $((size / 2)) "$at/away/prog.dwp" >"$at/prog.dwp"
	refuses "a truncated .dwp" "$at/prog" "$partly" 'split off is not there: first.dwo'
	# Its index, with other numbers than there may be
	read -r offset length < <(readelf -SW "$at/away/prog.dwp" | sed -nE 's/.*debug_cu_index *PROGBITS *[0-9a-f]* ([0-9a-f]*) ([0-9a-f]*) .*/0x\1 0x\2/p')
	for ((i = 4; i < length; i += 4)); do
		cp "$at/away/prog.dwp" "$at/prog.dwp"
		printf '\xff\xff\xff\x7f' | dd of="$at/prog.dwp" bs=1 seek=$((offset + i)) conv=notrunc status=none
		run trace -q -o "$dir/lines" "${spec[0]}" -- "$at/prog"
		grep -q 'first n=5 ' "$dir/lines" || [ $status = 2 ] || echo "at $i: $status $err"
	done >"$dir/bad"
	is "numbers out of range in a .dwp are no harm" "$((length > 40)) $(<"$dir/bad")" "1 "
	rm "$at/prog.dwp"
fi

# From a server
served=$dir/served alone=$dir/alone
mkdir "$served"
objcopy --only-keep-debug "$keep" "$served/alone.debug"
objcopy --strip-debug "$keep" "$alone"
missing='its debug information is not installed \(package'
refuses "nowhere" "$alone" "$missing"
# serve PROGRAM...: in the background; its last argument is the port, which it says it listens on by $dir/ready
serve() {
	port=$((20000 + RANDOM % 20000))
	rm -rf "$dir/ready" "$dir/cache"
	"$@" $port >"$dir/server" 2>&1 &
	server=$!
	pids+=("$server")
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
}
unserve() { kill "$server"; wait "$server" 2>/dev/null; }
cat >"$dir/server.py" <<'END'
import http.server, os, socket, sys, time

how, where, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(where + "/asked", "a").write(self.path + "\n")
        if how == "hangs":
            time.sleep(100)
        data = b"" if how == "empty" else open(where + "/another/prog", "rb").read()
        self.send_response(500 if how == "fails" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
open(where + "/ready", "w").close()
server.serve_forever()
END
fake() {
	rm -f "$dir/asked"
	serve /usr/bin/python3 "$dir/server.py" "$1" "$dir"
	poll 10 test -e "$dir/ready"
}
if ldconfig -p | grep -q libdebuginfod.so.1; then
	export DEBUGINFOD_TIMEOUT=1
	fake wrong
	refuses "a server sends a file of another build" "$alone" "$missing" \
		'^dprobes: debug information of alone that a server of DEBUGINFOD_URLS has sent is not used, as it is of another build$'
	run trace -q 'getenv' -- "$keep"
	run list -v 'libc.so.6:get*' -- "$keep"
	is "only for what is asked, which has none of its own" "$(grep -cv "^/buildid/$id/debuginfo$" "$dir/asked")" 0
	unserve
	fake empty
	refuses "a server sends nothing" "$alone" "$missing" 'another build|cannot be downloaded|no server'
	unserve
	fake fails
	refuses "a server fails" "$alone" "$missing" 'alone cannot be downloaded: |no server of DEBUGINFOD_URLS has'
	unserve
	rm -rf "$dir/cache"
	refuses "no server is there" "$alone" "$missing" '^dprobes: debug information of alone cannot be downloaded: .*; nothing more is$'
	fake hangs
	refuses "a server says nothing" "$alone" "$missing" '^dprobes: debug information of alone cannot be downloaded: .*; nothing more is$'
	DEBUGINFOD_TIMEOUT=90
	rm "$dir/asked"
	"$DPROBES" trace -v -o "$dir/lines" 'r:first()' -- "$alone" >"$dir/stdout" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 10 test -e "$dir/asked"
	kill -INT $tool
	wait $tool
	like "^C ends the download, and the trace goes on without" "$? $(cut -d: -f4- "$dir/lines")" '^0 [a-z]*:first = rax=0x'
	like "and it is said" "$(<"$dir/err")" '^dprobes: the download of debug information of alone was interrupted; nothing more is downloaded$'
	# On a terminal the command does not get it.
	rm -rf "$dir/asked" "$dir/cache"
	/usr/bin/python3 - "$dir/asked" "$DPROBES" trace -o "$dir/lines" 'r:first()' -- "$alone" >"$dir/screen" <<'P'
import os, pty, sys, time
child, terminal = pty.fork()
if not child:
    os.execvp(sys.argv[2], sys.argv[2:])
for _ in range(500):
    if os.path.exists(sys.argv[1]):
        break
    time.sleep(0.02)
time.sleep(0.2)
os.write(terminal, b"\3")
said = b""
try:
    while more := os.read(terminal, 4096):
        said += more
except OSError:
    pass
os.write(1, said)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
P
	like "^C at a terminal is not the command's" "$(tail -n 1 "$dir/screen") $(cut -d: -f4- "$dir/lines")" '^0 alone:first = rax=0x'
	unserve
	if [ "$(id -u)" = 0 ]; then
		fake wrong
		mkdir "$dir/cache" && chown 1 "$dir/cache"
		refuses "a cache of another user's" "$alone" "$missing" "another user's: set DEBUGINFOD_CACHE_PATH"
		is "and no server is asked" "$(cat "$dir/asked" 2>/dev/null)" ""
		unserve
	fi
	if command -v debuginfod >/dev/null; then
		DEBUGINFOD_TIMEOUT=30
		serve debuginfod -F -d "$dir/index" "$served" -p
		scanned() { curl -sf "$DEBUGINFOD_URLS/buildid/$id/debuginfo" -o /dev/null 2>/dev/null ||
			/usr/bin/python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()' "$DEBUGINFOD_URLS/buildid/$id/debuginfo" 2>/dev/null; }
		poll 20 scanned
		shows "from a server" "$alone"
		if command -v script >/dev/null; then
			rm -rf "$dir/cache"
			script -qc "$DPROBES trace -o $dir/lines 'r:first(n)' -- $alone" /dev/null >"$dir/screen" </dev/null
			like "a terminal shows what is going on" "$(tr -d '\r' <"$dir/screen")" 'downloading debug information of alone: 0 MB'
		fi
		unserve
		shows "from the user's cache" "$alone"
	else
		skip "from a server" "there is no debuginfod"
	fi
else
	skip "from a server" "there is no libdebuginfod"
fi
plan
