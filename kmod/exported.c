// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exported: the session that other modules have: a client like those of /dev/dprobes. */
#include "engine/site/engine.h"
#include "kmod/client.h"
#include "kmod/shared.h"
#include <linux/export.h>

static struct dp_client modules = { .shows = true };

int dp_kmod_begin(enum dp_kmod_arming arming)
{
	return dp_client_begin(&modules, arming, 0);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_begin, DPROBES);

int dp_kmod_end(void)
{
	return dp_client_end(&modules);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_end, DPROBES);

int dp_kmod_interpret(u32 from)
{
	return dp_client_interpret(&modules, from);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_interpret, DPROBES);

int dp_kmod_add(u64 addr, u32 *probe, const char **why)
{
	const char *reason;
	int err = dp_client_add(&modules, &addr, probe, &reason);

	if (why)
		*why = reason;
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_add, DPROBES);

int dp_kmod_commit(u64 *bad)
{
	return dp_client_commit(&modules, bad);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_commit, DPROBES);

void dp_kmod_turn(u32 probe, bool on)
{
	dp_client_turn(&modules, probe, on);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_turn, DPROBES);

int dp_kmod_add_program(const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why)
{
	return dp_client_add_program(&modules, spec, program, offset, why);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_add_program, DPROBES);

void dp_kmod_bind(u32 probe, const struct dp_binding *binding)
{
	dp_client_bind(&modules, probe, binding);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_bind, DPROBES);

u64 dp_kmod_missed(void)
{
	return dp_client_within(&modules);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_missed, DPROBES);

u64 dp_kmod_arrivals(void)
{
	return dp_client_arrivals(&modules);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_arrivals, DPROBES);

/** struct taker - who takes records now, and how many there were */
struct taker {
	void (*take)(void *arg, const struct dp_record_copy *record);
	void *arg;
	size_t n;
};

static void pass(void *arg, const struct dp_record_copy *record)
{
	struct taker *t = arg;

	t->n++;
	t->take(t->arg, record);
}

/* Records that others have looked for meanwhile are lost: nobody else has any in tests. */
size_t dp_kmod_records(void (*take)(void *arg,
				    const struct dp_record_copy *record),
		       void *arg)
{
	struct taker t = { .take = take, .arg = arg };

	mutex_lock(&dp_kmod.lock);
	modules.arg = &t;
	modules.take = pass;
	if (modules.begun)
		dp_kmod_deliver();
	modules.take = NULL;
	mutex_unlock(&dp_kmod.lock);
	return t.n;
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_records, DPROBES);
