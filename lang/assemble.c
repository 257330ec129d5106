// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* assemble: make a program of a text, and bytes of an instruction. */
#include "lang/private.h"
#include <stdlib.h>
#include <string.h>

int dp_lang_emit(struct dp_lang_reader *r, struct dp_source_place at,
		 const struct dp_lang_op *op, u64 value)
{
	struct dp_lang_program *p = r->program;
	u32 size = dp_lang_operand_size(op->operand, p->word), i;

	if (1 + size > DP_CODE_MAX - p->code_len)
		return dp_lang_bad(r, at,
				   "the code of a file has at most %u bytes; "
				   "split this one",
				   DP_CODE_MAX);
	p->traces |= op->code == DP_OPCODE_LOG_ST;
	p->heaps |= op->code == DP_OPCODE_MALLOC;
	if (op->code == DP_OPCODE_CALL_KMOD && !p->calls) {
		p->calls = true;
		p->calls_at = at;
	}
	p->code[p->code_len++] = op->code;
	for (i = 0; i < size; i++)
		p->code[p->code_len++] = value >> (8 * i);
	r->in_code = true;
	r->open_end = !op->ends;
	return 0;
}

static int check_execution(struct dp_lang_reader *r,
			   const struct dp_lang_point *point)
{
	return point->len ?
		       dp_lang_bad(r, point->len_at,
				   "what is executed is an instruction, and "
				   "has no len; remove this line") :
		       0;
}

/* What is watched is data. */
static int check_watch(struct dp_lang_reader *r,
		       const struct dp_lang_point *point)
{
	if (point->opcode >= 0)
		return dp_lang_bad(r, point->opcode_at,
				   "what is watched is data, and has no "
				   "opcode; remove this line");
	if (point->retprobe)
		return dp_lang_bad(r, point->watch_at,
				   "what is watched does not return; remove "
				   "\"retprobe = yes\"");
	if (point->line || point->usdt || point->hook)
		return dp_lang_bad(r, point->at,
				   "a %s has no variable; write \"address = "
				   "SYMBOL\"",
				   point->line ? "line" :
				   point->usdt ? "tracepoint" :
						 "hook");
	if (!point->symbol && !point->absolute)
		return dp_lang_bad(r, point->at,
				   "this is a place in a file, and memory is "
				   "watched; write \"address = NUMBER\"");
	if (point->len && (u64)point->value & (point->len - 1u) &&
	    !point->symbol)
		return dp_lang_bad(r, point->at,
				   "this is no multiple of len, which is %u; "
				   "watch fewer bytes",
				   point->len);
	if (!point->symbol && !point->len)
		return dp_lang_bad(r, point->at,
				   "how many bytes are watched at a number "
				   "must be said; add \"len = 8\"");
	if (point->symbol && point->value < 0)
		return dp_lang_later(
			r, point->at,
			"what is watched begins at SYMBOL or behind");
	return 0;
}

static int check_point(struct dp_lang_reader *r,
		       const struct dp_lang_point *point)
{
	if (!r->placed)
		return dp_lang_bad(r, point->watch_at,
				   "this probe watches no place; add "
				   "\"address = SYMBOL\" behind this line");
	if ((point->usdt || point->hook) && point->retprobe)
		return dp_lang_bad(r, point->at,
				   "a %s does not return; remove "
				   "\"retprobe = yes\"",
				   point->usdt ? "tracepoint" : "hook");
	switch (point->watch) {
	case DP_LANG_WATCH_EXECUTE:
		return check_execution(r, point);
	case DP_LANG_WATCH_NONE:
		return point->len ? dp_lang_bad(r, point->len_at,
						"len is of a watchpoint; add "
						"\"watch = w\", or remove "
						"this line") :
				    0;
	default:
		return check_watch(r, point);
	}
}

/* A handler whose code could run off its end gets an exit. */
int dp_lang_point_close(struct dp_lang_reader *r, struct dp_source_place at)
{
	struct dp_lang_point *point;
	int err = 0;

	if (r->open_end)
		err = dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_EXIT), 0);
	point = &r->program->points[r->program->nr_points - 1];
	point->end = r->program->code_len;
	if (!point->maxhits)
		point->maxhits = DP_MAXHITS_DEFAULT;
	return err ? err : check_point(r, point);
}

static int check_text(struct dp_lang_reader *r)
{
	const char *nul = memchr(r->pos, '\0', r->end - r->pos), *s;
	struct dp_source_place at = { .line = 1, .span = 1 };

	if (!nul)
		return 0;
	for (s = r->pos; s < nul; s++) {
		at.column++;
		if (*s == '\n') {
			at.line++;
			at.column = 0;
		}
	}
	return dp_lang_bad(
		r, at, "this is no text, it has a NUL byte here; remove it");
}

static int read_program(struct dp_lang_reader *r)
{
	int err = check_text(r);

	if (!err)
		err = dp_lang_parse(r);
	if (!err)
		err = dp_lang_label_resolve(r);
	dp_lang_label_free(r);
	return err;
}

static void shrink(struct dp_lang_program *p)
{
	u8 *code = realloc(p->code, p->code_len);

	if (code)
		p->code = code;
}

static int refuse(const char *file, size_t len, u8 word, struct dp_diag *diag)
{
	if (word != 4 && word != 8)
		return dp_diag_set(diag, -EINVAL,
				   "a word has 4 or 8 bytes, not %u", word);
	if (len > DP_LANG_TEXT_MAX)
		return dp_diag_set(diag, -EINVAL,
				   "%s is larger than 1 MB; split it", file);
	return 0;
}

int dp_lang_assemble(const char *file, const char *text, size_t len, u8 word,
		     struct dp_lang_program **program, char **line,
		     struct dp_diag *diag)
{
	struct dp_lang_reader r = { .source_line = line, .diag = diag };
	int err = refuse(file, len, word, diag);

	*program = NULL;
	if (line)
		*line = NULL;
	if (err)
		return err;
	err = dp_lang_new(file, text, len, word, &r.program);
	if (err) {
		dp_lang_nomem(diag);
	} else {
		r.pos = r.bol = r.program->text;
		r.end = r.pos + len;
		r.line = 1;
		err = read_program(&r);
	}
	if (err) {
		dp_lang_free(r.program);
		return err;
	}
	shrink(r.program);
	*program = r.program;
	return 0;
}
