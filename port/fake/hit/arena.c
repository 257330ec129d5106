// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arena: the arena that control would have prepared for the hit half. */
#include "port/fake/hit/kernel.h"
#include "engine/hit/hit.h"
#include <assert.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/vm/vm.h"
#include "port/user/signals/trap.h"

#define ARENA (1u << 21)
#define INDEX_SLOTS 256u
#define SLOT_BYTES 1024u
#define COPIES 0x6000000ull
#define COPY_BYTES 64

struct dp_wipe dp_wipe;
u64 dp_table[DP_TABLE_WORDS];
struct dp_private dp_private;
__asm__(".pushsection .bss\n"
	".balign 4096\n"
	".globl dp_arena\n"
	".hidden dp_arena\n"
	"dp_arena: .skip 2097152\n"
	".popsection\n");

extern const s32 dp_call_sequences[12] __attribute__((visibility("hidden")));

static u32 used;
static u64 taken[DP_FAKE_CPUS]; /* records */

u32 dp_fake_room(u32 size)
{
	u32 at = used;

	used += (size + 63) & ~63u;
	assert(used <= ARENA);
	return at;
}

static void lay_out(struct dp_arena_control *c)
{
	c->site_off =
		dp_fake_room(DP_FAKE_SITES * sizeof(struct dp_site_entry));
	c->jump_off =
		dp_fake_room((DP_FAKE_SITES + 1) * sizeof(struct dp_jump));
	c->nr_jumps = DP_FAKE_SITES + 1;
	c->probe_off =
		dp_fake_room(DP_FAKE_PROBES * sizeof(struct dp_probe_entry));
	c->state_off =
		dp_fake_room(DP_FAKE_PROBES * sizeof(struct dp_probe_state));
	c->hash_off = dp_fake_room(INDEX_SLOTS * sizeof(u32));
	c->hash_mask = INDEX_SLOTS - 1;
	c->shard_stride = (DP_FAKE_SITES + DP_FAKE_PROBES) * sizeof(u64);
	c->probe_counters = DP_FAKE_SITES;
	c->shard_mask = DP_FAKE_CPUS - 1;
	c->counter_off = dp_fake_room(2 * DP_FAKE_CPUS * c->shard_stride);
	c->program_off =
		dp_fake_room(DP_FAKE_PROBES * sizeof(struct dp_program_entry));
	c->nr_contexts = DP_FAKE_CONTEXTS;
	c->context_off =
		dp_fake_room(DP_FAKE_CONTEXTS * sizeof(struct dp_context));
	c->slot_size = SLOT_BYTES;
	c->slot_mask = DP_FAKE_SLOTS - 1;
	c->ring_stride = sizeof(struct dp_ring) + DP_FAKE_SLOTS * SLOT_BYTES;
	c->ring_off = dp_fake_room(DP_FAKE_CPUS * c->ring_stride);
}

void dp_fake_begin(u32 caught)
{
	memset(dp_at(0), 0, ARENA);
	memset(&dp_private, 0, sizeof(dp_private));
	memset(dp_table, 0, sizeof(dp_table));
	used = sizeof(struct dp_arena);
	memset(taken, 0, sizeof(taken));
	/* dp_trap_entry is the last byte of the text: dp_trap_inside() needs no other. */
	dp_arena.control.base = (u64)dp_trap_entry + 1 - DP_AGENT_TEXT;
	dp_arena.control.owner = dp_wipe.owner = DP_FAKE_PID;
	dp_arena.control.nr_caught = caught;
	dp_private.in_force = 1;
	lay_out(&dp_arena.control);
	dp_kernel_begin(caught);
}

void dp_fake_index(u64 addr, u32 site)
{
	u32 *slots = dp_at(dp_arena.control.hash_off);
	u32 i = dp_site_hash(addr) & dp_arena.control.hash_mask;

	while (slots[i])
		i = (i + 1) & dp_arena.control.hash_mask;
	slots[i] = site + 1;
}

u64 dp_fake_copy(u32 i)
{
	return COPIES + (u64)i * COPY_BYTES;
}

struct dp_site_entry *dp_fake_site(u32 i, u64 addr)
{
	struct dp_site_entry *s = (struct dp_site_entry *)dp_site_at(i);

	*s = (struct dp_site_entry){ .addr = addr,
				     .mode = DP_MODE_TRAP,
				     .armed = DP_SITE_THERE,
				     .wanted = DP_WANT_PLAN,
				     .insn_len = 1,
				     .patch = { 0xcc },
				     .patch_len = 1,
				     .copy = dp_fake_copy(i),
				     .single = dp_fake_copy(i) };
	memset(s->orig, 0x90, sizeof(s->orig));
	if (dp_arena.control.nr_sites <= i)
		dp_arena.control.nr_sites = i + 1;
	dp_fake_index(addr, i);
	return s;
}

struct dp_jump *dp_fake_jump(struct dp_site_entry *s)
{
	struct dp_jump *jumps = dp_at(dp_arena.control.jump_off);

	s->jump = dp_site_index(s) + 1;
	jumps[s->jump].site = dp_site_index(s);
	return &jumps[s->jump];
}

struct dp_probe_entry *dp_fake_probe(u32 i, u32 site, u8 kind)
{
	struct dp_probe_entry *p = (struct dp_probe_entry *)dp_probe(i);
	struct dp_site_entry *s = (struct dp_site_entry *)dp_site_at(site);
	u32 *last = &s->first_probe;

	while (*last)
		last = (u32 *)&dp_probe(*last - 1)->next;
	*last = i + 1;
	*p = (struct dp_probe_entry){ .site = site,
				      .enabled = 1,
				      .kind = kind,
				      .maxhits = DP_HITS_UNLIMITED - 1,
				      .group = DP_NO_GROUP };
	if (dp_arena.control.nr_probes <= i)
		dp_arena.control.nr_probes = i + 1;
	s->counts |= dp_kind_is_handler(kind) || kind == DP_KIND_PLAIN;
	s->runs |= !dp_kind_is_handler(kind);
	return p;
}

void dp_fake_program(u32 probe, const u8 *code, u32 len)
{
	struct dp_program_entry *programs = dp_at(dp_arena.control.program_off);
	struct dp_program_entry *p = &programs[probe];

	p->code_off = dp_fake_room(len);
	p->code_len = len;
	memcpy(dp_at(p->code_off), code, len);
	p->lv_off = dp_fake_room(8);
	p->jmpmax = 100;
	p->logmax = 64;
	p->stack_mask = DP_VM_STACK - 1;
	((struct dp_probe_entry *)dp_probe(probe))->program = probe + 1;
}

void dp_fake_instances(u32 lines, u32 staged)
{
	struct dp_arena_control *c = &dp_arena.control;
	struct dp_instance_table *t =
		&c->instance_tables[c->nr_instance_tables];

	c->instance_stride = sizeof(struct dp_exit_instance) + staged;
	t->line_mask = lines - 1;
	t->lines = (u64)dp_at(
		dp_fake_room(lines * sizeof(struct dp_instance_line)));
	t->instances = (u64)dp_at(
		dp_fake_room(lines * DP_INSTANCE_WAYS * c->instance_stride));
	c->nr_instance_tables++;
}

/* As agent/image.h has it of the agent */
static void describe(u64 *descriptor, const s32 *at)
{
	u64 from = (u64)dp_call_sequences;

	descriptor[1] = from + (u64)(s64)at[0];
	descriptor[2] = (u64)(s64)(at[1] - at[0]);
	descriptor[3] = from + (u64)(s64)at[2];
}

void dp_fake_blocks(u32 n)
{
	struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	c->block_mask = n - 1;
	c->instance_words = c->instance_stride / (u32)sizeof(u64);
	c->block_off = dp_fake_room(n * sizeof(struct dp_block));
	c->blocks_off = dp_fake_room(n * DP_BLOCK_WORDS * c->instance_stride);
	c->call_off =
		dp_fake_room(2 * DP_FAKE_SITES * sizeof(struct dp_call_entry));
	c->blocks = (u64)dp_at(c->block_off);
	c->calls = (u64)dp_at(c->call_off);
	c->timed_calls =
		c->calls + DP_FAKE_SITES * sizeof(struct dp_call_entry);
	c->block_bits = c->block_mask * sizeof(struct dp_block);
	c->rseq_offset = (s32)__rseq_offset;
	for (i = 0; i < DP_CALL_SEQUENCES; i++)
		describe(c->call_sequences[i], dp_call_sequences + 3 * i);
	for (i = 0; i < DP_TABLE_WORDS - 1; i++)
		dp_table[i] = (u64)dp_at(c->counter_off +
					 (i & c->shard_mask) * c->shard_stride);
}

/* Where libc keeps a thread's id */
static u32 tid_offset(void)
{
	const u32 *from = __builtin_thread_pointer();
	const u32 tid = (u32)syscall(SYS_gettid);
	u32 i = 4;

	while (from[i] != tid)
		i++;
	return i * (u32)sizeof(u32);
}

void dp_fake_streams(u32 bytes)
{
	struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	c->tid_offset = tid_offset();
	c->rseq_signature = DP_STREAM_SIGNATURE;
	c->rseq_offset = (s32)__rseq_offset;
	c->stream_mask = bytes - 1;
	c->stream_stride =
		(u32)sizeof(struct dp_stream) + bytes + DP_STREAM_MARGIN;
	c->stream_off = dp_fake_room(DP_FAKE_CPUS * c->stream_stride);
	c->streams = (u64)dp_at(c->stream_off);
	for (i = 0; i < DP_FAKE_CPUS; i++)
		((struct dp_stream *)dp_at(c->stream_off +
					   i * c->stream_stride))
			->limit = bytes - DP_STREAM_MOST;
}

u64 dp_fake_count(u32 site)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 sum = 0;
	u32 shard;

	for (shard = 0; shard < 2 * DP_FAKE_CPUS; shard++) {
		const u64 *hits =
			dp_at(c->counter_off + shard * c->shard_stride);

		sum += hits[site];
	}
	return sum;
}

u64 dp_fake_count_calls(u32 probe)
{
	return dp_fake_count(dp_arena.control.probe_counters + probe);
}

u64 dp_fake_tally(u32 probe, enum dp_tally what)
{
	return dp_probe_state(probe)->tally[what];
}

static const struct dp_record *take_record(u32 cpu)
{
	const struct dp_arena_control *c = &dp_arena.control;
	char *slots = (char *)dp_at(c->ring_off + cpu * c->ring_stride) +
		      sizeof(struct dp_ring);
	u64 n = taken[cpu], round = n & ~(u64)c->slot_mask;
	struct dp_slot *slot =
		(void *)(slots + (n & c->slot_mask) * SLOT_BYTES);

	if (slot->turn != round + 1)
		return NULL;
	slot->turn = round + DP_FAKE_SLOTS;
	taken[cpu]++;
	return &slot->record;
}

const struct dp_record *dp_fake_record(void)
{
	const struct dp_record *r = NULL;
	u32 cpu;

	for (cpu = 0; cpu < DP_FAKE_CPUS && !r; cpu++)
		r = take_record(cpu);
	return r;
}
