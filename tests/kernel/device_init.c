// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* device_init: probes by /dev/dprobes: who may have them, what they count, and that they go. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GETSIDS 1234
#define UMASKS 77
#define RESTRICT "/proc/sys/kernel/kptr_restrict"

#define FORBIDDEN "forbids probes"

static const char *const arming_words[] = { "trap: ", "jump: ", "interior: " };

int dp_device_changed(void)
{
	FILE *f = fopen("/sys/module/dpbytes/parameters/changed", "r");
	int n = -1;

	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

int dp_device_open(int flags)
{
	int fd = open(DP_DEVICE_PATH, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static int ask(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int dp_device_start_by(int fd, unsigned int arming, unsigned int interpret)
{
	struct dp_device_begin begin = { .arming = arming,
					 .interpret = interpret };

	return ask(fd, DP_DEVICE_BEGIN, &begin);
}

int dp_device_start(int fd, unsigned int arming)
{
	return dp_device_start_by(fd, arming, 0);
}

int dp_device_add(int fd, const char *name, char *words,
		  struct dp_device_add *add)
{
	add->name = (unsigned long)name;
	add->name_size = (unsigned int)strlen(name) + 1;
	add->words = (unsigned long)words;
	add->words_size = DP_DEVICE_WORDS;
	return ask(fd, DP_DEVICE_ADD, add);
}

int dp_device_program(int fd, const unsigned char *code, unsigned int size,
		      struct dp_device_program *program, char *words)
{
	static const unsigned int start;

	program->code = (unsigned long)code;
	program->code_size = size;
	program->starts = (unsigned long)&start;
	program->nr_starts = 1;
	program->stack = program->stack ? program->stack : 1024;
	program->words = (unsigned long)words;
	program->words_size = words ? DP_DEVICE_WORDS : 0;
	return ask(fd, DP_DEVICE_PROGRAM, program);
}

int dp_device_bind(int fd, unsigned int probe, unsigned int program,
		   unsigned int heap)
{
	struct dp_device_bind bind = { .probe = probe,
				       .program = program,
				       .maxhits = DP_DEVICE_UNLIMITED,
				       .heap = heap,
				       .exceptions = 0xfff };

	return ask(fd, DP_DEVICE_BIND, &bind);
}

long dp_device_variable(int fd, unsigned int program, unsigned int index)
{
	struct dp_device_variable variable = { .program = program,
					       .index = index };

	return ask(fd, DP_DEVICE_VARIABLE, &variable) ? -1 :
							(long)variable.value;
}

int dp_device_commit(int fd, unsigned int flags)
{
	struct dp_device_commit commit = { .flags = flags };

	return ask(fd, DP_DEVICE_COMMIT, &commit);
}

int dp_device_counts(int fd, struct dp_device_count *v, unsigned int first,
		     unsigned int n)
{
	struct dp_device_counts counts = { .counts = (unsigned long)v,
					   .first = first,
					   .nr = n };
	int err = ask(fd, DP_DEVICE_COUNTS, &counts);

	return err ? err : (int)counts.nr;
}

/* Return: 0 or a negative errno */
static int add(int fd, const char *name)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	int err = dp_device_add(fd, name, words, &add);

	if (err)
		printf("# %s: %s: %s\n", name, strerror(-err), words);
	return err;
}

static void work(int getsids, int umasks)
{
	while (getsids--)
		syscall(SYS_getsid, 0);
	while (umasks--)
		syscall(SYS_umask, 022);
}

static int begin(int fd, unsigned int arming)
{
	int err = dp_device_start(fd, arming);

	err = err ? err : add(fd, DP_GETSID);
	err = err ? err : add(fd, DP_UMASK);
	err = err ? err : add(fd, DP_GETPGID);
	return err ? err : dp_device_commit(fd, 0);
}

static int turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn turn = { .probe = probe, .on = on };

	return ask(fd, DP_DEVICE_TURN, &turn);
}

static void count(unsigned int arming)
{
	const char *of = arming_words[arming];
	struct dp_device_count v[4];
	int fd = dp_device_open(0), err = begin(fd, arming), n;

	dp_init_check(!err, "probes are armed", of);
	dp_init_check(dp_device_changed() == 3, "and their functions changed",
		      of);
	work(GETSIDS, UMASKS);
	n = dp_device_counts(fd, v, 0, 4);
	dp_init_check(n == 3 && v[0].hits == GETSIDS && v[1].hits == UMASKS &&
			      !v[2].hits,
		      "each call is counted, and nothing else", of);
	printf("# %s%llu %llu %llu; %u %s\n", of, v[0].hits, v[1].hits,
	       v[2].hits, v[0].mode, v[0].reason);
	dp_init_check(arming != DP_DEVICE_TRAP ||
			      v[0].mode == DP_DEVICE_BY_TRAP,
		      "breakpoints are asked for, and told", of);
	dp_init_check(arming != DP_DEVICE_JUMP ||
			      v[0].mode == DP_DEVICE_BY_JUMP,
		      "jumps are asked for, and told", of);
	err = turn(fd, 0, 0) ?: dp_device_commit(fd, 0);
	work(10, 10);
	n = dp_device_counts(fd, v, 0, 3);
	dp_init_check(!err && n == 3 && v[0].hits == GETSIDS &&
			      v[1].hits == UMASKS + 10 &&
			      dp_device_changed() == 2,
		      "one is turned off", of);
	err = turn(fd, 0, 1) ?: dp_device_commit(fd, 0);
	work(5, 0);
	n = dp_device_counts(fd, v, 0, 1);
	dp_init_check(!err && n == 1 && v[0].hits == GETSIDS + 5,
		      "and on again", of);
	dp_init_check(!dp_init_unload("dprobes"), "the module stays", of);
	close(fd);
	dp_init_check(!dp_device_changed(), "all goes when it is closed", of);
}

/* How many others there can be */
static int openers(void)
{
	int fd[32], n = 0, i, err = 0;

	while (n < 32 && err >= 0) {
		err = dp_device_open(n & 1 ? O_NONBLOCK : 0);
		if (err >= 0)
			fd[n++] = err;
	}
	for (i = 0; i < n; i++)
		close(fd[i]);
	return err == -EBUSY ? n : -1;
}

/* What is refused says why. */
static void refuse(void)
{
	static const struct {
		const char *name, *what;
		int err;
	} bad[] = {
		{ "no_such_function", "no function of that name", -ENOENT },
		{ "ext4:" DP_GETSID, "not loaded", -ENOENT },
		{ "dprobes:" DP_GETSID, "no function of that name", -ENOENT },
		{ DP_GETSID "+1x", "a number", -EINVAL },
		{ DP_GETSID "+0x100000", "beyond", -EINVAL },
		{ "notify_die", "on its way", -EINVAL },
		{ "do_user_addr_fault", FORBIDDEN, -EINVAL },
		{ "exc_int3", "interrupted", -EINVAL },
		{ "dp_kmod_begin", "the module that probes", -EINVAL },
		{ "jiffies_64", "no function", -ENOENT },
		{ "text_mutex", "no function", -ENOENT },
	};
	struct dp_device_add add;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);
	unsigned int i;

	dp_init_check(!err && dp_device_commit(fd, 0) == -EINVAL,
		      "without probes nothing is armed", "device: ");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (!strcmp(bad[i].what, FORBIDDEN) && !dp_init_kprobes()) {
			dp_init_skip("device: refused by the kernel",
				     DP_INIT_NO_KPROBES);
			continue;
		}
		memset(&add, 0, sizeof(add));
		memset(words, 'x', sizeof(words));
		err = dp_device_add(fd, bad[i].name, words, &add);
		words[DP_DEVICE_WORDS - 1] = '\0';
		dp_init_check(err == bad[i].err && strstr(words, bad[i].what),
			      bad[i].name, "device: refused: ");
		if (err != bad[i].err || !strstr(words, bad[i].what))
			printf("# %d: %s\n", err, words);
	}
	memset(&add, 0, sizeof(add));
	add.opcode = 1;
	err = dp_device_add(fd, DP_GETSID, words, &add);
	add.opcode = 0;
	add.flags = ~DP_DEVICE_PENDING;
	dp_init_check(err == -EINVAL && dp_device_add(fd, DP_GETSID, words,
						      &add) == -EINVAL,
		      "what is not asked for is 0", "device: ");
	dp_init_check(dp_device_start(fd, DP_DEVICE_TRAP) == -EINVAL,
		      "one session", "device: ");
	dp_init_check(openers() == 15, "sixteen openers, and no more",
		      "device: ");
	add.flags = 0;
	err = dp_device_add(fd, DP_GETSID, words, &add) ?:
		      dp_device_commit(fd, DP_DEVICE_PLAN);
	dp_init_check(!err && !dp_device_changed(), "a plan arms nothing",
		      "device: ");
	memset(&add, 0, sizeof(add));
	dp_init_check(dp_device_add(fd, DP_UMASK, words, &add) == -EINVAL,
		      "then no probe is added any more", "device: ");
	close(fd);
}

int dp_device_of_child(int (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(run());
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ?
		       WEXITSTATUS(status) :
		       -1;
}

static int open_unprivileged(void)
{
	if (setgid(1000) || setuid(1000))
		return 0;
	return -dp_device_open(0);
}

void dp_device_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	dp_init_check(fd >= 0 && write(fd, text, strlen(text)) > 0, path,
		      "written: ");
	close(fd);
}

static int without_syslog(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct data[2] = { 0 };
	struct dp_device_info info = { 0 };
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	int fd;

	if (syscall(SYS_capget, &head, data))
		return 1;
	data[CAP_SYSLOG / 32].effective &= ~(1u << CAP_SYSLOG % 32);
	if (syscall(SYS_capset, &head, data))
		return 2;
	fd = dp_device_open(0);
	if (fd < 0 || ask(fd, DP_DEVICE_INFO, &info) ||
	    info.flags & DP_DEVICE_ADDRESSES)
		return 3;
	if (dp_device_start(fd, DP_DEVICE_TRAP) ||
	    dp_device_add(fd, DP_GETSID, words, &add) || add.addr)
		return 4;
	memset(&add, 0, sizeof(add));
	add.addr = 0xffffffff81000000;
	if (dp_device_add(fd, DP_GETSID, words, &add) != -EPERM)
		return 5;
	close(fd);
	return dp_device_blind();
}

static void rights(void)
{
	struct dp_device_info info = { 0 };
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	int fd, err;

	dp_init_check(dp_device_of_child(open_unprivileged) == EACCES,
		      "others may not open it", "device: ");
	chmod(DP_DEVICE_PATH, 0666);
	dp_init_check(dp_device_of_child(open_unprivileged) == EPERM,
		      "whatever its mode", "device: ");
	chmod(DP_DEVICE_PATH, 0600);
	dp_device_put(RESTRICT, "1");
	err = dp_device_of_child(without_syslog);
	dp_init_check(!err, "no address is shown without CAP_SYSLOG",
		      "device: ");
	if (err)
		printf("# %d\n", err);
	dp_device_sees();
	fd = dp_device_open(0);
	err = ask(fd, DP_DEVICE_INFO, &info)		  ?:
		      dp_device_start(fd, DP_DEVICE_TRAP) ?:
		      dp_device_add(fd, DP_GETSID, words, &add);
	dp_init_check(!err && info.version == DP_DEVICE_VERSION &&
			      info.flags & DP_DEVICE_ADDRESSES && info.probes &&
			      info.counts && add.addr >> 40 == 0xffffff,
		      "with it they are", "device: ");
	add = (struct dp_device_add){ .addr = add.addr - add.offset };
	err = dp_device_add(fd, DP_UMASK, words, &add);
	dp_init_check(err == -ENOENT && strstr(words, "another function"),
		      "an address is not taken for another's", "device: ");
	close(fd);
}

/* The one who has it is killed. */
static void die(unsigned int arming)
{
	int ready[2], status, fd, changed;
	char byte = 0;
	pid_t child;

	if (pipe(ready))
		return;
	child = fork();
	if (!child) {
		byte = !begin(dp_device_open(0), arming);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	dp_init_check(read(ready[0], &byte, 1) == 1 && byte &&
			      dp_device_changed() == 3,
		      "a child has probes", arming_words[arming]);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	fd = dp_device_open(0);
	changed = dp_device_changed();
	dp_init_check(fd >= 0 && !changed, "when it is killed, they go",
		      arming_words[arming]);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

/* A child has its file, too. */
static void inherit(void)
{
	int fd = dp_device_open(0), err = begin(fd, DP_DEVICE_TRAP), status;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	close(fd);
	dp_init_check(!err && dp_device_changed() == 3,
		      "who has inherited the file keeps the probes",
		      "device: ");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	fd = dp_device_open(0);
	dp_init_check(fd >= 0 && !dp_device_changed(), "until it ends",
		      "device: ");
	close(fd);
}

void dp_device_write_over(const char *function, unsigned int offset)
{
	char event[128];

	snprintf(event, sizeof(event), "p:dpover %s+%u", function, offset);
	dp_device_put("/tracing/kprobe_events", event);
	dp_device_put("/tracing/events/kprobes/dpover/enable", "1");
}

void dp_device_write_over_no_more(void)
{
	dp_device_put("/tracing/events/kprobes/dpover/enable", "0");
	dp_device_put("/tracing/kprobe_events", "-:dpover");
}

static void stuck(void)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	time_t until = time(NULL) + 60;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	err = err						?:
		      dp_device_add(fd, DP_GETSID, words, &add) ?:
		      dp_device_commit(fd, 0);
	dp_device_write_over(DP_GETSID, add.offset);
	work(10, 10);
	close(fd);
	dp_init_check(!err && dp_device_changed() == 1,
		      "what others have written over stays", "device: ");
	dp_init_check(!dp_init_unload("dprobes"), "and so does the module",
		      "device: ");
	work(10, 10);
	dp_device_write_over_no_more();
	while (dp_device_changed() && time(NULL) < until)
		usleep(10000);
	dp_init_check(!dp_device_changed(), "until it can be taken out",
		      "device: ");
}

void dp_device_try(void)
{
	unsigned int arming;

	dp_init_check(dp_init_load("dpbytes", "functions=" DP_GETSID
					      "," DP_UMASK "," DP_GETPGID),
		      "bytes are remembered", "device: ");
	for (arming = DP_DEVICE_TRAP; arming <= DP_DEVICE_INTERIOR; arming++) {
		count(arming);
		die(arming);
	}
	refuse();
	dp_device_made();
	rights();
	inherit();
	if (access("/tracing/kprobe_events", F_OK))
		dp_init_skip("device: what others have written over stays",
			     "nothing else in this kernel can be asked to");
	else
		stuck();
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "nothing is left", "device: ");
}

void dp_device_locked(void)
{
	int fd, knob = open(DP_DEBUG "/dprobes/enabled", O_WRONLY),
		hooks = open(DP_DEBUG "/dprobes/hooks", O_WRONLY);

	mount("security", "/sys/kernel/security", "securityfs", 0, NULL);
	dp_device_put("/sys/kernel/security/lockdown", "integrity");
	fd = dp_device_open(0);
	dp_init_check(fd >= 0 && !dp_device_may_write(fd),
		      "programs cannot write, for its integrity", "device: ");
	close(fd);
	if (knob >= 0)
		dp_init_check(write(knob, "1", 1) == -1 && errno == EPERM &&
				      write(hooks, "arm a b", 7) == -1 &&
				      errno == EPERM,
			      "nor can files that were open", "device: ");
	close(knob);
	close(hooks);
	dp_device_put("/sys/kernel/security/lockdown", "confidentiality");
	dp_init_check(dp_device_open(0) == -EPERM, "it cannot be opened",
		      "device: ");
	dp_init_check(dp_files_put("enabled", "0") == EPERM &&
			      dp_files_put("dump", "1") == EPERM,
		      "no knob can be turned", "device: ");
}
