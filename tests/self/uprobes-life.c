// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobes-life: what is refused, and what becomes of probes when processes fork, execute
 * and end. */
#include "tests/self/uprobing.h"

/* --- our own process --- */

static long __attribute__((noinline)) thrice_by(long x)
{
	__asm__ volatile("" : "+r"(x));
	return 3 * x;
}

static long (*volatile thrice)(long x) = thrice_by;

static unsigned long place;

static void change_own(struct uprobe *u, struct pt_regs *regs)
{
	long number = 0;

	if (regs->ip == u->vaddr && current->pid == getpid() &&
	    !copy_from_user(&number, (void *)place, sizeof(number)))
		regs->di = (unsigned long)number;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void leave_own(struct uprobe *u, struct pt_regs *regs)
{
	calls++;
	unregister_uprobe(u);
}

static int on_ourselves(void *arg)
{
	struct victim self = { .pid = getpid(),
			       .twice = (unsigned long)thrice_by };
	struct uprobe u = probe_of(&self, change_own), v = u;
	struct uprobe *twice[2] = { &u, &u };
	struct dp_uprobe_account account;
	long number = 5;

	place = (unsigned long)&number;
	u.handler_in_interrupt = 1;
	EXPECT(register_uprobes(twice, 2) == -EEXIST);
	EXPECT(thrice(1) == 3 && !calls);
	EXPECT(!register_uprobe(&u) && !register_uprobe(&v));
	EXPECT(register_uprobe(&u) == -EEXIST);
	EXPECT(thrice(1) == 15 && calls == 2);
	EXPECT(!dp_uprobe_account(&u, &account) && account.hits == 1);
	unregister_uprobe(&u);
	EXPECT(thrice(1) == 15 && calls == 3);
	unregister_uprobe(&v);
	unregister_uprobe(&v);
	EXPECT(thrice(1) == 3 && calls == 3);
	EXPECT(dp_uprobe_account(&u, &account) == -ENOENT);
	v = probe_of(&self, leave_own);
	EXPECT(!register_uprobe(&v));
	EXPECT(thrice(1) == 3 && thrice(1) == 3 && calls == 1);
	EXPECT(!register_uprobe(&v) && thrice(1) == 3 && calls == 2);
	EXPECT(!register_uprobe(&u));
	unregister_uprobe(&u);
	u.vaddr = 16;
	EXPECT(register_uprobe(&u) < 0);
	return 0;
}

static struct uprobe *reported;
static volatile int reports;

static void ask_in_report(const char *line)
{
	struct dp_uprobe_account account;

	reports += dp_uprobe_account(reported, &account) == 0;
}

static void fault_own(struct uprobe *u, struct pt_regs *regs)
{
	*(volatile long *)(unsigned long)(calls++ + 16) = 1;
}

/* The program is told while no lock is held that its function may need. */
static int told_of_a_fault(void *arg)
{
	struct victim self = { .pid = getpid(),
			       .twice = (unsigned long)thrice_by };
	struct uprobe u = probe_of(&self, fault_own), v = u;

	reported = &u;
	dp_set_report(ask_in_report);
	EXPECT(!register_uprobe(&u) && thrice(1) == 3 && calls == 1);
	EXPECT(!register_uprobe(&v) && reports == 1);
	unregister_uprobe(&u);
	unregister_uprobe(&v);
	return 0;
}

static void *comes_and_goes(void *arg)
{
	long n = amount("ROUNDS", 300), good = 0, i;

	for (i = 0; i < n; i++) {
		good += !register_uprobe(arg);
		unregister_uprobe(arg);
	}
	return (void *)(good - n);
}

static int asked_meanwhile(void *arg)
{
	struct victim self = { .pid = getpid(),
			       .twice = (unsigned long)thrice_by };
	struct uprobe stays = probe_of(&self, change_own), u = stays;
	struct dp_uprobe_account account;
	pthread_t thread;
	void *bad;

	EXPECT(!register_uprobe(&stays));
	EXPECT(!pthread_create(&thread, NULL, comes_and_goes, &u));
	while (pthread_tryjoin_np(thread, &bad))
		EXPECT(dp_uprobe_account(&u, &account) || !account.hits);
	EXPECT(!bad);
	unregister_uprobe(&stays);
	return 0;
}

/* --- what is refused --- */

static void poke(const struct victim *v, unsigned long addr, unsigned char byte)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", v->pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (pwrite(fd, &byte, 1, (off_t)addr) != 1)
		abort();
	close(fd);
}

static void refused(struct victim *v, unsigned long addr, int err,
		    const char *what)
{
	struct uprobe u = probe_of(v, watch);

	u.vaddr = addr;
	is(register_uprobe(&u), err, what);
	ok(dp_last_diag()->text[0], "with words");
	is(mappings(v->pid, "dprobes"), 0, "and nothing is left");
}

static int of_another_user(void *arg)
{
	struct uprobe u = { .pid = *(pid_t *)arg,
			    .vaddr = 4096,
			    .handler = watch };

	if (setresuid(65534, 65534, 65534))
		return 2;
	return register_uprobe(&u) != -EPERM ||
	       !strstr(dp_last_diag()->text, "permission");
}

/* [rows 233, 234] */
static void refusals(void)
{
	unsigned char was;
	struct uprobe u;
	struct victim v;
	pid_t root = 1;

	begin(&v);
	refused(&v, v.twice + 1, -EILSEQ, "not at an instruction");
	refused(&v, v.number, -EINVAL, "not code");
	refused(&v, 4096, -EFAULT, "nothing mapped");
	bytes_at(v.pid, v.twice, &was, 1);
	poke(&v, v.twice, 0xcc);
	refused(&v, v.twice, -EBUSY, "a foreign breakpoint");
	poke(&v, v.twice, was);
	u = probe_of(&v, NULL);
	is(register_uprobe(&u), -EINVAL, "no handler");
	is(register_uprobe(NULL), -EINVAL, "no probe");
	says(&v, "call", "42", "none of which the program has noticed");
	if (!getuid())
		ok_child(of_another_user, &v.pid, 10,
			 "a process of another user is refused");
	else {
		u = (struct uprobe){ .pid = root,
				     .vaddr = 1,
				     .handler = watch };
		is(register_uprobe(&u), -EPERM,
		   "a process of another user is refused");
	}
	end(&v);
	u = probe_of(&v, watch);
	is(register_uprobe(&u), -ESRCH, "a process that has ended is refused");
}

/* --- only that process --- */

/* [row 203] */
static void one_of_two(void)
{
	unsigned char before[16], probed[16], other[16];
	struct victim v, w;
	struct uprobe u;

	begin(&v);
	begin(&w);
	u = probe_of(&v, watch);
	u.vaddr = v.getppid;
	bytes_at(w.pid, w.getppid, before, sizeof(before));
	is(register_uprobe(&u), 0,
	   "a probe in a library that two processes have");
	bytes_at(v.pid, v.getppid, probed, sizeof(probed));
	bytes_at(w.pid, w.getppid, other, sizeof(other));
	ok(memcmp(before, probed, sizeof(before)), "changes the code of one");
	ok(!memcmp(before, other, sizeof(before)), "and not that of the other");
	is(memcmp(before, (void *)getppid, sizeof(before)), 0,
	   "nor our own, which is that of the file");
	is(mappings(w.pid, "dprobes"), 0, "nothing is mapped there");
	unregister_uprobe(&u);
	ends_well(&v, "the one ends as ever");
	ends_well(&w, "and the other");
}

/* --- the life of the process --- */

/* [rows 209, 232] */
static void children(void)
{
	struct victim v;
	struct uprobe u;

	begin_gated(&v);
	probes(&u, &v, change_argument, "a probe in a program that forks");
	says(&v, "fork", "42", "is not in the child");
	says(&v, "call", "100", "but still in the parent");
	unregister_uprobe(&u);
	probes(&u, &v, hold_first, "one that holds a thread");
	told(&v, "once 1");
	ok(SOON(held), "while another one");
	says(&v, "fork", "42", "forks");
	open_gate(1);
	says(&v, "finish", "0 of 0 wrong", "the one goes on in the parent");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* [rows 199, 231] */
static void code_goes(void)
{
	struct uprobe u, w;
	struct victim v;

	begin(&v);
	u = probe_of(&v, watch);
	u.vaddr = strtoul(told(&v, "map 7"), NULL, 16);
	is(register_uprobe(&u), 0, "a probe in code that is made at run time");
	says(&v, "run", "7", "does nothing to it");
	is(calls, 1, "and is hit");
	says(&v, "unmap", "0", "the code goes");
	unregister_uprobe(&u);
	is(mappings(v.pid, "dprobes"), 0, "the probe after it");
	told(&v, "map 8");
	says(&v, "run", "8", "other code comes in its place");
	is(register_uprobe(&u), 0, "which is probed");
	told(&v, "map 9");
	says(&v, "run", "9", "it is replaced by yet another");
	w = probe_of(&v, watch);
	is(register_uprobe(&w), 0, "that is noticed at the next call");
	says(&v, "run", "9", "and nothing is written there");
	says(&v, "call", "42", "the next one");
	is(calls, 1, "is hit");
	unregister_uprobe(&u);
	unregister_uprobe(&w);
	says(&v, "run", "9", "nor when it is unregistered");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

/* [rows 209, 229, 230] */
static void executes(const char *how, uprobe_handler_t handler,
		     const char *what)
{
	struct victim v;
	struct uprobe u;

	begin_gated(&v);
	u = probe_of(&v, handler);
	is(register_uprobe(&u), 0, what);
	tell(&v, how);
	ok(read_places(&v), "executes");
	open_gate(1);
	says(&v, "call", "42", "its successor is not probed");
	ok(SOON(dp_uprobe_account(&u, &(struct dp_uprobe_account){ 0 })),
	   "the probe has been unregistered by itself");
	unregister_uprobe(&u);
	u.vaddr = v.twice;
	u.handler = watch;
	calls = 0;
	is(register_uprobe(&u), 0, "it can be registered in the successor");
	says(&v, "call", "42", "where");
	is(calls, 1, "it is called");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* [rows 209, 229, 230] */
static void end_while(bool handler, int sig, const char *what)
{
	struct victim v;
	struct uprobe u;

	begin_gated(&v);
	u = probe_of(&v, handler ? hold_first : watch);
	is(register_uprobe(&u), 0, what);
	if (handler) {
		tell(&v, "call");
		ok(SOON(held), "while its handler runs");
	}
	if (sig)
		kill(v.pid, sig);
	else
		tell(&v, "exit");
	waitpid(v.pid, NULL, 0);
	ok(SOON(dp_uprobe_account(&u, &(struct dp_uprobe_account){ 0 })),
	   "the probe is unregistered by itself");
	open_gate(1);
	unregister_uprobe(&u);
	if (handler)
		ok(SOON(calls == 1), "and the handler comes to its end");
	fclose(v.to);
	fclose(v.from);
}

/* --- our own end --- */

static int registers(void *arg)
{
	struct victim *v = arg;
	struct uprobe u = probe_of(v, meet);

	if (register_uprobe(&u))
		return 1;
	tell(v, "time");
	if (!SOON(inside == 1))
		return 2;
	kill(getpid(), SIGKILL);
	return 3;
}

static int leaves_behind(void *arg)
{
	static struct uprobe u;

	u = probe_of(arg, change_argument);
	if (register_uprobe(&u))
		return 1;
	exit(0); /* unlike _exit(), by which children of tests end */
}

static void our_end(void)
{
	struct victim v;
	struct uprobe u;
	long result = 0, ms = 0;
	int status;

	begin_gated(&v);
	status = in_child(registers, &v, 30);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "who probes is killed while he holds a thread");
	sscanf(heard(&v), "%ld %ld", &result, &ms);
	is(result, 42, "the thread goes on");
	ok(ms < DP_UPROBE_DEADLINE_MS / 2,
	   "and has not waited for the deadline");
	says(&v, "call", "42", "and nobody is held any more");
	probes(&u, &v, watch, "another one takes over");
	says(&v, "call", "42", "and when the program goes on");
	is(calls, 1, "he is called, and nobody else");
	unregister_uprobe(&u);
	is(mappings(v.pid, "dprobes"), 0, "nothing is left by either");
	status = in_child(leaves_behind, &v, 30);
	is(status, 0, "who probes ends without a word");
	is(mappings(v.pid, "dprobes"), 0, "and leaves nothing");
	says(&v, "call", "42", "the program goes on");
	ends_well(&v, "and ends as ever");
}

/* Until it is killed. */
static int registers_for_ever(void *arg)
{
	struct victim *v = arg;
	struct uprobe u = probe_of(v, watch), w = u;

	w.vaddr = v->getppid;
	for (;;) {
		register_uprobe(&u);
		register_uprobe(&w);
		unregister_uprobe(&u);
		unregister_uprobe(&w);
	}
	return 0;
}

static void killed_at_any_moment(void)
{
	int n = (int)amount("KILLS", 12), i, good = 0;
	unsigned int state = 1;
	struct uprobe u;
	struct victim v;
	pid_t pid;

	begin(&v);
	told(&v, "spin 2");
	for (i = 0; i < n; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(registers_for_ever(&v));
		usleep(2000 + draw(&state) % 30000);
		kill(pid, SIGKILL);
		good += waitpid(pid, NULL, 0) == pid && !kill(v.pid, 0);
	}
	is(good, n, "who probes is killed at any moment");
	u = probe_of(&v, watch);
	/* The kernel takes its time, and meanwhile he traces. */
	ok(SOON(!register_uprobe(&u)), "the next one takes over");
	ok(SOON(calls), "and is called");
	unregister_uprobe(&u);
	ok(strstr(told(&v, "finish"), "0 of "), "no thread computes wrongly");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

/* Its own child, that is. */
static int probes_nothing(void *arg)
{
	struct victim *v = arg;
	struct uprobe u = probe_of(v, watch);

	if (register_uprobe(&u) != -EBUSY)
		return 1;
	unregister_uprobe(&u);
	return 0;
}

static void our_child(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	probes(&u, &v, watch, "a probe of a process that forks");
	is(in_child(probes_nothing, &v, 30), 0,
	   "is not its child's, who cannot have the process as well");
	says(&v, "call", "42", "the program goes on");
	is(calls, 1, "and the handler is called");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

static void rounds(void)
{
	children();
	code_goes();
}

int main(void)
{
	by_each_way(rounds);
	refusals();
	one_of_two();
	executes("exec", watch, "a program that is probed");
	executes("exec-later", hold_first,
		 "a program with a thread that is held");
	end_while(false, SIGKILL, "a program that is killed");
	end_while(true, SIGKILL, "a program that is killed");
	end_while(false, 0, "a program that ends");
	our_end();
	killed_at_any_moment();
	our_child();
	ok_child(on_ourselves, NULL, 30, "probes in our own process");
	ok_child(told_of_a_fault, NULL, 30, "one that faults, and its report");
	ok_child(asked_meanwhile, NULL, 60,
		 "one that is asked about while it comes and goes");
	return plan();
}
