// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * returns_init: probes on returns by /dev/dprobes: what they count and log, and what becomes of calls that have not
 * returned when the session ends, or never do.
 */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 300
#define OF "returns: "
/* Of struct pt_regs, where the call has its first argument */
#define ARGUMENT 0x70
/* Of a value in a log, behind its prefix */
#define PREFIX 3
#define VALUE (PREFIX + 8)

static const char *const armings[] = { "trap", "jump", "interior" };

/* At the entry, logs the argument of a call, and follows it if that is not 7. At the return, logs ticks and the
 * argument, and makes a record if that is not 0. */
static unsigned int write_code(struct dp_asm *c)
{
	unsigned int leaves;

	dp_asm_op16(c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op64(c, DP_OPCODE_PUSH, ARGUMENT);
	dp_asm_op(c, DP_OPCODE_ADD);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op8(c, DP_OPCODE_DUP_I, 1);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op64(c, DP_OPCODE_PUSH, 7);
	dp_asm_op(c, DP_OPCODE_EQ);
	dp_asm_op64(c, DP_OPCODE_JZ, 1);
	dp_asm_op(c, DP_OPCODE_ABORT);
	dp_asm_op(c, DP_OPCODE_EXIT);
	leaves = c->n;
	dp_asm_op(c, DP_OPCODE_PUSH_TOLD);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op16(c, DP_OPCODE_PUSH_ENTERED, PREFIX);
	dp_asm_op64(c, DP_OPCODE_JZ, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
	dp_asm_op(c, DP_OPCODE_ABORT);
	return leaves;
}

static int ask(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int add(int fd, const char *name, unsigned int flags,
	       unsigned int *probe)
{
	struct dp_device_add add = { .flags = flags };
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_device_add(fd, name, words, &add);

	*probe = add.probe;
	if (err && !*words)
		printf("# %s: no words\n", name);
	return err;
}

static struct dp_device_calls calls_of(int fd, unsigned int probe)
{
	struct dp_device_calls calls = { .probe = probe };

	if (ask(fd, DP_DEVICE_CALLS, &calls))
		calls.entered = ~0ull;
	return calls;
}

static int bind_code(int fd, unsigned int probe)
{
	struct dp_asm c = { .n = 0 };
	unsigned int starts[2] = { 0 };
	struct dp_device_program want = { .code = (unsigned long)c.bytes,
					  .starts = (unsigned long)starts,
					  .nr_starts = 2,
					  .jumps = 10,
					  .log = 64,
					  .stack = 32 };
	struct dp_device_bind bind = { .probe = probe,
				       .maxhits = DP_DEVICE_UNLIMITED,
				       .exceptions = 0xfff,
				       .flags = DP_DEVICE_JUDGED };
	int err;

	starts[1] = write_code(&c);
	want.code_size = c.n;
	err = ask(fd, DP_DEVICE_PROGRAM, &want);
	bind.program = want.program;
	bind.leaves = starts[1] + 1;
	return err ? err : ask(fd, DP_DEVICE_BIND, &bind);
}

static void print(const struct dp_device_calls *c)
{
	printf("# entered %llu returned %llu ended %llu inside %llu missed %llu full %llu unmet %llu unjudged %llu\n",
	       c->entered, c->returned, c->ended, c->inside, c->missed, c->full,
	       c->unmet, c->unjudged);
}

/* Without a program: they are counted. */
static void count(unsigned int arming)
{
	struct dp_device_calls calls;
	unsigned int probe = 0;
	int i, fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ? err : add(fd, DP_GETSID, DP_DEVICE_RETURNS, &probe);
	err = err ? err : dp_device_commit(fd, 0);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getsid, 0);
	calls = calls_of(fd, probe);
	dp_init_check(!err && calls.entered == CALLS &&
			      calls.returned == CALLS && !calls.inside &&
			      !calls.missed && !calls.ended,
		      armings[arming], OF "all are counted, ");
	print(&calls);
	close(fd);
}

/** struct sums - of records that have been read */
struct sums {
	unsigned int n, wrong;
	uint64_t arguments;
};

static uint64_t value_at(const char *log, unsigned int i)
{
	uint64_t value;

	memcpy(&value, log + i * VALUE + PREFIX, sizeof(value));
	return value;
}

/* getsid(2) of this process's tree is 0 or 1; of what there is not, an error. */
static void take(const struct dp_device_record *r, struct sums *sums)
{
	const struct dp_device_return *head = (const void *)(r + 1);
	const char *log = (const char *)(head + 1);
	uint64_t argument = value_at(log, 0), ticks = value_at(log, 1);
	int64_t value = (int64_t)head->value;

	sums->n++;
	sums->arguments += argument;
	sums->wrong += r->log != sizeof(*head) + 2 * VALUE ||
		       r->flags != DP_DEVICE_RETURNED || r->context ||
		       r->tid != (unsigned int)getpid() ||
		       (argument == 1 ? value < 0 : value != -ESRCH) ||
		       !ticks || head->entered + ticks != r->ticks;
}

static void read_all(int fd, struct sums *sums)
{
	char buffer[4096];
	ssize_t n, at;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < n;
		     at += ((struct dp_device_record *)(buffer + at))->size)
			take((const void *)(buffer + at), sums);
}

/* Arguments are 0: judged; 1: there is such a process; 7: not followed; others: there is none. */
static void logs(unsigned int arming)
{
	struct dp_device_calls calls;
	struct sums sums = { 0 };
	unsigned int probe = 0;
	int i, fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ? err :
		    add(fd, DP_GETSID, DP_DEVICE_RETURNS | DP_DEVICE_RECORDS,
			&probe);
	err = err ? err : bind_code(fd, probe);
	err = err ? err : dp_device_commit(fd, 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (i = 0; i < CALLS; i++) {
		syscall(SYS_getsid, 0);
		syscall(SYS_getsid, 1);
		syscall(SYS_getsid, 7);
		syscall(SYS_getsid, 1000000 + i);
		read_all(fd, &sums);
	}
	calls = calls_of(fd, probe);
	dp_init_check(!err && sums.n == 2 * CALLS && !sums.wrong &&
			      sums.arguments == 1000001ull * CALLS +
							CALLS * (CALLS - 1) / 2,
		      armings[arming],
		      OF "entry, return and latency are in records, ");
	printf("# %d: %u records, %u wrong\n", err, sums.n, sums.wrong);
	dp_init_check(calls.entered == 4 * CALLS &&
			      calls.returned == 3 * CALLS &&
			      calls.unmet == CALLS && !calls.inside,
		      armings[arming], OF "a call may not be followed, ");
	print(&calls);
	close(fd);
}

/* A child that waits in a pipe, and has not the device @fd: the pipe's other end */
static int waiter(int fd, pid_t *child)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return -1;
	*child = fork();
	if (!*child) {
		close(fd);
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 && byte == 'x' ? 7 : 1);
	}
	close(ends[0]);
	return ends[1];
}

static int is_well(int end, pid_t child)
{
	int status;

	return write(end, "x", 1) == 1 && waitpid(child, &status, 0) == child &&
	       !close(end) && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static int follow(int fd, const char *name, unsigned int most,
		  unsigned int *probe)
{
	struct dp_device_begin begin = { .arming = DP_DEVICE_JUMP,
					 .most = most };
	int err = ask(fd, DP_DEVICE_BEGIN, &begin);

	err = err ? err : add(fd, name, DP_DEVICE_RETURNS, probe);
	return err ? err : dp_device_commit(fd, 0);
}

/* The trace of a task that sleeps, as the kernel tells it: one for two calls */
static const char *stack_of(pid_t pid)
{
	static char traces[2][2048];
	static unsigned int which;
	char path[64], *trace = traces[which++ % 2];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	f = fopen(path, "r");
	trace[f ? fread(trace, 1, sizeof(*traces) - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	return trace;
}

static char state_of(pid_t pid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	return state;
}

/* Of one that sleeps, once it does */
static const char *stack_asleep(pid_t pid)
{
	time_t until = time(NULL) + 20;

	while (state_of(pid) != 'S' && time(NULL) < until)
		usleep(1000);
	return stack_of(pid);
}

/* With stubs, it ends at the first one, behind the function that sleeps. */
static int is_stack(pid_t pid, const char *whole)
{
	const char *now = stack_asleep(pid);
	size_t first = strcspn(whole, "\n") + 1;
	int is = dp_init_lists() ? !strcmp(now, whole) :
				   !strncmp(now, whole, first) &&
					   !strstr(now, "ksys_read+");

	if (!is)
		printf("# %s# it is to be\n# %s", now, whole);
	return is;
}

/* Until so many calls are inside, or have ended so */
static int settles(int fd, unsigned int probe, unsigned int inside,
		   unsigned int ended)
{
	struct dp_device_calls calls;
	time_t until = time(NULL) + 20;

	do {
		usleep(10000);
		calls = calls_of(fd, probe);
	} while ((calls.inside != inside || calls.ended != ended) &&
		 time(NULL) < until);
	print(&calls);
	return calls.inside == inside && calls.ended == ended;
}

/* Sessions end while a call sleeps; another one follows the same function. */
static void sleepers(void)
{
	unsigned int probe = 0;
	int fd = dp_device_open(0), err, end, other;
	pid_t child, second;

	err = dp_device_start(fd, DP_DEVICE_JUMP);
	err = err ? err :
		    add(fd, "pipe_read", DP_DEVICE_RETURNS | DP_DEVICE_RECORDS,
			&probe);
	err = err ? err : dp_device_commit(fd, 0);
	end = waiter(fd, &child);
	dp_init_check(!err && settles(fd, probe, 1, 0), "one is inside", OF);
	close(fd);
	dp_init_check(!dp_init_unload("dprobes"),
		      "dprobes.ko stays for a call that is inside", OF);
	fd = dp_device_open(0);
	err = follow(fd, "pipe_read", 0, &probe);
	other = waiter(fd, &second);
	dp_init_check(!err && settles(fd, probe, 1, 0),
		      "one of another session is inside, too", OF);
	dp_init_check(is_well(end, child) && settles(fd, probe, 1, 0),
		      "the first one returns, and is none of the second's", OF);
	dp_init_check(is_well(other, second) && settles(fd, probe, 0, 0) &&
			      calls_of(fd, probe).returned == 1,
		      "the second one returns", OF);
	close(fd);
}

/* What a task sleeps in has the trace that it has without probes. */
static void traces(void)
{
	static const char *const names[] = { "pipe_read", "vfs_read",
					     "ksys_read" };
	const unsigned int n = sizeof(names) / sizeof(*names);
	unsigned int probe = 0, i;
	char whole[2048];
	pid_t child;
	int fd = dp_device_open(0), err, end = waiter(fd, &child), well;

	snprintf(whole, sizeof(whole), "%s", stack_asleep(child));
	well = is_well(end, child) && strstr(whole, "pipe_read+") &&
	       strstr(whole, "ksys_read+");
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	for (i = 0; i < n && !err; i++)
		err = add(fd, names[i], DP_DEVICE_RETURNS, &probe);
	err = err ? err : dp_device_commit(fd, 0);
	end = waiter(fd, &child);
	dp_init_check(!err && well && settles(fd, probe, 1, 0) &&
			      is_stack(child, whole),
		      dp_init_lists() ?
			      "a sleeper's trace goes through three calls" :
			      "a sleeper's trace goes to the first stub",
		      OF);
	close(fd);
	well = is_stack(child, whole) && !dp_init_unload("dprobes") &&
	       is_stack(child, whole);
	dp_init_check(is_well(end, child) && well,
		      "it is so when the session has ended, and they return",
		      OF);
}

static void deaths(void)
{
	unsigned int probe = 0, i;
	int fd = dp_device_open(0);
	int err = follow(fd, "__x64_sys_exit_group", 2, &probe);
	struct dp_device_calls calls;
	int all = 1;

	/* More than can be followed at a time. Some have not been waited for. */
	for (i = 0; i < 5; i++) {
		if (!fork())
			_exit(0);
		if (i % 2)
			wait(NULL);
		all &= settles(fd, probe, 0, i + 1);
	}
	while (wait(NULL) > 0)
		;
	calls = calls_of(fd, probe);
	dp_init_check(!err && all && !calls.missed && !calls.returned &&
			      calls.entered == 5,
		      "tasks that end inside are counted, and give way", OF);
	close(fd);
}

static void misses(void)
{
	struct dp_device_calls calls;
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = follow(fd, "pipe_read", 1, &probe);
	pid_t first, second;
	int end = waiter(fd, &first), other, ms;

	settles(fd, probe, 1, 0);
	other = waiter(fd, &second);
	/* A call is entered first, and missed then. */
	for (ms = 0; ms < 20000 && !calls_of(fd, probe).missed; ms++)
		usleep(1000);
	calls = calls_of(fd, probe);
	print(&calls);
	dp_init_check(!err && calls.entered == 2 && calls.full == 1 &&
			      calls.missed == 1 && calls.inside == 1,
		      "where none is free, calls are missed", OF);
	dp_init_check(is_well(end, first) && is_well(other, second) &&
			      calls_of(fd, probe).returned == 1,
		      "and return as ever", OF);
	close(fd);
}

/* Other return probes of the same function */
static void beside(void)
{
	struct dp_device_calls calls;
	unsigned int probe = 0, again = 0;
	int i, fd, err,
		loaded = dp_init_load("read_latency", "function=" DP_GETSID);

	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	err = err ? err : add(fd, DP_GETSID, DP_DEVICE_RETURNS, &probe);
	err = err ? err : add(fd, DP_GETSID, DP_DEVICE_RETURNS, &again);
	err = err ? err : dp_device_commit(fd, 0);
	for (i = 0; i < CALLS; i++)
		err |= syscall(SYS_getsid, 0) < 0;
	loaded &= dp_init_unload("read_latency");
	for (i = 0; i < CALLS; i++)
		err |= syscall(SYS_getsid, 0) < 0;
	calls = calls_of(fd, probe);
	print(&calls);
	dp_init_check(loaded && !err && calls.returned == 2 * CALLS &&
			      calls_of(fd, again).returned == 2 * CALLS,
		      "a function has several return probes, also a module's",
		      OF);
	close(fd);
}

/* A module's function; it goes while a call is inside, and comes again. */
static void modules(void)
{
	static const char rest[] = "/sys/module/dpvictim/parameters/rest";
	unsigned int probe = 0;
	struct dp_device_calls calls;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);
	int file, status = -1;
	pid_t child;

	err = err ? err :
		    add(fd, "dpvictim:dpvictim_rest",
			DP_DEVICE_RETURNS | DP_DEVICE_PENDING, &probe);
	err = err ? err : dp_device_commit(fd, 0);
	err |= !dp_init_load("dpvictim", "");
	child = fork();
	if (!child) {
		file = open(rest, O_WRONLY);
		_exit(write(file, "700", 3) == 3 ? 7 : 1);
	}
	err |= !settles(fd, probe, 1, 0);
	/* The kernel waits for the file's function, not for the probe. */
	err |= !dp_init_unload("dpvictim");
	waitpid(child, &status, 0);
	calls = calls_of(fd, probe);
	print(&calls);
	dp_init_check(!err && WIFEXITED(status) && WEXITSTATUS(status) == 7 &&
			      calls.returned == 1 && !calls.inside,
		      "a module goes while a call is inside, which returns",
		      OF);
	err |= !dp_init_load("dpvictim", "");
	file = open(rest, O_WRONLY);
	err |= write(file, "1", 1) != 1;
	close(file);
	err |= !dp_init_unload("dpvictim");
	dp_init_check(!err && calls_of(fd, probe).returned == 2,
		      "and is followed when it comes again", OF);
	close(fd);
}

static long parameter(const char *name)
{
	char path[96], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/dpnmi/parameters/%s", name);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		*text = '\0';
	if (f)
		fclose(f);
	return *text ? strtol(text, NULL, 10) : -1;
}

/* NMIs come in the middle of hits of what is called all the time. */
static void nmis(unsigned int arming)
{
	struct dp_device_calls in, out;
	unsigned int probe = 0, gcd = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ? err :
		    add(fd, "dpnmi:dptest_in_nmi",
			DP_DEVICE_RETURNS | DP_DEVICE_PENDING, &probe);
	err = err ? err : add(fd, "gcd", DP_DEVICE_RETURNS, &gcd);
	err = err ? err : dp_device_commit(fd, 0);
	err |= !dp_init_load("dpnmi", "bare=1");
	in = calls_of(fd, probe);
	out = calls_of(fd, gcd);
	print(&in);
	print(&out);
	printf("# %ld NMIs, %ld calls, %ld wrong\n", parameter("nmis"),
	       parameter("calls"), parameter("wrong"));
	dp_init_check(!err && parameter("nmis") > 100 && !parameter("wrong") &&
			      in.entered == (unsigned long)parameter("nmis") &&
			      in.returned == in.entered && !in.missed,
		      armings[arming], OF "calls in NMIs are followed, ");
	dp_init_check(out.entered == (unsigned long)parameter("calls") &&
			      out.returned == out.entered && !out.missed,
		      armings[arming],
		      OF "as are those which these interrupt, ");
	close(fd);
	dp_init_unload("dpnmi");
}

static void refuse(void)
{
	struct dp_device_calls calls = { .probe = 0 };
	struct dp_device_bind bind = { .maxhits = DP_DEVICE_UNLIMITED,
				       .exceptions = 0xfff };
	static const unsigned char ends[] = { DP_OPCODE_EXIT };
	struct dp_device_program want = { .variables = 0 };
	unsigned int plain = 0, probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);

	err = err ? err : add(fd, DP_UMASK, 0, &plain);
	err = err ? err : add(fd, DP_GETSID, DP_DEVICE_RETURNS, &probe);
	err = err ? err : dp_device_program(fd, ends, 1, &want, NULL);
	dp_init_check(!err && add(fd, DP_GETSID "+0x5", DP_DEVICE_RETURNS,
				  &probe) == -EINVAL,
		      "refused: an instruction's return", OF);
	dp_init_check(add(fd, "__switch_to", DP_DEVICE_RETURNS, &probe) ==
			      -EINVAL,
		      "refused: a return to another task", OF);
	dp_init_check(add(fd, DP_GETSID, DP_DEVICE_RECORDS, &probe) ==
				      -EINVAL &&
			      add(fd, DP_GETSID, 8, &probe) == -EINVAL,
		      "refused: records of no returns, and other flags", OF);
	calls.probe = plain;
	dp_init_check(ask(fd, DP_DEVICE_CALLS, &calls) == -EINVAL,
		      "refused: the calls of a plain probe", OF);
	bind.probe = plain;
	bind.program = want.program;
	bind.leaves = 1;
	err = ask(fd, DP_DEVICE_BIND, &bind);
	bind.leaves = 0;
	bind.start = DP_DEVICE_NOWHERE;
	err = err == -EINVAL ? ask(fd, DP_DEVICE_BIND, &bind) : 0;
	dp_init_check(err == -EINVAL, "refused: what a plain probe does not do",
		      OF);
	bind.probe = 1;
	bind.flags = DP_DEVICE_JUDGED;
	err = ask(fd, DP_DEVICE_BIND, &bind);
	bind.leaves = 2;
	err = err == -EINVAL ? ask(fd, DP_DEVICE_BIND, &bind) : 0;
	bind.leaves = 1;
	bind.flags = 4;
	err = err == -EINVAL ? ask(fd, DP_DEVICE_BIND, &bind) : 0;
	bind.flags = DP_DEVICE_JUDGED;
	dp_init_check(err == -EINVAL && !ask(fd, DP_DEVICE_BIND, &bind),
		      "refused: where no program begins", OF);
	close(fd);
	fd = dp_device_open(0);
	dp_init_check(follow(fd, DP_GETSID, 100000, &probe) == -ENOMEM,
		      "refused: more than there are stubs", OF);
	close(fd);
}

void dp_returns_try(void)
{
	unsigned int arming;

	for (arming = 0; arming < 3; arming++) {
		count(arming);
		logs(arming);
	}
	sleepers();
	traces();
	deaths();
	misses();
	beside();
	modules();
	nmis(DP_DEVICE_JUMP);
	nmis(DP_DEVICE_TRAP);
	refuse();
}
