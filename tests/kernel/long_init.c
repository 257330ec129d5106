// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* long_init: campaigns, which take long: the kernel is named what to do by only=differ,insns,cycles,fire,hostile. */
#include "tests/kernel/long_init.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/work_init.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned int)atoi(value) : otherwise;
}

/* A test module whose tests run as it is loaded, while programs work */
static void run_beside_work(const char *name, const char *parameters)
{
	unsigned long rounds;
	char of[64];
	int good, stress;

	snprintf(of, sizeof(of), "%s %s: ", name + strlen("dp"), parameters);
	dp_work_begin();
	stress = dp_stress_begin();
	dp_init_run(name, parameters);
	good = dp_work_end(&rounds);
	if (stress)
		dp_init_check(dp_stress_end(), "beside stress-ng", of);
	dp_init_check(good, "programs have the results that they always have",
		      of);
	printf("# %s%lu rounds of work\n", of, rounds);
}

void dp_long_differ(void)
{
	char parameters[64];

	if (!dp_init_kprobes()) {
		dp_init_skip("dpdiffer", DP_INIT_NO_KPROBES);
		return;
	}
	snprintf(parameters, sizeof(parameters), "functions=%u seconds=%u",
		 number_of("functions", 500), number_of("seconds", 20));
	run_beside_work("dpdiffer", parameters);
}

void dp_long_insns(void)
{
	unsigned int arming;
	char parameters[64];

	for (arming = number_of("from", DP_DEVICE_TRAP);
	     arming <= DP_DEVICE_INTERIOR; arming++) {
		snprintf(parameters, sizeof(parameters),
			 "functions=%u arming=%u", number_of("functions", 500),
			 arming);
		run_beside_work("dpinsns", parameters);
	}
}

/* --- probes that come and go --- */

#define SESSIONS_EACH 10

static const char *const names[] = { "vfs_read", "vfs_write", "do_sys_openat2",
				     "handle_mm_fault", "schedule" };
#define NAMES (sizeof(names) / sizeof(*names))

static int turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn turn = { .probe = probe, .on = on };

	return ioctl(fd, DP_DEVICE_TURN, &turn);
}

/* A session whose probes are armed, turned off and on, and left to who closes the file.
 * Return: how many times probes were armed, or a negative errno */
static int have_session(unsigned int arming, unsigned long *hits)
{
	struct dp_device_count v[NAMES] = { 0 };
	unsigned int i, n;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	for (i = 0; i < NAMES && !err; i++) {
		struct dp_device_add add = { 0 };

		err = dp_device_add(fd, names[i], words, &add);
	}
	for (n = 0; n < SESSIONS_EACH && !err; n++) {
		for (i = 0; i < NAMES; i++)
			turn(fd, i, 1);
		err = dp_device_commit(fd, 0);
		for (i = 0; i < NAMES && n + 1 < SESSIONS_EACH; i++)
			turn(fd, i, 0);
		err = err ? err : dp_device_commit(fd, 0);
	}
	if (!err)
		err = dp_device_counts(fd, v, 0, NAMES) == NAMES ? 0 : -1;
	for (i = 0; i < NAMES; i++)
		*hits += v[i].hits;
	close(fd);
	return err ? err : SESSIONS_EACH;
}

static void cycle_sessions(unsigned int cycles)
{
	unsigned int done, sessions = 0;
	unsigned long hits = 0;
	time_t begun = time(NULL);
	int n = 0;

	for (done = 0; done < cycles && n >= 0; done += n > 0 ? n : 0)
		n = have_session(sessions++ % 3, &hits);
	printf("# %u times sessions' probes have been armed and disarmed, by %u sessions, in %ld s; %lu hits\n",
	       done, sessions, (long)(time(NULL) - begun), hits);
	dp_init_check(n >= 0 && done >= cycles && hits > done,
		      "probes of sessions come and go", "cycles: ");
	dp_init_check(!dp_device_changed(), "the text is what it was",
		      "cycles: ");
}

void dp_long_cycles(void)
{
	unsigned int cycles = number_of("cycles", 10000);
	unsigned long rounds;
	char parameters[64];
	int good;

	dp_init_check(
		dp_init_load(
			"dpbytes",
			"functions=vfs_read,vfs_write,do_sys_openat2,handle_mm_fault,schedule"),
		"the bytes are noted", "cycles: ");
	dp_work_begin();
	cycle_sessions(cycles - cycles / 5);
	good = dp_work_end(&rounds);
	dp_init_check(good, "programs have the results that they always have",
		      "cycles: ");
	dp_init_unload("dpbytes");
	snprintf(parameters, sizeof(parameters), "cycles=%u", cycles / 5);
	run_beside_work("dpcycles", parameters);
}

/* --- dprobes.ko goes under fire --- */

/* A program that is always asleep inside of what has a return probe */
static pid_t sleeper(void)
{
	struct timespec t = { 0, 0 };
	pid_t child = fork();

	if (child)
		return child;
	while (1) {
		t.tv_nsec = t.tv_nsec * 7 % 700000000 + 200000033;
		nanosleep(&t, NULL);
	}
}

/* Return: has it gone, after those who are inside? */
static int goes(unsigned int *waits)
{
	unsigned int i;

	for (i = 0; i < 1000 && !dp_init_unload("dprobes"); i++)
		usleep(10000);
	*waits += i != 0;
	return i < 1000;
}

static unsigned long hits_now(void)
{
	FILE *f = fopen("/sys/module/dpfire/parameters/hits", "r");
	unsigned long n = 0;

	if (f && fscanf(f, "%lu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

void dp_long_fire(void)
{
	unsigned int times = number_of("times", 200), i, waits = 0, hit = 0;
	unsigned long rounds, hits = 0, now;
	int good = dp_init_unload("dprobes");
	pid_t asleep[2];

	dp_work_begin();
	asleep[0] = sleeper();
	asleep[1] = sleeper();
	for (i = 0; i < times && good; i++) {
		good = dp_init_load_probes() &&
		       dp_init_load("dpfire", i & 1 ? "leaves=1" : "");
		usleep(1000 * (i % 40));
		now = hits_now();
		hits += now;
		hit += now != 0;
		good = good && dp_init_unload("dpfire") && goes(&waits);
	}
	kill(asleep[0], SIGKILL);
	kill(asleep[1], SIGKILL);
	waitpid(asleep[0], NULL, 0);
	waitpid(asleep[1], NULL, 0);
	printf("# dprobes.ko has gone %u times, %u of them after waiting for who was inside; %lu hits in %u lives\n",
	       i, waits, hits, hit);
	dp_init_check(good && i == times && hit > times / 2,
		      "dprobes.ko comes and goes under fire", "fire: ");
	good = dp_work_end(&rounds);
	dp_init_check(good, "programs have the results that they always have",
		      "fire: ");
	dp_init_check(dp_init_load_probes(), "dprobes.ko loads again",
		      "fire: ");
}

void dp_long_hostile(void)
{
	dp_device_random(number_of("times", 334000));
}
