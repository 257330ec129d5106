// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * scan: find where a text makes system calls, in one pass over the text.
 *
 * A text has megabytes, and some hundred system calls. So the text is read window by window,
 * and only the bytes around each call are kept.
 */
#include "arch/calls.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 65536

/**
 * struct window - the piece of a text that is in memory
 * @start: offset of its first byte; @n: its size
 */
struct window {
	size_t start, n;
	u8 bytes[WINDOW];
};

const u8 *dp_syscall_next(const u8 *at, const u8 *end)
{
	/* The second byte of "syscall" is the rarer one. */
	while (end - at > 1) {
		at = memchr(at + 1, DP_SYSCALL_LAST, (size_t)(end - at - 1));
		if (!at)
			return NULL;
		if (at[-1] == DP_SYSCALL_FIRST)
			return at - 1;
	}
	return NULL;
}

static int add(struct dp_syscalls *s, const struct window *w, const u8 *at)
{
	size_t offset = (size_t)(at - w->bytes);
	size_t before = offset < DP_AROUND ? offset : DP_AROUND;
	size_t after = w->n - offset < DP_AROUND ? w->n - offset : DP_AROUND;
	struct dp_syscall call = { .addr = s->text.start + w->start + offset };

	memcpy(call.around + DP_AROUND - before, at - before, before + after);
	return dp_list_add(&s->v, &s->n, &s->room, &call, sizeof(call));
}

/* A read of the file is faster than one of the target's memory. */
static int fill(const struct dp_process *proc, const struct dp_text_file *file,
		u64 text, struct window *w)
{
	if (file->fd >= 0 &&
	    pread(file->fd, w->bytes, w->n, (off_t)(file->offset + w->start)) ==
		    (ssize_t)w->n)
		return 0;
	return dp_process_read(proc, text + w->start, w->bytes, w->n);
}

/* Add the calls that begin at [@from, @to). */
static int look(struct dp_syscalls *s, const struct window *w, size_t from,
		size_t to)
{
	const u8 *at = w->bytes + (from - w->start);
	const u8 *end = w->bytes + (to - w->start);
	int err = 0;

	/* A call's second byte may be the first one behind @to. */
	if (to < w->start + w->n)
		end++;
	for (; !err && (at = dp_syscall_next(at, end)); at++)
		err = add(s, w, at);
	return err;
}

int dp_scan(const struct dp_process *proc, const struct dp_span *text,
	    const struct dp_text_file *file, struct dp_syscalls *s)
{
	struct window *w = malloc(sizeof(*w));
	size_t from, to, end;
	int err = w ? 0 : -ENOMEM;

	*s = (struct dp_syscalls){ .text = *text };
	for (from = 0; !err && from < text->size; from = to) {
		w->start = from < DP_AROUND ? 0 : from - DP_AROUND;
		end = text->size - w->start < WINDOW ? text->size :
						       w->start + WINDOW;
		to = end == text->size ? end : end - DP_AROUND;
		w->n = end - w->start;
		err = fill(proc, file, text->start, w);
		if (!err)
			err = look(s, w, from, to);
	}
	free(w);
	if (err)
		dp_scan_free(s);
	return err;
}

void dp_scan_free(struct dp_syscalls *s)
{
	free(s->v);
	*s = (struct dp_syscalls){ 0 };
}

int dp_scan_map(const struct dp_process *proc, const struct dp_map *m,
		struct dp_syscalls *calls)
{
	const struct dp_span text = { m->start, m->end - m->start };
	const struct dp_text_file file = dp_pages_file(proc, m);
	int err = dp_scan(proc, &text, &file, calls);

	if (file.fd >= 0)
		close(file.fd);
	return err;
}
