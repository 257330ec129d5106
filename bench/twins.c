// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * twins: a victim that measures itself and ends. Its functions begin with one
 * instruction of five bytes, the place that a peer's jump needs.
 */
#include "bench/twins.h"

void twin_probed(int n);
void twin_plain(int n);
void twins_done(void);

#define TWIN(name)                                                      \
	".balign 64\n.globl " name "\n.type " name ", @function\n" name \
	": nopl 8(%rax,%rax,1)\n push %rbp\n pop %rbp\n ret\n"          \
	".size " name ", . - " name "\n"

__asm__(".text\n" TWIN("twin_probed") TWIN("twin_plain"));

/* Where a debugger waits for the end. */
__attribute__((noinline)) void twins_done(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	int err = twins_measure(twin_probed, twin_plain);

	twins_done();
	return err;
}
