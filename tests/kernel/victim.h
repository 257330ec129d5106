/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* victim: functions to be probed of which every register is known. */
#ifndef DP_KERNEL_VICTIM_H
#define DP_KERNEL_VICTIM_H

/* ax bx cx dx si di bp r8 … r15 */
#define DPTEST_REGS 15

#ifndef __ASSEMBLY__

/** dptest_victim() - changes ax and bx, and no flag. It is no C function. */
void dptest_victim(void);
/** dptest_call() - call it with registers. @out: as they are afterwards */
void dptest_call(const unsigned long in[DPTEST_REGS],
		 unsigned long out[DPTEST_REGS]);
/** dptest_carry() - call it with that carry flag. Return: the flag afterwards */
unsigned long dptest_carry(unsigned long carry);
/** dptest_words() - takes a word from its stack: see victim.S */
unsigned long dptest_words(void);
/** dptest_inner() - Return: n + 1; also of its second instruction. See inner.S */
unsigned int dptest_inner(unsigned int n);

#endif
#endif
