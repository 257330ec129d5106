// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_numbers: a system call whose number comes from elsewhere, in this program's own text; and where
 * errno is. */
#include <dlfcn.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arch/calls.h"
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

/* This program's libc, where errno really is; and what others have. */
static void errno_is_found(void **state)
{
	static const u8 fixed[DP_ERRNO_SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48,
						 0xc7, 0xc0, 0xc0, 0xff, 0xff,
						 0xff, 0x64, 0x48, 0x03, 0x04,
						 0x25, 0,    0,	   0,	 0,
						 0xc3 };
	static const u8 musl[DP_ERRNO_SIZE] = { 0x64, 0x48, 0x8b, 0x04, 0x25,
						0,    0,    0,	  0,	0x48,
						0x83, 0xc0, 0x34, 0xc3 };
	void *function = dlsym(RTLD_DEFAULT, "__errno_location");
	u8 odd[DP_ERRNO_SIZE];
	u64 word;
	s64 offset;
	size_t i;

	assert_true(dp_code_errno(function, (u64)function, &word, &offset));
	assert_true(word);
	assert_ptr_equal((char *)__builtin_thread_pointer() +
				 *(const s64 *)word,
			 &errno);
	assert_true(dp_code_errno(fixed, 0, &word, &offset));
	assert_true(!word && offset == -64);
	assert_true(dp_code_errno(musl, 0, &word, &offset));
	assert_true(!word && offset == 0x34);
	/* Any other byte, and it is not known. */
	for (i = 0; i < 21; i++) {
		memcpy(odd, fixed, sizeof(odd));
		odd[i] ^= 0x10;
		assert_int_equal(dp_code_errno(odd, 0, &word, &offset),
				 i >= 7 && i < 11);
	}
	for (i = 0; i < 14; i++) {
		memcpy(odd, musl, sizeof(odd));
		odd[i] ^= 0x10;
		assert_int_equal(dp_code_errno(odd, 0, &word, &offset),
				 i == 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_is_found),
		cmocka_unit_test(is_found),
		cmocka_unit_test(is_let_be_without_its_function),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
