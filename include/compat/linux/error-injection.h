/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions whose failure may be pretended: here that is any. */
#ifndef DP_LINUX_ERROR_INJECTION_H
#define DP_LINUX_ERROR_INJECTION_H

#include <linux/ptrace.h>

#define ALLOW_ERROR_INJECTION(function, type) _Static_assert(1, #function)

#endif
