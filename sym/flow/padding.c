// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * padding: the bytes between functions.
 *
 * Mostly padding; else data, or code without a description or a symbol (_init, assembly).
 * Its instruction boundaries are not known, so every byte is taken for the start of an
 * instruction.
 */
#include <string.h>
#include "engine/insn/insn.h"
#include "sym/flow/map.h"

#define INT3 0xcc
#define LONGEST 7 /* bytes of the longest pattern */

static s64 rel8(const u8 *p)
{
	return (int8_t)*p;
}

static s64 rel32(const u8 *p)
{
	s32 v;

	memcpy(&v, p, 4);
	return v;
}

/* Mark the address that an instruction at @p, which is address @at, would name. */
static void scan_at(struct dp_survey *s, const u8 *p, u64 at)
{
	if (p[0] == 0xe8 || p[0] == 0xe9)
		dp_text_mark(s->map, at + 5 + rel32(p + 1));
	else if (p[0] == 0xeb || (p[0] & 0xf0) == 0x70 || (p[0] & 0xfc) == 0xe0)
		dp_text_mark(s->map, at + 2 + rel8(p + 1));
	else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		dp_text_mark(s->map, at + 6 + rel32(p + 2));
	else if ((p[1] & 0xc7) == 5) /* any operand relative to rip */
		dp_text_mark(s->map, at + 6 + rel32(p + 2));
}

static void scan_absolute(struct dp_survey *s, const u8 *p, size_t n)
{
	u64 v = 0;

	if (n >= 4)
		dp_text_mark(s->map, (u32)rel32(p));
	if (n >= 8) {
		memcpy(&v, p, 8);
		dp_text_mark(s->map, v);
	}
}

void dp_padding_scan_bytes(struct dp_survey *s, const struct dp_text *t,
			   u64 start, u64 end)
{
	u8 tail[LONGEST];
	const u8 *p;
	u64 at;

	for (at = start; at < end; at++) {
		p = t->code + (at - t->start);
		if (s->absolute)
			scan_absolute(s, p, end - at);
		if (end - at < sizeof(tail)) {
			memset(tail, 0, sizeof(tail));
			memcpy(tail, p, end - at);
			p = tail;
		}
		scan_at(s, p, at);
	}
}

bool dp_padding_is_nop(const u8 *code, const struct insn_facts *f)
{
	u8 op = code[f->opcode_off];

	if (f->class != DP_INSN_PLAIN)
		return false;
	if (!f->modrm_off)
		return op == 0x90;
	return op == 0x1f && f->opcode_off && code[f->opcode_off - 1] == 0x0f;
}

bool dp_padding_is_nops(const u8 *code, u64 len)
{
	struct insn_facts f;
	u64 at;

	for (at = 0; at < len; at += f.len)
		if (dp_insn_facts(code + at, len - at, &f) ||
		    !dp_padding_is_nop(code + at, &f))
			return false;
	return true;
}

/* Length of the padding that starts at @p. */
static u64 padding_at(const u8 *p, u64 n)
{
	struct insn_facts f;

	if (*p == INT3 || !*p)
		return 1;
	if (dp_insn_facts(p, n, &f) || !dp_padding_is_nop(p, &f))
		return 0;
	return f.len;
}

/* Scan a range that is not padding from beginning to end. */
static void scan(struct dp_survey *s, const struct dp_text *t, u64 start,
		 u64 end)
{
	u64 at, n;

	for (at = start; at < end; at += n) {
		n = padding_at(t->code + (at - t->start), end - at);
		if (!n)
			break;
	}
	if (at < end)
		dp_padding_scan_bytes(s, t, start, end);
}

static void scan_text(struct dp_survey *s, const struct dp_text *t)
{
	const struct dp_code_map *map = s->map;
	u64 at = t->start;
	size_t i;

	for (i = 0; i < map->n_fragment; i++) {
		if (map->fragment[i].start < t->start ||
		    map->fragment[i].start >= t->end)
			continue;
		if (at < map->fragment[i].start)
			scan(s, t, at, map->fragment[i].start);
		at = dp_fragment_end(&map->fragment[i]);
	}
	if (at < t->end)
		scan(s, t, at, t->end);
}

void dp_padding_scan(struct dp_survey *s)
{
	size_t i;

	for (i = 0; i < s->map->n_text; i++)
		scan_text(s, &s->map->text[i]);
}
