// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* thrown-hooks: hooks in C++, and exits that are left by an exception. */
#include <dprobes/hooks.h>
#include "tap.h"
#include <string>

typedef const std::string *Text;
DECLARE_HOOK(parsed, Text, int);
DECLARE_HOOK(inlined, int);

template <class T> static T twice(T n)
{
	HOOK(inlined, static_cast<int>(n));
	return n + n;
}

struct Parser {
	int parse(const std::string &text)
	{
		HOOK_RET(parsed, &text, static_cast<int>(text.size()));
		return 0;
	}
};

static int thrown;

static int refuse(struct gkh_hook *, struct gkh_args *, Text text, int size)
{
	if (size > 3)
		throw *text;
	return GKH_CONTINUE;
}

GKH_EXIT(refuse_exit, parsed, refuse);

static long sum;

static int add(struct gkh_hook *, struct gkh_args *a)
{
	sum += *static_cast<int *>(a->p[0]);
	return GKH_CONTINUE;
}

static void parse(const char *text)
{
	Parser parser;

	try {
		parser.parse(text);
	} catch (const std::string &) {
		thrown++;
	}
}

int main()
{
	struct gkh_rec rec = {}, inner = {};
	int i;

	rec.hook_name = "parsed";
	rec.exit = refuse_exit;
	inner.hook_name = "inlined";
	inner.exit = add;
	rec.next = &inner;
	is(gkh_register(&rec), 0, "exits in C++ are registered");
	is(gkh_arm(&rec), 0, "and armed");
	for (i = 0; i < 100; i++) {
		parse("ab");
		parse("abcdef");
	}
	is(thrown, 100, "an exception goes through the hook");
	is(twice(3L) + twice(4), 14, "in an instance of a template");
	is(sum, 7, "each has the hook");
	is(gkh_deregister(&rec), 0,
	   "exits that were left so are not waited for");
	parse("abcdef");
	is(thrown, 100, "and are not called any more");
	return plan();
}
