/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed-width types and errno values as the kernel spells them. */
#ifndef DP_PORT_TYPES_H
#define DP_PORT_TYPES_H

#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/errno.h>

/* There are stubs for calls that programs follow: port.h */
#define DP_PORT_STUBS 1

#endif
