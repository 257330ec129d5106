// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* spec: [KIND:][MODULE:]POINT[(ARGS)][{AGGREGATIONS}][ if COND], taken apart. */
#include "resolve/points.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 5
#define GLOB "*?["

/* A component between single colons. @suffix: the column where a quoted name ends. */
struct part {
	int start, end;
	int suffix;
	bool quoted;
};

struct parser {
	const char *text;
	struct dp_spec *spec;
	struct dp_diag *diag;
	int end; /* of the location, before ARGS and COND */
	struct part part[PARTS_MAX];
	int n;
};

static const char *const kind_words[] = {
	[DP_SPEC_PROBE] = "p",	 [DP_SPEC_RETURN] = "r",
	[DP_SPEC_JPROBE] = "j",	 [DP_SPEC_USDT] = "usdt",
	[DP_SPEC_HOOK] = "hook", [DP_SPEC_WATCH] = "w",
};

#define NR_KINDS ((int)(sizeof(kind_words) / sizeof(kind_words[0])))

static int find_kind(const char *word, size_t len)
{
	int i;

	for (i = 0; i < NR_KINDS; i++)
		if (strlen(kind_words[i]) == len &&
		    !memcmp(kind_words[i], word, len))
			return i;
	return -1;
}

bool dp_spec_reserved(const char *module)
{
	return find_kind(module, strlen(module)) >= 0 ||
	       !strcmp(module, "kernel");
}

static int bad(struct parser *p, int column, int span, const char *why)
{
	dp_diag_set(p->diag, -EINVAL, "%s", why);
	dp_diag_caret(p->diag, column, span);
	return -EINVAL;
}

static int nomem(struct parser *p)
{
	return dp_diag_set(p->diag, -ENOMEM, "no memory for a spec");
}

/* Return: the column after the closing quote, or -1. */
static int skip_quotes(const char *s, int i)
{
	for (i++; s[i]; i++) {
		if (s[i] == '\\' && s[i + 1])
			i++;
		else if (s[i] == '"')
			return i + 1;
	}
	return -1;
}

static char *copy_text(const char *s, int start, int end)
{
	return strndup(s + start, end - start);
}

static char *copy_quoted(const char *s, int start, int end)
{
	char *out = malloc(end - start + 1), *o = out;
	int i;

	if (!out)
		return NULL;
	for (i = start + 1; i < end - 1; i++) {
		if (s[i] == '\\')
			i++;
		*o++ = s[i];
	}
	*o = '\0';
	return out;
}

static bool at_if(const char *s, int i)
{
	return i && isspace((unsigned char)s[i - 1]) &&
	       !strncmp(s + i, "if", 2) &&
	       (!s[i + 2] || isspace((unsigned char)s[i + 2]));
}

static int skip_space(const char *s, int i)
{
	while (isspace((unsigned char)s[i]))
		i++;
	return i;
}

const char *dp_spec_colon(const char *text)
{
	size_t run;

	while ((text = strchr(text, ':'))) {
		run = strspn(text, ":");
		if (run & 1)
			break;
		text += run;
	}
	return text;
}

/* Names of Rust have parts in braces, each behind a "::"; others begin what is aggregated.
 * Return: the column behind such a part, or @i. */
static int skip_braces(const char *s, int i)
{
	int depth = 0, at = i;

	if (s[i] != '{' || !i || s[i - 1] != ':')
		return i;
	do {
		depth += s[at] == '{' ? 1 : s[at] == '}' ? -1 : 0;
		at++;
	} while (depth && s[at] && !isspace((unsigned char)s[at]));
	return depth ? i : at;
}

static bool ends_point(const char *s, int i)
{
	return !s[i] || s[i] == '(' || s[i] == '{' ||
	       isspace((unsigned char)s[i]);
}

/* An odd run of colons starts with a separator, an even one is part of a name. */
static int split(struct parser *p, int i)
{
	const char *s = p->text;
	struct part *part = &p->part[0];
	int run;

	p->n = 1;
	part->start = i;
	part->suffix = -1;
	for (i = skip_braces(s, i); !ends_point(s, i); i = skip_braces(s, i)) {
		if (s[i] == '"') {
			if (i != part->start)
				return bad(
					p, i, 1,
					"a quoted name starts right after ':'");
			part->quoted = true;
			part->suffix = skip_quotes(s, i);
			if (part->suffix < 0)
				return bad(p, i, 1, "this quote is not closed");
			i = part->suffix;
			continue;
		}
		run = strspn(s + i, ":");
		if (!(run & 1)) {
			i += run ? run : 1;
			continue;
		}
		part->end = i++;
		if (p->n == PARTS_MAX)
			return bad(p, i - 1, 1, "too many ':' in this spec");
		part = &p->part[p->n++];
		part->start = i;
		part->suffix = -1;
		i += run - 1;
	}
	part->end = i;
	p->end = i;
	return 0;
}

/* From @open on to the @close that belongs to it. Return: its column, or -EINVAL. */
static int find_close(struct parser *p, int i, char close, const char *unclosed,
		      const char *quote)
{
	const char *s = p->text;
	int open = i, depth = 0;

	for (; s[i]; i++) {
		if (s[i] == '"') {
			i = skip_quotes(s, i);
			if (i < 0)
				return bad(p, open, 1, quote);
			i--;
		} else if (s[i] == s[open]) {
			depth++;
		} else if (s[i] == close && !--depth) {
			return i;
		}
	}
	return bad(p, open, 1, unclosed);
}

static int parse_args(struct parser *p, int i)
{
	int end = find_close(p, i, ')', "this parenthesis is not closed",
			     "a quote after this parenthesis is not closed");

	if (end < 0)
		return end;
	p->spec->args_col = i;
	p->spec->args = copy_text(p->text, i + 1, end);
	return p->spec->args ? end + 1 : nomem(p);
}

static int parse_aggs(struct parser *p, int i)
{
	int end = find_close(p, i, '}', "this brace is not closed",
			     "a quote after this brace is not closed");

	if (end < 0)
		return end;
	p->spec->aggs_col = i;
	p->spec->aggs = copy_text(p->text, i + 1, end);
	return p->spec->aggs ? end + 1 : nomem(p);
}

static int parse_cond(struct parser *p, int i)
{
	const char *s = p->text;
	int end, at = i;

	i = skip_space(s, i + 2);
	end = strlen(s);
	while (end > i && isspace((unsigned char)s[end - 1]))
		end--;
	if (end == i)
		return bad(p, at, 2, "there is no condition after \"if\"");
	p->spec->cond_col = i;
	p->spec->cond = copy_text(s, i, end);
	return p->spec->cond ? 0 : nomem(p);
}

static int parse_tail(struct parser *p)
{
	const char *s = p->text, *why;
	int i = p->end;

	if (s[i] == '(')
		i = parse_args(p, i);
	if (i >= 0 && s[skip_space(s, i)] == '{')
		i = parse_aggs(p, skip_space(s, i));
	if (i < 0)
		return i;
	i = skip_space(s, i);
	if (!s[i])
		return 0;
	if (at_if(s, i))
		return parse_cond(p, i);
	why = "only \" if CONDITION\" may follow a space; put double quotes around a name that has one";
	if (p->spec->aggs)
		why = "only \" if CONDITION\" may follow what is aggregated";
	else if (p->spec->args)
		why = "only {AGGREGATIONS} and \" if CONDITION\" may follow the arguments; put double quotes around a name that has parentheses";
	return bad(p, i, strlen(s + i), why);
}

/* Parse a number that ends where the location does. */
static int parse_number(struct parser *p, int i, int end, u64 *value,
			const char *what)
{
	const char *s = p->text + i;
	bool hex = s[0] == '0' && (s[1] | 32) == 'x';
	char *rest;

	if (i == end)
		return bad(p, i ? i - 1 : 0, 1, what);
	if (!isdigit((unsigned char)*s))
		return bad(p, i, 1, what);
	errno = 0;
	*value = strtoull(s, &rest, hex ? 16 : 10);
	if (rest != p->text + end)
		return bad(p, (int)(rest - p->text), 1, what);
	return errno ? bad(p, i, end - i, "this number is too large") : 0;
}

static bool is_negative(const struct parser *p, const struct part *part)
{
	const char *s = p->text + part->start;

	return part->end > part->start + 1 && *s == '-' &&
	       strspn(s + 1, "0123456789") ==
		       (size_t)(part->end - part->start - 1);
}

static bool all_digits(const struct parser *p, const struct part *part)
{
	int i;

	for (i = part->start; i < part->end; i++)
		if (!isdigit((unsigned char)p->text[i]))
			return false;
	return part->end > part->start;
}

static char *part_name(const struct parser *p, const struct part *part, int end)
{
	if (part->quoted)
		return copy_quoted(p->text, part->start, part->suffix);
	return copy_text(p->text, part->start, end);
}

static int parse_return(struct parser *p, int i, int end)
{
	struct dp_spec *spec = p->spec;

	if (end - i != 7 || memcmp(p->text + i, "%return", 7))
		return bad(p, i, end - i, "only %return may follow '%'");
	if (spec->kind != DP_SPEC_PROBE && spec->kind != DP_SPEC_RETURN)
		return bad(p, i, end - i,
			   "%return goes with no KIND, p: or r: only");
	spec->kind = DP_SPEC_RETURN;
	spec->offset_col = i;
	return 0;
}

/* Parse what follows a function's name: +off or %return. */
static int parse_suffix(struct parser *p, int i, int end)
{
	struct dp_spec *spec = p->spec;
	int err;

	if (i == end)
		return 0;
	if (p->text[i] == '%')
		return parse_return(p, i, end);
	if (p->text[i] != '+')
		return bad(p, i, end - i,
			   "only +OFFSET or %return may follow a name");
	spec->offset_col = i;
	spec->has_offset = true;
	err = parse_number(p, i + 1, end, &spec->offset,
			   "an offset is a number: +0x1c or +28");
	if (!err && spec->offset && spec->kind == DP_SPEC_RETURN)
		return bad(p, i, end - i, "a return probe has no offset");
	return err;
}

static int parse_symbol(struct parser *p, const struct part *part)
{
	struct dp_spec *spec = p->spec;
	const char *s = p->text;
	int i = part->start;

	spec->form = DP_POINT_SYMBOL;
	if (part->quoted)
		i = part->suffix;
	else
		while (i < part->end && s[i] != '%' && s[i] != '+')
			i++;
	if (!part->quoted && isdigit((unsigned char)s[part->start]))
		return bad(
			p, part->start, part->end - part->start,
			"a name does not start with a digit, and an address starts with 0x");
	spec->name = part_name(p, part, i);
	if (!spec->name)
		return nomem(p);
	if (!spec->name[0])
		return bad(p, part->start, part->end - part->start,
			   "there is no name here");
	spec->glob = strpbrk(spec->name, GLOB) != NULL;
	return parse_suffix(p, i, part->end);
}

static int parse_point(struct parser *p, const struct part *part)
{
	struct dp_spec *spec = p->spec;
	const char *s = p->text + part->start;

	spec->point_col = part->start;
	if (part->end == part->start)
		return bad(
			p, part->start ? part->start - 1 : 0, 1,
			"a function, +FILEOFFSET or 0xADDRESS is missing here");
	if (*s == '+') {
		spec->form = DP_POINT_FILE_OFFSET;
		return parse_number(p, part->start + 1, part->end, &spec->value,
				    "a file offset is a number: +0x1c or +28");
	}
	if (s[0] == '0' && (s[1] | 32) == 'x') {
		spec->form = DP_POINT_ADDRESS;
		return parse_number(p, part->start, part->end, &spec->value,
				    "an address has hexadecimal digits only");
	}
	return parse_symbol(p, part);
}

static int no_file(struct parser *p, const struct part *file)
{
	return p->spec->name[0] ? 0 :
				  bad(p, file->start, file->end - file->start,
				      "there is no name of a file here");
}

/* FILE:LINE: the last two components are the point. */
static int parse_line(struct parser *p, const struct part *file)
{
	struct dp_spec *spec = p->spec;
	const struct part *line = file + 1;

	int err;

	spec->form = DP_POINT_LINE;
	spec->point_col = file->start;
	spec->offset_col = line->start;
	if (spec->kind == DP_SPEC_RETURN)
		return bad(
			p, line->start, line->end - line->start,
			"a return probe follows a function, not a line: write the function's name");
	if (file->start == file->end)
		return bad(p, line->start, line->end - line->start,
			   "a source file is missing before this line number");
	if (file->quoted && file->suffix != file->end)
		return bad(p, file->suffix, file->end - file->suffix,
			   "only ':' may follow the quoted name of a file");
	spec->name = part_name(p, file, file->end);
	if (!spec->name)
		return nomem(p);
	err = parse_number(p, line->start, line->end, &spec->value,
			   "a line is a number");
	if (!err && !spec->value)
		return bad(p, line->start, line->end - line->start,
			   "lines are counted from 1");
	return err ? err : no_file(p, file);
}

static int set_module(struct parser *p, const struct part *part)
{
	if (part) {
		p->spec->module_col = part->start;
		if (part->quoted && part->suffix != part->end)
			return bad(
				p, part->suffix, part->end - part->suffix,
				"only ':' may follow the quoted name of a module");
		p->spec->module = part_name(p, part, part->end);
	} else {
		p->spec->module = strdup("");
	}
	return p->spec->module ? 0 : nomem(p);
}

/* A name of a tracepoint, or of its provider */
static int parse_word(struct parser *p, const struct part *part, char **word)
{
	if (part->quoted && part->suffix != part->end)
		return bad(p, part->suffix, part->end - part->suffix,
			   "only ':' may follow a quoted name here");
	*word = part_name(p, part, part->end);
	if (!*word)
		return nomem(p);
	return **word ?
		       0 :
		       bad(p, part->start ? part->start - 1 : 0, 1,
			   "a tracepoint is usdt:PROVIDER:NAME, or usdt:MODULE:PROVIDER:NAME");
}

/* usdt:*, and what is all of a provider's or a module's */
static bool is_all(const struct parser *p, const struct part *part)
{
	return part->end == part->start + 1 && p->text[part->start] == '*';
}

/* usdt:[MODULE:]PROVIDER:NAME. Whether the first of two is a module, the process tells. */
static int parse_usdt(struct parser *p, const struct part *part, int n)
{
	struct dp_spec *spec = p->spec;
	const struct part *name = &part[n - 1];
	int err = set_module(p, n == 3 ? part : NULL);

	spec->form = DP_POINT_TRACEPOINT;
	spec->point_col = part[n == 3].start;
	if (!err && n == 1 && !is_all(p, part))
		err = bad(
			p, part->start, part->end - part->start,
			"a tracepoint is usdt:PROVIDER:NAME; usdt:PROVIDER:* is all of one, usdt:* is all");
	err = err ?: parse_word(p, &part[n == 3], &spec->provider);
	err = err ?: parse_word(p, name, &spec->name);
	if (!err)
		spec->glob = strpbrk(spec->name, GLOB) ||
			     strpbrk(spec->provider, GLOB);
	return err;
}

/* :rw, :w or :x behind a point. Return: false: it is none of these */
static bool take_access(struct parser *p, const struct part *part)
{
	static const char *const words[] = {
		[DP_WATCH_WRITE] = "w",
		[DP_WATCH_ACCESS] = "rw",
		[DP_WATCH_EXECUTE] = "x",
	};
	size_t i, len = (size_t)(part->end - part->start);

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!part->quoted && strlen(words[i]) == len &&
		    !memcmp(words[i], p->text + part->start, len)) {
			p->spec->access = (enum dp_watch_access)i;
			return true;
		}
	return false;
}

/* /LEN at the end of a point, which then ends before it */
static int take_len(struct parser *p, struct part *part)
{
	int i = part->quoted ? part->suffix : part->start, err;

	while (i < part->end && p->text[i] != '/')
		i++;
	if (i == part->end)
		return 0;
	p->spec->len_col = i;
	err = parse_number(p, i + 1, part->end, &p->spec->len,
			   "a length is a number: /1, /2, /4 or /8");
	part->end = i;
	if (err || (p->spec->len && p->spec->len <= 8 &&
		    !(p->spec->len & (p->spec->len - 1))))
		return err;
	return bad(
		p, i, (int)strcspn(p->text + i, ": ({"),
		"a debug register watches 1, 2, 4 or 8 bytes: /1, /2, /4 or /8");
}

/* kernel:MODULE:NAME: which of the kernel's modules is part of the name. */
static bool is_kernel(const struct parser *p, const struct part *part)
{
	return !part->quoted && part->end - part->start == 6 &&
	       !memcmp(p->text + part->start, "kernel", 6);
}

/* Return: how many parts there are then */
static int join_kernels(const struct parser *p, struct part *part, int n)
{
	if (n != 3 || !is_kernel(p, part) || part[1].quoted || part[2].quoted)
		return n;
	part[1].end = part[2].end;
	return 2;
}

/* w:[MODULE:]POINT[/LEN][:ACCESS]; a lone word is a point */
static int parse_watch(struct parser *p, struct part *part, int n)
{
	int err;

	if (n > 1 && take_access(p, &part[n - 1]))
		n--;
	n = join_kernels(p, part, n);
	if (n > 2)
		return bad(
			p, part[2].start, part[2].end - part[2].start,
			"a watchpoint ends with the access: :w, :rw or :x; without one with its point");
	err = take_len(p, &part[n - 1]) ?: set_module(p, n == 2 ? part : NULL);
	return err ?: parse_point(p, &part[n - 1]);
}

static int parse_location(struct parser *p)
{
	struct part *part = p->part;
	int n = p->n, kind = -1, err;

	if (n > 1 && !part->quoted)
		kind = find_kind(p->text + part->start,
				 part->end - part->start);
	if (kind >= 0) {
		p->spec->kind = kind;
		part++;
		n--;
	}
	if (kind == DP_SPEC_USDT && n <= 3)
		return parse_usdt(p, part, n);
	if (kind == DP_SPEC_WATCH)
		return parse_watch(p, part, n);
	if (n > 1 && n <= 3 && all_digits(p, &part[n - 1])) {
		err = set_module(p, n == 3 ? part : NULL);
		return err ? err : parse_line(p, &part[n - 2]);
	}
	n = join_kernels(p, part, n);
	if (n > 1 && is_negative(p, &part[n - 1]))
		return bad(p, part[n - 1].start,
			   part[n - 1].end - part[n - 1].start,
			   "lines are counted from 1");
	if (n > 2)
		return bad(
			p, part[2].start - 1, 1,
			kind < 0 && n == 3 ?
				"three components, but the first is no KIND (p, r, j, usdt, hook, w)" :
				"too many ':' in this spec");
	err = set_module(p, n == 2 ? part : NULL);
	return err ? err : parse_point(p, &part[n - 1]);
}

int dp_spec_parse(const char *text, struct dp_spec *spec, struct dp_diag *diag)
{
	struct parser p = { .text = text, .spec = spec, .diag = diag };
	int err, i;

	memset(spec, 0, sizeof(*spec));
	spec->text = dp_list_line_spec(text);
	if (!spec->text)
		spec->text = strdup(text);
	if (!spec->text)
		return nomem(&p);
	p.text = text = spec->text;
	i = skip_space(text, 0);
	if (!text[i]) {
		err = bad(&p, 0, 1, "this spec is empty");
	} else {
		err = split(&p, i);
		if (!err)
			err = parse_location(&p);
		if (!err)
			err = parse_tail(&p);
	}
	/* Where a hook is, its arguments have not been evaluated. */
	spec->bare = spec->kind == DP_SPEC_HOOK;
	if (err)
		dp_spec_free(spec);
	return err;
}

static void free_asked(struct dp_spec *spec)
{
	struct dp_asked *a;

	while ((a = spec->asked)) {
		spec->asked = a->next;
		free(a->prototype);
		free(a);
	}
}

void dp_spec_free(struct dp_spec *spec)
{
	free(spec->text);
	free(spec->module);
	free(spec->name);
	free(spec->provider);
	free(spec->args);
	free(spec->aggs);
	free(spec->cond);
	free_asked(spec);
	memset(spec, 0, sizeof(*spec));
}

bool dp_spec_is_glob(const struct dp_spec *spec)
{
	return spec->glob || strpbrk(spec->module, GLOB);
}

static int missing(struct dp_diag *diag, int column, int span, const char *what)
{
	dp_diag_set(diag, -EOPNOTSUPP, "%s are not there yet", what);
	dp_diag_caret(diag, column, span);
	return -EOPNOTSUPP;
}

static int refuse(struct dp_diag *diag, int column, int span, const char *why)
{
	dp_diag_set(diag, -EOPNOTSUPP, "%s", why);
	dp_diag_caret(diag, column, span);
	return -EOPNOTSUPP;
}

/* Length of the point, with what is behind it */
static int point_span(const struct dp_spec *spec)
{
	return (int)strcspn(spec->text + spec->point_col, " ({");
}

static int watch_supported(const struct dp_spec *spec, struct dp_diag *diag)
{
	if (dp_spec_is_glob(spec))
		return refuse(
			diag, spec->point_col, point_span(spec),
			"there are four watchpoints: name the variable, not a glob");
	if (spec->form != DP_POINT_SYMBOL && spec->form != DP_POINT_ADDRESS)
		return refuse(
			diag, spec->point_col, point_span(spec),
			"a watchpoint is at SYMBOL, SYMBOL+OFFSET or 0xADDRESS");
	if (spec->len && spec->access == DP_WATCH_EXECUTE)
		return refuse(
			diag, spec->len_col, 2,
			"a watchpoint on execution is at an instruction, and has no length: write it without /LEN");
	if (!spec->len && spec->form == DP_POINT_ADDRESS &&
	    spec->access != DP_WATCH_EXECUTE)
		return refuse(
			diag, spec->point_col, point_span(spec),
			"how many bytes are watched at an address must be said: write /1, /2, /4 or /8 behind it");
	return 0;
}

/* The kernel's table of symbols has no sizes. */
static int kernel_data(const struct dp_spec *spec, struct dp_diag *diag)
{
	int err = watch_supported(spec, diag);

	if (err)
		return err;
	if (spec->access == DP_WATCH_EXECUTE)
		return refuse(
			diag, spec->point_col, point_span(spec),
			"what is executed in the kernel takes no debug register: kernel:FUNCTION+OFFSET is a probe there");
	return spec->len ?
		       0 :
		       refuse(diag, spec->point_col, point_span(spec),
			      "the kernel does not tell how many bytes a variable has: write /1, /2, /4 or /8 behind it");
}

static int kernel_supported(const struct dp_spec *spec, struct dp_diag *diag)
{
	if (spec->kind == DP_SPEC_WATCH)
		return kernel_data(spec, diag);
	if (spec->kind != DP_SPEC_PROBE && spec->kind != DP_SPEC_RETURN)
		return missing(
			diag, spec->module_col, 6,
			"in the kernel, other probes than kernel:FUNCTION, r:kernel:FUNCTION and w:kernel:VARIABLE/LEN");
	if (spec->form != DP_POINT_SYMBOL)
		return missing(
			diag, spec->module_col, 6,
			"in the kernel, points that are not FUNCTION or FUNCTION+OFFSET");
	return 0;
}

int dp_spec_supported(const struct dp_spec *spec, struct dp_diag *diag)
{
	static const char *const kinds[] = {
		[DP_SPEC_JPROBE] = "jprobes (j:)",
		[DP_SPEC_USDT] = NULL,
		[DP_SPEC_WATCH] = NULL,
	};
	int start = skip_space(spec->text, 0);

	if (kinds[spec->kind])
		return missing(diag, start, (int)strlen(kind_words[spec->kind]),
			       kinds[spec->kind]);
	if (!strcmp(spec->module, "kernel"))
		return kernel_supported(spec, diag);
	if (spec->kind == DP_SPEC_HOOK &&
	    (spec->form != DP_POINT_SYMBOL || spec->has_offset))
		return refuse(
			diag, spec->point_col, point_span(spec),
			"a hook is a place of its own: write hook:[MODULE:]NAME, without an offset, line or address");
	return spec->kind == DP_SPEC_WATCH ? watch_supported(spec, diag) : 0;
}
