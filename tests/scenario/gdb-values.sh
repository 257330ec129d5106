#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Values by name at random places of libc, Python, and programs in C++ and Rust: dprobes prints what gdb does in
# the same run, or says why it does not. VALUES_FUNCTIONS of each; VALUES_SEED instead of the seeds below, or
# VALUES_RANDOM, so many that are drawn.
. tests/scenario/lib.sh
export DPROBES_PROTOTYPES=/nonexistent XDG_DATA_HOME=$dir
functions=${VALUES_FUNCTIONS:-40}
# What fails at places that nobody has looked at says nothing of the change that is tested: `make stress` draws them.
seeds=(27355 5555)
[ -z "${VALUES_SEED:-}" ] || seeds=("$VALUES_SEED")
[ -z "${VALUES_RANDOM:-}" ] || mapfile -t seeds < <(shuf -i 1-1000000 -n "$VALUES_RANDOM")

if ! command -v gdb >/dev/null; then
	skip "gdb" "there is no gdb"
	plan
	exit
fi
cat >"$dir/work.py" <<'END2'
import json, re
class A:
    def __init__(self, x): self.x = x
    def m(self, y): return self.x + y
d = {("k%d" % i): [i, str(i), {i: A(i)}] for i in range(50)}
print(sum(A(i).m(2) for i in range(100)), json.dumps(sorted(d)[:3]), re.sub("a+", "b", "xaay"), sorted([3, 1, 2], key=lambda v: -v))
print("%5.2f %r" % (3.14159, {1, 2}), int("123") ** 20, float("1.5e3"), "x".encode().hex(), open("/dev/null").read())
END2
has_debug() { # of FILE
	local id
	id=$(readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p')
	[ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]
}
libc=$(ldconfig -p | sed -n 's/.*libc.so.6 .*x86-64.* => //p' | head -n 1)
# compare NAME MODULES PROGRAM ARGS...
compare() {
	local name=$1 modules=$2
	shift 2
	timeout 900 /usr/bin/python3 tests/tools/gdb-values.py "$DPROBES" "$seed" "$functions" "$dir" "$modules" "$@" >"$dir/said" 2>&1
	sed 's/^/# /' "$dir/said"
	total=$((total + $(grep -oE '^[0-9]+ equal|, [0-9]+ equal' "$dir/said" | grep -oE '[0-9]+' || echo 0)))
	like "seed $seed: $name: no value is another" "$(grep -c ': dprobes .*, gdb ' "$dir/said") $(tail -n 2 "$dir/said" | head -n 1)" \
		'^0 .*[1-9][0-9]* equal'
}
in_cxx() {
	local how

	for how in "-O2 -g" "-O1 -gdwarf-4"; do
		# shellcheck disable=SC2086
		"${CXX:-g++}" -w $how -o "$dir/values" tests/victims/values.cc
		compare "C++, $how" values "$dir/values"
	done
	# Before a frame is built, gdb shows what is not there yet.
	"${CXX:-g++}" -w -O0 -g -o "$dir/values" tests/victims/values.cc
	GDB_VALUES_INNER=1 compare "C++, -O0 -g, within functions" values "$dir/values"
	if command -v clang++ >/dev/null; then
		clang++ -w -O2 -g -o "$dir/values" tests/victims/values.cc
		compare "C++, clang -O2 -g" values "$dir/values"
		clang++ -w -O0 -g -o "$dir/values" tests/victims/values.cc
		GDB_VALUES_INNER=1 compare "C++, clang -O0 -g, within functions" values "$dir/values"
	else
		skip "clang" "there is no clang++"
	fi
}
in_rust() {
	if command -v rustc >/dev/null && rustc -O -g -o "$dir/values" tests/victims/values.rs 2>"$dir/err"; then
		compare "Rust" values "$dir/values"
	else
		skip "Rust" "there is no rustc that works"
	fi
}
in_python_and_libc() {
	if has_debug /usr/bin/python3.11; then
		compare "Python" python3.11 /usr/bin/python3.11 -S "$dir/work.py"
	else
		skip "Python" "python3.11-dbg is not there"
	fi
	# gdb begins at main(), which python has for it only with its symbols.
	if has_debug "$libc" && has_debug /usr/bin/python3.11; then
		compare "libc" libc.so.6 /usr/bin/python3.11 -S "$dir/work.py"
	else
		skip "libc" "libc6-dbg or python3.11-dbg is not there"
	fi
}
for seed in "${seeds[@]}"; do
	total=0
	in_cxx
	in_rust
	in_python_and_libc
	like "seed $seed: $total values are those of gdb" "$total" "^([3-9]|[1-9][0-9])[0-9][0-9]+$"
done
plan
