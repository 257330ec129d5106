// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * report: tell the program, at a call of the library, what happened at hits before.
 *
 * The hit half only counts news; control finds out what they are.
 *
 * Lock: "news" (DESIGN.md, Locks), under the library's.
 */
#include "lib/frames.h"
#include "lib/self.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINES 16
#define LINE_MAX 200

static void (*report)(const char *line);
static char lines[LINES][LINE_MAX];
static size_t nr_lines; /* read without the lock */
static u32 known; /* news */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool on_hold;

void dp_set_report(void (*to)(const char *line))
{
	pthread_mutex_lock(&lock);
	report = to;
	pthread_mutex_unlock(&lock);
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&lock);
	if (nr_lines < LINES) {
		va_start(ap, fmt);
		vsnprintf(lines[nr_lines++], LINE_MAX, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&lock);
}

static void say_faulted(u32 i)
{
	const struct dp_user *u = &dp_self.users[i];
	const char *name = NULL, *module = NULL;
	u64 addr = dp_live_addr(dp_self.engine, i), offset = 0;

	dp_symbol_map_name(dp_self.symbols, addr, &name, &offset, &module);
	if (u->guest) {
		say("a function has faulted that a program at %s+0x%lx called; that probe is disabled",
		    name ? name : "?", offset);
		return;
	}
	say("a handler of the %s at %s+0x%lx has faulted, and is not called any more",
	    u->kind == 'r' ? "return probe" :
	    u->kind == 'j' ? "jprobe" :
			     "kprobe",
	    name ? name : "?", offset);
}

/* A call whose instance was abandoned has returned all the same. Reported once, because
 * programs that copy stacks do it all the time. */
static void say_late(void)
{
	const struct dp_frames *frames = dp_frames();
	static bool said;

	if (said || !__atomic_load_n(&frames->late, __ATOMIC_ACQUIRE))
		return;
	said = true;
	say("kretprobe BUG!: Processing kretprobe %016lx @ %016lx",
	    frames->late_user, frames->late_addr);
}

/* A probe whose handler has faulted is disabled from then on. */
void dp_report_collect(void)
{
	u32 now, i;

	now = __atomic_load_n(&dp_self.arena->hit.news, __ATOMIC_ACQUIRE);
	if (now == known)
		return;
	known = now;
	say_late();
	for (i = 0; i < dp_self.nr_users; i++) {
		if (!dp_self.users[i].p || dp_self.users[i].disabled ||
		    !dp_live_faulted(dp_self.engine, i))
			continue;
		say_faulted(i);
		dp_self.users[i].disabled = true;
		dp_live_enable(dp_self.engine, &dp_self.text.target, &i, 1,
			       false);
		dp_flags_refresh();
	}
}

/* Take the oldest line. Return: the function to call with it; NULL: there is no line, or no function. */
static void (*take_line(char *line, int **error))(const char *)
{
	void (*to)(const char *line);
	u64 mask;

	dp_self_enter(&mask);
	*error = &errno;
	pthread_mutex_lock(&lock);
	to = nr_lines ? report : NULL;
	if (nr_lines) {
		memcpy(line, lines[0], LINE_MAX);
		memmove(lines, lines + 1, --nr_lines * LINE_MAX);
	}
	pthread_mutex_unlock(&lock);
	dp_self_leave(mask);
	return to;
}

void dp_report_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

void dp_report_hold(bool held)
{
	on_hold = held;
}

void dp_report_deliver(void)
{
	char line[LINE_MAX];
	void (*to)(const char *line);
	int *error, was;

	while (!on_hold && __atomic_load_n(&nr_lines, __ATOMIC_RELAXED)) {
		to = take_line(line, &error);
		was = *error;
		if (to)
			to(line);
		*error = was;
	}
}
