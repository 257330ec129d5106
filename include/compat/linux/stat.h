/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Modes of files. */
#ifndef DP_LINUX_STAT_H
#define DP_LINUX_STAT_H

#include_next <linux/stat.h>

/* In libc's own words, so that <sys/stat.h> may follow. */
#ifndef S_IRUSR
#define	__S_IREAD	0400
#define	__S_IWRITE	0200
#define	__S_IEXEC	0100
#define S_IRUSR	__S_IREAD
#define S_IWUSR	__S_IWRITE
#define S_IXUSR	__S_IEXEC
#define S_IRWXU	(__S_IREAD|__S_IWRITE|__S_IEXEC)
#define S_IRGRP	(S_IRUSR >> 3)
#define S_IWGRP	(S_IWUSR >> 3)
#define S_IXGRP	(S_IXUSR >> 3)
#define S_IRWXG	(S_IRWXU >> 3)
#define S_IROTH	(S_IRGRP >> 3)
#define S_IWOTH	(S_IWGRP >> 3)
#define S_IXOTH	(S_IXGRP >> 3)
#define S_IRWXO	(S_IRWXG >> 3)
#endif
#define S_IRUGO (S_IRUSR | S_IRGRP | S_IROTH)
#define S_IWUGO (S_IWUSR | S_IWGRP | S_IWOTH)
#define S_IXUGO (S_IXUSR | S_IXGRP | S_IXOTH)
#define S_IRWXUGO (S_IRWXU | S_IRWXG | S_IRWXO)

#endif
