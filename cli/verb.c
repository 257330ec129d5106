// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verb: the verbs of the tool, and what is told of them. */
#include "cli/command.h"
#include "tracer/output.h"
#include <string.h>

static const struct dp_command *const commands[] = {
	&dp_cmd_stat,	 &dp_cmd_trace,	 &dp_cmd_run,	 &dp_cmd_list,
	&dp_cmd_disable, &dp_cmd_enable, &dp_cmd_doctor, &dp_cmd_detach,
	&dp_cmd_insmod,	 &dp_cmd_lsmod,	 &dp_cmd_rmmod,	 &dp_cmd_enabled,
	&dp_cmd_sysctl,	 &dp_cmd_dmesg,	 &dp_cmd_hooks,	 &dp_cmd_inject,
	&dp_cmd_graph,	 &dp_cmd_stacks, &dp_cmd_leaks,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define WORD_MAX 15 /* longer words are near to no verb */
#define NEAR 2 /* letters that are too many, missing or others */

static const struct dp_command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static unsigned int least(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to be added, taken away or changed (Levenshtein), a row of the table at a time. */
static unsigned int distance(const char *from, const char *to)
{
	unsigned int row[WORD_MAX + 1], i, k, last = (unsigned int)strlen(to);

	for (k = 0; k <= last; k++)
		row[k] = k;
	for (i = 0; from[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i + 1;
		for (k = 1; k <= last; k++) {
			unsigned int above = row[k];

			row[k] = least(above + 1, row[k - 1] + 1,
				       diagonal + (from[i] != to[k - 1]));
			diagonal = above;
		}
	}
	return row[last];
}

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

/* The verb that was meant, perhaps; NULL: none is near. */
static const char *nearest(const char *name)
{
	unsigned int d, best = NEAR + 1;
	const char *found = NULL;
	size_t i;

	if (strlen(name) > WORD_MAX)
		return NULL;
	for (i = 0; i < NR_COMMANDS; i++) {
		d = begins(commands[i]->name, name) ?
			    1 :
			    distance(name, commands[i]->name);
		/* A word of which no letter is right is near to nothing. */
		if (d < best && d < strlen(name)) {
			best = d;
			found = commands[i]->name;
		}
	}
	return found;
}

static int unknown(const char *name)
{
	const char *near = nearest(name);

	if (near)
		return dp_usage_error(
			"there is no verb \"%s\"; the nearest is \"%s\"", name,
			near);
	return dp_usage_error("there is no verb \"%s\"", name);
}

int dp_verb_get(const char *name, const struct dp_command **cmd)
{
	*cmd = find(name);
	return *cmd ? 0 : unknown(name);
}

void dp_verb_explain(const struct dp_command *cmd)
{
	fputs(cmd->help, stdout);
	puts("\nExamples:");
	fputs(cmd->examples, stdout);
}

static void list_verbs(void)
{
	size_t i;

	puts("Usage: dprobes VERB [options] [SPEC...] [-p PID | -- CMD [ARGS]]\n"
	     "Dynamic probes on running code.\n\nVerbs:");
	for (i = 0; i < NR_COMMANDS; i++)
		dp_output_print(stdout, "  %-7s %s\n", commands[i]->name,
				commands[i]->summary);
	puts("\nPrograms that stay, as DProbes had it:\n"
	     "  dprobes --insert FILE -P PID   put a probe program into a process (-i)\n"
	     "  dprobes --query --all          what has been inserted (-q -a)\n"
	     "  dprobes --getvars --all        variables of running probe programs (-g -a)\n"
	     "  dprobes --remove --all         take programs out (-r -a)\n"
	     "  dprobes --build-ppdf FILE      resolve a program's symbols, for (-b)\n"
	     "  dprobes --apply-ppdf FILE -P PID   a process that has none (-p)\n"
	     "\n\"dprobes help VERB\" tells more, as does \"dprobes VERB --help\"; so does dprobes(1).\n"
	     "-V, --version prints the version.");
}

int dp_verb_help(int argc, char *const *argv)
{
	const struct dp_command *cmd;
	int err;

	if (!argc) {
		list_verbs();
		return DP_EXIT_OK;
	}
	if (argc > 1)
		return dp_usage_error("help takes one verb");
	err = dp_verb_get(argv[0], &cmd);
	if (!err)
		dp_verb_explain(cmd);
	return err;
}
