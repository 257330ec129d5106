// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tight: functions whose ends have no room for a jump: tight TIMES.
 *
 * Each ends where the next one begins, or where a branch arrives. It waits for a line on its
 * standard input, and prints what the functions have returned.
 */
#include <stdio.h>
#include <stdlib.h>

long tight_store(long a, long *to);
long tight_pops(long a, long *to);
long tight_behind(long a, long *to);
long tight_leaf(long a, long *to);
long tight_getter(long a, long *to);
long tight_away(long a, long *to);
long tight_two(long a, long *to);
long tight_loop(long a, long *to);

__asm__(".text\n"
	/* A branch to the ret, over what is before it */
	".balign 16\n"
	".globl tight_store\n"
	".type tight_store, @function\n"
	"tight_store:\n"
	"	mov (%rsi), %rax\n"
	"	lea 1(%rdi), %rdi\n"
	"	test $1, %dil\n"
	"	jne 1f\n"
	"	mov %rdi, (%rsi)\n"
	"1:	ret\n"
	"	.nops 1\n"
	".size tight_store, .-tight_store\n"
	/* A branch to what is before the ret */
	".balign 16\n"
	".globl tight_pops\n"
	".type tight_pops, @function\n"
	"tight_pops:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	sub $8, %rsp\n"
	"	mov %rdi, %rax\n"
	"	test $1, %dil\n"
	"	je 1f\n"
	"	add $40, %rax\n"
	"	nopw 0(%rax,%rax,1)\n"
	"1:	add $8, %rsp\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size tight_pops, .-tight_pops\n"
	/* A branch to right behind the ret; five bytes before it */
	".balign 16\n"
	".globl tight_behind\n"
	".type tight_behind, @function\n"
	"tight_behind:\n"
	"	mov %rdi, %rcx\n"
	"	and $3, %ecx\n"
	"	lea 3(%rdi), %rax\n"
	"	jne 1f\n"
	"	mov %rdi, 16(%rsi,%rcx)\n"
	"	ret\n"
	"1:	lea -3(%rdi), %rax\n"
	"	mov %rcx, 16(%rsi)\n"
	"	mov %rdi, 8(%rsi)\n"
	"	ret\n"
	".size tight_behind, .-tight_behind\n"
	/* The jump at the entry has all but the last bytes. */
	".balign 16\n"
	".globl tight_leaf\n"
	".type tight_leaf, @function\n"
	"tight_leaf:\n"
	"	xor %eax, %eax\n"
	"	cmpq $5, 0x10(%rsi)\n"
	"	setne %al\n"
	"	add $7, %eax\n"
	"	ret\n"
	"	.nops 1\n"
	".size tight_leaf, .-tight_leaf\n"
	".globl tight_getter\n"
	".type tight_getter, @function\n"
	"tight_getter:\n"
	"	mov 0x10(%rsi), %eax\n"
	"	ret\n"
	".size tight_getter, .-tight_getter\n"
	/* The branch is far from the ret. */
	".balign 16\n"
	".globl tight_away\n"
	".type tight_away, @function\n"
	"tight_away:\n"
	"	test $3, %dil\n"
	"	mov %rdi, %rax\n"
	"	jne 1f\n"
	"	lea (%rax,%rax,2), %rdx\n"
	"	lea (%rdx,%rax,8), %rax\n"
	"	mov %rax, 16(%rsi)\n"
	"	xor $0x77, %rax\n"
	"	and $0xff, %eax\n"
	"1:	ret\n"
	"	.nops 1\n"
	".size tight_away, .-tight_away\n"
	/* Two rets, one right behind the other */
	".balign 16\n"
	".globl tight_two\n"
	".type tight_two, @function\n"
	"tight_two:\n"
	"	mov %rdi, %rax\n"
	"	test $1, %dil\n"
	"	je 1f\n"
	"	imul $3, %rax, %rax\n"
	"	cmp $9, %rax\n"
	"	je 1f\n"
	"	ret\n"
	"1:	ret\n"
	"	.nops 1\n"
	".size tight_two, .-tight_two\n"
	/* A loop at the end */
	".balign 16\n"
	".globl tight_loop\n"
	".type tight_loop, @function\n"
	"tight_loop:\n"
	"	mov %rdi, %rcx\n"
	"	and $7, %ecx\n"
	"	xor %eax, %eax\n"
	"1:	add %rcx, %rax\n"
	"	sub $1, %ecx\n"
	"	jg 1b\n"
	"	ret\n"
	".balign 16\n"
	".size tight_loop, .-tight_loop\n");

static long (*const functions[])(long a, long *to) = {
	tight_store,  tight_pops, tight_behind, tight_leaf,
	tight_getter, tight_away, tight_two,	tight_loop,
};

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1000, to[8] = { 0 }, sum, n;
	size_t i;

	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (sum = n = 0; n < times; n++)
			sum = 31 * sum + functions[i](n, to);
		printf("%zu %lx %lx %lx %lx\n", i, sum, to[0], to[1], to[2]);
	}
	return 0;
}
