/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Variable arguments. */
#ifndef DP_LINUX_STDARG_H
#define DP_LINUX_STDARG_H

#include <stdarg.h>

#endif
