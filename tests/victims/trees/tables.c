// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A machine whose states are functions in a table, and a list of things with functions of their own */
#include "trees.h"
#include <string.h>

struct machine {
	const char *text;
	int words, numbers, level;
};
typedef int (*state)(struct machine *m);

CALLED int f_kind(char c)
{
	return !c		       ? 0 :
	       strchr("0123456789", c) ? 2 :
	       strchr("([", c)	       ? 3 :
	       strchr(")]", c)	       ? 4 :
					 1;
}

CALLED int f_end(struct machine *m)
{
	return m->level;
}

CALLED int f_word(struct machine *m)
{
	m->words++;
	while (f_kind(*++m->text) == 1)
		;
	return -1;
}

CALLED int f_number(struct machine *m)
{
	m->numbers++;
	m->text++;
	return -1;
}

CALLED int f_open(struct machine *m);

CALLED int f_close(struct machine *m)
{
	m->text++;
	m->level--;
	return 0;
}

static const state states[] = { f_end, f_word, f_number, f_open, f_close };

CALLED int f_run(struct machine *m)
{
	int end;

	do
		end = states[f_kind(*m->text)](m);
	while (end < 0);
	return end;
}

CALLED int f_open(struct machine *m)
{
	m->text++;
	m->level++;
	f_run(m);
	return -1;
}

UNTOLD int main(void)
{
	struct machine m = {
		.text = "one 12 (two [three 4 (5) six] 78) nine (((0)))x"
	};

	return f_run(&m) || m.numbers != 7;
}
