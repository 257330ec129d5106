// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* files_init: what /sys/kernel/debug/dprobes shows of probes, and its knobs. */
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
#include <time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES DP_DEBUG "/dprobes/"
#define OF "files: "
#define RESTRICT "/proc/sys/kernel/kptr_restrict"
#define WORK "dpvictim:dpvictim_work"
#define NOWHERE "0000000000000000"
#define ROUNDS 40

static char list[1 << 20], other[1 << 20];

static char *read_all(const char *path, char *to)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = 0, all = 0;

	while (fd >= 0 &&
	       (n = read(fd, to + all, sizeof(list) - 1 - (size_t)all)) > 0)
		all += n;
	to[all] = '\0';
	if (fd < 0 || n < 0)
		strcpy(to, strerror(errno));
	close(fd);
	return to;
}

const char *dp_files_list(void)
{
	return read_all(FILES "list", list);
}

/* Return: 0 or an errno */
int dp_files_put(const char *file, const char *text)
{
	char path[96];
	int fd, err;

	snprintf(path, sizeof(path), FILES "%s", file);
	fd = open(path, O_WRONLY);
	err = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return err;
}

static int has(const char *line)
{
	const char *at = strstr(dp_files_list(), line);

	if (at && (at == list || at[-1] == '\n'))
		return 1;
	printf("# no \"%.*s\" in:\n# %s\n", (int)strcspn(line, "\n"), line,
	       list);
	return 0;
}

static int knob_is(const char *file, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), FILES "%s", file);
	return !strcmp(read_all(path, other), value);
}

static int mode_of(const char *file)
{
	struct stat s;
	char path[96];

	snprintf(path, sizeof(path), FILES "%s", file);
	return stat(path, &s) ? -1 : (int)(s.st_mode & 07777);
}

static void getsids(int n)
{
	while (n--)
		syscall(SYS_getsid, 0);
}

static int turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn turn = { .probe = probe, .on = on };

	return ioctl(fd, DP_DEVICE_TURN, &turn) ? -errno :
						  dp_device_commit(fd, 0);
}

static int is(int fd, unsigned int probe, unsigned long long hits,
	      unsigned int mode)
{
	struct dp_device_count v = { 0 };

	if (dp_device_counts(fd, &v, probe, 1) == 1 && v.hits == hits &&
	    v.mode == mode)
		return 1;
	printf("# %llu hits, mode %u: %s\n", v.hits, v.mode, v.reason);
	return 0;
}

static struct dp_device_add add;

static int begin(const char *name, unsigned int arming, unsigned int flags)
{
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	add = (struct dp_device_add){ .flags = flags };
	err = err ?: dp_device_add(fd, name, words, &add);
	if (err)
		printf("# %s: %s\n", name, strerror(-err));
	return fd;
}

static void show_modes(void)
{
	dp_init_check(mode_of("list") == 0400 && mode_of("blacklist") == 0400 &&
			      mode_of("enabled") == 0600 &&
			      mode_of("optimization") == 0600 &&
			      mode_of("dump") == 0600,
		      "who may read and write", OF);
	dp_init_check(
		!*dp_files_list() && knob_is("enabled", "1\n") &&
			knob_is("optimization", "1\n") &&
			knob_is("dump", "0\n"),
		"at first nothing is probed, the knobs are on, and no dump is permitted",
		OF);
}

static char *line(char *to, const char *flags)
{
	sprintf(to, "%016llx  k  " DP_GETSID "+0x%x    %s\n", add.addr,
		add.offset, flags);
	return to;
}

static void show_states(void)
{
	char want[256], words[DP_DEVICE_WORDS];
	struct dp_device_add waits = { .flags = DP_DEVICE_PENDING };
	int fd = begin(DP_GETSID, DP_DEVICE_JUMP, 0), there;

	dp_init_check(!dp_device_add(fd, WORK, words, &waits) &&
			      !*dp_files_list() && !dp_device_commit(fd, 0),
		      "what is not armed yet is not listed", OF);
	dp_init_check(has(line(want, "[OPTIMIZED]")), "a probe that is a jump",
		      OF);
	dp_init_check(has(NOWHERE
			  "  k  dpvictim_work+0x0  dpvictim [PENDING]\n"),
		      "one that waits for its module", OF);
	there = dp_init_load("dpvictim", "") &&
		strstr(dp_files_list(), "  k  dpvictim_work+0x") &&
		strstr(list, "  dpvictim [OPTIMIZED]\n") &&
		!strstr(list, NOWHERE);
	dp_init_check(there, "the module is there", OF);
	there = dp_init_unload("dpvictim") &&
		strstr(dp_files_list(), "  k  dpvictim_work+0x") &&
		strstr(list, "  dpvictim [GONE]\n") && !strstr(list, NOWHERE);
	dp_init_check(there, "and gone", OF);
	dp_init_check(!turn(fd, 0, 0) && has(line(want, "[DISABLED]")) &&
			      !turn(fd, 1, 0) &&
			      strstr(dp_files_list(), "dpvictim [GONE]\n"),
		      "one that is off", OF);
	close(fd);
	dp_init_check(!*dp_files_list(), "none is left", OF);
	fd = begin(DP_GETSID, DP_DEVICE_TRAP, 0);
	dp_init_check(!dp_device_commit(fd, 0) && has(line(want, "")),
		      "a breakpoint", OF);
	close(fd);
}

/* What the kernel says of one of its own, and we of ours, is the same but for what is behind. */
static void compare(void)
{
	char event[128];
	int fd = begin(DP_GETPGID, DP_DEVICE_TRAP, 0);
	size_t len;

	dp_device_commit(fd, 0);
	dp_files_list();
	close(fd);
	snprintf(event, sizeof(event), "p:dpsame " DP_GETPGID "+%u",
		 add.offset);
	dp_device_put("/tracing/kprobe_events", event);
	dp_device_put("/tracing/events/kprobes/dpsame/enable", "1");
	read_all(DP_DEBUG "/kprobes/list", other);
	dp_device_put("/tracing/events/kprobes/dpsame/enable", "0");
	dp_device_put("/tracing/kprobe_events", "-:dpsame");
	len = strcspn(list, "[\n");
	dp_init_check(len > 30 && !strncmp(list, other, len),
		      "a line is as the kernel's", OF);
	if (strncmp(list, other, len))
		printf("# %s# %s\n", list, other);
}

static void show_blacklist(void)
{
	char *at, *end, words[DP_DEVICE_WORDS];
	struct dp_device_add bad = { 0 };
	unsigned int n = 0, missing = 0;
	int fd;

	read_all(FILES "blacklist", list);
	read_all(DP_DEBUG "/kprobes/blacklist", other);
	for (at = other; (end = strchr(at, '\n')); at = end + 1, n++) {
		*end = '\0';
		missing += !strstr(list, at);
	}
	printf("# the kernel forbids %u places\n", n);
	dp_init_check(n > 100 && !missing,
		      "the blacklist has what the kernel forbids", OF);
	dp_init_check(strstr(list, "\tnotify_die\n") &&
			      strstr(list, "\tatomic_notifier_call_chain\n") &&
			      strstr(list, "\texc_int3\n") &&
			      !strstr(list, "__x64_sys_getsid\n"),
		      "and what we do", OF);
	fd = begin(DP_GETSID, DP_DEVICE_TRAP, 0);
	dp_init_check(dp_device_add(fd, "atomic_notifier_call_chain", words,
				    &bad) == -EINVAL,
		      "which is refused", OF);
	close(fd);
}

static void turn_all(void)
{
	int fd = begin(DP_GETSID, DP_DEVICE_JUMP, 0), other_fd;
	struct dp_device_add more = { 0 };
	char words[DP_DEVICE_WORDS], want[256];

	dp_device_add(fd, DP_UMASK, words, &more);
	dp_init_check(!dp_device_commit(fd, DP_DEVICE_PLAN) &&
			      !dp_files_put("enabled", "0") &&
			      !dp_files_put("optimization", "0") &&
			      knob_is("enabled", "0\n") &&
			      !dp_files_put("optimization", "1") &&
			      !dp_files_put("enabled", "1") &&
			      !dp_device_changed(),
		      "what is only planned is not armed by a knob", OF);
	dp_init_check(!dp_device_commit(fd, 0) && !turn(fd, 1, 0) &&
			      dp_device_changed() == 1 &&
			      !dp_files_put("enabled", "0") &&
			      knob_is("enabled", "0\n") && !dp_device_changed(),
		      "enabled 0 disarms all", OF);
	getsids(5);
	dp_init_check(is(fd, 0, 0, DP_DEVICE_BY_TRAP) && has(line(want, "")) &&
			      strstr(list, DP_UMASK "+0x") &&
			      strstr(list, "[DISABLED]\n"),
		      "no hit is counted, and only what was off is DISABLED",
		      OF);
	dp_init_check(!turn(fd, 0, 0) && !turn(fd, 0, 1) &&
			      !dp_device_changed(),
		      "nor is any probe armed that is turned on", OF);
	dp_init_check(!dp_files_put("enabled", "y\n") &&
			      knob_is("enabled", "1\n") &&
			      dp_device_changed() == 1,
		      "enabled 1 arms those that are on", OF);
	getsids(7);
	dp_init_check(is(fd, 0, 7, DP_DEVICE_BY_JUMP) &&
			      has(line(want, "[OPTIMIZED]")),
		      "which count again", OF);
	dp_init_check(dp_files_put("enabled", "x") == EINVAL &&
			      dp_files_put("optimization", "") == EINVAL &&
			      knob_is("enabled", "1\n"),
		      "other values are refused", OF);
	dp_files_put("enabled", "0");
	close(fd);
	other_fd = begin(DP_GETSID, DP_DEVICE_JUMP, 0);
	dp_init_check(!dp_device_commit(other_fd, 0) && !dp_device_changed() &&
			      !dp_files_put("enabled", "1") &&
			      dp_device_changed() == 1,
		      "a later session finds the knob as it is", OF);
	close(other_fd);
}

/* A task that has been preempted within the bytes of a jump is not waited for: the jump comes later. */
static int becomes(const char *line)
{
	time_t until = time(NULL) + 60;

	while (!strstr(dp_files_list(), line) && time(NULL) < until)
		usleep(10000);
	return has(line);
}

static void turn_jumps(void)
{
	int fd = begin(DP_GETSID, DP_DEVICE_JUMP, 0);
	char want[256];

	dp_init_check(!dp_device_commit(fd, 0) &&
			      becomes(line(want, "[OPTIMIZED]")) &&
			      !dp_files_put("optimization", "0") &&
			      knob_is("optimization", "0\n") &&
			      has(line(want, "")) && dp_device_changed() == 1,
		      "optimization 0 turns jumps into breakpoints", OF);
	getsids(9);
	dp_init_check(is(fd, 0, 9, DP_DEVICE_BY_TRAP), "which count", OF);
	dp_init_check(!dp_files_put("optimization", "1") &&
			      becomes(line(want, "[OPTIMIZED]")),
		      "optimization 1 turns them back", OF);
	getsids(2);
	dp_init_check(is(fd, 0, 11, DP_DEVICE_BY_JUMP), "and they count on",
		      OF);
	dp_files_put("optimization", "0");
	close(fd);
	fd = begin(DP_GETSID, DP_DEVICE_JUMP, 0);
	dp_init_check(!dp_device_commit(fd, 0) && has(line(want, "")) &&
			      !dp_files_put("optimization", "1") &&
			      becomes(line(want, "[OPTIMIZED]")),
		      "it is for later sessions, too", OF);
	close(fd);
}

static int write_unprivileged(void)
{
	return setgid(1000) || setuid(1000) ? 0 : dp_files_put("enabled", "0");
}

static int without_syslog(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return 1;
	data[CAP_SYSLOG / 32].effective &= ~(1u << CAP_SYSLOG % 32);
	if (syscall(SYS_capset, &head, data))
		return 2;
	if (!strstr(dp_files_list(), NOWHERE "  k  " DP_GETSID) ||
	    strstr(list, "ffffffff"))
		return 3;
	read_all(FILES "blacklist", list);
	return strstr(list, "0x" NOWHERE "-0x" NOWHERE "\tnotify_die\n") &&
			       !strstr(list, "ffffffff") ?
		       0 :
		       4;
}

static void rights(void)
{
	int fd;

	dp_init_check(dp_device_of_child(write_unprivileged) == EACCES,
		      "others may not write", OF);
	chmod(DP_DEBUG, 0755);
	chmod(DP_DEBUG "/dprobes", 0755);
	chmod(FILES "enabled", 0666);
	dp_init_check(dp_device_of_child(write_unprivileged) == EPERM &&
			      knob_is("enabled", "1\n"),
		      "whatever its mode", OF);
	chmod(FILES "enabled", 0600);
	dp_device_put(RESTRICT, "1");
	fd = begin(DP_GETSID, DP_DEVICE_TRAP, 0);
	dp_device_commit(fd, 0);
	dp_init_check(!dp_device_of_child(without_syslog),
		      "addresses are shown as /proc/kallsyms does", OF);
	dp_init_check(strstr(dp_files_list(), "ffffffff") == list,
		      "with CAP_SYSLOG they are", OF);
	close(fd);
	dp_device_put(RESTRICT, "0");
}

/* Files are read and written while sessions come, are hit, and go. */
static void race(void)
{
	unsigned int i, failed = 0;
	pid_t child = fork();
	int fd, err;

	for (i = 0; !child; i++) {
		dp_files_put(i & 1 ? "enabled" : "optimization",
			     i & 2 ? "1" : "0");
		dp_files_list();
		read_all(FILES "blacklist", list);
	}
	for (i = 0; i < ROUNDS; i++) {
		fd = begin(DP_GETSID, i % 3, 0);
		err = dp_device_commit(fd, 0);
		getsids(200);
		err = err ?: turn(fd, 0, 0);
		getsids(20);
		failed += err || (i & 1 && turn(fd, 0, 1));
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	dp_init_check(!failed && !dp_device_changed(),
		      "files are used while sessions come and go", OF);
	dp_init_check(!dp_files_put("enabled", "1") &&
			      !dp_files_put("optimization", "1") &&
			      !*dp_files_list(),
		      "and nothing is left", OF);
}

void dp_files_try(void)
{
	dp_init_check(dp_init_load("dpbytes", "functions=" DP_GETSID
					      "," DP_UMASK "," DP_GETPGID),
		      "bytes are remembered", OF);
	show_modes();
	show_states();
	if (dp_init_events())
		compare();
	else
		dp_init_skip("files: a line is as the kernel's",
			     DP_INIT_NO_EVENTS);
	show_blacklist();
	turn_all();
	turn_jumps();
	rights();
	race();
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "every byte is as it was", OF);
}

int dp_files_there(void)
{
	return !access(FILES "list", F_OK);
}
