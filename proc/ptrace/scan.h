/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* scan: where a text makes system calls. Context: tool process; may sleep and allocate. */
#ifndef DP_PROC_PTRACE_SCAN_H
#define DP_PROC_PTRACE_SCAN_H

#include "port_types.h"
#include "engine/layout/span.h"

struct dp_process;

#define DP_AROUND 32

/**
 * struct dp_syscall - a "syscall" in a text, or bytes that look like one
 * @around: from DP_AROUND bytes before it on; zeros where the text has no more
 */
struct dp_syscall {
	u64 addr;
	u8 around[2 * DP_AROUND];
};

/** struct dp_syscalls - those of @text, by address */
struct dp_syscalls {
	struct dp_span text;
	struct dp_syscall *v;
	size_t n, room;
};

/** struct dp_text_file - a file that has the bytes of a text, from @offset on; @fd: -1: there
 *  is none */
struct dp_text_file {
	int fd;
	u64 offset;
};

/** dp_scan() - find those of @text; dp_scan_free() them. @file: of it
 *  Return: 0; -ENOMEM, or what reading it gives. */
int dp_scan(const struct dp_process *proc, const struct dp_span *text,
	    const struct dp_text_file *file, struct dp_syscalls *s);
void dp_scan_free(struct dp_syscalls *s);
/** dp_syscall_next() - the first "syscall" of some bytes, or NULL */
const u8 *dp_syscall_next(const u8 *at, const u8 *end);

#endif
