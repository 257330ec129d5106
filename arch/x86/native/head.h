/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * head: what stands before the instructions of a detour that has a program.
 *
 *     descriptors of the sequences: two that count, and one for each record
 *     leave: restore, call out, on to the instructions; if a record may wait for the first one,
 *            that stands here, too, with a call-out behind it
 *     where interruptions of the sequences lead
 *   start:
 *     save; the program
 *     unmet: count the hit;                    │ restore
 *     met:   count the hit in the other counter │
 *
 * A fault in the program is of a load: the thread goes on at leave, as if the program had come
 * there by itself.
 *
 * With struct dp_percpu there are no sequences, so no descriptors and no interruptions of them. Behind
 * start, the code leaves if its CPU is in a hit; loads are calls; each end has a count of its own.
 */
#ifndef DP_X86_NATIVE_HEAD_H
#define DP_X86_NATIVE_HEAD_H

#include "arch/x86/emit.h"
#include "engine/insn/detour.h"

/** dp_native_head() - encode it. Return: 0; -ENOMEM there is no room. */
int dp_native_head(struct dp_out *o, const struct dp_detour_spec *spec,
		   struct dp_detour *detour);

#endif
