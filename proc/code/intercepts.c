// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * intercepts: system calls that pass through the agent, found by their bytes.
 *
 * Before a call, libcs load its number as a constant, and nearly always go straight on to the
 * "syscall" instruction.
 */
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/layout/private.h"
#include "arch/calls.h"
#include "proc/code/intercepts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Calls that change or show signal state, end a thread or a program, make a process or a
 * thread, or may forbid what the agent needs. */
static const int intercepted[] = {
	SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_execve,
	SYS_execveat,	  SYS_fork,	     SYS_vfork,		 SYS_clone,
	SYS_clone3,	  SYS_exit,	     SYS_sigaltstack,	 SYS_arch_prctl,
	SYS_prctl,	  SYS_seccomp
};

/* Masked waits. */
static const int sleeping[] = { SYS_rt_sigsuspend, SYS_ppoll, SYS_pselect6,
				SYS_epoll_pwait, SYS_epoll_pwait2 };

/* Of calls that can install a filter the agent examines all arguments when they are made
 * (port/user/signals/filter_install.c). */
static u32 asked_for(u32 nr)
{
	return nr == SYS_prctl || nr == SYS_seccomp ? DP_PLAIN_CALL : nr;
}

/* Instructions from "mov $nr, %eax" to "syscall" */
#define LEAD_INSNS (DP_REGION_INSNS + 3)
/* The code of a call begins at most so far before the "syscall". */
#define LEAD (DP_AROUND - 5)
_Static_assert(DP_SYSCALL_SIZE + DP_REGION_MAX <= DP_AROUND, "around");

/**
 * struct lead - the way from "mov $nr, %eax" straight to "syscall"
 * @skip: instructions that an intercept leaves where they are, because there are too many for
 *        it: bytes; @len: bytes from there to the end of the call
 * @again: the others may be executed twice
 */
struct lead {
	u32 skip, len;
	bool again;
};

/* Leave out what comes first of @n instructions at the offsets @at, the last one the call. */
static bool fits(struct lead *l, const u32 *at, int n, u32 end)
{
	int i = 0;

	while (n - i > DP_REGION_INSNS || end - at[i] > DP_REGION_MAX)
		i++;
	l->skip = at[i];
	l->len = end - at[i];
	return l->len >= DP_JUMP_SIZE;
}

static bool leads_to_call(const u8 *code, struct lead *l)
{
	struct insn_facts f;
	u32 at[LEAD_INSNS], end = 0;
	int n = 0;

	l->again = true;
	while (n < LEAD_INSNS && end < LEAD) {
		if (dp_insn_facts(code + end, DP_INSN_MAX, &f) ||
		    (f.class != DP_INSN_PLAIN && f.class != DP_INSN_SYSCALL))
			return false;
		if (f.class == DP_INSN_PLAIN &&
		    !dp_code_repeats(code[end + f.opcode_off]))
			l->again = false;
		at[n++] = end;
		end += f.len;
		if (f.class == DP_INSN_SYSCALL)
			return fits(l, at, n, end);
	}
	return false;
}

long dp_intercepts_call(size_t i)
{
	if (i < ARRAY_SIZE(intercepted))
		return intercepted[i];
	i -= ARRAY_SIZE(intercepted);
	return i < ARRAY_SIZE(sleeping) ? sleeping[i] : -1;
}

bool dp_intercepts_masked_wait(u32 nr)
{
	return dp_call_index(sleeping, ARRAY_SIZE(sleeping), nr) >= 0;
}

static bool is_other(u32 nr)
{
	return dp_call_index(intercepted, ARRAY_SIZE(intercepted), nr) >= 0;
}

bool dp_intercepts_wanted(u32 nr)
{
	return is_other(nr) || dp_intercepts_masked_wait(nr);
}

void dp_intercepts_add(struct dp_process *proc, u64 addr, const u8 *code,
		       u32 nr, u32 len, bool again)
{
	struct dp_intercept *h = &proc->intercepts[proc->nr_intercepts++];

	h->again = again;
	h->addr = addr;
	h->nr = nr;
	h->len = len;
	memcpy(h->code, code, sizeof(h->code));
}

/* Add a masked wait's two intercepts, at the call and behind it, if the code has the expected
 * form: mov $nr, %eax; perhaps mov …(%rsp), %edi; syscall; cmp */
static void add_masked_wait(struct dp_process *proc, u64 addr, const u8 *code,
			    size_t room, u32 nr, u32 len)
{
	if (room < len + DP_REGION_MAX ||
	    proc->nr_intercepts + 2 > DP_INTERCEPTS_MAX ||
	    !dp_code_checks(code + len))
		return;
	if (len != 7 && (len != 11 || nr == SYS_rt_sigsuspend ||
			 !dp_code_reloads(code + DP_SETS_NUMBER_SIZE)))
		return;
	dp_intercepts_add(proc, addr, code,
			  nr | DP_CALL_ENTERS | len << DP_CALL_LENGTH_SHIFT,
			  len, false);
	dp_intercepts_add(proc, addr + len, code + len, nr | DP_CALL_RETURNS,
			  DP_CHECKS_SIZE, false);
}

/* Has a thread that makes this SYS_exit a stack? It may have unmapped its stack just before,
 * by another "syscall" in musl; code of an unknown libc is not trusted. */
static bool has_stack(const struct dp_process *proc, const u8 *code)
{
	return proc->libc && !dp_code_is_syscall(code - 5) &&
	       !dp_code_is_syscall(code - 4);
}

/* Add the call that begins at @code, if it is wanted. @room: bytes of text from there on. */
static void add_call(struct dp_process *proc, u64 addr, const u8 *code,
		     size_t room, bool in_go)
{
	struct lead l;
	u32 nr;

	if (!dp_code_sets_number(code, &nr) || !dp_intercepts_wanted(nr) ||
	    !leads_to_call(code, &l))
		return;
	if (dp_intercepts_masked_wait(nr)) {
		if (!l.skip)
			add_masked_wait(proc, addr, code, room, nr, l.len);
	} else if (!dp_code_is_cut(code)) {
		if (nr == SYS_exit && !has_stack(proc, code))
			return;
		/* Go's runtime makes these two itself; at the others a jump has no room. */
		if (in_go && nr != SYS_rt_sigprocmask && nr != SYS_rt_sigaction)
			return;
		dp_intercepts_add(proc, addr + l.skip, code + l.skip,
				  asked_for(nr), l.len, l.again);
	}
}

static void find_calls(struct dp_process *proc, const struct dp_syscalls *calls,
		       bool in_go)
{
	u64 end = calls->text.start + calls->text.size, at = calls->text.start;
	const struct dp_syscall *c;
	const u8 *code;

	for (c = calls->v; c < calls->v + calls->n; c++) {
		if (c->addr - at > LEAD)
			at = c->addr - LEAD;
		for (; at < c->addr && end - at > DP_REGION_MAX; at++) {
			code = c->around + DP_AROUND - (c->addr - at);
			if (proc->nr_intercepts == DP_INTERCEPTS_MAX)
				return;
			add_call(proc, at, code, end - at, in_go);
		}
	}
}

/* Find masked waits by musl's __syscall_cp, which is called with "mov $nr, %edi". */
static void find_points(struct dp_process *proc, const struct dp_span *span,
			const u8 *text)
{
	const u8 *end = text + span->size - DP_REGION_MAX;
	const u8 *hit;
	u32 nr;

	for (hit = text; hit < end; hit++) {
		hit = memchr(hit, DP_SETS_FIRST, (size_t)(end - hit));
		if (!hit)
			return;
		memcpy(&nr, hit + 1, sizeof(nr));
		if (dp_intercepts_masked_wait(nr))
			dp_points_add(proc, span, text,
				      span->start + (u64)(hit - text), nr);
	}
}

static const struct dp_code_shape shapes[] =
	DP_CODE_SHAPES(DP_ANY_CALL, SYS_exit, SYS_clone);

static bool has_shape(const struct dp_syscalls *calls,
		      const struct dp_syscall *c, const struct dp_code_shape *s)
{
	const u8 *code = c->around + DP_AROUND;
	/* a shape ends with the call itself */
	size_t before = s->len - (size_t)DP_SYSCALL_SIZE;

	return calls->text.start + calls->text.size - c->addr >
		       2 * DP_REGION_MAX &&
	       !memcmp(code - before, s->code, s->len) &&
	       !memcmp(code + DP_SYSCALL_SIZE, s->next, s->next_len);
}

static bool is_shape_in(const struct dp_syscalls *calls,
			const struct dp_code_shape *s)
{
	size_t i;

	for (i = 0; i < calls->n; i++)
		if (has_shape(calls, &calls->v[i], s))
			return true;
	return false;
}

static void add_shape(struct dp_process *proc, const struct dp_syscall *c,
		      const struct dp_code_shape *s)
{
	size_t before = s->len - (size_t)DP_SYSCALL_SIZE;
	const u8 *at = c->around + DP_AROUND - before;
	u64 addr = c->addr - before;

	if (proc->nr_intercepts + 2 > DP_INTERCEPTS_MAX)
		return;
	dp_intercepts_add(proc, addr, at, s->nr, s->len, false);
	if (s->nr == DP_ANY_CALL && dp_code_checks(at + s->len))
		dp_intercepts_add(proc, addr + s->len, at + s->len,
				  DP_CALL_RETURNS, DP_CHECKS_SIZE, false);
}

static void find_shape(struct dp_process *proc, const struct dp_syscalls *calls,
		       const struct dp_code_shape *s)
{
	size_t i;

	for (i = 0; i < calls->n; i++)
		if (has_shape(calls, &calls->v[i], s))
			add_shape(proc, &calls->v[i], s);
}

/* Find intercepts for which the bytes around a call do not suffice: read the whole text. */
static int find_more(struct dp_process *proc, const struct dp_span *span,
		     bool musl, bool numbers)
{
	u8 *text = malloc(span->size);
	int err = text ? dp_process_read(proc, span->start, text, span->size) :
			 -ENOMEM;

	if (!err && musl)
		find_points(proc, span, text);
	if (!err && numbers)
		dp_numbers_find(proc, span, text);
	free(text);
	return err;
}

int dp_intercepts_find(struct dp_process *proc, const struct dp_syscalls *calls)
{
	bool glibc, musl, numbers;
	size_t i;

	if (calls->text.size < 4 * DP_REGION_MAX)
		return 0;
	glibc = is_shape_in(calls, &shapes[DP_SHAPE_GLIBC]) ||
		is_shape_in(calls, &shapes[DP_SHAPE_GLIBC_TOO]);
	musl = is_shape_in(calls, &shapes[DP_SHAPE_MUSL]);
	proc->libc = glibc || musl;
	find_calls(proc, calls, proc->go && !proc->libc);
	for (i = 0; i < ARRAY_SIZE(shapes) && proc->libc; i++)
		find_shape(proc, calls, &shapes[i]);
	numbers = !glibc && !proc->go;
	return musl || numbers ? find_more(proc, &calls->text, musl, numbers) :
				 0;
}
