/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* work_init: what programs do with a kernel, while it is probed. */
#ifndef DP_KERNEL_WORK_INIT_H
#define DP_KERNEL_WORK_INIT_H

/** dp_work_some() - files, pipes, memory and children, for a moment. Return: how many results are wrong */
unsigned int dp_work_some(void);
/** dp_work_all() - one round of all kinds of system calls, the @round-th. Return: how many kinds have a wrong
 *  result: each is told */
unsigned int dp_work_all(unsigned long round);
/** dp_work_begin() - on each CPU a process does such rounds until dp_work_end()
 *  @rounds: of both. Return: have they come to their end, all results being right, with a round of each? */
void dp_work_begin(void);
int dp_work_end(unsigned long *rounds);
/** dp_stress_begin() - with stress=1 stress-ng does all kinds of things, too. Return: whether it does
 *  dp_stress_end() - all other processes are killed. Return: whether it has run until then */
int dp_stress_begin(void);
int dp_stress_end(void);
/** dp_work_child() - what the work executes: its status says that the program has run */
#define DP_WORK_CHILD "work-child"
#define DP_WORK_STATUS 23

#endif
