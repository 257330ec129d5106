// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * held: DProbes' commands: have programs held, and ask those that hold them.
 *
 * Holds are found as the tool of a probed process is, or by their name among all processes; what
 * counts is the memory in which they take orders (tracer/order.h).
 */
#include "tracer/hold.h"
#include "tracer/module/ask.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/run.h"
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "sym/list.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_MS 10000 /* that a hold may take to leave its process */
#define COMM_MAX 32

/** struct holder - a hold, and its process, or KERNEL */
struct holder {
	pid_t hold, pid;
};

#define KERNEL ((pid_t)DP_ORDER_KERNEL)

/* Which process does a hold have? 0: it is none, or not ours to ask. */
static pid_t held_by(pid_t hold)
{
	struct dp_process *proc;
	u64 addr = dp_mapping_named(hold, DP_ORDER_PATH), magic = 0;
	u32 version = 0, held = 0;

	if (!addr || dp_process_open(hold, &proc, NULL))
		return 0;
	dp_process_read(proc, addr + offsetof(struct dp_orders, magic), &magic,
			sizeof(magic));
	dp_process_read(proc, addr + offsetof(struct dp_orders, version),
			&version, sizeof(version));
	if (magic == DP_ORDER_MAGIC && version == DP_ORDER_VERSION)
		dp_process_read(proc, addr + offsetof(struct dp_orders, held),
				&held, sizeof(held));
	dp_process_close(proc);
	return (pid_t)held;
}

static bool has_name(pid_t pid)
{
	char comm[COMM_MAX];

	return dp_text_read(dp_path("/proc/%d/comm", pid).s, comm,
			    sizeof(comm)) > 0 &&
	       !strcmp(comm, DP_HOLD_NAME "\n");
}

/* The holds of all processes, or of @pid. Return: how many; a negative errno. */
static ssize_t find_holders(pid_t pid, struct holder **list)
{
	DIR *dir = opendir("/proc");
	struct holder h;
	struct dirent *d;
	size_t n = 0, room = 0;
	int err = dir ? 0 : -errno;

	*list = NULL;
	while (!err && (d = readdir(dir))) {
		h.hold = atoi(d->d_name);
		if (h.hold <= 0 || !has_name(h.hold))
			continue;
		h.pid = held_by(h.hold);
		if (h.pid && (!pid || h.pid == pid))
			err = dp_list_add(list, &n, &room, &h, sizeof(h));
	}
	if (dir)
		closedir(dir);
	if (!err)
		return (ssize_t)n;
	free(*list);
	*list = NULL;
	return err;
}

/* What a hold says goes out line by line: it is another process's text. */
static void print_lines(FILE *out, const char *text)
{
	size_t n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		dp_output_write(out, text, n);
		putc('\n', out);
	}
}

static int ask(const struct holder *h, u32 verb, u32 how, const char *text,
	       size_t len, char **reply, struct dp_diag *diag)
{
	const struct dp_ask a = { .tool = h->hold,
				  .pid = h->pid,
				  .verb = verb,
				  .how = how,
				  .nr = (u32)len,
				  .body = text,
				  .len = len,
				  .reply = reply };

	*reply = NULL;
	if (len <= DP_ORDER_TEXT)
		return dp_ask(&a, diag);
	return dp_diag_set(diag, -EFBIG,
			   "the program is too large to be sent to process %d",
			   h->hold);
}

/* A hold that has no program any more leaves its process. */
static void wait_end(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	if (fd >= 0)
		poll(&p, 1, END_MS);
}

static int remove_from(const struct holder *h, const char *name,
		       struct dp_diag *diag)
{
	int fd = pidfd_open(h->hold, 0), err;
	char *reply;

	err = ask(h, DP_ORDER_REMOVE, 0, name, strlen(name), &reply, diag);
	if (!err && reply && *reply)
		wait_end(fd);
	free(reply);
	if (fd >= 0)
		close(fd);
	return err;
}

static int query_at(const struct dp_tracer_options *opt, const struct holder *h,
		    const char *name, struct dp_diag *diag)
{
	u32 how = (opt->classic->extended ? DP_HELD_EXTENDED : 0) |
		  (opt->json ? DP_HELD_JSON : 0);
	char *reply;
	int err = ask(h, DP_ORDER_QUERY, how, name, strlen(name), &reply, diag);

	if (!err && reply)
		print_lines(opt->out, reply);
	free(reply);
	return err;
}

/* Give an order to each hold that is meant. */
static int each(const struct dp_tracer_options *opt, bool query,
		struct dp_diag *diag)
{
	const char *name = opt->classic->name ?: "";
	struct holder *list;
	ssize_t n = find_holders(opt->pid, &list), i;
	size_t met = 0;
	int err = n < 0 ? dp_diag_set(diag, (int)n, "cannot look for holds") :
			  0;

	for (i = 0; i < n && !err; i++) {
		err = query ? query_at(opt, &list[i], name, diag) :
			      remove_from(&list[i], name, diag);
		met += !err;
		/* Another hold may have it, or this one has just ended. */
		if (err == -ENOENT || err == -ESRCH) {
			err = 0;
			dp_diag_clear(diag);
		}
	}
	free(list);
	return err ? err : !met;
}

int dp_tracer_remove(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return each(opt, false, diag);
}

int dp_tracer_query(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return each(opt, true, diag);
}

static int say_result(const struct dp_tracer_options *opt, pid_t hold,
		      const struct dp_held_result *r)
{
	u32 armed = r->points - r->refused - r->waiting;
	struct dp_order_place place =
		dp_order_place(opt->pid ? (u32)opt->pid : DP_ORDER_KERNEL);

	if (r->points == r->refused)
		dp_output_say("no point is armed in %s", place.s);
	else if (!opt->quiet && r->waiting)
		dp_output_say(
			"%u of %u points armed in %s, %u waiting for a library; process %d holds them",
			armed, r->points, place.s, r->waiting, hold);
	else if (!opt->quiet)
		dp_output_say(
			"%u of %u point%s armed in %s; process %d holds %s",
			armed, r->points, r->points == 1 ? "" : "s", place.s,
			hold, r->points == 1 ? "it" : "them");
	return r->refused != 0;
}

/* The child has said why, and exits as a command does. */
static int status_of(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		dp_output_say(
			"the process that was to hold the program died of signal %d",
			WTERMSIG(status));
	return 1;
}

static int await(const struct dp_tracer_options *opt, pid_t child, int from)
{
	struct dp_held_result result;
	ssize_t n;

	do
		n = read(from, &result, sizeof(result));
	while (n < 0 && errno == EINTR);
	return n == sizeof(result) ? say_result(opt, child, &result) :
				     status_of(child);
}

/* Whoever waits for the end of a file of the command's is not to wait for the hold. */
static void close_others(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b);
	unsigned int high = (unsigned int)(a < b ? b : a);

	if (low > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, low - 1, 0);
	if (high > low + 1 && high > STDERR_FILENO + 1)
		close_range(low > STDERR_FILENO ? low + 1 : STDERR_FILENO + 1,
			    high - 1, 0);
	close_range((high > STDERR_FILENO ? high : STDERR_FILENO) + 1, ~0u, 0);
}

/* Until its points are armed the hold ends with the command. */
static bool end_with(pid_t command)
{
	return !prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == command;
}

/* Return, twice: in the command, and in the hold when it has ended. */
static int start(const struct dp_tracer_options *opt,
		 const struct dp_held_source *source, char **bad_line,
		 struct dp_diag *diag)
{
	int pipe_fds[2], err;
	pid_t child, command = getpid();

	if (pipe2(pipe_fds, O_CLOEXEC))
		return dp_diag_set(diag, -errno, "cannot make a pipe");
	fflush(NULL);
	child = fork();
	if (!child) {
		if (!end_with(command))
			_exit(1);
		close_others(pipe_fds[1], fileno(opt->out));
		opt->classic->title(DP_HOLD_NAME);
		return dp_hold_run(opt, source, pipe_fds[1], bad_line, diag);
	}
	close(pipe_fds[1]);
	err = child < 0 ? dp_diag_set(diag, -EAGAIN, "cannot make a process") :
			  await(opt, child, pipe_fds[0]);
	close(pipe_fds[0]);
	return err;
}

/* What has come of it is behind the words about points that are refused. */
static int add_to(const struct dp_tracer_options *opt, const struct holder *h,
		  const struct dp_held_source *source, char **bad_line,
		  struct dp_diag *diag)
{
	struct dp_held_result result = { 0 };
	char *text, *reply = NULL, *last;
	size_t len;
	int err;

	text = dp_held_pack(source, &len);
	if (!text)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = ask(h, DP_ORDER_INSERT, source->how, text, len, &reply, diag);
	free(text);
	if (err) {
		/* The line of the file in which something is wrong */
		*bad_line = reply && *reply ? reply : NULL;
		if (!*bad_line)
			free(reply);
		return err;
	}
	last = reply ? strrchr(reply, '\n') : NULL;
	last = last ? last + 1 : reply;
	if (last) {
		sscanf(last, "%u %u %u", &result.points, &result.refused,
		       &result.waiting);
		*last = '\0';
		print_lines(stderr, reply);
	}
	free(reply);
	return say_result(opt, h->hold, &result);
}

/* Is the process held? If another dprobes probes it, attaching will say so. */
static bool find_holder(pid_t pid, struct holder *h)
{
	struct holder *list;
	ssize_t n = find_holders(pid, &list);

	if (n > 0)
		*h = list[0];
	free(list);
	return n > 0;
}

static struct dp_held_source source_of(const struct dp_tracer_options *opt)
{
	const struct dp_classic_options *c = opt->classic;

	return (struct dp_held_source){
		.file = opt->specs[0],
		.groups = c->groups ?: "",
		.types = c->types ?: "",
		.symbols = c->symbols ?: "",
		.allow = opt->allow,
		.how = (c->merge ? DP_HELD_MERGE : 0) |
		       (c->replace ? DP_HELD_REPLACE : 0) |
		       (c->any_opcode ? DP_HELD_ANY_OPCODE : 0) |
		       (c->ppdf ? DP_HELD_PPDF : 0),
	};
}

static int insert(const struct dp_tracer_options *opt,
		  const struct dp_held_source *source, char **bad_line,
		  struct dp_diag *diag)
{
	struct holder h;
	pid_t pid = opt->pid ?: KERNEL;
	int err = -ESRCH;

	if (find_holder(pid, &h))
		err = add_to(opt, &h, source, bad_line, diag);
	/* There is none, or it has just ended. */
	if (err != -ESRCH || find_holder(pid, &h))
		return err;
	dp_diag_clear(diag);
	return start(opt, source, bad_line, diag);
}

/* "index value name", a line each, which are written to */
static void take_lines(char *text, dp_held_take take, void *arg)
{
	char *next, *name;
	u32 index;
	u64 value;

	for (; *text; text = next) {
		next = text + strcspn(text, "\n");
		if (*next)
			*next++ = '\0';
		index = (u32)strtoul(text, &name, 10);
		value = strtoull(name, &name, 10);
		take(arg, index, value, name + (*name == ' '));
	}
}

/* Ask each hold of the kernel's. Return: 0; a negative errno with words */
static int each_of_kernel(u32 verb, u32 how, const char *text,
			  void (*take_reply)(void *arg, char *reply), void *arg,
			  struct dp_diag *diag)
{
	struct holder *list;
	ssize_t n = find_holders(KERNEL, &list), i;
	char *reply;
	int err = n < 0 ? (int)n : 0;

	for (i = 0; i < n && !err; i++) {
		err = ask(&list[i], verb, how, text, strlen(text), &reply,
			  diag);
		if (!err && reply)
			take_reply(arg, reply);
		free(reply);
		/* It has just ended. */
		if (err == -ESRCH) {
			err = 0;
			dp_diag_clear(diag);
		}
	}
	free(list);
	return err;
}

/** struct taker - of variables */
struct taker {
	dp_held_take take;
	void *arg;
};

static void take_variables(void *arg, char *reply)
{
	const struct taker *t = arg;

	take_lines(reply, t->take, t->arg);
}

int dp_held_each_variable(dp_held_take take, void *arg, struct dp_diag *diag)
{
	struct taker t = { take, arg };

	return each_of_kernel(DP_ORDER_VARIABLES, 0, "", take_variables, &t,
			      diag);
}

static void add_number(void *sum, char *reply)
{
	*(int *)sum += atoi(reply);
}

int dp_held_reset_kernels(const struct dp_held_reset *reset,
			  struct dp_diag *diag)
{
	char *text;
	int n = 0, err;

	if (asprintf(&text, "%u %u %s", reset->first, reset->last,
		     reset->name) < 0)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = each_of_kernel(DP_ORDER_RESET, reset->how, text, add_number, &n,
			     diag);
	free(text);
	return err ?: n;
}

int dp_tracer_insert(const struct dp_tracer_options *opt, char **bad_line,
		     struct dp_diag *diag)
{
	struct run run = { .opt = opt, .bad_line = bad_line };
	struct dp_held_source source = source_of(opt);
	char *text = NULL;
	int err;

	*bad_line = NULL;
	err = opt->classic->ppdf ?
		      dp_run_read(source.file, &text, &source.len, diag) :
		      dp_run_text(&run, source.file, &text, &source.len, diag);
	source.text = text;
	if (!err)
		err = insert(opt, &source, bad_line, diag);
	free(text);
	return err;
}
