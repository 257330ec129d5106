# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What gdb does at each stop of the guest of tests/kernel/debugger, and what it finds there.

The argument of the system call that is probed says what to do: enum ask in debugger_init.c.
"""
import os
import gdb

PLAIN, BREAK, MASKED, DELETE, FORBID, BYE = range(1000001, 1000007)
DI, IP = 112, 128  # in struct pt_regs
found = open(os.environ["FOUND"], "w", buffering=1)


def check(fact, what):
    print(what, fact)
    found.write("%sok - gdb: %s\n" % ("" if fact else "not ", what))


def number(expression):
    return int(gdb.parse_and_eval("(unsigned long)(%s)" % expression)) & (2**64 - 1)


def symbol(address):
    return gdb.execute("info symbol %d" % address, to_string=True).split(" ")[0]


def word(address):
    return number("*(unsigned long *)%d" % address)


class Stops:
    """counts of stops, by what was asked"""

    def __init__(self):
        self.asked = {}
        self.places = {}
        self.at = self.foreign = self.wrong = 0

    def act(self, ask, at):
        if ask == BREAK:
            gdb.execute("break *%d" % at)
            self.at = at
        elif ask == FORBID:
            gdb.execute("break *%d" % self.at)
        elif ask == DELETE:
            gdb.execute("delete")

    def stop(self):
        pc = number("$pc")
        if symbol(pc) != "kgdb_breakpoint":
            self.foreign += 1
            print("stopped elsewhere: %#x %s" % (pc, symbol(pc)))
            return
        regs, at = number("$rdi"), number("$rsi")
        self.wrong += word(regs + IP) != at
        name = symbol(at)
        self.places[name] = self.places.get(name, 0) + 1
        # A system call's argument is where its own registers are.
        ask = word(word(regs + DI) + DI) if name.startswith("__x64_sys_") else 0
        self.asked[ask] = self.asked.get(ask, 0) + 1
        print("stop at %s: %#x, asked %d" % (name, at, ask))
        self.act(ask, at)


def begin():
    gdb.execute("set architecture i386:x86-64")
    gdb.execute("set remotetimeout 60")
    gdb.execute("target remote " + os.environ["PORT"])
    threads = gdb.execute("info threads", to_string=True)
    print(threads)
    print(gdb.execute("bt 8", to_string=True))
    check("shadowCPU" in threads or threads.count("Thread") > 2, "it is told of the guest's tasks and CPUs")


def run():
    stops = Stops()
    try:
        begin()
        while True:
            stops.stop()
            gdb.execute("continue")
    except gdb.error as e:
        print("the end:", e)
    asked = stops.asked
    print(asked, stops.places)
    check(stops.wrong == 0 and asked.get(PLAIN) == 3 + 3 + 10, "each hit stops the kernel, with the registers in rdi, the address in rsi")
    check(stops.places.get("recalc_sigpending", 0) >= 1, "so it does where interrupts are off")
    check(asked.get(BREAK) == 2 and asked.get(MASKED) == 2, "a breakpoint at a probe leaves the hits to that")
    check(stops.foreign == 0, "nothing else stops")
    check(asked.get(BYE) == 1, "it stays till the end")


run()
