// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * remote: system calls that a stopped thread of the target makes for the tool.
 *
 * The tool points a stopped thread at a "syscall; ret", with this on the thread's stack below
 * the red zone:
 *
 *     rsp ──► address of "mov $15, %eax; syscall"   (rt_sigreturn)
 *             ucontext: the thread's own registers, mask, vector state
 *
 * If the tool dies at any moment, the thread finishes the call, returns into rt_sigreturn and
 * so restores its own state. While the tool lives, it stops the thread at the exit of each
 * call, and in the end restores registers, mask and the bytes of the stack.
 *
 * Where a filter may forbid rt_sigreturn, the thread has its own registers and mask between
 * calls. From within a call it returns by plain instructions, without sigreturn:
 *
 *     rsp ──► address of pops and a ret (gadget.c)
 *             the registers that a call changes, and the thread's pc
 *
 * Signals are blocked only when one comes, until that call has returned. Two gaps remain. If
 * the tool dies just before a call begins, the filter is in force again for that call. If the
 * tool dies in a call that a signal has come to, the signals stay blocked.
 *
 * Where the thread's selector forbids calls (dispatch.c), the tool makes it permit them from
 * before the first call until after the last. Either return then ends in code that makes no
 * call and makes the selector forbid them again.
 *
 * The stack of a libc thread has room below its stack pointer. A goroutine or coroutine has
 * perhaps two kilobytes, with memory of others below. Then the tool uses the far end of the
 * stack that the kernel gave to the process, where no thread has been yet.
 */
#include "arch/arch.h"
#include "arch/calls.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <dprobes/diag.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define RED_ZONE 128
#define SCRATCH DP_REMOTE_SCRATCH
#define WORDS 64 /* for the code at selector_return */
#define SLACK 384 /* for alignment, and for the call itself */
#define XSTATE_MAX 16384
#define PLAIN_FRAME ((1 + DP_PLAIN_RETURN_WORDS) * sizeof(u64))
#define STACK_MOST (1ull << 30)
#define FAR_TRIES 4
#define UNFIT 5
#define RSEQ_CS 8 /* rseq(2): offset of the pointer to the sequence */
#define DELIVERIES 64
#define FAR_MARGIN 32768
#define FXSAVE_BYTES 512
#define SW_RESERVED 464 /* of the fxsave image; SDM vol. 1, 10.5.1 */

#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

/* Errors of the kernel's own that only a tracer sees (linux/errno.h). */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

struct dp_remote {
	struct dp_process *proc;
	pid_t tid; /* the stopped thread */
	struct user_regs_struct home; /* registers that it gets in the end */
	u64 mask;
	u64 sp, scratch, low, len; /* the used part of the stack */
	u8 *stack; /* original bytes from @low on; NULL: nothing is changed yet */
	bool dead;
	bool plain, masked; /* @plain: return without sigreturn */
	/* Selector that is to forbid calls again; 0: none. @words: stack of the code at
	 * selector_return; @below: original word where that code expects the pc. */
	u64 selector, words, below;
};

static struct dp_thread *thread_of(const struct dp_remote *rem)
{
	return dp_stop_held(rem->proc, rem->tid);
}

struct frame {
	u64 restorer;
	struct dp_ucontext uc;
};

/* Make an interrupted call restart, as the kernel would. @afresh: with its full timeout */
static void restart(struct user_regs_struct *r, bool afresh)
{
	long err = -dp_uregs_ret(r);

	if (dp_uregs_call(r) < 0)
		return;
	if (err == ERESTARTSYS || err == ERESTARTNOINTR ||
	    err == ERESTARTNOHAND || (err == ERESTART_RESTARTBLOCK && afresh)) {
		dp_uregs_retry(r, dp_uregs_call(r));
	} else if (err == ERESTART_RESTARTBLOCK) {
		dp_uregs_retry(r, SYS_restart_syscall);
	}
	dp_uregs_leave_call(r);
}

static void fill_context(struct dp_ucontext *uc, const struct dp_remote *rem,
			 u64 fpstate)
{
	struct user_regs_struct r = thread_of(rem)->regs;
	struct dp_mcontext *m = &uc->mc;

	/* After rt_sigreturn restart_syscall does not work. */
	restart(&r, true);
	uc->flags = DP_UC_FP_XSTATE | DP_UC_SIGCONTEXT_SS |
		    DP_UC_STRICT_RESTORE_SS;
	/* An invalid value, so that rt_sigreturn leaves the alternate stack alone. */
	uc->stack.flags = ~0u;
	uc->sigmask = rem->mask;
	dp_uframe_fill(m, &r);
	m->fpstate = fpstate;
	if (rem->selector) {
		dp_mcontext_set_pc(m, rem->proc->selector_return);
		dp_mcontext_set_sp(m, rem->words);
	}
}

/* Write the stack for the code at selector_return. */
static int write_words(const struct dp_remote *rem)
{
	const struct user_regs_struct *r = &rem->home;
	u64 words[DP_SELECTOR_RETURN_WORDS] = {
		rem->selector, dp_uregs_number(r),
		dp_uregs_sp(r) - DP_SELECTOR_RETURN_BELOW
	};
	u64 pc = dp_uregs_pc(r);

	if (!rem->selector)
		return 0;
	return dp_process_write(rem->proc, rem->words, words, sizeof(words)) ?:
		       dp_process_write(rem->proc, words[2], &pc, 8);
}

/* Read the xsave image and add magic numbers and size, as in a signal frame. */
static int get_xstate(pid_t tid, u8 *image, u32 *size)
{
	struct iovec iov = { image, XSTATE_MAX };
	struct _fpx_sw_bytes sw = { .magic1 = FP_XSTATE_MAGIC1 };
	const u32 end = FP_XSTATE_MAGIC2;

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &iov))
		return errno == ESRCH ? -ESRCH : -EIO;
	if (iov.iov_len < FXSAVE_BYTES + 64 || iov.iov_len > XSTATE_MAX - 64)
		return -EIO;
	*size = (u32)(iov.iov_len + sizeof(end));
	sw.extended_size = *size;
	sw.xstate_size = (u32)iov.iov_len;
	memcpy(&sw.xstate_bv, image + SW_RESERVED, sizeof(sw.xstate_bv));
	memcpy(image + SW_RESERVED, &sw, sizeof(sw));
	memcpy(image + iov.iov_len, &end, sizeof(end));
	return 0;
}

_Static_assert(SW_RESERVED + sizeof(struct _fpx_sw_bytes) == FXSAVE_BYTES,
	       "xstate");

/* Is the memory below @sp in its mapping this stack's alone? It is in the first thread's
 * stack mapping, and in a mapping that follows a guard page. */
static bool is_whole_stack(const struct dp_maps *maps, const struct dp_map *m,
			   u64 sp, u64 need)
{
	const struct dp_map *below = m > maps->v ? m - 1 : NULL;

	if (!m || sp - m->start < need)
		return false;
	return !strcmp(m->path, "[stack]") ||
	       (below && below->end == m->start && below->perms[0] == '-' &&
		below->perms[1] == '-' && below->perms[2] == '-' &&
		m->end - m->start <= STACK_MOST);
}

static bool is_unused(const u8 *bytes, size_t n)
{
	return !n || (!bytes[0] && !memcmp(bytes, bytes + 1, n - 1));
}

/* Do @bytes hold the frame of a killed tool? Its thread has left the frame by now, but they
 * are not to hold this thread's stack. */
static bool is_remnant(const struct dp_remote *rem, const u8 *bytes, u64 start,
		       u64 need)
{
	u64 sp = dp_uregs_sp(&rem->home);
	size_t i;

	if (sp - start < need)
		return false;
	for (i = 0; i + sizeof(struct frame) <= need; i += 64)
		if (!memcmp(bytes + i, &rem->proc->restorer, sizeof(u64)))
			return true;
	return false;
}

/* Find @need bytes at the far end of a stack: unused ones, or else those of a killed tool.
 * Above them FAR_MARGIN bytes must be unused, as the first thread has not come that far.
 * Return: the end of the bytes, or 0. */
static u64 far_end(const struct dp_remote *rem, const struct dp_map *m,
		   u64 need)
{
	size_t room = FAR_TRIES * need, i;
	u8 *bytes = malloc(room + FAR_MARGIN);
	u64 end = 0;

	if (!bytes || m->end - m->start <= room + FAR_MARGIN ||
	    dp_process_read(rem->proc, m->start, bytes, room + FAR_MARGIN) ||
	    !is_unused(bytes + room, FAR_MARGIN)) {
		free(bytes);
		return 0;
	}
	for (i = 0; i < FAR_TRIES && !end; i++)
		if (is_unused(bytes + i * need, need))
			end = m->start + (i + 1) * need;
	for (i = 0; i < FAR_TRIES && !end; i++)
		if (is_remnant(rem, bytes + i * need, m->start + i * need,
			       need))
			end = m->start + (i + 1) * need;
	free(bytes);
	return end;
}

/* The address that @need bytes have to end below; 0: there is none. */
static u64 find_room(const struct dp_remote *rem, u64 need)
{
	const struct dp_maps *maps = dp_stop_maps(rem->proc);
	u64 sp = dp_uregs_sp(&rem->home), top = 0;
	size_t i;

	if (!maps)
		return 0;
	if (!rem->proc->go &&
	    is_whole_stack(maps, dp_maps_find(maps, sp), sp, need + RED_ZONE))
		top = sp - RED_ZONE;
	for (i = 0; i < maps->n && !top; i++)
		if (!strcmp(maps->v[i].path, "[stack]"))
			top = far_end(rem, &maps->v[i], (need + 63) & ~63ull);
	return top;
}

/* Return without sigreturn? Only if the thread's own stack has room. */
static bool goes_plainly(const struct dp_remote *rem)
{
	u64 sp = dp_uregs_sp(&rem->home), need = PLAIN_FRAME + SCRATCH + SLACK;

	return rem->proc->no_return && rem->proc->plain_return &&
	       find_room(rem, need) == sp - RED_ZONE;
}

static int save_stack(struct dp_remote *rem)
{
	u8 *bytes = malloc(rem->len);
	int err =
		bytes ? dp_process_read(rem->proc, rem->low, bytes, rem->len) :
			-ENOMEM;

	if (err)
		free(bytes);
	else
		rem->stack = bytes;
	return err;
}

static int prepare_plainly(struct dp_remote *rem)
{
	const struct user_regs_struct *r = &rem->home;
	u64 frame[1 + DP_PLAIN_RETURN_WORDS] = { rem->proc->plain_return };

	dp_uregs_spill(r, frame + 1);
	rem->sp = dp_uregs_sp(r) - DP_PLAIN_RETURN_SKIPS - sizeof(frame);
	rem->scratch = (rem->sp - SCRATCH) & ~63ull;
	rem->low = rem->scratch;
	rem->len = rem->sp + sizeof(frame) - rem->low;
	return save_stack(rem) ?:
				 dp_process_write(rem->proc, rem->sp, frame,
						  sizeof(frame));
}

static int prepare_stack(struct dp_remote *rem)
{
	struct dp_process *proc = rem->proc;
	struct frame frame = { .restorer = proc->restorer };
	u64 below = dp_uregs_sp(&rem->home) - DP_SELECTOR_RETURN_BELOW;
	u8 image[XSTATE_MAX] = { 0 };
	u64 fp, top;
	u32 size;
	int err = get_xstate(rem->tid, image, &size);

	if (err)
		return err;
	top = find_room(rem, size + sizeof(frame) + SLACK + SCRATCH);
	if (!top)
		return -ENOSPC;
	rem->words = (top - WORDS) & ~63ull;
	rem->scratch = (rem->words - SCRATCH) & ~63ull;
	fp = (rem->scratch - size) & ~63ull;
	rem->sp = (fp - sizeof(frame)) & ~63ull;
	rem->low = rem->sp;
	rem->len = rem->words + WORDS - rem->low;
	fill_context(&frame.uc, rem, fp);
	if (rem->selector)
		err = dp_process_read(proc, below, &rem->below, 8);
	if (!err)
		err = save_stack(rem);
	if (!err)
		err = dp_process_write(proc, fp, image, size);
	if (!err)
		err = dp_process_write(proc, rem->sp, &frame, sizeof(frame));
	return err ?: write_words(rem);
}

bool dp_rseq_of(const struct dp_thread *t,
		struct __ptrace_rseq_configuration *conf)
{
	return ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(*conf),
		      conf) > 0 &&
	       conf->rseq_abi_pointer;
}

/* Return: the abort address of the restartable sequence (rseq) that a thread is in; 0: it is
 * in none. */
static u64 rseq_abort(const struct dp_process *proc, const struct dp_thread *t)
{
	struct {
		u32 version, flags;
		u64 start, len, abort;
	} cs;
	struct __ptrace_rseq_configuration conf;
	u64 addr = 0;

	if (!dp_rseq_of(t, &conf) ||
	    dp_process_read(proc, conf.rseq_abi_pointer + RSEQ_CS, &addr, 8) ||
	    !addr || dp_process_read(proc, addr, &cs, sizeof(cs)))
		return 0;
	return dp_uregs_pc(&t->regs) - cs.start < cs.len ? cs.abort : 0;
}

/* Deliver pending fault signals first: if the tool died, they would come at another pc. */
static bool is_selectable(struct dp_process *proc, struct dp_thread *t)
{
	u32 tries = DELIVERIES;

	while (dp_dispatch_waits(proc, t->tid))
		if (!--tries || proc->held || dp_stop_run_on(proc, t))
			return false;
	return true;
}

/* How much the program would see of remote calls by this thread: less is better. */
static int unfitness(struct dp_process *proc, const struct dp_thread *t)
{
	u64 selector;

	if (proc->dispatches)
		switch (dp_dispatch_of(proc, t->tid, &selector)) {
		case DP_DISPATCH_BARRED:
			return UNFIT;
		case DP_DISPATCH_SELECTOR:
			return UNFIT - 1;
		case DP_DISPATCH_FREE:
			break;
		}
	if (rseq_abort(proc, t))
		return 3;
	if (dp_uregs_call(&t->regs) < 0)
		return 0;
	return dp_uregs_ret(&t->regs) == -EINTR ? 2 : 1;
}

static struct dp_thread *choose(struct dp_process *proc)
{
	struct dp_thread *best = NULL;
	int least = UNFIT, bad;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++) {
		bad = unfitness(proc, &proc->threads[i]);
		if (bad < least) {
			least = bad;
			best = &proc->threads[i];
		}
	}
	return best;
}

/* Abort a restartable sequence, as the kernel does on preemption. */
static void leave_rseq(const struct dp_process *proc, struct dp_thread *t)
{
	u64 to = rseq_abort(proc, t);

	if (to)
		dp_uregs_set_pc(&t->regs, to);
}

static void forget(struct dp_remote *rem)
{
	rem->proc->remote = NULL;
	free(rem->stack);
	free(rem);
}

/* Give the thread its registers back, and the process its memory. */
static void put_back(struct dp_remote *rem)
{
	ptrace(PTRACE_SETREGS, rem->tid, 0, &rem->home);
	dp_kill_point("remote: registers");
	dp_process_write(rem->proc, rem->low, rem->stack, rem->len);
	if (rem->selector)
		dp_process_write(rem->proc,
				 dp_uregs_sp(&rem->home) -
					 DP_SELECTOR_RETURN_BELOW,
				 &rem->below, 8);
	dp_gadgets_return(rem->proc);
	thread_of(rem)->regs = rem->home;
}

/* If the tool dies from here on, the thread makes the selector forbid calls and goes on. */
static void head_past_selector(const struct dp_remote *rem)
{
	struct user_regs_struct way = rem->home;

	dp_uregs_set_pc(&way, rem->proc->selector_return);
	dp_uregs_set_sp(&way, rem->words);
	ptrace(PTRACE_SETREGS, rem->tid, 0, &way);
}

static int permit_calls(struct dp_remote *rem)
{
	int err;

	if (!rem->selector)
		return 0;
	head_past_selector(rem);
	dp_kill_point("remote: past the selector");
	err = dp_kill_point_fails("remote: permit") ?
		      -EIO :
		      dp_dispatch_select(rem->proc, rem->selector, true);
	dp_kill_point("remote: the selector permits");
	return err;
}

static void forbid_calls(const struct dp_remote *rem)
{
	if (!rem->selector)
		return;
	head_past_selector(rem);
	dp_kill_point("remote: back past the selector");
	dp_dispatch_select(rem->proc, rem->selector, false);
	dp_kill_point("remote: the selector forbids");
}

/* Where the kernel does not tell whether calls are dispatched, SIGSYS stays unblocked: a
 * blocked one would kill the process. */
static void block_signals(struct dp_remote *rem)
{
	u64 all = rem->proc->undisclosed ? ~(1ull << (SIGSYS - 1)) : ~0ull;

	if (!rem->masked)
		ptrace(PTRACE_SETSIGMASK, rem->tid, 8, &all);
	rem->masked = true;
}

/* From here on the thread would return through its frame, which holds its mask. Only then
 * does the tool change the mask. */
static void head_home(struct dp_remote *rem)
{
	struct user_regs_struct plain_return = rem->home;

	dp_uregs_set_pc(&plain_return, rem->proc->restorer);
	dp_uregs_set_sp(&plain_return, rem->sp + sizeof(u64));
	ptrace(PTRACE_SETREGS, rem->tid, 0, &plain_return);
	block_signals(rem);
}

/* Find out whether @t can make calls. Return: 0; -EPERM: never; -EAGAIN: not just now. */
static int pass_dispatch(struct dp_remote *rem, struct dp_thread *t)
{
	struct dp_process *proc = rem->proc;
	enum dp_dispatch way;

	/* A pending SIGSYS of the program would be taken for that of the remote call. */
	if (proc->undisclosed && !is_selectable(proc, t))
		return -EAGAIN;
	way = dp_dispatch_of(proc, t->tid, &rem->selector);
	if (way == DP_DISPATCH_SELECTOR && proc->dispatches &&
	    is_selectable(proc, t))
		way = dp_dispatch_of(proc, t->tid, &rem->selector);
	else if (way == DP_DISPATCH_SELECTOR)
		return -EAGAIN;
	if (way != DP_DISPATCH_SELECTOR)
		rem->selector = 0;
	return way == DP_DISPATCH_BARRED ? -EPERM : 0;
}

/* @rem: all zeros; as it is, what was done is undone by put_back() */
static int prepare(struct dp_process *proc, struct dp_remote *rem)
{
	struct dp_thread *t = choose(proc);
	int err;

	if (!t)
		return -EAGAIN;

	/* A filter that the tool has not read could kill for the first call. */
	if (!proc->filtered && !proc->vetted &&
	    dp_process_filters_came(proc, t->tid))
		return -EPERM;
	err = pass_dispatch(rem, t);
	if (err)
		return err;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8, &rem->mask))
		return -errno;
	leave_rseq(proc, t);
	rem->tid = t->tid;
	rem->home = t->regs;
	restart(&rem->home, proc->no_restart);
	rem->plain = !rem->selector && goes_plainly(rem);
	err = rem->plain ? prepare_plainly(rem) : prepare_stack(rem);
	if (!err)
		err = dp_gadgets_borrow(proc);
	return err ?: permit_calls(rem);
}

int dp_remote_begin(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_remote *rem = calloc(1, sizeof(*rem));
	int err = -ENOMEM;

	if (rem) {
		rem->proc = proc;
		err = prepare(proc, rem);
	}
	if (err) {
		if (rem && rem->stack)
			put_back(rem);
		if (rem)
			forget(rem);
		return dp_diag_set(
			diag, err,
			"process %d has no thread that could help just now: %s",
			proc->pid, strerror(-err));
	}
	if (rem->plain)
		ptrace(PTRACE_SETREGS, rem->tid, 0, &rem->home);
	else
		head_home(rem);
	dp_kill_point("remote: prepared");
	proc->remote = rem;
	return 0;
}

static void unblock_signals(struct dp_remote *rem)
{
	if (rem->masked)
		ptrace(PTRACE_SETSIGMASK, rem->tid, 8, &rem->mask);
	rem->masked = false;
}

/* Has the kernel dispatched the remote call instead of making it? The SIGSYS is dropped. */
static bool is_dispatched(const struct dp_remote *rem, int sig)
{
	siginfo_t si;

	return sig == SIGSYS && rem->proc->undisclosed &&
	       !ptrace(PTRACE_GETSIGINFO, rem->tid, 0, &si) &&
	       si.si_code == SYS_USER_DISPATCH &&
	       (u64)si.si_call_addr == rem->proc->syscall_ret + DP_SYSCALL_SIZE;
}

/* Run the thread to the next entry or exit of a system call. Return: 0; -ESRCH; -EPERM: the
 * call was dispatched to the program's own handler. */
static int to_syscall(struct dp_remote *rem)
{
	struct dp_thread *t;
	pid_t tid = rem->tid;
	int status, sig = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, sig) ||
		    dp_stop_await(rem->proc, tid, &status) < 0)
			return -ESRCH;
		if (dp_stop_lost(rem->proc, tid, status))
			return -ESRCH;
		/* SIGSTOP cannot be blocked: it is delivered, and the process stays
		 * stopped when the tool releases the thread. */
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		t = dp_stop_held(rem->proc, tid);
		if (t && status >> 16 == PTRACE_EVENT_STOP)
			dp_stop_note(rem->proc, t, status);
		if (is_dispatched(rem, sig))
			return -EPERM;
		/* All are blocked, so that the one about to be delivered stays pending. */
		if (sig && sig != (SIGTRAP | 0x80))
			block_signals(rem);
	} while (sig != (SIGTRAP | 0x80));
	return 0;
}

long dp_remote_make(struct dp_process *proc, long nr, const u64 args[6])
{
	struct dp_remote *rem = proc->remote;
	struct user_regs_struct r = rem->home;
	int err;

	if (rem->dead)
		return -ESRCH;
	if (proc->refuses)
		return -EPERM;
	dp_uregs_set_pc(&r, proc->syscall_ret);
	dp_uregs_set_sp(&r, rem->sp);
	dp_uregs_set_number(&r, nr);
	dp_uregs_leave_call(&r);
	dp_uregs_set_args(&r, args);
	err = ptrace(PTRACE_SETREGS, rem->tid, 0, &r) ? -ESRCH : 0;
	if (!err)
		err = to_syscall(rem) ?: to_syscall(rem);
	if (err == -EPERM) {
		proc->refuses = true;
		return err;
	}
	if (err || ptrace(PTRACE_GETREGS, rem->tid, 0, &r)) {
		rem->dead = true;
		return -ESRCH;
	}
	if (rem->plain) {
		unblock_signals(rem);
		dp_kill_point("remote: returned");
		ptrace(PTRACE_SETREGS, rem->tid, 0, &rem->home);
	}
	return dp_uregs_ret(&r);
}

pid_t dp_remote_thread(const struct dp_process *proc)
{
	return proc->remote->tid;
}

u64 dp_remote_scratch(const struct dp_process *proc)
{
	return proc->remote->scratch;
}

void dp_remote_end(struct dp_process *proc)
{
	struct dp_remote *rem = proc->remote;

	if (!rem->dead) {
		unblock_signals(rem);
		dp_kill_point("remote: mask");
		forbid_calls(rem);
		put_back(rem);
	}
	forget(rem);
}

void dp_remote_send(struct dp_process *proc, u64 entry, u64 arg)
{
	struct dp_remote *rem = proc->remote;
	struct user_regs_struct r = rem->home;
	pid_t tid = rem->tid;
	u64 mask = ~dp_caught_mask(DP_CAUGHT);

	dp_uregs_set_pc(&r, entry);
	dp_uregs_set_sp(&r, rem->sp);
	dp_uregs_set_first(&r, arg);
	dp_uregs_clear_direction(&r);
	dp_uregs_leave_call(&r);
	ptrace(PTRACE_SETSIGMASK, tid, 8, &mask);
	dp_kill_point("send: mask");
	ptrace(PTRACE_SETREGS, tid, 0, &r);
	dp_kill_point("send: registers");
	thread_of(rem)->regs = r;
	forget(rem);
}
