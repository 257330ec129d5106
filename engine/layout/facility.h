/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* facility: functions of a process that probes itself, which programs call as they end ("exit N"). */
#ifndef DP_LAYOUT_FACILITY_H
#define DP_LAYOUT_FACILITY_H

#include "port_types.h"

/** The numbers that can be registered */
#define DP_FACILITY_REGISTERED 16
#define DP_FACILITIES 256

/** enum dp_facility_call - when a facility is called */
enum dp_facility_call {
	DP_FACILITY_COMMITS, /* when the record is committed */
	DP_FACILITY_ENDS, /* when the program ends: the instruction has not been executed yet */
};

/**
 * struct dp_facility_entry - a facility, in memory of the library's
 * @function: address of int (*)(u64 user, const struct dp_facility_log *log); 0: none
 * @when: enum dp_facility_call
 */
struct dp_facility_entry {
	u64 function, user, when;
};

/** struct dp_facility_log - what a program has logged; valid during the call */
struct dp_facility_log {
	const void *bytes;
	u64 len;
};

#endif
