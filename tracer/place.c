// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* place: see place.h. */
#include "tracer/place.h"
#include "sym/file.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** struct placing - @path: of the file, for messages */
struct placing {
	struct dp_lang_program *p;
	struct dp_symfile *file;
	const char *path;
	bool whole;
	char **bad_line;
	struct dp_diag *diag;
};

static int complain(const struct placing *pl, struct dp_source_place at,
		    int err, const char *what, const char *why)
{
	return dp_lang_complain(pl->p, at, err, pl->bad_line, pl->diag,
				"%s%s%s", what, *what ? " " : "", why);
}

static const char *why_closed(int err)
{
	switch (err) {
	case -ENODATA:
		return "has no code: it is a debug file; name the program by its path, too";
	case -ESTALE:
		return "is of another build than the program";
	case -ENOEXEC:
		return "is no ELF file for x86-64";
	default:
		return strerror(-err);
	}
}

static int open_file(struct placing *pl, const char *symbols)
{
	const char *name = strchr(pl->p->name, '/') ? pl->p->name : NULL;
	const char *code = *symbols && name && !access(name, R_OK) ? name :
								     NULL;
	int err;

	pl->path = *symbols ? symbols : name;
	if (!pl->path)
		return complain(
			pl, pl->p->name_at, -EINVAL, "",
			"the name is no path of a file; --sym FILE says where its symbols are");
	err = dp_symfile_open(pl->path, code, &pl->file);
	if (!err)
		dp_symfile_stat(pl->file, &pl->p->seen);
	return err ? complain(pl, pl->p->name_at, err, pl->path,
			      err == -ESTALE && !code ?
				      "has changed meanwhile" :
				      why_closed(err)) :
		     0;
}

static const char *why_unknown(int err)
{
	return err == -EINVAL ?
		       "is the name of several; use an offset" :
	       err == -EOPNOTSUPP ?
		       "is an IFUNC, whose function is chosen in each process; name that one" :
		       "is no symbol of the file";
}

/* What is given back to the process is looked for there. */
static int unknown(const struct placing *pl, struct dp_source_place at, int err,
		   const char *name)
{
	return pl->whole ? complain(pl, at, err, name, why_unknown(err)) : 0;
}

static int note_code(const struct placing *pl, struct dp_lang_point *pt)
{
	if (dp_symfile_address(pl->file, (u64)pt->value, &pt->addr))
		pt->addr = 0;
	pt->nr_bytes = (u8)dp_symfile_code(pl->file, (u64)pt->value, pt->bytes,
					   sizeof(pt->bytes));
	if (!pt->nr_bytes)
		return complain(pl, pt->at, -EINVAL, "",
				"there is no code at that offset");
	if (pt->opcode < 0 || pt->bytes[0] == pt->opcode)
		return 0;
	return complain(
		pl, pt->opcode_at, -EINVAL, "",
		"the opcode there is another: the file was written for another version");
}

static int name_point(struct dp_lang_point *pt)
{
	int n = pt->value ? asprintf(&pt->label, "%s%c0x%llx", pt->symbol,
				     pt->value < 0 ? '-' : '+',
				     (unsigned long long)llabs(pt->value)) :
			    asprintf(&pt->label, "%s", pt->symbol);

	return n < 0 ? -ENOMEM : 0;
}

static int place_symbol(const struct placing *pl, struct dp_lang_point *pt)
{
	u64 addr, offset;
	int err = dp_symfile_function(pl->file, pt->symbol, &addr);

	if (err)
		return unknown(pl, pt->at, err, pt->symbol);
	if (!dp_symfile_begins(pl->file, addr, addr + (u64)pt->value))
		return complain(pl, pt->at, -EILSEQ, pt->symbol,
				"has no instruction that begins there");
	if (dp_symfile_offset(pl->file, addr + (u64)pt->value, &offset))
		return complain(pl, pt->at, -EINVAL, pt->symbol,
				"is not in the file's code");
	if (name_point(pt))
		return dp_diag_set(pl->diag, -ENOMEM, "out of memory");
	free(pt->symbol);
	pt->symbol = NULL;
	pt->value = (s64)offset;
	return note_code(pl, pt);
}

static int place_point(const struct placing *pl, struct dp_lang_point *pt)
{
	if (pt->line || pt->usdt || pt->hook || pt->absolute)
		return pl->whole ?
			       complain(
				       pl, pt->at, -EOPNOTSUPP, "",
				       pt->usdt ?
					       "tracepoints are looked up in a process; name a function, with an offset" :
				       pt->hook ?
					       "hooks are looked up in a process; name a function, with an offset" :
				       pt->line ?
					       "lines are looked up in a process; name a function, with an offset" :
					       "addresses are of one process; write offset = SYMBOL, or offset = NUMBER") :
			       0;
	return pt->symbol ? place_symbol(pl, pt) : note_code(pl, pt);
}

static int place_literal(const struct placing *pl, struct dp_lang_symbol *v)
{
	int err = dp_symfile_any(pl->file, v->name, &v->addr);

	v->placed = !err;
	return err ? unknown(pl, v->at, err, v->name) : 0;
}

/* A program may say for which build it has been written. */
static int place_build(const struct placing *pl)
{
	struct dp_lang_program *p = pl->p;
	u8 id[DP_LANG_ID];
	u32 n = (u32)dp_symfile_id(pl->file, id);

	if (p->build_len && (p->build_len != n || memcmp(p->build, id, n)))
		return complain(pl, p->build_at, -EINVAL, pl->path,
				"is another build");
	memcpy(p->build, id, n);
	p->build_len = n;
	return 0;
}

static int place_all(const struct placing *pl)
{
	struct dp_lang_program *p = pl->p;
	size_t i;
	int err = place_build(pl);

	for (i = 0; i < p->nr_points && !err; i++)
		err = place_point(pl, &p->points[i]);
	for (i = 0; i < p->nr_symbols && !err; i++)
		err = place_literal(pl, &p->symbols[i]);
	return err;
}

int dp_place_program(struct dp_lang_program *program, const char *symbols,
		     bool whole, char **bad_line, struct dp_diag *diag)
{
	struct placing pl = {
		.p = program, .whole = whole, .bad_line = bad_line, .diag = diag
	};
	int err = open_file(&pl, symbols);

	if (!err)
		err = place_all(&pl);
	dp_symfile_close(pl.file);
	return err;
}
