// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobes-returns: return probes in another process. */
#include "tests/self/uprobing.h"

static long returns, sum, entries, nested;

static int entered(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	entries++;
	ri->data[0] = regs->di;
	return ri->data[1] || regs->di == 99;
}

static int returned(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	returns++;
	sum += (long)regs->ax;
	nested += ri->data[0] == regs->ax && regs->ip == ri->ret_addr;
	if (ri->data[0] == 21 && regs->ax == 42)
		regs->ax = 43;
	return 0;
}

/* [row 244] */
static void returning(void)
{
	struct uretprobe rp = { .handler = returned, .entry_handler = entered };
	struct uretprobe second = rp;
	struct victim v;

	begin(&v);
	returns = sum = entries = nested = 0;
	rp.u = probe_of(&v, NULL);
	rp.nmissed = 7;
	is(register_uretprobe(&rp), 0, "a return probe");
	is((long)rp.nmissed, 0, "which has missed nothing yet");
	is(register_uretprobe(&rp), -EEXIST, "which is registered once");
	says(&v, "call", "43", "changes what a function returns");
	ok(entries == 1 && returns == 1, "and is called at entry and return");
	second.u = rp.u;
	second.u.vaddr = v.nest;
	is(register_uretprobe(&second), 0, "on one that calls itself");
	says(&v, "nest 40", "40", "it goes through");
	ok(entries == 42 && returns == 42 && nested == 41,
	   "each call returns what it was entered with");
	says(&v, "nest -1", "-2", "one that is left by longjmp");
	ok(entries == 43 && returns == 42, "does not return");
	says(&v, "nest 2", "2", "its place");
	ok(entries == 46 && returns == 45, "is another's then");
	says(&v, "nest 99", "99", "a call that is not to be followed");
	ok(entries == 146 && returns == 144, "is not");
	unregister_uretprobe(&rp);
	says(&v, "call", "42", "unregistered, it changes nothing");
	unregister_uretprobe(&second);
	unregister_uretprobe(&second);
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	rp.u.vaddr += 5;
	is(register_uretprobe(&rp), -EINVAL, "only at the beginning of one");
	rp.u.vaddr = 4096;
	is(register_uretprobe(&rp), -EFAULT, "not where nothing is mapped");
	rp.u.pid = getpid();
	is(register_uretprobe(&rp), -EOPNOTSUPP, "not in our own process");
	ends_well(&v, "the program ends as ever");
	rp.u = probe_of(&v, NULL);
	is(register_uretprobe(&rp), -ESRCH, "nor in one that has ended");
}

static void returning_no_more(void)
{
	struct uretprobe rp = { .handler = returned };
	struct victim v;

	begin(&v);
	rp.u = probe_of(&v, NULL);
	is(register_uretprobe(&rp), 0, "a return probe");
	kill(v.pid, SIGKILL);
	waitpid(v.pid, NULL, 0);
	ok(SOON(register_uretprobe(&rp) == -ESRCH), "goes with its process");
	unregister_uretprobe(&rp);
	fclose(v.to);
	fclose(v.from);
}

static void rounds(void)
{
	returning();
}

int main(void)
{
	by_each_way(rounds);
	returning_no_more();
	return plan();
}
