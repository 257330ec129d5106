// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * service: orders as a tool writes them into this process, and what it can read there. The
 * library's objects are in the program, which carries the orders out itself.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/hook.h"
#include "lib/modules.h"
#include "lib/self.h"
#include "lib/service.h"
#include "lib/text.h"

static struct dp_service *s;
static u64 number;

/* As the tool does. */
static int find_service(void **state)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long at;

	while (!s && f && fgets(line, sizeof(line), f))
		if (strstr(line, DP_SERVICE_PATH) &&
		    sscanf(line, "%lx", &at) == 1)
			s = (struct dp_service *)at;
	if (f)
		fclose(f);
	return s ? 0 : -1;
}

static void what_is_fixed_is_there(void **state)
{
	struct dp_text text;
	u8 byte;

	assert_int_equal(s->magic, DP_SERVICE_MAGIC);
	assert_int_equal(s->version, DP_SERVICE_VERSION);
	assert_int_equal(s->owner, getpid());
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 1);
	assert_int_equal(s->knobs[DP_KNOB_OPTIMIZATION], 1);
	assert_int_equal(s->state, DP_SERVICE_IDLE);
	/* A stack that overflows damages nothing. */
	assert_int_equal(dp_text_open(&text), 0);
	assert_int_equal(
		madvise(s->guard, sizeof(s->guard), MADV_POPULATE_READ), -1);
	assert_int_equal(madvise(s->stack, DP_PAGE, MADV_POPULATE_READ), 0);
	assert_int_equal(
		text.target.ops->read(&text.target,
				      (u64)s->stack + DP_SERVICE_STACK - 1,
				      &byte, 1),
		0);
	dp_text_close(&text);
}

/* On a stack that is not aligned, and from where no register has to be preserved. */
static void enter(u64 order)
{
	register u64 sp __asm__("r14");

	__asm__ volatile("mov %%rsp, %1\n"
			 "	sub $136, %%rsp\n"
			 "	and $-16, %%rsp\n"
			 "	sub $8, %%rsp\n"
			 "	call *%2\n"
			 "	mov %1, %%rsp"
			 : "+D"(order), "=&r"(sp)
			 : "r"(s->entry)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			   "r11", "r12", "r13", "memory", "cc");
}

/* Return: the error of the order. */
static int order(u32 verb)
{
	int cancel, after;

	number++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_setcancelstate(cancel, NULL);
	s->verb = verb;
	s->err = 77;
	s->refused = 77;
	dp_diag_set(&s->diag, 0, "before");
	s->state = number << 32 | DP_SERVICE_ASKED;
	errno = ENOTTY;
	enter(number);
	assert_int_equal(errno, ENOTTY);
	pthread_setcancelstate(cancel, &after);
	assert_int_equal(after, cancel);
	assert_int_equal(s->state, number << 32 | DP_SERVICE_DONE);
	s->state = DP_SERVICE_IDLE;
	return s->err;
}

static int order_words(u32 verb, const char *words)
{
	strcpy(s->order, words);
	return order(verb);
}

static void expect_words(const char *words)
{
	assert_int_equal(s->refused, 0);
	assert_string_equal(s->diag.text, words);
}

/* A thread that comes too late, or again, does nothing. */
static void only_the_thread_with_the_number_works(void **state)
{
	u64 asked = 9ull << 32 | DP_SERVICE_ASKED;

	s->verb = DP_SERVICE_CLEAN;
	s->err = 77;
	s->state = asked;
	enter(8);
	enter(10);
	assert_int_equal(s->state, asked);
	s->state = 9ull << 32 | DP_SERVICE_RUNS;
	enter(9);
	assert_int_equal(s->state, 9ull << 32 | DP_SERVICE_RUNS);
	s->state = 9ull << 32 | DP_SERVICE_DONE;
	enter(9);
	assert_int_equal(s->state, 9ull << 32 | DP_SERVICE_DONE);
	assert_int_equal(s->err, 77);
	s->state = DP_SERVICE_IDLE;
}

static void damaged_orders_are_refused(void **state)
{
	assert_int_equal(order(DP_SERVICE_EXIT + 1), -EOPNOTSUPP);
	expect_words("there is no such order");
	assert_int_equal(order_words(DP_SERVICE_LOAD, ""), -EINVAL);
	expect_words("the order is damaged");
	assert_int_equal(order_words(DP_SERVICE_TURN, "0"), -EINVAL);
	expect_words("the order is damaged");
	assert_int_equal(order_words(DP_SERVICE_TURN, "2 1"), -EINVAL);
	expect_words("the order is damaged");
	assert_int_equal(order_words(DP_SERVICE_EXIT, "1\nhook"), -EINVAL);
	expect_words("the order is damaged");
	assert_int_equal(order(DP_SERVICE_SETTLE), -ESRCH);
	s->nr_guests = DP_SERVICE_GUESTS + 1;
	assert_int_equal(order(DP_SERVICE_PROBE), -EINVAL);
	expect_words("the order is damaged");
	assert_int_equal(order(DP_SERVICE_CLEAN), -EINVAL);
	/* Words end where their room ends. */
	memset(s->order, 'x', sizeof(s->order));
	s->changes = 0;
	assert_int_equal(order(DP_SERVICE_UNLOAD), -ENOENT);
	assert_int_equal(s->order[DP_SERVICE_ORDER - 1], '\0');
	assert_int_equal(s->changes, 0);
}

static void modules_that_are_not_there_are_named(void **state)
{
	assert_int_equal(order_words(DP_SERVICE_UNLOAD, "nothing"), -ENOENT);
	expect_words("no module nothing is loaded in it");
	assert_int_equal(order_words(DP_SERVICE_LOAD, "/nowhere/it.so"),
			 -ENOENT);
	assert_int_equal(s->refused, 0);
	assert_non_null(strstr(s->diag.text, "/nowhere/it.so"));
}

static int see(struct gkh_hook *h, struct gkh_args *a)
{
	return GKH_CONTINUE;
}

static void hooks_are_listed_and_exits_armed(void **state)
{
	static struct gkh_hook hook = { .name = "a hook" };
	struct gkh_rec rec = { .hook = &hook,
			       .exit = see,
			       .exit_name = "an exit" };

	assert_int_equal(gkh_identify(&hook), 0);
	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(order_words(DP_SERVICE_HOOKS, ""), 0);
	assert_string_equal(s->order, "a hook idle 0\n  1 an exit 0\n");
	assert_int_equal(order_words(DP_SERVICE_EXIT, "1\na hook\nan exit"),
			 -EPERM);
	rec.proc_writable = true;
	assert_int_equal(order_words(DP_SERVICE_EXIT, "1\na hook\nan exit"), 0);
	assert_true(rec.flags & GKH_ARMED && hook.active);
	assert_int_equal(order_words(DP_SERVICE_EXIT, "0\na hook\nan exit"), 0);
	assert_false(rec.flags & GKH_ARMED || hook.active);
	assert_int_equal(order_words(DP_SERVICE_EXIT, "1\na hook\nnone"),
			 -ENOENT);
	expect_words("hook a hook has no exit none");
	assert_int_equal(gkh_delete(&hook, true), 0);
}

static void knobs_are_turned(void **state)
{
	assert_int_equal(order_words(DP_SERVICE_TURN, "0 0"), 0);
	expect_words("");
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 0);
	assert_int_equal(s->knobs[DP_KNOB_OPTIMIZATION], 1);
	assert_int_equal(dp_kprobes_enabled(-1), 0);
	assert_int_equal(order_words(DP_SERVICE_TURN, "1 0"), 0);
	assert_int_equal(s->knobs[DP_KNOB_OPTIMIZATION], 0);
	assert_int_equal(dp_kprobes_optimization(-1), 0);
	assert_int_equal(order_words(DP_SERVICE_TURN, "0 1"), 0);
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 1);
	assert_int_equal(dp_kprobes_enabled(-1), 1);
	assert_int_equal(s->knobs[DP_KNOB_OPTIMIZATION], 0);
	assert_int_equal(order_words(DP_SERVICE_TURN, "1 1"), 0);
	assert_int_equal(s->knobs[DP_KNOB_OPTIMIZATION], 1);
}

/* The thread that carries the order out may itself be in the library. */
static void a_busy_library_refuses(void **state)
{
	assert_int_equal(dp_self_begin_bare(), 0);
	strcpy(s->order, "0 0");
	assert_int_equal(order(DP_SERVICE_TURN), -EAGAIN);
	assert_int_equal(s->refused, 1);
	assert_string_equal(s->diag.text, "");
	dp_self_end();
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 1);
}

static long __attribute__((noipa)) victim(long x)
{
	return x * 3 + 1;
}

static struct dp_guest guest(void)
{
	return (struct dp_guest){ .addr = (u64)victim, .err = 1 };
}

static int refused_in_handler;

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	strcpy(s->order, "0 0");
	refused_in_handler = order(DP_SERVICE_TURN) == -EAGAIN && s->refused;
	return 0;
}

static void a_handler_refuses(void **state)
{
	struct kprobe p = { .addr = (void *)victim, .pre_handler = pre };

	assert_int_equal(register_kprobe(&p), 0);
	victim(1);
	unregister_kprobe(&p);
	assert_true(refused_in_handler);
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 1);
}

static void guests_come_and_go(void **state)
{
	struct dp_guest *g = &s->guests[0];
	u32 probe;

	s->nr_guests = 2;
	s->guests[0] = guest();
	s->guests[1] = (struct dp_guest){ .addr = 8, .err = 1 };
	assert_int_equal(order(DP_SERVICE_PROBE), 0);
	assert_int_equal(g->err, 0);
	assert_true(s->guests[1].err < 0);
	assert_int_equal(s->hosted, 1);
	s->nr_guests = 1;
	g->on = 1;
	assert_int_equal(order(DP_SERVICE_SWITCH), 0);
	victim(1);
	probe = g->probe;
	g->probe = 12345;
	assert_int_equal(order(DP_SERVICE_SWITCH), -EINVAL);
	assert_string_equal(s->diag.text, dp_last_diag()->text);
	assert_string_not_equal(s->diag.text, "");
	assert_int_equal(order(DP_SERVICE_UNPROBE), -EINVAL);
	assert_int_equal(s->hosted, 1);
	g->probe = probe;
	assert_int_equal(order(DP_SERVICE_UNPROBE), 0);
	assert_int_equal(g->hits, 1);
	assert_int_equal(s->hosted, 0);
	*g = guest();
	assert_int_equal(order(DP_SERVICE_PROBE), 0);
	assert_int_equal(s->hosted, 1);
	assert_int_equal(order(DP_SERVICE_CLEAN), 0);
	assert_int_equal(s->hosted, 0);
	/* No room is left unused. */
	s->nr_guests = DP_SERVICE_GUESTS;
	memset(s->guests, 0, sizeof(s->guests));
	assert_int_equal(order(DP_SERVICE_PROBE), 0);
	assert_true(s->guests[DP_SERVICE_GUESTS - 1].err < 0);
}

/* --- messages --- */

static const struct dp_service_line *line_at(u64 n)
{
	return &s->lines[n % DP_SERVICE_LINES];
}

static void expect_line(u64 n, int level, const char *text)
{
	assert_int_equal(line_at(n)->seq, 2 * n + 2);
	assert_int_equal(line_at(n)->level, level);
	assert_int_equal(line_at(n)->len, strlen(text));
	assert_memory_equal(line_at(n)->text, text, strlen(text));
}

static void the_newest_lines_are_kept(void **state)
{
	char text[DP_SERVICE_TEXT + 2] = "first";
	u64 first = s->next, i;

	dp_service_log(3, text, strlen(text));
	expect_line(first, 3, "first");
	for (i = 1; i <= DP_SERVICE_LINES; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		dp_service_log((int)(i % 8), text, strlen(text));
		expect_line(first + i, (int)(i % 8), text);
	}
	assert_int_equal(s->next, first + 1 + DP_SERVICE_LINES);
	assert_ptr_equal(line_at(first), line_at(first + DP_SERVICE_LINES));
	assert_int_equal(s->lost, 0);
	/* What does not fit is cut off. */
	memset(text, 'x', sizeof(text));
	first = s->next;
	dp_service_log(1, text, sizeof(text) - 1);
	text[DP_SERVICE_TEXT] = '\0';
	expect_line(first, 1, text);
}

/* Another thread is writing the line, or has written a later one. */
static void lines_that_collide_are_counted(void **state)
{
	struct dp_service_line *line, was;
	u64 n = s->next;

	line = &s->lines[n % DP_SERVICE_LINES];
	line->seq = 2 * (n - DP_SERVICE_LINES) + 1;
	was = *line;
	dp_service_log(1, "none", 4);
	assert_memory_equal(line, &was, sizeof(was));
	assert_int_equal(s->lost, 1);
	line = &s->lines[++n % DP_SERVICE_LINES];
	line->seq = 2 * n + 2;
	was = *line;
	dp_service_log(1, "none", 4);
	assert_memory_equal(line, &was, sizeof(was));
	assert_int_equal(s->lost, 2);
	line = &s->lines[++n % DP_SERVICE_LINES];
	line->seq = 2 * n;
	dp_service_log(1, "some", 4);
	expect_line(n, 1, "some");
	assert_int_equal(s->lost, 2);
	assert_int_equal(s->next, n + 1);
}

/* --- modules --- */

int __wrap_dp_compat_refs(const struct dp_compat_loaded *loaded);

int __wrap_dp_compat_refs(const struct dp_compat_loaded *loaded)
{
	return 3 * (int)loaded->size;
}

static void modules_are_listed(void **state)
{
	struct dp_compat_loaded v[DP_SERVICE_MODULES + 1] = { 0 };
	struct dp_compat_loaded *last = &v[DP_SERVICE_MODULES];
	char name[80], path[300];
	u32 i, changes = s->changes;

	memset(name, 'n', sizeof(name) - 1);
	memset(path, 'p', sizeof(path) - 1);
	name[79] = path[299] = '\0';
	for (i = 0; i <= DP_SERVICE_MODULES; i++)
		v[i] = (struct dp_compat_loaded){
			.next = i < DP_SERVICE_MODULES ? &v[i + 1] : NULL,
			.name = name,
			.path = path,
			.size = 100 + i,
			.forked = i == 2,
		};
	dp_service_modules(last - 2);
	assert_int_equal(s->nr_modules, 3);
	assert_int_equal(s->changes, changes + 2);
	assert_int_equal(s->modules[2].size, 100 + DP_SERVICE_MODULES);
	dp_service_modules(v);
	assert_int_equal(s->nr_modules, DP_SERVICE_MODULES);
	assert_int_equal(s->changes, changes + 4);
	for (i = 0; i < DP_SERVICE_MODULES; i++) {
		assert_int_equal(s->modules[i].size, 100 + i);
		assert_int_equal(s->modules[i].forked, i == 2);
		assert_int_equal(s->modules[i].refs, 3 * v[i].size);
		assert_int_equal(strlen(s->modules[i].name), 63);
		assert_memory_equal(s->modules[i].name, name, 63);
		assert_int_equal(strlen(s->modules[i].path), 255);
		assert_memory_equal(s->modules[i].path, path, 255);
	}
	dp_service_modules(NULL);
	assert_int_equal(s->nr_modules, 0);
}

/* A fork child has no order and no guests, and its knobs are as at first. */
static void a_fork_child_begins_anew(void **state)
{
	int status;
	pid_t child;

	dp_service_knobs(false, false);
	s->hosted = 3;
	s->guests_of = 4;
	s->state = 5ull << 32 | DP_SERVICE_RUNS;
	child = fork();
	if (!child)
		_exit(s->owner != (u32)getpid() || s->hosted || s->guests_of ||
		      s->state != DP_SERVICE_IDLE ||
		      !s->knobs[DP_KNOB_ENABLED] ||
		      !s->knobs[DP_KNOB_OPTIMIZATION]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(s->owner, getpid());
	assert_int_equal(s->hosted, 3);
	assert_int_equal(s->knobs[DP_KNOB_ENABLED], 0);
	dp_service_knobs(true, true);
	s->hosted = s->guests_of = 0;
	s->state = DP_SERVICE_IDLE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_fixed_is_there),
		cmocka_unit_test(only_the_thread_with_the_number_works),
		cmocka_unit_test(damaged_orders_are_refused),
		cmocka_unit_test(modules_that_are_not_there_are_named),
		cmocka_unit_test(hooks_are_listed_and_exits_armed),
		cmocka_unit_test(knobs_are_turned),
		cmocka_unit_test(a_busy_library_refuses),
		cmocka_unit_test(a_handler_refuses),
		cmocka_unit_test(guests_come_and_go),
		cmocka_unit_test(the_newest_lines_are_kept),
		cmocka_unit_test(lines_that_collide_are_counted),
		cmocka_unit_test(modules_are_listed),
		cmocka_unit_test(a_fork_child_begins_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("service", tests, find_service,
					   NULL);
}
