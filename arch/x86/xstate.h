/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xstate: vector state that the kernel puts beside a signal frame (struct _xstate). */
#ifndef DP_ARCH_XSTATE_H
#define DP_ARCH_XSTATE_H

#include "arch/x86/regs.h"
#include "port_types.h"

/* Size of the legacy part, which every processor has; offset of the kernel's software bytes
 * in that part, their magic, and the largest size that is believed. */
#define DP_XSTATE_LEGACY 512
#define DP_XSTATE_SOFTWARE 464
#define DP_XSTATE_MAGIC 0x46505853
#define DP_XSTATE_MOST 16384

/** dp_xstate_size() - bytes of the state at @state; the legacy part, where its software bytes
 *  are not plausible */
static inline u64 dp_xstate_size(u64 state)
{
	const u32 *software = (const u32 *)(state + DP_XSTATE_SOFTWARE);

	if (software[0] != DP_XSTATE_MAGIC || software[1] > DP_XSTATE_MOST)
		return DP_XSTATE_LEGACY;
	return software[1];
}

/* Offset in the state. Source: Intel SDM 1, 10.5.1. */
#define DP_FPSTATE_XMM0 160

#define DP_FPSTATE_XMM_SIZE 16

/** dp_xmm_live() - the low half of vector register @n, which still has it, because the hit half
 *  changes no vector register. A function: tools/check-hit knows it. */
static __attribute__((__noinline__, unused)) u64 dp_xmm_live(u32 n)
{
	u64 value = 0;

	switch (n) {
#define LIVE(number, name)                                              \
	case (number)-DP_REG_XMM:                                       \
		__asm__ volatile("movq %%" #name ", %0" : "=r"(value)); \
		break;
		DP_VECTOR_REGS(LIVE)
#undef LIVE
	}
	return value;
}

/**
 * dp_xmm() - the low half of vector register @n, of a thread that has hit
 * @fpstate: address of the vector state that the kernel has saved; 0: the registers have it
 */
static inline u64 dp_xmm(u64 fpstate, u32 n)
{
	u64 at = fpstate + DP_FPSTATE_XMM0 + (u64)n * DP_FPSTATE_XMM_SIZE;

	return fpstate ? *(const volatile u64 *)at : dp_xmm_live(n);
}

/* Of the legacy part. Source: Intel SDM 1, table 10-2. */
#define DP_FPSTATE_X87 32
#define DP_FPSTATE_X87_SIZE 16
#define DP_FPSTATE_MXCSR 24
/* Of what fnsave stores. Source: Intel SDM 1, figure 8-9. */
#define DP_FNSAVE_SIZE 108
#define DP_FNSAVE_X87 28
#define DP_FNSAVE_X87_SIZE 10

/** dp_xmm_high_live() - the high half of vector register @n, as dp_xmm_live() has the low one */
static __attribute__((__noinline__, unused)) u64 dp_xmm_high_live(u32 n)
{
	u64 value = 0;

	switch (n) {
#define LIVE(number, name)                                                \
	case (number)-DP_REG_XMM:                                         \
		__asm__ volatile("movhps %%" #name ", %0" : "=m"(value)); \
		break;
		DP_VECTOR_REGS(LIVE)
#undef LIVE
	}
	return value;
}

/** dp_mxcsr_live() - the thread's mxcsr */
static __attribute__((__noinline__, unused)) u64 dp_mxcsr_live(void)
{
	u32 value;

	__asm__ volatile("stmxcsr %0" : "=m"(value));
	return value;
}

/** dp_xmm_high() - as dp_xmm(), the high half; dp_mxcsr() - likewise */
static inline u64 dp_xmm_high(u64 fpstate, u32 n)
{
	u64 at = fpstate + DP_FPSTATE_XMM0 + (u64)n * DP_FPSTATE_XMM_SIZE + 8;

	return fpstate ? *(const volatile u64 *)at : dp_xmm_high_live(n);
}

static inline u64 dp_mxcsr(u64 fpstate)
{
	u64 at = fpstate + DP_FPSTATE_MXCSR;

	return fpstate ? *(const volatile u32 *)at : dp_mxcsr_live();
}

/** dp_x87_live() - all of the x87, which is then as it was. @to: room for DP_FNSAVE_SIZE bytes */
static __attribute__((__noinline__, unused)) void dp_x87_live(u8 *to)
{
	__asm__ volatile("fnsave (%0)\n\tfrstor (%0)" : : "r"(to) : "memory");
}

/* Two bits a register; both set: it is empty. */
static inline u64 dp_x87_tags(u64 full)
{
	u64 tags = 0;
	u32 i;

	for (i = 0; i < DP_NR_FR; i++)
		tags |= (u64)((full >> 2 * i & 3) != 3) << i;
	return tags;
}

static inline u64 dp_x87_word(const u8 *from, u32 size)
{
	u64 value = 0;

	__builtin_memcpy(&value, from, size == 2 ? 2 : size == 4 ? 4 : 8);
	return value;
}

/** dp_x87_part() - fcw and so on of the x87 at @from. @saved: by the kernel, else by fnsave. A bit of
 *  ftw is a register that is not empty. */
static inline u64 dp_x87_part(const u8 *from, bool saved, u64 reg)
{
	switch (reg) {
	case DP_REG_FCW:
		return dp_x87_word(from, 2);
	case DP_REG_FSW:
		return dp_x87_word(from + (saved ? 2 : 4), 2);
	case DP_REG_FTW:
		return saved ? from[4] : dp_x87_tags(dp_x87_word(from + 8, 2));
	case DP_REG_FIP:
		return dp_x87_word(from + (saved ? 8 : 12), 4);
	case DP_REG_FCS:
		return saved ? 0 : dp_x87_word(from + 16, 2);
	case DP_REG_FDP:
		return dp_x87_word(from + (saved ? 16 : 20), 4);
	default:
		return saved ? 0 : dp_x87_word(from + 24, 2);
	}
}

/** dp_x87_register() - the fraction of the register that is @n below the top; @high: its sign and
 *  exponent */
static inline u64 dp_x87_register(const u8 *from, bool saved, u64 n, u64 *high)
{
	from += saved ? DP_FPSTATE_X87 + DP_FPSTATE_X87_SIZE * n :
			DP_FNSAVE_X87 + DP_FNSAVE_X87_SIZE * n;
	*high = dp_x87_word(from + 8, 2);
	return dp_x87_word(from, 8);
}

/** dp_selector() - the selector that is in one of the segment registers of the data kind */
static inline u16 dp_selector(u32 reg)
{
	u16 value = 0;

	switch (reg) {
	case DP_REG_DS:
		__asm__ volatile("mov %%ds, %0" : "=r"(value));
		break;
	case DP_REG_ES:
		__asm__ volatile("mov %%es, %0" : "=r"(value));
		break;
	case DP_REG_FS:
		__asm__ volatile("mov %%fs, %0" : "=r"(value));
		break;
	case DP_REG_GS:
		__asm__ volatile("mov %%gs, %0" : "=r"(value));
		break;
	}
	return value;
}

/* Descriptors that the kernel's table has for programs: code of 32 bits, data, code of 64 bits.
 * Source: arch/x86/include/asm/segment.h of Linux. */
#define DP_SELECTOR_FIRST 4
#define DP_SELECTOR_LAST 6

/** dp_selector_is_flat() - does a segment begin at address 0, as far as a program can know? Those of
 *  a thread's own descriptors have begins that only the kernel knows. */
static inline bool dp_selector_is_flat(u64 selector)
{
	u64 index = selector >> 3;
	bool good;

	/* In 64-bit mode the empty selector is one for data. */
	if (!(selector & ~3ull))
		return true;
	if (selector > 0xffff || selector & 4 || index < DP_SELECTOR_FIRST ||
	    index > DP_SELECTOR_LAST)
		return false;
	__asm__ volatile("verr %1" : "=@ccz"(good) : "r"((u16)selector));
	return good;
}

/** dp_cpuid() - @leaf, without a part of it: eax, ebx, ecx, edx */
static inline void dp_cpuid(u32 leaf, u32 to[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(to[0]), "=b"(to[1]), "=c"(to[2]), "=d"(to[3])
			 : "0"(leaf), "2"(0));
}

#endif
