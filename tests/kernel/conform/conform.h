/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conform: what the conformance tests of the Kprobes interface share, in a kernel.
 *
 * The tests themselves are sources of tests/conform, which include this file in place of their own, and
 * instead.h ahead of it. A check that fails is told, and the test goes on: it may be in a handler.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <dprobes/kernel/kprobes.h>

/* The tests write it as an attribute. */
#undef noinline
#define COUNT(a) ARRAY_SIZE(a)
#define ROUNDS 200
/* As probes of a process have it */
#define MAX_STACK_SIZE 64

struct conform_test {
	const char *name;
	void (*run)(void);
	bool still; /* it looks at which sites are jumps */
	bool once; /* how they are armed makes no difference */
};

/* Of a whole file: see struct conform_test, @once */
#ifndef CONFORM_ONCE
#define CONFORM_ONCE false
#endif

/* Between those of begin.c and end.c, as they are linked */
#define CONFORM_TEST(fn, still)                                           \
	static void fn(void);                                             \
	static const struct conform_test conform_##fn = { #fn, fn, still, \
							  CONFORM_ONCE }; \
	static const struct conform_test *const conform_at_##fn           \
		__attribute__((used, section("conform_tests"))) =         \
			&conform_##fn;                                    \
	static void fn(void)
#define TEST(fn) CONFORM_TEST(fn, false)
#define TEST_STILL(fn) CONFORM_TEST(fn, true)

void conform_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define check(cond)                                                            \
	do {                                                                   \
		if (!(cond))                                                   \
			conform_fail(__FILE__, __LINE__, "not so: %s", #cond); \
	} while (0)
#define check_eq(got, wanted)                                                  \
	do {                                                                   \
		long long is_ = (long long)(got), want_ = (long long)(wanted); \
		if (is_ != want_)                                              \
			conform_fail(__FILE__, __LINE__,                       \
				     "%s is %#llx, not %#llx", #got, is_,      \
				     want_);                                   \
	} while (0)
#define must(call) check_eq(call, 0)

/* A thread on each CPU */
int conform_threads(void);
void in_threads(void (*work)(int index));

struct conform_counts {
	unsigned long pre, post, entry, ret, fault;
};
extern struct conform_counts counts;

static inline void count(unsigned long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

int count_pre(struct kprobe *p, struct pt_regs *regs);
void count_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
int count_ret(struct kretprobe_instance *ri, struct pt_regs *regs);

static inline struct kprobe probe_at(void *addr)
{
	return (struct kprobe){ .addr = addr, .pre_handler = count_pre };
}

static inline struct kretprobe retprobe_at(void *function)
{
	return (struct kretprobe){ .kp.addr = function, .handler = count_ret };
}

/* Does the session let jumps be written where no breakpoint has to be inside? */
bool jumps(void);

/* What the list tells: tests/kernel/files_init.c looks at the file. @kind: 0: any */
const char *list_line(const void *addr, char kind);
bool listed(const void *addr, const char *tag);
int list_length(void);

/* Of a process, in the same words */
unsigned long dp_kprobe_hits(const struct kprobe *p);
int dp_kprobes_optimization(int on);
int dp_kprobes_enabled(int on);

struct conform_text {
	const unsigned char *addr;
	unsigned char bytes[64];
};
struct conform_text text_of(const void *addr);
bool text_same(const struct conform_text *text);

#endif
