// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * values: programs that the kernel runs at the hits of watchpoints, and their ring.
 *
 * At a hit the thread has trapped, and the program runs before it goes on. It reads what is
 * there now, swaps that for what was there at the hit before, and puts both into a ring (a
 * BPF_MAP_TYPE_RINGBUF), from which the tool takes them without a system call:
 *
 *     hit ─► read user memory ─► swap in last[watch] ─► condition ─► held[watch] + 1
 *                                                          ┌─────────────┘
 *                                                          └─► record ─► ring ─► the tool
 *                                                                 └── no room: lost[watch] + 1
 *
 * last, lost and held are in an array of one element that the tool has mapped.
 *
 * The bytecode is written here, so that nothing has to be compiled or installed for it.
 */
#include "proc/inspect.h"
#include "resolve/points.h"
#include "tracer/watchpoint/code.h"
#include <asm/ptrace.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_BYTES (4ull << 20)
#define RING_LEAST (64ull << 10)
#define RING_MOST (64ull << 20)

/* What programs and the tool share */
struct shared {
	u64 last[DP_WATCHPOINTS];
	u64 lost[DP_WATCHPOINTS];
	u64 held[DP_WATCHPOINTS];
};

struct dp_watch_values {
	int array, ring;
	int programs[DP_WATCHPOINTS];
	size_t n, page;
	bool logs;
	struct shared *shared;
	u64 bytes; /* of the ring */
	volatile u64 *consumer; /* a page that the tool writes */
	u8 *producer; /* a page that the kernel writes, and the data behind it, twice */
};

static long bpf(int cmd, union bpf_attr *attr)
{
	long ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

void dp_watch_put(struct dp_watch_code *c, u8 op, u8 dst, u8 src, int off,
		  int imm)
{
	if (c->n == DP_WATCH_CODE) {
		c->full = true;
		return;
	}
	c->v[c->n++] = (struct bpf_insn){ .code = op,
					  .dst_reg = dst,
					  .src_reg = src,
					  .off = (__s16)off,
					  .imm = imm };
}

static void put_zero(struct dp_watch_code *c, u8 size, int off)
{
	dp_watch_put(c, BPF_ST | BPF_MEM | size, BPF_REG_10, 0, off, 0);
}

/* Read the value, and swap it for the one before. */
static void put_values(struct dp_watch_code *c, const struct dp_watch_values *v,
		       const struct dp_watchpoint *w, u32 watch)
{
	u32 jump;

	if (w->access == DP_WATCH_EXECUTE)
		return;
	dp_watch_address(c, BPF_REG_1, DP_WATCH_AT(now));
	dp_watch_number(c, BPF_REG_2, w->len);
	dp_watch_wide(c, BPF_REG_3, 0, w->addr, 0);
	dp_watch_call(c, BPF_FUNC_probe_read_user);
	jump = c->n;
	dp_watch_put(c, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 0, 0);
	dp_watch_wide(
		c, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, (u32)v->array,
		(u32)(offsetof(struct shared, last) + watch * sizeof(u64)));
	dp_watch_load(c, BPF_DW, BPF_REG_8, BPF_REG_10, DP_WATCH_AT(now));
	dp_watch_put(c, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_8, 0,
		     BPF_XCHG);
	dp_watch_store(c, BPF_DW, DP_WATCH_AT(before), BPF_REG_8);
	dp_watch_put(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0,
		     DP_WATCH_AT(known), 1);
	dp_watch_here(c, jump);
}

/* The thread's id as its process knows it: by the id namespace of the process */
static void put_thread(struct dp_watch_code *c, const struct stat *ns)
{
	dp_watch_wide(c, BPF_REG_1, 0, ns->st_dev, 0);
	dp_watch_wide(c, BPF_REG_2, 0, ns->st_ino, 0);
	dp_watch_address(c, BPF_REG_3, DP_WATCH_IDS);
	dp_watch_number(c, BPF_REG_4, 8);
	dp_watch_call(c, BPF_FUNC_get_ns_current_pid_tgid);
	dp_watch_load(c, BPF_W, BPF_REG_1, BPF_REG_10, DP_WATCH_IDS);
	dp_watch_store(c, BPF_W, DP_WATCH_AT(tid), BPF_REG_1);
	dp_watch_call(c, BPF_FUNC_get_smp_processor_id);
	dp_watch_store(c, BPF_W, DP_WATCH_AT(cpu), BPF_REG_0);
}

/* shared.MEMBER[watch] += 1 */
static void put_count(struct dp_watch_code *c, const struct dp_watch_values *v,
		      size_t member, u32 watch)
{
	dp_watch_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, (u32)v->array,
		      (u32)(member + watch * sizeof(u64)));
	dp_watch_number(c, BPF_REG_2, 1);
	dp_watch_put(c, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_1, BPF_REG_2, 0,
		     BPF_ADD);
}

static void put_record(struct dp_watch_code *c, const struct dp_watch_values *v,
		       u32 watch)
{
	u32 jump;

	dp_watch_call(c, BPF_FUNC_ktime_get_ns);
	dp_watch_store(c, BPF_DW, DP_WATCH_AT(ticks), BPF_REG_0);
	dp_watch_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (u32)v->ring, 0);
	dp_watch_address(c, BPF_REG_2, DP_WATCH_RECORD);
	dp_watch_number(c, BPF_REG_3, sizeof(struct dp_watch_record));
	dp_watch_number(c, BPF_REG_4, BPF_RB_NO_WAKEUP);
	dp_watch_call(c, BPF_FUNC_ringbuf_output);
	jump = c->n;
	dp_watch_put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	put_count(c, v, offsetof(struct shared, lost), watch);
	dp_watch_here(c, jump);
}

static void put_facts(struct dp_watch_code *c, const struct dp_watch_values *v,
		      const struct dp_watchpoint *w, u32 watch,
		      const struct stat *ns)
{
	int off;

	dp_watch_move(c, BPF_REG_6, BPF_REG_1);
	for (off = DP_WATCH_IDS; off < 0; off += 8)
		put_zero(c, BPF_DW, off);
	put_values(c, v, w, watch);
	dp_watch_load(c, BPF_DW, BPF_REG_1, BPF_REG_6,
		      offsetof(struct bpf_perf_event_data, regs) +
			      offsetof(struct pt_regs, rip));
	dp_watch_store(c, BPF_DW, DP_WATCH_AT(pc), BPF_REG_1);
	dp_watch_number(c, BPF_REG_1, (int)watch);
	dp_watch_store(c, BPF_W, DP_WATCH_AT(watch), BPF_REG_1);
	put_thread(c, ns);
}

/* A hit whose value could not be read has no condition that fails. An execution has no value. */
static int put_condition(struct dp_watch_code *c, const struct dp_watchpoint *w,
			 u32 *jump)
{
	u32 unknown;
	int err;

	dp_watch_load(c, BPF_W, BPF_REG_0, BPF_REG_10, DP_WATCH_AT(known));
	unknown = c->n;
	dp_watch_put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	if (w->access == DP_WATCH_EXECUTE)
		dp_watch_here(c, unknown);
	err = dp_watch_condition(c, w->spec, w->len, NULL);
	*jump = c->n;
	dp_watch_put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	if (w->access != DP_WATCH_EXECUTE)
		dp_watch_here(c, unknown);
	return err;
}

static int write_code(struct dp_watch_code *c, const struct dp_watch_values *v,
		      const struct dp_watchpoint *w, u32 watch,
		      const struct stat *ns)
{
	u32 jump = 0;
	int err = 0;

	put_facts(c, v, w, watch, ns);
	if (w->spec->cond)
		err = put_condition(c, w, &jump);
	put_count(c, v, offsetof(struct shared, held), watch);
	if (v->logs)
		put_record(c, v, watch);
	if (w->spec->cond)
		dp_watch_here(c, jump);
	dp_watch_number(c, BPF_REG_0, 0);
	dp_watch_put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return c->full ? -E2BIG : err;
}

static int load(const struct dp_watch_code *c)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insn_cnt = c->n,
		.insns = (u64)c->v,
		.license = (u64) "Dual BSD/GPL",
	};

	strcpy(attr.prog_name, "dprobes_watch");
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

static int make_array(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(u32),
		.value_size = sizeof(struct shared),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};

	return (int)bpf(BPF_MAP_CREATE, &attr);
}

static int make_ring(u64 bytes)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_RINGBUF,
		.max_entries = (u32)bytes,
	};

	return (int)bpf(BPF_MAP_CREATE, &attr);
}

/* A power of two */
static u64 ring_bytes(u64 wanted)
{
	u64 bytes = RING_LEAST;

	wanted = wanted ? wanted : RING_BYTES;
	while (bytes < wanted && bytes < RING_MOST)
		bytes *= 2;
	return bytes;
}

static void *map(int fd, int prot, size_t offset, size_t size)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

static int make_maps(struct dp_watch_values *v)
{
	v->array = make_array();
	if (v->array < 0)
		return v->array;
	v->ring = make_ring(v->bytes);
	if (v->ring < 0)
		return v->ring;
	v->shared = map(v->array, PROT_READ | PROT_WRITE, 0, v->page);
	v->consumer = map(v->ring, PROT_READ | PROT_WRITE, 0, v->page);
	v->producer = map(v->ring, PROT_READ, v->page, v->page + 2 * v->bytes);
	return v->shared && v->consumer && v->producer ? 0 : -ENOMEM;
}

static int make_program(const struct dp_watch_values *v,
			const struct dp_watchpoint *w, u32 watch,
			const struct stat *ns)
{
	struct dp_watch_code *code = calloc(1, sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	err = write_code(code, v, w, watch, ns) ?: load(code);
	free(code);
	return err;
}

static int make_programs(struct dp_watch_values *v, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n)
{
	struct stat ns;
	u32 i;

	if (stat(dp_path("/proc/%d/ns/pid", pid).s, &ns))
		return -errno;
	for (i = 0; i < n; i++) {
		v->programs[i] = make_program(v, &watches[i], i, &ns);
		if (v->programs[i] < 0)
			return v->programs[i];
		v->n++;
	}
	return 0;
}

static int cannot(int err, struct dp_diag *diag)
{
	if (err == -EPERM || err == -EACCES)
		return dp_diag_set(
			diag, -EPERM,
			"to read values at a hit takes a program in the kernel, and the right to load it: give dprobes CAP_BPF and CAP_PERFMON (sudo); dprobes stat without a condition counts without, and a program of dprobes run (watch = w) has values without");
	if (err == -ENOMEM)
		return dp_diag_set(diag, err, "out of memory");
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"this kernel takes no program that reads values at a hit (%s; Linux 5.13 does); dprobes stat without a condition counts without",
		strerror(-err));
}

int dp_watch_values_open(struct dp_watch_values **values, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 bool logs, u64 bytes, struct dp_diag *diag)
{
	struct dp_watch_values *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	v->array = v->ring = -1;
	v->logs = logs;
	v->page = (size_t)sysconf(_SC_PAGESIZE);
	v->bytes = ring_bytes(bytes);
	err = make_maps(v);
	if (!err)
		err = make_programs(v, pid, watches, n);
	if (err) {
		dp_watch_values_close(v);
		return cannot(err, diag);
	}
	*values = v;
	return 0;
}

const int *dp_watch_values_programs(const struct dp_watch_values *v)
{
	return v->programs;
}

void dp_watch_values_begin(struct dp_watch_values *v, u32 watch, u64 now)
{
	v->shared->last[watch] = now;
}

u64 dp_watch_values_lost(const struct dp_watch_values *v, u32 watch)
{
	return __atomic_load_n(&v->shared->lost[watch], __ATOMIC_RELAXED);
}

u64 dp_watch_values_held(const struct dp_watch_values *v, u32 watch)
{
	return __atomic_load_n(&v->shared->held[watch], __ATOMIC_RELAXED);
}

size_t dp_watch_values_read(struct dp_watch_values *v,
			    void (*take)(void *arg,
					 const struct dp_watch_record *record),
			    void *arg)
{
	struct dp_watch_record record;
	const u8 *data = v->producer + v->page;
	u64 end = __atomic_load_n((u64 *)v->producer, __ATOMIC_ACQUIRE);
	u64 at = *v->consumer;
	size_t n = 0;
	u32 len;

	while (at < end) {
		const u8 *from = data + (at & (v->bytes - 1));

		len = __atomic_load_n((const u32 *)from, __ATOMIC_ACQUIRE);
		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		memcpy(&record, from + BPF_RINGBUF_HDR_SZ, sizeof(record));
		at += BPF_RINGBUF_HDR_SZ + sizeof(record);
		__atomic_store_n(v->consumer, at, __ATOMIC_RELEASE);
		take(arg, &record);
		n++;
	}
	return n;
}

void dp_watch_values_close(struct dp_watch_values *v)
{
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->n; i++)
		close(v->programs[i]);
	if (v->shared)
		munmap(v->shared, v->page);
	if (v->consumer)
		munmap((void *)v->consumer, v->page);
	if (v->producer)
		munmap(v->producer, v->page + 2 * v->bytes);
	if (v->array >= 0)
		close(v->array);
	if (v->ring >= 0)
		close(v->ring);
	free(v);
}
