/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * injected: the object of ours that a handler belongs to, put into another process.
 *
 * It is copied as it is here, with its variables, and its addresses made those of the
 * place where it comes to be. Nothing that it needs of other objects comes along: a
 * handler that leads there is refused. Its variables in the process are memory that we
 * have, too.
 */
#ifndef DP_LIB_INJECTED_H
#define DP_LIB_INJECTED_H

#include "lib/foreign.h"

/**
 * struct dp_object - one of a process
 * @base, @size: of the original
 * @ours: the copy as we see it; @there: as the process does
 * @users: uprobes that are behind it
 */
struct dp_object {
	struct dp_object *next;
	u64 base, size;
	u8 *ours;
	u64 there;
	u32 users;
};

/**
 * dp_injected_put() - have a client's handler in its process
 * @handler, @user: addresses there, of the handler and of its uprobe
 * @needs: enum dp_insn_state
 *
 * Between dp_attach_other_begin() and dp_attach_other_end().
 * Return: 0; -EOPNOTSUPP it cannot run there, with words; -ENOMEM.
 */
int dp_injected_put(struct dp_client *c, u64 *handler, u64 *user, u8 *needs);

/** dp_injected_settle() - wait until a client's handler does not run any more, but no
 *  longer than its deadline. Return: false: it still does. */
bool dp_injected_settle(const struct dp_client *c);
/** dp_injected_see() - a variable as handlers in the process see it; NULL: it is not
 *  there. The process can write it. */
void *dp_injected_see(const struct dp_foreign *f, const void *variable);
void dp_injected_free(struct dp_foreign *f);

#endif
