// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insmod: start a command with a probe module in it, and show the module's messages.
 *
 * The library is preloaded and loads the module (lib/module.c). The tool reads the
 * messages from shared memory, and waits for the command.
 */
#include "tracer/session.h"
#include "lib/insmod.h"
#include "proc/facts.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libdprobes.so.1"
#define LINKER "ld-linux-x86-64.so.2"
#define NAP_US 10000

struct run {
	const struct dp_tracer_options *opt;
	const char *had; /* LD_PRELOAD, or "" */
	struct dp_insmod *shared;
	int fd;
	u64 next; /* number of the line that is read next */
	pid_t pid;
	int status;
	char execed[PATH_MAX]; /* path of the program that it executed */
};

static int make_shared(struct run *r)
{
	u32 i;

	r->fd = dp_limits_file("insmod of dprobes", sizeof(*r->shared));
	if (r->fd < 0)
		return r->fd;
	/* Unsealed, the command could shrink the file and kill its readers by SIGBUS. */
	if (fcntl(r->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	r->shared = mmap(NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED, r->fd, 0);
	if (r->shared == MAP_FAILED)
		return -ENOMEM;
	for (i = 0; i < DP_INSMOD_LINES; i++)
		r->shared->lines[i].turn = i;
	return 0;
}

/* The library: beside the tool in a build tree, or in ../lib when installed. */
static const char *library(char *path, size_t size)
{
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return LIBRARY;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	*slash = '\0';
	snprintf(path, size, "%s/" LIBRARY, exe);
	if (!access(path, R_OK))
		return path;
	snprintf(path, size, "%s/../lib/" LIBRARY, exe);
	return access(path, R_OK) ? LIBRARY : path;
}

/* The dynamic linker takes spaces and colons to end a path. */
static int check_library(const struct run *r, struct dp_diag *diag)
{
	char path[PATH_MAX + 64];
	const char *lib = library(path, sizeof(path));

	if (lib[strcspn(lib, " :")])
		return dp_diag_set(
			diag, -EINVAL,
			"\"%s\" cannot be preloaded: the dynamic linker does not find a path with a space or colon; install dprobes in another directory",
			lib);
	if (strchr(r->had, '\n'))
		return dp_diag_set(
			diag, -EINVAL,
			"LD_PRELOAD has a newline in it, and cannot be passed on to a process; set it without");
	return 0;
}

/* An order has a word a line, so no word may contain a newline. */
int dp_order_check(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	const char *word = NULL;
	char module[PATH_MAX];
	size_t i;

	if (realpath(opt->specs[0], module) && strchr(module, '\n'))
		word = module;
	for (i = 0; i < opt->nr_specs; i++)
		word = strchr(opt->specs[i], '\n') ? opt->specs[i] : word;
	for (i = 0; i < opt->nr_aliases; i++)
		word = strchr(opt->aliases[i], '\n') ? opt->aliases[i] : word;
	return word ? dp_diag_set(
			      diag, -EINVAL,
			      "\"%s\" has a newline in it, and cannot be passed on to a process",
			      word) :
		      0;
}

/* The order for the library. Return: NULL: no memory. */
static char *order_text(const struct run *r)
{
	char *text, *what = dp_order_text(r->opt);

	return what && asprintf(&text, "/proc/%d/fd/%d\n%s\n%s", getppid(),
				r->fd, r->had, what) >= 0 ?
		       text :
		       NULL;
}

static void __attribute__((noreturn)) become(const struct run *r)
{
	char path[PATH_MAX + 64], *preload, *order = order_text(r);
	int err;

	if (!order || asprintf(&preload, "%s%s%s", library(path, sizeof(path)),
			       *r->had ? ":" : "", r->had) < 0)
		_exit(126);
	setenv("LD_PRELOAD", preload, 1);
	setenv(DP_INSMOD_ENV, order, 1);
	dp_limits_restore();
	err = dp_command_find(r->opt->argv[0], path, sizeof(path));
	if (!err) {
		execvp(path, r->opt->argv);
		err = -errno;
	}
	r->shared->state = DP_INSMOD_NO_COMMAND;
	dp_output_say("%s: %s", r->opt->argv[0], strerror(-err));
	_exit(err == -ENOENT ? 127 : 126);
}

/* Copy the next line: the command can write to it at any time.
 * Return: false: the line has not been written yet. */
static bool take_line(struct run *r, struct dp_insmod_line *line)
{
	struct dp_insmod_line *l = &r->shared->lines[r->next % DP_INSMOD_LINES];

	if (__atomic_load_n(&l->turn, __ATOMIC_ACQUIRE) != r->next + 1)
		return false;
	memcpy(line, l, sizeof(*line));
	/* Only the copy is used from here on. */
	__asm__ volatile("" : : : "memory");
	__atomic_store_n(&l->turn, r->next + DP_INSMOD_LINES, __ATOMIC_RELEASE);
	r->next++;
	return true;
}

static void show(struct run *r)
{
	FILE *out = r->opt->out ? r->opt->out : stdout;
	struct dp_insmod_line line;
	u32 n;

	for (n = 0; n < DP_INSMOD_LINES && take_line(r, &line); n++)
		dp_output_print(out, "<%u>%.*s\n", line.level & 7u,
				line.len < DP_INSMOD_TEXT ? line.len :
							    DP_INSMOD_TEXT,
				line.text);
	fflush(out);
}

static u32 state_of(const struct run *r)
{
	return __atomic_load_n(&r->shared->state, __ATOMIC_ACQUIRE);
}

/* After an exec neither the library nor the module is in the process. */
static void watch_exec(struct run *r)
{
	char was[sizeof(r->shared->exe)], now[PATH_MAX];
	ssize_t n;

	if (state_of(r) != DP_INSMOD_LOADED || r->execed[0])
		return;
	memcpy(was, r->shared->exe, sizeof(was));
	was[sizeof(was) - 1] = '\0';
	n = readlink(dp_path("/proc/%d/exe", r->pid).s, now, sizeof(now) - 1);
	if (n <= 0)
		return;
	now[n] = '\0';
	if (was[0] && strcmp(was, now))
		strcpy(r->execed, now);
}

static void wait_for(struct run *r)
{
	pid_t ended;

	do {
		ended = waitpid(r->pid, &r->status, WNOHANG);
		show(r);
		watch_exec(r);
		if (!ended)
			usleep(NAP_US);
	} while (!ended || (ended < 0 && errno == EINTR));
}

/* Tell of lost lines, and of an exit function that was not called. */
static void tell(const struct run *r, u32 state)
{
	u64 lost = __atomic_load_n(&r->shared->lost, __ATOMIC_RELAXED);

	if (lost)
		dp_output_say(
			"%lu lines of the module were lost; they came too fast",
			lost);
	if (state != DP_INSMOD_LOADED || WIFSIGNALED(r->status))
		return;
	if (r->execed[0])
		dp_output_say(
			"exec of %s ended the module, and its exit was not called",
			r->execed);
	else
		dp_output_say(
			"the module's exit was not called: %s ended with _exit, or has executed another program",
			r->opt->argv[0]);
}

static int refused(const struct run *r, struct dp_diag *diag)
{
	struct dp_diag theirs;
	s32 err = __atomic_load_n(&r->shared->err, __ATOMIC_RELAXED);

	memcpy(&theirs, &r->shared->diag, sizeof(theirs));
	return dp_output_quote(diag, err, &theirs);
}

static int outcome(const struct run *r, struct dp_diag *diag)
{
	u32 state = state_of(r);

	switch (state) {
	case DP_INSMOD_FAILED:
		return refused(r, diag);
	case DP_INSMOD_WAITS:
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s does not load libraries that are preloaded (is it static, or set-user-id?), so it ran without the module",
			r->opt->argv[0]);
	default:
		tell(r, state);
		return 0;
	}
}

/* The library needs glibc: another dynamic linker would end the command at once. */
static int check_linker(const char *command, struct dp_diag *diag)
{
	char linker[PATH_MAX], *name;

	/* A command that is static or missing is reported later. */
	if (dp_command_linker(command, linker, sizeof(linker)))
		return 0;
	name = strrchr(linker, '/');
	if (!strcmp(name ? name + 1 : linker, LINKER))
		return 0;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"%s cannot have a module: its dynamic linker is %s, and " LIBRARY
		" needs " LINKER " (glibc); trace, stat and run can probe it",
		command, linker);
}

int dp_tracer_insmod(const struct dp_tracer_options *opt, int *sig,
		     struct dp_diag *diag)
{
	struct run r = { .opt = opt, .had = secure_getenv("LD_PRELOAD") ?: "" };
	int err = dp_order_check(opt, diag);

	if (!err)
		err = check_library(&r, diag);
	if (!err)
		err = check_linker(opt->argv[0], diag);
	if (err)
		return err;
	err = make_shared(&r);
	if (err)
		return dp_diag_set(
			diag, err,
			"cannot make memory for the module's lines: %s",
			strerror(-err));
	fflush(NULL);
	r.pid = fork();
	if (r.pid < 0)
		return dp_diag_set(diag, -errno, "cannot start %s: %s",
				   opt->argv[0], strerror(errno));
	if (!r.pid)
		become(&r);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	wait_for(&r);
	err = outcome(&r, diag);
	if (err)
		return err;
	*sig = WIFSIGNALED(r.status) ? WTERMSIG(r.status) : 0;
	return WIFEXITED(r.status) ? WEXITSTATUS(r.status) : 128 + *sig;
}
