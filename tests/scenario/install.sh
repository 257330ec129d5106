#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What make install puts there is enough to build modules and programs with.
. tests/scenario/lib.sh

command -v pkg-config >/dev/null || { skip "the installed tree" "pkg-config is not there"; plan; exit; }
make_it() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s "$@" >"$dir/make" 2>&1; }

make_it install DESTDIR="$dir/stage" PREFIX=/usr/local
is "make install DESTDIR=" "$? $(cd "$dir/stage" && find . -maxdepth 4 -path './usr/local/*/*' ! -path '*/share/*' | LC_ALL=C sort | tr '\n' ' ')" \
	"0 ./usr/local/bin/dprobes ./usr/local/include/dprobes ./usr/local/lib/libdprobes.a ./usr/local/lib/libdprobes.so ./usr/local/lib/libdprobes.so.1 ./usr/local/lib/pkgconfig "
is "completion is where the shells look" "$(cd "$dir/stage/usr/local/share" && find . -name '*dprobes*' ! -path './man/*' ! -path './dprobes' | LC_ALL=C sort | xargs)" \
	"./bash-completion/completions/dprobes ./fish/vendor_completions.d/dprobes.fish ./zsh/site-functions/_dprobes"
cp -a "$dir/stage" "$dir/taken"
touch "$dir/taken/usr/local/lib/other"
make_it uninstall DESTDIR="$dir/taken" PREFIX=/usr/local
is "make uninstall takes it all away, and nothing else" "$? $(cd "$dir/taken" && find . ! -type d | xargs)" "0 ./usr/local/lib/other"
is "it names the place where it will be" "$(sed -n 's/^prefix=//p' "$dir"/stage/usr/local/lib/pkgconfig/*.pc | sort -u)" /usr/local
is "and the tables of prototypes" "$(cd "$dir/stage/usr/local" && ls share/dprobes/prototypes)" "$(ls share/dprobes/prototypes)"
mkdir -p "$dir/stage/usr/local/share/dprobes/others"
make_it uninstall DESTDIR="$dir/stage" PREFIX=/usr/local
is "make uninstall takes all of it away" "$? $(cd "$dir/stage" && find . ! -type d; ls usr/local/share/dprobes)" "0 others"

root=$dir/root
make_it install PREFIX="$root"
is "make install PREFIX=" "$?" 0
export PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
cp examples/modules/*.c "$dir"
cd "$dir" || exit 1
for module in malloc_sizes open_paths slow_calls; do
	# shellcheck disable=SC2046
	cc -shared -fPIC $(pkg-config --cflags dprobes-module) -o $module.so $module.c 2>"$dir/err"
	is "the one command that builds a module: $module" "$? $(cat "$dir/err")" "0 "
done
got=$("$root/bin/dprobes" insmod ./malloc_sizes.so -- git --version 2>"$dir/err")
like "the installed tool runs it with the installed library" "$got" '<6>malloc\(< [0-9]+\): [1-9]'
is "and has nothing to complain of" "$(cat "$dir/err")" ""

cat >"$dir/program.c" <<'END'
#include <stdio.h>
#include <dprobes/kprobes.h>
__attribute__((noipa)) int probed(int n) { return n + 1; }
static int hits;
static int on_hit(struct kprobe *p, struct pt_regs *regs) { hits += (int)regs->di; return 0; }
int main(int argc, char **argv)
{
	struct kprobe kp = { .symbol_name = "probed", .pre_handler = on_hit };
	if (register_kprobe(&kp)) {
		puts(dp_last_diag()->text);
		return 1;
	}
	printf("%d ", probed(20));
	unregister_kprobe(&kp);
	printf("%d %d\n", probed(20), hits);
	if (argc > 1)
		getchar();
	return 0;
}
END
# shellcheck disable=SC2046
cc -o program program.c $(pkg-config --cflags --libs dprobes) -Wl,-rpath,"$root/lib"
is "a program with the shared library" "$? $(./program)" "0 21 21 20"
# shellcheck disable=SC2046
cc -o with_a program.c $(pkg-config --cflags dprobes) "$root/lib/libdprobes.a" $(pkg-config --static --libs-only-l dprobes | sed 's/-ldprobes//')
is "a program with the static one" "$? $(./with_a)" "0 21 21 20"
c++ -x c++ -fsyntax-only -Wall -Werror - <<<'#include <dprobes/kprobes.h>' -I "$root/include"
is "the headers are for C++, too" "$?" 0

mkfifo fifo
./program wait <fifo >"$dir/out" &
pid=$!
pids+=($pid)
exec 5>fifo
# In its read of what it is told.
poll 5 grep -q '^0 0x0 ' /proc/$pid/syscall
got=$("$root/bin/dprobes" insmod ./malloc_sizes.so -p $pid && "$root/bin/dprobes" lsmod -p $pid | tail -1)
like "a module into a program that is linked with the library" "$(tr '\n' ' ' <<<"$got")" "^<6>counting malloc .* $pid +malloc_sizes"
got=$("$root/bin/dprobes" rmmod malloc_sizes -p $pid)
is "and out of it" "$?" 0
exec 5>&-
wait $pid
is "it ends as ever" "$? $(cat "$dir/out")" "0 21 21 20"
plan
