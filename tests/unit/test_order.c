// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_order: a tool that ends by an order stays until its answer has been read, and no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/inspect.h"
#include "tracer/order.h"

#define WAITS_MS 150
#define ENDS_MS 20000

/** struct tool - @mem: its memory; @at: of its orders; @in: it ends when a byte comes; @out: it has ended */
struct tool {
	pid_t pid;
	int mem, in, out;
	u64 at;
};

static void be_tool(int in, int out)
{
	char c = 'o';

	dp_order_open();
	if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
		_exit(1);
	dp_order_close();
	_exit(write(out, &c, 1) != 1);
}

static void begin(struct tool *t)
{
	int in[2], out[2];
	char path[64], c;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	t->pid = fork();
	if (!t->pid)
		be_tool(in[0], out[1]);
	close(in[0]);
	close(out[1]);
	t->in = in[1];
	t->out = out[0];
	assert_int_equal(read(t->out, &c, 1), 1);
	t->at = dp_mapping_named(t->pid, DP_ORDER_PATH);
	assert_int_not_equal(t->at, 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", t->pid);
	t->mem = open(path, O_RDWR);
	assert_true(t->mem >= 0);
}

static void put(const struct tool *t, u64 state)
{
	u64 at = t->at + offsetof(struct dp_orders, state);

	assert_int_equal(pwrite(t->mem, &state, sizeof(state), (off_t)at),
			 sizeof(state));
}

static bool ends_within(const struct tool *t, int ms)
{
	struct pollfd p = { t->out, POLLIN, 0 };

	return poll(&p, 1, ms) == 1;
}

static void end(const struct tool *t)
{
	int status;

	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	assert_int_equal(status, 0);
	close(t->mem);
	close(t->in);
	close(t->out);
}

static void until_it_is_read(void **state)
{
	struct tool t;

	begin(&t);
	put(&t, 5ull << 32 | DP_ORDER_DONE);
	assert_int_equal(write(t.in, "e", 1), 1);
	assert_false(ends_within(&t, WAITS_MS));
	put(&t, 5ull << 32 | DP_ORDER_IDLE);
	assert_true(ends_within(&t, ENDS_MS));
	end(&t);
}

static void an_asker_may_die(void **state)
{
	struct tool t;

	begin(&t);
	put(&t, 5ull << 32 | DP_ORDER_DONE);
	assert_int_equal(write(t.in, "e", 1), 1);
	assert_true(ends_within(&t, ENDS_MS));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_it_is_read),
		cmocka_unit_test(an_asker_may_die),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
