/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uframe: the registers in a signal frame (struct dp_mcontext), by what they are for.
 *
 *   dp_uframe_fill()                from a stopped thread; rt_sigreturn restores them
 *   dp_uframe_load()                into a stopped thread, which then is in no system call;
 *                                   of the flags only those that user code sets
 *   dp_uframe_is_user()             can the frame be of user code? Random bytes seldom pass
 *   dp_mcontext_pc() and others     see arch/arch.h
 *   dp_uframe_number()              of a system call that is about to be made
 *   dp_uframe_arg()                 argument @n of that call, a constant from 0 to 5
 *   DP_UFRAME_PLACES()              initializers of struct dp_caller: addresses of registers
 *   DP_UFRAME_PC                    offset of the pc in struct dp_sigframe
 *   DP_UFRAME_FLAGS                 offset of the flags in struct dp_sigframe
 *
 * Context: any. Pure.
 */
#ifndef DP_ARCH_UFRAME_H
#define DP_ARCH_UFRAME_H

#include "arch/x86/uframe.h"

#endif
