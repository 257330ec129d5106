// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user_races_init: files that change while the tool looks at them: at each time that it opens one, the file is replaced,
 * or written in place. The opens are held up by fanotify(7).
 */
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include "tests/kernel/user_init.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, races: "
#define COPY "/raced"
#define OTHER "/other"
/* Another name of it, by which it is executed */
#define LATER "/later"
#define FILE_DP "/raced.dp"
#define REFUSED(status) ((status) == 1 || (status) == 2)
/* Opens of a file by one run, at most */
#define OPENS 32
#define ENTRY "offset = dp_user_step\n"
#define RETURN "offset = dp_user_steps\nretprobe = yes\n"
#define CHANGED "changed meanwhile"

/* The same bytes, in another file: no byte tells that it is one */
static void replace(void)
{
	rename(OTHER, COPY);
}

/* The byte that is there, again: no byte tells that it has been written, either. */
static void write_again(void)
{
	int fd = open(DP_USER_FILE, O_RDONLY), to = open(COPY, O_WRONLY);
	char byte;

	if (pread(fd, &byte, 1, 0) != 1 || pwrite(to, &byte, 1, 0) != 1)
		dp_init_check(0, "the file is written", OF);
	close(to);
	close(fd);
}

/* Return: a descriptor that has all who open the file wait */
static int watch(void)
{
	int fan = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);

	if (fan >= 0 &&
	    fanotify_mark(fan, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, COPY)) {
		close(fan);
		fan = -1;
	}
	return fan;
}

/* Return: has it been opened? */
static int let_open(int fan, int is_time, void (*change)(void))
{
	struct pollfd p = { .fd = fan, .events = POLLIN };
	struct fanotify_event_metadata e;
	struct fanotify_response allow = { .response = FAN_ALLOW };

	if (poll(&p, 1, 20) != 1 || read(fan, &e, sizeof(e)) != sizeof(e))
		return 0;
	if (is_time) {
		/* Who writes it opens it, too. */
		fanotify_mark(fan, FAN_MARK_REMOVE, FAN_OPEN_PERM, AT_FDCWD,
			      COPY);
		change();
	}
	allow.fd = e.fd;
	if (write(fan, &allow, sizeof(allow)) != sizeof(allow))
		dp_init_check(0, "who opens the file goes on", OF);
	close(e.fd);
	return 1;
}

static int has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

static void execute_later(void)
{
	pid_t child = fork();

	if (!child) {
		execl(LATER, LATER, "steps", "3", NULL);
		_exit(127);
	}
	if (!dp_user_ended(child))
		dp_init_check(0, "the other file is executed", OF);
}

/* Change the file when the tool opens it for the @when-th time. Return: its status; -1: it has not done so */
static int run(int when, void (*change)(void))
{
	static const char *const argv[] = { "run", "-v", FILE_DP, NULL };
	int opens = 0, fan;
	pid_t tool;

	unlink(COPY);
	unlink(LATER);
	if (dp_user_copy(COPY) || dp_user_copy(OTHER) || link(OTHER, LATER))
		return -1;
	usleep(20000);
	fan = watch();
	tool = dp_tool_start(argv);
	while (!has_ended(tool)) {
		if (let_open(fan, opens + 1 == when, change))
			opens++;
		else if (strstr(dp_files_list(), "  u  raced+0x"))
			break;
	}
	close(fan);
	if (!has_ended(tool)) {
		execute_later();
		kill(tool, SIGINT);
	}
	when = opens < when ? -1 : 0;
	opens = dp_tool_finish(tool);
	return when ?: opens;
}

/* It is refused, or what is probed is the file that was read, of which the name is another's by now, and which nobody
 * executes. */
static void each(const char *where, void (*change)(void), const char *what)
{
	char text[256];
	int fd, when, status, refused = 0, wrong = 0;

	snprintf(text, sizeof(text),
		 "name = \"" COPY "\"\nmodtype = user\nmajor = 5\nvars = 1\n"
		 "%sinc lv,0\nabort\n",
		 where);
	fd = open(FILE_DP, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		dp_init_check(0, "a program is written", OF);
	close(fd);
	for (when = 1; when < OPENS; when++) {
		status = run(when, change);
		if (status < 0)
			break;
		if (REFUSED(status) && dp_tool_says(CHANGED))
			refused++;
		else if (status || !dp_tool_says("lv[0] = 0x0 (0)"))
			wrong++;
	}
	dp_tool_check(when > 2 && when < OPENS && refused && !wrong, what);
	printf("# %d opens, %d refused\n", when - 1, refused);
	unlink(COPY);
	unlink(OTHER);
	unlink(LATER);
}

void dp_user_races(void)
{
	int fan;

	if (!dp_init_debugfs() || dp_user_copy(COPY))
		return;
	fan = watch();
	close(fan);
	if (fan < 0) {
		dp_init_skip(OF "all", "the kernel has no fanotify");
		return;
	}
	each(ENTRY, replace, OF "a file that is replaced");
	each(RETURN, replace, OF "at returns, too");
	each(RETURN, write_again, OF "a file that is written");
}
