/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uregs: the registers of a stopped thread (struct user_regs_struct), by what they are for.
 *
 *   dp_uregs_pc(), _set_pc()          address of the next instruction
 *   dp_uregs_sp(), _set_sp()          stack pointer
 *   dp_uregs_thread()                 thread pointer of libc; 0: the thread has none
 *   dp_uregs_call()                   number of the system call that the thread is in; < 0: none
 *   dp_uregs_leave_call()             keep the kernel from restarting that call
 *   dp_uregs_ret()                    what a system call has returned
 *   dp_uregs_number(), _set_number()  number of the call that the thread is about to make
 *   dp_uregs_arg()                    argument @n of a system call, a constant from 0 to 5
 *   dp_uregs_set_first()              first argument, of a function and of a system call
 *   dp_uregs_set_args()               the six arguments of a system call
 *   DP_UREGS_PLACES()                 initializers of struct dp_caller: addresses of registers
 *   dp_uregs_end_intercept()          of a thread at dp_intercept_linger: as behind the call.
 *                                     @frame is at its stack pointer, @above at
 *                                     dp_uregs_above_intercept()
 *   dp_uregs_spill()                  into DP_PLAIN_RETURN_WORDS words, for DP_CODE_PLAIN_RETURN
 *   dp_uregs_retry()                  go back to the syscall instruction, with number @nr
 *   dp_uregs_from()                   general registers, flags and pc from struct dp_regs
 *   dp_uregs_clear_direction()        flags as the entry of a function has them
 *
 * Context: any. Pure: only the caller's struct changes, not the thread.
 */
#ifndef DP_ARCH_UREGS_H
#define DP_ARCH_UREGS_H

#include "arch/x86/uregs.h"

#endif
