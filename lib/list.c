// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* list: all probes in the kernel's format, the blacklist, and the knobs over all probes. */
#include "lib/self.h"
#include "lib/modules.h"
#include "sym/list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *flags_of(const struct dp_user *u, u32 i)
{
	bool jump = !u->gone && dp_live_optimized(dp_self.engine, i);

	if (u->gone)
		return "[GONE]";
	if (u->disabled)
		return jump ? "[DISABLED][OPTIMIZED]" : "[DISABLED]";
	return jump ? "[OPTIMIZED]" : "";
}

/* A probe without a name, or gone, is shown as the kernel does. */
static void show(u32 i, char *text, size_t size)
{
	const struct dp_user *u = &dp_self.users[i];
	const char *name = NULL, *module = NULL;
	u64 addr = u->addr;
	u64 offset = 0;

	if (!u->gone)
		dp_symbol_map_name(dp_self.symbols, addr, &name, &offset,
				   &module);
	if (name)
		snprintf(text, size, "%016lx  %c  %s+0x%lx  %s %s", addr,
			 u->kind, name, offset, module ? module : " ",
			 flags_of(u, i));
	else
		snprintf(text, size, "%016lx  %c  0x%lx %s", addr, u->kind,
			 addr, flags_of(u, i));
}

/* Show the first probe from *@i on, and leave *@i behind it. Return: false: no more. */
static bool show_next(u32 *i, char *text, size_t size)
{
	const struct dp_user *u;

	while (*i < dp_self.nr_users) {
		u = &dp_self.users[(*i)++];
		if (!u->p || u->hidden || u->guest || u->own)
			continue;
		show(*i - 1, text, size);
		return true;
	}
	return false;
}

/* The callback is the program's: it may call the library, fork, or not return. */
int dp_kprobes_list(void (*line)(void *arg, const char *text), void *arg)
{
	char text[512];
	int n = 0, err = dp_self_begin(false);
	u32 i = 0;

	while (!err && show_next(&i, text, sizeof(text))) {
		dp_self_end();
		line(arg, text);
		n++;
		err = dp_self_begin_look();
	}
	if (!err)
		dp_self_end();
	return err && err != -ESRCH ? err : n;
}

/** struct listing - lines of which the program is told later; there is room for @room */
struct listing {
	char (*v)[256];
	size_t n, room;
};

static bool show_range(const struct dp_forbidden *r, void *arg)
{
	struct listing *l = arg;
	char line[sizeof(*l->v)];

	snprintf(line, sizeof(line), "0x%016lx-0x%016lx\t%s: %s", r->start,
		 r->end, r->name ? r->name : "?", r->why);
	return dp_list_push(l, line);
}

int dp_kprobes_blacklist(void (*line)(void *arg, const char *text), void *arg)
{
	struct listing l = { 0 };
	int err = dp_self_begin(true);
	size_t i;
	u64 mask;

	if (err)
		return err;
	if (dp_blacklist_visit(show_range, &l))
		err = dp_fail(-ENOMEM, "out of memory");
	dp_self_end();
	for (i = 0; !err && i < l.n; i++)
		line(arg, l.v[i]);
	dp_self_enter(&mask);
	free(l.v);
	dp_self_leave(mask);
	return err ? err : (int)l.n;
}

/* If it fails, turn the knob back, as far as possible. */
static int turn(bool *off, int on)
{
	int err = 0;

	if (on < 0 || *off == !on)
		return !*off;
	*off = !on;
	if (dp_self.engine) {
		err = dp_live_knobs(dp_self.engine, &dp_self.text.target,
				    !dp_self.disarmed, !dp_self.unoptimized);
		dp_flags_refresh();
	}
	if (err) {
		*off = on;
		dp_live_set_knobs(dp_self.engine, !dp_self.disarmed,
				  !dp_self.unoptimized);
	}
	dp_service_knobs(!dp_self.disarmed, !dp_self.unoptimized);
	return err ? err : !*off;
}

/* Before the first probe, too. */
static int turn_one(bool *off, int on)
{
	int ret = dp_self_begin_any();

	if (ret)
		return ret;
	ret = turn(off, on);
	dp_self_end();
	return ret;
}

int dp_kprobes_enabled(int on)
{
	return turn_one(&dp_self.disarmed, on);
}

int dp_kprobes_optimization(int on)
{
	return turn_one(&dp_self.unoptimized, on);
}
