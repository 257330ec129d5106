/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * versions: names of the symbol versions that a file defines and needs.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every function:
 * tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_VERSIONS_H
#define DP_SYM_ELF_VERSIONS_H

#include "port_types.h"

struct dp_dynamic;
struct dp_elf;

/** struct dp_versions - version index to name; the names point into a dynstr */
struct dp_versions {
	const char **v;
	size_t n;
};
int dp_versions_load(struct dp_versions *vers, const struct dp_elf *elf,
		     const struct dp_dynamic *dyn, const char *str,
		     size_t str_len);
const char *dp_versions_name(const struct dp_versions *vers, u16 index);

#endif
