// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobes: probes in another process, whose handlers run in this one. */
#include "tests/self/uprobing.h"
#include <dirent.h>

/* --- what a handler sees --- */

/* By name: a sanitizer has a thread, too. */
static int threads_of_ours(void)
{
	DIR *d = opendir("/proc/self/task");
	char path[300], comm[32];
	struct dirent *e;
	int n = 0;
	FILE *f;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 e->d_name);
		f = fopen(path, "r");
		n += f && fgets(comm, sizeof(comm), f) &&
		     !strncmp(comm, "dprobes", 7);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return n;
}

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
	ok(threads_of_ours() > 0, "and has threads that serve it");
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
	probes(&u, &v, change_argument, "one that changes an argument");
	says(&v, "call", "100", "does");
	unregister_uprobe(&u);
	probes(&u, &v, change_way, "one that changes ip and sp");
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

/* [rows 207, 210, 211, 212] */
static void together(void)
{
	int n = 60;
	struct victim v;
	struct uprobe u;

	begin_gated(&v);
	probes(&u, &v, meet, "a handler that blocks");
	told(&v, "once 60");
	ok(SOON(inside == n), "runs for 60 threads at the same time");
	open_gate(n);
	tell(&v, "finish");
	ok(!strcmp(heard(&v), "0 of 0 wrong"), "and all of them go on");
	is(calls, n, "each was a call");
	unregister_uprobe(&u);
	ends_well(&v, "the program ends as ever");
}

/* [row 206] */
static void only_its_own(void)
{
	struct victim v;
	struct uprobe u;

	begin_gated(&v);
	probes(&u, &v, hold_first, "a handler that blocks once");
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
	sem_wait(&enable_word);
	regs->di = 2;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void deadline(void)
{
	struct dp_uprobe_account account = { 0 };
	struct victim v;
	struct uprobe u;
	long result = 0, ms = 0;

	begin_gated(&v);
	u = probe_of(&v, too_long);
	u.deadline_ms = 150;
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

	begin_gated(&v);
	probes(&u, &v, hold_first, "a thread that is held");
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

	begin_gated(&v);
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
	probes(&u, &v, leave_at_second, "one that unregisters itself");
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

static void stay_inside(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	usleep(2000);
	__atomic_fetch_add(&calls, u->pid == -1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* The first probe of each list is armed and hit before the second one fails. */
static void one_fails(void)
{
	long n = amount("FAILURES", 40), i, good = 0, still = 0;
	struct uprobe u[2], stays, *us[2] = { &u[0], &u[1] };
	struct dp_uprobe_account account;
	struct victim v;

	begin(&v);
	u[1] = probe_of(&v, stay_inside);
	u[1].vaddr = strtoul(told(&v, "share"), NULL, 16);
	told(&v, "spin 3");
	stays = probe_of(&v, watch);
	stays.vaddr = v.getppid;
	is(register_uprobe(&stays), 0, "a probe, and lists that fail");
	inside = 0;
	for (i = 0; i < n; i++) {
		u[0] = probe_of(&v, stay_inside);
		good += register_uprobes(us, 2) == -EFAULT;
		still += __atomic_load_n(&inside, __ATOMIC_SEQ_CST);
		u[0].pid = -1;
	}
	is(good, n, "for the second one");
	is(still, 0, "no handler of the first one runs then");
	is(calls, 0, "or reads its probe any more");
	is(dp_uprobe_account(&u[0], &account), -ENOENT, "it is not there");
	u[0] = probe_of(&v, watch);
	us[1] = &u[0];
	is(register_uprobes(us, 2), -EEXIST, "nor is one that is in it twice");
	is(dp_uprobe_account(&u[0], &account), -ENOENT, "at all");
	unregister_uprobe(&stays);
	ok(strstr(told(&v, "finish"), "0 of "), "no thread computes wrongly");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

/* [rows 224, 225] */
static void changed_fields(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	probes(&u, &v, watch, "a probe whose fields change");
	memset(&u, 0x5a, sizeof(u));
	says(&v, "call", "42", "while it is registered");
	is(calls, 1, "is what it was");
	is(register_uprobe(&u), -EEXIST, "and registered");
	unregister_uprobe(&u);
	says(&v, "call", "42", "and can be unregistered");
	is(calls, 1, "for good");
	ends_well(&v, "the program ends as ever");
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

static void rounds(void)
{
	sees();
	changes();
	together();
	only_its_own();
	from_handler();
	several();
	comes_and_goes();
	one_fails();
}

int main(void)
{
	by_each_way(rounds);
	deadline();
	signals();
	we_are_stopped();
	changed_fields();
	many();
	ok(SOON(threads_of_ours() == 0), "no thread of the library is left");
	return plan();
}
