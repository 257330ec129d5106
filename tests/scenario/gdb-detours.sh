#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# gdb, stopped at each instruction of a detour in a process that probes itself, shows the frames of the program;
# from the program's frame, finish comes to the caller.
. tests/scenario/lib.sh
lib=$(realpath "$(dirname "$DPROBES")")

if ! command -v gdb >/dev/null; then
	skip "gdb" "there is no gdb"
	plan
	exit
fi
cat >"$dir/detours.py" <<'END'
import gdb

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set var go = 1")
steps = bad = 0

def names():
    frame, found = gdb.newest_frame(), []
    while frame and len(found) < 8:
        found.append(frame.name())
        frame = frame.older()
    return [n for n in found if n in ("probed", "caller", "main")]

def leave_sequence():
    """The kernel would send the thread back to the beginning of its restartable sequence."""
    pointer = int(gdb.parse_and_eval("$fs_base"))
    area = pointer + int(gdb.parse_and_eval("area_offset")) + 8
    gdb.selected_inferior().write_memory(area, bytes(8))

def ours():
    return "dprobes_detours" in gdb.execute("info symbol $pc", to_string=True)

def walk(finish_at):
    """Through the detour; or to so many steps, and then on to the caller in one go."""
    global steps, bad
    gdb.execute("tbreak caller")
    gdb.execute("continue")
    while not ours():
        gdb.execute("stepi", to_string=True)
    while ours():
        steps += 1
        if names() != ["probed", "caller", "main"]:
            bad += 1
            print("bad at step", steps, names())
        if steps == finish_at:
            frame = gdb.newest_frame()
            while frame.name() != "probed":
                frame = frame.older()
            frame.select()
            gdb.execute("finish", to_string=True)
            print("finished:", gdb.newest_frame().name(), int(gdb.parse_and_eval("$rax")))
            return
        leave_sequence()
        gdb.execute("stepi", to_string=True)

walk(0)
print("steps:", steps, "bad:", bad)
steps = 0
walk(12)
gdb.execute("kill")
END
cat >"$dir/victim.c" <<'END'
#include <dprobes/kprobes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <unistd.h>
long area_offset;
volatile int go;
long __attribute__((noinline)) probed(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}
long __attribute__((noinline)) caller(long a)
{
	long r = probed(a);
	__asm__ volatile("" : "+r"(r));
	return r + 1;
}
int main(void)
{
	struct kprobe p = { .symbol_name = "probed" };
	area_offset = __rseq_offset;
	if (register_kprobe(&p))
		return 1;
	puts("probed");
	fflush(stdout);
	while (!go)
		usleep(1000);
	return caller(5) != 17 || caller(5) != 17;
}
END
"${CC:-gcc}" -O1 -g -Iinclude -o "$dir/victim" "$dir/victim.c" -L"$lib" -ldprobes -Wl,-rpath,"$lib"
start "$dir/victim"
timeout 100 gdb -q -batch -p "$victim" -x "$dir/detours.py" >"$dir/said" 2>&1
sed 's/^/# /' "$dir/said"
like "at each step, frames are the program's" "$(grep '^steps:' "$dir/said")" '^steps: [2-9][0-9] bad: 0$'
like "finish comes to the caller" "$(grep '^finished:' "$dir/said")" '^finished: caller 16$'
plan
