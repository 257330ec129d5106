// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_traces: stack traces of code that has no unwind tables, and what names are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include "lib/compat/hooks.h"
#include "compat_probes.h"

#define PAGE 4096ul
#define MOST 16

/* Code that no file has, and a stack with nothing behind. */
static unsigned long code, stack_start, stack_end;
static unsigned long trace[MOST];
static struct pt_regs regs;

static unsigned long map(size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return (unsigned long)p;
}

static int begin(void **state)
{
	const size_t size = 3ul << 20;

	dp_compat_hooks = (struct dp_compat_hooks){ 0 };
	if (!code) {
		code = map(2 * PAGE, PROT_READ | PROT_EXEC);
		munmap((void *)(code + PAGE), PAGE);
		stack_start = map(size + PAGE, PROT_READ | PROT_WRITE);
		stack_end = stack_start + size;
		mprotect((void *)stack_end, PAGE, PROT_NONE);
	}
	memset((void *)stack_start, 0, size);
	memset(&regs, 0, sizeof(regs));
	memset(trace, 0, sizeof(trace));
	regs.ip = code + 100;
	regs.sp = stack_end - 512;
	return 0;
}

/* A frame at @bp: the caller's frame pointer, and where the function returns to. */
static void put(unsigned long bp, unsigned long saved, unsigned long back)
{
	unsigned long words[2] = { saved, back };

	memcpy((void *)bp, words, sizeof(words));
}

static unsigned int count(void)
{
	return stack_trace_save_regs(&regs, trace, MOST, 0);
}

static void code_without_tables_is_traced_by_frame_pointers(void **state)
{
	regs.bp = regs.sp + 32;
	put(regs.bp, regs.bp + 64, code + 200);
	put(regs.bp + 64, regs.bp + 96, code + 300);
	put(regs.bp + 96, 0, 0);
	assert_int_equal(count(), 3);
	assert_int_equal(trace[0], code + 100);
	assert_int_equal(trace[1], code + 200);
	assert_int_equal(trace[2], code + 300);
	/* No more than are asked for, and not the first ones. */
	assert_int_equal(stack_trace_save_regs(&regs, trace, 2, 0), 2);
	assert_int_equal(stack_trace_save_regs(&regs, trace, 2, 1), 2);
	assert_int_equal(trace[0], code + 200);
	assert_int_equal(trace[1], code + 300);
	assert_int_equal(stack_trace_save_regs(&regs, trace, 0, 0), 0);
	assert_int_equal(stack_trace_save_regs(&regs, trace, MOST, 3), 0);
}

/* Return: how many frames there are if the first one's pointer is @bp. */
static unsigned int frames_if(unsigned long bp)
{
	regs.bp = bp;
	return count();
}

static void frame_pointers_are_of_this_stack(void **state)
{
	regs.sp = stack_start + PAGE;
	put(regs.sp, 0, code + 200);
	assert_int_equal(frames_if(regs.sp), 2);
	put(regs.sp + 8, 0, code + 200);
	assert_int_equal(frames_if(regs.sp + 8), 2);
	put(regs.sp + 4, 0, code + 200);
	assert_int_equal(frames_if(regs.sp + 4), 1);
	put(regs.sp - 8, 0, code + 200);
	assert_int_equal(frames_if(regs.sp - 8), 1);
	assert_int_equal(frames_if(0), 1);
	/* The caller's lies above what has been left. */
	regs.bp = regs.sp;
	put(regs.bp, regs.bp + 16, code + 200);
	put(regs.bp + 16, 1, code + 300);
	assert_int_equal(count(), 3);
	put(regs.bp, regs.bp + 8, code + 200);
	assert_int_equal(count(), 2);
	/* No frame has more than a megabyte. */
	put(regs.sp + (1ul << 20), 0, code + 200);
	assert_int_equal(frames_if(regs.sp + (1ul << 20)), 2);
	put(regs.sp + (1ul << 20) + 8, 0, code + 200);
	assert_int_equal(frames_if(regs.sp + (1ul << 20) + 8), 1);
}

/* The words that are read are the last ones that there are. */
static void a_stack_is_read_to_its_end(void **state)
{
	put(stack_end - 16, 0, code + 200);
	assert_int_equal(frames_if(stack_end - 16), 2);
	assert_int_equal(trace[1], code + 200);
	put(stack_end - 16, code + 200, 0);
	assert_int_equal(frames_if(stack_end - 8), 1);
	assert_int_equal(frames_if(stack_end), 1);
	/* A long way between frames, within and beyond what is read at once. */
	regs.sp = stack_start;
	put(stack_start, stack_start + 496, code + 200);
	put(stack_start + 496, stack_start + 504 + 496, code + 300);
	put(stack_start + 504 + 496, stack_start + 16384, code + 400);
	put(stack_start + 16384, 0, code + 500);
	assert_int_equal(frames_if(stack_start), 5);
	assert_int_equal(trace[2], code + 300);
	assert_int_equal(trace[3], code + 400);
	assert_int_equal(trace[4], code + 500);
}

static void a_trace_ends_where_nothing_is(void **state)
{
	regs.bp = regs.sp;
	put(regs.bp, regs.bp + 32, stack_end + 100);
	put(regs.bp + 32, 0, code + 200);
	munmap((void *)stack_end, PAGE);
	assert_int_equal(count(), 2);
	assert_int_equal(trace[1], stack_end + 100);
}

/* It returns behind a call, which may be the last that there is of its code. */
static void calls_at_the_end_of_code_are_traced(void **state)
{
	regs.bp = regs.sp;
	put(regs.bp, regs.bp + 32, code + PAGE);
	put(regs.bp + 32, regs.bp + 64, code + 200);
	put(regs.bp + 64, 0, 0);
	assert_int_equal(count(), 3);
	assert_int_equal(trace[1], code + PAGE);
	assert_int_equal(trace[2], code + 200);
}

static const struct pt_regs *regs_of_hit(void)
{
	return &regs;
}

/* In a handler it is the program's stack. */
static void handlers_trace_the_program(void **state)
{
	dp_compat_hooks.hit_regs = regs_of_hit;
	regs.bp = regs.sp;
	put(regs.bp, 0, code + 200);
	assert_int_equal(stack_trace_save(trace, MOST, 0), 2);
	assert_int_equal(trace[0], code + 100);
	assert_int_equal(trace[1], code + 200);
	assert_int_equal(stack_trace_save(trace, MOST, 1), 1);
	assert_int_equal(trace[0], code + 200);
}

static unsigned int lines;

static void count_lines(int level, const char *text, size_t len, void *arg)
{
	lines++;
}

static void each_frame_is_printed(void **state)
{
	dp_printk_set(count_lines, NULL);
	lines = 0;
	stack_trace_print(trace, 3, 0);
	assert_int_equal(lines, 3);
	stack_trace_print(trace, 0, 0);
	assert_int_equal(lines, 3);
	dp_printk_set(NULL, NULL);
}

static unsigned long left_from, left_to;
static unsigned int leaves;

/* As out of a stub, and out of another. */
static bool leave(unsigned long *ip, unsigned long *sp)
{
	leaves++;
	if (*ip != left_from)
		return false;
	*ip = left_to;
	return true;
}

static void generated_code_is_left_out_of_traces(void **state)
{
	dp_compat_hooks.leave = leave;
	left_from = 0x1000;
	left_to = code + 300;
	regs.bp = regs.sp;
	put(regs.bp, regs.bp + 32, left_from);
	put(regs.bp + 32, 0, 0);
	assert_int_equal(count(), 2);
	assert_int_equal(trace[1], code + 300);
	assert_int_equal(leaves, 3);
}

static void traces_are_printed_as_far_as_there_is_room(void **state)
{
	unsigned long two[2] = { 0x11, 0x21 };
	char text[64], one[64], both[64];
	int n, all;

	n = snprintf(one, sizeof(one), " %pB\n", (void *)two[0]);
	all = snprintf(both, sizeof(both), " %pB\n %pB\n", (void *)two[0],
		       (void *)two[1]);
	assert_int_equal(stack_trace_snprint(text, sizeof(text), two, 2, 0),
			 all);
	assert_string_equal(text, both);
	assert_int_equal(stack_trace_snprint(text, sizeof(text), two, 1, 0), n);
	assert_string_equal(text, one);
	/* One fits, and of the second not even the first byte. */
	assert_int_equal(stack_trace_snprint(text, (size_t)n + 1, two, 2, 0),
			 all);
	assert_string_equal(text, one);
	/* The first does not fit. */
	assert_int_equal(stack_trace_snprint(text, (size_t)n, two, 2, 0), n);
	one[n - 1] = '\0';
	assert_string_equal(text, one);
	text[0] = 'x';
	assert_int_equal(stack_trace_snprint(text, 0, two, 2, 0), 0);
	assert_int_equal(text[0], 'x');
	assert_int_equal(stack_trace_snprint(text, sizeof(text), two, 1, 2),
			 n + 2);
	assert_memory_equal(text, "   ", 3);
}

/* Callers keep pointers to them. */
static void names_of_objects_stay(void **state)
{
	unsigned long libc = (unsigned long)dlsym(RTLD_DEFAULT, "getppid");
	unsigned long cmocka =
		(unsigned long)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
	char *first = NULL, *second = NULL, *again = NULL;
	char name[KSYM_NAME_LEN];
	unsigned long size = 0, offset = 9;

	assert_string_equal(kallsyms_lookup(libc, &size, &offset, &first, name),
			    name);
	assert_int_equal(offset, 0);
	assert_true(size > 0);
	assert_non_null(strstr(first, "libc"));
	assert_non_null(
		kallsyms_lookup(cmocka + 1, NULL, &offset, &second, name));
	assert_int_equal(offset, 1);
	assert_string_equal(name, "_cmocka_run_group_tests");
	assert_non_null(strstr(second, "cmocka"));
	assert_non_null(strstr(first, "libc"));
	assert_non_null(kallsyms_lookup(libc, NULL, NULL, &again, NULL));
	assert_ptr_equal(again, first);
	assert_non_null(kallsyms_lookup(cmocka, NULL, NULL, &again, NULL));
	assert_ptr_equal(again, second);
	assert_null(kallsyms_lookup(8, NULL, NULL, &again, name));
	assert_int_equal(lookup_symbol_name(8, name), -ERANGE);
	assert_int_equal(lookup_symbol_name(cmocka + 1, name), 0);
	assert_string_equal(name, "_cmocka_run_group_tests");
}

/* In a function a label that is no function, and no object */
extern const char names_function[], names_label[];
__asm__(".text\n"
	".globl names_function, names_label\n"
	".type names_function, @function\n"
	"names_function:\n"
	"	nop\n"
	"names_label:\n"
	"	nop\n"
	"	ret\n"
	".size names_label, . - names_label\n"
	".size names_function, . - names_function\n");

static void labels_are_no_names(void **state)
{
	char name[KSYM_NAME_LEN];
	unsigned long offset;

	assert_non_null(kallsyms_lookup((unsigned long)names_label + 1, NULL,
					&offset, NULL, name));
	assert_string_equal(name, "names_function");
	assert_int_equal(offset, 2);
}

static void aliases_are_of_names_for_names(void **state)
{
	assert_int_equal(dp_compat_alias_add("forked", 4, "do_fork"), 0);
	assert_string_equal(dp_compat_alias("fork"), "do_fork");
	assert_string_equal(dp_compat_alias("forked"), "forked");
	assert_string_equal(dp_compat_alias("for"), "for");
	/* The newest one counts. */
	assert_int_equal(dp_compat_alias_add("fork", 4, "clone"), 0);
	assert_string_equal(dp_compat_alias("fork"), "clone");
	assert_int_equal(dp_compat_alias_add("", 0, "clone"), -EINVAL);
	assert_int_equal(dp_compat_alias_add("vfork", 5, ""), -EINVAL);
	assert_string_equal(dp_compat_alias("vfork"), "vfork");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			code_without_tables_is_traced_by_frame_pointers, begin),
		cmocka_unit_test_setup(frame_pointers_are_of_this_stack, begin),
		cmocka_unit_test_setup(a_stack_is_read_to_its_end, begin),
		cmocka_unit_test_setup(a_trace_ends_where_nothing_is, begin),
		cmocka_unit_test_setup(calls_at_the_end_of_code_are_traced,
				       begin),
		cmocka_unit_test_setup(handlers_trace_the_program, begin),
		cmocka_unit_test_setup(each_frame_is_printed, begin),
		cmocka_unit_test_setup(generated_code_is_left_out_of_traces,
				       begin),
		cmocka_unit_test_setup(
			traces_are_printed_as_far_as_there_is_room, begin),
		cmocka_unit_test_setup(names_of_objects_stay, begin),
		cmocka_unit_test_setup(labels_are_no_names, begin),
		cmocka_unit_test_setup(aliases_are_of_names_for_names, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("traces", tests, NULL, NULL);
}
