// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hotplug_init: a CPU goes and comes back, while probes are there, and while they come and go. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/work_init.h"
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

enum { FIRST, OTHER, CALLS = 300, TURNS = 4 };
enum { ENTRY, RETURN, PROBES };

static const char *const arming_words[] = { "trap: ", "jump: ", "interior: " };

/* Return: whether it is so */
static int turn_cpu(unsigned int on)
{
	dp_init_put(ONLINE, on ? "1" : "0");
	return dp_init_number(ONLINE) == on;
}

/* What is probed is called, on one CPU. Return: whether it was */
static int call_on(int cpu)
{
	pid_t child = fork();
	int i, status;

	if (!child) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			_exit(1);
		for (i = 0; i < CALLS; i++) {
			syscall(SYS_getsid, 0);
			umask(0);
		}
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && !status;
}

/* Return: 0 or a negative errno */
static int arm(int fd, unsigned int arming)
{
	struct dp_device_add entry = { 0 },
			     call = { .flags = DP_DEVICE_RETURNS };
	char words[DP_DEVICE_WORDS];
	int err = dp_device_start(fd, arming);

	err = err ? err : dp_device_add(fd, DP_GETSID, words, &entry);
	err = err ? err : dp_device_add(fd, DP_UMASK, words, &call);
	return err ? err : dp_device_commit(fd, 0);
}

/* Return: whether so many times of each kind, and nothing else, has been hit */
static int has_hits(int fd, unsigned int times)
{
	struct dp_device_count v[PROBES] = { 0 };
	struct dp_device_calls calls = { .probe = RETURN };

	if (dp_device_counts(fd, v, 0, PROBES) != PROBES ||
	    ioctl(fd, DP_DEVICE_CALLS, &calls))
		return 0;
	if (v[ENTRY].hits != times * CALLS || calls.returned != times * CALLS)
		printf("# %llu hits, %llu entered, %llu returned, %llu inside\n",
		       v[ENTRY].hits, calls.entered, calls.returned,
		       calls.inside);
	return v[ENTRY].hits == times * CALLS && !v[ENTRY].missed &&
	       calls.entered == times * CALLS &&
	       calls.returned == times * CALLS && !calls.missed;
}

static int disarm(int fd)
{
	struct dp_device_turn off = { .probe = ENTRY };

	if (ioctl(fd, DP_DEVICE_TURN, &off))
		return 0;
	off.probe = RETURN;
	return !ioctl(fd, DP_DEVICE_TURN, &off) && !dp_device_commit(fd, 0);
}

static void try_arming(unsigned int arming)
{
	const char *of = arming_words[arming];
	int fd = dp_device_open(0), is = turn_cpu(0) && !arm(fd, arming);

	dp_init_check(is && turn_cpu(1) && call_on(OTHER) && has_hits(fd, 1),
		      "what is armed without a CPU is there when it comes", of);
	is = turn_cpu(0) && call_on(FIRST) && has_hits(fd, 2);
	dp_init_check(is, "what a CPU has counted is there when it is not", of);
	is = turn_cpu(1) && call_on(OTHER) && call_on(FIRST);
	dp_init_check(is && has_hits(fd, 4), "and both count", of);
	is = turn_cpu(0) && disarm(fd);
	dp_init_check(
		is && turn_cpu(1) && call_on(OTHER) && has_hits(fd, 4),
		"what is disarmed without a CPU is not there when it comes",
		of);
	close(fd);
}

static void try_module(void)
{
	int fd, is = dp_init_unload("dprobes") && turn_cpu(0) &&
		     dp_init_load_probes() && turn_cpu(1);

	fd = dp_device_open(0);
	is = is && !arm(fd, DP_DEVICE_JUMP) && call_on(OTHER) &&
	     call_on(FIRST) && has_hits(fd, 2);
	close(fd);
	dp_init_check(is, "dprobes.ko loads while a CPU is away", "");
}

/* Probes that all of the work comes to */
static int arm_work(unsigned int arming)
{
	static const char *const names[] = { "vfs_read", "vfs_write",
					     "handle_mm_fault", "schedule" };
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names) && !err; i++) {
		add = (struct dp_device_add){ 0 };
		err = dp_device_add(fd, names[i], words, &add);
	}
	err = err ? err : dp_device_commit(fd, 0);
	if (err)
		close(fd);
	return err ? err : fd;
}

static void try_work(void)
{
	unsigned int i, turned = 0;
	unsigned long rounds;
	int fd, good;

	dp_work_begin();
	if (!dp_work_end(&rounds)) {
		dp_init_skip("a CPU goes and comes while all is at work",
			     "this kernel has not all that the work does");
		return;
	}
	dp_work_begin();
	for (i = 0; i < TURNS; i++) {
		fd = arm_work(i % 3);
		turned += fd >= 0 && turn_cpu(0);
		close(fd);
		fd = arm_work((i + 1) % 3);
		turned += fd >= 0 && turn_cpu(1);
		close(fd);
	}
	good = dp_work_end(&rounds);
	dp_init_check(turned == 2 * TURNS,
		      "a CPU goes and comes while all is at work", "");
	dp_init_check(good,
		      "and programs have the results that they always have",
		      "");
	printf("# %lu rounds of work\n", rounds);
}

/* A task that has all registers of a CPU. Return: the last one's descriptor */
static int take_registers(int cpu)
{
	static unsigned long watched[4];
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
					.size = sizeof(attr),
					.bp_type = HW_BREAKPOINT_W,
					.bp_len = HW_BREAKPOINT_LEN_8,
					.exclude_kernel = 1 };
	int i, fd = -1;

	for (i = 0; i < 4; i++) {
		attr.bp_addr = (unsigned long)&watched[i];
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, 0);
	}
	return fd;
}

/* Where a task of this process is. 0: nobody says */
static unsigned long find_task(void)
{
	static const unsigned char code[] = { DP_OPCODE_PUSH_TASK,
					      DP_OPCODE_LOG_I, 1, 0,
					      DP_OPCODE_EXIT };
	struct dp_device_program want = { .log = 32 };
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS], buffer[4096];
	unsigned long at = 0;
	int fd = dp_device_open(O_NONBLOCK),
	    err = dp_device_start(fd, DP_DEVICE_TRAP);

	err = err ?: dp_device_add(fd, DP_GETSID, words, &add);
	err = err ?: dp_device_program(fd, code, sizeof(code), &want, NULL);
	err = err ?: dp_device_bind(fd, add.probe, want.program, 0);
	err = err ?: dp_device_commit(fd, 0);
	syscall(SYS_getsid, 0);
	if (!err && read(fd, buffer, sizeof(buffer)) > 0)
		memcpy(&at, buffer + sizeof(struct dp_device_record) + 3,
		       sizeof(at));
	close(fd);
	return at;
}

/* What is watched has no name, and a CPU that comes has no register for it. */
static void complain(void)
{
	struct dp_device_watch want = { .addr = find_task(), .len = 8 };
	int fd, err, taken;
	char address[32];
	const char *said;

	snprintf(address, sizeof(address), "%lx", (unsigned long)want.addr);
	err = !turn_cpu(0);
	fd = dp_device_open(0);
	err = err ?: dp_device_start(fd, DP_DEVICE_TRAP);
	err = err ?: ioctl(fd, DP_DEVICE_WATCH, &want);
	/* From a process that ends: the registers are free again. */
	if (!fork()) {
		taken = take_registers(1);
		dp_init_log();
		turn_cpu(1);
		said = dp_init_log();
		_exit(taken < 0 ?
			      2 :
			      !strstr(said,
				      "does not watch data without a name") ||
				      strstr(said, address));
	}
	wait(&taken);
	turn_cpu(1);
	dp_init_check(!err && !taken && strlen(address) == 16,
		      "a CPU that does not watch is told, without an address",
		      "");
	if (err || taken)
		printf("# %d %x %s\n", err, taken, address);
	close(fd);
}

void dp_hotplug_try(void)
{
	unsigned int arming;

	if (access(ONLINE, W_OK)) {
		dp_init_skip("hotplug", "this kernel's CPUs stay");
		return;
	}
	for (arming = DP_DEVICE_TRAP; arming <= DP_DEVICE_INTERIOR; arming++)
		try_arming(arming);
	try_module();
	complain();
	try_work();
}
