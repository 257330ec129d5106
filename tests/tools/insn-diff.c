// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insn-diff: originals and copies, run from the same state: insn-diff FILE...
 *
 * Collects every encoding shape in the functions of the files, as their frame
 * descriptions bound them, one instruction each, and executes it in place and from its relocated copy, from the same
 * random registers, flags, vector registers and memory. Registers, flags, the
 * whole vector state, memory, signal and exit address must come out the same.
 *
 * A run is entered and left through signals: SIGUSR1's handler loads the state
 * into its frame, a breakpoint or a fault hands the next state over. All that
 * an instruction can jump to is filled with breakpoints; one that jumps to
 * itself is ended by a timer.
 */
#include "engine/insn/insn.h"
#include "sym/elf/elf.h"
#include "sym/unwind/fdes.h"
#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define BASE 0x10000000ul
#define ORIG (BASE + 0x800)
#define COPY (BASE + 0x101000)
#define CODE_SIZE 0x2000
#define DATA 0x20000000ul
#define DATA_SIZE 0x20000ul
#define MIDDLE (DATA + 0x8000)
#define STACK (DATA + 0x18000)
#define SEEN (1u << 18)
#define STATES 4
#define LONGEST_RUN_US 20000
/* Offsets in a signal frame's xsave image: SDM vol. 1, 13.4; asm/sigcontext.h. */
#define XMM 160
#define XFEATURES 472
#define XSTATE_SIZE 480
#define XSAVE_HEADER 512
#define XSAVE_USED (XSAVE_HEADER + 8) /* behind the bits of what is used */
#define YMM 576
#define XMM_AND_YMM 7

struct state {
	greg_t gpr[23];
	unsigned char fp[4096];
	unsigned int fp_size;
	int signal;
	unsigned char data[DATA_SIZE];
};

static ZydisDecoder decoder;
static u64 seen[SEEN];
static sigjmp_buf back;
static struct state start, after[2], *result;
static unsigned char alt_stack[1 << 17];
static unsigned long shapes, executed, equal, faulted, skipped, refused, bad;
static u64 seed = 88172645463325252ull;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* What makes an encoding different, registers' names aside. */
static u64 shape_of(const ZydisDecodedInstruction *in)
{
	u64 h = 1469598103934665603ull;
	unsigned int i;
#define MIX(v) (h = (h ^ (u64)(v)) * 1099511628211ull)

	MIX(in->encoding);
	MIX(in->opcode_map);
	MIX(in->opcode);
	MIX(in->mnemonic);
	MIX(in->operand_width);
	MIX(in->address_width);
	MIX(in->raw.disp.size);
	MIX(in->raw.imm[0].size);
	MIX(in->avx.vector_length);
	MIX(in->avx.mask.mode);
	MIX(in->avx.broadcast.mode);
	for (i = 0; i < in->raw.prefix_count; i++)
		MIX(in->raw.prefixes[i].value & 0xf0 ?
			    in->raw.prefixes[i].value &
				    ((in->raw.prefixes[i].value & 0xf0) ==
						     0x40 ?
					     0xf8 :
					     0xff) :
			    0);
	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		MIX(in->raw.modrm.mod + 8);
		MIX(in->raw.modrm.rm == 4 ? 4 : in->raw.modrm.rm == 5 ? 5 : 0);
		if (in->attributes & ZYDIS_ATTRIB_HAS_SIB)
			MIX(16 + in->raw.sib.scale * 4 +
			    (in->raw.sib.base == 4) +
			    2 * (in->raw.sib.index == 4));
	}
	return h ? h : 1;
}

static bool is_new(u64 shape)
{
	u32 i = (u32)shape & (SEEN - 1);

	for (; seen[i]; i = (i + 1) & (SEEN - 1))
		if (seen[i] == shape)
			return false;
	seen[i] = shape;
	return true;
}

/* Calls of the kernel, and what gives another answer each time. */
static bool unrepeatable(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_WRPKRU:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_MWAIT:
		return true;
	default:
		return in->meta.category == ZYDIS_CATEGORY_XSAVE ||
		       in->meta.category == ZYDIS_CATEGORY_XSAVEOPT;
	}
}

/* Writes to the harness's own thread block would be seen by the second run, and
 * a changed segment register is the end of it. */
static bool hurts_harness(const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *ops)
{
	size_t i;

	for (i = 0; i < in->operand_count; i++) {
		if (!(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (ops[i].mem.segment == ZYDIS_REGISTER_FS ||
		     ops[i].mem.segment == ZYDIS_REGISTER_GS))
			return true;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(ops[i].reg.value) ==
			    ZYDIS_REGCLASS_SEGMENT)
			return true;
	}
	return false;
}

static void on_start(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	unsigned char *fp = (unsigned char *)uc->uc_mcontext.fpregs;
	static unsigned char clean[sizeof(start.fp)];
	static unsigned int size;
	u64 features;

	/* rip, flags and the general registers; not segments and the rest */
	memcpy(uc->uc_mcontext.gregs, start.gpr,
	       (REG_EFL + 1) * sizeof(greg_t));
	/* The whole vector state is the same every time but for xmm and ymm,
	 * which are random. */
	if (!size) {
		memcpy(&size, fp + XSTATE_SIZE, sizeof(size));
		memcpy(clean, fp, size);
	}
	memcpy(fp, clean, size);
	memcpy(fp + XMM, start.fp, 256);
	memcpy(&features, fp + XFEATURES, sizeof(features));
	features &= XMM_AND_YMM;
	memcpy(fp + XSAVE_HEADER, &features, sizeof(features));
	if (features & 4)
		memcpy(fp + YMM, start.fp + 256, 256);
}

static void on_stop(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	unsigned char *fp = (unsigned char *)uc->uc_mcontext.fpregs;
	unsigned int size;

	memcpy(result->gpr, uc->uc_mcontext.gregs, sizeof(result->gpr));
	memcpy(&size, fp + XSTATE_SIZE, sizeof(size));
	result->fp_size = size > sizeof(result->fp) ? sizeof(result->fp) : size;
	memcpy(result->fp, fp, result->fp_size);
	result->signal = sig;
	siglongjmp(back, 1);
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler,
				.sa_flags = SA_SIGINFO | SA_ONSTACK |
					    SA_NODEFER };

	sigfillset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

/* Of its own time: on a busy machine a run may have to wait. */
static void set_timer(long us)
{
	struct itimerval t = { .it_value = { 0, us } };

	setitimer(ITIMER_PROF, &t, NULL);
}

static void run(struct state *to, u64 entry)
{
	memcpy((void *)DATA, start.data, DATA_SIZE);
	start.gpr[REG_RIP] = (greg_t)entry;
	result = to;
	if (!sigsetjmp(back, 1)) {
		set_timer(LONGEST_RUN_US);
		raise(SIGUSR1);
	}
	set_timer(0);
	memcpy(to->data, (void *)DATA, DATA_SIZE);
	/* A pc at the copy's start means the original's. */
	if (to->gpr[REG_RIP] == (greg_t)COPY)
		to->gpr[REG_RIP] = (greg_t)ORIG;
}

static int greg_of(ZydisRegister reg)
{
	static const int map[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX,
				     REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				     REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15 };
	ZydisRegister big = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (big < ZYDIS_REGISTER_RAX || big > ZYDIS_REGISTER_R15)
		return -1;
	return map[big - ZYDIS_REGISTER_RAX];
}

/* Make a memory operand fall into the data. */
static void aim(const ZydisDecodedOperandMem *mem)
{
	int base = greg_of(mem->base), index = greg_of(mem->index);
	long disp = mem->disp.has_displacement ? mem->disp.value : 0;

	if (index >= 0 && index != base)
		start.gpr[index] = 8;
	if (base >= 0 && base != REG_RSP)
		start.gpr[base] = (greg_t)(MIDDLE - disp -
					   (index >= 0 ? 8 * mem->scale : 0));
	if (base >= 0 && base == index)
		start.gpr[base] = (greg_t)((MIDDLE - disp) / (1 + mem->scale));
}

static void make_state(const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *ops)
{
	size_t i;

	for (i = 0; i < sizeof(start.data); i += 8)
		*(u64 *)(start.data + i) = rnd();
	for (i = 0; i < sizeof(start.fp); i++)
		start.fp[i] = (unsigned char)rnd();
	for (i = 0; i <= REG_RCX; i++)
		start.gpr[i] =
			(greg_t)(rnd() & 1 ? rnd() : MIDDLE + (rnd() & 0xff8));
	start.gpr[REG_RCX] = (greg_t)(rnd() & 0x1f);
	start.gpr[REG_RDI] = (greg_t)(MIDDLE + (rnd() & 0xff8));
	start.gpr[REG_RSI] = (greg_t)(MIDDLE + (rnd() & 0xff8));
	start.gpr[REG_RSP] = (greg_t)STACK;
	start.gpr[REG_EFL] = (greg_t)(0x202 | (rnd() & 0x8d5));
	for (i = 0; i < in->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			aim(&ops[i].mem);
	/* popf: neither single steps nor alignment checks in the harness. */
	*(u64 *)(start.data + (STACK - DATA)) &= 0x8d5;
	/* Indirect branches and returns lead to breakpoints, mostly. */
	if (in->meta.category == ZYDIS_CATEGORY_CALL ||
	    in->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	    in->meta.category == ZYDIS_CATEGORY_RET) {
		for (i = 0; i < DATA_SIZE; i += 8)
			*(u64 *)(start.data + i) = BASE + 0x100;
		for (i = 0; i < in->operand_count; i++)
			if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			    greg_of(ops[i].reg.value) >= 0 &&
			    ops[i].reg.value != ZYDIS_REGISTER_RSP)
				start.gpr[greg_of(ops[i].reg.value)] =
					BASE + 0x100;
	}
}

static bool same_state(const struct insn_facts *f)
{
	const struct state *a = &after[0], *b = &after[1];
	size_t live = 0, i;

	for (i = 0; i <= REG_RIP; i++)
		if (a->gpr[i] != b->gpr[i])
			return false;
	/* RF says how a fault came about. */
	if ((a->gpr[REG_EFL] ^ b->gpr[REG_EFL]) & ~0x10000l)
		return false;
	if (a->signal != b->signal || a->fp_size != b->fp_size)
		return false;
	/* The x87 instruction pointer is the copy's; and which components the
	 * processor calls unused although they are written, all of them zero,
	 * is its own affair (SDM vol. 1, 13.6): a preempted run may differ. */
	if (memcmp(a->fp, b->fp, 8) ||
	    memcmp(a->fp + 16, b->fp + 16, 464 - 16) ||
	    (a->fp_size > XSAVE_USED &&
	     memcmp(a->fp + XSAVE_USED, b->fp + XSAVE_USED,
		    a->fp_size - XSAVE_USED)))
		return false;
	/* What a call leaves below the stack pointer is dead. */
	if (f->class == DP_INSN_CALL || f->class == DP_INSN_CALL_IND)
		live = 16 + STACK - DATA - 32;
	if (!live)
		return !memcmp(a->data, b->data, DATA_SIZE);
	return !memcmp(a->data, b->data, live) &&
	       !memcmp(a->data + (STACK - DATA) - 8,
		       b->data + (STACK - DATA) - 8,
		       DATA_SIZE - (STACK - DATA) + 8);
}

static void place(const u8 *code, const struct insn_facts *f,
		  const struct dp_copy *copy)
{
	memset((void *)BASE, 0xcc, CODE_SIZE);
	memcpy((void *)ORIG, code, f->len);
	memset((void *)(COPY & ~0xfffful), 0xcc, 0x10000);
	memcpy((void *)COPY, copy->code, copy->len);
}

static void report(const u8 *code, const struct insn_facts *f)
{
	unsigned int i;

	printf("# differs:");
	for (i = 0; i < f->len; i++)
		printf(" %02x", code[i]);
	printf(": signals %d %d, exits %llx %llx, flags %llx %llx\n",
	       after[0].signal, after[1].signal, after[0].gpr[REG_RIP],
	       after[1].gpr[REG_RIP], after[0].gpr[REG_EFL],
	       after[1].gpr[REG_EFL]);
	bad++;
}

/* Displacements are no part of a shape, so they may lead where it suits us. */
static void redirect(u8 *code, struct insn_facts *f)
{
	s32 rel = f->rip_relative ? (s32)(MIDDLE - ORIG - f->len) : 0x300;

	if (f->rip_relative)
		memcpy(code + f->disp_off, &rel, 4);
	else if (f->imm_size == 4 &&
		 (f->class == DP_INSN_JMP || f->class == DP_INSN_JCC ||
		  f->class == DP_INSN_CALL))
		memcpy(code + f->imm_off, &rel, 4);
	dp_insn_facts(code, f->len, f);
}

static void try_shape(const u8 *bytes, const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops)
{
	u8 code[DP_INSN_MAX + 1];
	struct insn_facts f;
	struct dp_copy copy;
	int n;

	shapes++;
	if (unrepeatable(in) || hurts_harness(in, ops)) {
		skipped++;
		return;
	}
	memcpy(code, bytes, in->length);
	if (dp_insn_facts(code, in->length, &f) || f.class == DP_INSN_REFUSED) {
		refused++;
		return;
	}
	redirect(code, &f);
	if (dp_insn_relocate(code, &f, ORIG, COPY, &copy, NULL)) {
		bad++;
		return;
	}
	place(code, &f, &copy);
	for (n = 0; n < STATES; n++) {
		make_state(in, ops);
		run(&after[0], ORIG);
		run(&after[1], COPY);
		if (!same_state(&f)) {
			report(code, &f);
			return;
		}
	}
	executed++;
	equal += after[0].signal == SIGTRAP;
	faulted += after[0].signal != SIGTRAP;
}

static void sweep(const u8 *code, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	size_t at = 0;

	while (at < size) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
			    &decoder, code + at, size - at, &in, ops))) {
			at++;
			continue;
		}
		if (is_new(shape_of(&in)))
			try_shape(code + at, &in, ops);
		at += in.length;
	}
}

static int sweep_file(const char *path)
{
	struct dp_fdes fdes = { 0 };
	struct dp_elf elf;
	u64 off, avail;
	void *code;
	size_t i;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || dp_elf_open_fd(&elf, fd))
		return -1;
	if (dp_fdes_load(&fdes, &elf))
		fdes.n = 0;
	for (i = 0; i < fdes.n; i++) {
		u64 size = fdes.v[i].end - fdes.v[i].start;

		if (dp_elf_offset(&elf, fdes.v[i].start, &off, &avail) ||
		    dp_elf_load(&elf, off, size < avail ? size : avail, &code))
			continue;
		sweep(code, size < avail ? size : avail);
		free(code);
	}
	dp_fdes_free(&fdes);
	dp_elf_close(&elf);
	return 0;
}

int main(int argc, char **argv)
{
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGBUS,
				      SIGILL,  SIGFPE,	SIGPROF };
	stack_t ss = { .ss_sp = alt_stack, .ss_size = sizeof(alt_stack) };
	size_t i;
	int k, n = 0;

	mmap((void *)BASE, 0x200000, PROT_READ | PROT_WRITE | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap((void *)DATA, DATA_SIZE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	sigaltstack(&ss, NULL);
	catch (SIGUSR1, on_start);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		catch (faults[i], on_stop);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	for (k = 1; k < argc; k++) {
		unsigned long before = bad, had = shapes;

		if (sweep_file(argv[k])) {
			printf("ok %d - %s # SKIP it is not there\n", ++n,
			       argv[k]);
			continue;
		}
		printf("%s %d - %lu new shapes of %s do the same from their copies\n",
		       bad == before ? "ok" : "not ok", ++n, shapes - had,
		       argv[k]);
	}
	printf("# %lu shapes: %lu executed (%lu ran through, %lu faulted alike), %lu refused, %lu not repeatable, %lu differ\n",
	       shapes, executed, equal, faulted, refused, skipped, bad);
	printf("%s %d - more than 1000 shapes ran through\n",
	       equal > 1000 ? "ok" : "not ok", ++n);
	printf("1..%d\n", n);
	return bad != 0;
}
