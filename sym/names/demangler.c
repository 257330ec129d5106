// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangler: one linkage name of C++ or Rust, read within limits. In the child of demangle.c.
 *
 * A reader is left by a jump when its text gets too long, or when a timer has ticked for the
 * second time within one name. The timer's jump may come at any instruction, and is only for
 * readers without a heap. The others emit in each branch that they take, and so the length of
 * their text is a limit of their time.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "sym/names/demangler.h"

#define TICK_US 10000
#define TICKS_MAX 2

static sigjmp_buf out;
static volatile sig_atomic_t leavable, ticks;
static volatile u32 late;

struct text {
	char *v;
	size_t n;
};

static void on_tick(int sig)
{
	if (!leavable || ++ticks < TICKS_MAX)
		return;
	late++;
	siglongjmp(out, 1);
}

u32 dp_demangler_late(void)
{
	return late;
}

void dp_demangler_begin(void)
{
	static const struct itimerval every = { { 0, TICK_US },
						{ 0, TICK_US } };
	/* The handler does not return: its signal must not be blocked. */
	struct sigaction sa = { .sa_handler = on_tick,
				.sa_flags = SA_RESTART | SA_NODEFER };

	sigaction(SIGVTALRM, &sa, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static void emit(const char *piece, size_t len, void *arg)
{
	struct text *t = arg;

	if (len > DP_DEMANGLED_MAX - t->n) {
		leavable = false;
		siglongjmp(out, 1);
	}
	memcpy(t->v + t->n, piece, len);
	t->n += len;
}

bool dp_demangler_read(const struct dp_demangler *d, const char *name,
		       enum dp_demangle_form form, char *text)
{
	struct text t = { .v = text };
	bool ok;

	ticks = 0;
	if (sigsetjmp(out, 0)) {
		leavable = false;
		return false;
	}
	leavable = d->no_heap;
	ok = d->read(name, form, emit, &t);
	leavable = false;
	text[t.n] = '\0';
	return ok && t.n && strlen(text) == t.n;
}
