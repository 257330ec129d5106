// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangled: which demangled names of a module mean one address.
 *
 * Of each name only a hash is kept: a large program has hundreds of megabytes of demangled
 * names. Two names of one hash are taken for one name that means two addresses, and are
 * shown otherwise.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/names/mod.h"

static u64 hash_of(const char *text)
{
	u64 h = 0xcbf29ce484222325ul;

	for (; *text; text++)
		h = (h ^ (u8)*text) * 0x100000001b3ul;
	return h;
}

/* A form that is as the one before it is not added again. */
static int add_forms(struct dp_demangled *all, const struct dp_symtab *tab,
		     u32 i)
{
	char text[DP_DEMANGLED_MAX + 1];
	struct dp_demangled_name name = { .sym = i };
	enum dp_demangle_form form;
	u64 hash;
	int err = 0;

	for (form = 0; form < DP_DEMANGLE_FORMS && !err; form++) {
		if (!dp_demangle(tab->v[i].name, form, text))
			break;
		hash = hash_of(text);
		if (form && hash == name.hash)
			continue;
		name.hash = hash;
		err = dp_list_push(all, &name);
	}
	return err;
}

void dp_demangled_free(struct dp_demangled *all)
{
	free(all->v);
	*all = (struct dp_demangled){ 0 };
}

int dp_demangled_load(struct dp_demangled *all, const struct dp_symtab *tab)
{
	u32 i, ahead = 0;
	int err = 0;

	if (all->have)
		return 0;
	dp_demangle_begin();
	for (i = 0; i < tab->n && !err; i++) {
		dp_sym_demangle_ahead(tab, i, &ahead);
		if (dp_sym_is_called(&tab->v[i]))
			err = add_forms(all, tab, i);
	}
	dp_demangle_end();
	if (err) {
		dp_demangled_free(all);
		return err;
	}
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), dp_list_order);
	all->have = true;
	return 0;
}

/* The first of the names with this hash; @n: their number. */
static const struct dp_demangled_name *first_of(const struct dp_demangled *all,
						u64 hash, size_t *n)
{
	size_t end = dp_list_upto(all->v, all->n, sizeof(*all->v), 0, hash),
	       i = end;

	while (i && all->v[i - 1].hash == hash)
		i--;
	*n = end - i;
	return all->v + i;
}

int dp_demangled_each(const struct dp_demangled *all,
		      const struct dp_symtab *tab, const char *text,
		      dp_demangled_take *take, void *arg)
{
	size_t i, n;
	const struct dp_demangled_name *v = first_of(all, hash_of(text), &n);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (dp_demangle_match(tab->v[v[i].sym].name, text, false))
			err = take(&tab->v[v[i].sym], arg);
	return err;
}

bool dp_demangled_is(const struct dp_demangled *all,
		     const struct dp_symtab *tab, const char *text, u64 value)
{
	size_t i, n;
	const struct dp_demangled_name *v = first_of(all, hash_of(text), &n);

	for (i = 0; i < n; i++)
		if (tab->v[v[i].sym].value != value)
			return false;
	return n;
}
