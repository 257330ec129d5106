// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * values: programs that the kernel runs at the hits of watchpoints, and their ring.
 *
 * At a hit the thread has trapped, and the program runs before it goes on. It reads what is
 * there now, swaps that for what was there at the hit before, and puts both into a ring (a
 * BPF_MAP_TYPE_RINGBUF), from which the tool takes them without a system call:
 *
 *     hit ─► read user memory ─► swap in last[watch] ─► record ─► ring ─► dp_watch_values_read()
 *                                     │                    └── no room: lost[watch] + 1
 *                                     └── an array of one element that the tool has mapped
 *
 * The bytecode is written here, so that nothing has to be compiled or installed for it.
 */
#include "proc/inspect.h"
#include "tracer/watchpoint/watchpoint.h"
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
#define CODE_MAX 80

/* What programs and the tool share */
struct shared {
	u64 last[DP_WATCHPOINTS];
	u64 lost[DP_WATCHPOINTS];
};

struct dp_watch_values {
	int array, ring;
	int programs[DP_WATCHPOINTS];
	size_t n, page;
	struct shared *shared;
	u64 bytes; /* of the ring */
	volatile u64 *consumer; /* a page that the tool writes */
	u8 *producer; /* a page that the kernel writes, and the data behind it, twice */
};

struct code {
	struct bpf_insn v[CODE_MAX];
	u32 n;
};

/* Where the program has things, below its frame pointer */
#define RECORD (-(int)sizeof(struct dp_watch_record))
#define NS_INFO (RECORD - 8)
#define AT(member) (RECORD + (int)offsetof(struct dp_watch_record, member))

static long bpf(int cmd, union bpf_attr *attr)
{
	long ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

static void put(struct code *c, u8 op, u8 dst, u8 src, int off, s32 imm)
{
	c->v[c->n++] = (struct bpf_insn){ .code = op,
					  .dst_reg = dst,
					  .src_reg = src,
					  .off = (__s16)off,
					  .imm = imm };
}

static void put_move(struct code *c, u8 dst, u8 src)
{
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void put_number(struct code *c, u8 dst, s32 number)
{
	put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, number);
}

static void put_wide(struct code *c, u8 dst, u8 kind, u64 number, u32 more)
{
	put(c, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (s32)number);
	put(c, 0, 0, 0, 0, kind ? (s32)more : (s32)(number >> 32));
}

static void put_load(struct code *c, u8 size, u8 dst, u8 src, int off)
{
	put(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

static void put_store(struct code *c, u8 size, int off, u8 src)
{
	put(c, BPF_STX | BPF_MEM | size, BPF_REG_10, src, off, 0);
}

static void put_zero(struct code *c, u8 size, int off)
{
	put(c, BPF_ST | BPF_MEM | size, BPF_REG_10, 0, off, 0);
}

/* dst = fp + off */
static void put_address(struct code *c, u8 dst, int off)
{
	put_move(c, dst, BPF_REG_10);
	put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, off);
}

static void put_call(struct code *c, s32 function)
{
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* Read the value, and swap it for the one before. */
static void put_values(struct code *c, const struct dp_watch_values *v,
		       const struct dp_watchpoint *w, u32 watch)
{
	u32 jump;

	if (w->access == DP_WATCH_EXECUTE)
		return;
	put_address(c, BPF_REG_1, AT(now));
	put_number(c, BPF_REG_2, w->len);
	put_wide(c, BPF_REG_3, 0, w->addr, 0);
	put_call(c, BPF_FUNC_probe_read_user);
	jump = c->n;
	put(c, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 0, 0);
	put_wide(c, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, (u32)v->array,
		 (u32)(offsetof(struct shared, last) + watch * sizeof(u64)));
	put_load(c, BPF_DW, BPF_REG_8, BPF_REG_10, AT(now));
	put(c, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_8, 0,
	    BPF_XCHG);
	put_store(c, BPF_DW, AT(before), BPF_REG_8);
	put(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, AT(known), 1);
	c->v[jump].off = (__s16)(c->n - jump - 1);
}

/* The thread's id as its process knows it: by the id namespace of the process */
static void put_thread(struct code *c, const struct stat *ns)
{
	put_wide(c, BPF_REG_1, 0, ns->st_dev, 0);
	put_wide(c, BPF_REG_2, 0, ns->st_ino, 0);
	put_address(c, BPF_REG_3, NS_INFO);
	put_number(c, BPF_REG_4, 8);
	put_call(c, BPF_FUNC_get_ns_current_pid_tgid);
	put_load(c, BPF_W, BPF_REG_1, BPF_REG_10, NS_INFO);
	put_store(c, BPF_W, AT(tid), BPF_REG_1);
	put_call(c, BPF_FUNC_get_smp_processor_id);
	put_store(c, BPF_W, AT(cpu), BPF_REG_0);
}

static void put_record(struct code *c, const struct dp_watch_values *v,
		       u32 watch)
{
	put_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (u32)v->ring, 0);
	put_address(c, BPF_REG_2, RECORD);
	put_number(c, BPF_REG_3, sizeof(struct dp_watch_record));
	put_number(c, BPF_REG_4, BPF_RB_NO_WAKEUP);
	put_call(c, BPF_FUNC_ringbuf_output);
	put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0);
	put_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, (u32)v->array,
		 (u32)(offsetof(struct shared, lost) + watch * sizeof(u64)));
	put_number(c, BPF_REG_2, 1);
	put(c, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_1, BPF_REG_2, 0, BPF_ADD);
}

static void write_code(struct code *c, const struct dp_watch_values *v,
		       const struct dp_watchpoint *w, u32 watch,
		       const struct stat *ns)
{
	int off;

	c->n = 0;
	put_move(c, BPF_REG_6, BPF_REG_1);
	for (off = NS_INFO; off < 0; off += 8)
		put_zero(c, BPF_DW, off);
	put_values(c, v, w, watch);
	put_load(c, BPF_DW, BPF_REG_1, BPF_REG_6,
		 offsetof(struct bpf_perf_event_data, regs) +
			 offsetof(struct pt_regs, rip));
	put_store(c, BPF_DW, AT(pc), BPF_REG_1);
	put_number(c, BPF_REG_1, (s32)watch);
	put_store(c, BPF_W, AT(watch), BPF_REG_1);
	put_thread(c, ns);
	put_call(c, BPF_FUNC_ktime_get_ns);
	put_store(c, BPF_DW, AT(ticks), BPF_REG_0);
	put_record(c, v, watch);
	put_number(c, BPF_REG_0, 0);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int load(const struct code *c)
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

static int make_programs(struct dp_watch_values *v, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n)
{
	struct code code;
	struct stat ns;
	u32 i;

	if (stat(dp_path("/proc/%d/ns/pid", pid).s, &ns))
		return -errno;
	for (i = 0; i < n; i++) {
		write_code(&code, v, &watches[i], i, &ns);
		v->programs[i] = load(&code);
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
			"to read values at a hit takes a program in the kernel, and the right to load it: give dprobes CAP_BPF and CAP_PERFMON (sudo); dprobes stat counts without");
	if (err == -ENOMEM)
		return dp_diag_set(diag, err, "out of memory");
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"this kernel takes no program that reads values at a hit (%s; Linux 5.13 does); dprobes stat counts without",
		strerror(-err));
}

int dp_watch_values_open(struct dp_watch_values **values, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 u64 bytes, struct dp_diag *diag)
{
	struct dp_watch_values *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	v->array = v->ring = -1;
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
