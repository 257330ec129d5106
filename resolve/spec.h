/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spec: [KIND:][MODULE:]POINT[(ARGS)][ if COND], by which a user says where. */
#ifndef DP_RESOLVE_SPEC_H
#define DP_RESOLVE_SPEC_H

#include <dprobes/diag.h>
#include "port_types.h"
#include "sym/types.h"

/** enum dp_spec_kind - the KIND of a spec; only 'p' and 'r' can be armed so far */
enum dp_spec_kind {
	DP_SPEC_PROBE, /* p (default) */
	DP_SPEC_RETURN, /* r, or func%return */
	DP_SPEC_JPROBE, /* j */
	DP_SPEC_USDT,
	DP_SPEC_HOOK,
};

/** enum dp_point_form - how the POINT of a spec is written */
enum dp_point_form {
	DP_POINT_SYMBOL, /* func, func+0x1c, globs */
	DP_POINT_ADDRESS, /* 0xADDR */
	DP_POINT_FILE_OFFSET, /* +FILEOFFSET */
	DP_POINT_LINE, /* file.c:42 */
};

/**
 * struct dp_spec - [KIND:][MODULE:]POINT[(ARGS)][ if COND], taken apart
 *
 * Strings are the object's own; dp_spec_free() frees them. Columns are 0-based
 * offsets into @text, for carets.
 */
struct dp_spec {
	char *text;
	enum dp_spec_kind kind;
	char *module; /* "" = main program */
	char *name; /* symbol or glob; source file for LINE */
	enum dp_point_form form;
	u64 value; /* address, file offset or line */
	u64 offset; /* +off of a symbol */
	bool has_offset;
	bool glob;
	char *args; /* text between the parentheses, or NULL */
	char *cond; /* text after "if", or NULL */
	bool found; /* in some process */
	struct dp_type ret; /* of retval among @args, if it says one */
	int module_col, point_col, offset_col, args_col, cond_col;
};

/** dp_list_line_spec() - the spec that a line of kprobes/list means, malloc()ed;
 *  NULL: it is no such line */
char *dp_list_line_spec(const char *text);

/**
 * dp_spec_parse() - take a spec apart
 *
 * A whole line of "dprobes list" is one, too; columns are then those of the spec
 * that it means.
 * Return: 0; -EINVAL malformed, with a caret in @diag; -ENOMEM.
 */
int dp_spec_parse(const char *text, struct dp_spec *spec, struct dp_diag *diag);
void dp_spec_free(struct dp_spec *spec);

/**
 * dp_spec_supported() - can this version do what the spec asks for?
 * Return: 0; -EOPNOTSUPP with the name of the form that is missing and a caret.
 */
int dp_spec_supported(const struct dp_spec *spec, struct dp_diag *diag);

/** dp_spec_colon() - the first colon of @text that separates: "::" is part of a name, a
 *  lone ':' is not; or NULL */
const char *dp_spec_colon(const char *text);

/** dp_spec_reserved() - would a module of this name be read as something else? */
bool dp_spec_reserved(const char *module);

#endif
