/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conform: what the conformance tests of the Kprobes interface share.
 *
 * A test is named after the row of tests/conform/rows that it shows. Each runs
 * in a process of its own, so that one that kills its process fails alone:
 * the program executes itself again, once a test. The environment varies them:
 *
 *   DPROBES_ARM       the library's own variable: trap, or a way to write jumps
 *   CONFORM_THREADS   threads that in_threads() starts
 *   CONFORM_TOGGLE    1: jumps are switched off and on all the while
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <dprobes/kprobes.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ROUNDS 200

struct conform_test {
	const char *name;
	void (*run)(void);
	unsigned int flags;
};

#define CONFORM_STILL 1 /* looks at the optimisation itself: nobody toggles */
#define CONFORM_HELPER 2 /* no test: a part of one that needs a process */

#define CONFORM_TEST(fn, f)                                             \
	static void fn(void);                                           \
	static const struct conform_test conform_##fn = { #fn, fn, f }; \
	static const struct conform_test *const conform_at_##fn         \
		__attribute__((used, section("conform_tests"))) =       \
			&conform_##fn;                                  \
	static void fn(void)
#define TEST(fn) CONFORM_TEST(fn, 0)
#define TEST_STILL(fn) CONFORM_TEST(fn, CONFORM_STILL)
#define HELPER(fn) CONFORM_TEST(fn, CONFORM_HELPER)

/* --- a test's verdict; none of them returns if it is a bad one --- */

void conform_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void conform_skip(const char *why) __attribute__((noreturn));
void conform_eq(const char *file, int line, const char *what, long long got,
		long long wanted);
void conform_ok(const char *file, int line, const char *what, int rc);

#define check(cond)                                                            \
	do {                                                                   \
		if (!(cond))                                                   \
			conform_fail(__FILE__, __LINE__, "not so: %s", #cond); \
	} while (0)
#define check_eq(got, wanted)                                  \
	conform_eq(__FILE__, __LINE__, #got, (long long)(got), \
		   (long long)(wanted))
/* A call of the library that has to succeed; its own words if it does not. */
#define must(call) conform_ok(__FILE__, __LINE__, #call, call)

/* --- threads and processes --- */

int conform_threads(void);

/* in_threads() - run @work(0), @work(1) … at once, and wait for all of them */
void in_threads(void (*work)(int index));

/* in_process() - run a HELPER in a new process; its wait status */
int in_process(const char *helper);

/* --- probes --- */

/* What the counting handlers have counted. */
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
	return (struct kprobe){
		.addr = addr,
		.pre_handler = count_pre,
	};
}

static inline struct kretprobe retprobe_at(void *function)
{
	return (struct kretprobe){
		.kp.addr = function,
		.handler = count_ret,
	};
}

/* jumps() - whether DPROBES_ARM lets the library write any */
bool jumps(void);

/* list_line() - the line of dp_kprobes_list() about @addr, or NULL; of the
 * given kind, unless that is 0. In a static buffer. */
const char *list_line(const void *addr, char kind);
bool listed(const void *addr, const char *tag);
int list_length(void);

/* reports_to() - dp_set_report(), where there is one */
void reports_to(void (*report)(const char *line));

/* What stood at an address before anything was registered. */
struct conform_text {
	const unsigned char *addr;
	unsigned char bytes[64];
};
struct conform_text text_of(const void *addr);
bool text_same(const struct conform_text *text);

#endif
