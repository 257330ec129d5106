// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listline: a line of kprobes/list as a spec.
 *
 *     00007f093a3a4930  k  malloc+0x0  libc.so.6 [DISABLED]
 *     ADDR              KIND FUNC+OFFSET MODULE  flags
 *
 *     000055d0c8a3c040  w  counter+0x0    [WATCH/8:rw]
 *
 * The name counts, not the address, which differs in another process. It only tells that a probe is in the
 * kernel: processes have no such addresses.
 */
#include "resolve/points.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 16
#define WORD_MAX 512

static bool is_address(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n == DIGITS && text[n] == ' ';
}

/* "/8:rw" or ":x" of a watchpoint, in the line's flag; else "" */
static void watch_of(const char *text, char kind, char to[8])
{
	const char *flag = kind == 'w' ? strstr(text, "[WATCH") : NULL;

	*to = '\0';
	if (flag)
		snprintf(to, 8, "%.*s", (int)strcspn(flag + 6, "]"), flag + 6);
}

char *dp_list_line_spec(const char *text)
{
	char kind[2], symbol[WORD_MAX], module[WORD_MAX] = "", watch[8], *spec;
	int words;

	while (isspace((unsigned char)*text))
		text++;
	if (!is_address(text))
		return NULL;
	words = sscanf(text, "%*x %1s %511s %511s", kind, symbol, module);
	if (words < 2 || !strchr("krjdw", *kind))
		return NULL;
	if (*module == '[')
		*module = '\0';
	/* A kernel's entry is behind what the kernel keeps for itself; a return has no place. */
	if (*kind == 'r' && *text >= '8')
		symbol[strcspn(symbol, "+")] = '\0';
	watch_of(text, *kind, watch);
	if (asprintf(&spec, "%s%s%s%s%s%s",
		     *kind == 'r' ? "r:" :
		     *kind == 'j' ? "j:" :
		     *kind == 'w' ? "w:" :
				    "",
		     *text >= '8' ? "kernel:" : "", module, *module ? ":" : "",
		     symbol, watch) < 0)
		return NULL;
	return spec;
}
