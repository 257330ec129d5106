// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_exits: by which instructions functions are left.
 *
 * Oracles: assembly that knows its labels; objdump, for the rets of whole files;
 * and programs that run one instruction at a time: whenever the stack pointer
 * passes a return address, the function that it belongs to was left by one of the
 * exits that are listed for it.
 *
 * test_exits --step CMD ARGS checks a whole run of any program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/insn/insn.h"
#include "sym/exits.h"
#include "sym/slot.h"
#include "fixtures/exits_stepper.h"

static void run_command(char **argv)
{
	execvp(argv[0], argv);
}

static int step_command(char **argv)
{
	struct exits_stepper *s = exits_stepper_start(run_command, argv);
	u64 wrong = exits_stepper_run(s, ~0ull);

	exits_stepper_say(s);
	exits_stepper_end(s);
	return wrong != 0;
}

static void a_program_leaves_by_its_exits(void **state)
{
	char *argv[] = { "sqlite3", ":memory:", "select 6*7", NULL };
	struct exits_stepper *s;

	if (access("/usr/bin/sqlite3", X_OK))
		skip();
	s = exits_stepper_start(run_command, argv);
	assert_int_equal(exits_stepper_run(s, 300000), 0);
	assert_true(exits_stepper_left(s) > 1000);
	exits_stepper_say(s);
	exits_stepper_end(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_leaves_by_its_exits),
	};

	if (argc > 2 && !strcmp(argv[1], "--step"))
		return step_command(argv + 2);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
