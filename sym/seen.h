/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seen: is a file still the one that was looked at, and nothing has been written to it since? */
#ifndef DP_SYM_SEEN_H
#define DP_SYM_SEEN_H

#include <stdbool.h>
#include <sys/stat.h>

/** dp_seen_same() - by what two looks have told: the inode, its size, and when it was written and changed last.
 *  Two writings within a tick of the kernel's clock have the same time. */
static inline bool dp_seen_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

#endif
