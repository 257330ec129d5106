// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* files: all probes that dprobes.ko has, of whomever they are, and its knobs, by debugfs. */
#include "tracer/output.h"
#include "tracer/system.h"
#include "tracer/system/system.h"
#include "tracer/tracer.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES "/sys/kernel/debug/dprobes/"

/* "ADDR  KIND  SYMBOL+OFFSET  MODULE FLAGS", without MODULE where it is the kernel's own */
static bool parse(const char *line, struct dp_system_listed *l)
{
	char place[DP_SYSTEM_NAME], *plus;
	int n = 0;

	*l = (struct dp_system_listed){ .module = "" };
	if (sscanf(line, "%lx %c %255s %n", &l->addr, &l->kind, place, &n) !=
		    3 ||
	    !n)
		return false;
	plus = strrchr(place, '+');
	if (!plus)
		return false;
	*plus = '\0';
	l->offset = strtoull(plus + 1, NULL, 0);
	strcpy(l->symbol, place);
	line += n;
	if (*line && *line != '[')
		sscanf(line, "%63s %n", l->module, &n), line += n;
	snprintf(l->flags, sizeof(l->flags), "%.*s", (int)strcspn(line, "\n"),
		 line);
	return true;
}

int dp_system_list(void (*tell)(void *arg, const struct dp_system_listed *l),
		   void *arg)
{
	FILE *f = fopen(FILES "list", "re");
	struct dp_system_listed l;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) >= 0)
		if (parse(line, &l))
			tell(arg, &l);
	if (ferror(f))
		err = -EIO;
	free(line);
	fclose(f);
	return err;
}

void dp_system_say_unlisted(int err)
{
	if (err != -ENOENT || geteuid() || access(DP_DEVICE_PATH, F_OK))
		return;
	dp_output_say(
		"probes in the kernel are not shown, as debugfs is not there: mount -t debugfs debug /sys/kernel/debug");
}

static int say_knob(int err, const char *path, struct dp_diag *diag)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return dp_diag_set(
			diag, err,
			"%s: the kernel's probes are switched by root; where the kernel is locked down (/sys/kernel/security/lockdown), by nobody",
			path);
	case -ENOENT:
		return dp_diag_set(
			diag, err,
			"there is no %s: load dprobes.ko, see dprobes(4), and mount debugfs",
			path);
	case -EBUSY:
		return dp_diag_set(
			diag, err,
			"%s: somebody has written over a probe, or a program is about to arm its own: try again",
			path);
	default:
		return dp_diag_set(diag, err, "%s: %s", path, strerror(-err));
	}
}

static int use_knob(const char *path, int value, char *now)
{
	int fd = open(path, (value < 0 ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err && value >= 0 && write(fd, value ? "1" : "0", 1) != 1)
		err = -errno;
	if (!err && pread(fd, now, 1, 0) != 1)
		err = -EIO;
	if (fd >= 0)
		close(fd);
	return err;
}

void dp_system_say_off(void)
{
	char now = '?';

	if (!use_knob(FILES "enabled", -1, &now) && now == '0')
		dp_output_say(
			"all probes in the kernel are switched off, and nothing is counted: dprobes enabled 1 kernel switches them on");
}

int dp_system_knob(FILE *out, bool optimization, int value, const char *name,
		   struct dp_diag *diag)
{
	const char *path = optimization ? FILES "optimization" :
					  FILES "enabled";
	char now = '?';
	int err = use_knob(path, value, &now);

	if (err)
		return say_knob(err, path, diag);
	dp_output_print(out, "%s%s%c\n", name, *name ? " = " : "", now);
	return 0;
}

static int list_hooks(FILE *out)
{
	FILE *f = fopen(FILES "hooks", "re");
	char *line = NULL;
	size_t room = 0;
	int err = f ? 0 : -errno;

	while (f && getline(&line, &room, f) >= 0)
		dp_output_print(out, "%.*s\n", (int)strcspn(line, "\n"), line);
	if (f && ferror(f))
		err = -EIO;
	free(line);
	if (f)
		fclose(f);
	return err;
}

/* HOOK:EXIT */
static int switch_exit(const struct dp_tracer_options *opt)
{
	size_t hook = strcspn(opt->exit, ":");
	char text[512];
	int fd, n, err = 0;

	n = snprintf(text, sizeof(text), "%s %.*s %s",
		     opt->disarms ? "disarm" : "arm", (int)hook, opt->exit,
		     opt->exit[hook] ? opt->exit + hook + 1 : "");
	if (!hook || !opt->exit[hook] || !opt->exit[hook + 1] ||
	    strpbrk(opt->exit, " \n") || n >= (int)sizeof(text))
		return -EINVAL;
	fd = open(FILES "hooks", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)n) != n)
		err = errno == ENOENT ? -ESRCH : -errno;
	close(fd);
	return err;
}

int dp_system_hooks(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	int err = opt->exit ? switch_exit(opt) : list_hooks(opt->out);

	switch (err) {
	case 0:
		return 0;
	case -EINVAL:
		return dp_diag_set(
			diag, err,
			"%s is not HOOK:EXIT, as dprobes hooks kernel lists them",
			opt->exit);
	case -ESRCH:
		return dp_diag_set(
			diag, -ENOENT,
			"there is no exit %s: dprobes hooks kernel lists them",
			opt->exit);
	case -EPERM:
		if (opt->exit && !geteuid())
			return dp_diag_set(
				diag, err,
				"%s may not be armed from outside: its owner has not said so, or the kernel is locked down",
				opt->exit);
		/* fall through */
	default:
		return say_knob(err, FILES "hooks", diag);
	}
}
