/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* There is none of it here; sources that only include it compile. */
#ifndef DP_LINUX_SECURITY_H
#define DP_LINUX_SECURITY_H

#include <linux/mm.h>
#include <linux/fs.h>

#endif
