/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* device_records: what read(2) of /dev/dprobes gives: what programs have logged. See dprobes(4). */
#ifndef DPROBES_DEVICE_RECORDS_H
#define DPROBES_DEVICE_RECORDS_H

#include <linux/types.h>

/** enum dp_device_context - what an execution interrupts, or does not */
enum dp_device_context {
	DP_DEVICE_IN_TASK,
	DP_DEVICE_IN_SOFTIRQ,
	DP_DEVICE_IN_INTERRUPT,
	DP_DEVICE_IN_NMI
};

/* Of struct dp_device_record, @flags: the log was too small for all; it begins with struct dp_device_return */
#define DP_DEVICE_TRUNCATED 1
#define DP_DEVICE_RETURNED 2
/* What @facility asks the kernel for, its debugger (1) or a dump (2), is carried out behind this record; or was not
 * permitted any more */
#define DP_DEVICE_TAKEN 4
#define DP_DEVICE_DENIED 8

/**
 * struct dp_device_return - how the log of a call that has returned begins; what was logged at the entry follows, and
 *			     behind it what was logged at the return
 * @entered: ticks, when the call began; @value: what it returns: the register rax
 */
struct dp_device_return {
	__u64 entered, value;
};

/**
 * struct dp_device_record - what a program has logged at a hit, as read(2) gives it; @log bytes follow
 * @ticks: of the processor's clock (rdtsc), when the hit began, or the call returned
 * @size: from the beginning of this record to that of the next: a multiple of 8
 * @tid: of the task that runs, or is interrupted; 0: the CPU is idle. @context: enum dp_device_context
 * @exception: that ended the program, or 0; @parm: its details
 * @major, @minor: as the probe has them, unless the program has changed them
 * @facility: N of "exit N", or 0
 * @pid, @comm: of probes on files: the task's process, and its name, which ends with 0; else 0 and ""
 */
struct dp_device_record {
	__u64 ticks;
	__u32 size, log, probe, tid;
	__u16 cpu, exception, major, minor;
	__u8 context, flags, facility, reserved;
	__u32 pid;
	__u64 parm[2];
	char comm[16];
};

#endif
