// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* copy: one instruction of a site, made to run out of line. */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/faults.h"
#include "engine/insn/insn.h"
#include "engine/layout/site.h"
#include "engine/plan/copy.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"

static void copy_bytes(u8 *to, const u8 *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

int dp_entry_copy(const struct dp_site *s, struct dp_site_entry *entry, u8 *out)
{
	struct dp_copy copy;
	const char *why;
	int err;

	err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->single,
			       &copy, &why);
	if (err)
		return err;
	copy_bytes(out, copy.code, copy.len);
	entry->single_len = copy.len;
	entry->single_body = copy.body_len;
	entry->single_atomic = copy.atomic;
	return 0;
}

/* Make the copy again, with a breakpoint between the instruction and the jump back. */
int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry, u8 *out)
{
	struct dp_copy copy;
	int err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->post,
				   &copy, NULL);

	if (err)
		return err;
	copy_bytes(out, copy.code, copy.body_len);
	out[copy.body_len] = DP_BREAKPOINT;
	entry->post_body = copy.body_len;
	entry->post_len = copy.body_len + 1;
	entry->post_len += (u8)dp_emit_jmp(out + entry->post_len,
					   entry->post + entry->post_len,
					   s->addr + s->facts.len);
	return entry->post_len > copy.body_len + 1 ? 0 : -ENOMEM;
}

/* Only an instruction that falls through, as one instruction, comes to the breakpoint. */
bool dp_site_needs_post(const struct dp_site *s)
{
	u8 f = s->facts.faults;

	return s->records && s->facts.class == DP_INSN_PLAIN &&
	       (f == DP_FAULTS_OTHER || f == DP_FAULTS_PUSH ||
		f == DP_FAULTS_POP);
}

static void note_faults(const struct dp_site *s, struct dp_site_entry *entry)
{
	entry->faults = s->facts.faults;
	dp_insn_operand(&s->facts, s->addr, &entry->operand);
}

void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry)
{
	entry->addr = s->addr;
	entry->insn_len = s->facts.len;
	entry->class = s->facts.class;
	entry->cc = s->facts.cc;
	entry->target = s->addr + s->facts.len + (u64)s->facts.target;
	copy_bytes(entry->orig, s->code, sizeof(entry->orig));
	note_faults(s, entry);
}

static void widen(const struct insn_facts *f, u64 addr, u64 *low, u64 *high)
{
	u64 next = addr + f->len, target = dp_insn_refers(f, addr);

	*low = dp_addr_below(target, *low) ? target : *low;
	*high = dp_addr_below(*high, target) ? target : *high;
	*high = dp_addr_below(*high, next) ? next : *high;
}

void dp_site_span(const struct dp_site *s, u64 *low, u64 *high)
{
	int i;

	*low = *high = s->addr;
	widen(&s->facts, s->addr, low, high);
	for (i = 0; i < s->region.nr; i++)
		widen(&s->region.facts[i], s->addr + s->region.at[i], low,
		      high);
}
