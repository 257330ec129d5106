/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port_types: the types and errno values of a world without any header.
 *
 * Only compiled, to show that the engine needs nothing else (tools/check-bare).
 */
#ifndef DP_PORT_TYPES_H
#define DP_PORT_TYPES_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;
typedef __SIZE_TYPE__ size_t;
typedef u8 uint8_t;
typedef __INT16_TYPE__ int16_t;
typedef u32 uint32_t;
typedef u64 uint64_t;
typedef s32 int32_t;
typedef s64 int64_t;

#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)
#define offsetof(type, field) __builtin_offsetof(type, field)

#define ENOENT 2
#define EAGAIN 11
#define ENOMEM 12
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EINVAL 22
#define ENOSPC 28
#define EBADMSG 74
#define EILSEQ 84
#define EOPNOTSUPP 95

/* There are no stubs for calls that programs follow: port.h */
#define DP_PORT_STUBS 0

#endif
