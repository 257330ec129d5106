/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * readers: how programs in detours read a kernel's memory; shared with readers.S.
 *
 *     program ─► reader: an address of the kernel's? ─► the CPU is in a hit ─► read ─► it is in none ─► program
 *                         │ no                                                  │ fault   │ another task is to run
 *                         └─────────────────────────► zero flag ◄──────────────┴─────────┘
 *
 * With the zero flag the program leaves to the interpreter, which reads by the kernel's own functions, and ends as a hit
 * that may be preempted. What a fault comes by may have probes whose programs fault, too. Their CPU is in a hit then, so
 * these leave.
 */
#ifndef DP_KERNEL_READERS_H
#define DP_KERNEL_READERS_H

/* Of each, and how many sizes there are */
#define DP_KERNEL_READER_BYTES 128
#define DP_KERNEL_READER_SIZES 4

#ifndef __ASSEMBLY__

#include "port_types.h"

struct dp_percpu;

/** dp_kernel_readers - functions: see struct dp_percpu */
extern const u8 dp_kernel_readers[];

/** dp_kernel_readers_begin() - which addresses are the kernel's is known from here on */
void dp_kernel_readers_begin(void);

/** dp_kernel_percpu() - what detours have of their CPU. Return: NULL: it is out of their reach */
const struct dp_percpu *dp_kernel_percpu(void);

#endif
#endif
