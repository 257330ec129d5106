/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text: what the fuzzers of control probe: a few instructions, of which each kind matters,
 * and a program that does nothing.
 */
#ifndef DP_FUZZ_TEXT_H
#define DP_FUZZ_TEXT_H

#include "engine/site/program.h"
#include "engine/text/target.h"
#include "engine/vm/ops.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 0x10000000ull
#define BASE 0x70000000ull
#define ENTRY 0x20000000ull
#define SITES 6u

/* push; lea rip; call; ret; nops; mov $13, %eax; syscall */
static const u8 code[128] = {
	0x55, 0x48, 0x8d, 0x05, 0x10, 0,    0,	  0,	0xe8,
	0x10, 0,    0,	  0,	0xc3, 0x90, 0x90, 0x90, 0x90,
	0x90, 0x90, 0xb8, 0x0d, 0,    0,    0,	  0x0f, 0x05,
};
#define INTERCEPT 20
static const u8 places[SITES] = { 0, 1, 8, 13, 14, 15 };
static u8 text[sizeof(code)];

static inline void must(bool good)
{
	if (!good)
		abort();
}

static inline bool in_text(u64 addr, size_t len)
{
	return addr - TEXT < sizeof(text) &&
	       len <= sizeof(text) - (addr - TEXT);
}

static inline int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	if (!in_text(addr, len))
		return -EFAULT;
	memcpy(to, text + (addr - TEXT), len);
	return 0;
}

/* Where nothing is probed control has no business, whatever the arena says. */
static inline int write_text(struct dp_target *t, u64 addr, const void *from,
			     size_t len)
{
	must(in_text(addr, len));
	memcpy(text + (addr - TEXT), from, len);
	return 0;
}

/* Site 0 has it. */
static inline void add_program(struct dp_engine *e)
{
	static const u8 bytecode[] = { DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "fuzzed",
					      .code = bytecode,
					      .code_len = sizeof(bytecode),
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 3,
					      .nr_gv = 2,
					      .jmpmax = 10,
					      .logmax = 64,
					      .stack = 32 };
	const struct dp_binding binding = { .start = 0 };
	const char *why;
	u32 program, offset;

	must(!dp_engine_add_program(e, &spec, &program, &offset, &why));
	dp_engine_bind(e, 0, &binding);
}

#endif
