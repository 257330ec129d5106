// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tails: functions that end with a jump to another (with -O2), or to themselves. */
#include "torture.h"

#ifdef __OPTIMIZE__
#define ROUNDS 100000
#else
#define ROUNDS 20000
#endif

static int is_odd(int n, long *calls);

static APART int is_even(int n, long *calls)
{
	++*calls;
	if (!n)
		return 1;
	return is_odd(n - 1, calls);
}

static APART int is_odd(int n, long *calls)
{
	++*calls;
	if (!n)
		return 0;
	return is_even(n - 1, calls);
}

static APART long ends(long a, long b, long c)
{
	return a * 100 + b * 10 + c;
}

static APART long third(long a, long b)
{
	return ends(a, b, 3);
}

static APART long second(long a)
{
	return third(a, 2);
}

static APART long first(void)
{
	return second(1);
}

/* Through a pointer, and with a different result of the caller's caller. */
static APART long through(long (*f)(void))
{
	return f();
}

static APART long not_last(void)
{
	return first() + through(first);
}

typedef int (*state)(void *machine);

struct machine {
	const char *text;
	state next;
	int words, letters;
};

static APART int between(void *machine);

static APART int inside(void *machine)
{
	struct machine *m = machine;

	if (!*m->text)
		return m->words;
	m->letters += *m->text != ' ';
	m->next = *m->text++ != ' ' ? inside : between;
	return m->next(m);
}

static APART int between(void *machine)
{
	struct machine *m = machine;

	if (!*m->text)
		return m->words;
	m->words += *m->text != ' ';
	m->next = *m->text++ != ' ' ? inside : between;
	return m->next(m);
}

static APART void say(const char *what, bool good)
{
	check(what, good);
}

int main(void)
{
	struct machine m = { .text = "one  two three   four five" };
	long calls = 0, more = 0;

	say("mutual", is_even(ROUNDS, &calls) && calls == ROUNDS + 1);
	say("mutual, ending in the other",
	    !is_even(ROUNDS - 1, &more) && more == ROUNDS);
	say("a chain", first() == 123);
	say("by pointer", not_last() == 246);
	say("a machine of states", between(&m) == 5 && m.letters == 14);
	return verdict();
}
