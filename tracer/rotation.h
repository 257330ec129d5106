/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rotation: a file that begins anew at a size, with the ones before beside it. */
#ifndef DP_TRACER_ROTATION_H
#define DP_TRACER_ROTATION_H

#include "port_types.h"
#include <stdio.h>

#define DP_ROTATION_FILES 1000

struct dp_rotation;

/**
 * dp_rotation_open() - begin FILE; files FILE.1 to FILE.(@files - 1) of an earlier run are removed
 * @path: FILE; copied
 * @size: bytes of a file, at most; a longer line has one to itself
 * @files: 1 to DP_ROTATION_FILES
 * @out: lines go there; what is written there is in the files once it is flushed
 *
 * Before a line that FILE has no room for FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on; the
 * last one goes, with its lines.
 * Return: 0; -EEXIST: FILE, or a file beside it, is no regular file; another negative errno.
 */
int dp_rotation_open(struct dp_rotation **rotation, const char *path, u64 size,
		     u32 files, FILE **out);
/** dp_rotation_close() - free it; its stream has been closed. May be NULL */
void dp_rotation_close(struct dp_rotation *rotation);
/** dp_rotation_dropped() - lines that have gone with their files */
u64 dp_rotation_dropped(const struct dp_rotation *rotation);

#endif
