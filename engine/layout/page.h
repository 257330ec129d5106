/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* page: the unit in which memory is mapped. */
#ifndef DP_LAYOUT_PAGE_H
#define DP_LAYOUT_PAGE_H

#define DP_PAGE 4096u

#endif
