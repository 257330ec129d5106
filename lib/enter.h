/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* enter: the library's lock, for those who write text under a lock of their own. */
#ifndef DP_LIB_ENTER_H
#define DP_LIB_ENTER_H

#include <stdbool.h>

/** dp_self_is_borrowed() - is this a CLONE_VM child, whose changes would be its parent's? */
bool dp_self_is_borrowed(void);
/** dp_self_try() - take the library's lock alone, for a write to text, if it is free. Return: false: it is
 *  not. Context: signals are blocked. */
bool dp_self_try(void);
void dp_self_try_end(void);

#endif
