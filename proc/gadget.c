// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gadget: pieces of libc's own code that we use where they stand. */
#include "proc/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const u32 hooked[DP_NR_HOOKS] = { SYS_rt_sigaction, SYS_execve,
					 SYS_execveat };

static const struct dp_map *libc_text(const struct dp_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const char *base = strrchr(maps->v[i].path, '/');

		if (base && !strcmp(base, "/libc.so.6") &&
		    maps->v[i].perms[2] == 'x')
			return &maps->v[i];
	}
	return NULL;
}

static u64 find(const struct dp_map *map, const u8 *text, const void *bytes,
		size_t n)
{
	const u8 *hit = memmem(text, map->end - map->start, bytes, n);

	return hit ? map->start + (u64)(hit - text) : 0;
}

/* "mov $nr, %eax; syscall", if there is exactly one. */
static u64 find_call(const struct dp_map *map, const u8 *text, u32 nr)
{
	u8 code[7] = { 0xb8, 0, 0, 0, 0, 0x0f, 0x05 };
	size_t size = map->end - map->start;
	const u8 *hit, *rest;

	memcpy(code + 1, &nr, 4);
	hit = memmem(text, size, code, sizeof(code));
	if (!hit)
		return 0;
	rest = hit + 1;
	if (memmem(rest, size - (size_t)(rest - text), code, sizeof(code)))
		return 0;
	return map->start + (u64)(hit - text);
}

static void search(struct dp_process *proc, const struct dp_map *map,
		   const u8 *text)
{
	static const u8 syscall_ret[] = { 0x0f, 0x05, 0xc3 };
	static const u8 restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,	   0x0f, 0x05 };
	size_t i;

	proc->syscall_ret = find(map, text, syscall_ret, sizeof(syscall_ret));
	proc->restorer = find(map, text, restorer, sizeof(restorer));
	for (i = 0; i < DP_NR_HOOKS; i++)
		proc->hooks[i] = find_call(map, text, hooked[i]);
}

int dp_gadgets_find(struct dp_process *proc, struct dp_diag *diag)
{
	const struct dp_map *map;
	struct dp_maps maps;
	u8 *text = NULL;
	int err = dp_maps_read(proc->pid, &maps);

	if (err)
		return dp_diag_set(diag, err, "process %d has ended",
				   proc->pid);
	map = libc_text(&maps);
	if (map) {
		text = malloc(map->end - map->start);
		err = text ? dp_process_read(proc, map->start, text,
					     map->end - map->start) :
			     -ENOMEM;
		if (!err)
			search(proc, map, text);
	}
	free(text);
	dp_maps_free(&maps);
	if (err)
		return dp_diag_set(diag, err, "cannot read process %d: %s",
				   proc->pid, strerror(-err));
	if (!proc->syscall_ret || !proc->restorer)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d has no libc.so.6: either it is just starting, or it runs on another libc or none and cannot be probed yet",
			proc->pid);
	return 0;
}
