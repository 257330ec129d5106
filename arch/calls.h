/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: by which bytes code makes system calls, in libcs and in borrowed padding.
 *
 *   DP_SYSCALL_SIZE                 bytes of the instruction that makes a system call
 *   DP_SYSCALL_FIRST, _LAST         its first byte and its last one
 *   dp_code_is_syscall()            is it at @code?
 *   DP_CODE_SYSCALL_RET             initializer: it, and a return
 *   DP_CODE_RESTORER_WIDE, _SHORT   initializers: rt_sigreturn, as libcs write it
 *   DP_CODE_PLAIN_RETURN            initializer: takes DP_PLAIN_RETURN_WORDS registers from the stack
 *   DP_CODE_SELECTOR_RETURN         initializer: takes DP_SELECTOR_RETURN_WORDS words, and has the
 *                                   selector of Syscall User Dispatch forbid calls
 *   DP_CODE_STOP_CALL(nr)           initializer: a call of @nr (below 256) with -1, and a return
 *   dp_code_sets_number()           does the number of a call begin here: an instruction of
 *                                   DP_SETS_NUMBER_SIZE bytes? @nr: that number
 *   dp_code_is_cut()                is that the rest of an instruction which began before @code?
 *   DP_SETS_FIRST                   opcode by which a constant becomes a first argument; then it
 *   dp_code_repeats()               does @opcode, between number and call, give the same twice?
 *   dp_code_checks()                is it told here whether a call has failed, by
 *                                   DP_CHECKS_SIZE bytes?
 *   dp_code_reloads()               is a first argument read from the stack here?
 *   DP_CODE_SHAPES                  initializer of struct dp_code_shape[]: calls of libcs that
 *                                   have their number otherwise; DP_SHAPE_…: which is where
 *   dp_code_deepens()               bytes by which an instruction makes the stack deeper
 *   dp_code_begins_cancellable()    does musl's __syscall_cp_asm begin here? 4 bytes
 *   dp_code_passes_on()             are arguments of __syscall_cp_c made those of a call here?
 *   dp_code_jumps()                 is there a jump of 5 bytes?
 *   dp_code_returns()               bytes of a function's beginning that does no more than
 *                                   return; 0: it does more
 *   dp_code_of_flags()              what of the flags an instruction has: enum dp_flags_use
 *
 * And by which bytes unwinders leave a part of the stack.
 *
 *   DP_CODE_MOVES_STACK             initializer: the stack pointer is set, as libgcc does it
 *   DP_CODE_GOES_ON                 initializer: what follows there; or DP_CODE_RET does
 *   DP_CODE_RET                     one byte: a return
 *   DP_CODE_OUTWARD                 initializer: glibc takes the buffer before this one
 *
 * Context: any. Pure. What has no length argument reads as many bytes as its instruction has.
 */
#ifndef DP_ARCH_CALLS_H
#define DP_ARCH_CALLS_H

#include "arch/x86/calls.h"

#endif
