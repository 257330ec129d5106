// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user_returns_init: returns in all processes: of functions that recurse, throw, jump, fork, execute and end; and what
 * is refused. The kernel's own return probes count the same where they may be, which is not where exceptions are.
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, returns: "
#define FILE_DP "/returns.dp"
#define RETURNER "/returner"
#define STATUS 4
#define HEAD "name = \"" RETURNER "\"\nmodtype = user\nmajor = 5\n"
#define EVENTS "/tracing/uprobe_events"
#define TRACE "/tracing/trace"
#define ENABLE "/tracing/events/uprobes/enable"
#define TIMES 12
#define THREADS 4
#define DEPTH 5
/* Of TIMES numbers from 0 on, those that 3 divides; each is executed in a child. */
#define EXECUTED 4

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		dp_init_check(0, path, OF "written: ");
	close(fd);
}

static pid_t start(const char *times, const char *never)
{
	pid_t child = fork();

	if (child)
		return child;
	execl(RETURNER, RETURNER, times, never, NULL);
	_exit(127);
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The tool, with the program as its command; or that and the kernel's probes at once */
static int run(const char *text)
{
	static const char *const argv[] = { "run", "-v", FILE_DP, NULL };
	pid_t tool;
	int left = 2000, status;

	write_file(FILE_DP, text);
	tool = dp_tool_start(argv);
	while (left-- && !strstr(dp_files_list(), "  u  returner+0x"))
		usleep(10000);
	/* The list has a probe before all its places are there. */
	usleep(200000);
	status = status_of(start("12", NULL));
	usleep(100000);
	kill(tool, SIGINT);
	return dp_tool_finish(tool) ?: status == STATUS ? 0 : 1;
}

static int counts(int index, int n)
{
	char text[48];

	snprintf(text, sizeof(text), "lv[%d] = 0x%x (%d)", index, n, n);
	return dp_tool_says(text);
}

/* --- what the kernel's own events count: returns are in the trace alone --- */

static long event(const char *name)
{
	FILE *f = fopen(TRACE, "r");
	char line[512];
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, name) != NULL;
	if (f)
		fclose(f);
	return n;
}

/* Offsets of the functions in the file, as the tool finds them: a probe at each entry is listed by it. */
static unsigned long entry_of(const char *function)
{
	static const char *const argv[] = { "run", FILE_DP, NULL };
	char text[256];
	unsigned long offset = 0;
	const char *at = NULL;
	pid_t tool;
	int left = 2000;

	snprintf(text, sizeof(text), HEAD "offset = %s\nabort\n", function);
	write_file(FILE_DP, text);
	tool = dp_tool_start(argv);
	while (left-- && !at) {
		at = strstr(dp_files_list(), "returner+0x");
		usleep(10000);
	}
	if (at)
		offset = strtoul(at + strlen("returner+"), NULL, 16);
	kill(tool, SIGINT);
	dp_tool_finish(tool);
	return offset;
}

static const struct {
	const char *function, *event;
} own[] = { { "returner_climb", "dpclimb" },
	    { "returner_fork", "dpfork" },
	    { "returner_leave", "dpleave" },
	    { "returner_two", "dptwo" } };
#define OWN (sizeof(own) / sizeof(own[0]))

static void events_begin(void)
{
	char text[128];
	size_t i;

	for (i = 0; i < OWN; i++) {
		snprintf(text, sizeof(text),
			 "%cr:uprobes/%s " RETURNER ":0x%lx", i ? '\n' : ' ',
			 own[i].event, entry_of(own[i].function));
		dp_init_put(EVENTS, text + 1);
	}
	close(open(TRACE, O_WRONLY | O_TRUNC));
	dp_init_put(ENABLE, "1");
}

static void events_end(long *n)
{
	char text[64];
	size_t i;

	for (i = 0; i < OWN; i++)
		n[i] = event(own[i].event);
	dp_init_put(ENABLE, "0");
	for (i = 0; i < OWN; i++) {
		snprintf(text, sizeof(text), "-:uprobes/%s", own[i].event);
		dp_init_put(EVENTS, text);
	}
}

#define RETURNS(function, code) \
	"offset = " function "\nretprobe = yes\n" code "abort\n"

static void every_way(void)
{
	static const int climbed = THREADS * TIMES * (DEPTH + 1);
	static const int forked = 2 * TIMES, left = TIMES - EXECUTED;
	bool has_events = !access(EVENTS, F_OK);
	long n[OWN] = { 0 };
	int failed;

	if (has_events)
		events_begin();
	failed = run(
		HEAD
		"vars = 9\n" RETURNS("returner_climb", "inc lv,0\n") RETURNS(
			"returner_throw",
			"inc lv,1\n") RETURNS("returner_through", "inc lv,2\n")
			RETURNS("returner_long", "inc lv,3\n") RETURNS(
				"returner_fork", "inc lv,4\n")
				RETURNS("returner_leave", "inc lv,5\n") RETURNS(
					"returner_two", "inc lv,6\n")
					RETURNS("returner_exec", "inc lv,7\n")
						RETURNS("returner_again",
							"inc lv,8\n"));
	if (has_events)
		events_end(n);
	dp_tool_check(!failed, "user, returns: the program has not noticed");
	dp_tool_check(counts(0, climbed),
		      "user, returns: of recursion, in threads");
	dp_tool_check(counts(1, TIMES / 2) && counts(2, TIMES / 2),
		      "user, returns: not of calls that exceptions end");
	dp_tool_check(counts(3, TIMES / 2),
		      "user, returns: not of calls that longjmp ends");
	dp_tool_check(counts(4, forked), "user, returns: in a child, too");
	dp_tool_check(counts(5, left),
		      "user, returns: not where the process ends");
	dp_tool_check(counts(6, TIMES), "user, returns: of several exits");
	dp_tool_check(dp_tool_says("lv[7] = 0x0 (0)"),
		      "user, returns: not of a call that executes a program");
	dp_tool_check(counts(8, TIMES),
		      "user, returns: of a call that begins anew");
	if (has_events)
		dp_tool_check(n[0] == climbed && n[1] == forked &&
				      n[2] == left && n[3] == TIMES,
			      "user, returns: the kernel counts the same");
	if (has_events && (n[0] != climbed || n[1] != forked || n[2] != left ||
			   n[3] != TIMES))
		printf("# %ld %ld %ld %ld\n", n[0], n[1], n[2], n[3]);
}

static void values(void)
{
	int failed = run(
		HEAD
		"vars = 3\noffset = returner_two\nretprobe = yes\n"
		"minor = 3\npush v,\"(int)retval\"\nlog 1\n"
		"push lv,0\npush retval\nadd\npop lv,0\n"
		"push &returner_pid\npush mem,u64\npush pid\nsub\njnz out\n"
		"inc lv,1\nout:\npush lv,2\npush r,rip\npush &returner_two\nrsub\n"
		"add\npop lv,2\nexit\n");

	/* 1, 3, 3, 5, 5, …, 11, 11, 13 */
	dp_tool_check(!failed && counts(0, 84),
		      "user, returns: what is returned");
	/* One of the two is 12 bytes behind the entry, the other one 17. */
	dp_tool_check(counts(1, TIMES) && counts(2, TIMES / 2 * (12 + 17)),
		      "user, returns: memory, at the instruction that returns");
	dp_tool_check(dp_tool_occurrences(" returner:returner_two ") == TIMES &&
			      dp_tool_occurrences("elements 0x5\n") == 2 &&
			      dp_tool_occurrences("elements 0xd\n") == 1,
		      "user, returns: records");
}

/* A probe is one, whatever its exits are. */
static void limits(void)
{
	int failed = run(HEAD
			 "vars = 2\noffset = returner_two\nretprobe = yes\n"
			 "pass_count = 3\nmax_hits = 5\ninc lv,0\nabort\n");

	dp_tool_check(!failed && counts(0, 5) && dp_tool_says(", 3 let pass") &&
			      dp_tool_says("12 hits"),
		      "user, returns: limits are those of all exits");
}

static void onward(void)
{
	int failed = run(HEAD "vars = 2\n" RETURNS("returner_hop", "inc lv,0\n")
				 RETURNS("returner_land", "inc lv,1\n"));

	dp_tool_check(
		!failed && counts(0, TIMES / 2) &&
			counts(1, TIMES / 2 + TIMES + EXECUTED) &&
			dp_tool_says(
				"6 calls went on in another function, whose return is not seen"),
		"user, returns: jumps to other functions are counted");
}

/* One comes in the place of another, which is at other exits. */
static void held(void)
{
	int err, first;

	write_file(FILE_DP,
		   HEAD "vars = 1\n" RETURNS("returner_climb", "inc lv,0\n"));
	err = DP_TOOL("--insert", FILE_DP, "-q") ?:
		      status_of(start("1", NULL)) != STATUS;
	err |= DP_TOOL("--getvars", "--all");
	first = dp_tool_occurrences(" lv[0] = 0x18 (24)");
	write_file(FILE_DP,
		   HEAD "vars = 1\n" RETURNS("returner_two", "inc lv,0\n"));
	err |= DP_TOOL("--insert", FILE_DP, "--replace", "-q") ?:
		       status_of(start("7", NULL)) != STATUS;
	err |= DP_TOOL("--getvars", "--all");
	dp_tool_check(!err && first == 1 &&
			      dp_tool_occurrences(" lv[0] = 0x7 (7)") == 1,
		      "user, returns: programs that are held");
	dp_tool_check(!DP_TOOL("--remove", "--all") &&
			      !strstr(dp_files_list(), "returner"),
		      "user, returns: and removed");
}

static void refused(const char *text, const char *words, const char *what)
{
	int status;

	write_file(FILE_DP, text);
	status = DP_TOOL("run", FILE_DP);
	dp_tool_check(status == 2 && dp_tool_says(words), what);
}

static void refusals(void)
{
	refused(HEAD RETURNS("returner_skip", ""),
		"goes on in another function, to which it jumps",
		"user, returns: refused: jumps alone");
	refused(HEAD RETURNS("returner_never", ""), "it never returns",
		"user, returns: refused: no return");
	refused(HEAD RETURNS("returner_into", ""),
		"other functions end there, too",
		"user, returns: refused: one that runs on into another");
	refused(HEAD RETURNS("returner_two + 6", ""),
		"no function begins there",
		"user, returns: refused: the middle of a function");
	refused(HEAD RETURNS("returner_two", "push v,\"latency\"\n"),
		"how long a call has taken",
		"user, returns: refused: latencies");
	refused(HEAD "offset = returner_two\nretprobe = yes\nopcode = 0xc3\n"
		     "exit\n",
		"the opcode", "user, returns: refused: another opcode");
}

/* --- by the device --- */

static int also(int fd, const char *path, unsigned int probe,
		unsigned long offset, unsigned int flags, char *words)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct dp_device_file want = { .fd = (unsigned int)file,
				       .offset = offset,
				       .words = (unsigned long)words,
				       .words_size = DP_DEVICE_WORDS,
				       .probe = probe,
				       .flags = flags };

	*words = '\0';
	if (ioctl(fd, DP_DEVICE_FILE, &want))
		err = -errno;
	close(file);
	return err;
}

static void places(void)
{
	unsigned long lea = dp_user_offset(dp_user_lea);
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0, i, full = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1);

	dp_init_check(also(fd, DP_USER_FILE, 0, lea, DP_DEVICE_ALSO, words) ==
			      -EINVAL,
		      "refused: more of no probe", OF);
	err = err ?: dp_user_add(fd, (void *)dp_user_step, &probe);
	dp_init_check(!err &&
			      also(fd, DP_USER_FILE, probe, lea,
				   DP_DEVICE_ONWARD, words) == -EINVAL &&
			      also(fd, DP_USER_FILE, probe, lea, 4, words) ==
				      -EINVAL &&
			      also(fd, DP_USER_FILE, probe + 1, lea,
				   DP_DEVICE_ALSO, words) == -EINVAL,
		      "refused: flags that make no sense", OF);
	dp_init_check(also(fd, DP_USER_FILE, probe, lea,
			   DP_DEVICE_ALSO | DP_DEVICE_ONWARD,
			   words) == -EINVAL &&
			      strstr(words, "no jump is there"),
		      "refused: a jump that is none", OF);
	dp_init_check(also(fd, RETURNER, probe, 0x1000, DP_DEVICE_ALSO,
			   words) == -EINVAL &&
			      strstr(words, "another file"),
		      "refused: another file", OF);
	err = also(fd, DP_USER_FILE, probe, lea, DP_DEVICE_ALSO, words);
	err = err ?: dp_device_commit(fd, 0);
	dp_init_check(!err && dp_user_ended(dp_user_run(9)) &&
			      dp_user_hits(fd, probe) == 18,
		      "a probe is at two instructions", OF);
	dp_init_check(also(fd, DP_USER_FILE, probe, lea, DP_DEVICE_ALSO,
			   words) == -EINVAL,
		      "refused: more of one that is armed", OF);
	dp_files_put("enabled", "0");
	dp_init_check(dp_user_byte(dp_user_lea) == 0x48 &&
			      dp_user_byte((void *)dp_user_step) == 0x90,
		      "both go", OF);
	dp_files_put("enabled", "1");
	dp_init_check(dp_user_byte(dp_user_lea) == 0xcc &&
			      dp_user_byte((void *)dp_user_step) == 0xcc,
		      "and come", OF);
	close(fd);
	fd = dp_device_open(0);
	err = dp_device_start(fd, 1) ?: dp_user_add(fd, dp_user_lea, &probe);
	for (i = 1; i < DP_DEVICE_PLACES && !err; i++)
		err = also(fd, DP_USER_FILE, probe, lea, DP_DEVICE_ALSO, words);
	full = also(fd, DP_USER_FILE, probe, lea, DP_DEVICE_ALSO, words) ==
	       -ENOSPC;
	dp_init_check(!err && full, "refused: more than there may be", OF);
	close(fd);
	dp_init_check(dp_user_byte(dp_user_lea) == 0x48, "nothing is left", OF);
}

/* Sessions end while tasks return, and some are killed. */
static void fire(void)
{
	int rounds = 4, right = 0;
	pid_t child[2];

	write_file(FILE_DP, HEAD RETURNS("returner_climb", "")
				    RETURNS("returner_through", ""));
	while (rounds--) {
		static const char *const argv[] = { "run", FILE_DP, NULL };
		pid_t tool = dp_tool_start(argv);

		child[0] = start("100", NULL);
		child[1] = start("3", "never");
		usleep(300000);
		kill(child[1], SIGKILL);
		kill(tool, rounds & 1 ? SIGKILL : SIGINT);
		dp_tool_finish(tool);
		waitpid(child[1], NULL, 0);
		right += status_of(child[0]) == STATUS;
	}
	dp_init_check(right == 4, "sessions end while tasks return", OF);
}

void dp_user_returns(void)
{
	if (!dp_user_can()) {
		dp_init_skip(OF "all", "the kernel has no uprobes");
		return;
	}
	every_way();
	values();
	limits();
	onward();
	held();
	refusals();
	if (dp_init_debugfs())
		places();
	fire();
}
