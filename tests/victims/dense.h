/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dense: instructions of one to five bytes, entered at each of them; and loops whose
 * heads are one to four bytes behind the beginning of their functions. Each instruction
 * adds what only it adds.
 */
#ifndef TESTS_VICTIMS_DENSE_H
#define TESTS_VICTIMS_DENSE_H

/** struct dense_step - an instruction of steps(), and what it adds */
struct dense_step {
	char *at;
	long adds;
};

#define STEP(adds, insn)                                                       \
	"771:\n" insn "\n.pushsection .data.dense, \"aw\"\n.quad 771b, " #adds \
	"\n.popsection\n"

__asm__(".pushsection .data.dense, \"aw\"\n.balign 8\ndense_table:\n.popsection\n"
	".text\n.balign 64\n.globl steps\n.type steps, @function\n"
	"steps:\n.cfi_startproc\n" STEP(1, "inc %eax") STEP(
		3,
		"lea 3(%rax), %eax") STEP(0,
					  "nop") STEP(257,
						      "add $257, %eax") STEP(0,
									     "nop")
		STEP(0, "nop") STEP(16, "add $16, %rax") STEP(0, "cld") STEP(
			0, "jmp 772f\n772:") STEP(1,
						  "inc %eax") STEP(1,
								   "inc %eax")
			STEP(32, "lea 32(%rax), %rax") STEP(0, "nop") STEP(
				64,
				"add $64, %eax") STEP(4096,
						      "add $4096, %eax") STEP(0,
									      "cmc")
				STEP(0, "nop") STEP(0, "nop") STEP(0, "nop") STEP(
					0, "nop") STEP(8, "lea 8(%rax), %eax")
					STEP(0,
					     "ret") ".cfi_endproc\n.size steps, . - steps\n"
						    ".pushsection .data.dense, \"aw\"\ndense_end:\n.popsection\n");
extern const struct dense_step dense_table[], dense_end[];
extern char steps[];

static inline long dense_steps(void)
{
	return dense_end - dense_table;
}

/** dense_enter() - run the instructions from the @k-th on; what they add */
static inline long dense_enter(long k)
{
	long sum = 0;

	__asm__ volatile("sub $128, %%rsp\n\tcall *%1\n\tadd $128, %%rsp"
			 : "+a"(sum)
			 : "r"(dense_table[k].at)
			 : "memory", "cc");
	return sum;
}

/** dense_sum() - what they should add */
static inline long dense_sum(long k)
{
	long sum = 0;

	for (; k < dense_steps(); k++)
		sum += dense_table[k].adds;
	return sum;
}

/* The head of the loop, which adds 3, is HEAD bytes behind the beginning. */
#define LOOP(name, before)                                              \
	".balign 64\n.globl " name "\n.type " name ", @function\n" name \
	":\n.cfi_startproc\n" before                                    \
	"773: add $3, %eax\n dec %edi\n jnz 773b\n"                     \
	" ret\n.cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".text\n" LOOP("loop1", "cld\n") LOOP("loop2", "xor %eax, %eax\n")
		LOOP("loop3", "xor %eax, %eax\n nop\n")
			LOOP("loop4", "xor %eax, %eax\n xor %ecx, %ecx\n"));
long loop1(long n, long rsi, long rdx, long rcx);
long loop2(long n, long rsi, long rdx, long rcx);
long loop3(long n, long rsi, long rdx, long rcx);
long loop4(long n, long rsi, long rdx, long rcx);

#endif
