// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* held: the text of a program that is to be held, and which of its points are wanted. */
#include "tracer/held.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Strings in front of the text */
#define STRINGS 5

char *dp_held_pack(const struct dp_held_source *source, size_t *len)
{
	char *all = NULL;
	FILE *f = open_memstream(&all, len);

	if (!f)
		return NULL;
	fprintf(f, "%s%c%s%c%s%c%s%c%u%c", source->file, 0, source->groups, 0,
		source->types, 0, source->symbols, 0, source->allow, 0);
	fwrite(source->text, 1, source->len, f);
	if (!fclose(f))
		return all;
	free(all);
	return NULL;
}

bool dp_held_unpack(const char *text, size_t len, u32 how,
		    struct dp_held_source *source)
{
	const char *v[STRINGS], *end;
	size_t i;

	for (i = 0; i < STRINGS; i++) {
		end = memchr(text, '\0', len);
		if (!end)
			return false;
		v[i] = text;
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	*source = (struct dp_held_source){
		.file = v[0],
		.groups = v[1],
		.types = v[2],
		.symbols = v[3],
		.allow = (u32)strtoul(v[4], NULL, 10),
		.how = how,
		.text = text,
		.len = len,
	};
	return true;
}

bool dp_held_named(const char *module, const char *name)
{
	const char *base = strrchr(module, '/');

	return !strcmp(module, name) || (base && !strcmp(base + 1, name));
}

/* Is @n in a list as "1,4-6"? */
static bool is_listed(const char *list, u32 n)
{
	unsigned long from, to;
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : end) {
		from = to = strtoul(list, &end, 0);
		if (*end == '-')
			to = strtoul(end + 1, &end, 0);
		if (n >= from && n <= to)
			return true;
	}
	return false;
}

const char *dp_tracer_list_bad(const char *list)
{
	char *end;

	for (;; list = end + 1) {
		if (*list < '0' || *list > '9')
			return list;
		strtoul(list, &end, 0);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			strtoul(end + 1, &end, 0);
		if (*end != ',')
			return *end ? list : NULL;
	}
}

static bool is_wanted(const struct dp_held_source *source,
		      const struct dp_lang_point *pt)
{
	return (!*source->groups || is_listed(source->groups, pt->group)) &&
	       (!*source->types || is_listed(source->types, pt->type));
}

/* What values of points refer to goes with the points. */
static void keep_values(struct dp_lang_program *p, const u32 *now)
{
	size_t i, n = 0;

	for (i = 0; i < p->nr_values; i++) {
		if (now[p->values[i].point] == ~0u) {
			free(p->values[i].text);
			continue;
		}
		p->values[n] = p->values[i];
		p->values[n].point = now[p->values[n].point];
		n++;
	}
	p->nr_values = n;
}

static void drop_point(struct dp_lang_point *pt)
{
	free(pt->symbol);
	free(pt->label);
}

int dp_held_choose(struct dp_lang_program *p,
		   const struct dp_held_source *source, struct dp_diag *diag)
{
	u32 *now = calloc(p->nr_points + 1, sizeof(*now));
	size_t i, n = 0;

	if (!now)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < p->nr_points; i++) {
		now[i] = is_wanted(source, &p->points[i]) ? (u32)n : ~0u;
		if (source->how & DP_HELD_ANY_OPCODE) {
			p->points[i].opcode = -1;
			p->points[i].nr_bytes = 0;
		}
		if (now[i] != ~0u)
			p->points[n++] = p->points[i];
		else
			drop_point(&p->points[i]);
	}
	p->nr_points = n;
	keep_values(p, now);
	free(now);
	return n ? 0 :
		   dp_diag_set(
			   diag, -ENOENT,
			   "%s: none of its points is of these groups and types",
			   p->file);
}
