// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * doer: which instruction wrote, when its thread has trapped behind it.
 *
 * A data breakpoint traps when the instruction is done. So the thread stands at the next one,
 * and what is before that in memory has written, unless the thread came by a jump, call or
 * return. None of these writes but a call, which leads to the beginning of a function. A string
 * instruction with a repetition traps between two rounds and stands at itself. If both that and
 * the instruction before can have written, or neither, it is not known which has.
 */
#include "engine/insn/insn.h"
#include "sym/sym.h"
#include "tracer/watchpoint/watchpoint.h"
#include <stdlib.h>
#include <unistd.h>

#define FUNCTION_MOST (1u << 20)
#define INSN_MOST 15

/* Does it write again and again, by a prefix? Then the thread may stand in its middle. */
static bool repeats(const u8 *code, const struct insn_facts *f)
{
	u8 op = code[f->opcode_off];
	bool prefix = false;
	int i;

	for (i = 0; i < f->opcode_off; i++)
		prefix |= code[i] == 0xf2 || code[i] == 0xf3;
	return prefix && (op == 0xa4 || op == 0xa5 || op == 0xaa ||
			  op == 0xab || op == 0x6c || op == 0x6d);
}

/* Can the instruction have written to memory, and be followed by the next one? */
static bool may_write(const u8 *code, size_t size, const struct insn_facts *f)
{
	struct dp_insn_memory memory;

	if (f->class != DP_INSN_PLAIN || f->faults == DP_FAULTS_NEVER ||
	    f->faults == DP_FAULTS_POP)
		return false;
	return !dp_insn_memory(code, size, &memory) || memory.writes;
}

/* @code: of a function, @size bytes; @at: where the thread stands in it. Return: false: it is not
 * known which instruction has written; else that is at @by. */
static bool find(const u8 *code, size_t size, size_t at, size_t *by)
{
	struct insn_facts f, next;
	size_t i = 0, last = 0;
	bool before;

	while (i < at) {
		if (dp_insn_facts(code + i, size - i, &f))
			return false;
		last = i;
		i += f.len;
	}
	if (i != at || !at || dp_insn_facts(code + at, size - at, &next))
		return false;
	before = may_write(code + last, size - last, &f);
	*by = before ? last : at;
	return before != repeats(code + at, &next);
}

/* The code as its file has it: there are no other tool's jumps, and the process may have ended. */
static ssize_t read_code(struct dp_modules *mods, u64 start, u8 *code,
			 size_t size)
{
	const struct dp_module *m = dp_module_at(mods, start);
	ssize_t got = -1;
	u64 offset;
	int fd;

	if (!m || dp_module_addr_file(mods, start, &offset))
		return -1;
	fd = dp_module_open(mods, m);
	if (fd < 0)
		return -1;
	got = pread(fd, code, size, (off_t)offset);
	close(fd);
	return got;
}

u64 dp_watch_doer(struct dp_modules *mods, u64 pc)
{
	u64 start, end;
	size_t room, by;
	ssize_t size;
	u8 *code;
	bool found;

	if (dp_function_bounds(mods, pc, &start, &end) || pc < start ||
	    pc >= end || end - start > FUNCTION_MOST)
		return 0;
	room = end - start + INSN_MOST;
	code = malloc(room);
	if (!code)
		return 0;
	size = read_code(mods, start, code, room);
	found = size > (ssize_t)(pc - start) &&
		find(code, (size_t)size, pc - start, &by);
	free(code);
	return found ? start + by : 0;
}
