// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * completes: will the original instruction of a hit complete?
 *
 * Control says what that depends on. It is looked up here in the thread's registers and
 * memory. Where that gives an answer, the record need not wait, and no second trap is
 * needed.
 */
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/hit/program.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/insn/faults.h"

#define CANONICAL_BITS 47

static bool can_push(const struct dp_hit *hit)
{
	u64 addr = hit->sp - DP_WORD;

	return dp_hit_knows(hit, addr) || dp_port_writable(addr, DP_WORD);
}

static bool can_read(u64 addr, u64 *value)
{
	return dp_port_read(value, addr, DP_WORD) == DP_WORD;
}

static bool is_address(u64 value)
{
	return !(value >> CANONICAL_BITS);
}

static bool branch_ok(const struct dp_site_entry *site, struct dp_regs *regs)
{
	const struct dp_operand_ref *o = &site->operand;
	u64 target = dp_regs_value(regs, o->base), addr;

	if (!o->memory)
		return is_address(target);
	addr = target + dp_regs_value(regs, o->index) * o->scale + (u64)o->disp;
	if (o->segment)
		addr += o->segment == DP_SEG_FS ? dp_port_thread_pointer() :
						  dp_port_gs_base();
	return can_read(addr, &target) && is_address(target);
}

static enum dp_completes answer(bool yes)
{
	return yes ? DP_COMPLETES : DP_COMPLETES_NOT;
}

enum dp_completes dp_completes(const struct dp_site_entry *site,
			       const struct dp_hit *hit, struct dp_regs *regs)
{
	u64 value;

	switch (site->faults) {
	case DP_FAULTS_NEVER:
		return DP_COMPLETES;
	case DP_FAULTS_PUSH:
		return can_push(hit) ? DP_COMPLETES : DP_COMPLETES_PERHAPS;
	case DP_FAULTS_POP:
		return dp_hit_knows(hit, hit->sp) || can_read(hit->sp, &value) ?
			       DP_COMPLETES :
			       DP_COMPLETES_PERHAPS;
	case DP_FAULTS_CALL:
		return answer(can_push(hit));
	case DP_FAULTS_RET:
		return answer(can_read(hit->sp, &value) && is_address(value));
	case DP_FAULTS_BRANCH:
		return answer(branch_ok(site, regs));
	case DP_FAULTS_BRANCH_CALL:
		return answer(branch_ok(site, regs) && can_push(hit));
	default:
		return site->post || site->calls_out ? DP_COMPLETES_PERHAPS :
						       DP_COMPLETES;
	}
}
