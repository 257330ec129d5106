/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* limits: what is read of a file, or of a process, at most. */
#ifndef DP_SYM_ELF_LIMITS_H
#define DP_SYM_ELF_LIMITS_H

/*
 * What is read of a file, or of a process, at most: -EFBIG if there is more. The largest programs
 * have a fifth of it.
 */
#define DP_TABLE_MAX (512ull << 20) /* bytes of one table of a file */
#define DP_NAMES_MAX (4u << 20) /* functions of one file */
#define DP_UNPACKED_MAX (64u << 20) /* bytes of .gnu_debugdata: a few KB can unpack to any amount */
#define DP_UNPACKER_MEMORY (256ull << 20)
#define DP_MAPS_TEXT_MAX (128u << 20) /* bytes of /proc/PID/maps: a million mappings, with paths */

#endif
