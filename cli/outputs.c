// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* outputs: where lines go: the values of -o, --keep and --rotate. */
#include "cli/command.h"
#include "tracer/output.h"
#include "tracer/rotation.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_WORDS "a number and k, M or G"

bool dp_option_size(const char *text, const char **end, u64 *bytes)
{
	static const char units[] = "kmg";
	const char *unit;
	char *behind;
	u32 shift = 0;

	errno = 0;
	*bytes = strtoull(text, &behind, 10);
	unit = *behind ? strchr(units, *behind | 0x20) : NULL;
	if (unit) {
		shift = 10 * (u32)(unit - units + 1);
		behind++;
	}
	*end = behind;
	if (*text < '0' || *text > '9' || errno || *bytes > ~0ull >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* @at: where in @text the caret belongs, and it is @span wide */
static int bad(const char *text, const char *at, size_t span,
	       const char *option, const char *why)
{
	struct dp_diag diag;

	dp_diag_clear(&diag);
	dp_diag_set(&diag, -EINVAL, "%s: %s", option, why);
	dp_diag_caret(&diag, (int)(at - text), (int)span);
	return dp_complain(-EINVAL, text, &diag);
}

int dp_option_keep(const char *text, struct dp_tracer_options *opt)
{
	u64 pages = (u64)sysconf(_SC_PHYS_PAGES), bytes;
	u64 memory = pages * (u64)sysconf(_SC_PAGESIZE);
	const char *end;

	if (!dp_option_size(text, &end, &bytes) || *end || !bytes)
		return bad(text, text, strlen(text), "--keep",
			   "this is not a size, " SIZE_WORDS);
	if (bytes > memory)
		return bad(text, text, strlen(text), "--keep",
			   "this is more memory than the machine has");
	opt->keep = bytes;
	return 0;
}

int dp_option_rotate(const char *text, struct dp_tracer_options *opt)
{
	size_t size = strcspn(text, ",");
	const char *files = text + size + 1, *end;
	unsigned long n;
	char *behind;

	if (!dp_option_size(text, &end, &opt->rotate) || end != text + size ||
	    !opt->rotate)
		return bad(text, text, size, "--rotate",
			   "this is not a size, " SIZE_WORDS);
	if (!text[size])
		return bad(
			text, text + size, 1, "--rotate",
			"here is to be how many files there are at most, as in 100M,5");
	n = strtoul(files, &behind, 10);
	if (*files < '1' || *files > '9' || *behind || n > DP_ROTATION_FILES)
		return bad(text, files, strlen(files), "--rotate",
			   "this is not a number of files, 1 to 1000");
	opt->rotate_files = (u32)n;
	return 0;
}

static int cannot_write(const char *path, int err)
{
	dp_output_print(stderr, "dprobes: cannot write %s: %s\n", path,
			strerror(err));
	return DP_EXIT_FAILURE;
}

int dp_option_writable(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return cannot_write(path, errno);
	fclose(f);
	return 0;
}

int dp_option_output(const char *path, struct dp_tracer_options *opt)
{
	if (!*path)
		return dp_usage_error("-o needs the name of a file");
	opt->output = path;
	opt->out = fopen(path, "we");
	if (!opt->out)
		return cannot_write(path, errno);
	setvbuf(opt->out, NULL, _IOFBF, DP_OUTPUT_BUFFER);
	return 0;
}

int dp_option_outputs(struct dp_tracer_options *opt)
{
	int err;

	if (!opt->rotate)
		return 0;
	if (!opt->output)
		return dp_usage_error("--rotate needs -o FILE");
	fclose(opt->out);
	err = dp_rotation_open(&opt->rotation, opt->output, opt->rotate,
			       opt->rotate_files, &opt->out);
	if (err == -EEXIST)
		return dp_usage_error(
			"--rotate: %s, or a file beside it, is no regular file",
			opt->output);
	return err ? cannot_write(opt->output, -err) : 0;
}
