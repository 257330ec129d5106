/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* file: the very file that a process has mapped. Context: tool process; may sleep. */
#ifndef DP_SYM_NAMES_FILE_H
#define DP_SYM_NAMES_FILE_H

#include <sys/types.h>
#include "port_types.h"

struct dp_elf;
struct dp_map;
struct dp_mod;
struct dp_modules;

/* A descriptor of the very file that is mapped, or a negative errno. */
int dp_file_open(const struct dp_modules *mods, const struct dp_map *map,
		 const struct dp_map *head);
int dp_file_open_elf(const struct dp_modules *mods, const struct dp_mod *mod,
		     struct dp_elf *elf);
/* Empty, and 0, for one's own process. */
int dp_file_root(const struct dp_modules *mods, char *buf, size_t len);
/* The path of a file in /proc/PID; 0 is the calling thread. */
void dp_file_proc(char *buf, size_t len, pid_t pid, const char *file);

#endif
