// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * module: probe modules in this process: the library's functions for them, and the module
 * with which the tool has started the process.
 */
#include "lib/self.h"
#include "lib/foreign.h"
#include "lib/frames.h"
#include "lib/insmod.h"
#include "lib/modules.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="

/** struct order - the tool's order, parsed; see lib/insmod.h */
struct order {
	char *text;
	const char *file, *preload;
	struct dp_module_order what;
};

/* This process and the shared memory, if the tool has started it with a module. */
static pid_t loader;
static struct dp_insmod *told;

/* Find a function of the process, or else a function of lib/compat. */
static unsigned long lookup(const char *name)
{
	struct dp_symbol sym = { 0 };
	char ours[128];

	if (dp_self_begin_names())
		return 0;
	snprintf(ours, sizeof(ours), "dp_compat_%s", name);
	if (dp_symbol_map_resolve(dp_self.symbols, name, &sym, NULL) &&
	    dp_symbol_map_resolve(dp_self.symbols, ours, &sym, NULL))
		sym.addr = 0;
	dp_self_end();
	return sym.addr;
}

static const struct pt_regs *hit_regs(void)
{
	const struct dp_stack *stack = dp_self_stack();
	u32 busy = stack ? dp_stack_busy(stack) : 0;

	/* A followed handler's are not all there. */
	if (!busy || busy == DP_BUSY_FOLLOWED || busy == DP_BUSY_PAIR)
		return NULL;
	return (const struct pt_regs *)(stack->jumped ? (u64)stack->saved :
							stack->regs);
}

/* If *@ip is in a stub, replace it by the tracked call's return address. */
static bool leave(unsigned long *ip, unsigned long *sp)
{
	const struct dp_frame *f = dp_frame_of(*ip);

	if (!f)
		return false;
	*ip = f->ret_addr;
	return true;
}

/* Send a line to the tool that has started this process. */
static void send_line(struct dp_insmod *shared, int level, const char *text,
		      size_t len)
{
	u64 n = __atomic_load_n(&shared->next, __ATOMIC_RELAXED);
	struct dp_insmod_line *line;

	do {
		line = &shared->lines[n % DP_INSMOD_LINES];
		if (__atomic_load_n(&line->turn, __ATOMIC_ACQUIRE) != n) {
			__atomic_fetch_add(&shared->lost, 1, __ATOMIC_RELAXED);
			return;
		}
	} while (!__atomic_compare_exchange_n(&shared->next, &n, n + 1, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	line->level = (u8)level;
	line->len = dp_line_copy(line->text, DP_INSMOD_TEXT, text, len);
	__atomic_store_n(&line->turn, n + 1, __ATOMIC_RELEASE);
}

/* Called in any handler: no libc, no lock. */
static void log_line(int level, const char *text, size_t len, void *arg)
{
	if (arg)
		send_line(arg, level, text, len);
	dp_service_log(level, text, len);
}

static char *next_word(char **rest)
{
	return *rest ? strsep(rest, "\n") : NULL;
}

int dp_module_order_parse(struct dp_module_order *o, char *text)
{
	char *rest = text, *word;

	*o = (struct dp_module_order){ .module = next_word(&rest) };
	while ((word = next_word(&rest))) {
		if (*word == '@' && o->nr_aliases < DP_MODULE_WORDS)
			o->aliases[o->nr_aliases++] = word + 1;
		else if (*word && o->nr_params < DP_MODULE_WORDS)
			o->params[o->nr_params++] = word;
	}
	return o->module && *o->module ? 0 : -EINVAL;
}

static int take_apart(struct order *o, const char *text)
{
	char *rest;

	*o = (struct order){ .text = strdup(text) };
	rest = o->text;
	if (!rest)
		return -ENOMEM;
	o->file = next_word(&rest);
	o->preload = next_word(&rest);
	return rest ? dp_module_order_parse(&o->what, rest) : -EINVAL;
}

static struct dp_insmod *map_shared(const char *file)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	void *mem = MAP_FAILED;

	if (fd >= 0) {
		mem = mmap(NULL, sizeof(struct dp_insmod),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	return mem == MAP_FAILED ? NULL : mem;
}

/* Some programs have an unsetenv() of their own, which does something else. */
static void remove_variables(const char *prefix)
{
	char **from, **to;

	for (from = to = environ; from && *from; from++)
		if (strncmp(*from, prefix, strlen(prefix)))
			*to++ = *from;
	if (to)
		*to = NULL;
}

/* Give the program the environment of its user. */
static void clean_environment(const struct order *o)
{
	char **at, *preload;

	remove_variables(DP_INSMOD_ENV "=");
	if (!*o->preload || asprintf(&preload, PRELOAD "%s", o->preload) < 0) {
		remove_variables(PRELOAD);
		return;
	}
	for (at = environ; *at; at++)
		if (!strncmp(*at, PRELOAD, strlen(PRELOAD)))
			*at = preload;
}

void dp_module_log(void)
{
	static pid_t logs; /* process that logs; a fork child differs */

	if (logs == getpid())
		return;
	logs = getpid();
	dp_printk_set(log_line, loader == logs ? told : NULL);
}

static void obey(const struct order *o, struct dp_insmod *shared)
{
	struct dp_compat_loaded *loaded;
	int err;

	dp_module_log();
	if (readlink("/proc/self/exe", shared->exe, sizeof(shared->exe) - 1) <
	    0)
		shared->exe[0] = '\0';
	err = dp_compat_load(o->what.module, o->what.params, o->what.nr_params,
			     o->what.aliases, o->what.nr_aliases, &loaded,
			     &shared->diag);
	shared->err = err;
	__atomic_store_n(&shared->state,
			 err ? DP_INSMOD_FAILED : DP_INSMOD_LOADED,
			 __ATOMIC_RELEASE);
	if (err)
		_exit(DP_INSMOD_REFUSED);
}

#define SWEPT_AT_ONCE 64

static bool is_within(const void *what, const char *start, size_t size)
{
	return (u64)what - (u64)start < size;
}

static bool belongs(const struct dp_user *u, const char *start, size_t size)
{
	const struct kretprobe *rp = (const void *)u->p;
	const struct jprobe *jp = (const void *)u->p;

	/* The exits of a return probe go with its entry. */
	if (!u->p || u->hidden)
		return false;
	return is_within(u->p, start, size) ||
	       is_within(u->p->pre_handler, start, size) ||
	       is_within(u->p->post_handler, start, size) ||
	       is_within(u->p->fault_handler, start, size) ||
	       (u->kind == 'r' &&
		(is_within(rp->handler, start, size) ||
		 is_within(rp->entry_handler, start, size))) ||
	       (u->kind == 'j' && is_within(jp->entry, start, size));
}

/* All kinds of probe begin with their struct kprobe. */
static unsigned int sweep(const char *start, size_t size)
{
	struct kprobe *found[SWEPT_AT_ONCE];
	unsigned int n, all = dp_uprobes_drop(start, size, false);
	u32 i;

	do {
		if (dp_self_begin_bare())
			return all;
		for (i = n = 0; i < dp_self.nr_users && n < SWEPT_AT_ONCE; i++)
			if (!dp_live_is_off(dp_self.engine, i) &&
			    belongs(&dp_self.users[i], start, size))
				found[n++] = dp_self.users[i].p;
		dp_self_end();
		if (n)
			unregister_kprobes(found, (int)n);
		all += n;
	} while (n == SWEPT_AT_ONCE);
	return all;
}

/* Mark the probes of an unloaded module as gone. */
static void look(void)
{
	if (!dp_self_begin(false))
		dp_self_end();
}

static void settle(void)
{
	if (dp_self_begin(false))
		return;
	dp_self_settle();
	dp_self_end();
}

static void __attribute__((constructor)) begin(void)
{
	const char *text = secure_getenv(DP_INSMOD_ENV);
	struct dp_insmod *shared;
	struct order o;

	dp_compat_hooks.lookup = lookup;
	dp_compat_hooks.hit_regs = hit_regs;
	dp_compat_hooks.leave = leave;
	dp_compat_hooks.sweep = sweep;
	dp_compat_hooks.changed = dp_service_modules;
	dp_compat_hooks.closed = look;
	dp_compat_hooks.settle = settle;
	dp_service_open();
	/* The caller of such a program chooses its environment. Programs that it executes
	 * have its rights, but no AT_SECURE. So remove what the library and the tool obey. */
	if (getauxval(AT_SECURE))
		remove_variables("DPROBES_");
	if (!text || take_apart(&o, text))
		return;
	clean_environment(&o);
	shared = map_shared(o.file);
	if (shared) {
		loader = getpid();
		told = shared;
		obey(&o, shared);
	}
	free(o.text);
}

/* At the end of the process, unload its modules, so that their exits can report. */
static void __attribute__((destructor)) end(void)
{
	if (loader != getpid())
		return;
	dp_compat_unload_all();
	__atomic_store_n(&told->state, DP_INSMOD_ENDED, __ATOMIC_RELEASE);
}
