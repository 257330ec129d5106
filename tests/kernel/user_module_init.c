// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_module_init: a module's handlers at code of this program: uprobes_test.c */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, a module's: "
#define NAME "dpuprobes"
#define BREAKPOINT 0xcc
/* See uprobes_test.c */
#define CHANGES 7777
#define STRAYS 7778
#define SLEEPS 7779

static int load(const char *more)
{
	char parameters[128];

	snprintf(parameters, sizeof(parameters),
		 "step=%#lx lea=%#lx bad=%#lx %s",
		 dp_user_offset((void *)dp_user_step),
		 dp_user_offset(dp_user_lea),
		 dp_user_offset(dp_user_breakpoint), more);
	return dp_init_load(NAME, parameters);
}

static unsigned int parameter(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/" NAME "/parameters/%s",
		 name);
	return dp_init_number(path);
}

static int is_armed(void)
{
	return dp_user_byte((void *)dp_user_step) == BREAKPOINT;
}

static void counts(void)
{
	int first, second;

	dp_init_log();
	dp_init_check(load("") && is_armed(), "the module loads", OF);
	first = dp_user_run(300);
	second = dp_user_run(200);
	dp_init_check(dp_user_ended(first) && dp_user_ended(second) &&
			      parameter("hits") == 500 &&
			      parameter("seconds") == 1000 &&
			      !parameter("wrong"),
		      "handlers are called, sleep, and read memory", OF);
	dp_init_check(dp_user_step(CHANGES, "stepping", NULL) == 2,
		      "they change registers", OF);
	dp_init_check(dp_user_step(STRAYS, "stepping", NULL) == STRAYS + 1,
		      "and not where the task goes on", OF);
}

static void knob(void)
{
	unsigned int was = parameter("hits");

	if (!dp_init_debugfs())
		return;
	dp_init_check(!dp_files_put("enabled", "0") &&
			      dp_user_ended(dp_user_run(20)) &&
			      parameter("hits") == was &&
			      !dp_files_put("enabled", "1") &&
			      dp_user_ended(dp_user_run(20)) &&
			      parameter("hits") == was + 20,
		      "none is called while probes are not enabled", OF);
}

/* Return: a child that sleeps in a handler */
static pid_t sleep_inside(void)
{
	pid_t child = fork();
	int left = 1000;

	if (!child)
		_exit(dp_user_step(SLEEPS, "stepping", NULL) == SLEEPS + 1 ? 4 :
									     1);
	while (left-- && parameter("inside") != 1)
		usleep(1000);
	return child;
}

static void goes(void)
{
	pid_t child = sleep_inside();
	int is = parameter("inside") == 1;
	char *log;

	dp_init_check(is && dp_init_unload(NAME) && !is_armed() &&
			      dp_user_ended(child),
		      "it goes while a task sleeps in a handler", OF);
	log = dp_init_log();
	dp_init_check(dp_init_is_quiet(log), "the kernel complains of nothing",
		      OF);
	dp_init_check(dp_init_tell(log), "it comes to its end", OF);
}

/* A signal that kills waits for the handler. */
static void killed(void)
{
	int status = 0;
	pid_t child;

	dp_init_check(load("leaves=1"), "it loads again", OF);
	child = sleep_inside();
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	dp_init_check(WIFSIGNALED(status) && parameter("inside") == 2,
		      "a task is killed in a handler", OF);
	child = sleep_inside();
	dp_init_check(dp_init_unload(NAME) && !is_armed() &&
			      dp_user_ended(child) &&
			      dp_user_ended(dp_user_run(10)),
		      "it goes and leaves its probes", OF);
}

/* Probes with handlers in the kernel keep the engine when a session on files ends. */
static void beside_handlers(void)
{
	unsigned int probe = 0, i, good = 0;
	struct dp_device_count v;
	int fd, err;

	dp_init_check(dp_init_load("read_latency", ""), "handlers are there",
		      OF);
	for (i = 0; i < 2; i++) {
		fd = dp_device_open(0);
		err = dp_device_start(fd, DP_DEVICE_JUMP);
		err = err ?: dp_user_add(fd, dp_user_lea, &probe);
		err = err ?: dp_device_commit(fd, 0);
		good += !err && dp_user_ended(dp_user_run(70)) &&
			dp_device_counts(fd, &v, probe, 1) == 1 && v.hits == 70;
		close(fd);
		good += dp_user_byte(dp_user_lea) != BREAKPOINT;
	}
	dp_init_check(good == 4, "sessions on files come and go beside them",
		      OF);
	dp_init_check(dp_init_unload("read_latency"), "they go", OF);
}

int dp_user_load_handlers(void)
{
	return load("");
}

void dp_user_unload_handlers(void)
{
	dp_init_check(dp_init_unload(NAME), "the handlers go", OF);
}

void dp_user_modules(void)
{
	counts();
	knob();
	goes();
	killed();
	beside_handlers();
}
