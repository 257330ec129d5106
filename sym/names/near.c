// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* near: the names nearest to a mistyped name. */
#include <ctype.h>
#include <dprobes/diag.h>
#include <string.h>
#include "sym/names/mod.h"

#define INSIDE_COST 4 /* "alloc" in "malloc": worse than any typing error */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

static bool differ(char a, char b)
{
	return tolower((u8)a) != tolower((u8)b);
}

/* Edits (insert, drop, replace, swap neighbours) that turn @a into @b. */
static unsigned int distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned int row[3][DP_NEAR_LEN + 1], *prev = row[0], *cur = row[1];
	unsigned int *before = row[2], *spare;
	size_t i, j;

	for (j = 0; j <= lb; j++)
		prev[j] = j;
	for (i = 1; i <= la; i++) {
		cur[0] = i;
		for (j = 1; j <= lb; j++) {
			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1,
				      prev[j - 1] + differ(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) &&
			    !differ(a[i - 2], b[j - 1]) &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		spare = before;
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[lb];
}

/* Return: 0 if @name is not near at all. */
static unsigned int cost_of(const char *want, const char *name)
{
	size_t la = strlen(want), lb = strlen(name), gap;
	unsigned int limit = la < 4 ? 1 : la < 8 ? 2 : 3, d;

	if (!la || !lb || la > DP_NEAR_LEN)
		return 0;
	gap = la > lb ? la - lb : lb - la;
	if (lb <= DP_NEAR_LEN && gap <= limit) {
		d = distance(want, la, name, lb);
		if (d <= limit)
			return d ? d : 1;
	}
	if (la >= 4 && lb <= DP_NEAR_LEN && strcasestr(name, want))
		return INSIDE_COST + gap;
	return 0;
}

static bool is_known(const struct dp_near *near, const char *name)
{
	size_t i;

	for (i = 0; i < near->n; i++) {
		if (!strcmp(near->name[i], name))
			return true;
	}
	return false;
}

void dp_near_offer(struct dp_near *near, const char *name)
{
	unsigned int cost = cost_of(near->want, name);
	size_t i;

	if (!cost || is_known(near, name))
		return;
	if (near->n < DP_NEAR_MAX)
		i = near->n++;
	else if (cost < near->cost[DP_NEAR_MAX - 1])
		i = DP_NEAR_MAX - 1;
	else
		return;
	for (; i && near->cost[i - 1] > cost; i--) {
		strcpy(near->name[i], near->name[i - 1]);
		near->cost[i] = near->cost[i - 1];
	}
	strcpy(near->name[i], name);
	near->cost[i] = cost;
}

void dp_near_say(const struct dp_near *near, struct dp_diag *diag)
{
	size_t i;

	for (i = 0; i < near->n; i++)
		dp_diag_add(diag, "%s%s",
			    i ? ", " : "; near names: ", near->name[i]);
}
