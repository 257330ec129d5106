/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* machine: run generated code with all registers as they are told, and see what they are then. */
#ifndef DP_TEST_MACHINE_H
#define DP_TEST_MACHINE_H

#include "port_types.h"

/* In the order of their numbers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct machine {
	u64 r[16], flags;
};

extern struct machine machine_in, machine_out;
extern u64 machine_go, nr_told;
extern u32 told[32];
void machine_run(void); /* from machine_in, at machine_go */
void machine_leave(void); /* is where that ends */
void machine_told(void); /* in place of the agent: notes the number */

__asm__(".pushsection .bss\n"
	".balign 16\n"
	".globl machine_in, machine_out, machine_go, nr_told, told\n"
	".hidden machine_in, machine_out, machine_go, nr_told, told\n"
	"machine_in: .skip 136\n"
	"machine_out: .skip 136\n"
	"machine_go: .skip 8\n"
	"nr_told: .skip 8\n"
	"told: .skip 128\n"
	"host_sp: .skip 8\n"
	".popsection\n"
	".pushsection .text\n"
	".globl machine_run, machine_leave, machine_told\n"
	".hidden machine_run, machine_leave, machine_told\n"
	"machine_run:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, host_sp(%rip)\n"
	"pushq machine_in+128(%rip)\n"
	"popfq\n"
	"mov machine_in(%rip), %rax; mov machine_in+8(%rip), %rcx\n"
	"mov machine_in+16(%rip), %rdx; mov machine_in+24(%rip), %rbx\n"
	"mov machine_in+32(%rip), %rsp; mov machine_in+40(%rip), %rbp\n"
	"mov machine_in+48(%rip), %rsi; mov machine_in+56(%rip), %rdi\n"
	"mov machine_in+64(%rip), %r8; mov machine_in+72(%rip), %r9\n"
	"mov machine_in+80(%rip), %r10; mov machine_in+88(%rip), %r11\n"
	"mov machine_in+96(%rip), %r12; mov machine_in+104(%rip), %r13\n"
	"mov machine_in+112(%rip), %r14; mov machine_in+120(%rip), %r15\n"
	"jmp *machine_go(%rip)\n"
	"machine_leave:\n"
	"mov %rax, machine_out(%rip); mov %rcx, machine_out+8(%rip)\n"
	"mov %rdx, machine_out+16(%rip); mov %rbx, machine_out+24(%rip)\n"
	"mov %rsp, machine_out+32(%rip); mov %rbp, machine_out+40(%rip)\n"
	"mov %rsi, machine_out+48(%rip); mov %rdi, machine_out+56(%rip)\n"
	"mov %r8, machine_out+64(%rip); mov %r9, machine_out+72(%rip)\n"
	"mov %r10, machine_out+80(%rip); mov %r11, machine_out+88(%rip)\n"
	"mov %r12, machine_out+96(%rip); mov %r13, machine_out+104(%rip)\n"
	"mov %r14, machine_out+112(%rip); mov %r15, machine_out+120(%rip)\n"
	"mov host_sp(%rip), %rsp\n"
	"pushfq\n"
	"popq machine_out+128(%rip)\n"
	"cld\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n"
	"machine_told:\n"
	"pushfq; push %rax; push %rcx; push %rdx\n"
	"mov 40(%rsp), %eax\n"
	"mov nr_told(%rip), %ecx\n"
	"and $31, %ecx\n"
	"lea told(%rip), %rdx\n"
	"mov %eax, (%rdx,%rcx,4)\n"
	"incl nr_told(%rip)\n"
	"pop %rdx; pop %rcx; pop %rax; popfq\n"
	"ret\n"
	".popsection\n");

#endif
