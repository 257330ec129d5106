/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own: functions of a process that probes itself, which programs call: facilities as they end
 * ("exit N"), and external functions in the middle ("call_kmod").
 */
#ifndef DP_LAYOUT_OWN_H
#define DP_LAYOUT_OWN_H

#include "port_types.h"

/** The numbers of facilities that can be registered */
#define DP_FACILITY_REGISTERED 16
#define DP_FACILITIES 256
/** How many external functions there can be, by number from 0 */
#define DP_EXTERNALS 256

/** enum dp_facility_call - when a facility is called */
enum dp_facility_call {
	DP_FACILITY_COMMITS, /* when the record is committed */
	DP_FACILITY_ENDS, /* when the program ends: the instruction has not been executed yet */
};

/**
 * struct dp_own_function - a function, in memory of the library's
 * @function: address of u64 (*)(u64 user, const void *argument); 0: none
 * @what: of a facility: enum dp_facility_call; of an external function: how many arguments
 */
struct dp_own_function {
	u64 function, user, what;
};

/** struct dp_facility_log - what a program has logged: a facility's argument, valid during the call */
struct dp_facility_log {
	const void *bytes;
	u64 len;
};

#endif
