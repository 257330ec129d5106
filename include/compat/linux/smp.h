/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processors. The thread may be on another one by the time it looks. */
#ifndef DP_LINUX_SMP_H
#define DP_LINUX_SMP_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/preempt.h>

#define NR_CPUS 256
/** smp_processor_id() - 0 to NR_CPUS - 1. Context: any. */
unsigned int smp_processor_id(void) DP_COMPAT(smp_processor_id);
/** num_online_cpus(), num_possible_cpus() - Context: any. */
unsigned int num_online_cpus(void) DP_COMPAT(num_online_cpus);
unsigned int num_possible_cpus(void) DP_COMPAT(num_possible_cpus);
#define raw_smp_processor_id() smp_processor_id()
#define num_present_cpus() num_possible_cpus()
#define nr_cpu_ids num_possible_cpus()
#define cpu_online(cpu) ((cpu) < num_possible_cpus())
#define get_cpu() smp_processor_id()
#define put_cpu() barrier()
int on_each_cpu(void (*function)(void *info), void *info, int wait)
	DP_ABSENT(on_each_cpu, "no processor can be interrupted from here");
int smp_call_function(void (*function)(void *info), void *info, int wait)
	DP_ABSENT(smp_call_function, "no processor can be interrupted from here");
int smp_call_function_single(int cpu, void (*function)(void *info), void *info,
			     int wait)
	DP_ABSENT(smp_call_function_single, "no processor can be interrupted from here");
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (unsigned int)(cpu) < num_possible_cpus(); (cpu)++)
#define for_each_online_cpu(cpu) for_each_possible_cpu(cpu)
#define for_each_present_cpu(cpu) for_each_possible_cpu(cpu)

#endif
