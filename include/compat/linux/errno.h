/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Error numbers: the system's, and those that only the kernel uses inside. */
#ifndef DP_LINUX_ERRNO_H
#define DP_LINUX_ERRNO_H

#include_next <linux/errno.h>

#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ENOIOCTLCMD 515
#define EPROBE_DEFER 517
#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif

#endif
