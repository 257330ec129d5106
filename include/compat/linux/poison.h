/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is put into pointers of removed entries. */
#ifndef DP_LINUX_POISON_H
#define DP_LINUX_POISON_H

#define LIST_POISON1 ((void *)0xdead000000000100)
#define LIST_POISON2 ((void *)0xdead000000000122)

#endif
