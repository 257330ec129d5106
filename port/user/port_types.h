/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed-width types and errno values as the user-space worlds spell them. */
#ifndef DP_PORT_TYPES_H
#define DP_PORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <asm/errno.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* A process has no stubs for calls that programs follow: port.h. The world of tests has. */
#ifdef DP_PORT_FAKE
#define DP_PORT_STUBS 1
#else
#define DP_PORT_STUBS 0
#endif

#endif
