// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * modules: modules that come and go, with their code and their handlers.
 *
 *     load ─► COMING: pending probes are armed ─► init ─► LIVE: probes on init code go ─► …
 *     … ─► exit ─► GOING: handlers and probes go ─► the code is freed
 *
 * The kernel tells of each step and waits. Nobody runs a module's code when it goes. A thread may still be
 * in a copy, on its way out of a function that has released the module: that is waited for.
 *
 * Lock: dp_kmod's. So a module that was found while it is held stays until it is released.
 */
#include "kmod/modules.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "kmod/client.h"
#include "kmod/device.h"
#include "kmod/externals.h"
#include "kmod/files.h"
#include "kmod/hooks.h"
#include "kmod/kprobes.h"
#include "kmod/returns.h"
#include "kmod/safe.h"
#include "kmod/table.h"
#include "kmod/tasks.h"
#include "kmod/watched.h"
#include "kmod/uprobes.h"
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Of those that come or go; the lock is held. To take probes away needs no memory. */
static u32 list[DP_KMOD_PROBES];

/** struct code - of a module: what it runs first, or all */
struct code {
	const struct module *module;
	bool init;
};

static bool is_in(void *arg, u64 addr)
{
	const struct code *c = arg;

	return c->init ? within_module_init((unsigned long)addr, c->module) :
			 within_module((unsigned long)addr, c->module);
}

static bool has_sites(struct code *c)
{
	bool has = false;
	size_t i;
	u64 addr;

	for (i = 0; !has && dp_engine_site(dp_kmod_engine(), i, &addr); i++)
		has = addr && is_in(c, addr);
	return has;
}

static u32 find_probes(struct code *c)
{
	const struct dp_kmod_probe *p;
	u32 i, n = 0;

	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = dp_kmod_probe(i);
		if (p && p->state == DP_KMOD_THERE && is_in(c, p->addr))
			list[n++] = i;
	}
	return n;
}

static void leave(u32 probe, const char *why)
{
	struct dp_kmod_probe *p = dp_kmod_probe(probe);

	p->state = DP_KMOD_GONE;
	p->reason = why;
	dp_kprobes_gone(probe);
}

/* Others may have written over a probe: their bytes go with the code. @why: NULL: the module goes */
static void retire(struct code *c, const char *why)
{
	struct dp_kmod_probe *p;
	u32 n = find_probes(c), i;

	if (!n && !has_sites(c))
		return;
	for (i = 0; i < n; i++) {
		p = dp_kmod_probe(list[i]);
		kfree(p->label);
		/* While the kernel knows it */
		p->label = dp_told_label(p->addr);
	}
	dp_kmod_take_out(list, n, is_in, c);
	synchronize_rcu();
	dp_tasks_wait();
	dp_live_leave_code(dp_kmod_engine(), is_in, c);
	for (i = 0; i < n; i++)
		leave(list[i], why);
}

/* Does a name of a probe, "MODULE:FUNCTION", begin so? */
static bool is_named(const char *name, const char *module)
{
	size_t len = strlen(module);

	return !strncmp(name, module, len) && name[len] == ':';
}

static bool come(u32 probe, struct dp_kmod_probe *p)
{
	char *name = kstrdup(p->name, GFP_KERNEL);
	const char *why = "there is no memory";
	u64 addr = 0, start;
	bool comes;

	comes = name && !dp_device_find(name, &addr, &start, &why) &&
		!dp_kmod_move(probe, &addr, &why);
	kfree(name);
	p->reason = comes ? NULL : why;
	if (!comes)
		return false;
	p->state = DP_KMOD_THERE;
	p->addr = addr;
	dp_live_want(dp_kmod_engine(), probe, p->armed && p->was, false);
	return true;
}

/* Before any code of it runs. Those that have not been committed come there with their client's commit. */
static void arrive(const struct module *m)
{
	struct code code = { .module = m };
	struct dp_kmod_probe *p;
	u32 i, n = 0;
	u64 bad;

	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = dp_kmod_probe(i);
		if (p && p->name && p->state != DP_KMOD_THERE &&
		    is_named(p->name, m->name) && come(i, p) && p->armed)
			list[n++] = i;
	}
	if (n && dp_kmod_arm_moved(list, n, &bad))
		retire(&code, "it could not be armed when its module came");
}

static int module_changes(struct notifier_block *block, unsigned long what,
			  void *module)
{
	struct code code = { .module = module,
			     .init = what == MODULE_STATE_LIVE };

	if (what == MODULE_STATE_GOING) {
		dp_hooks_leave(module);
		dp_uprobes_leave(module);
		dp_externals_go(module);
	}
	if (dp_kmod_enter(false))
		return NOTIFY_DONE;
	switch (what) {
	case MODULE_STATE_COMING:
		arrive(module);
		break;
	case MODULE_STATE_LIVE:
		retire(&code, "it was code that its module runs first");
		break;
	case MODULE_STATE_GOING:
		dp_kprobes_leave(module);
		dp_watched_leave(module);
		retire(&code, NULL);
		break;
	}
	dp_kmod_leave();
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = module_changes };

int dp_modules_begin(void)
{
	return register_module_notifier(&block);
}

void dp_modules_end(void)
{
	unregister_module_notifier(&block);
}

/* Return: a copy of the name, if its module may be waited for; NULL: there is no memory, or @why */
static char *copy_name(const char *name, const char **why)
{
	const char *colon = strchr(name, ':');

	*why = "only a module's function can be waited for: MODULE:FUNCTION";
	if (!colon || colon == name || colon - name >= MODULE_NAME_LEN)
		return NULL;
	*why = NULL;
	return kstrdup(name, GFP_KERNEL);
}

static bool is_absent(const char *name)
{
	char module[MODULE_NAME_LEN];

	snprintf(module, sizeof(module), "%.*s", (int)strcspn(name, ":"), name);
	return !dp_safe_is_loaded(module);
}

static int put_named(struct dp_client *c, char *name, u64 *addr, u64 *start,
		     u32 *probe, const char **why)
{
	int err = dp_device_find(name, addr, start, why);

	if (err == -ENOENT && strchr(name, ':') && is_absent(name))
		*why = "its module is not loaded";
	return err ?: dp_kmod_put(c, addr, probe, why);
}

/* @name stays as it is. */
static int check_offset(char *name, const char **why)
{
	char *plus = strchr(name, '+');
	int err = dp_device_find_offset(name, why);

	if (plus)
		*plus = '+';
	return err;
}

/* Nothing keeps a module from beginning to go, which is seen then. */
static int put_waiting(struct dp_client *c, char *name, u64 *addr, u64 *start,
		       u32 *probe, const char **why)
{
	char *copy = copy_name(name, why);
	int err = copy ? check_offset(copy, why) : *why ? -EINVAL : -ENOMEM;
	bool absent = !err && is_absent(copy);

	if (!err && !absent) {
		err = put_named(c, name, addr, start, probe, why);
		absent = err && is_absent(copy);
	}
	if (absent)
		err = dp_kmod_put_absent(c, probe);
	if (err) {
		kfree(copy);
		return err;
	}
	dp_kmod_probe(*probe)->name = copy;
	if (absent) {
		dp_kmod_probe(*probe)->state = DP_KMOD_PENDING;
		*addr = *start = 0;
		*why = NULL;
	}
	return 0;
}

/* Of its address, where that is not given */
static int check_returns(const char *name, u64 addr, const char **why)
{
	return dp_returns_check(name, addr ?: dp_kmod_symbol(name), why);
}

static int put_any(struct dp_client *c, char *name, u32 how, u64 *addr,
		   u64 *start, u32 *probe, const char **why)
{
	int err = how & DP_KMOD_RETURNS ? check_returns(name, *addr, why) : 0;

	if (err)
		return err;
	err = how & DP_KMOD_WAITS ?
		      put_waiting(c, name, addr, start, probe, why) :
		      put_named(c, name, addr, start, probe, why);
	if (!err && how & DP_KMOD_RETURNS)
		dp_returns_begin(*probe, how & DP_KMOD_LOGS);
	return err;
}

int dp_client_add_named(struct dp_client *c, char *name, u32 how, u64 *addr,
			u64 *start, u32 *probe, const char **why)
{
	int err = dp_kmod_enter(false);

	*why = NULL;
	if (err)
		return err;
	err = put_any(c, name, how, addr, start, probe, why);
	dp_kmod_leave();
	return err;
}
