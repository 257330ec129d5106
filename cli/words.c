// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* words: see words.h. */
#include "cli/words.h"
#include <stdlib.h>
#include <string.h>

int dp_words_put(struct words *w, const char *text)
{
	w->v[w->n] = strdup(text);
	return w->v[w->n++] ? 0 : DP_EXIT_FAILURE;
}

bool dp_words_is(const struct option_word *o, const char *word,
		 const char **value)
{
	size_t n = strlen(o->full);

	*value = NULL;
	if (word[0] != '-')
		return false;
	if (word[1] == '-') {
		if (strncmp(word + 2, o->full, n) != 0 ||
		    (word[n + 2] && word[n + 2] != '='))
			return false;
		*value = word[n + 2] ? word + n + 3 : NULL;
		return true;
	}
	if (!o->brief || word[1] != o->brief || (word[2] && !o->value))
		return false;
	/* The original DProbes takes "-u=2". */
	*value = word[2] ? word + 2 + (word[2] == '=') : NULL;
	return true;
}

static bool is_item(const char *word)
{
	u32 items;

	return word && *word != '-' && !dp_tracer_log_items(word, &items);
}

/* DProbes takes the items as words of their own: --log PID UID. */
static int put_log(struct words *w, const char *value, char **more, int *used)
{
	size_t len = strlen(value) + 1;
	char *list;
	int i, n = 0, err;

	while (is_item(more[n]))
		len += strlen(more[n++]) + 1;
	list = malloc(len);
	if (!list)
		return DP_EXIT_FAILURE;
	strcpy(list, value);
	for (i = 0; i < n; i++)
		strcat(strcat(list, ","), more[i]);
	*used += n;
	err = dp_words_put(w, "--log") ?: dp_words_put(w, list);
	free(list);
	return err;
}

static int take_word(struct words *w, const struct option_word *o,
		     const char *command, const char *value, char **rest,
		     int *used)
{
	if (!o->value && value)
		return dp_usage_error("%s: --%s takes no value", command,
				      o->full);
	if (o->value && !value) {
		value = rest[0];
		if (!value)
			return dp_usage_error("%s: --%s needs a value", command,
					      o->full);
		++*used;
	}
	if (!o->as)
		return o->take(w, value);
	if (!strcmp(o->as, "--log"))
		return put_log(w, value, rest + (*used - 1), used);
	return dp_words_put(w, o->as) ?: value ? dp_words_put(w, value) : 0;
}

int dp_words_sort(struct words *w, const struct option_word *table,
		  const char *command, char **argv)
{
	const struct option_word *o;
	const char *value;
	int used, err = 0;

	for (; *argv && !err; argv += used) {
		used = 1;
		for (o = table; o->full; o++)
			if (dp_words_is(o, *argv, &value))
				break;
		err = o->full ?
			      take_word(w, o, command, value, argv + 1, &used) :
			      dp_words_put(w, *argv);
	}
	return err;
}

int dp_words_begin(struct words *w, int argc, char **argv)
{
	*w = (struct words){ .v = calloc((size_t)argc * 2 + 4, sizeof(*w->v)) };
	w->classic.title = dp_title_set;
	return w->v ? dp_words_put(w, argv[0]) : DP_EXIT_FAILURE;
}
