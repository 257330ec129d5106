/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tasks: where tasks are that the scheduler has taken off their CPUs.
 *
 * A task may be preempted in a copy, or between two instructions that a jump is to displace.
 */
#ifndef DP_KMOD_TASKS_H
#define DP_KMOD_TASKS_H

#include "port_types.h"

/** dp_tasks_wait() - until each task has left this module's text, copies included, that was preempted there
 *  Context: task, may sleep; no lock that keeps CPUs from coming and going. */
void dp_tasks_wait(void);

/**
 * dp_tasks_in() - has a task been preempted at an address that @is_in says is inside?
 *
 * A task that sleeps by itself is at no such address.
 * Context: the function of a stop_machine(): no other CPU does anything.
 */
bool dp_tasks_in(bool (*is_in)(void *arg, u64 addr), void *arg);

#endif
