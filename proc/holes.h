/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holes: where nothing is mapped in a process.
 *
 * Context of every function: tool process, or one with libdprobes; may sleep.
 */
#ifndef DP_PROC_HOLES_H
#define DP_PROC_HOLES_H

#include <sys/types.h>
#include "port_types.h"

struct dp_hole;

/**
 * dp_holes_find() - where nothing is mapped
 * @pid: 0: in our own process
 * @more: there is to be room for so many besides
 * @holes: ascending; freed with dp_port_free()
 * Return: 0; as dp_maps_read(); -ENOMEM.
 */
int dp_holes_find(pid_t pid, size_t more, struct dp_hole **holes, size_t *n);

/** dp_nowhere() - an address where nothing is, and nothing will be soon, near @addr; @addr
 *  itself if there is none */
u64 dp_nowhere(pid_t pid, u64 addr);

#endif
