#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several processes on one program and one library: those that are not probed execute what is in the file,
# and the file and what the kernel keeps of it are as they were.
. tests/scenario/lib.sh

text_sum() { "$TOOLS/text-sum" "$1"; }
# Kilobytes of its executable file mappings that are its own
own_text() {
	awk '/^[0-9a-f]+-/ { text = $2 ~ /x/ && $6 ~ /^\// } text && /^(Private_Dirty|Anonymous):/ { n += $2 } END { print n + 0 }' \
		"/proc/$1/smaps"
}
libc=$(ldd "$VICTIMS/busy" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
# By read(2), out of the page cache
files() { sha256sum "$libc" "$VICTIMS/busy"; }
armed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q strtod; }

start "$VICTIMS/busy" 2
probed=$victim
cp "$dir/out" "$dir/out.probed"
"$VICTIMS/busy" 2 >"$dir/out.beside" &
beside=$!
pids+=("$beside")
poll 10 test -s "$dir/out.beside"
text_sum "$beside" >"$dir/text"
files >"$dir/files"
is "before: nobody has text of his own" "$(own_text "$probed") $(own_text "$beside")" "0 0"
for how in interior quiesce trap; do
	DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" libc.so.6:strtod libc.so.6:memcpy busy:work -p "$probed" \
		2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 20 armed "$probed"
	like "$how: the probed one has pages of its own" "$(own_text "$probed")" '^[1-9]'
	is "$how: the one beside it has none, and the file's bytes" "$(own_text "$beside") $(text_sum "$beside")" \
		"0 $(cat "$dir/text")"
	is "$how: the files are what they were" "$(files)" "$(cat "$dir/files")"
	: >"$dir/out.new"
	"$VICTIMS/busy" 2 >"$dir/out.new" &
	new=$!
	pids+=("$new")
	poll 10 test -s "$dir/out.new"
	is "$how: one that is started meanwhile has none either" "$(own_text $new)" 0
	kill -TERM $new
	wait $new
	is "$how: and finds its results right" "$? $(tail -n 1 "$dir/out.new" | cut -d' ' -f1)" "0 right"
	interrupt $tool
	like "$how: there were hits" "$(hits "$dir/counts" libc.so.6:strtod)" '^[1-9]'
done
is "afterwards: nobody's bytes have changed" "$(own_text "$beside") $(text_sum "$beside" | cut -d' ' -f1 | sort)" \
	"0 $(cut -d' ' -f1 "$dir/text" | sort)"
for p in "$probed" "$beside"; do
	kill -TERM "$p"
	wait "$p"
	is "they find their results right" "$?" 0
done
plan
