// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobes: probes in another process, whose handlers run in this one. */
#include "tests/self/uprobes.h"

static volatile long calls;
static struct pt_regs seen;
static struct task_struct task;

static void watch(struct uprobe *u, struct pt_regs *regs)
{
	seen = *regs;
	task = *current;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static struct uprobe probe_of(const struct victim *v, uprobe_handler_t handler)
{
	calls = 0;
	return (struct uprobe){ .pid = v->pid,
				.vaddr = v->twice,
				.handler = handler };
}

/* --- what a handler sees --- */

/* [rows 200, 204, 208, 213, 214, 217, 219, 220, 223] */
static void sees(void)
{
	struct dp_uprobe_account account;
	unsigned char before[16], after[16];
	struct victim v;
	struct uprobe u;
	long tid;

	begin(&v);
	u = probe_of(&v, watch);
	bytes_at(v.pid, v.twice, before, sizeof(before));
	is(register_uprobe(&u), 0, "a probe in another process is registered");
	says(&v, "vectors", "kept", "and touches no vector register");
	calls = 0;
	says(&v, "call", "42", "and shows nothing to the program");
	is(calls, 1, "its handler has been called");
	is((long)seen.di, 21, "with the registers of the thread");
	is((long)seen.ip, (long)v.twice, "and the address of the probe");
	ok(task.pid == v.pid && task.tgid == v.pid &&
		   !strcmp(task.comm, "uprobed"),
	   "current is the probed thread");
	tid = atol(told(&v, "thread"));
	ok(calls == 2 && task.pid == tid && task.tgid == v.pid,
	   "also one that was created later");
	is(dp_uprobe_account(&u, &account), 0, "the account is there");
	ok(account.hits == 3 && !account.late && !account.missed,
	   "and has all of them");
	unregister_uprobe(&u);
	says(&v, "call", "42", "unregistered, the program goes on");
	is(calls, 2, "and no handler is called");
	bytes_at(v.pid, v.twice, after, sizeof(after));
	ok(!memcmp(before, after, sizeof(before)), "the code is as it was");
	is(mappings(v.pid, "dprobes"), 0, "nothing of ours is in the process");
	unregister_uprobe(&u);
	ends_well(&v, "unregistering it again is nothing; the program ends");
}

/* --- what it can change --- */

static void change_argument(struct uprobe *u, struct pt_regs *regs)
{
	regs->di = 50;
}

/* The function is not executed: as if it had returned 99. */
static void change_way(struct uprobe *u, struct pt_regs *regs)
{
	unsigned long ret;

	if (copy_from_user(&ret, (void *)regs->sp, sizeof(ret)))
		return;
	regs->ax = 99;
	regs->sp += sizeof(ret);
	regs->ip = ret;
}

static unsigned long places[2];
static unsigned long not_copied[5];

static void change_data(struct uprobe *u, struct pt_regs *regs)
{
	long number = 0;
	char text[8];

	not_copied[0] =
		copy_from_user(&number, (void *)places[0], sizeof(number));
	number++;
	not_copied[1] =
		copy_to_user((void *)places[0], &number, sizeof(number));
	not_copied[2] = copy_from_user(text, (void *)8, sizeof(text));
	not_copied[3] = copy_to_user((void *)8, text, sizeof(text));
	not_copied[4] = copy_to_user((void *)places[1], text, sizeof(text));
}

/* [rows 236, 237] */
static void changes(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, change_argument);
	is(register_uprobe(&u), 0, "one that changes an argument");
	says(&v, "call", "100", "does");
	unregister_uprobe(&u);
	u = probe_of(&v, change_way);
	is(register_uprobe(&u), 0, "one that changes ip and sp");
	says(&v, "call", "99", "does: the function is not executed");
	unregister_uprobe(&u);
	u = probe_of(&v, change_data);
	places[0] = v.number;
	places[1] = v.text;
	is(register_uprobe(&u), 0, "one that changes data");
	says(&v, "call", "42", "is called");
	unregister_uprobe(&u);
	says(&v, "number", "1001", "and the data are changed");
	ok(!not_copied[0] && !not_copied[1], "everything was copied");
	ok(not_copied[2] == 8 && not_copied[3] == 8,
	   "from and to a bad address nothing");
	is((long)not_copied[4], 8, "to what is only to be read nothing");
	ends_well(&v, "the program ends as ever");
}

/* --- several threads --- */

static int inside, most;
static sem_t gate;

static void meet(struct uprobe *u, struct pt_regs *regs)
{
	int n = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST), was;

	for (was = most; was < n; was = most)
		__atomic_compare_exchange_n(&most, &was, n, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	sem_wait(&gate);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void open_gate(int n)
{
	while (n--)
		sem_post(&gate);
}

/* [rows 207, 210, 211, 212] */
static void together(void)
{
	int n = 60;
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, meet);
	sem_init(&gate, 0, 0);
	most = 0;
	is(register_uprobe(&u), 0, "a handler that blocks");
	told(&v, "once 60");
	ok(SOON(inside == n), "runs for 60 threads at the same time");
	open_gate(n);
	tell(&v, "finish");
	ok(!strcmp(heard(&v), "0 of 0 wrong"), "and all of them go on");
	is(calls, n, "each was a call");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

static pid_t held;

static void hold_first(struct uprobe *u, struct pt_regs *regs)
{
	pid_t none = 0;

	if (__atomic_compare_exchange_n(&held, &none, current->pid, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		sem_wait(&gate);
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

/* [row 206] */
static void only_its_own(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, hold_first);
	sem_init(&gate, 0, 0);
	held = 0;
	is(register_uprobe(&u), 0, "a handler that blocks once");
	told(&v, "spin 3");
	ok(SOON(calls > 50), "holds its own thread, and the others go on");
	open_gate(1);
	ok(strstr(told(&v, "finish"), "0 of "), "and none computes wrongly");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* --- the deadline --- */

static void too_long(struct uprobe *u, struct pt_regs *regs)
{
	regs->di = 1;
	sem_wait(&gate);
	regs->di = 2;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void deadline(void)
{
	struct dp_uprobe_account account = { 0 };
	struct victim v;
	struct uprobe u;
	long result = 0, ms = 0;

	begin(&v);
	u = probe_of(&v, too_long);
	u.deadline_ms = 150;
	sem_init(&gate, 0, 0);
	is(register_uprobe(&u), 0, "a handler that takes longer than it may");
	sscanf(told(&v, "time"), "%ld %ld", &result, &ms);
	is(result, 42, "changes nothing");
	ok(ms >= 149, "and held the thread as long as it was allowed to");
	dp_uprobe_account(&u, &account);
	ok(account.hits == 1 && account.late == 1, "which is counted");
	open_gate(1);
	ok(SOON(calls == 1), "it ends some time");
	says(&v, "number", "1000", "after which nothing happens");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* --- signals --- */

static long signals_of(const struct victim *v)
{
	long n = -1;

	bytes_at(v->pid, v->signals, &n, sizeof(n));
	return n;
}

static char state_of(pid_t pid)
{
	char path[64], line[512] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (f)
		fclose(f);
	return at ? at[2] : '?';
}

static void signals(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, hold_first);
	sem_init(&gate, 0, 0);
	held = 0;
	is(register_uprobe(&u), 0, "a thread that is held");
	tell(&v, "call");
	SOON(held);
	kill(v.pid, SIGUSR1);
	usleep(50000);
	is(signals_of(&v), 0, "handles no signal");
	kill(v.pid, SIGSTOP);
	ok(SOON(state_of(v.pid) == 'T'), "may be stopped, as ever");
	open_gate(1);
	ok(SOON(calls == 1), "so that its handler ends before it goes on");
	is(signals_of(&v), 0, "which it does not");
	kill(v.pid, SIGCONT);
	is(atol(heard(&v)), 42, "until it is continued");
	is(signals_of(&v), 1, "and then the signal is handled, once");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

static int registers_and_stops(void *arg)
{
	struct victim *v = arg;
	struct uprobe u = probe_of(v, meet);

	u.deadline_ms = 300;
	sem_init(&gate, 0, 0);
	if (register_uprobe(&u))
		return 1;
	tell(v, "time");
	if (!SOON(inside == 1))
		return 2;
	kill(getpid(), SIGSTOP);
	unregister_uprobe(&u);
	return 0;
}

static void we_are_stopped(void)
{
	long result = 0, ms = 0;
	struct victim v;
	int status;
	pid_t pid;

	begin(&v);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(registers_and_stops(&v));
	waitpid(pid, &status, WUNTRACED);
	ok(WIFSTOPPED(status), "who probes is stopped");
	sscanf(heard(&v), "%ld %ld", &result, &ms);
	ok(result == 42 && ms >= 299, "the thread goes on at the deadline");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	says(&v, "call", "42", "and nobody is held any more");
	ends_well(&v, "the program ends as ever");
}

/* --- registering --- */

static void leave_at_second(struct uprobe *u, struct pt_regs *regs)
{
	if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == 2)
		unregister_uprobe(u);
}

/* [rows 221, 222] */
static void from_handler(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, leave_at_second);
	is(register_uprobe(&u), 0, "one that unregisters itself");
	told(&v, "call");
	says(&v, "call", "42", "does, from its handler");
	says(&v, "call", "42", "the program goes on");
	is(calls, 2, "and it is not called any more");
	ok(SOON(!mappings(v.pid, "dprobes")), "all of it leaves the process");
	is(register_uprobe(&u), 0, "it can be registered again");
	told(&v, "call");
	is(calls, 3, "and is called");
	unregister_uprobe(&u);
	told(&v, "spin 4");
	calls = 0;
	is(register_uprobe(&u), 0, "while threads run into it");
	ok(SOON(!mappings(v.pid, "dprobes")), "it unregisters itself, too");
	ok(strstr(told(&v, "finish"), "0 of "), "and none computes wrongly");
	ends_well(&v, "the program ends as ever");
}

static char order[8];
static int ordered;

static void note(struct uprobe *u, struct pt_regs *regs)
{
	order[ordered++ % 7] = (char)('0' + u->deadline_ms % 10);
	regs->di += 1;
}

/* [row 242] */
static void several(void)
{
	struct uprobe u[3], *us[3];
	struct victim v;
	int i;

	begin(&v);
	memset(order, 0, sizeof(order));
	ordered = 0;
	for (i = 0; i < 3; i++) {
		u[i] = probe_of(&v, note);
		u[i].deadline_ms = 5001 + (unsigned int)i;
		us[i] = &u[i];
	}
	is(register_uprobes(us, 3), 0, "three probes at one address");
	says(&v, "call", "48", "each sees what the one before has changed");
	ok(!strcmp(order, "123"), "in the order of their coming");
	is(register_uprobe(&u[1]), -EEXIST, "none can be registered twice");
	unregister_uprobe(&u[1]);
	says(&v, "call", "46", "one of them goes");
	ok(!strcmp(order, "12313"), "and the others stay");
	unregister_uprobes(us, 3);
	says(&v, "call", "42", "none is left");
	ends_well(&v, "the program ends as ever");
}

/* [rows 224, 225] */
static void changed_fields(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	u = probe_of(&v, watch);
	is(register_uprobe(&u), 0, "a probe whose fields change");
	memset(&u, 0x5a, sizeof(u));
	says(&v, "call", "42", "while it is registered");
	is(calls, 1, "is what it was");
	is(register_uprobe(&u), -EEXIST, "and registered");
	unregister_uprobe(&u);
	says(&v, "call", "42", "and can be unregistered");
	is(calls, 1, "for good");
	ends_well(&v, "the program ends as ever");
}

/* --- handlers in the thread --- */

/* Nothing that a sanitizer would call is there. */
#define PLAIN __attribute__((no_sanitize_address, no_sanitize_undefined))

static struct {
	long hits, sum;
	double half;
} tally = { .hits = 100 };

static long *const pointer = &tally.sum;

static void PLAIN __attribute__((noinline)) add(long n)
{
	*pointer += n;
	tally.half += (double)n / 2;
}

static void PLAIN in_thread(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&tally.hits, 1, __ATOMIC_RELAXED);
	if (regs->ip == u->vaddr)
		add((long)regs->di);
	regs->di = regs->di == 21 ? 22 : regs->di;
}

static volatile long *volatile nowhere = (void *)8;

static void PLAIN crashes(struct uprobe *u, struct pt_regs *regs)
{
	tally.hits++;
	*nowhere = 1;
}

static void PLAIN spins(struct uprobe *u, struct pt_regs *regs)
{
	long i;

	tally.hits++;
	for (i = 0; i < 2000; i++)
		__asm__ volatile("");
}

static void prints(struct uprobe *u, struct pt_regs *regs)
{
	puts("from far away");
}

static __thread long of_thread;

static void thread_local(struct uprobe *u, struct pt_regs *regs)
{
	of_thread++;
}

static struct uprobe there;

/* [rows 205, 218] */
static void in_interrupt(void)
{
	struct uprobe u;
	struct victim v;
	long *hits;

	begin(&v);
	there = probe_of(&v, in_thread);
	there.handler_in_interrupt = 1;
	is(register_uprobe(&there), 0, "a handler that runs in the thread");
	says(&v, "call", "44", "changes an argument");
	hits = dp_uprobe_there(&there, &tally.hits);
	ok(hits && *hits == 101 && tally.hits == 100,
	   "its variables are there, as they were here");
	ok(*(long *)dp_uprobe_there(&there, &tally.sum) == 21 &&
		   *(double *)dp_uprobe_there(&there, &tally.half) == 10.5,
	   "also by an address in a variable, and in floating point");
	says(&v, "vectors", "kept", "its floating point is nobody's business");
	*hits = 7;
	u = probe_of(&v, watch);
	is(register_uprobe(&u), 0,
	   "and one in task context at the same address");
	says(&v, "call", "44", "are both called");
	ok(*hits == 8 && calls == 1, "each once");
	told(&v, "once 3");
	says(&v, "finish", "0 of 0 wrong", "by several threads");
	ok(*hits == 11 && calls == 4, "once each");
	told(&v, "spin 3");
	ok(SOON(*hits > 100), "at the same time");
	ok(atol(told(&v, "finish")) <= 3,
	   "none computes wrongly, but for what is changed once");
	unregister_uprobe(&u);
	unregister_uprobe(&there);
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ok(!dp_uprobe_there(&there, &tally.hits), "nor here");

	u = probe_of(&v, crashes);
	u.handler_in_interrupt = 1;
	is(register_uprobe(&u), 0, "one that faults");
	says(&v, "call", "42", "does no harm");
	says(&v, "call", "42", "and is not called again");
	is(*(long *)dp_uprobe_there(&u, &tally.hits), 101,
	   "after the first time");
	unregister_uprobe(&u);
	u = probe_of(&v, prints);
	u.handler_in_interrupt = 1;
	is(register_uprobe(&u), -EOPNOTSUPP, "one that calls libc is refused");
	ok(strstr(dp_last_diag()->text, "puts"), "by name");
	u.handler = thread_local;
	is(register_uprobe(&u), -EOPNOTSUPP,
	   "and one with a variable a thread");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

static void interrupt_comes_and_goes(void)
{
	long n = amount("ROUNDS", 25), i, good = 0, hits = 0;
	struct uprobe u;
	struct victim v;

	begin(&v);
	told(&v, "spin 3");
	u = probe_of(&v, spins);
	u.handler_in_interrupt = 1;
	tally.hits = 0;
	for (i = 0; i < n; i++) {
		good += !register_uprobe(&u);
		usleep((useconds_t)(i % 5) * 200);
		hits += *(long *)dp_uprobe_there(&u, &tally.hits);
		unregister_uprobe(&u);
	}
	is(good, n, "one comes and goes while threads run there");
	ok(hits > 0, "and is hit");
	ok(strstr(told(&v, "finish"), "0 of "), "no thread computes wrongly");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
	tally.hits = 100;
}

static int registers_there(void *arg)
{
	struct uprobe u = probe_of(arg, in_thread);

	u.handler_in_interrupt = 1;
	if (register_uprobe(&u))
		return 1;
	kill(getpid(), SIGKILL);
	return 3;
}

static void interrupt_left(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	in_child(registers_there, &v, 30);
	says(&v, "call", "42",
	     "a handler in the thread is not called when we are gone");
	u = probe_of(&v, watch);
	is(register_uprobe(&u), 0, "another one takes over");
	unregister_uprobe(&u);
	is(mappings(v.pid, "dprobes"), 0, "and nothing is left");
	ends_well(&v, "the program ends as ever");
}

/* --- returns --- */

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
	is(register_uretprobe(&rp), 0, "a return probe");
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

/* --- our own process --- */

static long __attribute__((noinline)) thrice_by(long x)
{
	__asm__ volatile("" : "+r"(x));
	return 3 * x;
}

static long (*volatile thrice)(long x) = thrice_by;

static void change_own(struct uprobe *u, struct pt_regs *regs)
{
	long number = 0;

	if (regs->ip == u->vaddr && current->pid == getpid() &&
	    !copy_from_user(&number, (void *)places[0], sizeof(number)))
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
	struct dp_uprobe_account account;
	long number = 5;

	places[0] = (unsigned long)&number;
	u.handler_in_interrupt = 1;
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

	begin(&v);
	u = probe_of(&v, change_argument);
	is(register_uprobe(&u), 0, "a probe in a program that forks");
	says(&v, "fork", "42", "is not in the child");
	says(&v, "call", "100", "but still in the parent");
	unregister_uprobe(&u);
	u = probe_of(&v, hold_first);
	sem_init(&gate, 0, 0);
	held = 0;
	is(register_uprobe(&u), 0, "one that holds a thread");
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

	begin(&v);
	u = probe_of(&v, handler);
	sem_init(&gate, 0, 0);
	held = 0;
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

	begin(&v);
	u = probe_of(&v, handler ? hold_first : watch);
	sem_init(&gate, 0, 0);
	held = 0;
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

	sem_init(&gate, 0, 0);
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

	begin(&v);
	status = in_child(registers, &v, 30);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "who probes is killed while he holds a thread");
	sscanf(heard(&v), "%ld %ld", &result, &ms);
	is(result, 42, "the thread goes on");
	ok(ms < DP_UPROBE_DEADLINE_MS / 2,
	   "and has not waited for the deadline");
	says(&v, "call", "42", "and nobody is held any more");
	u = probe_of(&v, watch);
	is(register_uprobe(&u), 0, "another one takes over");
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
	u = probe_of(&v, watch);
	is(register_uprobe(&u), 0, "a probe of a process that forks");
	is(in_child(probes_nothing, &v, 30), 0,
	   "is not its child's, who cannot have the process as well");
	says(&v, "call", "42", "the program goes on");
	is(calls, 1, "and the handler is called");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* --- many --- */

/* [row 228] */
static void many(void)
{
	int n = (int)amount("PROCESSES", 100), i, good = 0;
	struct victim *v = calloc((size_t)n, sizeof(*v));
	struct uprobe *u = calloc((size_t)n, sizeof(*u));
	double began;

	for (i = 0; i < n; i++)
		begin(&v[i]);
	began = seconds();
	for (i = 0; i < n; i++) {
		u[i] = probe_of(&v[i], watch);
		good += !register_uprobe(&u[i]);
	}
	printf("# %.1f ms each\n", (seconds() - began) * 1e3 / n);
	is(good, n, "a hundred processes are probed at once");
	calls = 0;
	for (i = 0; i < n; i++)
		tell(&v[i], "call");
	for (i = good = 0; i < n; i++)
		good += !strcmp(heard(&v[i]), "42");
	is(good, n, "all of them go on");
	is(calls, n, "and each was a hit");
	for (i = 0; i < n; i++)
		unregister_uprobe(&u[i]);
	for (i = good = 0; i < n; i++)
		good += WEXITSTATUS(end(&v[i])) == 7;
	is(good, n, "all of them end as ever");
	free(v);
	free(u);
}

/* Threads run into a probe that comes and goes. [rows 202, 221] */
static void comes_and_goes(void)
{
	long n = amount("ROUNDS", 25), i, good = 0;
	struct uprobe u, stays;
	struct victim v;

	begin(&v);
	told(&v, "spin 3");
	stays = probe_of(&v, watch);
	stays.vaddr = v.getppid;
	is(register_uprobe(&stays), 0, "one probe that stays");
	u = probe_of(&v, watch);
	for (i = 0; i < n; i++) {
		good += !register_uprobe(&u);
		usleep((useconds_t)(i % 5) * 200);
		unregister_uprobe(&u);
	}
	is(good, n, "another one comes and goes while threads run there");
	ok(calls > 0, "and is hit");
	unregister_uprobe(&stays);
	ok(strstr(told(&v, "finish"), "0 of "), "no thread computes wrongly");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

static long threads_of_ours(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Threads: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static void rounds_of(const char *arming)
{
	if (arming)
		setenv("DPROBES_ARM", arming, 1);
	printf("# %s\n", arming ? arming : "default");
	sees();
	changes();
	together();
	only_its_own();
	from_handler();
	several();
	in_interrupt();
	interrupt_comes_and_goes();
	returning();
	children();
	code_goes();
	comes_and_goes();
}

int main(void)
{
	rounds_of(NULL);
	deadline();
	signals();
	we_are_stopped();
	changed_fields();
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
	interrupt_left();
	returning_no_more();
	our_child();
	ok_child(on_ourselves, NULL, 30, "probes in our own process");
	many();
	rounds_of("trap");
	rounds_of("quiesce");
	ok(SOON(threads_of_ours() == 1), "no thread of the library is left");
	return plan();
}
