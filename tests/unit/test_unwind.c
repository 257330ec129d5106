// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_unwind: the readers that handlers have in common with the control half.
 *
 * Oracles: readelf, for each row of whole files; the walk through all descriptions,
 * for the search by address; the reader that copies, for the one that does not.
 */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/unwind/cfi.h"
#include "sym/elf/symtab.h"
#include "sym/elf/elf.h"
#include "sym/elf/headers.h"
#include "sym/unwind/eh.h"
#include "sym/unwind/fdes.h"

/* What compilers seldom write: rows that only assembly has. */
__asm__(".text\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	.cfi_escape 0x11,3,0x7e\n" /* offset_extended_sf rbx, -2 */
	"	.cfi_escape 0x2f,6,3\n" /* negative_offset_extended rbp, 3 */
	"	nop\n"
	"	.cfi_escape 0x12,6,0x7c\n" /* def_cfa_sf rbp, -4 */
	"	.cfi_escape 0x14,12,5\n" /* val_offset r12, 5 */
	"	.cfi_escape 0x15,13,0x7d\n" /* val_offset_sf r13, -3 */
	"	nop\n"
	"	.cfi_remember_state\n"
	"	.cfi_escape 0x13,0x7a\n" /* def_cfa_offset_sf -6 */
	"	.cfi_register 14, 3\n"
	"	.cfi_same_value 12\n"
	"	.cfi_undefined 13\n"
	"	nop\n"
	"	.cfi_remember_state\n"
	"	.cfi_escape 0x10,15,2,0x77,8\n" /* expression r15, breg7 8 */
	"	.cfi_escape 0x16,14,2,0x77,16\n" /* val_expression r14 */
	"	.cfi_escape 0x0f,3,0x77,8,6\n" /* def_cfa_expression */
	"	.cfi_escape 0x2e,16\n" /* GNU_args_size */
	"	nop\n"
	"	.cfi_restore_state\n"
	"	.cfi_escape 0x06,3\n" /* restore_extended rbx */
	"	.cfi_restore 6\n"
	"	.fill 300, 1, 0x90\n"
	"	.cfi_restore_state\n"
	"	.fill 70000, 1, 0x90\n"
	"	.cfi_def_cfa 7, 24\n"
	"	nop\n"
	"	.cfi_endproc\n");

/** struct file - a file that is mapped, and its descriptions found in both ways */
struct file {
	char path[256];
	struct dp_elf view, elf;
	struct dp_fdes fdes;
	struct dp_eh_header header;
};

static struct file libc, self;

static struct dp_cursor bytes_at(const struct dp_elf *view, u64 vaddr)
{
	const u8 *p;
	u64 off, avail;

	assert_int_equal(dp_elf_offset(view, vaddr, &off, &avail), 0);
	p = view->image + off;
	return (struct dp_cursor){ p, p + avail, false };
}

static void open_file(struct file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Phdr *ph;
	struct stat st;
	void *p;

	snprintf(f->path, sizeof(f->path), "%s", path);
	assert_int_equal(fstat(fd, &st), 0);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED && dp_elf_view(&f->view, p, st.st_size));
	assert_int_equal(dp_elf_open_fd(&f->elf, fd), 0);
	assert_int_equal(dp_fdes_load(&f->fdes, &f->elf), 0);
	ph = dp_elf_segment(&f->view, PT_GNU_EH_FRAME);
	assert_non_null(ph);
	assert_true(dp_eh_header(bytes_at(&f->view, ph->p_vaddr), ph->p_vaddr,
				 &f->header));
}

static int open_files(void **state)
{
	Dl_info info;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info));
	open_file(&libc, info.dli_fname);
	open_file(&self, "/proc/self/exe");
	return 0;
}

static void close_file(struct file *f)
{
	munmap(f->view.image, f->view.size);
	dp_fdes_free(&f->fdes);
	dp_elf_close(&f->elf);
}

static int close_files(void **state)
{
	close_file(&libc);
	close_file(&self);
	return 0;
}

/* --- rows, as readelf has them --- */

static int number_of(const char *name)
{
	static const char *const names[DP_CFI_REGS] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "ra"
	};
	int i;

	for (i = 0; i < DP_CFI_REGS; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool is_cfa(const struct dp_cfi_row *row, const char *said)
{
	size_t n = strcspn(said, "+-");
	char name[8];

	if (row->cfa_reg == DP_CFI_NO_REG)
		return row->cfa_expr && !strcmp(said, "exp");
	snprintf(name, sizeof(name), "%.*s", (int)n, said);
	return !row->cfa_expr && number_of(name) == row->cfa_reg &&
	       atol(said + n) == row->cfa;
}

static bool is_rule(const struct dp_cfi_row *row, int reg, const char *said)
{
	static const char *const heads[] = { [DP_CFI_AT_CFA] = "c%+d",
					     [DP_CFI_IS_CFA] = "v%+d",
					     [DP_CFI_IN_REG] = "r%d",
					     [DP_CFI_AT_EXPR] = "exp",
					     [DP_CFI_IS_EXPR] = "vexp" };
	char text[32];

	if (row->how[reg] == DP_CFI_SAME)
		return !strcmp(said, "u") || !strcmp(said, "s");
	if (row->how[reg] == DP_CFI_UNDEFINED)
		return !strcmp(said, "u");
	snprintf(text, sizeof(text), heads[row->how[reg]], row->value[reg]);
	return !strcmp(said, text);
}

/* The row that a handler would find. */
static void find_row(struct file *f, u64 addr, struct dp_cfi *m,
		     struct dp_eh *eh)
{
	struct dp_cursor rules;
	struct dp_fde fde;

	assert_true(dp_eh_find(&f->view, addr, eh, &fde, &rules));
	assert_int_equal(eh->ra, 16);
	dp_cfi_begin(m, eh, &fde, rules);
	do
		assert_true(dp_cfi_next(m));
	while (addr >= m->end);
}

/* "LOC CFA rule…", of the registers in @columns. */
static void check_line(struct file *f, char *line, const int *columns)
{
	u64 addr = strtoull(line, &line, 16);
	char *save, *word = strtok_r(line, " \n", &save);
	struct dp_cfi m;
	struct dp_eh eh;
	int i;

	find_row(f, addr, &m, &eh);
	assert_true(is_cfa(&m.row, word));
	for (i = 0; (word = strtok_r(NULL, " \n", &save));) {
		if (*word == '(') /* "r3 (rbx)" */
			continue;
		if (!is_rule(&m.row, columns[i], word))
			fail_msg("%s 0x%llx: register %d is %s", f->path,
				 (unsigned long long)addr, columns[i], word);
		i++;
	}
}

static void read_columns(char *line, int *columns)
{
	char *save, *word = strtok_r(line, " \n", &save);

	for (word = strtok_r(NULL, " \n", &save); /* behind LOC, CFA */
	     (word = strtok_r(NULL, " \n", &save));)
		*columns++ = number_of(word);
}

static size_t compare_rows(struct file *f)
{
	char cmd[320], line[512], *path = realpath(f->path, NULL);
	int columns[DP_CFI_REGS + 1];
	bool of_fde = false;
	size_t n = 0;
	FILE *out;

	snprintf(cmd, sizeof(cmd),
		 "readelf --debug-dump=no-follow-links,frames-interp '%s'",
		 path);
	free(path);
	out = popen(cmd, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		if (strstr(line, " FDE ") || strstr(line, " CIE "))
			of_fde = strstr(line, " FDE ");
		else if (strstr(line, "LOC "))
			read_columns(line, columns);
		else if (of_fde && strspn(line, "0123456789abcdef") == 16) {
			check_line(f, line, columns);
			n++;
		}
	}
	assert_int_equal(pclose(out), 0);
	return n;
}

static void rows_are_readelfs(void **state)
{
	assert_true(compare_rows(&libc) > 5000);
	assert_true(compare_rows(&self) > 300);
}

static void search_finds_what_is_there(void **state)
{
	const struct dp_fde *fde;
	struct dp_cursor rules;
	struct dp_fde found;
	struct dp_eh eh;
	size_t i;

	assert_true(libc.fdes.n > 1000 && libc.fdes.n == libc.header.n);
	for (i = 0; i < libc.fdes.n; i++) {
		fde = &libc.fdes.v[i];
		assert_int_equal(dp_eh_header_find(&libc.header, fde->start),
				 libc.header.frame + fde->at);
		assert_int_equal(dp_eh_header_find(&libc.header, fde->end - 1),
				 libc.header.frame + fde->at);
	}
	assert_int_equal(dp_eh_header_find(&libc.header, 0), 0);
	/* Data, before and behind all code */
	assert_false(dp_eh_find(&libc.view, 0, &eh, &found, &rules));
	assert_false(
		dp_eh_find(&libc.view, libc.header.vaddr, &eh, &found, &rules));
}

/* --- descriptions by hand --- */

struct hand {
	u8 bytes[256];
	size_t n;
	struct dp_eh eh;
	struct dp_fde fde;
	struct dp_cursor rules;
	struct dp_cfi m;
};

static void put(struct hand *h, const void *p, size_t n)
{
	memcpy(h->bytes + h->n, p, n);
	h->n += n;
}

static void put32(struct hand *h, u32 v)
{
	put(h, &v, sizeof(v));
}

/* A CIE of @version with @initial, and an FDE of [0x1000, 0x1100) with @rules. */
static bool make(struct hand *h, u8 version, const char *initial,
		 const char *rules, size_t n)
{
	const u8 head[] = { version,	    'z', 'R', 0, 1, 0x78, 16, 1,
			    DW_EH_PE_udata4 };
	size_t more = strlen(initial);

	memset(h, 0, sizeof(*h));
	put32(h, (u32)(4 + sizeof(head) + more));
	put32(h, 0);
	put(h, head, sizeof(head));
	put(h, initial, more);
	put32(h, (u32)(13 + n));
	put32(h, (u32)h->n);
	put32(h, 0x1000);
	put32(h, 0x100);
	put(h, "", 1);
	put(h, rules, n);
	h->eh = (struct dp_eh){ .data = h->bytes,
				.len = h->n,
				.vaddr = 0x2000 };
	return dp_eh_read(&h->eh, dp_eh_next(&h->eh, 0), &h->fde, &h->rules);
}

#define MAKE(h, rules) \
	make(h, 1, "\x0c\x07\x08\x90\x01", rules, sizeof(rules) - 1)

/* Return: how many rows there are, or -1. */
static int count(struct hand *h)
{
	int n = 0;

	dp_cfi_begin(&h->m, &h->eh, &h->fde, h->rules);
	while (dp_cfi_next(&h->m))
		n++;
	return h->m.bad ? -1 : n;
}

static void a_location_can_be_set(void **state)
{
	struct hand h;

	assert_true(MAKE(&h, "\x01\x10\x10\x00\x00\x0e\x10"));
	assert_int_equal(count(&h), 2);
	assert_int_equal(h.m.start, 0x1010);
	assert_int_equal(h.m.row.cfa, 16);
	assert_int_equal(h.m.row.value[16], -8);
}

static void rules_come_and_go(void **state)
{
	struct hand h;

	/* The return address elsewhere, and back; the CFA by an expression, and back. */
	assert_true(
		MAKE(&h, "\x90\x03\x41\xd0\x0f\x02\x77\x08\x41\x0c\x06\x10"));
	dp_cfi_begin(&h.m, &h.eh, &h.fde, h.rules);
	assert_true(dp_cfi_next(&h.m));
	assert_int_equal(h.m.row.value[16], -24);
	assert_true(dp_cfi_next(&h.m));
	assert_int_equal(h.m.row.how[16], DP_CFI_AT_CFA);
	assert_int_equal(h.m.row.value[16], -8);
	assert_int_equal(h.m.row.cfa_reg, DP_CFI_NO_REG);
	assert_int_equal(h.bytes[h.m.row.cfa_expr], 2);
	assert_true(dp_cfi_next(&h.m));
	assert_int_equal(h.m.row.cfa_reg, 6);
	assert_int_equal(h.m.row.cfa_expr, 0);
	assert_int_equal(h.m.end, UINT64_MAX);
	assert_false(dp_cfi_next(&h.m));
	assert_false(h.m.bad);
}

static void steps_can_be_long(void **state)
{
	struct hand h;

	assert_true(MAKE(&h, "\x42\x0e\x10"));
	h.eh.code_align = 4;
	assert_int_equal(count(&h), 2);
	assert_int_equal(h.m.start, 0x1008);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *rules;
		size_t n;
	} bad[] = {
#define BAD(rules) { rules, sizeof(rules) - 1 }
		BAD("\x3f"), /* nothing has this number */
		BAD("\x0b"), /* nothing was remembered */
		BAD("\x0a\x0a\x0a\x0a\x0a"), /* too much */
		BAD("\x0c\x07"), /* ends too early */
		BAD("\x0f\x05\x01"),
		BAD("\x04\x01\x02\x03"),
		BAD("\x05\x10\xff\xff\xff\xff\xff\x0f"), /* too far away */
		BAD("\x0e\xff\xff\xff"),
	};
	struct hand h;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_true(make(&h, 1, "", bad[i].rules, bad[i].n));
		assert_int_equal(count(&h), -1);
	}
	assert_true(MAKE(&h, "\x0a\x0a\x0a\x0a"));
	assert_int_equal(count(&h), 1);
	assert_true(make(&h, 1, "\x41", "", 0)); /* where does that begin? */
	assert_int_equal(count(&h), -1);
	assert_false(make(&h, 4, "", "", 0));
}

/* Cut anywhere, a description is none, and nothing behind is looked at. */
static void damage_is_no_harm(void **state)
{
	struct dp_cursor rules;
	struct dp_fde fde;
	struct hand h;
	struct dp_eh eh;
	u64 len, fde_at;

	assert_true(MAKE(&h, "\x0e\x10"));
	fde_at = h.fde.at;
	for (len = 0; len < h.n; len++) {
		eh = (struct dp_eh){ .len = len };
		eh.data = memcpy(malloc(len + 1), h.bytes, len);
		assert_false(dp_eh_read(&eh, fde_at, &fde, &rules));
		assert_false(dp_eh_read(&eh, len + 1, &fde, &rules));
		assert_true(dp_eh_next(&eh, 0) <= len);
		free((void *)eh.data);
	}
	assert_false(dp_eh_read(&h.eh, 0, &fde, &rules)); /* a CIE */
}

static void a_damaged_header_finds_nothing(void **state)
{
	u8 good[] = { 1, 0x1b, 3, 0x3b, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1,
		      0, 0,    5, 0,	0, 0, 0, 2, 0, 0, 6, 0, 0, 0 };
	struct dp_cursor c = { good, good + sizeof(good), false };
	struct dp_eh_header h;

	assert_true(dp_eh_header(c, 0x1000, &h));
	assert_int_equal(h.frame, 0x1104);
	assert_int_equal(dp_eh_header_find(&h, 0x10ff), 0);
	assert_int_equal(dp_eh_header_find(&h, 0x1100), 0x1005);
	assert_int_equal(dp_eh_header_find(&h, 0x1200), 0x1006);
	good[8] = 3; /* more than there are */
	assert_true(dp_eh_header(c, 0x1000, &h));
	assert_int_equal(dp_eh_header_find(&h, 0x1200), 0);
	good[8] = 2;
	good[3] = 0x1b;
	assert_true(dp_eh_header(c, 0x1000, &h));
	assert_int_equal(dp_eh_header_find(&h, 0x1200), 0);
	good[0] = 2;
	assert_false(dp_eh_header(c, 0x1000, &h));
	good[0] = 1;
	c.end = good + 7;
	assert_false(dp_eh_header(c, 0x1000, &h));
}

/* --- expressions --- */

static bool read_word(void *arg, uint64_t addr, uint64_t *value)
{
	*value = addr + 1;
	return addr != 666;
}

/* @code without its length. */
static bool value_of(const char *code, size_t n, const uint64_t *begin,
		     uint64_t *value)
{
	uint64_t reg[DP_CFI_REGS] = { [7] = 1000, [16] = 5000 };
	const struct dp_expr x = { reg, read_word, NULL };
	u8 block[64] = { (u8)n };

	memcpy(block + 1, code, n);
	return dp_expr_value(&x,
			     (struct dp_cursor){ block, block + 1 + n, false },
			     begin, value);
}

#define EXPR(code) value_of(code, sizeof(code) - 1, NULL, &value)

static void expressions_have_values(void **state)
{
	static const struct {
		const char *code;
		size_t n;
		uint64_t value;
	} known[] = {
#define IS(code, value) { code, sizeof(code) - 1, value }
		IS("\x77\x08", 1008),
		IS("\x80\x7f", 4999),
		IS("\x77\x08\x06", 1009),
		IS("\x08\xff", 255),
		IS("\x09\xff", -1ull),
		IS("\x0a\xff\xff", 65535),
		IS("\x0b\xfe\xff", -2ull),
		IS("\x0c\x01\x00\x00\x80", 0x80000001),
		IS("\x0d\x01\x00\x00\x80", 0xffffffff80000001),
		IS("\x0e\x01\x02\x03\x04\x05\x06\x07\x08", 0x0807060504030201),
		IS("\x0f\xff\xff\xff\xff\xff\xff\xff\xff", -1ull),
		IS("\x10\x80\x01", 128),
		IS("\x11\x7f", -1ull),
		IS("\x3c\x3a\x1a", 12 & 10),
		IS("\x3c\x3a\x1c", 2),
		IS("\x3c\x3a\x21", 12 | 10),
		IS("\x3c\x3a\x22", 22),
		IS("\x3c\x23\x05", 17),
		IS("\x3c\x33\x24", 12 << 3),
		IS("\x3c\x32\x25", 3),
		IS("\x3c\x08\x40\x24", 0),
		IS("\x3c\x3c\x29", 1),
		IS("\x3c\x3a\x2a", 1),
		IS("\x09\xff\x3a\x2a", 0),
		IS("\x4f", 31),
		IS("", 0),
	};
	uint64_t value, begin = 40;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		assert_true(value_of(known[i].code, known[i].n, NULL, &value));
		assert_int_equal(value, known[i].value);
	}
	assert_true(value_of("\x32\x22", 2, &begin, &value));
	assert_int_equal(value, 42);
}

static void expressions_can_be_damaged(void **state)
{
	uint64_t value;

	assert_false(EXPR("\x96")); /* nop, which nobody writes */
	assert_false(EXPR("\x81\x01")); /* a register that is none */
	assert_false(EXPR("\x0e\x01\x02")); /* ends too early */
	assert_false(EXPR("\x0a\x9a\x02\x06")); /* cannot be read: 666 */
	assert_true(EXPR("\x30\x31\x32\x33\x34\x35\x36\x37\x38\x39\x3a\x3b"
			 "\x3c\x3d\x3e\x3f\x40\x41"));
	assert_int_equal(value, 15); /* the stack has no more room */
}

/* --- headers --- */

static void both_readers_agree(void **state)
{
	const struct dp_elf *view = &libc.view, *elf = &libc.elf;
	struct dp_elf_table table;
	struct dp_dynsym ds;
	size_t i;

	assert_true(elf->n_ph > 8 && elf->n_sh > 20);
	assert_int_equal(view->n_ph, elf->n_ph);
	assert_int_equal(view->n_sh, elf->n_sh);
	assert_memory_equal(view->ph, elf->ph, elf->n_ph * sizeof(*elf->ph));
	assert_memory_equal(view->sh, elf->sh, elf->n_sh * sizeof(*elf->sh));
	assert_true(dp_elf_table(view, SHT_DYNSYM, &table));
	assert_int_equal(dp_dynsym_load(&ds, elf), 0);
	assert_int_equal(table.n, ds.n);
	assert_memory_equal(table.v, ds.v, ds.n * sizeof(*ds.v));
	for (i = 0; i < ds.n; i++)
		assert_string_equal(table.str + table.v[i].st_name,
				    dp_dynsym_name(&ds, i));
	dp_dynsym_free(&ds);
}

/* @change: of a copy of our own file. Return: whether it can be viewed still. */
static bool view_copy(u64 size, void (*change)(Elf64_Ehdr *),
		      struct dp_elf *view)
{
	void *copy = malloc(size + 1);

	memcpy(copy, self.view.image, size);
	if (change)
		change(copy);
	return dp_elf_view(view, copy, size);
}

static void no_segments(Elf64_Ehdr *eh)
{
	eh->e_phoff = -8ull;
}

static void no_sections(Elf64_Ehdr *eh)
{
	eh->e_shoff = 0;
}

static void sections_far(Elf64_Ehdr *eh)
{
	eh->e_shoff = 1ull << 60;
}

static void sections_many(Elf64_Ehdr *eh)
{
	eh->e_shnum = 0xfeff;
}

/* As many that their size in bytes is 0 again. */
static void sections_endless(Elf64_Ehdr *eh)
{
	eh->e_shnum = 0;
	((Elf64_Shdr *)((char *)eh + eh->e_shoff))->sh_size = 1ull << 58;
}

static void foreign(Elf64_Ehdr *eh)
{
	eh->e_machine = EM_AARCH64;
}

static void damaged_headers_are_none(void **state)
{
	void (*const no_sh[])(Elf64_Ehdr *) = { no_sections, sections_far,
						sections_many,
						sections_endless };
	struct dp_elf_table table;
	struct dp_elf view;
	size_t i;

	assert_true(view_copy(self.view.size, no_segments, &view));
	assert_int_equal(view.n_ph, 0);
	assert_null(dp_elf_segment(&view, PT_LOAD));
	free(view.image);
	for (i = 0; i < 4; i++) {
		assert_true(view_copy(self.view.size, no_sh[i], &view));
		assert_int_equal(view.n_sh, 0);
		assert_false(dp_elf_table(&view, SHT_SYMTAB, &table));
		free(view.image);
	}
	assert_false(view_copy(self.view.size, foreign, &view));
	free(view.image);
}

static void cut_files_have_less(void **state)
{
	u64 size, full = self.view.size, off, avail;
	struct dp_elf_table table;
	struct dp_elf view;
	bool is;

	assert_true(dp_elf_table(&self.view, SHT_SYMTAB, &table));
	for (size = 0; size < full; size += 1 + size / 8) {
		is = view_copy(size, NULL, &view);
		assert_int_equal(is, size >= sizeof(Elf64_Ehdr));
		assert_false(dp_elf_table(&view, SHT_SYMTAB, &table));
		if (is && view.n_ph &&
		    !dp_elf_offset(&view, view.eh.e_entry, &off, &avail))
			assert_true(off + avail <= size);
		free(view.image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_readelfs),
		cmocka_unit_test(search_finds_what_is_there),
		cmocka_unit_test(a_location_can_be_set),
		cmocka_unit_test(rules_come_and_go),
		cmocka_unit_test(steps_can_be_long),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(damage_is_no_harm),
		cmocka_unit_test(a_damaged_header_finds_nothing),
		cmocka_unit_test(expressions_have_values),
		cmocka_unit_test(expressions_can_be_damaged),
		cmocka_unit_test(both_readers_agree),
		cmocka_unit_test(damaged_headers_are_none),
		cmocka_unit_test(cut_files_have_less),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("unwind", tests, open_files,
					   close_files);
}
