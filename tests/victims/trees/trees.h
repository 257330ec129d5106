/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trees: what the programs share whose trees of calls are compared. Each call of an f_… is in a tree. */
#ifndef TREES_H
#define TREES_H

#define UNTOLD __attribute__((no_instrument_function))
#define CALLED \
	__attribute__((noipa)) /* by its own name, and as it is written */

#endif
