// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facts_init: facts about the running kernel's own instructions, by Zydis. A part of init. */
#include "tests/kernel/facts.h"
#include "tests/kernel/init.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <link.h>

/* Of so many functions one, and of these so many bytes */
enum { EACH = 12, MOST = 4096 };

static int kcore = -1;
static Elf64_Phdr segments[64];
static int nr_segments;

static int open_kernel(void)
{
	Elf64_Ehdr head;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0 || pread(kcore, &head, sizeof(head), 0) != sizeof(head) ||
	    head.e_phnum > 64)
		return -1;
	nr_segments = head.e_phnum;
	return pread(kcore, segments, nr_segments * sizeof(*segments),
		     (off_t)head.e_phoff) > 0 ?
		       0 :
		       -1;
}

static long read_kernel(u64 addr, void *to, size_t n)
{
	int i;

	for (i = 0; i < nr_segments; i++)
		if (addr - segments[i].p_vaddr < segments[i].p_memsz)
			return pread(kcore, to, n,
				     (off_t)(segments[i].p_offset + addr -
					     segments[i].p_vaddr));
	return -1;
}

/* A prefix, and another of its kind behind it: no compiler writes that, and data may look so. */
static int is_odd(const u8 *code)
{
	return !*code || ((code[0] & 0xf0) == 0x40 && (code[1] & 0xf0) == 0x40);
}

/* @code has DP_INSN_MAX bytes more. Return: how many instructions */
static unsigned int put_code(FILE *to, const u8 *code, u64 size)
{
	struct insn_facts facts;
	unsigned int n = 0;
	u64 at;

	for (at = 0; at < size; at += facts.len, n++) {
		struct dp_fact fact = { { 0 } };

		if (is_odd(code + at) ||
		    dp_insn_facts(code + at, DP_INSN_MAX, &facts) ||
		    at + facts.len > size)
			return n;
		memcpy(fact.code, code + at, DP_INSN_MAX);
		dp_fact_fill(&fact, &facts);
		fwrite(&fact, sizeof(fact), 1, to);
	}
	return n;
}

static unsigned int put_function(FILE *to, u64 addr, u64 size)
{
	u8 code[MOST + DP_INSN_MAX];

	if (size > MOST)
		size = MOST;
	memset(code, 0, sizeof(code));
	if (read_kernel(addr, code, size) != (long)size)
		return 0;
	return put_code(to, code, size);
}

/* From its beginning on, so that each is one; what fills up sections is none. */
static void put_segment(FILE *to, const u8 *code, u64 size)
{
	struct insn_facts facts;
	u64 at = 0, until;

	while (at + MOST + DP_INSN_MAX < size) {
		until = at + EACH * MOST / 2;
		put_code(to, code + at, MOST);
		while (at < until && at + DP_INSN_MAX < size)
			at += is_odd(code + at) || dp_insn_facts(code + at,
								 DP_INSN_MAX,
								 &facts) ?
				      1 :
				      facts.len;
	}
}

/* Of this program and its libraries: the kernel has hardly an indirect branch, and no vectors. */
static int put_program(struct dl_phdr_info *info, size_t bytes, void *to)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			put_segment(to, (u8 *)info->dlpi_addr + p->p_vaddr,
				    p->p_memsz);
	}
	return 0;
}

static int is_code(char type)
{
	return type == 't' || type == 'T';
}

unsigned int dp_facts_write(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "r"),
	     *to = fopen(DP_FACTS_FILE, "w");
	unsigned long at, before = 0;
	unsigned int n = 0, i = 0;
	char line[512], type;

	if (!symbols || !to || open_kernel())
		return 0;
	while (fgets(line, sizeof(line), symbols) && !strchr(line, '[')) {
		if (sscanf(line, "%lx %c", &at, &type) != 2 || !is_code(type))
			continue;
		if (before && at > before && i++ % EACH == 0)
			n += put_function(to, before, at - before);
		before = at;
	}
	dl_iterate_phdr(put_program, to);
	fclose(symbols);
	return fclose(to) ? 0 : n;
}
