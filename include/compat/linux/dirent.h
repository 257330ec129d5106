/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of directories, as getdents64(2) writes them. */
#ifndef DP_LINUX_DIRENT_H
#define DP_LINUX_DIRENT_H

#include <linux/types.h>

struct linux_dirent64 {
	u64 d_ino;
	s64 d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

#endif
