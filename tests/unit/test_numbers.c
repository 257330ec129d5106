// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_numbers: a system call whose number comes from elsewhere, in this program's own text. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "proc/attach/attach.h"
#include "proc/code/intercepts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"

#define CALL_AT 36 /* of the call within the function */
#define SPAN 4096

void any_call(void);
__asm__(".text\n"
	".p2align 6\n"
	".globl any_call\n"
	".type any_call, @function\n"
	"any_call:\n"
	".rept 27\n\tnop\n.endr\n"
	"\tmov %rdi, %rax\n"
	"\tmov %rsi, %rdi\n"
	"\tmov %rdx, %rsi\n"
	"\tsyscall\n"
	"\tret\n"
	".size any_call, . - any_call\n"
	".skip 8192, 0xcc\n");

/* A copy of the span, with nothing readable before it. */
static u8 *copy_of(const struct dp_span *span)
{
	u8 *p = mmap(NULL, 2 * SPAN, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p, SPAN, PROT_NONE), 0);
	return memcpy(p + SPAN, (const void *)span->start, span->size);
}

static struct dp_process *find_from(size_t offset)
{
	const struct dp_span span = { (u64)any_call + offset, SPAN };
	struct dp_process *proc = dp_process_new();
	struct dp_diag diag = { 0 };
	u8 *text = copy_of(&span);

	assert_non_null(proc);
	proc->pid = getpid();
	assert_int_equal(dp_process_open_mem(proc, &diag), 0);
	dp_numbers_find(proc, &span, text);
	munmap(text - SPAN, 2 * SPAN);
	return proc;
}

static void is_found(void **state)
{
	struct dp_process *proc = find_from(0);
	const struct dp_intercept *h = proc->intercepts;

	assert_int_equal(proc->nr_intercepts, 1);
	assert_int_equal(h->addr + h->len,
			 (u64)any_call + CALL_AT + DP_SYSCALL_SIZE);
	dp_process_close(proc);
}

/* Its function begins in the mapping before. */
static void is_let_be_without_its_function(void **state)
{
	struct dp_process *proc = find_from(16);

	assert_int_equal(proc->nr_intercepts, 0);
	dp_process_close(proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_found),
		cmocka_unit_test(is_let_be_without_its_function),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
