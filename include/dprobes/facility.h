/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facilities: functions of this process that probe programs call as they end.
 *
 * Programs in the language of dprobes.lang(7) are run in a process that probes itself by the library,
 * for "dprobes run -p PID". One that ends with "exit N", N from 16 to 255, calls the function that
 * has registered for that number, with what the program has logged.
 *
 * The functions are exits of the hook "dprobes_facility" (unsigned int number, const void *log, size_t len), which
 * is there from the first one on: see <dprobes/gkh.h>. Exits of others see the calls; they run as the
 * functions do. One that says GKH_TERMINATE takes the record.
 */
#ifndef DPROBES_FACILITY_H
#define DPROBES_FACILITY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The first number that can be registered, and the last */
#define DP_FACILITY_FIRST 16
#define DP_FACILITY_LAST 255

/** enum dp_facility_when - when a facility is called */
enum dp_facility_when {
	/* when the record is committed: the instruction has completed, or cannot but complete. Not if
	 * it raises a signal. */
	DP_FACILITY_AT_COMMIT,
	/* when the program ends: the instruction has not been executed yet, and the record may be discarded */
	DP_FACILITY_AT_ONCE
};

/**
 * dp_facility_fn - a facility
 * @ctx: as registered
 * @log: what the program has logged, as the items of dprobes.lang(7), RECORDS; valid during the call
 * @len: its bytes; 0 if it has logged nothing
 *
 * Context: as a kprobe's pre_handler: the thread that hit, at any instruction of the program's. The
 * vector state and errno are kept for it. It must not call the library, nor take a lock that the
 * interrupted code may hold, nor leave by longjmp(3). If it faults, the probe whose program has called it is disabled, and
 * dp_set_report() tells.
 */
typedef void dp_facility_fn(void *ctx, const void *log, size_t len);

/**
 * dp_facility_register() - have programs that end with "exit N" call a function
 * @number: N, from DP_FACILITY_FIRST to DP_FACILITY_LAST
 * @name: for messages; copied; 31 bytes at most, without control characters
 * @fn: called from the next hit on, by several threads at once
 * @ctx: handed to @fn
 * @when: it is to be called
 *
 * The process is prepared for probes, if it has none yet. A fork child has no facilities. The record
 * goes to the tool all the same, and says that the facility has had it; one that the facility could
 * not be called for, in the middle of a handler, says that, too.
 * Context: task, never a handler; may sleep; thread-safe.
 * Return: 0; -EINVAL no such number, or @fn or @name is not as it is to be; -EBUSY the number is
 * taken; as register_kprobe(): the process cannot be prepared; dp_last_diag() has words.
 * Source: DProbes' paper, "facilities register to be notified when the interpreter exits"; ours.
 */
int dp_facility_register(unsigned int number, const char *name,
			 dp_facility_fn *fn, void *ctx,
			 enum dp_facility_when when);

/**
 * dp_facility_unregister() - no program calls it any more
 *
 * Returns when no thread is in the facility, but for the calling one.
 * Context: as dp_facility_register().
 * Return: 0; -ENOENT nothing has registered for @number.
 */
int dp_facility_unregister(unsigned int number);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
