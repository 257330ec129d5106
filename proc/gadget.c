// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gadget: pieces of libc's own code that we use where they stand. */
#include "proc/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* What would end us, what ends us, and what lets others into our memory. */
static const u32 hooked[] = {
	SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask,
	SYS_execve,	  SYS_execveat,	     SYS_vfork,
	SYS_clone,	  SYS_clone3,	     SYS_exit,
	SYS_sigaltstack
};

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

/* A lea or mov between the number and the call gives the same a second time. */
static bool repeatable(u8 opcode)
{
	return opcode == 0x8d || opcode == 0xc7 || opcode == 0x89 ||
	       opcode == 0x8b || (opcode & 0xf8) == 0xb8;
}

/* From "mov $nr, %eax" straight on to behind "syscall"? */
static bool leads_to_call(struct dp_hooked *h, const u8 *code)
{
	struct insn_facts f;
	int n;

	h->len = 0;
	h->again = true;
	for (n = 0; n < DP_REGION_INSNS && h->len < DP_REGION_MAX; n++) {
		if (dp_insn_facts(code + h->len, DP_REGION_MAX - h->len, &f))
			return false;
		if (f.class != DP_INSN_PLAIN && f.class != DP_INSN_SYSCALL)
			return false;
		if (f.class == DP_INSN_PLAIN &&
		    !repeatable(code[h->len + f.opcode_off]))
			h->again = false;
		h->len += f.len;
		if (f.class == DP_INSN_SYSCALL)
			return true;
	}
	return false;
}

static bool is_hooked(u32 nr)
{
	size_t i;

	for (i = 0; i < sizeof(hooked) / sizeof(hooked[0]); i++)
		if (hooked[i] == nr)
			return true;
	return false;
}

/* In one pass over the text. */
static void find_calls(struct dp_process *proc, const struct dp_map *map,
		       const u8 *text)
{
	const u8 *end = text + (map->end - map->start) - DP_REGION_MAX;
	const u8 *hit;
	u32 nr;

	for (hit = text; hit < end; hit++) {
		struct dp_hooked *h = &proc->hooks[proc->nr_hooks];

		hit = memchr(hit, 0xb8, (size_t)(end - hit));
		if (!hit || proc->nr_hooks == DP_HOOKS_MAX)
			return;
		memcpy(&nr, hit + 1, sizeof(nr));
		if (!is_hooked(nr) || !leads_to_call(h, hit))
			continue;
		h->addr = map->start + (u64)(hit - text);
		h->nr = nr;
		memcpy(h->code, hit, sizeof(h->code));
		proc->nr_hooks++;
	}
}

/* syscall(3), which gets the number in a register: "mov 8(%rsp), %r9; syscall". */
static void find_any_call(struct dp_process *proc, const struct dp_map *map,
			  const u8 *text)
{
	static const u8 code[] = { 0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05 };
	struct dp_hooked *h = &proc->hooks[proc->nr_hooks];

	h->addr = find(map, text, code, sizeof(code));
	if (!h->addr || proc->nr_hooks == DP_HOOKS_MAX)
		return;
	h->nr = DP_ANY_CALL;
	h->len = sizeof(code);
	h->again = true;
	memcpy(h->code, text + (h->addr - map->start), sizeof(h->code));
	proc->nr_hooks++;
}

static void search(struct dp_process *proc, const struct dp_map *map,
		   const u8 *text)
{
	static const u8 syscall_ret[] = { 0x0f, 0x05, 0xc3 };
	static const u8 restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,	   0x0f, 0x05 };

	proc->syscall_ret = find(map, text, syscall_ret, sizeof(syscall_ret));
	proc->restorer = find(map, text, restorer, sizeof(restorer));
	proc->nr_hooks = 0;
	find_calls(proc, map, text);
	find_any_call(proc, map, text);
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
