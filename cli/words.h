/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* words: a command line as DProbes spelt it, made into one of this tool's. */
#ifndef DP_CLI_WORDS_H
#define DP_CLI_WORDS_H

#include "cli/command.h"

/** struct words - a command line as it is made of DProbes' one; @n of @v; @file: the operand */
struct words {
	char **v;
	int n;
	const char *file;
	struct dp_classic_options classic;
	bool all, stop_cpus;
};

/** struct option_word - an option; @as: what other commands call it, or NULL: @take has it */
struct option_word {
	char brief;
	const char *full;
	bool value;
	const char *as;
	int (*take)(struct words *w, const char *value);
};

/** dp_words_begin() - Return: 0 or an exit status. What is in @words lives to the end of the tool. */
int dp_words_begin(struct words *words, int argc, char **argv);
/** dp_words_put() - add a word. Return: 0 or an exit status. */
int dp_words_put(struct words *words, const char *text);
/** dp_words_is() - is @word this option? @value: what follows in the same word, or NULL */
bool dp_words_is(const struct option_word *option, const char *word,
		 const char **value);
/**
 * dp_words_sort() - take the options of a table, and hand the other words on
 * @command: its name, for messages; @argv: behind the command's own words
 * Return: 0, or an exit status with words on stderr.
 */
int dp_words_sort(struct words *words, const struct option_word *table,
		  const char *command, char **argv);

#endif
