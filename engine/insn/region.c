// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* region: find the instructions that a jump displaces; refuse the unsuitable. */
#include "engine/insn/faults.h"
#include "engine/insn/region.h"

static int fail(const char **why, const char *reason)
{
	*why = reason;
	return -EINVAL;
}

static int add(struct dp_region *r, const struct insn_facts *f, size_t room,
	       const char **why)
{
	if (f->class == DP_INSN_REFUSED)
		return fail(why, f->refusal);
	if (f->class == DP_INSN_SYSCALL)
		return fail(
			why,
			"a system call is among the bytes that a jump needs");
	if (r->len + f->len > room || r->nr == DP_REGION_INSNS)
		return fail(why, "its function has no room for a jump");
	r->at[r->nr] = r->len;
	r->facts[r->nr++] = *f;
	r->len += f->len;
	return 0;
}

static bool calls(u8 class)
{
	return class == DP_INSN_CALL || class == DP_INSN_CALL_IND;
}

/* At least @least bytes, and no more than @room */
static int decode(const u8 *code, size_t size, size_t least, size_t room,
		  struct dp_region *r, const char **why)
{
	struct insn_facts f;
	int err = 0, i;

	*r = (struct dp_region){ 0 };
	while (!err && r->len < least) {
		if (r->len >= size ||
		    dp_insn_facts(code + r->len, size - r->len, &f))
			return fail(why,
				    "the bytes behind it are no instructions");
		err = add(r, &f, room, why);
	}
	for (i = 0; i + 1 < r->nr; i++) {
		r->returns |= calls(r->facts[i].class);
		r->faults |= r->facts[i].faults == DP_FAULTS_OTHER;
	}
	/* The frame description of a restorer begins a byte early, inside a nop. */
	for (i = 0; !err && i < r->len; i++)
		if (dp_insn_is_restorer(code + i, size - (size_t)i))
			err = fail(
				why,
				"signal return code is recognised by its bytes");
	return err;
}

int dp_region_decode(const u8 *code, size_t size, size_t room,
		     struct dp_region *r, const char **why)
{
	return decode(code, size, DP_JUMP_SIZE, room, r, why);
}

int dp_region_decode_all(const u8 *code, size_t len, struct dp_region *r,
			 const char **why)
{
	if (len < DP_JUMP_SIZE || len > DP_REGION_MAX)
		return fail(why, "no jump displaces so many bytes");
	return decode(code, len, len, len, r, why);
}

static bool has_target(u8 class)
{
	return class == DP_INSN_JMP || class == DP_INSN_JCC ||
	       class == DP_INSN_LOOP || class == DP_INSN_CALL;
}

static bool in_the_middle(const struct dp_region *r, u64 offset)
{
	int i;

	if (offset >= r->len)
		return false;
	for (i = 0; i < r->nr; i++)
		if (r->at[i] == offset)
			return false;
	return true;
}

u8 dp_region_branches(const struct dp_region *r, u64 offset)
{
	const struct insn_facts *f;
	u8 found = 0;
	int i;

	for (i = 0; i < r->nr; i++) {
		f = &r->facts[i];
		if ((f->class == DP_INSN_JCC || f->class == DP_INSN_JMP) &&
		    r->at[i] + f->len + (u64)f->target == offset)
			found |= (u8)(1 << i);
	}
	return found;
}

void dp_entries_find(struct dp_entries *e, const u8 *code, size_t size,
		     u64 start)
{
	struct insn_facts f;
	size_t at;
	u64 to;

	e->n = 0;
	e->cut = false;
	for (at = 0; at < size && !e->cut; at += f.len) {
		e->cut = dp_insn_facts(code + at, size - at, &f);
		to = start + at + f.len + (u64)f.target;
		if (!e->cut && has_target(f.class) &&
		    to - start < size + DP_REGION_MAX)
			e->v[e->n++] = to;
	}
}

const char *dp_region_entered(const struct dp_region *r, u64 addr,
			      const struct dp_entries *e)
{
	size_t low = 0, high = e->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (e->v[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < e->n && e->v[low] - addr < r->len; low++)
		if (in_the_middle(r, e->v[low] - addr))
			return "a branch goes into the middle of an instruction that a jump would replace";
	return e->cut ? "bytes of its function are no instructions" : NULL;
}
