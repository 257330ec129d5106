// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * completes: will the original instruction of a hit complete?
 *
 * Control says what it depends on; here it is looked up in the thread's
 * registers and memory. Where that tells, the record need not wait, and no
 * second trap is needed.
 */
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/arch/x86/sigframe.h"
#include "port_hit.h"

#define CANONICAL_BITS 47

static bool can_push(const struct dp_hit *hit)
{
	u64 addr = hit->regs->rsp - DP_WORD;

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

/* struct dp_mcontext, in the order of the machine's register numbers */
static u64 gpr(const struct dp_mcontext *m, u8 number)
{
	switch (number) {
	case 0:
		return m->rax;
	case 1:
		return m->rcx;
	case 2:
		return m->rdx;
	case 3:
		return m->rbx;
	case 4:
		return m->rsp;
	case 5:
		return m->rbp;
	case 6:
		return m->rsi;
	case 7:
		return m->rdi;
	case DP_NO_REG:
		return 0;
	default:
		return (&m->r8)[number & 7];
	}
}

static bool branch_ok(const struct dp_site_entry *site,
		      const struct dp_hit *hit)
{
	const struct dp_operand_ref *o = &site->operand;
	u64 target = gpr(hit->regs, o->base), addr;

	if (!o->memory)
		return is_address(target);
	addr = target + gpr(hit->regs, o->index) * o->scale + (u64)o->disp;
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
			       const struct dp_hit *hit)
{
	u64 value;

	switch (site->faults) {
	case DP_FAULTS_NEVER:
		return DP_COMPLETES;
	case DP_FAULTS_PUSH:
		return can_push(hit) ? DP_COMPLETES : DP_COMPLETES_PERHAPS;
	case DP_FAULTS_POP:
		return dp_hit_knows(hit, hit->regs->rsp) ||
				       can_read(hit->regs->rsp, &value) ?
			       DP_COMPLETES :
			       DP_COMPLETES_PERHAPS;
	case DP_FAULTS_CALL:
		return answer(can_push(hit));
	case DP_FAULTS_RET:
		return answer(can_read(hit->regs->rsp, &value) &&
			      is_address(value));
	case DP_FAULTS_BRANCH:
		return answer(branch_ok(site, hit));
	case DP_FAULTS_BRANCH_CALL:
		return answer(branch_ok(site, hit) && can_push(hit));
	default:
		return site->post || site->tells ? DP_COMPLETES_PERHAPS :
						   DP_COMPLETES;
	}
}
