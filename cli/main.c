// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: run the verb that the command line names. */
#include "cli/command.h"
#include "tracer/output.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define HEAP_STEP (1 << 20)
#define HEAP_KEPT (64 << 20)

static bool asks(const char *word, const char *brief, const char *full)
{
	return !strcmp(word, brief) || !strcmp(word, full);
}

/* Output that was not written is a failure, whatever the command returned, unless its reader
 * has closed the pipe. */
static int flush(FILE *out, int status)
{
	if ((!fflush(out) && !ferror(out)) || dp_output_left(out))
		return status;
	dp_output_print(stderr, "dprobes: cannot write the output: %s\n",
			strerror(errno));
	return status ? status : DP_EXIT_FAILURE;
}

static void on_pipe(int sig)
{
}

/* SIGPIPE must not end the tool with probes in place. A handler is used: a launched command
 * would inherit SIG_IGN. SIG_IGN that the tool inherited stays. */
static void outlive_readers(void)
{
	struct sigaction sa = { .sa_handler = on_pipe, .sa_flags = SA_RESTART },
			 old;

	if (!sigaction(SIGPIPE, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGPIPE, &sa, NULL);
}

/* If standard output is closed, the next file that the tool opens is in its place: the memory
 * of the target, say, to which a report would be written. What stands there from now on
 * cannot be written to either, and the command does not inherit it. */
static void keep_outputs_closed(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct dp_tracer_options opt = { 0 };
	const struct dp_command *cmd;
	bool done = false;
	int err;

	dp_title_begin(argc, argv);
	keep_outputs_closed();
	outlive_readers();
	/* The tool ends soon: malloc() gives no page back before. */
	mallopt(M_TOP_PAD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	dp_tracer_prepare();
	/* Output is fully buffered, and flushed a record or report at a time. */
	setvbuf(stdout, NULL, _IOFBF, DP_OUTPUT_BUFFER);
	if (argc < 2)
		return dp_usage_error("which verb?");
	if (asks(argv[1], "-h", "--help"))
		return flush(stdout, dp_verb_help(0, NULL));
	if (!strcmp(argv[1], "help"))
		return flush(stdout, dp_verb_help(argc - 2, argv + 2));
	/* DProbes spelt it -v. */
	if (asks(argv[1], "-V", "--version") || !strcmp(argv[1], "-v")) {
		puts("dprobes " DP_VERSION);
		return flush(stdout, DP_EXIT_OK);
	}
	if (asks(argv[1], "-g", "--getvars"))
		return flush(stdout, dp_getvars(argc - 1, argv + 1));
	if (dp_classic(argc, argv, &opt, &err))
		return flush(opt.out ? opt.out : stdout, err);
	err = dp_verb_get(argv[1], &cmd);
	if (err)
		return err;
	argv[1] = argv[0];
	err = dp_options_parse(cmd, argc - 1, argv + 1, &opt, &done);
	if (!opt.mangled)
		dp_demangle_names();
	if (!err && !done)
		err = cmd->run(&opt);
	return flush(opt.out ? opt.out : stdout, err);
}
