/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/cred.h>. */
#ifndef DP_LINUX_USER_NAMESPACE_H
#define DP_LINUX_USER_NAMESPACE_H

#include <linux/cred.h>

#endif
