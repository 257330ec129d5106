// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangled: the functions of a module that have a demangled name.
 *
 * The first few questions demangle only names that have the longest word of the question in
 * them. Then all names are demangled, and of each a hash is kept: a large program has hundreds
 * of megabytes of demangled names. Either way the names that come into question are
 * demangled again, and compared.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/names/mod.h"

#define FEW 16
#define WORD_LEAST 3

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

static int load(struct dp_demangled *all, const struct dp_symtab *tab)
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

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is it a word that a linkage name does not have although the source has it? */
static bool is_made(const char *word, size_t len)
{
	static const char *const made[] = {
		"allocator",	  "anonymous",	   "auto",
		"basic_iostream", "basic_istream", "basic_ostream",
		"basic_string",	  "bool",	   "char",
		"char_traits",	  "clone",	   "closure",
		"const",	  "decltype",	   "delete",
		"double",	  "false",	   "float",
		"iostream",	  "istream",	   "lambda",
		"long",		  "namespace",	   "noexcept",
		"nullptr",	  "operator",	   "ostream",
		"restrict",	  "short",	   "signed",
		"sizeof",	  "static_cast",   "std",
		"string",	  "true",	   "type",
		"typename",	  "unnamed",	   "unsigned",
		"virtual",	  "void",	   "volatile",
		"wchar_t",
	};
	size_t i;

	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (strlen(made[i]) == len && !memcmp(made[i], word, len))
			return true;
	return false;
}

/* Copy the longest word that names can be told by, of several the last; "" if there is none. */
static void longest_word(const char *text, char *word)
{
	size_t len, best = WORD_LEAST;

	*word = '\0';
	for (; *text; text += len ? len : 1) {
		for (len = 0; is_word(text[len]); len++)
			continue;
		if (len < best || isdigit((unsigned char)*text) ||
		    is_made(text, len))
			continue;
		memcpy(word, text, len);
		word[len] = '\0';
		best = len;
	}
}

static int add(struct dp_named_list *list, const struct dp_sym *sym)
{
	struct dp_named named = { .name = sym->name, .sym = sym };

	return dp_list_push(list, &named);
}

static int add_by_word(const char *text, const struct dp_symtab *tab,
		       struct dp_named_list *list)
{
	char word[DP_DEMANGLED_MAX + 1];
	size_t i;
	int err = 0;

	longest_word(text, word);
	for (i = 0; i < tab->n && *word && !err; i++)
		if (strstr(tab->v[i].name, word) &&
		    dp_sym_is_called(&tab->v[i]))
			err = add(list, &tab->v[i]);
	return err;
}

static int add_by_hash(const char *text, const struct dp_demangled *all,
		       const struct dp_symtab *tab, struct dp_named_list *list)
{
	u64 hash = hash_of(text);
	size_t i = dp_list_upto(all->v, all->n, sizeof(*all->v), 0, hash);
	int err = 0;

	while (i-- && all->v[i].hash == hash && !err)
		err = add(list, &tab->v[all->v[i].sym]);
	return err;
}

/* Drop those that have another name. */
static void keep_named(const char *text, struct dp_named_list *list)
{
	size_t i, n = 0, ahead = 0;

	dp_demangle_begin();
	for (i = 0; i < list->n; i++) {
		if (i == ahead)
			ahead += dp_demangle_ahead(&list->v[i].name,
						   sizeof(*list->v),
						   list->n - i);
		if (dp_demangle_match(list->v[i].name, text, false))
			list->v[n++] = list->v[i];
	}
	list->n = n;
	dp_demangle_end();
}

int dp_demangled_find(struct dp_demangled *all, const struct dp_symtab *tab,
		      const char *text, bool sure, struct dp_named_list *list)
{
	int err = 0;

	*list = (struct dp_named_list){ 0 };
	if (!all->have && all->asked < FEW &&
	    strlen(text) <= DP_DEMANGLED_MAX) {
		all->asked++;
		err = add_by_word(text, tab, list);
		keep_named(text, list);
	}
	if (!err && !list->n) {
		err = load(all, tab) ?: add_by_hash(text, all, tab, list);
		if (sure)
			keep_named(text, list);
	}
	if (err)
		dp_named_free(list);
	return err;
}

void dp_named_free(struct dp_named_list *list)
{
	free(list->v);
	*list = (struct dp_named_list){ 0 };
}
