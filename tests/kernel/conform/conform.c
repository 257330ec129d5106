// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* conform: runs the conformance tests of the Kprobes interface in a kernel. */
#include "conform.h"
#include "engine/site/live.h"
#include "kmod/kprobes.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/slab.h>

extern const struct conform_test *const conform_begin[], *const conform_end[];

/* For init.c to tell as TAP, as in tests/kernel/test.h */
#define tell(is, what, ...) \
	pr_info("dptest: %s 0 - " what, (is) ? "ok" : "not ok", ##__VA_ARGS__)

static unsigned int arming;
module_param(arming, uint, 0);

struct conform_counts counts;
static unsigned int failed;

void conform_fail(const char *file, int line, const char *fmt, ...)
{
	const char *slash = strrchr(file, '/');
	struct va_format text = { .fmt = fmt };
	va_list ap;

	va_start(ap, fmt);
	text.va = &ap;
	/* Some hundred of the same do not tell more. */
	if (__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED) < 5)
		pr_info("dptest: # %s:%d: %pV\n", slash ? slash + 1 : file,
			line, &text);
	va_end(ap);
}

int count_pre(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	return 0;
}

void count_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	count(&counts.post);
}

int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.entry);
	return 0;
}

int count_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	return 0;
}

/* --- threads --- */

struct worker {
	void (*work)(int index);
	int index;
	struct completion *all;
	struct completion done;
};

static int work_on(void *arg)
{
	struct worker *w = arg;

	wait_for_completion(w->all);
	w->work(w->index);
	complete(&w->done);
	return 0;
}

int conform_threads(void)
{
	return num_online_cpus();
}

void in_threads(void (*work)(int index))
{
	int n = conform_threads(), i;
	struct worker *w = kcalloc(n, sizeof(*w), GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(all);

	check(w);
	for (i = 0; w && i < n; i++) {
		struct task_struct *task;

		w[i] = (struct worker){ .work = work, .index = i, .all = &all };
		init_completion(&w[i].done);
		task = kthread_create(work_on, &w[i], "dptest/%d", i);
		check(!IS_ERR(task));
		kthread_bind(task, i);
		wake_up_process(task);
	}
	complete_all(&all);
	for (i = 0; w && i < n; i++)
		wait_for_completion(&w[i].done);
	kfree(w);
}

/* --- what the module knows, by functions that it does not export --- */

#define CALL(function, ...) \
	(((typeof(function) *)dp_kmod_symbol(#function))(__VA_ARGS__))

bool jumps(void)
{
	return arming == DP_KMOD_JUMP;
}

static bool has_kind(u32 probe, char kind)
{
	bool on;

	return !kind || CALL(dp_kprobes_kind, probe, &on) == kind;
}

static bool find_line(const void *addr, char kind, u32 *probe)
{
	bool found =
		CALL(dp_live_first, CALL(dp_kmod_engine), (u64)addr, probe);

	while (found && !has_kind(*probe, kind))
		found = CALL(dp_live_next, CALL(dp_kmod_engine), probe);
	return found;
}

const char *list_line(const void *addr, char kind)
{
	bool found;
	u32 probe;

	if (CALL(dp_kmod_enter, false))
		return NULL;
	found = find_line(addr, kind, &probe);
	CALL(dp_kmod_leave);
	return found ? "" : NULL;
}

bool listed(const void *addr, const char *tag)
{
	bool is, on;
	u32 probe;

	if (CALL(dp_kmod_enter, false))
		return false;
	is = find_line(addr, 0, &probe);
	if (is && !strcmp(tag, "[OPTIMIZED]"))
		is = CALL(dp_live_optimized, CALL(dp_kmod_engine), probe);
	else if (is && !strcmp(tag, "[DISABLED]"))
		is = CALL(dp_kprobes_kind, probe, &on) && !on;
	else
		is = false;
	CALL(dp_kmod_leave);
	return is;
}

int list_length(void)
{
	int n = 0;
	u32 i;

	if (CALL(dp_kmod_enter, false))
		return 0;
	for (i = 0; i < DP_KMOD_PROBES; i++)
		n += CALL(dp_kmod_probe, i) != NULL;
	CALL(dp_kmod_leave);
	return n;
}

unsigned long dp_kprobe_hits(const struct kprobe *p)
{
	unsigned long n;

	if (!p || !p->dp_number || CALL(dp_kmod_enter, false))
		return 0;
	n = CALL(dp_live_hits, CALL(dp_kmod_engine), p->dp_number - 1);
	CALL(dp_kmod_leave);
	return n;
}

static int turn(enum dp_kmod_knob knob, int on)
{
	int was = CALL(dp_kmod_knob, knob),
	    err = on < 0 ? 0 : CALL(dp_kmod_set_knob, knob, on);

	return err ? err : was;
}

int dp_kprobes_optimization(int on)
{
	return turn(DP_KMOD_JUMPS, on);
}

int dp_kprobes_enabled(int on)
{
	return turn(DP_KMOD_ARMED, on);
}

struct conform_text text_of(const void *addr)
{
	struct conform_text text = { .addr = addr };

	memcpy(text.bytes, addr, sizeof(text.bytes));
	return text;
}

bool text_same(const struct conform_text *text)
{
	return !memcmp(text->addr, text->bytes, sizeof(text->bytes));
}

/* --- running --- */

static const char *const armings[] = { "trap", "jump", "interior" };

/* A test that has failed may have left some, on a stack that is another's now. */
static void take_away(void)
{
	conform_fail(__FILE__, __LINE__, "it has left probes");
	if (CALL(dp_kmod_enter, false))
		return;
	CALL(dp_kprobes_leave, THIS_MODULE);
	CALL(dp_kmod_leave);
}

static void run(const struct conform_test *t)
{
	memset(&counts, 0, sizeof(counts));
	failed = 0;
	t->run();
	dp_kprobes_optimization(1);
	dp_kprobes_enabled(1);
	if (list_length())
		take_away();
	tell(!failed, "%s: %s\n", armings[arming], t->name);
}

/* With interior, which sites are jumps depends on addresses. */
static bool is_for(const struct conform_test *t)
{
	return arming == DP_KMOD_JUMP ||
	       (!t->once && (arming == DP_KMOD_TRAP || !t->still));
}

/* Probes with handlers are armed as those of a session. */
static int __init begin(void)
{
	const struct conform_test *const *t;
	int err = arming < ARRAY_SIZE(armings) ? dp_kmod_begin(arming) :
						 -EINVAL;

	if (err)
		return err;
	for (t = conform_begin; t < conform_end; t++)
		if (is_for(*t))
			run(*t);
	tell(!dp_kmod_end(), "%s: the session ends\n", armings[arming]);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests the Kprobes interface by its manuals");
MODULE_LICENSE("Dual BSD/GPL");
