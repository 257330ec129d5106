// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* decode: facts about an instruction, from the decoder that the kernel has for its own probes. */
#include "port/kernel/decode.h"
#include "arch/facts.h"
#include "engine/insn/insn.h"
#include <linux/kallsyms.h>
#include <linux/string.h>
#include <asm/insn.h>

/* mov between al, ax, eax or rax and memory whose whole address is in the instruction */
#define OPCODE_MOFFS 0xa0
#define NR_MOFFS 4

static int (*decode)(struct insn *insn, const void *code, int size,
		     enum insn_mode mode);

bool dp_kernel_is_function(u64 addr, const char *name)
{
	char symbol[KSYM_SYMBOL_LEN];
	size_t n = strlen(name);

	/* "insn_decode+0x0/0x60", with a module's name behind it if it is of one */
	sprint_symbol(symbol, (unsigned long)addr);
	return !strncmp(symbol, name, n) &&
	       !strncmp(symbol + n, "+0x0/", strlen("+0x0/")) &&
	       !strchr(symbol, '[');
}

int dp_kernel_set_decoder(u64 addr)
{
	if (!dp_kernel_is_function(addr, "insn_decode"))
		return -ENOENT;
	decode = (void *)addr;
	return 0;
}

static enum dp_x86_map map_of(const struct insn *in)
{
	if (in->vex_prefix.nbytes)
		return DP_X86_MAP_OTHER;
	return in->opcode.nbytes == 1 ? DP_X86_MAP_ONE :
	       in->opcode.nbytes == 2 ? DP_X86_MAP_0F :
					DP_X86_MAP_OTHER;
}

/* The last one counts, of those that name a segment. */
static void take_prefixes(const struct insn *in, const u8 *code,
			  struct dp_x86_parts *p)
{
	u8 i;

	for (i = 0; i < in->prefixes.nbytes; i++) {
		p->is_16 |= code[i] == 0x66;
		p->is_32 |= code[i] == 0x67;
		p->locks |= code[i] == 0xf0;
		if (code[i] == 0x64 || code[i] == 0x65) {
			p->fs = code[i] == 0x64;
			p->gs = code[i] == 0x65;
		}
	}
}

static void take_apart(const struct insn *in, const u8 *code,
		       struct dp_x86_parts *p)
{
	u8 rex = in->rex_prefix.nbytes ? in->rex_prefix.bytes[0] : 0;

	p->map = map_of(in);
	p->opcode = in->opcode.bytes[in->opcode.nbytes - 1];
	p->has_modrm = in->modrm.nbytes;
	p->modrm = p->has_modrm ? in->modrm.bytes[0] : 0;
	p->sib = in->sib.nbytes ? in->sib.bytes[0] : 0;
	p->rex_w = X86_REX_W(rex);
	p->rex_x = X86_REX_X(rex);
	p->rex_b = X86_REX_B(rex);
	p->disp = in->displacement.nbytes ? in->displacement.value : 0;
	take_prefixes(in, code, p);
}

/* Of the branches, and of xbegin */
static bool is_relative(const struct dp_x86_parts *p)
{
	u8 op = p->opcode;

	if (p->map == DP_X86_MAP_0F)
		return (op & 0xf0) == 0x80;
	if (p->map != DP_X86_MAP_ONE)
		return false;
	return (op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) ||
	       (op >= 0xe8 && op <= 0xeb) || (op == 0xc7 && p->modrm == 0xf8);
}

static bool is_moffs(const struct dp_x86_parts *p)
{
	return p->map == DP_X86_MAP_ONE &&
	       p->opcode - OPCODE_MOFFS < NR_MOFFS && p->opcode >= OPCODE_MOFFS;
}

/* Lengths and offsets of the parts, in their order */
static void measure(const struct insn *in, const struct dp_x86_parts *p,
		    struct insn_facts *f)
{
	u8 at = in->prefixes.nbytes + in->rex_prefix.nbytes +
		in->vex_prefix.nbytes + in->opcode.nbytes;

	f->len = in->length;
	if (p->has_modrm) {
		f->modrm_off = at;
		at += in->modrm.nbytes + in->sib.nbytes;
	}
	if (in->displacement.nbytes || is_moffs(p)) {
		f->disp_off = at;
		f->disp_size = is_moffs(p) ? in->length - at :
					     in->displacement.nbytes;
		at += f->disp_size;
	}
	if (at == in->length)
		return;
	f->imm_off = at;
	/* enter has a second one; of mov, both are halves. */
	f->imm_size = p->map == DP_X86_MAP_ONE && p->opcode == 0xc8 ?
			      in->immediate1.nbytes :
			      in->length - at;
}

int dp_insn_facts(const u8 *code, size_t size, struct insn_facts *f)
{
	struct dp_x86_parts parts = { 0 };
	struct insn in;

	*f = (struct insn_facts){ 0 };
	if (!decode || decode(&in, code, (int)min_t(size_t, size, DP_INSN_MAX),
			      INSN_MODE_64))
		return -EILSEQ;
	/* Two bytes of prefix: registers that the facts do not know */
	if (in.rex_prefix.nbytes > 1)
		return -EILSEQ;
	take_apart(&in, code, &parts);
	/* A prefix that another one follows is none; that decoder takes it for an instruction. */
	if (parts.map == DP_X86_MAP_ONE && (parts.opcode & 0xf0) == 0x40)
		return -EILSEQ;
	parts.is_relative = is_relative(&parts);
	if (parts.is_relative)
		parts.relative = in.immediate.value;
	measure(&in, &parts, f);
	dp_x86_facts(&parts, f);
	return 0;
}

/* Only detours that make records themselves ask, and of these a kernel has none. To leave to the
 * hit half is right whatever the instruction is. */
bool dp_insn_memory(const u8 *code, size_t size, struct dp_insn_memory *m)
{
	*m = (struct dp_insn_memory){ 0 };
	return false;
}
