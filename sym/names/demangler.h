/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* demangler: one linkage name, read within limits of length and time. */
#ifndef DP_SYM_NAMES_DEMANGLER_H
#define DP_SYM_NAMES_DEMANGLER_H

#include "sym/demangle.h"

/** dp_demangler_begin() - watch the time from now on. Context: a child that does nothing else. */
void dp_demangler_begin(void);

/** dp_demangler_late() - how many names have taken too long by now? */
u32 dp_demangler_late(void);

/** dp_demangler_read() - as dp_demangle(), by reader @d. Context: after dp_demangler_begin(). */
bool dp_demangler_read(const struct dp_demangler *d, const char *name,
		       enum dp_demangle_form form, char *text);

#endif
