// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* debuginfo: what the user is told of files with debug information. */
#include "tracer/debuginfo.h"
#include "tracer/output.h"
#include "tracer/tracer.h"
#include "sym/types.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void note(const char *sentence)
{
	dp_output_say("%s", sentence);
}

/* One line, which is over when there is no more to come. */
static void progress(const char *module, u64 bytes, bool is_end)
{
	fputs("\r\033[K", stderr);
	if (!is_end)
		dp_output_print(
			stderr,
			"dprobes: downloading debug information of %s: %lu MB, ^C goes on without",
			module, bytes >> 20);
	fflush(stderr);
}

void dp_debuginfo_begin(const struct dp_tracer_options *opt)
{
	static struct dp_types_manner manner;

	manner.note = opt->verbose ? note : NULL;
	manner.progress = !opt->quiet && isatty(STDERR_FILENO) ? progress :
								 NULL;
	dp_types_use(&manner);
}

const char *dp_debuginfo_failure(int err)
{
	switch (err) {
	case -ENOENT:
		return "is not installed (package NAME-dbgsym or NAME-dbg), or does not have it";
	case -ENOLINK:
		return "is in part in other files, which are not there, or are of another build (-v names them): install them, keep .dwo files where they were built, or put PROGRAM.dwp beside the program";
	case -EOPNOTSUPP:
		return "is read by libdw, which is not installed (package libdw1)";
	case -ETIMEDOUT:
		return "takes longer than five seconds to read, which is all it gets; an index of addresses (gcc has one, clang -gdebug-aranges) makes it faster";
	case -EFBIG:
		return "takes more than 4 GB of memory to read, which is all it gets";
	case -EPROTONOSUPPORT:
		return "is compressed by zstd, which this libdw cannot read: objcopy --decompress-debug-sections unpacks it";
	case -EBADMSG:
		return "is damaged";
	case -EACCES:
		return "is not read, as the kernel does not confine the process that would (seccomp)";
	default:
		return strerror(-err);
	}
}

const char *dp_debuginfo_kernel(int err)
{
	switch (err) {
	case -ENOENT:
		return "is not there, or does not have this function (/sys/kernel/btf): write arg0 to arg5, or registers";
	case -EOPNOTSUPP:
		return "is read by libbpf, which is not installed (package libbpf1)";
	case -EDOM:
		return "holds at functions' entries: write registers here";
	case -EBADMSG:
		return "is damaged";
	default:
		return strerror(-err);
	}
}
