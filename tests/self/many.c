// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * many: tens of thousands of probes at once, and one at a time; and for how much
 * memory.
 *
 * FUNCTIONS: how many, at most 50000; CYCLES: probes that come and go again.
 */
#include "tests/self/self.h"

#define MOST 50000
#define ROOM 131072 /* probes in a process (kprobes.h) */

/* Of three kinds, with a symbol and unwind information each. */
__asm__(".text\n"
	".macro one\n"
	".balign 16\n"
	".type many_\\@, @function\n"
	"many_\\@:\n"
	".cfi_startproc\n"
	".if \\@ % 3 == 0\n"
	"push %rbp\n mov %rsp, %rbp\n lea 3(%rdi), %eax\n pop %rbp\n ret\n"
	".elseif \\@ % 3 == 1\n"
	"endbr64\n lea 3(%rdi), %eax\n ret\n"
	".else\n"
	"sub $24, %rsp\n mov %rdi, 8(%rsp)\n mov 8(%rsp), %rax\n"
	"add $3, %rax\n add $24, %rsp\n ret\n"
	".endif\n"
	".cfi_endproc\n"
	".size many_\\@, .-many_\\@\n"
	".endm\n"
	".globl many_text\n"
	".balign 32\n"
	"many_text:\n"
	".rept 50000\n one\n .endr\n"
	"many_end:\n"
	".text\n");

extern char many_text[];
static struct kprobe probes[MOST];
static struct kprobe *list[MOST];
static unsigned char *at[MOST];
static long n, hits;

static DP_HANDLER_GPR int count(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Each begins where the one before it ends, on a multiple of 16. */
static void find(void)
{
	static const unsigned char first[3][4] = {
		{ 0x55, 0x48, 0x89, 0xe5 },
		{ 0xf3, 0x0f, 0x1e, 0xfa },
		{ 0x48, 0x83, 0xec, 0x18 },
	};
	unsigned char *p = (void *)many_text;
	long i;

	for (i = 0; i < MOST; i++) {
		while (memcmp(p, first[0], 4) && memcmp(p, first[1], 4) &&
		       memcmp(p, first[2], 4))
			p += 16;
		at[i] = p;
		p += 16;
	}
}

static void prepare(void)
{
	long i;

	for (i = 0; i < n; i++) {
		probes[i] =
			(struct kprobe){ .addr = at[i], .pre_handler = count };
		list[i] = &probes[i];
	}
}

static long call_all(void)
{
	long i, right = 0;

	hits = 0;
	for (i = 0; i < n; i++)
		right += ((int (*)(long))at[i])(i) == (int)i + 3;
	return right;
}

/* kB. A page counts as one, whether or not another process has it, too. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0, n;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &n) == 1 ||
		    sscanf(line, "RssShmem: %ld", &n) == 1)
			kb += n;
	if (f)
		fclose(f);
	return kb;
}

static void batch(struct text *text)
{
	double began;
	long had = resident();

	prepare();
	began = seconds();
	is(register_kprobes(list, (int)n), 0, "all at once");
	printf("# %ld on: %.0f ms\n", n, (seconds() - began) * 1e3);
	printf("# memory: %ld B a probe\n", (resident() - had) * 1024 / n);
	is(call_all(), n, "every function is right");
	is(hits, n, "and every probe was hit");
	began = seconds();
	unregister_kprobes(list, (int)n);
	printf("# %ld off: %.0f ms\n", n, (seconds() - began) * 1e3);
	is(text_differs(text), 0, "the text is as it was");
	prepare();
	began = seconds();
	is(register_kprobes(list, (int)n), 0, "all at once, again");
	printf("# %ld on again: %.0f ms\n", n, (seconds() - began) * 1e3);
	began = seconds();
	dp_kprobes_enabled(0);
	dp_kprobes_enabled(1);
	dp_kprobes_optimization(0);
	dp_kprobes_optimization(1);
	printf("# knobs: %.0f ms\n", (seconds() - began) * 1e3);
	unregister_kprobes(list, (int)n);
}

static void singly(struct text *text)
{
	double began;
	long i, bad = 0;

	prepare();
	began = seconds();
	for (i = 0; i < n; i++)
		bad += register_kprobe(list[i]) != 0;
	printf("# %ld on one at a time: %.0f ms\n", n,
	       (seconds() - began) * 1e3);
	is(bad, 0, "one at a time");
	is(call_all(), n, "every function is right");
	is(hits, n, "and every probe was hit");
	began = seconds();
	for (i = 0; i < n; i++)
		unregister_kprobe(list[i]);
	printf("# %ld off one at a time: %.0f ms\n", n,
	       (seconds() - began) * 1e3);
	is(text_differs(text), 0, "the text is as it was");
}

/* As many as there is room for, and one more: all or none. */
static void too_many(struct text *text)
{
	struct kprobe *all = calloc(ROOM + 1, sizeof(*all));
	struct kprobe **each = calloc(ROOM + 1, sizeof(*each));
	long i;

	for (i = 0; i <= ROOM; i++) {
		all[i] = (struct kprobe){ .addr = at[i % n],
					  .pre_handler = count };
		each[i] = &all[i];
	}
	is(register_kprobes(each, ROOM + 1), -ENOMEM, "one too many");
	ok(strstr(dp_last_diag()->text, "cannot be probed: there are too many"),
	   "it says so");
	printf("# %s\n", dp_last_diag()->text);
	is(text_differs(text), 0, "the text is as it was");
	is(call_all(), n, "every function is right");
	is(hits, 0, "and has no probe");
	is(register_kprobes(each, ROOM), 0, "as many as there is room for");
	is(call_all(), n, "every function is right");
	is(hits, ROOM, "and every probe was hit");
	unregister_kprobes(each, ROOM);
	is(text_differs(text), 0, "the text is as it was");
	free(each);
	free(all);
}

/* Return: how many kB more there are than behind the first tenth of the cycles */
static long cycle(long cycles, long *bad)
{
	struct kprobe p = { .addr = at[0], .pre_handler = count };
	struct kretprobe r = { .kp.addr = at[1],
			       .maxactive = 20,
			       .data_size = 100 };
	long i, before = 0;

	for (i = 0; i < cycles; i++) {
		*bad += register_kprobe(&p) || register_kretprobe(&r);
		unregister_kprobe(&p);
		unregister_kretprobe(&r);
		if (i == cycles / 10)
			before = resident();
	}
	return resident() - before;
}

/* Again and again: what is kept of a place is kept once. A tool that looks at all processes meanwhile
 * has this one's rings come into memory, once; what is lost in each cycle is lost in the next ones, too. */
static void come_and_go(void)
{
	long cycles = amount("CYCLES", 3000) * 10, bad = 0, more, tries = 0;

	do {
		more = cycle(cycles, &bad);
		printf("# %ld cycles: %ld kB more\n", cycles, more);
	} while (more >= 512 && ++tries < 3);
	is(bad, 0, "probes come and go");
	ok(more < 512, "and no memory is lost: %ld kB more by %ld cycles", more,
	   cycles);
}

/* Of those with an instruction of one byte first: a breakpoint, a jump with a breakpoint
 * inside, or a jump. */
static int written_as(void *arm)
{
	long i, some = 300, jumps = 0, inside = 0;
	bool quiesces = !strcmp(arm, "quiesce");

	setenv("DPROBES_ARM", arm, 1);
	prepare();
	EXPECT(!register_kprobes(list, (int)some));
	for (i = 0; i < some; i += 3) {
		jumps += at[i][0] == 0xe9;
		inside += at[i][1] == 0xcc;
	}
	unregister_kprobes(list, (int)some);
	EXPECT(jumps == (strcmp(arm, "trap") ? 100 : 0));
	EXPECT(quiesces ? inside < 50 : inside == jumps);
	return 0;
}

static volatile long turns;
static volatile bool stop;

static void *turn_all(void *arg)
{
	while (!stop) {
		if (dp_kprobes_enabled(turns & 1) < 0)
			return arg;
		turns++;
	}
	return dp_kprobes_enabled(1) < 0 ? arg : NULL;
}

static int by_size(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool be(int policy, int priority)
{
	const struct sched_param p = { .sched_priority = priority };

	return !sched_setscheduler(0, policy, &p);
}

/* A thread that waits for the library comes next, so between two calls of this thread there are two of the
 * other's. By realtime's priority, both have a CPU all the time. */
#define TIMES 200
static int waits_its_turn(void *unused)
{
	struct kprobe one = { .pre_handler = count }, two = one;
	long between[TIMES], i;
	pthread_t thread;
	void *failed;

	one.addr = at[0];
	two.addr = at[1];
	EXPECT(be(SCHED_FIFO, 1) && !register_kprobe(&one) &&
	       !pthread_create(&thread, NULL, turn_all, &one));
	while (turns < 10)
		sched_yield();
	for (i = 0; i < TIMES; i++) {
		between[i] = turns;
		EXPECT(!register_kprobe(&two));
		unregister_kprobe(&two);
		between[i] = turns - between[i];
	}
	stop = true;
	pthread_join(thread, &failed);
	unregister_kprobe(&one);
	qsort(between, TIMES, sizeof(*between), by_size);
	printf("# %ld turns of the other thread by two of one, at most %ld\n",
	       between[TIMES / 2], between[TIMES - 1]);
	EXPECT(!failed && between[TIMES / 2] > 0 && between[TIMES / 2] <= 4);
	return 0;
}

int main(void)
{
	struct text text = text_of("/proc/self/exe");

	n = amount("FUNCTIONS", 50000);
	if (n > MOST)
		n = MOST;
	setvbuf(stdout, NULL, _IOLBF, 0);
	find();
	ok_child(written_as, "trap", 60, "breakpoints, as asked");
	ok_child(written_as, "interior", 60, "jumps with breakpoints inside");
	ok_child(written_as, "quiesce", 60, "jumps without");
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1 && be(SCHED_FIFO, 1) &&
	    be(SCHED_OTHER, 0))
		ok_child(
			waits_its_turn, NULL, 60,
			"a thread that calls all the time lets the others call");
	else
		skip("a thread that calls all the time lets the others call",
		     "one CPU, or no realtime priority");
	batch(&text);
	singly(&text);
	too_many(&text);
	come_and_go();
	return plan();
}
