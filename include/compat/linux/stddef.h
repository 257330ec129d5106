/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NULL, offsetof and sizes of fields. */
#ifndef DP_LINUX_STDDEF_H
#define DP_LINUX_STDDEF_H

#include_next <linux/stddef.h>
#include <stddef.h>
#include <linux/compiler.h>

#define sizeof_field(type, field) sizeof(((type *)0)->field)
#define FIELD_SIZEOF(type, field) sizeof_field(type, field)
#define offsetofend(type, field) \
	(offsetof(type, field) + sizeof_field(type, field))

#endif
