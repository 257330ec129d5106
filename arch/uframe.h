/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uframe: the registers in a signal frame (struct dp_mcontext), by what they are for.
 *
 *   dp_uframe_fill()                from a stopped thread, so that rt_sigreturn brings them back
 *   dp_uframe_load()                into a stopped thread, which is in no call then; of its flags
 *                                   only those that code of a program sets
 *   dp_uframe_is_user()             can it be of code of a program? Other bytes seldom look so
 *   dp_mcontext_pc() and others     of arch/arch.h, too
 *   dp_uframe_number()              of a system call that is about to be made
 *   dp_uframe_arg()                 its argument @n, a constant from 0 to 5
 *   DP_UFRAME_PLACES()              initializers of struct dp_caller: where these are
 *   DP_UFRAME_PC                    bytes from the beginning of struct dp_sigframe to its pc
 *   DP_UFRAME_FLAGS                 the same of its flags
 *
 * Context: any. Pure.
 */
#ifndef DP_ARCH_UFRAME_H
#define DP_ARCH_UFRAME_H

#include "arch/x86/uframe.h"

#endif
