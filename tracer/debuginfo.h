/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* debuginfo: what the user is told of files with debug information. */
#ifndef DP_TRACER_DEBUGINFO_H
#define DP_TRACER_DEBUGINFO_H

struct dp_tracer_options;

/** dp_debuginfo_begin() - tell, from now on, of downloads and, with -v, of files that are not used */
void dp_debuginfo_begin(const struct dp_tracer_options *opt);
/** dp_debuginfo_failure() - what is wrong with debug information, behind "its debug information";
 *  @err: of dp_types_prototype(), dp_types_returned() */
const char *dp_debuginfo_failure(int err);
/** dp_debuginfo_kernel() - the same of the kernel's types; @err: of dp_types_kernel(); -EDOM: they
 *  are asked for in the middle of a function */
const char *dp_debuginfo_kernel(int err);

#endif
