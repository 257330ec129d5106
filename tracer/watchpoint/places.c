// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* places: the address and the length that a watchpoint's spec stands for. */
#include "proc/proc.h"
#include "sym/list.h"
#include "sym/sym.h"
#include "sym/variable.h"
#include "tracer/watchpoint/code.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is watched, before it is a point */
struct place {
	u64 addr, len;
	const struct dp_module
		*m; /* NULL: an address that has been given as such */
};

static int point_at(const struct dp_spec *spec, int err, struct dp_diag *diag)
{
	dp_diag_caret(diag, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ("));
	return err;
}

/* The one module that has the variable, of those that the spec names */
static int find_in(struct dp_modules *mods, const struct dp_spec *spec,
		   const struct dp_module **list, size_t n, struct place *at,
		   struct dp_diag *diag)
{
	size_t i, found = 0;
	u64 addr;
	int err;

	for (i = 0; i < n; i++) {
		err = dp_variable_find(mods, list[i], spec->name, &addr);
		if (err == -EINVAL)
			return dp_diag_set(
				diag, -ENOTUNIQ,
				"%s and others have several variables called %s: write w:0xADDR/LEN",
				list[i]->base, spec->name);
		if (err || (found && at->addr == addr))
			continue;
		found++;
		at->m = list[i];
		at->addr = addr;
	}
	if (found == 1)
		return 0;
	return found ? dp_diag_set(diag, -ENOTUNIQ,
				   "%zu modules have a variable %s: name one",
				   found, spec->name) :
		       dp_diag_set(
			       diag, -ENOENT,
			       "%s has no variable %s; for one of a library write w:LIBRARY:%s, and variables of threads cannot be watched by name",
			       list[0]->base, spec->name, spec->name);
}

static int find_symbol(struct dp_modules *mods, const struct dp_spec *spec,
		       struct place *at, struct dp_diag *diag)
{
	const struct dp_module **list;
	size_t n;
	int err = dp_modules_match(mods, spec->module, &list, &n, diag);

	if (err) {
		dp_diag_caret(diag, spec->module_col,
			      (int)strlen(spec->module));
		return err;
	}
	err = find_in(mods, spec, list, n, at, diag);
	free(list);
	if (err)
		return point_at(spec, err, diag);
	at->len = spec->len;
	if (!at->len && !spec->offset)
		at->len = dp_variable_size(mods, at->addr);
	at->addr += spec->offset;
	return 0;
}

static bool is_length(u64 len)
{
	return len == 1 || len == 2 || len == 4 || len == 8;
}

/* Of a variable whose spec has no length, and which a debug register cannot watch whole */
static int no_length(const struct dp_spec *spec, u64 len, struct dp_diag *diag)
{
	if (len)
		dp_diag_set(
			diag, -EINVAL,
			"%s has %lu bytes, and a debug register watches 1, 2, 4 or 8: write %s/8, or %s+OFFSET/8 for another part",
			spec->name, len, spec->name, spec->name);
	else
		dp_diag_set(
			diag, -EINVAL,
			"how many bytes are watched there is not known: write /1, /2, /4 or /8 behind it");
	return point_at(spec, -EINVAL, diag);
}

static int check(const struct dp_process *proc, const struct dp_spec *spec,
		 const struct place *at, struct dp_diag *diag)
{
	u8 bytes[8];

	if (!is_length(at->len))
		return no_length(spec, at->len, diag);
	if (at->addr & (at->len - 1)) {
		dp_diag_set(
			diag, -EINVAL,
			"0x%lx is no multiple of %lu, as a debug register needs it: watch fewer bytes",
			at->addr, at->len);
		return point_at(spec, -EINVAL, diag);
	}
	if (!dp_process_read(proc, at->addr, bytes, at->len))
		return 0;
	dp_diag_set(diag, -EFAULT, "nothing is mapped at 0x%lx of process %d",
		    at->addr, dp_process_pid(proc));
	return point_at(spec, -EFAULT, diag);
}

/* Would a spec read the word as it is? */
static bool is_plain(const char *word)
{
	return *word && !strpbrk(word, "() +%{}:/\"\\*?[") &&
	       !dp_spec_reserved(word) && strspn(word, "0123456789") == 0;
}

/* "w:counter+0x8/8:rw"; where names would be misread, by the address */
static char *name_of(const struct dp_spec *spec, const struct place *at)
{
	const char *access = spec->access == DP_WATCH_ACCESS ? ":rw" : "";
	char offset[24] = "", *name = NULL;
	int n;

	if (spec->offset)
		snprintf(offset, sizeof(offset), "+0x%lx", spec->offset);
	if (at->m && is_plain(spec->name) &&
	    (at->m->is_main || is_plain(at->m->base)))
		n = asprintf(&name, "w:%s%s%s%s/%lu%s",
			     at->m->is_main ? "" : at->m->base,
			     at->m->is_main ? "" : ":", spec->name, offset,
			     at->len, access);
	else
		n = asprintf(&name, "w:0x%lx/%lu%s", at->addr, at->len, access);
	return n < 0 ? NULL : name;
}

static int add(struct dp_points *points, const struct dp_spec *spec,
	       const struct place *at, struct dp_diag *diag)
{
	struct dp_point p = {
		.name = name_of(spec, at),
		.symbol = strdup(at->m ? spec->name : ""),
		.module = strdup(at->m ? at->m->base : ""),
		.addr = at->addr,
		.offset = spec->offset,
		.len = (u8)at->len,
		.spec = spec,
	};

	if (p.name && p.symbol && p.module &&
	    !dp_list_add(&points->v, &points->n, &points->cap, &p, sizeof(p)))
		return 0;
	free(p.name);
	free(p.symbol);
	free(p.module);
	return dp_diag_set(diag, -ENOMEM, "out of memory");
}

/* An instruction: the same checks as for a probe, and a name that leads back. */
static int add_code(struct dp_process *proc, struct dp_modules *mods,
		    const struct dp_spec *spec, struct dp_points *points,
		    struct dp_diag *diag)
{
	size_t first = points->n;
	int err = dp_points_resolve(proc, mods, spec, points, diag);
	struct dp_point *p;
	char *name;

	for (; !err && first < points->n; first++) {
		p = &points->v[first];
		if (asprintf(&name, "w:%s:x", p->name) < 0)
			return dp_diag_set(diag, -ENOMEM, "out of memory");
		free(p->name);
		p->name = name;
	}
	return err;
}

/* What the spec wants to know; @len: bytes that are watched, or 0 */
static int check_values(const struct dp_spec *spec, u8 len,
			struct dp_diag *diag)
{
	int err = 0;

	if (spec->args && !len) {
		err = dp_diag_set(
			diag, -EINVAL,
			"values are of variables, and this is watched for its execution: a probe there shows arguments");
		dp_diag_caret(diag, spec->args_col,
			      (int)strlen(spec->args) + 2);
	} else if (spec->args) {
		err = dp_watch_shown(spec, len, diag);
	}
	return err || !spec->cond ? err :
				    dp_watch_condition(NULL, spec, len, diag);
}

int dp_watch_place(struct dp_process *proc, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	struct place at = { .addr = spec->value, .len = spec->len };
	int err = 0;

	if (spec->access == DP_WATCH_EXECUTE)
		return check_values(spec, 0, diag) ?:
			       add_code(proc, mods, spec, points, diag);
	if (spec->form == DP_POINT_SYMBOL)
		err = find_symbol(mods, spec, &at, diag);
	if (!err)
		err = check(proc, spec, &at, diag) ?:
			      check_values(spec, (u8)at.len, diag);
	return err ? err : add(points, spec, &at, diag);
}
