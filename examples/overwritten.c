// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * overwritten: a program that watches its own data.
 *
 *     cc -pthread -o overwritten overwritten.c $(pkg-config --cflags --libs dprobes)
 *
 * The word behind a buffer changes, and should not. A watchpoint finds the instruction that does it,
 * and its thread, the first time that it happens.
 */
#include <dprobes/hw_breakpoint.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
	char text[24];
	unsigned long guard;
} buffer = { .guard = 0xfeedface };

static struct {
	unsigned long ip, guard;
	int tid, times;
} culprit;

static void on_write(struct perf_event *bp, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	if (__atomic_fetch_add(&culprit.times, 1, __ATOMIC_RELAXED))
		return;
	culprit.ip = regs->ip;
	culprit.guard = buffer.guard;
	culprit.tid = get_current()->pid;
}

/* One byte at a time, and one too many where the text is long. */
__attribute__((noinline, noclone)) static void copy(const char *from)
{
	volatile char *to = buffer.text;
	size_t i, n = strlen(from) + 1;

	for (i = 0; i < n; i++)
		to[i] = from[i];
}

static void *work(void *line)
{
	copy(line);
	return NULL;
}

int main(void)
{
	static char good[] = "as long as it may be ..",
		    bad[] = "it is longer than that ..";
	struct perf_event_attr attr;
	struct perf_event **bp;
	pthread_t t;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&buffer.guard;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_W;
	bp = register_wide_hw_breakpoint(&attr, on_write, NULL);
	if (dp_hw_breakpoint_error(bp)) {
		fprintf(stderr, "%s\n", dp_last_diag()->text);
		return 1;
	}
	copy(good);
	printf("written %d times so far\n", culprit.times);
	pthread_create(&t, NULL, work, bad);
	pthread_join(t, NULL);
	printf("written %d times: first to 0x%lx, by %s in copy()+0x%lx\n",
	       culprit.times, culprit.guard,
	       culprit.tid == get_current()->pid ? "main" : "another thread",
	       culprit.ip - (unsigned long)copy);
	unregister_wide_hw_breakpoint(bp);
	return 0;
}
