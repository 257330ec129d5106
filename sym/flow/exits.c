// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: the instructions by which a function is left.
 *
 *   entry ─► its fragment ─► decode ─► rets ───────────────────────────┐
 *              ▲            ├─────► jumps out, stack at the entry's ─┼─► exits
 *              │            │       value, to where functions begin ┘
 *              └── parts ◄──┴─────► all other ways to other fragments
 *
 * A fragment is decoded from end to end, whether reached or not: a ret that never runs
 * is an exit too many, which does no harm. So the targets of a switch need not be
 * known, only that its jump stays inside. The stack pointer tells: with anything on
 * the stack a jump stays inside. Otherwise an indirect jump is a switch or a tail
 * call. If the instructions before it do not tell which, the function is refused.
 *
 * A part is a fragment that the function reaches and that is no function itself: a cold
 * part, a label in the middle of other assembly, the function that this one falls into.
 * Calls of other functions may come there too; one bit in the result says so.
 */
#include <stdlib.h>
#include "engine/insn/insn.h"
#include "sym/exits.h"
#include "sym/flow/opcode.h"
#include "sym/flow/slot.h"
#include "sym/list.h"

#define FAR_RET_IMM 0xca
#define FAR_RET 0xcb
#define NOTRACK 0x3e
#define PARTS_MAX 64

/** struct way_out - one function while its exits are looked for; addresses of the file */
struct way_out {
	struct dp_exits *ex;
	const struct dp_code_map *map;
	u64 entry;
	u32 part[PARTS_MAX]; /* fragments */
	u32 n_part;
	struct dp_exit *found;
	size_t n_found, room_found;
	const char *why;
	int err;
};

/** struct place - an instruction of a part */
struct place {
	const struct dp_fragment *fragment;
	const u8 *code; /* of the fragment */
	u64 at;
	struct insn_facts f;
	struct dp_past past;
	bool home; /* the stack pointer is at the return address */
};

static void refuse(struct way_out *w, const char *why)
{
	if (!w->err) {
		w->err = -EOPNOTSUPP;
		w->why = why;
	}
}

static bool has_part(const struct way_out *w, const struct dp_fragment *p)
{
	u32 i;

	for (i = 0; i < w->n_part; i++)
		if (&w->map->fragment[w->part[i]] == p)
			return true;
	return false;
}

static void add_part(struct way_out *w, const struct dp_fragment *p)
{
	if (has_part(w, p))
		return;
	if (w->n_part == PARTS_MAX)
		refuse(w, "it has more parts than any function");
	else
		w->part[w->n_part++] = (u32)(p - w->map->fragment);
}

static void add_found(struct way_out *w, const struct place *p, u8 kind, u64 to)
{
	struct dp_exit exit = {
		.addr = p->at,
		.to = to,
		.len = p->f.len,
		.kind = kind,
		.conditional = p->f.class == DP_INSN_JCC ||
			       p->f.class == DP_INSN_LOOP,
	};
	int err = dp_list_add(&w->found, &w->n_found, &w->room_found, &exit,
			      sizeof(exit));

	if (err)
		w->err = err;
}

static void see_ret(struct way_out *w, const struct place *p)
{
	if (p->home)
		add_found(w, p, DP_EXIT_RET, 0);
	else
		refuse(w, "a ret of it goes to an address that it pushed");
}

static void see_jump_out(struct way_out *w, const struct place *p, u64 to)
{
	const struct dp_fragment *q = dp_fragments_find(w->map, to);
	bool begins = dp_is_entry(w->ex, to) || dp_is_stub(w->ex, to);

	if (p->home && (begins || !q))
		add_found(w, p, DP_EXIT_TAIL, to);
	else if (begins)
		refuse(w, "it jumps to a function with more on its stack");
	else if (!q)
		refuse(w, "it jumps to where no function is");
	else
		add_part(w, q);
}

static void see_jump(struct way_out *w, const struct place *p)
{
	u64 to = p->at + p->f.len + p->f.target;

	if (to == w->entry && p->home)
		add_found(w, p, DP_EXIT_TAIL, to);
	else if (to == w->entry)
		refuse(w, "it jumps to its entry with more on its stack");
	else if (to - p->fragment->start >= p->fragment->len)
		see_jump_out(w, p, to);
}

static bool is_inner(const struct dp_code_map *map, u64 at)
{
	size_t n = dp_list_upto(map->inner, map->n_inner, sizeof(at), 0, at);

	return n && map->inner[n - 1] == at;
}

/*
 * A switch adds an offset from a table to its base, or assembly computes how many steps
 * to skip. A loader adds a module's base, and tail-calls.
 */
static void see_computed(struct way_out *w, const struct place *p)
{
	u8 own = DP_FRAGMENT_INSIDE | DP_FRAGMENT_TABLE | DP_FRAGMENT_PAIR;

	if (!(p->fragment->flags & own))
		add_found(w, p, DP_EXIT_TAIL, 0);
	else if (!(p->fragment->flags & DP_FRAGMENT_INSIDE) &&
		 !dp_past_has_offset(&p->past, p->code, p->fragment->len))
		refuse(w, "an indirect jump may be a switch or a tail call");
}

/* jmp *%reg, with the stack as at the entry. */
static void see_register(struct way_out *w, const struct place *p)
{
	u8 flags = p->fragment->flags;
	enum dp_source from;

	from = dp_past_source(&p->past, p->code, p->fragment->len,
			      p->f.operand.base);
	if (from == DP_SOURCE_COMPUTED)
		see_computed(w, p);
	else if (flags & DP_FRAGMENT_INSIDE ||
		 (from == DP_SOURCE_NOT_HERE &&
		  flags & (DP_FRAGMENT_TABLE | DP_FRAGMENT_PAIR)))
		refuse(w, "an indirect jump may be a switch or a tail call");
	else
		add_found(w, p, DP_EXIT_TAIL, 0);
}

static void see_indirect(struct way_out *w, const struct place *p)
{
	const struct dp_operand_ref *to = &p->f.operand;

	if (!p->home || p->code[p->at - p->fragment->start] == NOTRACK ||
	    is_inner(w->map, p->at))
		return;
	if (p->f.faults != DP_FAULTS_BRANCH)
		refuse(w, "an indirect jump of it has a strange operand");
	else if (!to->memory)
		see_register(w, p);
	else if (to->index != DP_NO_REG &&
		 p->fragment->flags & DP_FRAGMENT_INSIDE)
		refuse(w, "an indirect jump may be a switch or a tail call");
	else
		add_found(w, p, DP_EXIT_TAIL, 0);
}

static bool is_far_ret(const struct place *p)
{
	const u8 *code = p->code + (p->at - p->fragment->start);
	u8 op = code[p->f.opcode_off];

	return !p->f.modrm_off && (op == FAR_RET || op == FAR_RET_IMM) &&
	       (!p->f.opcode_off ||
		(p->f.opcode_off == 1 && (code[0] & 0xf0) == 0x40));
}

static void see(struct way_out *w, const struct place *p)
{
	switch (p->f.class) {
	case DP_INSN_RET:
		see_ret(w, p);
		break;
	case DP_INSN_JMP:
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
		see_jump(w, p);
		break;
	case DP_INSN_JMP_IND:
		see_indirect(w, p);
		break;
	case DP_INSN_PLAIN:
		if (is_far_ret(p))
			refuse(w, "it returns to another segment");
		break;
	}
}

/* Does it matter where the stack pointer is? */
static bool may_leave(const struct way_out *w, const struct place *p)
{
	u64 to = p->at + p->f.len + p->f.target;
	bool direct = p->f.class == DP_INSN_JMP || p->f.class == DP_INSN_JCC ||
		      p->f.class == DP_INSN_LOOP;

	return p->f.class == DP_INSN_RET || p->f.class == DP_INSN_JMP_IND ||
	       (direct && (to == w->entry ||
			   to - p->fragment->start >= p->fragment->len));
}

/* A compiler ends a function in a call that never returns. rt_sigreturn(2) does not
 * return either. */
static bool falls_through(u8 class)
{
	return class == DP_INSN_PLAIN || class == DP_INSN_JCC ||
	       class == DP_INSN_LOOP;
}

static void see_end(struct way_out *w, const struct dp_fragment *p)
{
	const struct dp_fragment *next = p + 1;
	u64 end = dp_fragment_end(p);

	if (next == w->map->fragment + w->map->n_fragment)
		next = NULL;
	if (next && dp_exits_nops(w->ex, end, next->start))
		add_part(w, next);
	else
		refuse(w, "it runs on into what is no function");
}

static void look_through(struct way_out *w, const struct dp_fragment *fragment)
{
	struct place p = { .fragment = fragment, .at = fragment->start };
	const struct dp_row *row;
	u64 end = dp_fragment_end(fragment);
	bool falls = true;

	p.code = dp_exits_code(w->ex, fragment);
	w->err = dp_exits_rows(w->ex, fragment, &w->ex->rows);
	if (w->err == -EILSEQ) {
		w->err = 0;
		refuse(w, "where it has its stack is not known");
	}
	for (; p.at < end && !w->err; p.at += p.f.len) {
		if (dp_insn_facts(p.code + (p.at - fragment->start), end - p.at,
				  &p.f)) {
			refuse(w, "it cannot be decoded");
			return;
		}
		row = dp_rows_at(&w->ex->rows, p.at);
		p.home = dp_row_is_home(row);
		if (may_leave(w, &p) && (!row || row->reg == DP_ROW_LOST))
			refuse(w, "where it has its stack is not known");
		else
			see(w, &p);
		dp_past_add(&p.past, (u32)(p.at - fragment->start));
		if (!dp_padding_is_nop(p.code + (p.at - fragment->start), &p.f))
			falls = falls_through(p.f.class);
	}
	if (!w->err && falls)
		see_end(w, fragment);
}

/* Add what is at the other ends of edges, and is no function. */
static void add_ends(struct way_out *w, const struct dp_flow_edges *edges,
		     u64 start, u64 end)
{
	const struct dp_fragment *q;
	size_t i;

	for (i = dp_edges_find(edges, start);
	     i < edges->n && edges->v[i].at < end; i++) {
		q = dp_fragments_find(w->map, edges->v[i].other);
		if (q && !dp_is_entry(w->ex, q->start))
			add_part(w, q);
	}
}

/* Is it an instruction? Numbers that are no addresses may name what is inside of one. */
static bool is_insn(const struct dp_code_map *map, u64 at)
{
	const struct dp_text *t = dp_text_find(map, at);

	return t && dp_text_is_insn(t, at);
}

/* Do calls of other functions, or through another entry, come into this part? */
static bool is_shared(const struct way_out *w, const struct dp_fragment *p)
{
	const struct dp_flow_edges *jump = &w->map->jump;
	u64 end = dp_fragment_end(p), at;
	size_t i;

	for (i = dp_edges_find(jump, p->start);
	     i < jump->n && jump->v[i].at < end; i++)
		if (jump->v[i].at != w->entry &&
		    !has_part(w, dp_fragments_find(w->map, jump->v[i].other)))
			return true;
	for (at = dp_next_entry(w->ex, p->start, end); at < end;
	     at = dp_next_entry(w->ex, at + 1, end))
		if (at != w->entry && is_insn(w->map, at))
			return true;
	return false;
}

/* Hand over the exits, except jumps to fragments that have become parts since. */
static int hand_over(const struct way_out *w, struct dp_exit_list *list)
{
	const struct dp_fragment *q;
	struct dp_exit exit;
	bool shared = false;
	size_t i;

	list->v = calloc(w->n_found + 1, sizeof(*list->v));
	if (!list->v)
		return -ENOMEM;
	for (i = 0; i < w->n_part && !shared; i++)
		shared = is_shared(w, &w->map->fragment[w->part[i]]);
	for (i = 0; i < w->n_found; i++) {
		exit = w->found[i];
		q = exit.to ? dp_fragments_find(w->map, exit.to) : NULL;
		if (q && exit.to != w->entry && has_part(w, q))
			continue;
		exit.addr += w->map->bias;
		if (exit.to)
			exit.to += w->map->bias;
		exit.shared = shared;
		list->v[list->n++] = exit;
	}
	qsort(list->v, list->n, sizeof(*list->v), dp_list_order);
	return 0;
}

static void follow(struct way_out *w)
{
	const struct dp_fragment *p;
	u32 i;

	for (i = 0; i < w->n_part && !w->err; i++) {
		p = &w->map->fragment[w->part[i]];
		if ((p->flags & DP_FRAGMENT_LOST) &&
		    (p->flags & DP_FRAGMENT_FDE))
			refuse(w,
			       "its landing pads are not known, or it cannot be decoded");
		if (!w->err)
			look_through(w, p);
		if (w->err)
			break;
		/* Landing pads, and fragments that only a switch leads to. */
		add_ends(w, &w->map->hidden, p->start, p->start + 1);
		/* A cold part whose way in was not seen still jumps back. */
		add_ends(w, &w->map->jump, p->start + 1, dp_fragment_end(p));
	}
}

static void begin(struct way_out *w, struct dp_exits *exits, u64 entry)
{
	const struct dp_fragment *p = dp_fragments_find(exits->map, entry);

	*w = (struct way_out){ .ex = exits, .map = exits->map, .entry = entry };
	if (!p) {
		w->err = -ENOENT;
		w->why = "no function is there";
		return;
	}
	add_part(w, p);
	if (!dp_starts_home(exits, entry))
		refuse(w, "it is not entered there by a call");
}

int dp_exits_find(struct dp_exits *exits, u64 entry, struct dp_exit_list *list,
		  const char **why)
{
	struct way_out w;

	*list = (struct dp_exit_list){ 0 };
	begin(&w, exits, entry - exits->map->bias);
	follow(&w);
	if (!w.err)
		w.err = hand_over(&w, list);
	free(w.found);
	*why = w.err == -ENOMEM ? "out of memory" : w.why;
	return w.err;
}

void dp_exits_free(struct dp_exit_list *list)
{
	free(list->v);
	*list = (struct dp_exit_list){ 0 };
}
