/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals' names and types: the C library's. */
#ifndef DP_LINUX_SIGNAL_H
#define DP_LINUX_SIGNAL_H

#include <signal.h>

#endif
