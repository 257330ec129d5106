/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* long_init: campaigns of the guest's first program. Numbers of the kernel's command line, in brackets, make them
 *	      shorter or longer. */
#ifndef DP_KERNEL_LONG_INIT_H
#define DP_KERNEL_LONG_INIT_H

/** dp_long_differ() - counts are those of the kernel's own probes [functions, seconds]
 *  dp_long_insns() - a probe on each instruction, in three ways [functions, from: the first way]
 *  dp_long_cycles() - probes are armed and disarmed [cycles]
 *  dp_long_fire() - dprobes.ko comes and goes [times]
 *  dp_long_hostile() - requests at random, of each of three threads [times] */
void dp_long_differ(void);
void dp_long_insns(void);
void dp_long_cycles(void);
void dp_long_fire(void);
void dp_long_hostile(void);

#endif
