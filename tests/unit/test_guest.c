// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guest: probes of a tool in this process, beside its own. The library's objects are in the
 * program, which probes itself.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dprobes/kprobes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/base.h"
#include "lib/self.h"
#include "lib/service.h"

#define MANY 150 /* more than go in one round of the cleaning */

static int ran;

static long __attribute__((noipa)) one(long x)
{
	return x * 3 + 1;
}

static long __attribute__((noipa)) other(long x)
{
	return x * 5 + 2;
}

/* Room for many probes: an instruction each */
extern const char many[];
__asm__(".text\n"
	".balign 16\n"
	"many:\n"
	".rept 150\n"
	"	mov %edi, %eax\n"
	".endr\n"
	"	ret\n");

static struct dp_guest guest(const void *at)
{
	return (struct dp_guest){ .addr = (u64)at, .err = 1 };
}

static void call_one(int times)
{
	while (times--)
		assert_int_equal(one(times), times * 3 + 1);
}

static int count(struct kprobe *p, struct pt_regs *regs)
{
	ran++;
	return 0;
}

static void no_line(void *arg, const char *text)
{
	fail_msg("%s", text);
}

static void they_are_off_until_they_are_switched(void **state)
{
	struct dp_guest v[2] = { guest((void *)one), guest((void *)other) };

	assert_int_equal(dp_guests_add(v, 2), 0);
	assert_int_equal(v[0].err | v[1].err, 0);
	assert_int_not_equal(v[0].probe, v[1].probe);
	assert_int_equal(dp_self.nr_guests, 2);
	call_one(5);
	v[0].on = 1;
	assert_int_equal(dp_guests_switch(v, 2), 0);
	call_one(7);
	other(1);
	v[0].on = 0;
	v[1].on = 1;
	assert_int_equal(dp_guests_switch(v, 2), 0);
	call_one(9);
	assert_int_equal(other(2), 12);
	assert_int_equal(dp_guests_remove(v, 2), 0);
	assert_int_equal(v[0].hits, 7);
	assert_int_equal(v[1].hits, 1);
	assert_int_equal(dp_self.nr_guests, 0);
	assert_null(dp_self.guests);
}

static void neither_is_in_the_others_lists(void **state)
{
	struct kprobe p = { .addr = (void *)one, .pre_handler = count };
	struct dp_guest v[1] = { guest((void *)one) };

	v[0].on = 1;
	assert_int_equal(dp_guests_add(v, 1), 0);
	assert_int_equal(dp_guests_switch(v, 1), 0);
	assert_null(get_kprobe((void *)one));
	assert_int_equal(dp_kprobes_list(no_line, NULL), 0);
	ran = 0;
	assert_int_equal(register_kprobe(&p), 0);
	assert_ptr_equal(get_kprobe((void *)one), &p);
	call_one(4);
	unregister_kprobe(&p);
	call_one(3);
	assert_int_equal(ran, 4);
	assert_int_equal(dp_guests_remove(v, 1), 0);
	assert_int_equal(v[0].hits, 7);
}

static void some_are_refused_with_words(void **state)
{
	struct dp_guest v[3] = { guest((void *)8), guest((void *)one),
				 guest(&ran) };
	struct dp_guest first;

	assert_int_equal(dp_guests_add(v, 3), 0);
	assert_true(v[0].err < 0 && *v[0].why);
	assert_int_equal(v[1].err, 0);
	assert_string_equal(v[1].why, "");
	assert_true(v[2].err < 0 && *v[2].why);
	assert_string_not_equal(v[0].why, v[2].why);
	assert_int_equal(dp_self.nr_guests, 1);
	first = v[1];
	assert_int_equal(dp_guests_remove(&first, 1), 0);
}

static void a_number_that_is_no_guests_is_refused(void **state)
{
	struct kprobe p = { .addr = (void *)other, .pre_handler = count };
	struct dp_guest v[2] = { guest((void *)one), { .on = 1 } };
	u32 index = 0;

	assert_int_equal(register_kprobe(&p), 0);
	assert_true(dp_probe_index(&p, &index));
	assert_int_equal(dp_guests_add(v, 1), 0);
	v[0].on = 1;
	/* The program's own, and one that there is not */
	for (v[1].probe = index; v[1].probe != 0xffffffff;
	     v[1].probe = v[1].probe == index ? dp_self.nr_users : 0xffffffff) {
		assert_int_equal(dp_guests_switch(v, 2), -EINVAL);
		assert_int_equal(dp_guests_remove(v, 2), -EINVAL);
	}
	/* Nothing has been done of such an order. */
	call_one(3);
	assert_int_equal(dp_guests_remove(v, 1), 0);
	assert_int_equal(v[0].hits, 0);
	ran = 0;
	other(1);
	assert_int_equal(ran, 1);
	unregister_kprobe(&p);
}

static void one_that_is_named_twice_goes_once(void **state)
{
	struct dp_guest v[2] = { guest((void *)one) };

	assert_int_equal(dp_guests_add(v, 1), 0);
	v[0].on = 1;
	v[1] = v[0];
	assert_int_equal(dp_guests_switch(v, 2), 0);
	call_one(2);
	assert_int_equal(dp_guests_remove(v, 2), 0);
	assert_int_equal(v[0].hits, 2);
	assert_int_equal(dp_self.nr_guests, 0);
	assert_int_equal(dp_guests_remove(v, 1), -EINVAL);
}

static void all_go_at_once(void **state)
{
	struct dp_guest *v = calloc(MANY, sizeof(*v));
	u8 was[2 * MANY];
	int i;

	memcpy(was, many, sizeof(was));
	for (i = 0; i < MANY; i++) {
		v[i] = guest(many + 2 * i);
		v[i].on = 1;
	}
	assert_int_equal(dp_guests_add(v, MANY), 0);
	assert_memory_equal(many, was, sizeof(was));
	assert_int_equal(dp_guests_switch(v, MANY), 0);
	assert_memory_not_equal(many, was, sizeof(was));
	assert_int_equal(dp_self.nr_guests, MANY);
	assert_int_equal(dp_guests_clean(), 0);
	assert_int_equal(dp_self.nr_guests, 0);
	assert_null(dp_self.guests);
	assert_memory_equal(many, was, sizeof(was));
	/* Once more there is nothing to do. */
	assert_int_equal(dp_guests_clean(), 0);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_off_until_they_are_switched),
		cmocka_unit_test(neither_is_in_the_others_lists),
		cmocka_unit_test(some_are_refused_with_words),
		cmocka_unit_test(a_number_that_is_no_guests_is_refused),
		cmocka_unit_test(one_that_is_named_twice_goes_once),
		cmocka_unit_test(all_go_at_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("guest", tests, NULL, NULL);
}
