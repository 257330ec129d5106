#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names of C++ and Rust: given and shown as the source has them. The oracle is nm(1); what
# is shown is given again, and means the same addresses.
. tests/scenario/lib.sh

prog=$VICTIMS/names
run() { # ARGS...: sets $out $err $status
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}
# offsets FILE NAME...: of the functions that nm(1) calls so, in a program, and in a library
nm_offsets() {
	local file=$1 name
	shift
	for name; do
		nm -C "$file" | sed -n 's/^0*\([0-9a-f]*\) [tTwW] /\1 /p' | awk -v name="$name" \
			'{ a = $1; sub(/^[^ ]* /, "") } $0 == name { print a }'
	done | sort -u
}
# The same of what a spec lists; a program is loaded at a page.
offsets() { # SPEC...
	"$DPROBES" list --json "$@" -- "$prog" 2>"$dir/stderr" |
		sed -n 's/^{"addr":"0x\([0-9a-f]*\)".*/\1/p' | while read -r a; do printf '%x\n' $((0x$a & 0xfff)); done | sort -u
}
pages() { while read -r a; do printf '%x\n' $((0x$a & 0xfff)); done | sort -u; }

# meant SPEC NAME...: the spec means the functions that nm(1) calls so
meant() {
	local spec=$1
	shift
	is "$spec" "$(offsets "$spec" | tr '\n' ' ')" "$(nm_offsets "$prog" "$@" | pages | tr '\n' ' ')"
}
feeds=("zoo::feed(int)" "zoo::feed(double)" "zoo::feed(char const*, int)")
meant zoo::feed "${feeds[@]}"
for name in "${feeds[@]}" "(anonymous namespace)::hidden(int)" "int zoo::twice<int>(int)" \
	"lambdas(int)::{lambda(int)#1}::operator()(int) const" "zoo::Animal::operator()(int)" \
	"zoo::Animal::operator[](int)" "zoo::Animal::operator long() const" "plain(int)" "zoo::v2::tagged(int)"; do
	meant "\"$name\"" "$name"
done
meant '"zoo::twice<int>(int)"' "int zoo::twice<int>(int)"
meant 'zoo::twice<*>' "int zoo::twice<int>(int)" "double zoo::twice<double>(double)"
meant plain "plain(int)"
meant 'zoo::Animal::operator*' "zoo::Animal::operator()(int)" "zoo::Animal::operator[](int)" \
	"zoo::Animal::operator long() const" "zoo::Animal::operator+=(int)" "zoo::Animal::operator<(zoo::Animal const&) const"
meant 'zoo::operator*' "zoo::operator*(zoo::Animal const&, int)"
meant '"zoo::operator\"\" _legs"' 'zoo::operator"" _legs(unsigned long long)'
meant zoo::Animal::Animal "zoo::Animal::Animal(int)" \
	"zoo::Animal::Animal(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&, int)"
meant zoo::Spider::~Spider "zoo::Spider::~Spider()"
meant '"(anonymous namespace)::*"' "(anonymous namespace)::hidden(int)"
meant '"zoo::*(int)"' "zoo::feed(int)" "zoo::twice<int>(int)" "int zoo::twice<int>(int)" "zoo::v2::tagged(int)" \
	"zoo::Animal::Animal(int)" "zoo::Animal::operator()(int)" "zoo::Animal::operator+=(int)" "zoo::Animal::operator[](int)"
meant _ZN3zoo4feedEi "zoo::feed(int)"
meant 'names:*feedE*' "${feeds[@]}"

# What is shown
run list zoo::feed zoo::Animal::walk '"zoo::Animal::operator long"' 'r:plain' plain+0 -- "$prog"
is "shown: as short as it is clear, quoted as it has to be" "$status $out" '0 names:"zoo::feed(int)"
names:"zoo::feed(double)"
names:"zoo::feed(char const*, int)"
names:zoo::Animal::walk
names:"zoo::Animal::operator long"
r:names:plain
names:plain'
run list --json '"zoo::feed(int)"' -- "$prog"
like "a symbol is a linkage name" "$out" '"symbol":"_ZN3zoo4feedEi"'
run list --mangled 'names:_ZN3zoo4feedE*' -- "$prog"
is "--mangled: shown" "$status $out" "0 names:_ZN3zoo4feedEi
names:_ZN3zoo4feedEd
names:_ZN3zoo4feedEPKci"
for verb in stat trace list; do
	run "$verb" --mangled zoo::feed -- "$prog" 1
	like "--mangled: $verb takes linkage names" "$status $err" '^[12] .*no function "zoo::feed" in names'
done
run stat zoo::feed zoo::Animal::Animal -- "$prog" 3
is "stat" "$(sed -n 's/^ *\([0-9]*\) .*jump  /\1 /p' "$dir/stdout" | cut -c1-39)" '6 names:"zoo::Animal::Animal(int)"
3 names:"zoo::feed(int)"
3 names:"zoo::feed(double)"
3 names:"zoo::feed(char const*, int)"
3 names:"zoo::Animal::Animal(std::__cxx'
run stat --json '"zoo::feed(char const*, int)"' -- "$prog" 3
like "stat --json" "$out" '"probe":"names:\\"zoo::feed\(char const\*, int\)\\"","hits":3,'
run trace 'r:"zoo::feed(int)"(arg0:s32)' -- "$prog" 2
like "trace" "$out" ' r:names:"zoo::feed\(int\)" arg0=1 = 2 <'
run stat --mangled -q 'names:_ZN3zoo4feedEi' -- "$prog" 3
like "stat --mangled" "$out" '3 .* names:_ZN3zoo4feedEi$'
run trace zoo::fed -- "$prog"
like "near names" "$err" 'no function "zoo::fed" in names; near names: zoo::feed$'
run trace '"zoo::feed(Int)"' -- "$prog"
like "near names with parameters" "$err" 'near names: zoo::feed\(int\)'
run list '"std::__throw_bad_cast()"' -- "$prog"
like "another module has it" "$err" 'libstdc\+\+.so.6 has one: write libstdc\+\+.so.6:"std::__throw_bad_cast\(\)"$'
run list '"zoo::feed(int)"+0x1000' -- "$prog"
like "an offset beyond the end of one function" "$status $err" '^2 .*_ZN3zoo4feedEi has only'

# In a program of the language
printf '%s\n' 'name = names' 'modtype = user' 'major = 1' 'offset = "zoo::feed"' 'push d,7' 'log 1' 'exit' \
	'offset = "zoo::Animal::walk" + 0' 'push d,8' 'log 1' 'exit' >"$dir/feed.dp"
run run --json "$dir/feed.dp" -- "$prog" 2
is "run" "$(sed -n 's/.*"probe":"\(.*\)","minor":.*/\1/p' "$dir/stdout" | sort | uniq -c | tr -s ' ')" \
	' 2 names:\"zoo::feed(char const*, int)\"
 2 names:\"zoo::feed(double)\"
 2 names:\"zoo::feed(int)\"
 2 names:zoo::Animal::walk'
sed -i 's/feed"/fed"/' "$dir/feed.dp"
run run "$dir/feed.dp" -- "$prog" 2
like "run: near names" "$err" 'feed.dp:4:10: no function "zoo::fed" in names; near names: zoo::feed$'

# Every function of the program, of libstdc++ and of libc, given as it was shown.
nm_pairs() { # FILE: linkage names, and what nm(1) makes of them
	paste <(nm -p "$1" 2>/dev/null; nm -Dp "$1") <(nm -Cp "$1" 2>/dev/null; nm -CDp "$1") | awk -F '\t' '
		{ for (i = 1; i <= 2; i++) { sub(/^ *[0-9a-f]* *[A-Za-z] /, "", $i); sub(/@.*/, "", $i) } print $1 "\t" $2 }'
}
round() { # NAME SPEC FILE
	"$DPROBES" list --json "$2" -- "$prog" | grep -v '"mode":"refused"' |
		sed 's/^{"addr":"0x[0-9a-f]*\([0-9a-f]\{3\}\)".*"symbol":\("[^"]*"\).*/\1 \2/' >"$dir/asked"
	"$DPROBES" list "$2" -- "$prog" 2>/dev/null >"$dir/specs"
	mapfile -t specs <"$dir/specs"
	"$DPROBES" list --json "${specs[@]}" -- "$prog" 2>"$dir/stderr" |
		sed 's/^{"addr":"0x[0-9a-f]*\([0-9a-f]\{3\}\)".*"symbol":\("[^"]*"\).*/\1 \2/' >"$dir/given"
	is "$1: what is shown means the same" "$(wc -l <"$dir/specs") $(diff "$dir/asked" "$dir/given" | head -5; cat "$dir/stderr")" \
		"$(wc -l <"$dir/asked") "
	"$DPROBES" list --mangled "$2" -- "$prog" >"$dir/mangled" 2>/dev/null
	is "$1: --mangled shows as many" "$(wc -l <"$dir/mangled")" "$(wc -l <"$dir/asked")"
	# Without quotes and module, it is in what nm(1) says of the same linkage name.
	paste -d '\n' "$dir/mangled" "$dir/specs" | sed 's/^[^:]*://; s/^"\(.*\)"$/\1/' |
		awk 'NR % 2 { m = $0; next } m != $0 { print m "\t" $0 }' >"$dir/shown"
	is "$1: as nm(1) says" "$(awk -F '\t' 'NR == FNR { nm[$1] = $2; next } !index(nm[$1], $2)' \
		<(nm_pairs "$3") "$dir/shown" | head -3)" ""
	is "$1: most of what nm(1) can read is so" "$(awk -F '\t' '
		NR == FNR { nm[$1] = $1 != $2; next } { sub(/^[^:]*:/, "") } nm[$1] { n++ } END { print (s * 2 > n) }' \
		s="$(wc -l <"$dir/shown")" <(nm_pairs "$3") "$dir/mangled")" 1
}
round "a program" 'names:*' "$prog"
round "libstdc++" 'libstdc++.so.6:*' "$(ldd "$prog" | awk '/libstdc/ { print $3 }')"

# A running process, and switches by such names
start "$prog"
run list 'zoo::feed' -p "$victim"
is "a process" "$(wc -l <"$dir/stdout")" 3
"$DPROBES" stat -q zoo::feed zoo::Animal::walk -o "$dir/counts" -p "$victim" 2>"$dir/err" &
tool=$!
pids+=("$tool")
armed() { [ "$("$DPROBES" list -p "$victim" | grep -c OPTIMIZED)" = 4 ]; }
poll 20 armed
"$DPROBES" disable zoo::feed -p "$victim"
is "the list of what is armed has linkage names" "$("$DPROBES" list -p "$victim" | sed 's/^[0-9a-f]* *//' | LC_ALL=C sort)" \
	"k  _ZN3zoo4feedEPKci+0x0    [DISABLED]
k  _ZN3zoo4feedEd+0x0    [DISABLED]
k  _ZN3zoo4feedEi+0x0    [DISABLED]
k  _ZNK3zoo6Animal4walkEv+0x0    [OPTIMIZED]"
"$DPROBES" enable --mangled zoo::feed -p "$victim" 2>"$dir/stderr"
is "enable --mangled" "$?" 1
"$DPROBES" enable '"zoo::feed(int)"' -p "$victim"
is "one is enabled" "$("$DPROBES" list -p "$victim" | grep -c DISABLED)" 2
interrupt "$tool"
kill -TERM "$victim"

# Rust, both ways in which it makes names
rust() { # NAME WANTED OPTIONS...
	local name=$1
	shift
	prog=$dir/$name/names
	mkdir -p "$dir/$name"
	rustc -O "$@" -o "$prog" tests/victims/names.rs 2>"$dir/stderr" || {
		skip "$name" "rustc cannot make such names"
		return
	}
	run stat 'names::zoo::*' -- "$prog"
	is "$name: hits" "$(awk '/jump/ { print $1 }' "$dir/stdout" | sort -u)" 3
	run list names::zoo::feed '"<names::zoo::Cat as names::zoo::Walk>::walk"' -- "$prog"
	is "$name: shown" "$status $out" '0 names:names::zoo::feed
names:"<names::zoo::Cat as names::zoo::Walk>::walk"'
	run list 'names::zoo::twice*' -- "$prog"
	is "$name: two functions" "$(wc -l <"$dir/stdout")" 2
	round "$name" 'names:*' "$prog"
}
if command -v rustc >/dev/null; then
	rust "Rust, legacy" -C symbol-mangling-version=legacy
	[ -x "$dir/Rust, legacy/names" ] || rust "Rust, as it is"
	rust "Rust, v0" -C symbol-mangling-version=v0
else
	skip "Rust" "there is no rustc"
fi
plan
