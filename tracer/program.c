// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * program: the code of a file's program, for one process.
 *
 *   code of the file ─► symbols filled in ─► code of each value behind it, to which its call leads
 */
#include "engine/vm/ops.h"
#include "tracer/program.h"
#include "tracer/everywhere.h"
#include "tracer/expr.h"
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "tracer/system.h"
#include "engine/vm/ops.h"
#include "sym/failure.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/sym.h"

/** struct making - code that grows; @at: what is wrong is there */
struct making {
	struct dp_session *s;
	const struct dp_lang_program *p;
	size_t first;
	u8 *code;
	u32 len;
	struct dp_diag words;
	struct dp_source_place at;
};

static void add_number(u8 *at, u64 n)
{
	u64 number;

	memcpy(&number, at, sizeof(number));
	number += n;
	memcpy(at, &number, sizeof(number));
}

/* Its address in the module's file is known. */
static int placed(struct making *m, size_t point,
		  const struct dp_lang_symbol *v, u64 *addr)
{
	const struct dp_module *at =
		m->s->source->mods ? dp_module_at(m->s->source->mods,
						  m->s->points.v[point].addr) :
				     NULL;

	if (!at)
		return dp_diag_set(&m->words, -EINVAL,
				   "the module of &%s has gone", v->name);
	*addr = at->bias + v->addr;
	return 0;
}

static int append(struct making *m, u32 from, const u8 *code, u32 len)
{
	u64 distance = m->len - (from + 8);
	u8 *more;

	if (len > DP_CODE_MAX - m->len)
		return dp_diag_set(
			&m->words, -EINVAL,
			"there is no room for the code of this value");
	more = realloc(m->code, m->len + len);
	if (!more)
		return dp_diag_set(&m->words, -ENOMEM, "out of memory");
	m->code = more;
	memcpy(m->code + m->len, code, len);
	memcpy(m->code + from, &distance, sizeof(distance));
	m->len += len;
	return 0;
}

/* Of all processes: the literal becomes a call of what computes it. */
static int lead_symbol(struct making *m, const struct dp_lang_symbol *v)
{
	struct dp_trace_program code = { .len = 0 };
	u64 added;
	int err;

	memcpy(&added, m->code + v->code, sizeof(added));
	err = dp_everywhere_symbol(m->p, v, added, &code, &m->words) ?:
		      append(m, v->code, code.code, code.len);
	if (!err)
		m->code[v->code - 1] = DP_OPCODE_CALL;
	dp_expr_free(&code);
	return err;
}

static bool is_everywhere(const struct making *m)
{
	return m->s->opt->everybody && m->p->modtype == DP_MODTYPE_USER;
}

static int fill_symbols(struct making *m, size_t point)
{
	u64 addr;
	size_t i;
	int err;

	for (i = 0; i < m->p->nr_symbols; i++) {
		const struct dp_lang_symbol *v = &m->p->symbols[i];

		m->at = v->at;
		if (is_everywhere(m)) {
			err = lead_symbol(m, v);
			if (err)
				return err;
			continue;
		}
		err = v->placed ? placed(m, point, v, &addr) :
				  dp_session_symbol(m->s, point, "&", v->name,
						    &addr, &m->words);
		if (err)
			return err;
		add_number(m->code + v->code, addr);
	}
	return 0;
}

/* The one place of a probe: at another one its names may be elsewhere. */
static int place_of(struct making *m, const struct dp_lang_value *v,
		    size_t *point)
{
	const struct dp_points *points = &m->s->points;
	size_t i, n = 0;

	for (i = 0; i < points->n; i++)
		if ((size_t)(points->v[i].spec - m->s->specs) ==
			    m->first + v->point &&
		    !points->v[i].refused) {
			*point = i;
			n++;
		}
	if (n == 1)
		return 0;
	return dp_diag_set(
		&m->words, -EOPNOTSUPP,
		n ? "the probe of this value is at %zu places, and values are of one" :
		    "the probe of this value is at no place yet",
		n);
}

/* A literal, and the instruction that reads as many bytes there */
static void read_data(const struct dp_point *at, u8 *code, u32 *len)
{
	u8 op = at->len == 1 ? DP_OPCODE_PUSH_MEM_U8 :
		at->len == 2 ? DP_OPCODE_PUSH_MEM_U16 :
		at->len == 4 ? DP_OPCODE_PUSH_MEM_U32 :
			       DP_OPCODE_PUSH_MEM_U64;

	code[0] = DP_OPCODE_PUSH;
	memcpy(code + 1, &at->addr, sizeof(at->addr));
	code[1 + sizeof(at->addr)] = op;
	*len = 2 + sizeof(at->addr);
}

/* What is watched has two values. */
static int compile_data(struct making *m, const struct dp_lang_value *v,
			const struct dp_point *at, struct dp_trace_program *out)
{
	*out = (struct dp_trace_program){ .cap = 16 };
	out->code = malloc(out->cap);
	if (!out->code)
		return dp_diag_set(&m->words, -ENOMEM, "out of memory");
	if (!strcmp(v->text, "new")) {
		read_data(at, out->code, &out->len);
	} else if (!strcmp(v->text, "old")) {
		out->code[out->len++] = DP_OPCODE_PUSH_TOLD;
	} else {
		dp_expr_free(out);
		return dp_diag_set(
			&m->words, -EOPNOTSUPP,
			"the values of a watchpoint are new and old; what is computed of them takes instructions");
	}
	out->code[out->len++] = DP_OPCODE_RET;
	return 0;
}

/* By the note of a tracepoint */
static int compile_argument(struct making *m, const struct dp_lang_value *v,
			    struct dp_point *at, struct dp_trace_program *out)
{
	struct dp_spec *spec = &m->s->specs[at->spec - m->s->specs];
	int err = dp_prototype_ask(m->s->source->mods, spec, at);

	if (err)
		return dp_diag_set(&m->words, err,
				   "the file of %s cannot be read: %s",
				   at->name, strerror(-err));
	spec->prototype = at->names;
	err = dp_expr_push(spec, v->text, false, out, &m->words);
	return err == -ENODATA ? -EINVAL : err;
}

/* Of a file that is probed for all processes: nothing is known of names. */
static int compile_plain(struct making *m, const struct dp_lang_value *v,
			 struct dp_spec *spec, bool at_return,
			 struct dp_trace_program *out)
{
	struct dp_spec at;
	int err;

	spec->prototype = spec->table = NULL;
	/* Its probe is at instructions that return. */
	at = *spec;
	if (at_return)
		at.kind = DP_SPEC_RETURN;
	err = dp_expr_push(&at, v->text, at_return, out, &m->words);
	/* Calls are not tracked: nothing is known of their entries. */
	if (!err && at_return && out->nr_rates)
		return dp_diag_set(
			&m->words, -EOPNOTSUPP,
			"how long a call has taken is known in one process, by -p PID, or -- CMD");
	if (err != -ENODATA && err != -EOPNOTSUPP)
		return err;
	return dp_diag_set(
		&m->words, -EOPNOTSUPP,
		"what has a name in the source is known in one process, by -p PID, or -- CMD: write arg0 to arg5, or registers");
}

/* By the tables of prototypes, or by debug information */
static int compile(struct making *m, const struct dp_lang_value *v,
		   size_t point, struct dp_trace_program *out)
{
	struct dp_spec *spec =
		&m->s->specs[m->s->points.v[point].spec - m->s->specs];
	bool at_return = m->p->points[v->point].retprobe;
	struct dp_point *at = &m->s->points.v[point];
	int err;

	if (spec->kind == DP_SPEC_WATCH)
		return compile_data(m, v, at, out);
	if (m->s->ops->everybody && !dp_system_is(spec))
		return compile_plain(m, v, spec, at_return, out);
	if (spec->kind == DP_SPEC_USDT)
		return compile_argument(m, v, at, out);
	spec->prototype = spec->table = dp_prototype_of_spec(spec);
	err = dp_expr_push(spec, v->text, at_return, out, &m->words);
	if (err != -ENODATA && err != -EOPNOTSUPP)
		return err;
	if (dp_prototype_ask(m->s->source->mods, spec, at) || !at->names)
		return err == -ENODATA ? -EINVAL : err;
	spec->prototype = at->names;
	dp_diag_clear(&m->words);
	err = dp_expr_push(spec, v->text, at_return, out, &m->words);
	return err == -ENODATA ? -EINVAL : err;
}

static int append_value(struct making *m, const struct dp_lang_value *v,
			const struct dp_trace_program *from, size_t point)
{
	u64 addr, rate = from->nr_rates ? dp_rate_ask(m->s) : 0;
	u32 at = m->len, i;
	int err = append(m, v->code, from->code, from->len);

	for (i = 0; !err && i < from->nr_symbols; i++) {
		err = dp_session_symbol(m->s, point, "@", from->symbols[i].name,
					&addr, &m->words);
		if (!err)
			add_number(m->code + at + from->symbols[i].at, addr);
	}
	for (i = 0; !err && i < from->nr_rates; i++)
		memcpy(m->code + at + from->rate_at[i], &rate, sizeof(rate));
	return err;
}

#define NUMBER 0, 0, 0, 0, 0, 0, 0, 0

/* Of the thread, so many bytes from its pointer; or as a word says, which is 0 until the dynamic
 * linker has been there: then it is at address 0, an exception. */
static int add_errno(struct making *m, const struct dp_lang_value *v)
{
	u8 code[] = { DP_OPCODE_PUSH,
		      NUMBER,
		      DP_OPCODE_PUSH_MEM_U64,
		      DP_OPCODE_JZ,
		      NUMBER,
		      DP_OPCODE_PUSH_TASK,
		      DP_OPCODE_ADD,
		      DP_OPCODE_PUSH_MEM_U32,
		      DP_OPCODE_RET };
	const struct dp_trace_program program = { .code = code,
						  .len = sizeof(code) };
	s64 offset;
	u64 word;

	if (!dp_failure_errno(m->s->source->mods, &word, &offset))
		return dp_diag_set(
			&m->words, -EOPNOTSUPP,
			"where errno is in this process is not known: it has no C library, or one whose code is another");
	memcpy(code + 1, word ? &word : (u64 *)&offset, sizeof(word));
	/* The number itself, not what is there */
	if (!word)
		code[9] = DP_OPCODE_NOP;
	/* Over two instructions */
	code[11] = 2;
	return append_value(m, v, &program, 0);
}

static int add_value(struct making *m, const struct dp_lang_value *v)
{
	struct dp_trace_program program;
	size_t point = 0;
	int err;

	m->at = v->at;
	if (!strcmp(v->text, "errno") && is_everywhere(m))
		return dp_diag_set(
			&m->words, -EOPNOTSUPP,
			"where errno is differs from process to process; -p PID, or -- CMD, runs the program in one");
	if (!strcmp(v->text, "errno") && m->s->ops->everybody)
		return dp_diag_set(
			&m->words, -EOPNOTSUPP,
			"errno is of processes: functions of the kernel return their errors");
	if (!strcmp(v->text, "errno"))
		return add_errno(m, v);
	err = place_of(m, v, &point);
	if (!err)
		err = compile(m, v, point, &program);
	if (err)
		return err;
	err = append_value(m, v, &program, point);
	dp_expr_free(&program);
	return err;
}

int dp_program_code(struct dp_session *s, const struct dp_lang_program *p,
		    size_t first, size_t point, char **bad_line, u8 **code,
		    u32 *len, struct dp_diag *diag)
{
	struct making m = { .s = s, .p = p, .first = first, .len = p->code_len };
	size_t i;
	int err;

	*code = NULL;
	m.code = malloc(p->code_len);
	if (!m.code)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(m.code, p->code, p->code_len);
	err = fill_symbols(&m, point);
	for (i = 0; !err && i < p->nr_values; i++)
		err = add_value(&m, &p->values[i]);
	if (err) {
		free(m.code);
		return dp_lang_complain(p, m.at, err, bad_line, diag, "%s",
					m.words.text);
	}
	*code = m.code;
	*len = m.len;
	return 0;
}
