// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangle: linkage names of C++ and Rust as their sources write them, within limits.
 *
 * A reader is left by a jump when its text gets too long, or when a timer has ticked for the
 * second time within one name. The timer's jump may come at any instruction, and
 * is only for readers without a heap; the others emit in each branch that they
 * take, and so the length of their text is a limit of their time.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "sym/demangle.h"

#define TICK_US 10000
#define TICKS_MAX 2

static const struct dp_demangler *readers;
static size_t nr_readers;
static unsigned int watches;

static sigjmp_buf out;
static volatile sig_atomic_t leavable, ticks;

struct text {
	char *v;
	size_t n;
};

void dp_demangle_use(const struct dp_demangler *list, size_t n)
{
	readers = list;
	nr_readers = list ? n : 0;
}

bool dp_demangle_ready(void)
{
	return nr_readers;
}

static void on_tick(int sig)
{
	if (leavable && ++ticks >= TICKS_MAX)
		siglongjmp(out, 1);
}

static void set_timer(long us)
{
	struct itimerval every = { { 0, us }, { 0, us } };

	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

void dp_demangle_begin(void)
{
	/* The handler does not return: its signal must not be blocked. */
	struct sigaction sa = { .sa_handler = on_tick,
				.sa_flags = SA_RESTART | SA_NODEFER };

	if (!nr_readers || watches++)
		return;
	sigaction(SIGVTALRM, &sa, NULL);
	set_timer(TICK_US);
}

void dp_demangle_end(void)
{
	if (nr_readers && !--watches)
		set_timer(0);
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

static bool read_with(const struct dp_demangler *d, const char *name,
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

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	       strnlen(name, DP_MANGLED_MAX + 1) <= DP_MANGLED_MAX;
}

bool dp_demangle(const char *name, enum dp_demangle_form form, char *text)
{
	bool ok = false;
	size_t i;

	if (!nr_readers || !is_mangled(name))
		return false;
	dp_demangle_begin();
	for (i = 0; i < nr_readers && !ok; i++)
		ok = read_with(&readers[i], name, form, text);
	dp_demangle_end();
	return ok;
}

bool dp_demangle_match(const char *name, const char *want, bool glob)
{
	enum dp_demangle_form form;
	char text[DP_DEMANGLED_MAX + 1];

	for (form = 0; form < DP_DEMANGLE_FORMS; form++) {
		if (!dp_demangle(name, form, text))
			return false;
		if (glob ? !fnmatch(want, text, 0) : !strcmp(text, want))
			return true;
	}
	return false;
}
