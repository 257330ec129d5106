/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped: clients' probes on files, in every process that maps them.
 *
 *     added: a site of the engine's at which nothing is armed ─► on, committed, and not switched off for all: entered
 *     entered ─► hit: port/kernel/user.h ─► the hit half
 *
 * Context of every function, where nothing else is said: task, between dp_kmod_enter() and dp_kmod_leave().
 */
#ifndef DP_KMOD_MAPPED_H
#define DP_KMOD_MAPPED_H

#include "port_types.h"

struct dp_client;
struct dp_kmod_mapped;
struct seq_file;

/**
 * dp_mapped_apply() - have each probe entered that is to be, and no other
 * @c: whose commit it is, or NULL; @any: false: none is to be
 * One that was wanted before, or is another client's, and cannot be entered, or whose instruction has been written, is
 * out, and tried again the next time.
 * Return: 0; an errno of dp_inode_enter(), of one that @c has come to want: those that came are out again.
 */
int dp_mapped_apply(const struct dp_client *c, bool any);
/** dp_mapped_reason() - why it is no jump, or not armed */
const char *dp_mapped_reason(const struct dp_kmod_mapped *mapped);
/** dp_mapped_free() - of a probe that is not entered, or NULL */
void dp_mapped_free(struct dp_kmod_mapped *mapped);
/** dp_mapped_take_vectors() - the probe's program reads registers of the floating-point units; before it is entered.
 *  Return: 0 or a negative errno. Context: task; takes the session's lock */
int dp_mapped_take_vectors(u32 probe);
/** dp_mapped_count() - how many of a client's are entered */
u32 dp_mapped_count(const struct dp_client *c);
/** dp_mapped_show() - "FILE+0xOFFSET  ", of a name with blanks as in /proc/mounts */
void dp_mapped_show(struct seq_file *m, const struct dp_kmod_mapped *mapped);

#endif
