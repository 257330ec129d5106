// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* clients_init: several that have /dev/dprobes at a time, and sessions whose probes come and go. */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OF "clients: "
#define JUMP DP_DEVICE_JUMP
/* Exchanges while calls go on, and how many there are at least */
#define EXCHANGES 12
#define CALLS 20000

static int ask(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int start(unsigned int arming)
{
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	dp_init_check(!err, "a session begins", OF);
	return fd;
}

/* Return: its number; a negative errno */
static int add(int fd, const char *name)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	int err = dp_device_add(fd, name, words, &add);

	return err ? err : (int)add.probe;
}

static int remove_probe(int fd, int probe)
{
	struct dp_device_remove remove = { .probe = (unsigned int)probe };

	return ask(fd, DP_DEVICE_REMOVE, &remove);
}

static int zero(int fd, unsigned int program, unsigned int first,
		unsigned int nr)
{
	struct dp_device_zero zero = { .program = program,
				       .first = first,
				       .nr = nr };

	return ask(fd, DP_DEVICE_ZERO, &zero);
}

static long hits(int fd, int probe)
{
	struct dp_device_count v;

	return dp_device_counts(fd, &v, (unsigned int)probe, 1) == 1 ?
		       (long)v.hits :
		       -1;
}

static void getsids(int n)
{
	while (n--)
		syscall(SYS_getsid, 0);
}

static void umasks(int n)
{
	while (n--)
		syscall(SYS_umask, 022);
}

/* Counts in its variable 0 and in the global variable 3; logs a number, if that is not 0. Return: its number; a
 * negative errno */
static int add_program(int fd, unsigned int shares, unsigned long log)
{
	struct dp_device_program want = { .variables = 2,
					  .globals = 4,
					  .jumps = 10,
					  .log = 32,
					  .shares = shares,
					  .flags = DP_DEVICE_ROOM };
	struct dp_asm c = { 0 };
	int err;

	dp_asm_op16(&c, DP_OPCODE_INC_LV_I, 0);
	if (log) {
		dp_asm_op16(&c, DP_OPCODE_INC_GV_I, 3);
		dp_asm_log(&c, log);
	}
	dp_asm_op(&c, DP_OPCODE_EXIT);
	err = dp_device_program(fd, c.bytes, c.n, &want, NULL);
	return err ? err : (int)want.program;
}

static int add_bound(int fd, const char *name, int program)
{
	int probe = add(fd, name), err;

	if (probe < 0)
		return probe;
	err = dp_device_bind(fd, (unsigned int)probe, (unsigned int)program, 0);
	return err ? err : probe;
}

/* Records of a session. Return: how many have that value; -1: some have another, or another probe */
static int records(int fd, unsigned long value, unsigned int probe)
{
	char buffer[65536];
	const struct dp_device_record *r;
	unsigned long logged;
	ssize_t n, at;
	int all = 0;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < n; at += r->size, all++) {
			r = (const void *)(buffer + at);
			memcpy(&logged, (const char *)(r + 1) + 3, 8);
			if (r->probe != probe || logged != value)
				return -1;
		}
	return all;
}

static void beside(void)
{
	int a = start(JUMP), b = start(JUMP), err, of_a, of_b, of_c;

	of_a = add(a, DP_GETSID);
	err = dp_device_commit(a, 0);
	of_b = add(b, DP_GETSID);
	of_c = add(b, DP_UMASK);
	dp_init_check(
		!err && !of_a && !of_b && of_c == 1 && dp_device_changed() == 1,
		"numbers are a session's, and what it adds waits for its commit",
		OF);
	getsids(3);
	err = dp_device_commit(b, 0);
	getsids(4);
	umasks(5);
	dp_init_check(!err && dp_device_changed() == 2 && hits(a, 0) == 7 &&
			      hits(b, 0) == 4 && hits(b, 1) == 5,
		      "each counts from its own commit on", OF);
	dp_init_check(hits(a, 1) == -1 && remove_probe(a, 1) == -EINVAL,
		      "and has nothing of the other's", OF);
	close(a);
	getsids(2);
	dp_init_check(dp_device_changed() == 2 && hits(b, 0) == 6,
		      "one that ends leaves the other's", OF);
	a = dp_device_open(0);
	dp_init_check(dp_device_start(a, DP_DEVICE_TRAP) == -EBUSY,
		      "all are armed in one way", OF);
	dp_init_check(
		dp_device_start_by(a, JUMP, 1) == 0,
		"as long as there are no programs, they may run otherwise", OF);
	close(a);
	close(b);
	dp_init_check(!dp_device_changed(), "nothing is left", OF);
}

static void log_apart(void)
{
	int a = start(JUMP), b = start(JUMP), err, of_a, of_b, p, q;

	p = add_program(a, 0, 11);
	of_a = add_bound(a, DP_GETSID, p);
	q = add_program(b, 0, 22);
	of_b = add_bound(b, DP_GETSID, q);
	err = dp_device_commit(a, 0) ?: dp_device_commit(b, 0);
	getsids(40);
	dp_init_check(!err && !p && !q && records(b, 22, 0) == 40 &&
			      records(a, 11, 0) == 40 && !of_a && !of_b,
		      "records go to whose program has made them", OF);
	dp_init_check(
		dp_device_variable(a, 0, 0) == 40 &&
			dp_device_variable(b, 0, 0) == 40 &&
			dp_device_variable(a, DP_DEVICE_GLOBAL, 3) == 80,
		"variables are a program's, and global ones are all programs'",
		OF);
	err = zero(a, 0, 0, 2) ?: zero(b, DP_DEVICE_GLOBAL, 3, 1);
	getsids(2);
	dp_init_check(!err && dp_device_variable(a, 0, 0) == 2 &&
			      dp_device_variable(b, 0, 0) == 42 &&
			      dp_device_variable(a, DP_DEVICE_GLOBAL, 3) == 4,
		      "they become 0 when that is asked for", OF);
	dp_init_check(zero(a, 0, 1, 2) == -EINVAL &&
			      zero(a, 1, 0, 1) == -EINVAL &&
			      zero(a, 0, 0xffffffff, 2) == -EINVAL,
		      "but no others", OF);
	close(b);
	getsids(1);
	dp_init_check(dp_device_variable(a, DP_DEVICE_GLOBAL, 3) == 5,
		      "global ones stay as long as there is a program", OF);
	close(a);
}

static void come_and_go(void)
{
	int fd = start(JUMP), first = add(fd, DP_GETSID), later, err;
	unsigned int i;

	err = dp_device_commit(fd, 0);
	later = add(fd, DP_UMASK);
	dp_init_check(!err && later == 1 && dp_device_changed() == 1 &&
			      !dp_device_commit(fd, DP_DEVICE_UNDO) &&
			      !dp_device_commit(fd, 0) &&
			      dp_device_changed() == 1,
		      "what is undone is not armed", OF);
	later = add(fd, DP_UMASK);
	err = remove_probe(fd, first) ?: dp_device_commit(fd, 0);
	getsids(5);
	umasks(6);
	dp_init_check(!err && later == 2 && dp_device_changed() == 1 &&
			      hits(fd, later) == 6 && !hits(fd, first) &&
			      remove_probe(fd, first) == -EINVAL,
		      "one comes, one goes, and its number is no other's", OF);
	for (i = 0; i < 300 && !err; i++) {
		first = add_bound(fd, DP_GETSID, add_program(fd, 0, 0));
		err = first < 0 ? first : dp_device_commit(fd, 0);
		err = err ?: remove_probe(fd, first) ?: dp_device_commit(fd, 0);
	}
	dp_init_check(err == -ENOSPC || err == -EINVAL,
		      "a session has sixty-four programs in all its life", OF);
	close(fd);
	for (i = 0, err = 0; i < 80 && !err; i++) {
		fd = dp_device_open(0);
		err = dp_device_start(fd, JUMP);
		first = add_bound(fd, DP_GETSID, add_program(fd, 0, 0));
		err = err ?: first < 0 ? first : dp_device_commit(fd, 0);
		close(fd);
	}
	dp_init_check(!err, "what sessions have had, others have again", OF);
}

static volatile int *made;

/* Return: a child that calls until it is killed, and counts */
static pid_t call_on(void)
{
	pid_t child = fork();

	if (child)
		return child;
	for (;;) {
		syscall(SYS_getsid, 0);
		++*made;
	}
}

/* Whatever program a call has met, it has counted it once. */
static void exchange(unsigned int arming)
{
	int fd = start(arming), first = add_program(fd, 0, 0), err, probe, i;
	pid_t child;
	long counted;

	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return;
	probe = add_bound(fd, DP_GETSID, first);
	err = dp_device_commit(fd, 0);
	child = call_on();
	for (i = 0; i < EXCHANGES && !err; i++) {
		while (*made < (i + 1) * (CALLS / EXCHANGES))
			usleep(1000);
		err = remove_probe(fd, probe);
		probe = add_bound(fd, DP_GETSID,
				  add_program(fd, 1 + (unsigned int)first,
					      (unsigned long)(i & 1)));
		err = probe < 0 ? probe : err ?: dp_device_commit(fd, 0);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	counted = dp_device_variable(fd, (unsigned int)first, 0);
	printf("# %d calls, %ld counted, %d\n", *made, counted, err);
	/* The last one may have been killed between the call and its count. */
	dp_init_check(!err && (counted == *made || counted == *made + 1),
		      "programs change places, and no call meets both, or none",
		      OF);
	close(fd);
}

static int drop_syslog(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return 1;
	data[CAP_SYSLOG / 32].effective &= ~(1u << CAP_SYSLOG % 32);
	return syscall(SYS_capset, &head, data) ? 1 : 0;
}

/* It may see no addresses, so it gets no variables that have any. */
static int of_another_kind(void)
{
	const unsigned char with[] = { DP_OPCODE_INC_GV_I, 0, 0,
				       DP_OPCODE_EXIT },
			    without[] = { DP_OPCODE_EXIT };
	struct dp_device_program want = { .globals = 1,
					  .flags = DP_DEVICE_USER };
	int fd, err;

	if (drop_syslog())
		return 1;
	fd = dp_device_open(0);
	err = dp_device_start(fd, JUMP);
	if (err ||
	    dp_device_program(fd, with, sizeof(with), &want, NULL) != -EBUSY)
		return 2;
	want = (struct dp_device_program){ .flags = DP_DEVICE_USER };
	return dp_device_program(fd, without, sizeof(without), &want, NULL) ?
		       3 :
		       0;
}

/* Of its own programs alone, and from 0 on. Return: 0; what it has not */
static int finds_nothing(void)
{
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	struct dp_device_program want = { .globals = 4,
					  .flags = DP_DEVICE_USER };
	unsigned int probe = 0;
	int fd, err;

	if (drop_syslog())
		return 1;
	fd = dp_device_open(0);
	err = dp_device_start(fd, JUMP) ?:
		      dp_device_program(fd, code, sizeof(code), &want, NULL);
	if (err || add(fd, DP_GETSID) || dp_device_commit(fd, 0))
		return 2;
	if (dp_device_variable(fd, DP_DEVICE_GLOBAL, 3))
		return 3;
	if (!dp_user_can())
		return 0;
	err = dp_user_add(fd, (void *)dp_user_step, &probe)	 ?:
		      dp_device_bind(fd, probe, want.program, 0) ?:
		      dp_device_commit(fd, 0)			 ?:
		      remove_probe(fd, (int)probe)		 ?:
		      dp_device_commit(fd, 0);
	if (err)
		return 4;
	return dp_device_variable(fd, DP_DEVICE_GLOBAL, 3) == -1 ? 0 : 5;
}

/* Programs that have no global variables are there all the time. */
static void next_kind(void)
{
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	struct dp_device_program want = { .globals = 0 };
	int fd = start(JUMP), other = start(JUMP), err;
	long had;

	err = add_bound(fd, DP_GETSID, add_program(fd, 0, 1)) ?:
		      dp_device_program(other, code, sizeof(code), &want, NULL);
	err = err ?: dp_device_commit(fd, 0);
	getsids(5);
	had = dp_device_variable(fd, DP_DEVICE_GLOBAL, 3);
	close(fd);
	fd = dp_device_of_child(finds_nothing);
	dp_init_check(!err && had == 5 && !fd,
		      "and finds nothing of what they were", OF);
	if (err || fd)
		printf("# %d, %ld, %d\n", err, had, fd);
	close(other);
}

static void kinds(void)
{
	int fd, err;

	dp_device_put("/proc/sys/kernel/kptr_restrict", "1");
	fd = start(JUMP);
	err = add_program(fd, 0, 1);
	dp_init_check(
		!err && !dp_device_of_child(of_another_kind),
		"who may see no addresses shares no variables with who may",
		OF);
	close(fd);
	next_kind();
}

/* What is only planned is armed by nobody else's commit. */
static void plan(void)
{
	struct dp_device_count v;
	int a = start(JUMP), b = start(JUMP), err;

	add(a, DP_GETSID);
	err = dp_device_commit(a, DP_DEVICE_PLAN);
	add(b, DP_UMASK);
	err = err ?: dp_device_commit(b, 0);
	dp_init_check(!err && dp_device_changed() == 1 &&
			      dp_device_counts(a, &v, 0, 1) == 1 &&
			      v.mode == DP_DEVICE_BY_JUMP,
		      "a plan says what would be, whoever commits", OF);
	close(a);
	close(b);
}

static void killed(void)
{
	int fd = start(JUMP), ready[2], status;
	char byte = 0;
	pid_t child;

	add(fd, DP_UMASK);
	if (dp_device_commit(fd, 0) || pipe(ready))
		return;
	child = fork();
	if (!child) {
		close(fd);
		fd = dp_device_open(0);
		byte = !dp_device_start(fd, JUMP) && !add(fd, DP_GETSID) &&
		       add_bound(fd, DP_GETPGID, add_program(fd, 0, 1)) == 1 &&
		       !dp_device_commit(fd, 0) && !remove_probe(fd, 0);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	dp_init_check(read(ready[0], &byte, 1) == 1 && byte &&
			      dp_device_changed() == 3,
		      "two have probes", OF);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(dp_device_open(0));
	umasks(3);
	dp_init_check(dp_device_changed() == 1 && hits(fd, 0) == 3,
		      "one is killed, and the other's stay", OF);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

/* One ends whose probe another has written over: nobody writes text as long as that stays. */
static void over(void)
{
	struct dp_device_add at = { 0 };
	char words[DP_DEVICE_WORDS];
	int a = start(JUMP), b = start(JUMP), err;
	time_t until = time(NULL) + 60;

	err = dp_device_add(a, DP_GETSID, words, &at) ?: dp_device_commit(a, 0);
	add(b, DP_UMASK);
	err = err ?: dp_device_commit(b, 0);
	dp_device_write_over(DP_GETSID, at.offset);
	close(a);
	getsids(10);
	add(b, DP_GETPGID);
	dp_init_check(!err && dp_device_commit(b, 0) == -EBUSY &&
			      dp_device_changed() == 2,
		      "what others have written over stays", OF);
	umasks(4);
	dp_init_check(hits(b, 0) == 4, "and the other's probes as they were",
		      OF);
	dp_device_write_over_no_more();
	getsids(10);
	add(b, DP_GETPGID);
	dp_init_check(!dp_device_commit(b, 0), "then text is written again",
		      OF);
	close(b);
	while (dp_device_changed() && time(NULL) < until)
		usleep(10000);
	getsids(10);
	dp_init_check(!dp_device_changed(), "and all goes", OF);
}

void dp_clients_try(void)
{
	dp_init_check(dp_init_load("dpbytes", "functions=" DP_GETSID
					      "," DP_UMASK "," DP_GETPGID),
		      "bytes are remembered", OF);
	beside();
	log_apart();
	come_and_go();
	exchange(DP_DEVICE_TRAP);
	exchange(DP_DEVICE_JUMP);
	kinds();
	plan();
	killed();
	if (access("/tracing/kprobe_events", F_OK))
		dp_init_skip("clients: what others have written over stays",
			     "nothing else in this kernel can be asked to");
	else
		over();
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "nothing is left in the end", OF);
}
