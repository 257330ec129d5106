/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * download: debug information from a server, by libdebuginfod.
 *
 * Nothing is asked for unless DEBUGINFOD_URLS is set. libdebuginfod works in a child, which
 * SIGINT ends; the tool goes on without, and downloads nothing more. What comes is a file of
 * the user's cache, and hostile.
 */
#ifndef DP_TYPES_DOWNLOAD_H
#define DP_TYPES_DOWNLOAD_H

#include "port_types.h"
#include "sym/elf/elf.h"

/**
 * dp_download() - open the debug information of a build
 * @id, @len: build-id
 * @module: of whom, for the user
 * Context: the tool's process; may sleep as long as libdebuginfod has patience, for
 * DEBUGINFOD_TIMEOUT.
 * Return: -ENOENT there is none, for which a reason is noted once.
 */
int dp_download(const u8 *id, size_t len, const char *module,
		struct dp_elf *elf);

#endif
