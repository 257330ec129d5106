// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* safe: the reasons against an instruction of the kernel, in the order in which they are tried. */
#include "kmod/safe.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/site/engine.h"
#include "kmod/reach.h"
#include "port/kernel/compat.h"
#include "port/kernel/decode.h"
#include "port/kernel/nofault.h"
#include "port/kernel/text.h"
#include <linux/cpu.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/static_call_types.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

/* Of the kernel. What is NULL is not in this kernel: see port/kernel/compat.h. */
static unsigned long (*lookup_name)(const char *name);
static struct {
	int (*is_text)(unsigned long addr);
	bool (*is_blacklisted)(unsigned long addr);
	int (*is_jump_label)(void *start, void *end);
	int (*is_static_call)(void *start, void *end);
	int (*is_lock)(void *start, void *end);
	unsigned long (*ftrace_at)(unsigned long addr);
	const void *(*exception_at)(unsigned long addr);
	const struct kprobe *(*kprobe_at)(void *addr);
	struct module *(*module_at)(unsigned long addr);
	struct module *(*module_named)(const char *name);
	int (*stop)(cpu_stop_fn_t fn, void *data, const struct cpumask *cpus);
	bool (*shows)(const struct cred *cred);
	struct mutex *text, *kprobes;
	struct list_head *blacklist;
} kernel;

/* Text that no probe may be in: on the way from a breakpoint to its notifiers, and before the kernel
 * is one that C code can run in */
static struct text_range {
	const char *first, *last;
	unsigned long start, end;
} ranges[] = {
	{ .first = "__noinstr_text_start", .last = "__noinstr_text_end" },
	{ .first = "__entry_text_start", .last = "__entry_text_end" },
	{ .first = "__cpuidle_text_start", .last = "__cpuidle_text_end" },
	{ .first = "__kprobes_text_start", .last = "__kprobes_text_end" },
	{ .first = "__softirqentry_text_start",
	  .last = "__softirqentry_text_start" },
	{ .first = "_sinittext", .last = "_einittext" },
	/* Indirect calls and returns of everything, where the processor needs that */
	{ .first = "__indirect_thunk_start", .last = "__indirect_thunk_end" },
	{ .first = "__static_call_text_start",
	  .last = "__static_call_text_end" },
};

/* What the tracer calls from functions: it makes copies of it */
static struct text_range copied[] = {
	{ .first = "ftrace_caller", .last = "ftrace_caller_end" },
	{ .first = "ftrace_regs_caller", .last = "ftrace_regs_caller_end" },
};

static struct text_range image = { .first = "_stext", .last = "_etext" };

/* What the kernel calls between a breakpoint and the hit half, or between that and the probed code, and
 * what the hit half calls when it does not know, or does not know any more, that it is in a hit. Where the
 * kernel has probes of its own it forbids most of these itself. */
static const char *const ours[] = {
	"poke_int3_handler",
	"exc_int3",
	"do_int3",
	"kgdb_ll_trap",
	"kprobe_int3_handler",
	"notify_die",
	"atomic_notifier_call_chain",
	"notifier_call_chain",
	"kprobe_exceptions_notify",
	"hw_breakpoint_exceptions_notify",
	"__rcu_read_lock",
	"__rcu_read_unlock",
	"rcu_read_unlock_special",
	"__rcu_irq_enter_check_tick",
	/* A hit ends by these. */
	"preempt_schedule",
	"preempt_schedule_notrace",
	"preempt_schedule_thunk",
	"preempt_schedule_notrace_thunk",
	"__thunk_restore",
	"dynamic_preempt_schedule",
	"dynamic_preempt_schedule_notrace",
	/* Of kernels that look for mistakes of their own */
	"rcu_is_watching",
	"debug_lockdep_rcu_enabled",
	"lock_acquire",
	"lock_release",
	"lock_is_held_type",
	"preempt_count_add",
	"preempt_count_sub",
	"trace_hardirqs_on_prepare",
	"trace_hardirqs_on",
	"trace_hardirqs_off_finish",
	"trace_hardirqs_off",
	"lockdep_hardirqs_on_prepare",
	"lockdep_hardirqs_on",
	"lockdep_hardirqs_off",
	"rcu_read_lock_sched_held",
	"in_lock_functions",
	/* Which ask what notifiers are */
	"func_ptr_is_kernel_text",
	"core_kernel_text",
	"in_gate_area_no_mm",
	"is_module_text_address",
	"__module_text_address",
	"__module_address",
	"mod_find",
	/* A warning on that way would come by these. */
	"handle_bug",
	"report_bug",
	"find_bug",
	"module_find_bug",
	/* Between an NMI and its handlers */
	"nmi_handle",
	"perf_event_nmi_handler",
};

/* Prefixes of instructions */
#define LOCK 0xf0
#define NO_LOCK 0x3e

static int find(void *to, const char *name)
{
	unsigned long addr = lookup_name(name);

	memcpy(to, &addr, sizeof(addr));
	return addr ? 0 : -ENOENT;
}

/* Of a feature that this kernel may not have */
static int find_if(bool has, void *to, const char *name)
{
	return has ? find(to, name) : 0;
}

u64 dp_safe_symbol(const char *name)
{
	return lookup_name(name);
}

u64 dp_safe_trampoline(void)
{
	static const char name[] = "arch_rethook_trampoline";
	u64 addr = dp_compat_returns(current) ? lookup_name(name) : 0;

	return addr && dp_kernel_is_function(addr, name) ? addr : 0;
}

static int find_all(void)
{
	int err = find(&kernel.is_text, "kernel_text_address");

	err = err ?: find(&kernel.exception_at, "search_exception_tables");
	/* Without these two, less is told: see told.c. */
	find(&kernel.blacklist, "kprobe_blacklist");
	find(&kernel.shows, "kallsyms_show_value");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_KPROBES, &kernel.is_blacklisted,
			      "within_kprobe_blacklist");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_KPROBES, &kernel.kprobe_at,
			      "get_kprobe");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_KPROBES, &kernel.kprobes,
			      "kprobe_mutex");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_JUMP_LABELS, &kernel.is_jump_label,
			      "jump_label_text_reserved");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_STATIC_CALLS,
			      &kernel.is_static_call,
			      "static_call_text_reserved");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_LOCKS, &kernel.is_lock,
			      "alternatives_text_reserved");
	err = err   ?:
		      find_if(DP_KERNEL_HAS_FTRACE, &kernel.ftrace_at,
			      "ftrace_location");
	err = err ?: find(&kernel.module_at, "__module_address");
	err = err ?: find(&kernel.module_named, "find_module");
	err = err ?: find(&kernel.stop, "stop_machine_cpuslocked");
	return err ?: find(&kernel.text, "text_mutex");
}

static void find_ranges(struct text_range *r, unsigned int n)
{
	for (; n; r++, n--) {
		find(&r->start, r->first);
		find(&r->end, r->last);
	}
}

int dp_safe_begin(u64 lookup)
{
	u64 decoder;
	int err;

	if (!dp_kernel_is_function(lookup, "kallsyms_lookup_name"))
		return -ENOENT;
	lookup_name = (void *)lookup;
	err = find_all();
	err = err ?: find(&decoder, "insn_decode");
	find_ranges(ranges, ARRAY_SIZE(ranges));
	find_ranges(copied, ARRAY_SIZE(copied));
	find_ranges(&image, 1);
	dp_kernel_set_store(lookup_name("copy_to_kernel_nofault"));
	err = err ?: dp_reach_begin();
	return err ?: dp_kernel_set_decoder(decoder);
}

/* "name+0x10/0x40 [module]" */
static int find_function(u64 addr, struct dp_function *f, char *symbol)
{
	unsigned long offset, size;
	char *plus;

	if (!kernel.is_text((unsigned long)addr))
		return -ENOENT;
	sprint_symbol(symbol, (unsigned long)addr);
	plus = strrchr(symbol, '+');
	if (!plus || sscanf(plus, "+%lx/%lx", &offset, &size) != 2 ||
	    offset >= size)
		return -ENOENT;
	f->start = addr - offset;
	f->size = size;
	*plus = '\0';
	return 0;
}

static bool is_in(const struct text_range *r, unsigned int n, u64 addr)
{
	for (; n; r++, n--)
		if (addr >= r->start && addr < r->end)
			return true;
	return false;
}

/* Processors' defects need code in place of returns and indirect calls, also of those on the way. */
static bool is_thunk(const char *name)
{
	return strstarts(name, "__x86_return_thunk") ||
	       strstarts(name, "__x86_indirect_") ||
	       strstarts(name, "retbleed_") || strstarts(name, "srso_") ||
	       strstarts(name, "its_return_thunk");
}

/* Compilers put ".isra.0" and the like behind a name. */
static bool is_named(const char *name)
{
	size_t n = strcspn(name, ".");
	unsigned int i;

	if (is_thunk(name))
		return true;
	for (i = 0; i < ARRAY_SIZE(ours); i++)
		if (strlen(ours[i]) == n && !strncmp(name, ours[i], n))
			return true;
	return false;
}

bool dp_safe_shows(const struct cred *cred)
{
	return kernel.shows && kernel.shows(cred);
}

static void range_of_name(const char *name, u64 *start, u64 *end)
{
	char symbol[KSYM_SYMBOL_LEN];
	struct dp_function f = { 0 };

	*start = *end = dp_safe_symbol(name);
	if (*start && !find_function(*start, &f, symbol))
		*end += f.size;
}

bool dp_safe_range(u32 i, u64 *start, u64 *end)
{
	const u32 first = ARRAY_SIZE(ranges),
		  second = first + ARRAY_SIZE(copied);
	const struct text_range *r = i < first ? &ranges[i] :
						 &copied[i - first];

	if (i >= second + ARRAY_SIZE(ours))
		return false;
	if (i >= second) {
		range_of_name(ours[i - second], start, end);
		return true;
	}
	*start = r->start;
	*end = r->end;
	return true;
}

/* That list has that lock. */
void dp_safe_each(void (*tell)(void *arg, u64 start, u64 end), void *arg)
{
	const struct kprobe_blacklist_entry *e;

	if (!kernel.blacklist || !kernel.kprobes)
		return;
	mutex_lock(kernel.kprobes);
	list_for_each_entry(e, kernel.blacklist, list)
		tell(arg, e->start_addr, e->end_addr);
	mutex_unlock(kernel.kprobes);
}

static const char *refuse_function(u64 addr, const char *name)
{
	if (within_module((unsigned long)addr, THIS_MODULE))
		return "it is of the module that probes";
	if (is_in(ranges, ARRAY_SIZE(ranges), addr))
		return "it runs where the kernel cannot be interrupted by a probe";
	if (is_in(copied, ARRAY_SIZE(copied), addr))
		return "the kernel copies it, when it traces functions";
	if (strstarts(name, "bpf_dispatcher_"))
		return "the kernel rewrites it: it chooses among programs of BPF's";
	if (strstarts(name, STATIC_CALL_TRAMP_PREFIX_STR))
		return "the kernel rewrites it: a static call goes by there";
	if (is_named(name))
		return "a breakpoint comes by there on its way to the probes";
	if (kernel.is_blacklisted && kernel.is_blacklisted((unsigned long)addr))
		return "the kernel forbids probes there";
	return NULL;
}

/* What jump labels and static calls are, whichever way they are set: branches, nops, and xor %eax, %eax
 * with prefixes. Only of such is the kernel asked: it goes through all of its list. */
static bool may_be_rewritten(const u8 *code, const struct insn_facts *f)
{
	return (f->class != DP_INSN_PLAIN && f->class != DP_INSN_LOOP) ||
	       dp_insn_is_nop(code, f->len) ||
	       (code[f->opcode_off] == 0x31 && f->opcode_off > 1);
}

/* A kernel that has begun with one CPU has other prefixes in the place of locks, until a second one comes. */
static bool is_lock(u64 addr, const u8 *code, const struct insn_facts *f)
{
	bool is;

	if (!kernel.is_lock || (!memchr(code, LOCK, f->opcode_off) &&
				!memchr(code, NO_LOCK, f->opcode_off)))
		return false;
	mutex_lock(kernel.text);
	is = kernel.is_lock((void *)addr, (void *)(addr + f->len));
	mutex_unlock(kernel.text);
	return is;
}

static const char *refuse_rewritten(u64 addr, const u8 *code,
				    const struct insn_facts *f)
{
	/* The last byte is inside for these two. */
	u64 last = addr + f->len - 1;

	if (is_lock(addr, code, f))
		return "the kernel rewrites it: it is locked when a second CPU comes";
	if (!may_be_rewritten(code, f))
		return NULL;
	if (kernel.is_jump_label &&
	    kernel.is_jump_label((void *)addr, (void *)last))
		return "the kernel rewrites it: a jump label";
	if (kernel.is_static_call &&
	    kernel.is_static_call((void *)addr, (void *)last))
		return "the kernel rewrites it: a static call";
	return NULL;
}

static const struct kprobe *kprobe_in(u64 addr, u32 len)
{
	const struct kprobe *found = NULL;
	u32 i;

	for (i = 0; i < len && !found; i++)
		found = kernel.kprobe_at((void *)(addr + i));
	return found;
}

/* One of the kernel's own probes may be a jump, whose bytes are no program's. */
bool dp_safe_kprobe(u64 addr, u32 len)
{
	bool has;

	if (!kernel.kprobe_at)
		return false;
	preempt_disable();
	has = kprobe_in(addr, len);
	preempt_enable();
	return has;
}

/* The kernel writes none of its bytes again when its module has gone. */
bool dp_safe_kprobe_writes(u64 addr, u32 len)
{
	const struct kprobe *p;
	bool writes;

	if (!kernel.kprobe_at)
		return false;
	preempt_disable();
	p = kprobe_in(addr, len);
	writes = p && !(READ_ONCE(p->flags) & KPROBE_FLAG_GONE);
	preempt_enable();
	return writes;
}

static bool is_traced(u64 addr)
{
	return kernel.ftrace_at && kernel.ftrace_at((unsigned long)addr);
}

static const char *refuse_known(u64 addr, u32 len)
{
	if (kernel.exception_at((unsigned long)addr))
		return "the kernel knows its address: a fault of it has a handler";
	if (is_traced(addr))
		return "the kernel rewrites it: its tracer calls from there";
	if (dp_safe_kprobe(addr, len))
		return "a probe of the kernel's own is there";
	return NULL;
}

/* It has an address below the stack pointer, where an interrupt writes: see arch/x86/relocate.c. */
static const char *refuse_insn(const struct insn_facts *f)
{
	if (f->class == DP_INSN_REFUSED)
		return f->refusal;
	return f->class == DP_INSN_CALL_IND ?
		       "a copy of an indirect call is not for a kernel" :
		       NULL;
}

/* A module stays until its user is put. Its first code goes when it has run, which is told while the
 * module is not said to be live. */
static const char *keep_module(u64 addr, struct module **module)
{
	const char *why = NULL;

	preempt_disable();
	*module = kernel.module_at((unsigned long)addr);
	if (*module && within_module_init((unsigned long)addr, *module) &&
	    (*module)->state != MODULE_STATE_COMING)
		why = "it goes when the module is there";
	else if (*module && !try_module_get(*module))
		why = "its module is going";
	else if (!*module && !is_in(&image, 1, addr))
		why = "the kernel has made it while it ran, and it may go";
	preempt_enable();
	return why;
}

bool dp_safe_is_loaded(const char *name)
{
	const struct module *m;
	bool is;

	preempt_disable();
	m = kernel.module_named(name);
	is = m && m->state != MODULE_STATE_GOING;
	preempt_enable();
	return is;
}

struct cursor {
	const u8 *code;
	u64 start, size, at;
	struct insn_facts facts;
};

static bool next(struct cursor *c)
{
	u64 offset = c->at - c->start;

	return offset < c->size &&
	       !dp_insn_facts(c->code + offset, c->size - offset, &c->facts);
}

static const u8 *code_of(const struct cursor *c)
{
	return c->code + (c->at - c->start);
}

static bool is_endbr64(const struct cursor *c)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return c->facts.len == sizeof(endbr) &&
	       !memcmp(code_of(c), endbr, sizeof(endbr));
}

/* endbr64, also as the kernel leaves it when no indirect branch comes there; and where its tracer
 * calls from */
static bool is_kept(const struct cursor *c)
{
	static const u8 sealed[] = { 0x66, 0x0f, 0x1f, 0x00 };

	if (c->at == c->start &&
	    (is_endbr64(c) || (c->facts.len == sizeof(sealed) &&
			       !memcmp(code_of(c), sealed, sizeof(sealed)))))
		return true;
	return is_traced(c->at);
}

/* So many bytes are that at most. */
#define KEPT 16

static const char *refuse(const struct cursor *c)
{
	const char *why = refuse_rewritten(c->at, code_of(c), &c->facts);

	if (!why)
		why = refuse_known(c->at, c->facts.len);
	if (!why && is_endbr64(c))
		why = "an indirect branch may come there";
	return why ? why : refuse_insn(&c->facts);
}

bool dp_safe_kprobe_before(u64 addr)
{
	return dp_safe_kprobe(addr - (DP_JUMP_SIZE - 1), DP_JUMP_SIZE - 1);
}

/* As far as instructions may be in a region */
static u32 room_of(const struct cursor *from)
{
	struct cursor c = *from;

	while (c.at - from->at < DP_JUMP_SIZE && next(&c) && !refuse(&c))
		c.at += c.facts.len;
	return (u32)(c.at - from->at);
}

static int find_insn(u64 *addr, struct cursor *c, const char **why)
{
	bool entry = *addr == c->start;

	while (c->at < *addr && next(c))
		c->at += c->facts.len;
	while (entry && next(c) && is_kept(c))
		c->at += c->facts.len;
	if (entry)
		*addr = c->at;
	if (c->at != *addr || !next(c)) {
		*why = "no instruction begins there";
		return -EILSEQ;
	}
	*why = refuse(c);
	if (!*why && dp_safe_kprobe_before(c->at))
		*why = "a probe of the kernel's own is just before it, and may become a jump";
	return *why ? -EINVAL : 0;
}

static int look(const struct dp_engine *engine, u64 *addr,
		struct dp_function *f, const char **why)
{
	struct cursor c = { .start = f->start,
			    .at = f->start,
			    .size = f->size };
	u8 *code = kvmalloc(f->size, GFP_KERNEL);
	int err;

	if (!code)
		return -ENOMEM;
	err = dp_kernel_text()->ops->read(dp_kernel_text(), f->start, code,
					  f->size);
	/* Probes may be there already. */
	if (!err)
		dp_engine_originals(engine, f->start, code, f->size);
	c.code = code;
	err = err ?: find_insn(addr, &c, why);
	if (!err) {
		f->room = room_of(&c);
		dp_reach_cut(engine, f, *addr, code);
	}
	kvfree(code);
	return err;
}

int dp_safe_probe(const struct dp_engine *engine, u64 *addr,
		  struct dp_function *f, const char **why)
{
	char symbol[KSYM_SYMBOL_LEN];
	int err = find_function(*addr, f, symbol);

	*why = err ? "no function is there" : refuse_function(*addr, symbol);
	if (!*why)
		*why = keep_module(*addr, &f->module);
	if (*why)
		return err ?: -EINVAL;
	err = look(engine, addr, f, why);
	if (err)
		module_put(f->module);
	return err;
}

bool dp_safe_is_inside(u64 addr)
{
	char symbol[KSYM_SYMBOL_LEN];
	u8 code[KEPT + DP_INSN_MAX] = { 0 };
	struct dp_function f;
	struct cursor c = { .code = code };

	if (find_function(addr, &f, symbol))
		return false;
	c.start = c.at = f.start;
	c.size = min_t(u64, sizeof(code), f.size);
	if (!dp_kernel_text()->ops->read(dp_kernel_text(), f.start, code,
					 c.size))
		while (next(&c) && is_kept(&c))
			c.at += c.facts.len;
	return addr != f.start && addr != c.at;
}

/* One of the kernel's own probes copies what is there first, and is found by its address later. In
 * between it is under its own lock alone, which comes before that of text. CPUs do not come or go between
 * the two, as stopping all of them would take that lock under that of text. */
void dp_safe_hold(void)
{
	if (kernel.kprobes)
		mutex_lock(kernel.kprobes);
	cpus_read_lock();
	mutex_lock(kernel.text);
}

void dp_safe_release(void)
{
	mutex_unlock(kernel.text);
	cpus_read_unlock();
	if (kernel.kprobes)
		mutex_unlock(kernel.kprobes);
}

int dp_safe_stop(int (*fn)(void *arg), void *arg)
{
	return kernel.stop(fn, arg, cpu_online_mask);
}
