// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stacks_init: stacks of hits, by /dev/dprobes and by dprobes(1), beside those that the kernel's own tracer has of the same
 * calls.
 */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OF "stacks: "
#define RESTRICT "/proc/sys/kernel/kptr_restrict"
/* Called for reads and writes of all kinds, and for each tick of a CPU */
#define ACCESS "rw_verify_area"
#define TICK "update_process_times"
#define STATUS 3
#define CALLS 40
#define HITS 4096
/* Of a record with one value */
#define PREFIX 3

/** struct session - @probe: which logs the number of its stack; @at: address of its instruction */
struct session {
	int fd;
	unsigned int probe;
	uint64_t at;
};

/** struct hits - the numbers of stacks, in order of time, that a task's hits have had */
struct hits {
	unsigned int n, number[HITS], context[HITS];
};

static int add(struct session *s, const char *name)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_device_add(s->fd, name, words, &add);

	if (err)
		printf("# %s: %s\n", name, words);
	s->probe = add.probe;
	s->at = add.addr;
	return err;
}

static int add_program(const struct session *s)
{
	static const unsigned char code[] = { DP_OPCODE_PUSH_BACKTRACE,
					      DP_OPCODE_LOG_I, 1, 0,
					      DP_OPCODE_EXIT };
	struct dp_device_program want = { .log = PREFIX + 8 };
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_device_program(s->fd, code, sizeof(code), &want, words);

	if (err)
		printf("# %d: %s\n", err, words);
	return err ?: dp_device_bind(s->fd, s->probe, want.program, 0);
}

static int begin(struct session *s, const char *name, unsigned int arming)
{
	int err;

	s->fd = dp_device_open(0);
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	err = dp_device_start(s->fd, arming) ?: add(s, name);
	return err ?: add_program(s) ?: dp_device_commit(s->fd, 0);
}

/* Reading records is an access, too. */
static int stop(const struct session *s)
{
	struct dp_device_turn turn = { .probe = s->probe };

	return ioctl(s->fd, DP_DEVICE_TURN, &turn) ? -errno :
						     dp_device_commit(s->fd, 0);
}

/* @tid: 0: of every task */
static void read_hits(int fd, unsigned int tid, struct hits *h)
{
	static char buffer[1 << 16];
	const struct dp_device_record *r;
	uint64_t value;
	ssize_t n, at;

	h->n = 0;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < n; at += r->size) {
			r = (const void *)(buffer + at);
			memcpy(&value, (const char *)(r + 1) + PREFIX, 8);
			if (h->n == HITS || (tid && r->tid != tid))
				continue;
			h->context[h->n] = r->context;
			h->number[h->n++] = (unsigned int)value;
		}
}

static int get(int fd, unsigned int number, struct dp_device_stack *stack,
	       uint64_t frames[DP_DEVICE_FRAMES])
{
	*stack = (struct dp_device_stack){ .frames = (uint64_t)frames,
					   .number = number,
					   .nr = DP_DEVICE_FRAMES };
	return ioctl(fd, DP_DEVICE_STACK, stack) ? -errno : 0;
}

static int is_exact(const struct dp_device_stack *s, unsigned int i)
{
	return s->exact[i / 64] >> i % 64 & 1;
}

static void show(const char *whose, const uint64_t *frames, unsigned int n)
{
	unsigned int i;

	printf("# %s:", whose);
	for (i = 0; i < n; i++)
		printf(" %lx", (unsigned long)frames[i]);
	printf("\n");
}

/* One system call has one stack, whose first frame is what is probed, and whose last is the kernel's entry. */
static void calls(unsigned int arming, const char *how)
{
	struct session s = { .fd = -1 };
	struct dp_device_stack stack = { 0 };
	uint64_t frames[DP_DEVICE_FRAMES] = { 0 },
		 entry = dp_init_address("entry_SYSCALL_64");
	int err = begin(&s, DP_GETSID, arming), i, same = 1;
	static struct hits h;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_getsid, 0);
	read_hits(s.fd, (unsigned int)getpid(), &h);
	for (i = 0; i < (int)h.n; i++)
		same &= h.number[i] == h.number[0];
	err = err ?: get(s.fd, h.number[0], &stack, frames);
	dp_init_check(!err && h.n == CALLS && h.number[0] && same, how,
		      OF "the same calls have the same stack, ");
	dp_init_check(stack.end == DP_DEVICE_STACK_COMPLETE && stack.nr > 2 &&
			      stack.nr == stack.all && !stack.lost &&
			      frames[0] == s.at && is_exact(&stack, 0) &&
			      !is_exact(&stack, 1) &&
			      frames[stack.nr - 1] - entry < 0x200,
		      how, OF "from the probed instruction to the entry, ");
	printf("# %s: %d, %u hits, %u frames, end %u, %#lx at %#lx, last %#lx\n",
	       how, err, h.n, stack.nr, stack.end, (unsigned long)frames[0],
	       (unsigned long)s.at,
	       stack.nr ? (unsigned long)frames[stack.nr - 1] : 0);
	close(s.fd);
}

/* What may be asked, and by whom */
static void asks(void)
{
	struct session s = { .fd = -1 };
	struct dp_device_stack stack;
	uint64_t frames[DP_DEVICE_FRAMES];
	static struct hits h;
	int err = begin(&s, DP_GETSID, DP_DEVICE_JUMP), few, fault;

	syscall(SYS_getsid, 0);
	read_hits(s.fd, (unsigned int)getpid(), &h);
	stack = (struct dp_device_stack){ .frames = (uint64_t)frames,
					  .number = h.number[0],
					  .nr = 1 };
	frames[1] = 1;
	few = ioctl(s.fd, DP_DEVICE_STACK, &stack);
	dp_init_check(!err && !few && stack.nr == 1 && stack.all > 2 &&
			      frames[0] == s.at && frames[1] == 1,
		      "as many frames as there is room for", OF);
	err = get(s.fd, h.number[0] + 1, &stack, frames);
	dp_init_check(!err && !stack.nr && !stack.end,
		      "a number that no hit has", OF);
	stack = (struct dp_device_stack){ .number = h.number[0], .nr = 2 };
	fault = ioctl(s.fd, DP_DEVICE_STACK, &stack) ? errno : 0;
	stack = (struct dp_device_stack){ .number = h.number[0], .nr = 129 };
	err = ioctl(s.fd, DP_DEVICE_STACK, &stack) ? errno : 0;
	dp_init_check(fault == EFAULT && err == EINVAL,
		      "addresses and sizes are checked", OF);
	close(s.fd);
	s.fd = dp_device_open(0);
	dp_device_start(s.fd, DP_DEVICE_JUMP);
	err = add(&s, DP_GETSID) ?: dp_device_commit(s.fd, 0);
	fault = get(s.fd, h.number[0], &stack, frames);
	dp_init_check(!err && !fault && !stack.nr,
		      "the next session has none of the last one's", OF);
	close(s.fd);
	dp_init_put(RESTRICT, "2");
	s.fd = dp_device_open(0);
	dp_device_start(s.fd, DP_DEVICE_JUMP);
	err = add(&s, DP_GETSID) ?: dp_device_commit(s.fd, 0);
	fault = get(s.fd, 1, &stack, frames);
	dp_init_check(!err && fault == -EPERM,
		      "where addresses are shown to nobody, there are none",
		      OF);
	close(s.fd);
	dp_init_put(RESTRICT, "0");
}

/* --- beside the kernel's own --- */

static char traced[1 << 20];

static void trace_begin(const char *function)
{
	char event[128];

	snprintf(event, sizeof(event), "p:dpstack %s", function);
	dp_init_put("/tracing/kprobe_events", event);
	/* It is hardly any before the first event is enabled. */
	dp_init_put("/tracing/buffer_size_kb", "1024");
	dp_init_put("/tracing/trace_options", "sym-addr");
	dp_init_put("/tracing/trace", "");
	dp_init_put("/tracing/events/kprobes/dpstack/trigger", "stacktrace");
}

static void trace_end(void)
{
	int fd;
	ssize_t n, at = 0;

	dp_init_put("/tracing/events/kprobes/dpstack/trigger", "!stacktrace");
	fd = open("/tracing/trace", O_RDONLY);
	while ((n = read(fd, traced + at, sizeof(traced) - 1 - (size_t)at)) > 0)
		at += n;
	traced[at] = '\0';
	close(fd);
	dp_init_put("/tracing/trace_options", "nosym-addr");
	dp_init_put("/tracing/kprobe_events", "-:dpstack");
}

/* The next stack of the trace that @task has, from the function on whose first bytes are at @start. Return: behind it; NULL:
 * there is none. */
static const char *next_traced(const char *at, const char *task, uint64_t start,
			       uint64_t *frames, unsigned int *n)
{
	const char *end;
	uint64_t frame;
	int mine = 0, in = 0;

	for (*n = 0; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		if (strncmp(at, " => ", 4)) {
			if (*n)
				return at;
			in = 0;
			mine = memmem(at, (size_t)(end - at), task,
				      strlen(task)) &&
			       memmem(at, (size_t)(end - at), "<stack trace>",
				      13);
			continue;
		}
		at = memmem(at, (size_t)(end - at), "<", 1);
		if (!mine || !at || *n == DP_DEVICE_FRAMES)
			continue;
		frame = strtoull(at + 1, NULL, 16);
		in |= frame - start < 32;
		if (in)
			frames[(*n)++] = frame;
	}
	return *n ? at : NULL;
}

/* Callers are the same. The kernel's own probe is at the function's first bytes, ours behind them. */
static int is_same(const uint64_t *ours, unsigned int n, const uint64_t *theirs,
		   unsigned int k)
{
	unsigned int i;

	for (i = 1; i < n && i < k && ours[i] == theirs[i]; i++)
		continue;
	return n == k && i == n;
}

/** struct sums - of stacks that both have; @different: kinds of stacks */
struct sums {
	unsigned int same, wrong, different;
};

static struct sums compare(const struct session *s, const struct hits *h,
			   const char *task, uint64_t start)
{
	uint64_t ours[DP_DEVICE_FRAMES], theirs[DP_DEVICE_FRAMES];
	struct dp_device_stack stack;
	const char *at = traced;
	struct sums sums = { 0 };
	unsigned int i, k, n;

	for (i = 0; i < h->n; i++) {
		at = next_traced(at, task, start, theirs, &n);
		if (!at)
			break;
		if (get(s->fd, h->number[i], &stack, ours))
			continue;
		if (is_same(ours, stack.nr, theirs, n)) {
			sums.same++;
		} else if (!sums.wrong++) {
			show("ours", ours, stack.nr);
			show("theirs", theirs, n);
		}
		for (k = 0; k < i && h->number[k] != h->number[i]; k++)
			continue;
		sums.different += k == i;
	}
	return sums;
}

/* Reads and writes from several functions */
static void access_all(int fd)
{
	char byte[2] = "";
	struct iovec v[] = { { byte, 1 }, { byte + 1, 1 } };
	int i;

	for (i = 0; i < CALLS; i++) {
		if (read(fd, byte, 1) != 1 || write(fd, byte, 1) != 1 ||
		    readv(fd, v, 2) != 2 || writev(fd, v, 2) != 2)
			printf("# %d\n", errno);
	}
}

/* In a child, whose name nobody else has */
static unsigned int access_apart(void)
{
	pid_t child = fork();
	int fd;

	if (!child) {
		fd = open("/dev/zero", O_RDWR);
		access_all(fd);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return (unsigned int)child;
}

/* The compiler may have put it into all that call it. */
static int is_called(void)
{
	struct session s = { .fd = dp_device_open(0) };
	struct dp_device_count c = { 0 };
	int err = dp_device_start(s.fd, DP_DEVICE_JUMP) ?: add(&s, ACCESS);

	err = err ?: dp_device_commit(s.fd, 0);
	access_apart();
	err = err ?: dp_device_counts(s.fd, &c, s.probe, 1) != 1;
	close(s.fd);
	return !err && c.hits;
}

static void beside(unsigned int arming, const char *how)
{
	uint64_t start = dp_init_address(ACCESS);
	struct session s = { .fd = -1 };
	static struct hits h;
	struct sums sums;
	unsigned int child;
	char task[32];
	int err;

	trace_begin(ACCESS);
	err = begin(&s, ACCESS, arming);
	child = access_apart();
	trace_end();
	err = err ?: stop(&s);
	read_hits(s.fd, child, &h);
	snprintf(task, sizeof(task), "-%u ", child);
	sums = compare(&s, &h, task, start);
	dp_init_check(!err && h.n == 4 * CALLS && sums.same == h.n &&
			      !sums.wrong && sums.different >= 4,
		      how, OF "each is the one that the kernel has, ");
	printf("# %s: %d, %u hits, %u same, %u wrong, %u different\n", how, err,
	       h.n, sums.same, sums.wrong, sums.different);
	close(s.fd);
}

/* Where interrupts come, frames go on in what was interrupted, with the instruction itself. The kernel's unwinder does not know
 * each place of its code: of such a stack the end is told. */
static void ticks(void)
{
	uint64_t frames[DP_DEVICE_FRAMES];
	unsigned int i, k, whole = 0, exact = 0, in = 0;
	struct session s = { .fd = -1 };
	struct dp_device_stack stack;
	static struct hits h;
	int err = begin(&s, TICK, DP_DEVICE_JUMP), fd;
	clock_t until;

	fd = open("/dev/zero", O_RDWR);
	until = clock() + CLOCKS_PER_SEC / 2;
	while (clock() < until)
		access_all(fd);
	close(fd);
	read_hits(s.fd, 0, &h);
	for (i = 0; i < h.n; i++) {
		if (get(s.fd, h.number[i], &stack, frames))
			continue;
		whole += stack.end == DP_DEVICE_STACK_COMPLETE;
		if (stack.end != DP_DEVICE_STACK_COMPLETE)
			show("it is not whole", frames, stack.nr);
		in += h.context[i] == 2;
		for (k = 1; k < stack.nr && !is_exact(&stack, k); k++)
			continue;
		exact += k < stack.nr;
	}
	dp_init_check(!err && h.n > 20 && in == h.n && whole >= h.n / 4 * 3 &&
			      exact > 5,
		      "of interrupts, with what they have interrupted", OF);
	printf("# text %lx\n", dp_init_address("_stext"));
	printf("# %u ticks, %u in interrupts, %u whole, %u of the kernel's code\n",
	       h.n, in, whole, exact);
	close(s.fd);
}

/* What the unwinder calls has probes: they count, run nothing, and change nothing. */
static void recursion(void)
{
	static const char *const inner[] = { "unwind_next_frame",
					     "unwind_get_return_address",
					     "__unwind_start",
					     "kernel_text_address" };
	uint64_t frames[DP_DEVICE_FRAMES], start = dp_init_address(ACCESS);
	struct dp_device_counts counts = { 0 };
	struct session s = { .fd = dp_device_open(0) }, other;
	struct dp_device_stack stack;
	static struct hits h;
	unsigned int i, whole = 0, child, probes = 0;
	int err = dp_device_start(s.fd, DP_DEVICE_JUMP) ?: add(&s, ACCESS);

	err = err ?: add_program(&s);
	fcntl(s.fd, F_SETFL, O_NONBLOCK);
	for (i = 0; i < sizeof(inner) / sizeof(*inner); i++) {
		other = s;
		probes += !add(&other, inner[i]) && !add_program(&other);
	}
	err = err ?: dp_device_commit(s.fd, 0);
	child = access_apart();
	err = err ?: stop(&s);
	read_hits(s.fd, child, &h);
	for (i = 0; i < h.n; i++)
		whole += !get(s.fd, h.number[i], &stack, frames) &&
			 frames[0] - start < 32 &&
			 stack.end == DP_DEVICE_STACK_COMPLETE;
	err = err ?: ioctl(s.fd, DP_DEVICE_COUNTS, &counts);
	dp_init_check(!err && probes > 1 && h.n == 4 * CALLS && whole == h.n &&
			      counts.within >= h.n,
		      "probes on the unwinder are counted, and stacks whole",
		      OF);
	printf("# %d, %u probes, %u hits, %u whole, %llu within\n", err, probes,
	       h.n, whole, counts.within);
	close(s.fd);
}

#define GETSID "kernel:" DP_GETSID
#define WORK "--", "/init", "work", "40", "77", "0"

static int has(const char *words)
{
	return strstr(dp_tool_out, words) != NULL;
}

static void tool(void)
{
	int status = DP_TOOL("trace", "--stack", GETSID, WORK);

	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("\n    " DP_GETSID "+0x") ==
				      CALLS &&
			      dp_tool_occurrences("\n    do_syscall_64+0x") ==
				      CALLS &&
			      !has("[no unwind") && !has("[unknown]"),
		      "trace --stack shows that of each hit");
	status = DP_TOOL("trace", "--json", "--stack", GETSID, WORK);
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("\"stack\":[\"" DP_GETSID
						  "+0x") == CALLS &&
			      dp_tool_occurrences(
				      "\"stack_end\":\"complete\"") == CALLS,
		      "as JSON");
	status = DP_TOOL("stat", "--json", GETSID "{count() by stack}",
			 "kernel:" DP_UMASK "{count() by comm, stack}", WORK);
	dp_tool_check(
		status == STATUS && dp_tool_occurrences("\"count()\"") == 2 &&
			has("\"count()\":40}") && has("\"count()\":77}") &&
			has("\"stack\":[\"" DP_GETSID "+0x"),
		"hits are counted by stack");
	status = DP_TOOL("stacks", "--folded", GETSID, WORK);
	dp_tool_check(status == STATUS &&
			      has(";do_syscall_64;" DP_GETSID " 40\n") &&
			      !strncmp(dp_tool_out, "init;", 5),
		      "dprobes stacks counts them");
	status = DP_TOOL("stat", "--json",
			 "r:kernel:" DP_UMASK "{count() by stack}", WORK);
	dp_tool_check(status == STATUS && has("\"count()\":77}") &&
			      has("\"stack\":[\"" DP_UMASK "+0x"),
		      "at a return, that of the entry");
	dp_init_load("dpbytes", "functions=" DP_GETSID);
	status = DP_TOOL("trace", "--stack", "kernel:dpbytes:tell", "--",
			 "/init", "work", "0", "0", "3");
	dp_init_unload("dpbytes");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("    tell+0x") == 3 &&
			      dp_tool_occurrences(" [dpbytes]\n") >= 3,
		      "functions of modules have these behind their names");
	dp_init_put(RESTRICT, "2");
	status = DP_TOOL("trace", "--stack", GETSID, WORK);
	dp_init_put(RESTRICT, "0");
	dp_tool_check(status == 1 && dp_tool_says("CAP_SYSLOG"),
		      "who may not see addresses has no stacks");
}

void dp_stacks_try(void)
{
	calls(DP_DEVICE_JUMP, "by a jump");
	calls(DP_DEVICE_TRAP, "by a breakpoint");
	asks();
	ticks();
	tool();
	if (!is_called()) {
		dp_init_skip("stacks beside the kernel's",
			     "this kernel does not call " ACCESS);
		return;
	}
	recursion();
	if (dp_init_events()) {
		beside(DP_DEVICE_JUMP, "by a jump");
		beside(DP_DEVICE_TRAP, "by a breakpoint");
	} else {
		dp_init_skip("stacks beside the kernel's", DP_INIT_NO_EVENTS);
	}
}
