// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gadget: pieces of libc's own code that we use where they stand. */
#include "proc/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What would end us, what ends us, and what lets others into our memory. */
static const u32 hooked[] = {
	SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask,
	SYS_execve,	  SYS_execveat,	     SYS_vfork,
	SYS_clone,	  SYS_clone3,	     SYS_exit,
	SYS_sigaltstack
};

/* What has a signal mask of its own. */
static const u32 sleeping[] = { SYS_rt_sigsuspend, SYS_ppoll, SYS_pselect6,
				SYS_epoll_pwait, SYS_epoll_pwait2 };

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

/* From "mov $nr, %eax" straight on to behind "syscall"? Return: @len of it. */
static bool leads_to_call(const u8 *code, u32 *len, bool *again)
{
	struct insn_facts f;
	int n;

	*len = 0;
	*again = true;
	for (n = 0; n < DP_REGION_INSNS && *len < DP_REGION_MAX; n++) {
		if (dp_insn_facts(code + *len, DP_REGION_MAX - *len, &f))
			return false;
		if (f.class != DP_INSN_PLAIN && f.class != DP_INSN_SYSCALL)
			return false;
		if (f.class == DP_INSN_PLAIN &&
		    !repeatable(code[*len + f.opcode_off]))
			*again = false;
		*len += f.len;
		if (f.class == DP_INSN_SYSCALL)
			return true;
	}
	return false;
}

static bool is_among(const u32 *numbers, size_t n, u32 nr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (numbers[i] == nr)
			return true;
	return false;
}

static void add_hook(struct dp_process *proc, u64 addr, const u8 *code, u32 nr,
		     u32 len)
{
	struct dp_hooked *h = &proc->hooks[proc->nr_hooks++];

	h->addr = addr;
	h->nr = nr;
	h->len = len;
	memcpy(h->code, code, sizeof(h->code));
}

/* cmp $-4095, %rax, or -4096: has a call failed? */
#define CMP_LEN 6
static bool is_cmp(const u8 *code)
{
	static const u8 cmp[] = { 0xf0, 0xff, 0xff };

	return code[0] == 0x48 && code[1] == 0x3d && code[2] <= 1 &&
	       !memcmp(code + 3, cmp, sizeof(cmp));
}

/* Where a call that sleeps is made and where it returns to, if it looks as
 * expected: mov $nr, %eax; perhaps mov …(%rsp), %edi; syscall; cmp */
static void add_sleep(struct dp_process *proc, u64 addr, const u8 *code,
		      size_t room, u32 nr, u32 len)
{
	static const u8 reload[] = { 0x8b, 0x7c, 0x24 };

	if (room < len + DP_REGION_MAX || proc->nr_hooks + 2 > DP_HOOKS_MAX ||
	    !is_cmp(code + len))
		return;
	if (len != 7 && (len != 11 || nr == SYS_rt_sigsuspend ||
			 memcmp(code + 5, reload, sizeof(reload))))
		return;
	add_hook(proc, addr, code,
		 nr | DP_CALL_ENTERS | len << DP_CALL_LENGTH_SHIFT, len);
	add_hook(proc, addr + len, code + len, nr | DP_CALL_RETURNS, CMP_LEN);
}

/* What begins at @code, if it is one of the calls. */
static void add_call(struct dp_process *proc, u64 addr, const u8 *code,
		     size_t room)
{
	bool again;
	u32 nr, len;

	memcpy(&nr, code + 1, sizeof(nr));
	if (is_among(sleeping, ARRAY_SIZE(sleeping), nr)) {
		if (leads_to_call(code, &len, &again))
			add_sleep(proc, addr, code, room, nr, len);
	} else if (is_among(hooked, ARRAY_SIZE(hooked), nr) &&
		   leads_to_call(code, &len, &again)) {
		add_hook(proc, addr, code, nr, len);
		proc->hooks[proc->nr_hooks - 1].again = again;
	}
}

/* In one pass over the text. */
static void find_calls(struct dp_process *proc, const struct dp_map *map,
		       const u8 *text)
{
	const u8 *end = text + (map->end - map->start) - DP_REGION_MAX;
	const u8 *hit;
	u64 addr;

	for (hit = text; hit < end; hit++) {
		hit = memchr(hit, 0xb8, (size_t)(end - hit));
		if (!hit || proc->nr_hooks == DP_HOOKS_MAX)
			return;
		addr = map->start + (u64)(hit - text);
		add_call(proc, addr, hit, map->end - addr);
	}
}

/* syscall(3), which gets the number in a register: mov 8(%rsp), %r9; syscall; cmp
 * $-4095, %rax */
static void find_any_call(struct dp_process *proc, const struct dp_map *map,
			  const u8 *text)
{
	static const u8 code[] = { 0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05 };
	u64 addr = find(map, text, code, sizeof(code));
	const u8 *at;

	if (!addr || map->end - addr < sizeof(code) + DP_REGION_MAX ||
	    proc->nr_hooks + 2 > DP_HOOKS_MAX)
		return;
	at = text + (addr - map->start);
	add_hook(proc, addr, at, DP_ANY_CALL, sizeof(code));
	if (is_cmp(at + sizeof(code)))
		add_hook(proc, addr + sizeof(code), at + sizeof(code),
			 DP_CALL_RETURNS, CMP_LEN);
}

/* How a thread ends, in a loop: xor %edi, %edi; mov %edx, %eax; syscall. The number
 * has been put into edx before. */
static void find_ends(struct dp_process *proc, const struct dp_map *map,
		      const u8 *text)
{
	static const u8 code[] = { 0x31, 0xff, 0x89, 0xd0, 0x0f, 0x05 };
	size_t left = map->end - map->start - DP_REGION_MAX;
	const u8 *at = text;

	while ((at = memmem(at, left - (size_t)(at - text), code,
			    sizeof(code)))) {
		if (proc->nr_hooks == DP_HOOKS_MAX)
			return;
		add_hook(proc, map->start + (u64)(at - text), at, SYS_exit,
			 sizeof(code));
		at += sizeof(code);
	}
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
	find_ends(proc, map, text);
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
