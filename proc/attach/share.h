/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share: memory of the target that is mapped in the tool, too.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_SHARE_H
#define DP_PROC_ATTACH_SHARE_H

#include "port_types.h"

struct dp_process;
struct dp_remote;

/** dp_share_file() - a file without a name, of zeros, whose size is sealed.
 *  Return: its descriptor, closed on exec; or a negative errno. */
int dp_share_file(u64 size);
/** dp_share_pass() - give the target @n of our files, two at most
 *  @there: their descriptors there, to be closed there. Return: 0 or a negative errno. */
int dp_share_pass(struct dp_process *proc, struct dp_remote *remote,
		  const int *files, u32 n, s32 *there);
/** dp_share_close() - close @n descriptors there */
void dp_share_close(struct dp_remote *remote, const s32 *there, u32 n);

/**
 * dp_share_make() - memory without a name, of zeros, mapped here and not there yet
 * @there: its descriptor there
 * Return: 0 or a negative errno.
 */
int dp_share_make(struct dp_process *proc, struct dp_remote *remote, u64 size,
		  void **ours, s32 *there);

/** dp_share_why() - why memory of @size bytes could not be shared. @text: room for
 *  DP_LIMITS_TEXT bytes. Return: @text. */
const char *dp_share_why(const struct dp_process *proc, int err, u64 size,
			 char *text);
/** dp_share_map() - and mapped there, too; @over: at this address, in place of what is
 *  there, or 0. Return: address, or a negative errno. */
long dp_share_map(struct dp_process *proc, struct dp_remote *remote, u64 over,
		  u64 size, void **ours);
/** dp_shares_forget() - unmap @n of ours; what the target has dp_unmap() unmaps */
void dp_shares_forget(struct dp_process *proc, size_t from, size_t n);

#endif
