// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* modules_init: probes by /dev/dprobes on functions of a module that comes and goes. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define VICTIM "dpvictim"
#define WORK VICTIM ":dpvictim_work"
#define REST VICTIM ":dpvictim_rest"
#define FIRST VICTIM ":dpvictim_first"
#define SET VICTIM ":set_work"
#define PARAMETERS "/sys/module/" VICTIM "/parameters/"
/* Sessions while the module comes and goes */
#define SESSIONS 60

static const char *const of[] = { "modules, trap: ", "modules, jump: ",
				  "modules, interior: " };

/* Return: 0 or an errno, which the victim has returned, too. */
static int tell(const char *parameter, const char *text)
{
	char path[96];
	int fd, err;

	snprintf(path, sizeof(path), PARAMETERS "%s", parameter);
	fd = open(path, O_WRONLY);
	err = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return err;
}

static int add_to(int fd, const char *name, unsigned int flags, char *words,
		  struct dp_device_add *add)
{
	memset(add, 0, sizeof(*add));
	memset(words, 0, DP_DEVICE_WORDS);
	add->flags = flags;
	return dp_device_add(fd, name, words, add);
}

static int turn(int fd, unsigned int on)
{
	struct dp_device_turn turn = { .on = on };

	return ioctl(fd, DP_DEVICE_TURN, &turn) ? -errno :
						  dp_device_commit(fd, 0);
}

/* Is the session's first probe so? */
static int is(int fd, unsigned long long hits, unsigned int state,
	      const char *reason)
{
	struct dp_device_count v = { 0 };

	if (dp_device_counts(fd, &v, 0, 1) == 1 && v.hits == hits &&
	    v.state == state && (!reason || strstr(v.reason, reason)))
		return 1;
	printf("# %llu hits, state %u: %s\n", v.hits, v.state, v.reason);
	return 0;
}

static unsigned int mode_of(int fd)
{
	struct dp_device_count v = { 0 };

	dp_device_counts(fd, &v, 0, 1);
	return v.mode;
}

static int is_hit(int fd)
{
	struct dp_device_count v = { 0 };

	return dp_device_counts(fd, &v, 0, 1) == 1 && v.hits;
}

static void refuse(void)
{
	static const struct {
		const char *name, *what;
		unsigned int flags;
		int err;
	} bad[] = {
		{ WORK, "its module is not loaded", 0, -ENOENT },
		{ WORK "+1x", "a number", DP_DEVICE_PENDING, -EINVAL },
		{ "dpvictim_work", "MODULE:FUNCTION", DP_DEVICE_PENDING,
		  -EINVAL },
		{ ":dpvictim_work", "MODULE:FUNCTION", DP_DEVICE_PENDING,
		  -EINVAL },
		{ "dprobes:no_such", "no function of that name",
		  DP_DEVICE_PENDING, -ENOENT },
		{ WORK, "", 8, -EINVAL },
	};
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad) && !err; i++) {
		err = add_to(fd, bad[i].name, bad[i].flags, words, &add);
		dp_init_check(err == bad[i].err && strstr(words, bad[i].what),
			      bad[i].name, "modules: refused: ");
		if (err != bad[i].err || !strstr(words, bad[i].what))
			printf("# %d: %s\n", err, words);
		err = 0;
	}
	close(fd);
}

/* Its module comes, goes and comes again. */
static void wait_for(unsigned int arming)
{
	struct dp_device_add add, other;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ?: add_to(fd, WORK, DP_DEVICE_PENDING, words, &add);
	err = err ?: add_to(fd, DP_GETSID, 0, words, &other);
	dp_init_check(!err && !add.addr && !add.offset && other.addr &&
			      !dp_device_commit(fd, 0) &&
			      is(fd, 0, DP_DEVICE_IS_PENDING,
				 "its module is not loaded"),
		      "a probe waits for its module", of[arming]);
	dp_init_check(dp_init_load(VICTIM, "calls=5") &&
			      is(fd, 5, DP_DEVICE_IS_THERE, NULL),
		      "it is armed before the module's first code runs",
		      of[arming]);
	dp_init_check(!tell("work", "7") &&
			      is(fd, 12, DP_DEVICE_IS_THERE, NULL) &&
			      (arming == DP_DEVICE_INTERIOR ||
			       mode_of(fd) == (arming == DP_DEVICE_JUMP ?
						       DP_DEVICE_BY_JUMP :
						       DP_DEVICE_BY_TRAP)),
		      "and counts on", of[arming]);
	dp_init_check(dp_init_unload(VICTIM) && is(fd, 12, DP_DEVICE_IS_GONE,
						   "its module has gone"),
		      "the module goes, and the counts stay", of[arming]);
	dp_init_check(dp_init_load(VICTIM, "calls=3") &&
			      is(fd, 15, DP_DEVICE_IS_THERE, NULL),
		      "it comes again", of[arming]);
	dp_init_check(!turn(fd, 0) && !tell("work", "2") &&
			      dp_init_unload(VICTIM) &&
			      dp_init_load(VICTIM, "calls=4") &&
			      is(fd, 15, DP_DEVICE_IS_THERE, NULL),
		      "a probe that is off stays so", of[arming]);
	dp_init_check(!turn(fd, 1) && !tell("work", "1") &&
			      is(fd, 16, DP_DEVICE_IS_THERE, NULL),
		      "until it is on", of[arming]);
	dp_init_check(dp_init_unload(VICTIM) && !turn(fd, 0) &&
			      dp_init_load(VICTIM, "calls=4") &&
			      is(fd, 16, DP_DEVICE_IS_THERE, NULL),
		      "also if it is turned off meanwhile", of[arming]);
	dp_init_check(!dp_init_load(VICTIM, "") && dp_init_unload(VICTIM) &&
			      !turn(fd, 1) &&
			      !dp_init_load(VICTIM, "calls=3 fails=1") &&
			      is(fd, 19, DP_DEVICE_IS_GONE, NULL),
		      "a module whose init fails goes, too", of[arming]);
	close(fd);
	dp_init_check(dp_init_load(VICTIM, "calls=9") && !tell("work", "9") &&
			      dp_init_unload(VICTIM),
		      "without the session nothing waits", of[arming]);
}

/* What was there when it was added, and was not to wait */
static void go_for_good(unsigned int arming)
{
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int loaded = dp_init_load(VICTIM, ""), fd = dp_device_open(0);
	int err = dp_device_start(fd, arming);

	err = err ?: add_to(fd, WORK, 0, words, &add);
	dp_init_check(loaded && !err && !dp_device_commit(fd, 0) &&
			      !tell("work", "6") && dp_init_unload(VICTIM) &&
			      is(fd, 6, DP_DEVICE_IS_GONE, NULL) &&
			      dp_init_load(VICTIM, "calls=3") &&
			      is(fd, 6, DP_DEVICE_IS_GONE, NULL),
		      "a probe that does not wait is gone for good",
		      of[arming]);
	err = turn(fd, 0) ?: turn(fd, 1);
	dp_init_check(!err && !tell("work", "3") && dp_init_unload(VICTIM) &&
			      is(fd, 6, DP_DEVICE_IS_GONE, NULL),
		      "it can be turned, for nothing", of[arming]);
	close(fd);
}

/* Between ADD and COMMIT */
static void go_early(unsigned int arming)
{
	struct dp_device_add add, other;
	char words[DP_DEVICE_WORDS];
	int loaded = dp_init_load(VICTIM, ""), fd = dp_device_open(0);
	int err = dp_device_start(fd, arming);

	err = err ?: add_to(fd, WORK, 0, words, &add);
	err = err ?: add_to(fd, REST, DP_DEVICE_PENDING, words, &other);
	dp_init_check(loaded && !err && dp_init_unload(VICTIM) &&
			      !dp_device_commit(fd, 0) &&
			      is(fd, 0, DP_DEVICE_IS_GONE, NULL) &&
			      dp_init_load(VICTIM, "calls=2") &&
			      is(fd, 0, DP_DEVICE_IS_GONE, NULL) &&
			      dp_init_unload(VICTIM),
		      "a module goes before its probe is armed", of[arming]);
	close(fd);
	fd = dp_device_open(0);
	err = dp_device_start(fd, arming);
	err = err ?: add_to(fd, WORK, DP_DEVICE_PENDING, words, &add);
	dp_init_check(!err && dp_init_load(VICTIM, "calls=2") &&
			      !dp_device_commit(fd, 0) && !tell("work", "4") &&
			      is(fd, 4, DP_DEVICE_IS_THERE, NULL) &&
			      dp_init_unload(VICTIM),
		      "or comes before", of[arming]);
	close(fd);
}

/* Code that the module runs first, and what it does not have */
static void see_first(unsigned int arming)
{
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ?: add_to(fd, FIRST, DP_DEVICE_PENDING, words, &add);
	dp_init_check(!err && !dp_device_commit(fd, 0) &&
			      dp_init_load(VICTIM, "calls=2") &&
			      is(fd, 1, DP_DEVICE_IS_GONE,
				 "code that its module runs first") &&
			      dp_init_unload(VICTIM) &&
			      dp_init_load(VICTIM, "calls=1") &&
			      is(fd, 2, DP_DEVICE_IS_GONE, NULL) &&
			      dp_init_unload(VICTIM),
		      "a probe on init code is hit, and goes with it",
		      of[arming]);
	close(fd);
	fd = dp_device_open(0);
	err = dp_device_start(fd, arming);
	err = err   ?:
		      add_to(fd, VICTIM ":no_such", DP_DEVICE_PENDING, words,
			     &add);
	dp_init_check(!err && !dp_device_commit(fd, 0) &&
			      dp_init_load(VICTIM, "") &&
			      is(fd, 0, DP_DEVICE_IS_PENDING,
				 "no function of that name") &&
			      dp_init_unload(VICTIM),
		      "what cannot be probed then says why", of[arming]);
	close(fd);
}

/* A program goes with its probe, wherever that is, and keeps its variables. */
static void run_program(unsigned int arming)
{
	static const unsigned char code[] = { DP_OPCODE_INC_LV_I, 0, 0,
					      DP_OPCODE_EXIT };
	struct dp_device_program program = { .variables = 1, .jumps = 10 };
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ?: add_to(fd, WORK, DP_DEVICE_PENDING, words, &add);
	err = err ?: dp_device_program(fd, code, sizeof(code), &program, words);
	err = err ?: dp_device_bind(fd, add.probe, program.program, 0);
	dp_init_check(!err && !dp_device_commit(fd, 0) &&
			      dp_init_load(VICTIM, "calls=5") &&
			      dp_device_variable(fd, 0, 0) == 5 &&
			      dp_init_unload(VICTIM) &&
			      dp_init_load(VICTIM, "calls=2") &&
			      dp_device_variable(fd, 0, 0) == 7 &&
			      is(fd, 7, DP_DEVICE_IS_THERE, NULL) &&
			      dp_init_unload(VICTIM),
		      "a probe that waits has a program", of[arming]);
	if (err)
		printf("# %s: %s\n", strerror(-err), words);
	close(fd);
}

/* A thread is in the module's function when that goes, and runs another one: the kernel frees the text when
 * it is out. */
static void go_with_thread(unsigned int arming, const char *what,
			   const char *over)
{
	struct dp_device_add add, other, own;
	char words[DP_DEVICE_WORDS];
	int loaded = dp_init_load(VICTIM, ""), fd = dp_device_open(0);
	int err = dp_device_start(fd, arming), i, status = -1, gone;
	pid_t child;

	err = err ?: add_to(fd, REST, 0, words, &add);
	err = err ?: add_to(fd, WORK, 0, words, &add);
	err = err ?: add_to(fd, DP_GETSID, 0, words, &other);
	err = err ?: add_to(fd, SET, 0, words, &own);
	err = err ?: dp_device_commit(fd, 0);
	if (over)
		dp_device_write_over(over, strcmp(over, SET) ? other.offset :
							       own.offset);
	child = fork();
	if (!child)
		_exit(tell("rest", "400"));
	for (i = 0; i < 2000 && !is_hit(fd); i++)
		usleep(1000);
	gone = dp_init_unload(VICTIM);
	waitpid(child, &status, 0);
	dp_init_check(loaded && !err && gone && !status &&
			      is(fd, 1, DP_DEVICE_IS_GONE, NULL),
		      what, of[arming]);
	if (over)
		dp_device_write_over_no_more();
	close(fd);
}

static void come_and_go(void)
{
	while (1) {
		dp_init_load(VICTIM, "calls=20");
		tell("work", "20");
		dp_init_unload(VICTIM);
	}
}

static int have_session(unsigned int i, unsigned int *hit)
{
	struct dp_device_count v = { 0 };
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, i % 3), n;

	err = err ?: add_to(fd, WORK, DP_DEVICE_PENDING, words, &add);
	/* There or not: a module that runs has no first code any more. */
	add_to(fd, FIRST, DP_DEVICE_PENDING, words, &add);
	add_to(fd, REST, 0, words, &add);
	err = err ?: dp_device_commit(fd, 0);
	for (n = 0; n < 6 && !err; n++) {
		usleep(3000 * (i % 5));
		err = turn(fd, n & 1);
	}
	dp_device_counts(fd, &v, 0, 1);
	*hit += v.hits != 0;
	close(fd);
	return err;
}

/* Sessions begin and end at any moment of its life. */
static void race(void)
{
	unsigned int i, hit = 0, failed = 0;
	int err;
	pid_t child = fork();

	if (!child)
		come_and_go();
	for (i = 0; i < SESSIONS; i++) {
		err = have_session(i, &hit);
		failed += err != 0;
		if (err)
			printf("# session %u: %s\n", i, strerror(-err));
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	dp_init_unload(VICTIM);
	printf("# %u of %d sessions had hits\n", hit, SESSIONS);
	dp_init_check(!failed && hit > SESSIONS / 4,
		      "sessions while a module comes and goes", "modules: ");
}

void dp_modules_try(void)
{
	unsigned int arming;
	int over;

	refuse();
	for (arming = DP_DEVICE_TRAP; arming <= DP_DEVICE_INTERIOR; arming++) {
		wait_for(arming);
		go_for_good(arming);
		go_early(arming);
		see_first(arming);
		run_program(arming);
		over = arming == DP_DEVICE_JUMP && dp_init_events();
		go_with_thread(arming, "a module goes around a thread", NULL);
		go_with_thread(arming, "also with another's probe elsewhere",
			       over ? DP_GETSID : NULL);
		go_with_thread(arming, "and with another's probe in it",
			       over ? SET : NULL);
	}
	race();
}
