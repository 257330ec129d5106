/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits_file: a file without a process, to be asked for exits. Addresses are those
 * of the file. */
#ifndef DP_TEST_EXITS_FILE_H
#define DP_TEST_EXITS_FILE_H

#include <errno.h>
#include <fcntl.h>
#include "sym/flow/exits_file.h"
#include "sym/flow/map.h"
#include "sym/flow/slot.h"

/* Return: 0 or a negative errno. Zeroed before. */
static inline int exits_file_open(struct dp_exits_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -ENOENT;
	err = dp_elf_open_fd(&f->elf, fd);
	return err ? err : dp_exits_file_read(f, path);
}

#endif
