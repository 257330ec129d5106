// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* specs: "@FILE" on a command line stands for the specs in a file, a line each. */
#include "cli/command.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** struct specs - what the command line has become: it lives as long as the tool */
struct specs {
	const char **v;
	size_t n, room;
};

static int no_memory(void)
{
	dp_output_print(stderr, "dprobes: out of memory\n");
	return DP_EXIT_FAILURE;
}

static int add(struct specs *specs, const char *text)
{
	const char **more;

	if (specs->n == specs->room) {
		specs->room = 2 * specs->room + 16;
		more = realloc(specs->v, specs->room * sizeof(*more));
		if (!more)
			return no_memory();
		specs->v = more;
	}
	specs->v[specs->n++] = text;
	return 0;
}

/* Without the white space around it. A line that is empty, or begins with "#", is no spec. */
static int add_line(struct specs *specs, const char *line)
{
	static const char space[] = " \t\r\n\v\f";
	size_t len;
	char *text;

	line += strspn(line, space);
	for (len = strlen(line); len && strchr(space, line[len - 1]); len--)
		;
	if (!len || *line == '#')
		return 0;
	text = strndup(line, len);
	return text ? add(specs, text) : no_memory();
}

static int add_lines(struct specs *specs, FILE *f, const char *path)
{
	char *line = NULL;
	size_t room = 0, before = specs->n;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&line, &room, f)) >= 0) {
		if (strlen(line) == (size_t)len)
			err = add_line(specs, line);
		else
			err = dp_usage_error(
				"@%s is no text: specs, a line each", path);
	}
	free(line);
	if (!err && ferror(f)) {
		dp_output_print(stderr, "dprobes: cannot read %s: %s\n", path,
				strerror(errno));
		err = DP_EXIT_FAILURE;
	}
	if (!err && specs->n == before)
		err = dp_usage_error("there is no spec in @%s", path);
	return err;
}

static int add_file(struct specs *specs, const char *path)
{
	FILE *f = fopen(path, "re");
	int err;

	if (!f) {
		dp_output_print(stderr, "dprobes: cannot read %s: %s\n", path,
				strerror(errno));
		return DP_EXIT_FAILURE;
	}
	err = add_lines(specs, f, path);
	fclose(f);
	return err;
}

int dp_option_specs(struct dp_tracer_options *opt)
{
	struct specs specs = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < opt->nr_specs && *opt->specs[i] != '@'; i++)
		;
	if (i == opt->nr_specs)
		return 0;
	for (i = 0; i < opt->nr_specs && !err; i++)
		err = *opt->specs[i] == '@' ?
			      add_file(&specs, opt->specs[i] + 1) :
			      add(&specs, opt->specs[i]);
	opt->specs = specs.v;
	opt->nr_specs = specs.n;
	return err;
}
