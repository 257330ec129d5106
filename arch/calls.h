/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: the bytes by which code makes system calls, in libcs and in borrowed padding.
 *
 *   DP_SYSCALL_SIZE                 bytes of the syscall instruction
 *   DP_SYSCALL_FIRST, _LAST         first and last byte of that instruction
 *   dp_code_is_syscall()            is the syscall instruction at @code?
 *   DP_CODE_SYSCALL_RET             initializer: syscall; ret
 *   DP_CODE_RESTORER_WIDE, _SHORT   initializers: rt_sigreturn, as libcs write it
 *   DP_CODE_SYSCALL_AND_RESTORER    initializer: the first of these and the wide one, in a row
 *   DP_CODE_PLAIN_RETURN            initializer: pops DP_PLAIN_RETURN_WORDS registers
 *   DP_CODE_SELECTOR_RETURN         initializer: pops DP_SELECTOR_RETURN_WORDS words, and sets
 *                                   the selector of Syscall User Dispatch to block
 *   DP_CODE_STOP_CALL(nr)           initializer: system call @nr (below 256) of -1; ret
 *   dp_code_sets_number()           does @code set the number of a call, to @nr, by an
 *                                   instruction of DP_SETS_NUMBER_SIZE bytes?
 *   dp_code_is_cut()                did that instruction begin one byte before @code?
 *   DP_SETS_FIRST                   opcode that sets a first argument; a constant follows
 *   dp_code_repeats()               may @opcode, between number and call, run twice?
 *   dp_code_checks()                does @code check a call for an error, by DP_CHECKS_SIZE
 *                                   bytes?
 *   dp_code_reloads()               does @code load a first argument from the stack?
 *   DP_CODE_SHAPES                  initializer of struct dp_code_shape[]: calls of libcs that
 *                                   get their number otherwise; DP_SHAPE_…: indices
 *   dp_code_deepens()               bytes by which an instruction makes the stack deeper
 *   dp_code_begins_cancellable()    does musl's __syscall_cp_asm begin at @code? 4 bytes
 *   dp_code_passes_on()             does @code, of __syscall_cp_c, pass arguments on to a call?
 *   dp_code_jumps()                 is there a jump of 5 bytes?
 *   dp_code_returns()               bytes of a function that only returns; 0: it does more
 *   dp_code_of_flags()              how an instruction saves or loads flags: enum dp_flags_use
 *
 *   dp_code_errno()                 where a thread's errno is, by the DP_ERRNO_SIZE bytes of a
 *                                   libc's function __errno_location() at address @at: so many
 *                                   bytes from its thread pointer as the word at *@word has, or
 *                                   @offset, if that is 0. False: it is not known
 *
 * And the bytes by which unwinders leave a part of the stack:
 *
 *   DP_CODE_MOVES_STACK             initializer: libgcc sets the stack pointer
 *   DP_CODE_GOES_ON                 initializer: what follows there, unless DP_CODE_RET does
 *   DP_CODE_RET                     one byte: a return
 *   DP_CODE_OUTWARD                 initializer: glibc loads the next outer cleanup buffer
 *
 * Context: any. Pure. Without a length argument a function reads as many bytes as the
 * instruction has.
 */
#ifndef DP_ARCH_CALLS_H
#define DP_ARCH_CALLS_H

#include "arch/x86/calls.h"

#endif
