// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trap: to which site a breakpoint's signal belongs, and where the thread goes on, in a
 * world in memory. Probe number i is that of site number i.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/hit/hit.h"
#include "engine/hit/thread.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "port_hit.h"

#define AT 0x401000ull /* of the first site */
#define DETOUR 0x7000000ull
#define NR_SITES 5
#define UPWARD 0x37 /* instead of int3 in a jump's fifth byte */
#define INT3 0xcc

/* Of the last arrival: the site whose probe was hit, or NULL. */
static const struct dp_site_entry *hit_at;
static u64 counted[NR_SITES];

static struct dp_site_entry *site(u32 i)
{
	return (struct dp_site_entry *)dp_site_at(i);
}

/* A jump over five instructions of a byte, with breakpoints in bytes 1 to 4. */
static void make_jump(u32 i, u64 addr, u8 last)
{
	static const u8 patch[] = { 0xe9, INT3, INT3, INT3, 0 };
	struct dp_site_entry *s = site(i);
	struct dp_jump *j = dp_fake_jump(s);
	u32 k;

	*s = (struct dp_site_entry){ .addr = addr,
				     .mode = DP_MODE_JUMP,
				     .armed = DP_SITE_THERE,
				     .wanted = DP_WANT_PLAN,
				     .patch_len = 5,
				     .insn_len = 1,
				     .jump = i + 1,
				     .traps = 0x1e };
	dp_fake_probe(i, i, DP_KIND_PLAIN);
	memset(s->orig, 0x90, sizeof(s->orig));
	memcpy(s->patch, patch, sizeof(s->patch));
	s->patch[4] = last;
	*j = (struct dp_jump){
		.base = DETOUR + 0x1000 * i, .nr = 5, .size = 5, .site = i
	};
	for (k = 0; k < 5; k++) {
		j->offset[k] = (u8)k;
		j->at[k] = (u16)(0x10 * k);
		j->insn[k] = (u16)(0x10 * k + 8);
	}
	s->copy = j->base + j->insn[0];
	dp_arena.control.nr_sites = i + 1;
}

/* One that another's jump covers, or that is by itself. */
static void make_site(u32 i, u64 addr, bool covered)
{
	struct dp_site_entry *s = site(i);

	make_jump(i, addr, INT3);
	s->jump = s->traps = 0;
	s->patch[0] = INT3;
	s->patch_len = !covered;
	s->mode = covered ? DP_MODE_JUMP : DP_MODE_TRAP;
	s->copy = 0x6000000 + i;
	dp_fake_index(addr, i);
}

static void enter_jump(u32 i)
{
	u32 b;

	dp_fake_index(site(i)->addr, i);
	for (b = 1; b < 5; b++)
		dp_fake_index(site(i)->addr + b, i);
}

static int begin(void **state)
{
	static const u8 nops[16] = { [0 ... 15] = 0x90 };

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_text(AT, nops, sizeof(nops));
	memset(counted, 0, sizeof(counted));
	return 0;
}

static void look_for_hit(void)
{
	u32 i;

	hit_at = NULL;
	for (i = 0; i < NR_SITES; i++) {
		if (dp_fake_count(i) != counted[i])
			hit_at = site(i);
		counted[i] = dp_fake_count(i);
	}
}

/* Return: where the thread goes on; 0: the signal is the program's, which dies of it. */
static u64 arrive(u32 sig, int code, u64 pc)
{
	bool died;

	dp_fake_regs()->rip = pc + (sig == DP_SIGTRAP);
	dp_fake_raise(sig, code);
	look_for_hit();
	died = dp_fake_seen.died;
	if (died)
		dp_fake_revive(DP_CAUGHT_JUMPS);
	return died ? 0 : dp_fake_regs()->rip;
}

static u64 trap(u64 pc)
{
	return arrive(DP_SIGTRAP, DP_SI_KERNEL, pc);
}

static u64 ill(u64 pc)
{
	return arrive(DP_SIGILL, DP_ILL_ILLOPN, pc);
}

static u64 inside(u32 i, u32 insn)
{
	return dp_jump_of(site(i))->base + dp_jump_of(site(i))->at[insn];
}

static void middle_of_a_jump(void **state)
{
	u32 b;

	make_jump(0, AT, UPWARD);
	enter_jump(0);
	for (b = 1; b < 4; b++) {
		assert_int_equal(trap(AT + b), inside(0, b));
		assert_int_equal(ill(AT + b), 0);
	}
	assert_int_equal(ill(AT + 4), inside(0, 4));
	assert_null(hit_at);
	assert_int_equal(dp_arena.hit.interior_arrivals, 4);
	/* The program's own int3, where ours is another instruction. */
	assert_int_equal(trap(AT + 4), 0);
	assert_int_equal(ill(AT), 0);
	assert_int_equal(ill(AT + 5), 0);
	assert_int_equal(trap(AT + 5), 0);
	/* Another cause of SIGILL, and a SIGTRAP that is no breakpoint's. */
	assert_int_equal(arrive(DP_SIGILL, 1, AT + 4), 0);
	assert_int_equal(arrive(DP_SIGTRAP, 2, AT + 1), 0);
	assert_int_equal(dp_arena.hit.interior_arrivals, 4);
}

/* Which instruction of a jump begins at an address, and has a breakpoint there? */
static void boundaries(void **state)
{
	static const struct {
		u8 nr, traps, at;
		int insn;
	} cases[] = {
		{ 3, 0x14, 2, 1 },  { 3, 0x14, 4, 2 },	{ 3, 0x10, 2, -1 },
		{ 3, 0x14, 0, -1 }, { 3, 0x14, 3, -1 }, { 2, 0x14, 4, -1 },
		{ 4, 0x34, 5, -1 },
	};
	struct dp_site_entry *s = site(0);
	struct dp_jump *j = dp_fake_jump(s);
	u32 i;

	make_jump(0, AT, UPWARD);
	j->offset[1] = 2;
	j->offset[2] = 4;
	j->offset[3] = 5;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		j->nr = cases[i].nr;
		s->traps = cases[i].traps;
		if (dp_site_boundary(s, AT + cases[i].at) != cases[i].insn)
			fail_msg("case %u", i);
	}
	assert_true(dp_site_boundary(s, AT - 1) < 0);
}

/* Sites whose addresses lead to one place of the index, at its end, too */
static void sites_of_one_place(void **state)
{
	u32 mask = dp_arena.control.hash_mask, place, i;
	u64 addr;

	for (place = mask - 1; place <= mask; place++) {
		begin(state);
		for (addr = AT, i = 0; i < 4; addr++)
			if ((dp_site_hash(addr) & mask) == place)
				make_site(i++, addr, false);
		site(0)->post = DETOUR;
		site(0)->post_body = 3;
		for (i = 0; i < 4; i++)
			assert_ptr_equal(dp_site_lookup(site(i)->addr),
					 site(i));
		while ((dp_site_hash(addr) & mask) != place)
			addr++;
		assert_null(dp_site_lookup(addr));
	}
}

/* Each is told by whatever its byte raises. */
static void sites_inside_a_jump(void **state)
{
	u32 b;

	make_jump(0, AT, UPWARD);
	for (b = 1; b < 5; b++)
		make_site(b, AT + b, true);
	enter_jump(0);
	for (b = 1; b < 5; b++) {
		bool last = b == 4;

		assert_int_equal(last ? ill(AT + b) : trap(AT + b),
				 site(b)->copy);
		assert_ptr_equal(hit_at, site(b));
	}
	assert_int_equal(ill(AT + 1), 0);
	assert_null(hit_at);
	/* From before the jump went: its byte is known all the same. */
	for (b = 0; b < 5; b++)
		site(b)->armed = DP_SITE_OFF;
	assert_int_equal(ill(AT + 4), site(4)->copy);
	assert_ptr_equal(hit_at, site(4));
}

static void site_by_itself(void **state)
{
	make_site(0, AT, false);
	assert_int_equal(trap(AT), site(0)->copy);
	assert_ptr_equal(hit_at, site(0));
	/* Its own instruction is one that raises SIGILL. */
	assert_int_equal(ill(AT), 0);
	site(0)->armed = DP_SITE_OFF;
	assert_int_equal(trap(AT), site(0)->copy);
}

/* Where probes come and go, each site that could be a jump is planned as one, and
 * those that have lost their probes stay. */
static void sites_that_nobody_uses(void **state)
{
	u32 b;

	make_jump(0, AT, UPWARD);
	make_jump(1, AT + 4, INT3);
	make_jump(2, AT + 2, INT3);
	enter_jump(1);
	enter_jump(2);
	enter_jump(0);
	for (b = 1; b < 3; b++) {
		site(b)->first_probe = 0;
		site(b)->armed = DP_SITE_OFF;
		site(b)->calls = 1;
	}
	assert_int_equal(ill(AT + 4), inside(0, 4));
	assert_int_equal(trap(AT + 2), inside(0, 2));
	/* Of two that have a breakpoint there, the one that is armed. */
	assert_int_equal(trap(AT + 3), inside(0, 3));
	site(2)->armed = DP_SITE_THERE;
	site(0)->armed = DP_SITE_OFF;
	assert_int_equal(trap(AT + 3), inside(2, 1));
	/* A probe has come, and its own breakpoint has not. */
	site(2)->armed = DP_SITE_OFF;
	site(0)->armed = DP_SITE_THERE;
	site(1)->first_probe = 2;
	assert_int_equal(ill(AT + 4), site(1)->copy);
	assert_ptr_equal(hit_at, site(1));
}

/* The trap came before the byte went back: what is there now is the program's own. */
static void jump_that_has_gone(void **state)
{
	static const u8 is_there[] = { DP_SITE_THERE, DP_SITE_COMING,
				       DP_SITE_LEAVING, DP_SITE_CEDES };
	static const u8 is_not[] = { DP_SITE_OFF, DP_SITE_TRAPPED,
				     DP_SITE_CEDED };
	u32 i;

	make_jump(0, AT, UPWARD);
	enter_jump(0);
	for (i = 0; i < sizeof(is_there); i++) {
		site(0)->armed = is_there[i];
		assert_int_equal(trap(AT + 1), inside(0, 1));
		assert_int_equal(ill(AT + 4), inside(0, 4));
	}
	for (i = 0; i < sizeof(is_not); i++) {
		site(0)->armed = is_not[i];
		assert_int_equal(trap(AT + 1), AT + 1);
		assert_int_equal(ill(AT + 4), AT + 4);
	}
	/* In the text of a CLONE_VM child's parent it may be there all the same. */
	dp_arena.hit.vm_children = 1;
	dp_fake_fork();
	assert_int_equal(trap(AT + 1), inside(0, 1));
}

/* Two could have the breakpoint: the one that is a breakpoint itself has not. */
static void jump_around_another(void **state)
{
	make_jump(0, AT, INT3);
	make_jump(1, AT + 1, INT3);
	enter_jump(1);
	enter_jump(0);
	site(1)->armed = DP_SITE_TRAPPED;
	site(1)->leader = 1;
	assert_int_equal(trap(AT + 3), inside(0, 3));
	assert_int_equal(trap(AT + 1), site(1)->copy);
	assert_ptr_equal(hit_at, site(1));
	assert_int_equal(dp_arena.hit.interior_arrivals, 2);
}

#define NUMBER 0x1234567ull /* that the events of this agent bear */

/* Where the thread is behind its access. Return: was it a hit? It goes on there in any case. */
static bool access(u64 pc, u64 tag, bool late)
{
	dp_fake_regs()->rip = pc;
	dp_fake_watched(tag, late);
	look_for_hit();
	assert_false(dp_fake_seen.died);
	assert_int_equal(dp_fake_regs()->rip, pc);
	return hit_at;
}

static u64 data = 5;

static void make_data(u32 i)
{
	make_site(i, (u64)&data, false);
	*site(i) = (struct dp_site_entry){ .addr = site(i)->addr,
					   .first_probe = site(i)->first_probe,
					   .watch = DP_SITE_WRITTEN,
					   .watch_len = 8,
					   .counts = 1 };
	dp_arena.control.watch_number = NUMBER;
}

static void access_to_data(void **state)
{
	make_jump(0, AT, INT3);
	make_data(1);
	assert_true(access(AT + 3, NUMBER << 32 | 1, false));
	assert_ptr_equal(hit_at, site(1));
	assert_int_equal(dp_probe_state(1)->last, 5);
	data = 6;
	/* One that has been blocked is over; a site of code; none */
	assert_false(access(AT + 3, NUMBER << 32 | 1, true));
	assert_false(access(AT + 3, NUMBER << 32, false));
	assert_false(access(AT + 3, NUMBER << 32 | 99, false));
	assert_int_equal(dp_probe_state(1)->last, 5);
	/* The agent's own access, and those of a detour */
	assert_false(
		access(dp_arena.control.base + 8, NUMBER << 32 | 1, false));
	site(1)->first_probe = 0;
	assert_false(access(AT + 3, NUMBER << 32 | 1, false));
}

/* The program's own events: it has no handler. */
static void access_to_data_of_others(void **state)
{
	make_data(1);
	dp_fake_regs()->rip = AT;
	dp_fake_watched((NUMBER + 1) << 32 | 1, false);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
	dp_fake_revive(DP_CAUGHT_JUMPS);
	dp_arena.control.watch_number = 0;
	dp_fake_watched(1, false);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
}

static u32 hit_registers, asked;

static u32 tell_hit(void)
{
	asked++;
	return hit_registers;
}

static bool trap_of_register(u32 registers)
{
	hit_registers = registers;
	dp_fake_regs()->rip = AT + 3;
	dp_fake_raise(DP_SIGTRAP, DP_TRAP_HWBKPT);
	look_for_hit();
	assert_int_equal(dp_fake_regs()->rip, AT + 3);
	return hit_at;
}

/* The library says which it is; the program may have a debugger's. */
static void traps_of_own_registers(void **state)
{
	make_jump(0, AT, INT3);
	make_data(1);
	dp_arena.control.register_which = (u64)tell_hit;
	dp_arena.control.register_tags[2] = 1;
	asked = 0;
	assert_true(trap_of_register(1 << 2));
	assert_ptr_equal(hit_at, site(1));
	assert_false(trap_of_register(1 << 1));
	assert_false(trap_of_register(0));
	assert_true(trap_of_register(7));
	assert_false(dp_fake_seen.died);
	assert_int_equal(asked, 4);
	trap_of_register(DP_REGISTERS_FOREIGN);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
	dp_fake_revive(DP_CAUGHT_JUMPS);
	dp_arena.control.register_which = 0;
	dp_arena.control.register_tags[2] = 0;
}

static void step_left(u32 tid, s32 code)
{
	struct dp_led *led = &dp_arena.control.led;

	led->number++;
	led->tid = tid;
	dp_fake_regs()->rip = AT;
	dp_fake_raise(DP_SIGTRAP, code);
}

/* It kills the program: it is its own. */
static void is_the_programs(void)
{
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
	dp_fake_revive(DP_CAUGHT_JUMPS);
}

/* A killed tool has left a thread at a single step: that thread's next trap is dropped, and no other. */
static void traps_of_steps(void **state)
{
	static const s32 codes[] = { DP_TRAP_TRACE, DP_TRAP_BRKPT };
	u32 i;

	for (i = 0; i < 2; i++) {
		make_jump(0, AT, INT3);
		step_left(dp_hit_tid(), codes[i]);
		look_for_hit();
		assert_false(dp_fake_seen.died);
		assert_null(hit_at);
		assert_int_equal(dp_fake_regs()->rip, AT);
		dp_fake_raise(DP_SIGTRAP, codes[i]);
		is_the_programs();
	}
	step_left(dp_hit_tid() + 1, DP_TRAP_TRACE);
	is_the_programs();
	step_left(0, DP_TRAP_TRACE);
	is_the_programs();
	step_left(dp_hit_tid(), DP_TRAP_HWBKPT);
	is_the_programs();
}

/* The mask that its tracer has taken from it comes back. */
static void masks_of_steps(void **state)
{
	struct dp_led *led = &dp_arena.control.led;

	led->mask = 1ull << 11;
	step_left(dp_hit_tid(), DP_TRAP_TRACE);
	assert_int_not_equal(dp_fake_mask(), led->mask);
	led->masked = 1;
	step_left(dp_hit_tid(), DP_TRAP_TRACE);
	assert_int_equal(dp_fake_mask(), led->mask);
	dp_fake_set_mask(0);
}

/* A killed tool has left debug registers; without any, the trap is the program's. */
static void traps_of_registers(void **state)
{
	make_jump(0, AT, INT3);
	dp_arena.control.register_traps = 1;
	dp_fake_regs()->rip = AT;
	dp_fake_raise(DP_SIGTRAP, DP_TRAP_HWBKPT);
	look_for_hit();
	assert_false(dp_fake_seen.died);
	assert_null(hit_at);
	assert_int_equal(dp_fake_regs()->rip, AT);
	dp_arena.control.register_traps = 0;
	dp_fake_raise(DP_SIGTRAP, DP_TRAP_HWBKPT);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
	dp_fake_revive(DP_CAUGHT_JUMPS);
}

/* Behind which instruction of the program is a pc in generated code? */
static void copies_of_accesses(void **state)
{
	static const struct {
		u64 offset;
		bool known;
		u64 own;
	} cases[] = {
		{ 0x00, false, 0 },	{ 0x07, false, 0 },
		{ 0x08, true, AT },	{ 0x0a, true, AT },
		{ 0x10, true, AT + 1 }, { 0x14, false, 0 },
		{ 0x18, true, AT + 1 }, { 0x40, true, AT + 4 },
		{ 0x4c, true, AT + 4 }, { 0x50, true, AT + 5 },
		{ 0x51, false, 0 },
	};
	struct dp_jump *j;
	u64 own;
	u32 i;

	make_jump(0, AT, INT3);
	make_site(1, AT + 0x100, false);
	j = dp_fake_jump(site(0));
	j->len = 0x60;
	j->at[5] = 0x50;
	dp_arena.control.nr_jumps = 2;
	dp_arena.control.pools[0] = (struct dp_span){ DETOUR, 0x2000 };
	dp_arena.control.nr_pools = 1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool known = dp_copy_behind(DETOUR + cases[i].offset, &own);

		if (known != cases[i].known || (known && own != cases[i].own))
			fail_msg("offset 0x%lx: %d, 0x%lx", cases[i].offset,
				 known, own);
	}
	site(1)->single = DETOUR + 0x1800;
	site(1)->single_len = 12;
	site(1)->single_body = 7;
	assert_true(dp_copy_behind(DETOUR + 0x1807, &own));
	assert_int_equal(own, AT + 0x101);
	assert_true(dp_copy_behind(DETOUR + 0x1803, &own));
	assert_int_equal(own, AT + 0x100);
	assert_false(dp_copy_behind(DETOUR + 0x1808, &own));
	assert_false(dp_copy_behind(DETOUR + 0x1900, &own));
	assert_true(dp_copy_behind(AT + 0x55, &own));
	assert_int_equal(own, AT + 0x55);
}

/* A site whose copy is its own one goes on in the detour of the jump that covers it; until its
 * instruction is over, only if that detour tells. */
static void copy_in_the_detour_around(void **state)
{
	const u64 there = DETOUR + 3 * 0x10 + 8;

	make_jump(0, AT, INT3);
	make_site(1, AT + 3, false);
	site(1)->single = site(1)->copy;
	assert_int_equal(dp_site_copy(site(1), false), site(1)->copy);
	site(1)->leader = 1;
	assert_int_equal(dp_site_copy(site(1), false), there);
	assert_int_equal(dp_site_copy(site(1), true), site(1)->copy);
	dp_fake_jump(site(0))->after = 1 << 3;
	assert_int_equal(dp_site_copy(site(1), true), there);
	dp_fake_jump(site(0))->after = 1 << 2;
	site(1)->post = DETOUR + 5;
	assert_int_equal(dp_site_copy(site(1), true), DETOUR + 5);
	assert_int_equal(dp_site_copy(site(1), false), there);
	site(0)->armed = DP_SITE_OFF;
	assert_int_equal(dp_site_copy(site(1), false), site(1)->copy);
	site(0)->armed = DP_SITE_THERE;
	site(1)->copy = 0x6000100;
	assert_int_equal(dp_site_copy(site(1), false), 0x6000100);
}

static void behind_a_second_copy(void **state)
{
	make_site(0, AT, false);
	site(0)->post = DETOUR;
	site(0)->post_body = 3;
	dp_fake_index(DETOUR + 3, 0);
	assert_int_equal(trap(DETOUR + 3), DETOUR + 4);
	assert_null(hit_at);
	assert_int_equal(trap(DETOUR + 2), 0);
	assert_int_equal(ill(DETOUR + 3), 0);
}

/* What the kernel has written below the stack pointer is there, and its page with it; not
 * where it has written elsewhere. */
static void known_of_the_stack(void **state)
{
	static u64 stack[1024] __attribute__((aligned(4096)));
	u64 sp = (u64)&stack[512 - 32];
	struct dp_mcontext regs = { .rsp = sp, .fpstate = 77 };
	struct dp_trap trap = {
		.regs = &regs, .at = sp - 1024, .alt_sp = 3, .alt_size = 4
	};
	struct dp_hit hit;

	dp_hit_of_trap(&hit, &trap);
	assert_int_equal(hit.low, sp - DP_RED_ZONE);
	assert_int_equal(hit.high, (u64)&stack[512]);
	assert_ptr_equal(hit.mc, &regs);
	assert_ptr_equal(hit.trap, &trap);
	assert_int_equal(hit.sp, sp);
	assert_int_equal(hit.fpstate, 77);
	assert_int_equal(hit.alt_sp, 3);
	assert_int_equal(hit.alt_size, 4);
	assert_false(hit.signals);
	assert_true(dp_hit_knows(&hit, (u64)&stack[511]));
	assert_false(dp_hit_knows(&hit, (u64)&stack[511] + 1));
	assert_false(dp_hit_knows(&hit, sp - DP_RED_ZONE - 1));
	trap.at = sp - 16384;
	dp_hit_of_trap(&hit, &trap);
	assert_int_not_equal(hit.high, 0);
	trap.at--;
	dp_hit_of_trap(&hit, &trap);
	assert_int_equal(hit.high, 0);
	assert_int_equal(hit.low, 0);
	trap.at = sp + 8;
	dp_hit_of_trap(&hit, &trap);
	assert_int_equal(hit.high, 0);
	/* The red zone ends on the page before, and nothing was written there. */
	regs.rsp = (u64)&stack[512] + 16;
	trap.at = regs.rsp - 1024;
	dp_hit_of_trap(&hit, &trap);
	assert_int_equal(hit.high, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(middle_of_a_jump, begin),
		cmocka_unit_test_setup(boundaries, begin),
		cmocka_unit_test_setup(sites_of_one_place, begin),
		cmocka_unit_test_setup(sites_inside_a_jump, begin),
		cmocka_unit_test_setup(site_by_itself, begin),
		cmocka_unit_test_setup(sites_that_nobody_uses, begin),
		cmocka_unit_test_setup(jump_that_has_gone, begin),
		cmocka_unit_test_setup(jump_around_another, begin),
		cmocka_unit_test_setup(copy_in_the_detour_around, begin),
		cmocka_unit_test_setup(behind_a_second_copy, begin),
		cmocka_unit_test_setup(access_to_data, begin),
		cmocka_unit_test_setup(access_to_data_of_others, begin),
		cmocka_unit_test_setup(traps_of_steps, begin),
		cmocka_unit_test_setup(masks_of_steps, begin),
		cmocka_unit_test_setup(traps_of_registers, begin),
		cmocka_unit_test_setup(traps_of_own_registers, begin),
		cmocka_unit_test_setup(copies_of_accesses, begin),
		cmocka_unit_test_setup(known_of_the_stack, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
