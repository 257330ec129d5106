/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * native_run: run a program as its detour does, in this process, with all registers as
 * wanted; and by the interpreter.
 *
 * The detour of a nop counts in this thread's real rseq area, and "calls out" to code that notes
 * the thread's registers. What it jumps back to notes them, too.
 */
#ifndef NATIVE_RUN_H
#define NATIVE_RUN_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <ucontext.h>
#include "engine/insn/detour.h"
#include "engine/layout/ring.h"
#include "engine/vm/native/native.h"
#include "vm_programs.h"

#define NATIVE_FLAGS 0x8d5ull /* OF, SF, ZF, AF, PF, CF */
#define NATIVE_RSP 4

/* In the order of an instruction's register numbers; asm below knows the offsets. */
struct native_cpu {
	u64 r[16];
	u64 flags;
	u64 there;
};

struct native_cpu native_in, native_out, native_left;
u64 native_saved[8], native_start;
/* The low halves of the vector registers, and where fxsave has put them for the interpreter */
u64 native_vectors[DP_NR_XMM];
static u8 native_fxsaved[512];
void native_enter(void);
void native_exit(void);
void native_agent(void);

/* clang-format off */
#define NATIVE_EACH(X)                                                  \
	X(rax, 0) X(rcx, 8) X(rdx, 16) X(rbx, 24) X(rbp, 40) X(rsi, 48) \
	X(rdi, 56) X(r8, 64) X(r9, 72) X(r10, 80) X(r11, 88) X(r12, 96) \
	X(r13, 104) X(r14, 112) X(r15, 120)
#define NATIVE_VECTOR(number, name) \
	"movq native_vectors+8*(" #number "-0x80)(%rip), %" #name "\n"
#define NATIVE_LOAD(reg, at) "mov native_in+" #at "(%rip), %" #reg "\n"
#define NATIVE_STORE(reg, at) "mov %" #reg ", native_out+" #at "(%rip)\n"
#define NATIVE_LEFT(reg, at) "mov %" #reg ", native_left+" #at "(%rip)\n"

__asm__(".text\n"
	"native_enter:\n"
	"mov %rbx, native_saved(%rip)\n mov %rbp, native_saved+8(%rip)\n"
	"mov %r12, native_saved+16(%rip)\n mov %r13, native_saved+24(%rip)\n"
	"mov %r14, native_saved+32(%rip)\n mov %r15, native_saved+40(%rip)\n"
	"mov %rsp, native_saved+48(%rip)\n"
	"push native_in+128(%rip)\n popfq\n"
	DP_VECTOR_REGS(NATIVE_VECTOR)
	NATIVE_EACH(NATIVE_LOAD)
	"mov native_in+32(%rip), %rsp\n"
	"jmp *native_start(%rip)\n"
	"native_exit:\n"
	NATIVE_EACH(NATIVE_STORE)
	"mov %rsp, native_out+32(%rip)\n"
	"mov native_saved+48(%rip), %rsp\n"
	"pushfq\n pop native_out+128(%rip)\n"
	"mov native_saved(%rip), %rbx\n mov native_saved+8(%rip), %rbp\n"
	"mov native_saved+16(%rip), %r12\n mov native_saved+24(%rip), %r13\n"
	"mov native_saved+32(%rip), %r14\n mov native_saved+40(%rip), %r15\n"
	"ret\n"
	"native_agent:\n"
	NATIVE_EACH(NATIVE_LEFT)
	"mov %rsp, native_left+32(%rip)\n"
	"pushfq\n pop native_left+128(%rip)\n"
	"movq $1, native_left+136(%rip)\n"
	"ret\n");
/* clang-format on */

enum native_end { NATIVE_UNMET, NATIVE_MET, NATIVE_RECORD, NATIVE_LEFT_IT };

#define NATIVE_STREAM 1024u
#define NATIVE_PROBE 0xabcdefu
#define NATIVE_TID 4711u

/* Where the detour finds the thread's id */
static __thread u32 native_tid = NATIVE_TID;

/* @code: one page that can be run; @table: of each CPU, this one's counters; @guard: no memory
 * from the middle of @data on; @rseq: where it counts; @step: the trap flag, or 0; @stream: of all CPUs,
 * in which a record begins at @from, made between the times @before and @after */
struct native_run {
	u8 *code;
	u64 *table, counters[2];
	struct dp_detour detour;
	u64 stack[1024];
	u8 *data;
	u32 faults;
	enum dp_commits commits;
	struct dp_insn_memory memory;
	struct dp_rseq rseq;
	u64 step;
	u64 from, before, after;
	struct {
		struct dp_stream head;
		u8 data[NATIVE_STREAM + DP_STREAM_MARGIN];
	} stream;
};

#define NATIVE_SITE 0
#define NATIVE_STUB 64
#define NATIVE_DETOUR 128
#define NATIVE_PAGE 4096u

static struct native_run *native_running;

/* Memory that code can read, and process_vm_readv(2) cannot: the kernel's own pages beside the
 * vdso. What a program makes of them depends on who runs it. */
static u64 native_vvar, native_vvar_end;

static inline void native_find_vvar(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[vvar") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		if (!native_vvar)
			native_vvar = start;
		native_vvar_end = end;
	}
	if (f)
		fclose(f);
}

static inline bool native_is_vvar(const struct dp_vm *vm)
{
	return vm->end == DP_VM_EXCEPTION &&
	       vm->exception == DP_EX_INVALID_ADDR &&
	       vm->parm[0] >= native_vvar && vm->parm[0] < native_vvar_end;
}

static void native_fault(int sig, siginfo_t *info, void *arg)
{
	greg_t *pc = &((ucontext_t *)arg)->uc_mcontext.gregs[REG_RIP];
	struct native_run *n = native_running;
	u64 offset = (u64)*pc - (u64)(n->code + NATIVE_DETOUR);

	if (offset < n->detour.start || offset >= n->detour.at[0])
		_exit(99);
	n->faults++;
	*pc = (greg_t)(n->code + NATIVE_DETOUR + n->detour.leave);
}

static inline void native_catch(void)
{
	struct sigaction sa = { .sa_sigaction = native_fault,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

static inline bool native_begin(struct native_run *n)
{
	static u8 alt[65536];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };
	u32 i;

	memset(n, 0, sizeof(*n));
	if (!__rseq_size)
		return false;
	n->code = mmap(NULL, NATIVE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	n->table = malloc(65536 * sizeof(u64));
	for (i = 0; i < 65536; i++)
		n->table[i] = (u64)n->counters;
	n->stream.head.limit = ~0ull;
	n->rseq = (struct dp_rseq){ (s32)__rseq_offset, RSEQ_SIG };
	n->data = mmap(NULL, 2 * NATIVE_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(n->data + NATIVE_PAGE, NATIVE_PAGE, PROT_NONE);
	for (i = 0; i < NATIVE_PAGE; i++)
		n->data[i] = (u8)(i * 7);
	native_running = n;
	native_find_vvar();
	sigaltstack(&ss, NULL);
	native_catch();
	return true;
}

static inline void native_finish(struct native_run *n)
{
	munmap(n->code, NATIVE_PAGE);
	munmap(n->data, 2 * NATIVE_PAGE);
	free(n->table);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
}

/* jmp *0(%rip) */
static inline void native_put_jump(u8 *at, void (*to)(void))
{
	static const u8 jmp[] = { 0xff, 0x25, 0, 0, 0, 0 };

	memcpy(at, jmp, sizeof(jmp));
	memcpy(at + sizeof(jmp), &to, sizeof(to));
}

/* Return: 0 or what dp_detour_make() says. */
static inline int native_make(struct native_run *n,
			      const struct dp_native *native)
{
	static const u8 nop5[5] = { 0x0f, 0x1f, 0x44, 0, 0 };
	struct dp_region region = { .nr = 1, .len = sizeof(nop5) };
	struct dp_detour_spec spec = {
		.from = (u64)(n->code + NATIVE_SITE),
		.at = (u64)(n->code + NATIVE_DETOUR),
		.entry = (u64)(n->code + NATIVE_STUB),
		.code = nop5,
		.region = &region,
		.before = { 1 },
		.rseq = &n->rseq,
		.table = (u64)n->table,
		.counter = 0,
		.met_counter = sizeof(u64),
		.native = native,
		.stream = {
			.base = (u64)&n->stream,
			.mask = NATIVE_STREAM - 1,
			.tid_offset =
				(u32)((char *)&native_tid -
				      (char *)__builtin_thread_pointer()),
			.probe = NATIVE_PROBE,
			.commits = n->commits,
			.memory = n->memory,
		},
	};
	int err;

	if (dp_insn_facts(nop5, sizeof(nop5), &region.facts[0]))
		return -EINVAL;
	err = dp_detour_make(&spec, &n->detour);
	if (err)
		return err;
	memcpy(n->code + NATIVE_SITE, nop5, sizeof(nop5));
	native_put_jump(n->code + NATIVE_SITE + sizeof(nop5), native_exit);
	native_put_jump(n->code + NATIVE_STUB, native_agent);
	memcpy(n->code + NATIVE_DETOUR, n->detour.code, n->detour.len);
	return 0;
}

static inline bool native_same(const struct native_cpu *a,
			       const struct native_cpu *b, s64 below)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (a->r[i] != b->r[i] - (i == NATIVE_RSP ? (u64)below : 0))
			return false;
	return !((a->flags ^ b->flags) & NATIVE_FLAGS);
}

/* As a reader sees it: one more record, whole, or none */
static inline bool native_one_more(const struct native_run *n, u64 *records)
{
	const struct dp_stream *s = &n->stream.head;
	const struct dp_stream_record *r =
		(const void *)&n->stream.data[n->from & (NATIVE_STREAM - 1)];

	*records = s->head != n->from;
	if (!*records)
		return true;
	return s->head - n->from ==
		       sizeof(*r) + 8 * dp_stream_values(r->what) &&
	       dp_stream_probe(r->what) == NATIVE_PROBE &&
	       r->tid == NATIVE_TID && r->ticks >= n->before &&
	       r->ticks <= n->after;
}

static inline void native_enter_at(struct native_run *n)
{
	struct dp_stream *s = &n->stream.head;

	n->from = s->head;
	native_left.there = 0;
	native_start = (u64)(n->code + NATIVE_DETOUR + n->detour.start);
	n->before = __builtin_ia32_rdtsc();
	native_enter();
	n->after = __builtin_ia32_rdtsc();
}

/* Run it with native_in. Return: -1: a register or flag, the red zone, or a count is not what it was
 * or has to be. */
static inline int native_go(struct native_run *n)
{
	u64 before[2] = { n->counters[0], n->counters[1] }, records, i;
	u64 *red_zone = &n->stack[512 - 16];
	u32 end;

	native_in.flags = (native_in.flags & NATIVE_FLAGS) | 0x202 | n->step;
	for (i = 0; i < 32; i++)
		red_zone[i] = i * 0x0101010101ull;
	native_enter_at(n);
	for (i = 0; i < 32; i++)
		if (red_zone[i] != i * 0x0101010101ull)
			return -1;
	if (!native_same(&native_out, &native_in, 0) ||
	    !native_one_more(n, &records))
		return -1;
	/* Below the red zone: the number, and where it returns to. */
	if (native_left.there && !native_same(&native_left, &native_in, 144))
		return -1;
	end = native_left.there		  ? NATIVE_LEFT_IT :
	      records			  ? NATIVE_RECORD :
	      n->counters[0] != before[0] ? NATIVE_UNMET :
					    NATIVE_MET;
	before[0] += end == NATIVE_UNMET;
	before[1] += end == NATIVE_MET;
	return n->counters[0] == before[0] && n->counters[1] == before[1] &&
			       records == (end == NATIVE_RECORD) ?
		       (int)end :
		       -1;
}

/* The log that a reader makes of the last record, against the interpreter's */
static inline bool native_log_agrees(const struct native_run *n,
				     const struct dp_native *native,
				     const struct dp_vm *vm)
{
	const struct dp_stream_record *from =
		(const void *)&n->stream.data[n->from & (NATIVE_STREAM - 1)];
	const struct dp_native_record *r =
		&native->records[dp_stream_exit(from->what)];
	u16 at[DP_STREAM_VALUES], major, minor;
	u8 log[DP_VM_LOG];
	u32 len = dp_native_shape(r, log, at), i;

	if (dp_stream_exit(from->what) >= native->nr_records ||
	    dp_stream_values(from->what) != r->nr_values)
		return false;
	for (i = 0; i < r->nr_values; i++)
		memcpy(log + at[i], &from->value[i], 8);
	major = r->major == DP_NATIVE_UNSET ? 0 : (u16)r->major;
	minor = r->minor == DP_NATIVE_UNSET ? 0 : (u16)r->minor;
	return vm->end == DP_VM_EXIT && !vm->truncated && len &&
	       len == vm->lp && !memcmp(log, vm->log, len) &&
	       major == vm->major && minor == vm->minor;
}

static inline void native_give_vectors(struct dp_vm *vm)
{
	u32 i;

	for (i = 0; i < DP_NR_XMM; i++)
		memcpy(native_fxsaved + DP_FPSTATE_XMM0 +
			       DP_FPSTATE_XMM_SIZE * i,
		       &native_vectors[i], sizeof(u64));
	vm->fpstate = (u64)native_fxsaved;
}

/* The same registers, for the interpreter */
static inline void native_regs(const struct native_run *n, struct dp_regs *regs)
{
	const u64 *r = native_in.r;

	*regs = (struct dp_regs){
		.ax = r[0],
		.cx = r[1],
		.dx = r[2],
		.bx = r[3],
		.sp = r[4],
		.bp = r[5],
		.si = r[6],
		.di = r[7],
		.r8 = r[8],
		.r9 = r[9],
		.r10 = r[10],
		.r11 = r[11],
		.r12 = r[12],
		.r13 = r[13],
		.r14 = r[14],
		.r15 = r[15],
		.ip = (u64)(n->code + NATIVE_SITE),
	};
}

/* What the code did, against what the interpreter has done with the same registers: nothing that
 * another can see may differ. */
static inline bool native_agrees(const struct native_run *n,
				 const struct dp_native *native,
				 const struct vm_bench *b, int end)
{
	struct dp_regs regs;
	u32 i;

	if (end == NATIVE_LEFT_IT || native_is_vvar(&b->vm))
		return true;
	native_regs(n, &regs);
	if (end < 0 || memcmp(&regs, &b->regs, sizeof(regs)) ||
	    (b->vm.end != DP_VM_EXIT && b->vm.end != DP_VM_ABORT) ||
	    (b->vm.end == DP_VM_EXIT && end != NATIVE_RECORD &&
	     (b->vm.lp || b->vm.truncated)) ||
	    b->vm.stp || b->vm.heap_used || b->globals.state[0] ||
	    (end == NATIVE_RECORD && !native_log_agrees(n, native, &b->vm)) ||
	    b->vm.facility)
		return false;
	for (i = 0; i < VM_VARS; i++)
		if (b->gv[i] ||
		    b->lv[i] != (end == NATIVE_MET && i == native->variable))
			return false;
	return true;
}

#endif
