/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration, as sources before Linux 2.6.19 ask for it: nothing is configured here. */
#ifndef DP_LINUX_CONFIG_H
#define DP_LINUX_CONFIG_H
#endif
