// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * flow: decode every function and note where it sends control.
 *
 * Direct branches are simple. An indirect jump comes in three kinds:
 *
 *   through memory    jmp *8(%rax), jmp *table(,%rax,8), jmp *got(%rip)
 *   loaded register   mov (%rdi),%rax; jmp *%rax
 *   computed          movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax
 *
 * The first two go to an address that stood whole somewhere: in a module's data (with a
 * relocation, or in an unrelocated program as a plain number) or in an lea or mov. All
 * such addresses are marked, so the jump itself need not be understood; nearly all are
 * tail calls. Only the third kind can go where no address points to. Compilers make it
 * from a table of offsets whose address the same function takes (tables.c). A function
 * with such a jump and no such table is unresolved.
 *
 * The last few instructions before the jump tell where the register was set. If they do
 * not, the jump counts as a tail call, unless the function takes the address of its own
 * inside.
 */
#include <string.h>
#include "engine/insn/insn.h"
#include "sym/flow/map.h"
#include "sym/flow/opcode.h"
#include "sym/list.h"

#define OWN_MAX 256
#define INNER_MAX 65536 /* entries of one table */
#define STRANGE_MAX 32 /* entries in a row that lead out of the function */

struct flow {
	struct dp_survey *s;
	struct dp_text *text;
	struct dp_fragment *fragment;
	const u8 *code; /* of the fragment */
	struct dp_past past;
	u64 own[OWN_MAX]; /* addresses inside the fragment that it takes */
	u32 n_own;
	size_t first_ref;
	bool falls; /* control falls through the instruction before */
	int err;
};

static bool in_fragment(const struct dp_fragment *p, u64 addr)
{
	return addr - p->start < p->len;
}

/* How an instruction sets @reg. A copy of a register is followed: @reg becomes that one. */
static enum dp_source source_of(const struct dp_opcode *o, u8 *reg)
{
	if (dp_opcode_reg(o, 0) != *reg)
		return DP_SOURCE_NOT_HERE;
	switch (o->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (o->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			*reg = dp_opcode_reg(o, 1);
			return DP_SOURCE_NOT_HERE;
		}
		return dp_opcode_has_memory(o, 1) && o->op[1].size < 64 ?
			       DP_SOURCE_COMPUTED :
			       DP_SOURCE_WHOLE;
	case ZYDIS_MNEMONIC_POP:
		return DP_SOURCE_WHOLE;
	case ZYDIS_MNEMONIC_LEA:
		return o->op[1].mem.base == ZYDIS_REGISTER_RIP ?
			       DP_SOURCE_WHOLE :
			       DP_SOURCE_COMPUTED;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_MOVSXD:
		return DP_SOURCE_COMPUTED;
	default:
		return DP_SOURCE_NOT_HERE;
	}
}

static bool falls_through(u8 class)
{
	return class != DP_INSN_JMP && class != DP_INSN_JMP_IND &&
	       class != DP_INSN_RET && class != DP_INSN_REFUSED;
}

/* Read the instruction @back instructions before. Return: false: it is not known. */
static bool look_back(const struct dp_past *past, u32 back, const u8 *code,
		      u32 len, struct dp_opcode *o)
{
	u32 at = past->at[(past->n - back) % DP_LOOK_BACK];
	struct insn_facts f;

	if (back > DP_LOOK_BACK || back > past->n ||
	    dp_insn_facts(code + at, len - at, &f) || !falls_through(f.class))
		return false;
	dp_opcode_read(o, code + at, f.len);
	return true;
}

enum dp_source dp_past_source(const struct dp_past *past, const u8 *code,
			      u32 len, u8 reg)
{
	enum dp_source from = DP_SOURCE_NOT_HERE;
	struct dp_opcode o;
	u32 i;

	for (i = 1; !from && look_back(past, i, code, len, &o); i++)
		from = source_of(&o, &reg);
	return from;
}

bool dp_past_has_offset(const struct dp_past *past, const u8 *code, u32 len)
{
	struct dp_opcode o;
	u32 i;

	for (i = 1; look_back(past, i, code, len, &o); i++)
		if (o.in.mnemonic == ZYDIS_MNEMONIC_MOVSXD &&
		    dp_opcode_has_memory(&o, 1))
			return true;
	return false;
}

/*
 * jmp *table(,%rax,8) in a program at a fixed address is a switch if the first entry
 * leads into the function itself; handlers elsewhere are tail-called. The table has no
 * length, and other tables may stand behind it.
 */
static void note_table(struct flow *w, u64 at, s32 table)
{
	struct dp_code_map *map = w->s->map;
	u32 i, strange = 0;
	u64 to;

	for (i = 0; i < INNER_MAX && strange < STRANGE_MAX && !w->err; i++) {
		if (!dp_window_read(&w->s->window, (u64)table + 8 * i, &to,
				    sizeof(to)) ||
		    !dp_fragments_find(map, to))
			break;
		if (in_fragment(w->fragment, to))
			strange = 0;
		else if (!i)
			return;
		else if (++strange)
			w->err = dp_edges_add(&map->hidden, w->fragment->start,
					      to);
	}
	if (!i || w->err)
		return;
	w->err = dp_list_add(&map->inner, &map->n_inner, &map->room_inner, &at,
			     sizeof(at));
}

static void note_indirect(struct flow *w, u64 at, const struct insn_facts *f)
{
	const struct dp_operand_ref *to = &f->operand;
	enum dp_source from;

	if (f->faults != DP_FAULTS_BRANCH) { /* with 32-bit addresses, say */
		w->fragment->flags |= DP_FRAGMENT_COMPUTED;
	} else if (!to->memory) {
		from = dp_past_source(&w->past, w->code, w->fragment->len,
				      to->base);
		if (from != DP_SOURCE_WHOLE)
			w->fragment->flags |= from == DP_SOURCE_COMPUTED ?
						      DP_FRAGMENT_COMPUTED :
						      DP_FRAGMENT_UNKNOWN;
	} else if (to->base == DP_NO_REG && to->index != DP_NO_REG) {
		note_table(w, at, to->disp);
	}
}

static void note_branch(struct flow *w, u64 at, u64 to, bool is_call)
{
	struct dp_survey *s = w->s;
	struct dp_edge edge = { w->fragment - s->map->fragment, 0 };
	struct dp_fragment *p;

	if (is_call)
		dp_text_mark(s->map, to);
	else
		dp_text_mark_jump(s->map, to);
	if (is_call || in_fragment(w->fragment, to))
		return;
	w->err = dp_edges_add(&s->map->jump, to, at);
	p = dp_fragments_find(s->map, to);
	if (w->err || !p || p->start == to)
		return;
	edge.to = p - s->map->fragment;
	w->err = dp_list_add(&s->edge, &s->n_edge, &s->room_edge, &edge,
			     sizeof(edge));
}

static void note_data(struct flow *w, u64 addr)
{
	struct dp_survey *s = w->s;
	struct dp_ref r = { addr, w->fragment - s->map->fragment };

	if (addr < s->data_start || addr >= s->data_end ||
	    (s->n_ref && s->ref[s->n_ref - 1].addr == addr &&
	     s->ref[s->n_ref - 1].fragment == r.fragment))
		return;
	w->err = dp_list_add(&s->ref, &s->n_ref, &s->room_ref, &r, sizeof(r));
}

/* Note an address that the offsets of a table may count from. */
static void note_own(struct flow *w, u64 addr)
{
	u32 i;

	for (i = 0; i < w->n_own; i++) {
		if (w->own[i] == addr)
			return;
	}
	if (w->n_own < OWN_MAX)
		w->own[w->n_own++] = addr;
	else
		w->fragment->flags |= DP_FRAGMENT_LOST;
}

/* Note that the code takes this address, of code or of a table. */
static void note_address(struct flow *w, u64 addr)
{
	if (!dp_text_find(w->s->map, addr)) {
		note_data(w, addr);
		return;
	}
	/* An address in the fragment's own inside is a label, not a function. */
	if (in_fragment(w->fragment, addr) && addr != w->fragment->start)
		dp_text_mark_jump(w->s->map, addr);
	else
		dp_text_mark(w->s->map, addr);
	if (in_fragment(w->fragment, addr)) {
		if (addr != w->fragment->start)
			w->fragment->flags |= DP_FRAGMENT_INSIDE;
		note_own(w, addr);
	} else if (!dp_fragments_find(w->s->map, addr)) {
		note_data(w, addr);
	}
}

/* A sign-extended constant or displacement of 4 or 8 bytes. */
static u64 constant(const u8 *at, u8 size)
{
	u64 v = 0;
	s32 small;

	if (size == 8) {
		memcpy(&v, at, 8);
	} else if (size == 4) {
		memcpy(&small, at, 4);
		v = (s64)small;
	}
	return v;
}

static void note_absolute(struct flow *w, const u8 *code,
			  const struct insn_facts *f)
{
	u64 v;

	if (f->imm_size >= 4 && f->class == DP_INSN_PLAIN) {
		v = constant(code + f->imm_off, f->imm_size);
		/* mov $table,%edx: 32 bits that are not sign-extended */
		note_address(w, f->imm_size == 4 ? (u32)v : v);
	}
	if (f->disp_size >= 4 && !f->rip_relative) {
		v = constant(code + f->disp_off, f->disp_size);
		if (dp_text_find(w->s->map, v))
			note_address(w, v);
	}
}

static bool is_endbr(const u8 *code, const struct insn_facts *f)
{
	return f->len == 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4);
}

static void note_plain(struct flow *w, u64 at, const u8 *code,
		       const struct insn_facts *f)
{
	u64 to = at + f->len + f->target;

	if (f->rip_relative && code[f->opcode_off] == 0x8d)
		note_address(w, to);
	else if (f->rip_relative)
		dp_text_mark(w->s->map, to); /* data between functions */
	else if (f->class == DP_INSN_REFUSED && f->imm_size)
		dp_text_mark(w->s->map, to); /* xbegin, odd branches */
	if (is_endbr(code, f) && at != w->fragment->start)
		dp_text_mark_jump(w->s->map, at);
}

static void note(struct flow *w, u64 at, const u8 *code,
		 const struct insn_facts *f)
{
	switch (f->class) {
	case DP_INSN_JMP:
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
	case DP_INSN_CALL:
		note_branch(w, at, at + f->len + f->target,
			    f->class == DP_INSN_CALL);
		break;
	case DP_INSN_JMP_IND:
		note_indirect(w, at, f);
		break;
	case DP_INSN_PLAIN:
	case DP_INSN_REFUSED:
		note_plain(w, at, code, f);
		break;
	}
	if (w->s->go && f->class == DP_INSN_CALL)
		dp_text_mark_jump(w->s->map, at);
	if (w->s->absolute)
		note_absolute(w, code, f);
}

/* Return: false if it cannot be decoded to its end. */
static bool walk(struct flow *w)
{
	u64 start = w->fragment->start;
	struct insn_facts f;
	u32 at;

	for (at = 0; at < w->fragment->len && !w->err; at += f.len) {
		if (dp_insn_facts(w->code + at, w->fragment->len - at, &f))
			return false;
		dp_text_mark_insn(w->text, start + at);
		note(w, start + at, w->code + at, &f);
		dp_past_add(&w->past, at);
		/* A compiler ends a function in a call that never returns. */
		w->falls = falls_through(f.class) && f.class != DP_INSN_CALL &&
			   f.class != DP_INSN_CALL_IND;
	}
	return true;
}

/* Control falls on, through the padding, into the next function. */
static void note_fall(struct flow *w)
{
	struct dp_code_map *map = w->s->map;
	const struct dp_fragment *next = w->fragment + 1;

	dp_text_mark_jump(map, dp_fragment_end(w->fragment));
	if (!w->err && next < map->fragment + map->n_fragment)
		w->err = dp_edges_add(&map->jump, next->start,
				      dp_fragment_end(w->fragment) - 1);
}

static int walk_one(struct dp_survey *s, struct dp_fragment *p)
{
	struct flow w = { .s = s, .fragment = p, .first_ref = s->n_ref };
	u32 i;

	w.text = dp_text_find(s->map, p->start);
	w.code = w.text->code + (p->start - w.text->start);
	if (!walk(&w)) {
		p->flags |= DP_FRAGMENT_LOST;
		dp_padding_scan_bytes(s, w.text, p->start, dp_fragment_end(p));
		w.falls = true;
	}
	if (w.falls)
		note_fall(&w);
	if (!(p->flags & (DP_FRAGMENT_COMPUTED | DP_FRAGMENT_UNKNOWN)))
		return w.err;
	for (i = 0; i < w.n_own; i++)
		dp_tables_pair(s, p, w.own[i], w.first_ref);
	return w.err;
}

int dp_flow_walk(struct dp_survey *s)
{
	struct dp_code_map *map = s->map;
	size_t i;
	int err = 0;

	for (i = 0; i < map->n_fragment && !err; i++)
		err = walk_one(s, &map->fragment[i]);
	return err;
}
