// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* relocate, fuzzed: whatever the bytes and the distance, a copy is sound. */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/insn.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static u64 rel32_target(const u8 *code, u64 end)
{
	s32 rel;

	memcpy(&rel, code, sizeof(rel));
	return end + (u64)(s64)rel;
}

/* The way back; behind a system call with the address that it leaves in rcx. */
static void check_tail(const struct insn_facts *f, const struct dp_copy *copy,
		       u64 from, u64 to)
{
	const u8 *tail = &copy->code[copy->body_len];
	u64 next;

	if (f->class == DP_INSN_SYSCALL) {
		memcpy(&next, tail + 2, sizeof(next));
		must(tail[0] == 0x48 && tail[1] == 0xb9 &&
		     next == from + f->len);
		tail += 2 + sizeof(next);
	}
	must(&copy->code[copy->len] == tail + 5 && tail[0] == 0xe9 &&
	     rel32_target(tail + 1, to + copy->len) == from + f->len);
}

static void check_copy(const struct insn_facts *f, const struct dp_copy *copy,
		       u64 from, u64 to)
{
	struct insn_facts first;

	must(copy->len <= DP_COPY_MAX && copy->body_len <= copy->len);
	if (copy->body_len != copy->len)
		check_tail(f, copy, from, to);
	must(!dp_insn_facts(copy->code, copy->len, &first));
	if (f->rip_relative)
		must(first.rip_relative &&
		     to + first.len + (u64)first.target ==
			     from + f->len + (u64)f->target);
	if (f->class == DP_INSN_JMP || f->class == DP_INSN_JCC)
		must(first.class == f->class &&
		     to + first.len + (u64)first.target ==
			     from + f->len + (u64)f->target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *why = NULL;
	struct insn_facts f;
	struct dp_copy copy;
	u64 from, to;

	if (size < 17)
		return 0;
	memcpy(&from, data, 8);
	memcpy(&to, data + 8, 8);
	/* Half of the time within reach. */
	if (data[16] & 1)
		to = from + (u64)(s64)(s32)to;
	if (dp_insn_facts(data + 16, size - 16, &f))
		return 0;
	must(f.len && f.len <= DP_INSN_MAX && f.len <= size - 16);
	if (dp_insn_relocate(data + 16, &f, from, to, &copy, &why))
		must(why != NULL);
	else
		check_copy(&f, &copy, from, to);
	return 0;
}
