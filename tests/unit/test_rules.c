// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rules: for all code of a module, how a walk goes from a frame to its caller's.
 *
 * Oracle: readelf, for each address of whole files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sym/elf/elf.h"
#include "sym/rules.h"

/* What only assembly has. A nop each. */
__asm__(".text\n"
	".globl rules_code\n"
	".hidden rules_code\n"
	"rules_code:\n"
	"	.cfi_startproc\n"
	"	.cfi_escape 0x0f,3,0x77,0x70,6\n" /* the CFA is at rsp - 16 */
	"	.cfi_escape 0x10,6,2,0x76,8\n" /* rbp is at rbp + 8 */
	"	nop\n"
	"	.cfi_escape 0x0f,5,0x7a,8,6,0x23,24\n" /* at r10 + 8, and 24 more */
	"	.cfi_escape 0x10,6,2,0x73,8\n" /* rbp is at rbx + 8 */
	"	nop\n"
	"	.cfi_def_cfa 10, 0\n"
	"	.cfi_register 16, 5\n" /* rdi has the return address */
	"	nop\n"
	"	.cfi_escape 0x0f,7,0x7a,8,6,0x23,24,0x23,1\n" /* one more operation */
	"	.cfi_escape 0x16,16,2,0x77,8\n" /* the return address is rsp + 8 */
	"	nop\n"
	"	.cfi_undefined 16\n"
	"	nop\n"
	"	.cfi_endproc\n");
extern const char rules_code[];

#define LIBS "/usr/lib/x86_64-linux-gnu/"

/* C and assembly, C++, much assembly, Rust; programs. The first must be there. */
static const char *const files[] = { LIBS "libc.so.6",
				     LIBS "libstdc++.so.6",
				     LIBS "libcrypto.so.3",
				     LIBS "libstd-*.so",
				     "/bin/sh",
				     "/proc/self/exe" };

/** struct seen - how many rows of a file are of which kind */
struct seen {
	size_t rows, none, last, expressions, signals, plt, at;
};

static const char *const names[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
				     "rsi", "rdi", "r8",  "r9",	 "r10", "r11",
				     "r12", "r13", "r14", "r15" };

static int open_rules(const char *path, struct dp_rules *rules)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct dp_elf elf;

	if (fd < 0)
		return -errno;
	assert_int_equal(dp_elf_open_fd(&elf, fd), 0);
	err = dp_rules_read(rules, &elf);
	dp_elf_close(&elf);
	return err;
}

/* What a row of readelf's says: of the CFA, of rbp, of the return address */
struct said {
	char cfa[32], frame[32], ret[32];
};

static bool is_register(const struct dp_rule *rule, const char *cfa)
{
	size_t n = strcspn(cfa, "+-");

	return rule->base < 16 && strlen(names[rule->base]) == n &&
	       !strncmp(cfa, names[rule->base], n) &&
	       atol(cfa + n) == rule->cfa;
}

static bool frame_agrees(const struct dp_rule *rule, const char *frame)
{
	if (!strcmp(frame, "u") || !strcmp(frame, "s") || !*frame)
		return rule->frame_how == DP_FRAME_SAME ||
		       rule->frame_how == DP_FRAME_LOST;
	if (*frame == 'c')
		return rule->frame_how == DP_FRAME_AT_CFA &&
		       atol(frame + 1) == rule->frame;
	return rule->frame_how == DP_FRAME_LOST ||
	       (!strcmp(frame, "exp") && rule->frame_how == DP_FRAME_AT_FRAME);
}

/* A rule that says more than the row, or anything else, would lead a walk astray. */
static bool agrees(const struct dp_rule *rule, const struct said *s,
		   struct seen *seen)
{
	seen->rows++;
	seen->expressions += !strcmp(s->cfa, "exp");
	switch (rule->how) {
	case DP_RULE_NONE:
		seen->none++;
		return !strcmp(s->cfa, "exp") || strcmp(s->ret, "c-8");
	case DP_RULE_LAST:
		seen->last++;
		return !strcmp(s->ret, "u");
	case DP_RULE_SIGNAL:
		seen->signals++;
		return !strcmp(s->cfa, "exp") && !strcmp(s->ret, "exp");
	case DP_RULE_PLT:
		seen->plt++;
		return !strcmp(s->cfa, "exp") && !strcmp(s->ret, "c-8");
	case DP_RULE_AT:
		seen->at++;
		return !strcmp(s->cfa, "exp") && !strcmp(s->ret, "c-8") &&
		       frame_agrees(rule, s->frame);
	default:
		return is_register(rule, s->cfa) &&
		       frame_agrees(rule, s->frame) &&
		       (rule->ret == DP_RULE_RET_BELOW ?
				!strcmp(s->ret, "c-8") :
				*s->ret == 'r');
	}
}

/* Which columns rbp and the return address are; -1: none */
static void read_columns(char *line, int *frame, int *ret)
{
	char *save, *word = strtok_r(line, " \n", &save);
	int i;

	*frame = *ret = -1;
	strtok_r(NULL, " \n", &save);
	for (i = 0; (word = strtok_r(NULL, " \n", &save)); i++) {
		*frame = strcmp(word, "rbp") ? *frame : i;
		*ret = strcmp(word, "ra") ? *ret : i;
	}
}

static u64 read_row(char *line, int frame, int ret, struct said *s)
{
	u64 addr = strtoull(line, &line, 16);
	char *save, *word = strtok_r(line, " \n", &save);
	int i = 0;

	memset(s, 0, sizeof(*s));
	snprintf(s->cfa, sizeof(s->cfa), "%s", word);
	while ((word = strtok_r(NULL, " \n", &save))) {
		if (*word == '(') /* "r3 (rbx)" */
			continue;
		if (i == frame)
			snprintf(s->frame, sizeof(s->frame), "%s", word);
		if (i == ret)
			snprintf(s->ret, sizeof(s->ret), "%s", word);
		i++;
	}
	return addr;
}

/* From a row up to the next one, or to the end of its FDE, each address has its rule. */
static void check_range(const struct dp_rules *rules, const char *path,
			u64 from, u64 to, const struct said *s,
			struct seen *seen)
{
	struct seen once = *seen;
	u64 addr;

	for (addr = from; addr < to; addr++) {
		*seen = once;
		if (!agrees(dp_rules_at(rules, addr), s, seen))
			fail_msg("%s 0x%llx: CFA %s rbp %s ra %s, not %u", path,
				 (unsigned long long)addr, s->cfa, s->frame,
				 s->ret, dp_rules_at(rules, addr)->how);
	}
}

static void read_fde(const char *line, u64 *end)
{
	const char *pc = strstr(line, "pc=");
	const char *to = pc ? strstr(pc, "..") : NULL;

	*end = to ? strtoull(to + 2, NULL, 16) : 0;
}

static struct seen compare(const struct dp_rules *rules, const char *path)
{
	char cmd[512], line[1024], *real = realpath(path, NULL);
	int frame = -1, ret = -1;
	struct seen seen = { 0 };
	struct said now, was;
	u64 at, before = 0, end = 0;
	FILE *out;

	snprintf(cmd, sizeof(cmd),
		 "readelf -W --debug-dump=no-follow-links,frames-interp '%s'",
		 real);
	free(real);
	out = popen(cmd, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		bool row = strspn(line, "0123456789abcdef") == 16;

		if (strstr(line, "LOC ")) {
			read_columns(line, &frame, &ret);
			continue;
		}
		at = row && end && !strstr(line, " FDE ") ?
			     read_row(line, frame, ret, &now) :
			     end;
		if (before)
			check_range(rules, path, before, at, &was, &seen);
		before = at == end ? 0 : at;
		was = now;
		if (strstr(line, " FDE ") || strstr(line, " CIE "))
			read_fde(line, &end);
	}
	assert_int_equal(pclose(out), 0);
	return seen;
}

static void check_file(const char *path, bool first)
{
	struct dp_rules rules;
	struct seen seen;

	assert_int_equal(open_rules(path, &rules), 0);
	seen = compare(&rules, path);
	print_message(
		"# %s: %zu rows, %zu ranges, %zu rules; %zu rows have none\n",
		path, seen.rows, rules.n, rules.nr_rules, seen.none);
	assert_true(seen.rows > 300);
	/* Hardly any code is without a rule. */
	assert_true((seen.none ? seen.none - 1 : 0) * 1000 <= seen.rows);
	if (first)
		assert_true(seen.signals && seen.last && seen.plt);
	dp_rules_free(&rules);
}

static void rules_are_readelfs(void **state)
{
	glob_t found;
	size_t i, k;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (glob(files[i], 0, NULL, &found)) {
			assert_true(i);
			continue;
		}
		for (k = 0; k < found.gl_pathc; k++)
			check_file(found.gl_pathv[k], !i);
		globfree(&found);
	}
}

static void seldom_rules(void **state)
{
	static const struct dp_rule want[] = {
		{ DP_RULE_AT, DP_RULE_SP, DP_FRAME_AT_FRAME, DP_RULE_RET_BELOW,
		  -16, 0, 8 },
		{ DP_RULE_AT, 10, DP_FRAME_LOST, DP_RULE_RET_BELOW, 8, 24, 0 },
		{ DP_RULE_REG, 10, DP_FRAME_LOST, 7, 0, 0, 0 },
		{ .how = DP_RULE_NONE },
		{ .how = DP_RULE_LAST },
	};
	u64 at = (u64)rules_code, i;
	struct dp_rules rules;
	Dl_info info;

	assert_true(dladdr(rules_code, &info));
	at -= (u64)info.dli_fbase;
	assert_int_equal(open_rules("/proc/self/exe", &rules), 0);
	for (i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_memory_equal(dp_rules_at(&rules, at + i), &want[i],
				    sizeof(*want));
	dp_rules_free(&rules);
}

/* --- damaged files --- */

static u8 *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	u8 *bytes;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

static void check_order(const struct dp_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->n; i++) {
		assert_true(rules->v[i].which < rules->nr_rules);
		assert_true(!i || rules->v[i].start > rules->v[i - 1].start);
	}
	assert_true(!rules->n || !rules->v[rules->n - 1].which);
}

static u64 next(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* Some bytes of .eh_frame are others: ranges ascend all the same, and the last one ends all. */
static void damaged_descriptions(void **state)
{
	size_t size, i, k, read = 0;
	u8 *bytes = read_file("/bin/sh", &size), *copy;
	const Elf64_Shdr *sh;
	struct dp_rules rules;
	struct dp_elf elf;
	u64 seed = 1;

	for (i = 0; i < 300; i++) {
		copy = malloc(size);
		memcpy(copy, bytes, size);
		assert_int_equal(dp_elf_open_image(&elf, copy, size), 0);
		sh = dp_elf_section(&elf, ".eh_frame");
		assert_non_null(sh);
		for (k = 0; k < 1 + i % 50; k++)
			copy[sh->sh_offset + next(&seed) % sh->sh_size] =
				(u8)next(&seed);
		if (!dp_rules_read(&rules, &elf)) {
			check_order(&rules);
			dp_rules_free(&rules);
			read++;
		}
		dp_elf_close(&elf);
	}
	free(bytes);
	assert_true(read > 200);
}

static void without_descriptions(void **state)
{
	size_t size;
	u8 *bytes = read_file("/bin/sh", &size);
	struct dp_rules rules;
	struct dp_elf elf;
	size_t i;

	assert_int_equal(dp_elf_open_image(&elf, bytes, size), 0);
	elf.n_sh = 0;
	for (i = 0; i < elf.n_ph; i++)
		if (elf.ph[i].p_type == PT_GNU_EH_FRAME)
			elf.ph[i].p_type = PT_NULL;
	assert_int_equal(dp_rules_read(&rules, &elf), -ENOENT);
	assert_null(rules.v);
	assert_int_equal(dp_rules_at(&rules, 0x1000)->how, DP_RULE_NONE);
	dp_elf_close(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_readelfs),
		cmocka_unit_test(seldom_rules),
		cmocka_unit_test(damaged_descriptions),
		cmocka_unit_test(without_descriptions),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
