// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hostile: what control makes of memory in which the probed process has written. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/ring.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "engine/site/view.h"
#include "engine/vm/ops.h"
#include "memory.h"

#define TEXT 0x10000000ull
#define BASE 0x70000000ull
#define ENTRY 0x20000000ull
#define LOGMAX 64
#define SITES 8
#define UPCALLS 4

/* push; lea rip; call; ret; nops */
static const u8 code[64] = { 0x55, 0x48, 0x8d, 0x05, 0x10, 0,
			     0,	   0,	 0xe8, 0x10, 0,	   0,
			     0,	   0xc3, 0x90, 0x90, 0x90, 0x90 };
enum { PUSH = 0, LEA = 1, CALL = 8, RET = 13 };

static u8 text[sizeof(code)];

static int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	memcpy(to, text + (addr - TEXT), len);
	return 0;
}

static int write_text(struct dp_target *t, u64 addr, const void *from,
		      size_t len)
{
	memcpy(text + (addr - TEXT), from, len);
	return 0;
}

static struct memory memory;

static void *build(struct dp_engine *e)
{
	static const struct dp_target_ops ops = { .read = read_text,
						  .write = write_text };
	static struct dp_target target = { &ops };
	struct dp_mapping map = {
		.base = BASE, .intercept_entry = ENTRY, .owner = 1, .tool = 2
	};
	void *file;
	u64 bad;

	memory_free(&memory);
	memory = (struct memory){
		.hole = { { TEXT + 0x100000, TEXT + 0x10000000, false } },
		.nr_holes = 1,
	};
	memcpy(text, code, sizeof(text));
	assert_int_equal(memory_build(&memory, e, &target, &map, &file), 0);
	assert_int_equal(dp_engine_commit(e, &target, &bad), 0);
	return file;
}

static u32 add(struct dp_engine *e, u32 offset)
{
	const char *why;
	u32 probe;

	assert_int_equal(dp_engine_add(e, TEXT + offset, code + offset,
				       sizeof(code) - offset, &probe, &why),
			 0);
	return probe;
}

static void bind(struct dp_engine *e, u32 probe)
{
	static const u8 bytecode[] = { DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "p",
					      .code = bytecode,
					      .code_len = sizeof(bytecode),
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 3,
					      .nr_gv = 2,
					      .jmpmax = 10,
					      .logmax = LOGMAX,
					      .stack = 32 };
	const struct dp_binding binding = { .start = 0 };
	const char *why;
	u32 program, offset;

	assert_int_equal(
		dp_engine_add_program(e, &spec, &program, &offset, &why), 0);
	dp_engine_bind(e, probe, &binding);
}

/* Two probes, one with a program. */
static struct dp_engine *with_program(void **file)
{
	struct dp_engine *e;

	assert_int_equal(dp_engine_create(&e), 0);
	bind(e, add(e, PUSH));
	add(e, LEA);
	*file = build(e);
	return e;
}

static struct dp_record_copy last;
static u32 taken;

static void take(void *arg, const struct dp_record_copy *r)
{
	last = *r;
	taken++;
}

static struct dp_ring *ring_at(struct dp_arena *a, u32 ring)
{
	return (void *)((char *)a + a->control.ring_off +
			(u64)ring * a->control.ring_stride);
}

static struct dp_slot *slot_in(struct dp_arena *a, u32 ring, u32 number)
{
	return (void *)((char *)(ring_at(a, ring) + 1) +
			(u64)(number & a->control.slot_mask) *
				a->control.slot_size);
}

static struct dp_slot *slot_at(struct dp_arena *a, u32 number)
{
	return slot_in(a, 0, number);
}

/* One record, the @number-th of the first ring. Return: was it taken? */
static u32 traces;

static bool reads(struct dp_engine *e, u32 number, u32 probe, u16 len)
{
	struct dp_arena *a = dp_engine_arena(e);
	struct dp_slot *s = slot_at(a, number);
	u32 before = taken;

	memset(&s->record, 0xa5, sizeof(s->record));
	s->record.probe = probe;
	s->record.len = len;
	s->record.traces = traces;
	s->turn = (number & ~a->control.slot_mask) + 1;
	assert_int_equal(dp_engine_records(e, take, NULL, false), 1);
	assert_int_equal(s->turn, (number & ~a->control.slot_mask) +
					  a->control.slot_mask + 1);
	if (taken == before)
		return false;
	assert_int_equal(last.head.probe, probe);
	assert_int_equal(last.head.len, len);
	return true;
}

static void reads_no_record_beyond_its_slot(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	u16 most = (u16)(dp_engine_arena(e)->control.slot_size -
			 sizeof(struct dp_slot));
	u32 n = 0;

	assert_true(most >= LOGMAX);
	assert_true(reads(e, n++, 0, 0));
	assert_true(reads(e, n++, 1, LOGMAX));
	assert_true(reads(e, n++, 1, most));
	assert_false(reads(e, n++, 1, (u16)(most + 1)));
	assert_false(reads(e, n++, 1, 0xffff));
	assert_false(reads(e, n++, 2, 0));
	assert_false(reads(e, n++, ~0u, 0));
	assert_int_equal(dp_engine_torn(e), 4);
	traces = LOGMAX;
	assert_true(reads(e, n++, 1, LOGMAX));
	traces++;
	assert_false(reads(e, n++, 1, LOGMAX));
	traces = ~0u;
	assert_false(reads(e, n++, 1, LOGMAX));
	assert_int_equal(dp_engine_torn(e), 6);
	traces = 0;
	dp_engine_destroy(e);
	free(file);
}

static void write_slot(struct dp_arena *a, u32 ring, u32 number)
{
	struct dp_slot *s = slot_in(a, ring, number);

	s->record.probe = s->record.len = 0;
	s->turn = (number & ~a->control.slot_mask) + 1;
}

/* A ring is stuck when the next record is not there, and a quarter of the ring is behind. */
static void finds_what_is_stuck(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	u64 quarter = a->control.slot_mask / 4;
	u32 n, ring;

	for (ring = 0; ring < 2; ring++) {
		for (n = 0; n < 3; n++) {
			write_slot(a, ring, n);
			ring_at(a, ring)->next = n + 1;
			taken = 0;
			assert_int_equal(
				dp_engine_records(e, take, NULL, false), 1);
			assert_int_equal(taken, 1);
		}
		assert_false(dp_engine_records_stuck(e));
		ring_at(a, ring)->next = n + quarter;
		assert_false(dp_engine_records_stuck(e));
		ring_at(a, ring)->next++;
		assert_true(dp_engine_records_stuck(e));
		write_slot(a, ring, n);
		assert_false(dp_engine_records_stuck(e));
		ring_at(a, ring)->next = n;
		slot_in(a, ring, n)->turn = 0;
	}
	dp_engine_destroy(e);
	free(file);
}

/* The places for records are not where the process says they are. */
static void reads_rings_where_they_were_made(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	struct dp_slot *s = slot_at(a, 0);

	s->turn = 1;
	s->record.probe = s->record.len = 0;
	a->control.ring_off = a->control.ring_stride = ~0u;
	a->control.slot_size = a->control.slot_mask = ~0u;
	a->control.shard_mask = ~0u;
	taken = 0;
	assert_int_equal(dp_engine_records(e, take, NULL, false), 1);
	assert_int_equal(taken, 1);
	/* Numbers without an end make no more of it than two rounds. */
	a->control.state_off = a->control.probe_off = ~0u;
	dp_engine_records_settled(e);
	assert_int_equal(dp_engine_records(e, take, NULL, true), 0);
	assert_int_equal(dp_engine_tally(e, 1, DP_TALLY_LOST), 0);
	assert_int_equal(dp_engine_tally(e, 2, DP_TALLY_LOST), 0);
	assert_int_equal(dp_engine_local(e, 0, 3), 0);
	assert_int_equal(dp_engine_local(e, 1, 0), 0);
	assert_int_equal(dp_engine_global(e, 2), 0);
	dp_engine_destroy(e);
	free(file);
}

/* A ring that says it is ahead by more than it has room for is not skipped through. */
static void skips_what_is_torn_and_no_more(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	struct dp_ring *ring = (void *)((char *)a + a->control.ring_off);
	u64 slots = (u64)a->control.slot_mask + 1;

	ring->next = ~0ull;
	dp_engine_records(e, take, NULL, true);
	assert_int_equal(dp_engine_torn(e), 0);
	ring->next = slots + 1;
	dp_engine_records(e, take, NULL, true);
	assert_int_equal(dp_engine_torn(e), 0);
	ring->next = slots;
	dp_engine_records(e, take, NULL, true);
	assert_int_equal(dp_engine_torn(e), slots);
	dp_engine_destroy(e);
	free(file);
}

/* --- one that is to be probed as it runs --- */

static struct dp_engine *own_process(void **file)
{
	struct dp_engine *e;

	assert_int_equal(dp_engine_create(&e), 0);
	dp_engine_attach_own(e, SITES);
	dp_engine_upcall(e, UPCALLS);
	*file = build(e);
	return e;
}

/* Of a copy, in which @put of 4 bytes has been written at @at, if that is not NULL.
 * Return: as dp_engine_adopt(); then what is asked is inside. */
static int adopts(const struct dp_arena *of, size_t at, const u32 *put,
		  size_t size)
{
	struct dp_live_setup setup = { .size = size, .max_sites = SITES };
	struct dp_arena *a = malloc(size);
	struct dp_engine *e;
	struct dp_upcalls *upcalls;
	u32 n, i;
	int err;

	memcpy(a, of, size);
	if (put)
		memcpy((char *)a + at, put, sizeof(*put));
	assert_int_equal(dp_engine_create(&e), 0);
	err = dp_engine_adopt(e, a, &setup);
	if (!err) {
		upcalls = dp_live_upcalls(e, &n);
		assert_int_equal(n, upcalls ? a->control.nr_upcalls : 0);
		for (i = 0; upcalls && i < n; i++)
			assert_in_range((u64)&upcalls->v[i + 1] - (u64)a, 1,
					size);
		for (i = 0; i < SITES; i++)
			dp_engine_tally(e, i, DP_TALLY_NR - 1);
		assert_false(dp_live_switch_off(e, SITES, 0));
		assert_false(dp_live_switch_off(e, ~0u, 0));
		assert_false(dp_live_switch_off(e, 0, BASE));
	}
	dp_engine_destroy(e);
	free(a);
	return err;
}

static void adopts_nothing_that_points_outside(void **state)
{
	static const u32 absurd[] = { 0, 1, 7, 0x7fffffff, ~0u };
	void *file;
	struct dp_engine *e = own_process(&file);
	const struct dp_arena *a = dp_engine_arena(e);
	size_t size = a->control.arena_size, refused = 0, at, i;
	size_t head = offsetof(struct dp_arena_control, pending);

	assert_int_equal(adopts(a, 0, NULL, size), 0);
	for (at = 0; at < head; at += sizeof(u32))
		for (i = 0; i < 5; i++)
			refused += adopts(a, at, &absurd[i], size) != 0;
	assert_true(refused > 40);
	dp_engine_destroy(e);
	free(file);
}

#define PUT(field, value)                                                  \
	({                                                                 \
		u32 put_ = (value);                                        \
		adopts(a, offsetof(struct dp_arena, control.field), &put_, \
		       size);                                              \
	})

/* The process writes after its arena has been checked. */
static void counts_at_no_site_outside(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	struct dp_probe_entry *probes =
		(void *)((char *)a + a->control.probe_off);
	struct dp_view view;

	assert_int_equal(dp_view_open(&view, a, a->control.arena_size), 0);
	view.states[1].tally[DP_TALLY_MIDDLE] = 3;
	assert_int_equal(dp_view_middle(&view, 1), 3);
	assert_int_equal(dp_view_middle(&view, 2), 0);
	probes[1].site = 2;
	assert_int_equal(dp_view_middle(&view, 1), 0);
	probes[1].site = ~0u;
	assert_int_equal(dp_view_middle(&view, 1), 0);
	/* Nor is it opened so. */
	assert_int_equal(dp_view_open(&view, a, a->control.arena_size),
			 -EBADMSG);
	probes[1].site = view.nr_sites;
	assert_int_equal(dp_view_open(&view, a, a->control.arena_size),
			 -EBADMSG);
	probes[1].site = view.nr_sites - 1;
	assert_int_equal(dp_view_open(&view, a, a->control.arena_size), 0);
	dp_engine_destroy(e);
	free(file);
}

/* To the byte: the last place that fits, and the first that does not. */
static void adopts_upcalls_that_fit(void **state)
{
	void *file;
	struct dp_engine *e = own_process(&file);
	const struct dp_arena *a = dp_engine_arena(e);
	u32 size = (u32)a->control.arena_size;
	u32 end = size - (u32)(sizeof(struct dp_upcalls) +
			       UPCALLS * sizeof(struct dp_upcall));

	assert_int_equal(PUT(upcall_off, end), 0);
	assert_int_equal(PUT(upcall_off, end + 8), -EBADMSG);
	assert_int_equal(PUT(upcall_off, end - 4), -EBADMSG);
	assert_int_equal(PUT(upcall_off, 0), -EBADMSG);
	assert_int_equal(PUT(upcall_off, sizeof(struct dp_arena) - 8),
			 -EBADMSG);
	assert_int_equal(PUT(upcall_off, ~0u), -EBADMSG);
	assert_int_equal(PUT(nr_upcalls, ~0u), -EBADMSG);
	assert_int_equal(PUT(nr_upcalls, 0), 0);
	assert_int_equal(PUT(own_process, 0), -EBADMSG);
	dp_engine_destroy(e);
	free(file);
}

/* Is an arena opened in which one word, or byte, is another? */
#define OPENS(field, value)                                       \
	({                                                        \
		typeof(a->control.field) was_ = a->control.field; \
		int err_;                                         \
		a->control.field = (value);                       \
		err_ = dp_view_open(&view, a, size);              \
		a->control.field = was_;                          \
		err_;                                             \
	})
#define OPENS_ENTRY(entry, field, value)                    \
	({                                                  \
		typeof((entry).field) was_ = (entry).field; \
		int err_;                                   \
		(entry).field = (value);                    \
		err_ = dp_view_open(&view, a, size);        \
		(entry).field = was_;                       \
		err_;                                       \
	})

#define MORE 65536

/* Each table may end with the arena, and begins behind its head, at a multiple of 8. */
static void opens_tables_that_fit(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	u32 was = (u32)dp_engine_arena(e)->control.arena_size,
	    size = was + MORE;
	struct dp_arena *a = calloc(1, size);
	const struct dp_arena_control *c = &a->control;
	struct dp_view view;

#define FITS(off, bytes)                                                \
	do {                                                            \
		assert_int_equal(OPENS(off, size - (u32)(bytes)), 0);   \
		assert_int_equal(OPENS(off, size - (u32)(bytes) + 8),   \
				 -EBADMSG);                             \
		assert_int_equal(OPENS(off, sizeof(*a) - 8), -EBADMSG); \
		assert_int_equal(OPENS(off, c->off + 4), -EBADMSG);     \
		assert_int_equal(OPENS(off, size + 8), -EBADMSG);       \
	} while (0)
	/* Entries that are all zeros make sense. */
	memcpy(a, dp_engine_arena(e), was);
	a->control.arena_size = size;
	FITS(state_off, c->nr_probes * sizeof(struct dp_probe_state));
	FITS(gv_off, c->nr_gv * sizeof(u64));
	FITS(context_off, c->nr_contexts * sizeof(struct dp_context));
	FITS(counter_off, 2ull * (c->shard_mask + 1) * c->shard_stride);
	FITS(site_off, c->nr_sites * sizeof(struct dp_site_entry));
	FITS(jump_off, c->nr_jumps * sizeof(struct dp_jump));
	FITS(probe_off, c->nr_probes * sizeof(struct dp_probe_entry));
	assert_int_equal(OPENS(arena_size, size + 1), -EBADMSG);
	assert_int_equal(OPENS(nr_jumps, 0), -EBADMSG);
	assert_int_equal(OPENS(magic, 0), -EBADMSG);
	assert_int_equal(OPENS(version, DP_LAYOUT_VERSION + 1), -EBADMSG);
	assert_int_equal(OPENS(head_size, sizeof(*a) + 8), -EBADMSG);
	assert_int_equal(OPENS(nr_pools, DP_MAX_POOLS), 0);
	assert_int_equal(OPENS(nr_pools, DP_MAX_POOLS + 1), -EBADMSG);
	assert_int_equal(OPENS(nr_patched, DP_MAX_PATCHED), 0);
	assert_int_equal(OPENS(nr_patched, DP_MAX_PATCHED + 1), -EBADMSG);
	assert_int_equal(OPENS(nr_caught, DP_CAUGHT), 0);
	assert_int_equal(OPENS(nr_caught, DP_CAUGHT + 1), -EBADMSG);
	dp_engine_destroy(e);
	free(file);
	free(a);
}

/* Shards are a power of two, have a counter for each probe, and do not overlap. */
static void opens_counters_that_fit(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	u32 size = (u32)a->control.arena_size;
	struct dp_view view;

	assert_int_equal(a->control.nr_probes, 2);
	assert_int_equal(OPENS(shard_stride, 16), 0);
	assert_int_equal(OPENS(shard_stride, 8), -EBADMSG);
	assert_int_equal(OPENS(shard_stride, 0), -EBADMSG);
	assert_int_equal(OPENS(shard_stride, 20), -EBADMSG);
	assert_int_equal(OPENS(shard_stride, ~7u), -EBADMSG);
	assert_int_equal(OPENS(shard_mask, 0), 0);
	assert_int_equal(OPENS(shard_mask, 2), -EBADMSG);
	assert_int_equal(OPENS(shard_mask, 3), 0);
	assert_int_equal(OPENS(shard_mask, 2 * DP_MAX_SHARDS - 1), -EBADMSG);
	assert_int_equal(OPENS(shard_mask, ~0u), -EBADMSG);
	dp_engine_destroy(e);
	free(file);
}

/* What a site, a jump or a program says of itself bounds what is read and written. */
static void opens_entries_that_make_sense(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	u32 size = (u32)a->control.arena_size;
	struct dp_program_entry *p;
	struct dp_site_entry *s;
	struct dp_view view;
	struct dp_jump *j;

	assert_int_equal(dp_view_open(&view, a, size), 0);
	s = &view.sites[view.nr_sites - 1];
	j = (void *)&view.jumps[view.nr_jumps - 1];
	p = (void *)&view.programs[0];
	assert_int_equal(OPENS_ENTRY(*s, first_probe, 2), 0);
	assert_int_equal(OPENS_ENTRY(*s, first_probe, 3), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, mode, DP_MODE_JUMP + 1), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, patch_len, 0), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, patch_len, 2), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, single_body, s->single_len), 0);
	assert_int_equal(OPENS_ENTRY(*s, single_body, s->single_len + 1),
			 -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, post_body, s->post_len), 0);
	assert_int_equal(OPENS_ENTRY(*s, post_body, s->post_len + 1), -EBADMSG);
	s->mode = DP_MODE_JUMP;
	assert_int_equal(OPENS_ENTRY(*s, patch_len, DP_JUMP_SIZE), 0);
	assert_int_equal(OPENS_ENTRY(*s, patch_len, 0), 0);
	assert_int_equal(OPENS_ENTRY(*s, patch_len, 1), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*s, patch_len, DP_JUMP_SIZE + 1),
			 -EBADMSG);
	/* One that is no site, or not yet, is not looked at. */
	s->addr = 0;
	assert_int_equal(OPENS_ENTRY(*s, patch_len, 1), 0);
	assert_int_equal(OPENS_ENTRY(*j, nr, DP_JUMP_INSNS), 0);
	assert_int_equal(OPENS_ENTRY(*j, nr, DP_JUMP_INSNS + 1), -EBADMSG);
	j->nr = 1;
	assert_int_equal(OPENS_ENTRY(*j, site, view.nr_sites - 1), 0);
	assert_int_equal(OPENS_ENTRY(*j, site, view.nr_sites), -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*p, lv_off, size - 3 * sizeof(u64)), 0);
	assert_int_equal(OPENS_ENTRY(*p, lv_off, size - 2 * sizeof(u64)),
			 -EBADMSG);
	assert_int_equal(OPENS_ENTRY(*p, name[DP_PROGRAM_NAME - 2], 'x'), 0);
	assert_int_equal(OPENS_ENTRY(*p, name[DP_PROGRAM_NAME - 1], 'x'),
			 -EBADMSG);
	dp_engine_destroy(e);
	free(file);
}

/* The tables have room for all that may come, each by itself. */
static void adopts_tables_with_room(void **state)
{
	void *file;
	struct dp_engine *e = own_process(&file);
	const struct dp_arena *a = dp_engine_arena(e);
	u32 size = (u32)a->control.arena_size;
	u32 sites = size - SITES * (u32)sizeof(struct dp_site_entry);
	u32 probes = size - SITES * (u32)sizeof(struct dp_probe_entry);
	u32 states = size - SITES * (u32)sizeof(struct dp_probe_state);
	u32 jumps = size - a->control.max_jumps * (u32)sizeof(struct dp_jump);

	assert_int_equal(PUT(site_off, sites & ~7u), 0);
	assert_int_equal(PUT(site_off, (sites & ~7u) + 8), -EBADMSG);
	assert_int_equal(PUT(probe_off, probes & ~7u), 0);
	assert_int_equal(PUT(probe_off, (probes & ~7u) + 8), -EBADMSG);
	assert_int_equal(PUT(state_off, states & ~7u), 0);
	assert_int_equal(PUT(state_off, (states & ~7u) + 8), -EBADMSG);
	assert_int_equal(PUT(jump_off, jumps & ~7u), 0);
	assert_int_equal(PUT(jump_off, (jumps & ~7u) + 8), -EBADMSG);
	dp_engine_destroy(e);
	free(file);
}

static void finds_no_site_of_a_probe_that_lies(void **state)
{
	void *file;
	struct dp_engine *e = with_program(&file);
	struct dp_arena *a = dp_engine_arena(e);
	struct dp_probe_entry *p = (void *)((char *)a + a->control.probe_off);
	struct dp_view view;

	assert_int_equal(dp_view_open(&view, a, a->control.arena_size), 0);
	assert_non_null(dp_view_site_of(&view, 0));
	assert_non_null(dp_view_site_of(&view, 1));
	assert_null(dp_view_site_of(&view, 2));
	p[0].site = 1;
	assert_ptr_equal(dp_view_site_of(&view, 0), &view.sites[1]);
	p[0].site = 2;
	assert_null(dp_view_site_of(&view, 0));
	assert_false(dp_engine_is_gone(e, 0));
	p[0].site = ~0u;
	assert_null(dp_view_site_of(&view, 0));
	assert_false(dp_engine_is_gone(e, 0));
	dp_engine_destroy(e);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_no_record_beyond_its_slot),
		cmocka_unit_test(finds_what_is_stuck),
		cmocka_unit_test(reads_rings_where_they_were_made),
		cmocka_unit_test(skips_what_is_torn_and_no_more),
		cmocka_unit_test(adopts_nothing_that_points_outside),
		cmocka_unit_test(counts_at_no_site_outside),
		cmocka_unit_test(adopts_upcalls_that_fit),
		cmocka_unit_test(adopts_tables_with_room),
		cmocka_unit_test(opens_tables_that_fit),
		cmocka_unit_test(opens_counters_that_fit),
		cmocka_unit_test(opens_entries_that_make_sense),
		cmocka_unit_test(finds_no_site_of_a_probe_that_lies),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
