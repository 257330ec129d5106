// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes of tracepoints, and the operands that are their arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sym/elf/elf.h"
#include "sym/names/operand.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include "sym/tracepoints.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/sdt.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE DP_OPERAND_NONE
#define N DP_OPERAND_NUMBER
#define G DP_OPERAND_GENERAL
#define V DP_OPERAND_VECTOR
#define M DP_OPERAND_MEMORY

static const struct {
	const char *text;
	struct dp_operand o;
} forms[] = {
#define REG(n, s, wide, high, reg, sign)                                  \
	{                                                                 \
		.kind = n, .size = s, .width = wide, .shift = high,       \
		.base = reg, .index = NONE, .scale = 1, .is_signed = sign \
	}
	{ "-4@%eax", REG(G, 4, 4, 0, 0, true) },
	{ "8@%rdi", REG(G, 8, 8, 0, 5, false) },
	{ "1@%al", REG(G, 1, 1, 0, 0, false) },
	{ "2@%ax", REG(G, 2, 2, 0, 0, false) },
	{ "1@%ah", REG(G, 1, 1, 8, 0, false) },
	{ "-1@%bh", REG(G, 1, 1, 8, 3, true) },
	{ "1@%sil", REG(G, 1, 1, 0, 4, false) },
	{ "4@%r8d", REG(G, 4, 4, 0, 8, false) },
	{ "2@%r15w", REG(G, 2, 2, 0, 15, false) },
	{ "1@%r9b", REG(G, 1, 1, 0, 9, false) },
	{ "-8@%rsp", REG(G, 8, 8, 0, 7, true) },
	{ "%ecx", REG(G, 4, 4, 0, 2, false) },
	{ "%rdx", REG(G, 8, 8, 0, 1, false) },
	{ "-8@%xmm15", REG(V, 8, 8, 0, 15, true) },
	{ "8f@%xmm0",
	  { .kind = V,
	    .size = 8,
	    .width = 8,
	    .base = 0,
	    .index = NONE,
	    .scale = 1,
	    .is_float = true } },
	{ "-4f@%xmm1",
	  { .kind = V,
	    .size = 4,
	    .width = 8,
	    .base = 1,
	    .index = NONE,
	    .scale = 1,
	    .is_float = true } },
#define SUM(what, s, sign, b, i, sc, num, sym)                               \
	{                                                                    \
		.kind = what, .size = s, .is_signed = sign, .base = b,       \
		.index = i, .scale = sc, .number = (u64)(num), .symbol = sym \
	}
	{ "4@$5", SUM(N, 4, false, NONE, NONE, 1, 5, "") },
	{ "-8@$-1", SUM(N, 8, true, NONE, NONE, 1, -1, "") },
	{ "8@$0x7fffffffffffffff",
	  SUM(N, 8, false, NONE, NONE, 1, 0x7fffffffffffffff, "") },
	{ "8@$counter", SUM(N, 8, false, NONE, NONE, 1, 0, "counter") },
	{ "-8@-16(%rbp)", SUM(M, 8, true, 6, NONE, 1, -16, "") },
	{ "8@(%rax,%rbx,8)", SUM(M, 8, false, 0, 3, 8, 0, "") },
	{ "8@(%rax,%rbx)", SUM(M, 8, false, 0, 3, 1, 0, "") },
	{ "4@4(,%r9,4)", SUM(M, 4, false, NONE, 9, 4, 4, "") },
	{ "4@table(,%rdi,8)", SUM(M, 4, false, NONE, 5, 8, 0, "table") },
	{ "4@var(%rip)", SUM(M, 4, false, NONE, NONE, 1, 0, "var") },
	{ "-4@counter+8(%rip)", SUM(M, 4, true, NONE, NONE, 1, 8, "counter") },
	{ "-4@8+counter-4(%rip)",
	  SUM(M, 4, true, NONE, NONE, 1, 4, "counter") },
	{ "-4@.LC0(%rip)", SUM(M, 4, true, NONE, NONE, 1, 0, ".LC0") },
	{ "4@counter", SUM(M, 4, false, NONE, NONE, 1, 0, "counter") },
	{ "-4@16+8-4(%rsp)", SUM(M, 4, true, 7, NONE, 1, 20, "") },
	{ "8@%fs:40",
	  { .kind = M,
	    .size = 8,
	    .base = NONE,
	    .index = NONE,
	    .scale = 1,
	    .number = 40,
	    .of_thread = true } },
	{ "8@%fs:-8(%rax)",
	  { .kind = M,
	    .size = 8,
	    .base = 0,
	    .index = NONE,
	    .scale = 1,
	    .number = (u64)-8,
	    .of_thread = true } },
	{ "8f@24(%rsp)",
	  { .kind = M,
	    .size = 8,
	    .base = 7,
	    .index = NONE,
	    .scale = 1,
	    .number = 24,
	    .is_float = true } },
	{ "-4@%fs:own@tpoff",
	  { .kind = DP_OPERAND_THREAD_LOCAL,
	    .size = 4,
	    .is_signed = true,
	    .base = NONE,
	    .index = NONE,
	    .scale = 1,
	    .of_thread = true,
	    .symbol = "own" } },
};

static void test_forms(void **state)
{
	struct dp_operand o;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!dp_operand_parse(forms[i].text, strlen(forms[i].text), &o))
			fail_msg("%s is not known", forms[i].text);
		if (memcmp(&o, &forms[i].o, sizeof(o)))
			fail_msg("%s is taken for something else",
				 forms[i].text);
	}
}

static void test_unknown(void **state)
{
	static const char *const texts[] = {
		"",
		"4@",
		"3@%eax",
		"16@%xmm0",
		"-@%eax",
		"4@%",
		"4@%eaxx",
		"4@%r7d",
		"4@%r16",
		"4@%r08",
		"8@%ymm0",
		"8@%xmm16",
		"8@%xmm",
		"8@%xmm01",
		"4@%st(0)",
		"8@%rip",
		"8@8(%rip)",
		"8@(%rip)",
		"4@%gs:8",
		"4@%fs:",
		"4@%fs:v(%rip)",
		"4@(%eax)",
		"4@(%rax,%rsp)",
		"4@(%rax,%rbx,3)",
		"4@(%rax,%rbx,16)",
		"4@(",
		"4@()",
		"4@(%rax",
		"4@8(%rax)x",
		"4@$",
		"4@$%eax",
		"4@a+b(%rip)",
		"4@-a(%rip)",
		"4@a@GOTPCREL(%rip)",
		"4@a@tpoff",
		"4@$a@tpoff",
		"4@a@tpoff(%rip)",
		"4@5+",
		"4@+-5(%rax)",
		"4@99999999999999999999(%rax)",
		"4@5x(%rax)",
		"1f@%al",
		"2f@%ax",
		"4@DWORD PTR [rbp-4]",
		"4@*%rax",
		"4@%eax ",
		"4@0b1",
	};
	struct dp_operand o;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (dp_operand_parse(texts[i], strlen(texts[i]), &o))
			fail_msg("\"%s\" is taken for something", texts[i]);
}

static void expect_parts(const char *text, const char *const *parts)
{
	const char *s;
	size_t len;

	for (; *parts; parts++) {
		s = dp_operand_next(&text, &len);
		assert_non_null(s);
		assert_int_equal(len, strlen(*parts));
		assert_memory_equal(s, *parts, len);
	}
	assert_null(dp_operand_next(&text, &len));
}

static void test_split(void **state)
{
	expect_parts("", (const char *const[]){ NULL });
	expect_parts("  ", (const char *const[]){ NULL });
	expect_parts("8@%rdi", (const char *const[]){ "8@%rdi", NULL });
	expect_parts(" 8@%rdi  -4@$5 ",
		     (const char *const[]){ "8@%rdi", "-4@$5", NULL });
	expect_parts("8@(%rax, %rbx, 8) 4@$1",
		     (const char *const[]){ "8@(%rax, %rbx, 8)", "4@$1",
					    NULL });
	expect_parts("-4@DWORD PTR [rbp-20] 4@eax",
		     (const char *const[]){ "-4@DWORD PTR [rbp-20]", "4@eax",
					    NULL });
	expect_parts("%eax %ebx",
		     (const char *const[]){ "%eax", "%ebx", NULL });
}

/* More of them than there can be names for */
static void test_many(void **state)
{
	char text[DP_PROTOTYPE_PARAMETERS * 12] = "";
	struct dp_prototype *f;
	int i;

	for (i = 0; i < DP_PROTOTYPE_PARAMETERS + 10; i++)
		strcat(text, i ? " 8@%rax" : "8@%rax");
	assert_int_equal(dp_tracepoint_arguments(NULL, NULL, "a:b", text, &f),
			 0);
	assert_int_equal(f->scope->n, DP_PROTOTYPE_PARAMETERS);
	assert_string_equal(f->scope->variables[63].name, "arg63");
	assert_string_equal(f->scope->variables[63].written, "8@%rax");
	free(f);
}

/* Without a module there are no symbols. */
static void test_reasons(void **state)
{
	static const u8 why[] = { DP_PLACE_KNOWN, DP_PLACE_SYMBOL,
				  DP_PLACE_FORM, DP_PLACE_SYMBOL };
	struct dp_prototype *f;
	u32 i;

	assert_int_equal(dp_tracepoint_arguments(
				 NULL, NULL, "a:b",
				 "4@$1 4@x(%rip) 4@%k1 4@%fs:x@tpoff", &f),
			 0);
	assert_int_equal(f->scope->n, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(f->scope->variables[i].pieces->why, why[i]);
		assert_int_equal(f->scope->variables[i].pieces->kind ==
					 DP_PIECE_NOWHERE,
				 i > 0);
	}
	free(f);
}

/* This file's own tracepoints */
static const void *__attribute__((noinline, noclone))
pass(int n, const char *text)
{
	DTRACE_PROBE2(own, first, n, text);
	DTRACE_PROBE(own, second);
	return text;
}

struct image {
	char *bytes;
	size_t size;
	struct dp_elf elf;
};

static void open_own(struct image *im)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	assert_false(fstat(fd, &st));
	im->size = (size_t)st.st_size;
	im->bytes = malloc(im->size);
	assert_int_equal(read(fd, im->bytes, im->size), im->size);
	close(fd);
}

/* A copy, which the reader owns */
static void parse(struct image *im)
{
	char *copy = malloc(im->size);

	memcpy(copy, im->bytes, im->size);
	assert_int_equal(dp_elf_open_image(&im->elf, copy, im->size), 0);
}

static const struct dp_tracepoint *find(const struct dp_tracepoints *list,
					const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].provider, "own") &&
		    !strcmp(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

static void test_notes(void **state)
{
	struct dp_tracepoints list = { 0 };
	const struct dp_tracepoint *t;
	struct image im;

	pass(1, "text");
	open_own(&im);
	parse(&im);
	assert_int_equal(dp_tracepoints_read(&list, &im.elf), 0);
	assert_int_equal(list.damaged, 0);
	t = find(&list, "first");
	assert_non_null(t);
	assert_true(!strncmp(t->arguments, "-4@", 3) &&
		    strstr(t->arguments, " 8@"));
	assert_int_equal(t->semaphore, 0);
	t = find(&list, "second");
	assert_non_null(t);
	assert_string_equal(t->arguments, "");
	dp_tracepoints_free(&list);
	dp_elf_close(&im.elf);
	free(im.bytes);
}

static Elf64_Shdr *section_of(struct image *im, const char *name)
{
	return (Elf64_Shdr *)dp_elf_section(&im->elf, name);
}

/* What prelink has moved by 16 bytes */
static void test_moved(void **state)
{
	struct dp_tracepoints was = { 0 }, is = { 0 };
	struct image im;

	open_own(&im);
	parse(&im);
	assert_int_equal(dp_tracepoints_read(&was, &im.elf), 0);
	section_of(&im, ".stapsdt.base")->sh_addr += 16;
	assert_int_equal(dp_tracepoints_read(&is, &im.elf), 0);
	assert_int_equal(find(&is, "first")->addr,
			 find(&was, "first")->addr + 16);
	dp_tracepoints_free(&is);
	/* Out of all text */
	section_of(&im, ".stapsdt.base")->sh_addr += 1ull << 40;
	assert_int_equal(dp_tracepoints_read(&is, &im.elf), 0);
	assert_int_equal(is.n, 0);
	assert_int_equal(is.damaged, was.n);
	dp_tracepoints_free(&is);
	dp_tracepoints_free(&was);
	dp_elf_close(&im.elf);
	free(im.bytes);
}

static bool is_text(const struct dp_elf *elf, u64 addr)
{
	size_t i;

	for (i = 0; i < elf->n_ph; i++)
		if (elf->ph[i].p_type == PT_LOAD && elf->ph[i].p_flags & PF_X &&
		    addr - elf->ph[i].p_vaddr < elf->ph[i].p_memsz)
			return true;
	return false;
}

/* Each byte of the notes is another one; each time what is told is in the module. */
static void test_damaged(void **state)
{
	static const char values[] = { 0, 1, 0x7f, (char)0x80, (char)0xff };
	struct image im;
	u64 off, size, i, k, v;

	open_own(&im);
	parse(&im);
	off = section_of(&im, ".note.stapsdt")->sh_offset;
	size = section_of(&im, ".note.stapsdt")->sh_size;
	for (i = 0; i < size; i++)
		for (v = 0; v < sizeof(values); v++) {
			struct dp_tracepoints list = { 0 };
			char was = im.elf.image[off + i];

			im.elf.image[off + i] = values[v];
			assert_int_equal(dp_tracepoints_read(&list, &im.elf),
					 0);
			for (k = 0; k < list.n; k++)
				assert_true(is_text(&im.elf, list.v[k].addr) &&
					    *list.v[k].name);
			dp_tracepoints_free(&list);
			im.elf.image[off + i] = was;
		}
	dp_elf_close(&im.elf);
	free(im.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_split),	cmocka_unit_test(test_many),
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_notes),
		cmocka_unit_test(test_moved),	cmocka_unit_test(test_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tracepoints", tests, NULL, NULL);
}
