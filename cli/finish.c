// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* finish: end the tool as the command ended, or with words. */
#include "cli/command.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

/* Die of the command's signal, without a core file. */
static void die_of(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

static int launch_status(int err)
{
	if (err == -ENOENT)
		return DP_EXIT_NO_COMMAND;
	return err == -EACCES || err == -ENOEXEC ? DP_EXIT_NO_EXEC :
						   DP_EXIT_FAILURE;
}

int dp_finish(const struct dp_tracer_options *opt, int status, int sig,
	      const char *bad_spec, const struct dp_diag *diag)
{
	if (sig)
		die_of(sig);
	if (status >= 0)
		return status;
	dp_complain(status, bad_spec, diag);
	if (bad_spec)
		return DP_EXIT_USAGE;
	return opt->argv ? launch_status(status) : DP_EXIT_FAILURE;
}
