/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * injected: copy the object of an injected handler into another process.
 *
 * The shared object that holds the handler is copied with the present values of its
 * variables, and relocated to its new address. Other objects are not copied: a handler
 * that needs their code or data is refused. The tool maps the copy's memory, too.
 */
#ifndef DP_LIB_INJECTED_H
#define DP_LIB_INJECTED_H

#include "lib/foreign.h"

/**
 * struct dp_object - an object that has been copied into a process
 * @base, @size: of the original
 * @ours: address of the copy in the tool; @there: in the process
 * @users: number of uprobes that have been copied behind the object
 */
struct dp_object {
	struct dp_object *next;
	u64 base, size;
	u8 *ours;
	u64 there;
	u32 users;
};

/**
 * dp_injected_put() - put a client's handler into its process
 * @handler, @user: addresses in the process, of the handler and of its uprobe
 * @needs: enum dp_insn_state
 *
 * Context: between dp_attach_other_begin() and dp_attach_other_end().
 * Return: 0; -EOPNOTSUPP the handler cannot run in the process, with words; -ENOMEM.
 */
int dp_injected_put(struct dp_client *c, u64 *handler, u64 *user, u8 *needs);

/** dp_injected_settle() - wait until a client's handler has ended, but no longer than its
 *  deadline. Return: false: the handler still runs. */
bool dp_injected_settle(const struct dp_client *c);
/** dp_injected_see() - our address of the process's copy of a variable, which the process
 *  can write; NULL: there is no copy */
void *dp_injected_see(const struct dp_foreign *f, const void *variable);
void dp_injected_free(struct dp_foreign *f);

#endif
