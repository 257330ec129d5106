/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core: the parts of a core file, from held threads to bytes.
 *
 * Context of every function: tool process; may sleep and allocate.
 */
#ifndef DP_PROC_ATTACH_CORE_H
#define DP_PROC_ATTACH_CORE_H

#include <elf.h>
#include <sys/user.h>
#include "proc/core.h"
#include "proc/ptrace/process.h"

struct dp_view;

/**
 * struct dp_core_thread - a thread, as it was
 * @asleep, @inside: see struct dp_core_result
 * @fp: @fpregs are known
 * @xstate: its vector registers, @xstate_size bytes; 0: not known
 * @stack: @stack_size bytes of its stack, from @stack_at on
 */
struct dp_core_thread {
	pid_t tid;
	bool asleep, inside, fp;
	struct user_regs_struct regs;
	struct user_fpregs_struct fpregs;
	u8 *xstate;
	size_t xstate_size;
	u64 stack_at;
	u8 *stack;
	size_t stack_size;
};

/**
 * struct dp_core_map - a mapping
 * @prot: of mmap(2); @bytes: how many of its bytes, from its beginning, are to be in the file
 * @zeros: pages of it that are not there are zeros
 * @path: "" for none
 */
struct dp_core_map {
	u64 start, end, offset;
	u32 prot;
	u64 bytes;
	bool zeros;
	char *path;
};

/** struct dp_core - a core file that is being made */
struct dp_core {
	struct dp_process *proc;
	const struct dp_core_request *want;
	struct dp_core_result *result;
	struct {
		struct dp_core_thread *v;
		size_t n, room;
	} threads;
	struct {
		struct dp_core_map *v;
		size_t n, room;
	} maps;
	struct {
		Elf64_Phdr *v;
		size_t n, room;
	} segments;
	u64 at; /* where the file goes on */
	u64 all; /* bytes of memory that are to be in it */
	s64 held_at; /* CLOCK_REALTIME in ns */
};

/** dp_core_hold() - copy registers and stacks. Return: as dp_process_core() */
int dp_core_hold(struct dp_core *core, struct dp_diag *diag);
/** dp_core_maps() - the mappings, and what of each is wanted. Return: 0; -ESRCH; -ENOMEM */
int dp_core_maps(struct dp_core *core);
/** dp_core_memory() - write the memory, and note the segments. Return: 0; as write(2); -ESRCH */
int dp_core_memory(struct dp_core *core);
/** dp_core_finish() - write notes and headers. Return: 0; as write(2); -ENOMEM */
int dp_core_finish(struct dp_core *core);
/** dp_core_is_ours() - is a mapping that begins at @start a tool's? */
bool dp_core_is_ours(const struct dp_process *proc, const struct dp_view *view,
		     u64 start, const char *path);
/** dp_core_put() - write at the end of the file. Return: 0; as write(2) */
int dp_core_put(struct dp_core *core, const void *bytes, size_t len);

#endif
