// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stop: hold every running thread of the target for a moment.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent. A thread asleep in a
 * system call that the kernel does not restart after a stop (epoll_wait and its
 * like return EINTR) is left asleep: it executes none of the target's text, and
 * /proc tells where it is. Where there is no other thread to act for us, one of
 * them is woken. Whatever has returned EINTR for our sake is sent back into its
 * call at once, so that not even the end of this tool lets it out.
 */
#include "proc/private.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 10000
#define SPINS 100 /* looks before the first nap: some ten microseconds */
#define STOP_DEADLINE_NS 5000000000ll
/* Threads are not held for much longer than this. */
#define RUN_OUT_NS 2000000ll
#define ERESTART_RESTARTBLOCK 516 /* linux/errno.h */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* signal(7), "Interruption of system calls … by stop signals", and the calls
 * that give EINTR when their socket has a timeout. */
static const int not_restarted[] = {
	SYS_epoll_wait,	     SYS_epoll_pwait,	 SYS_epoll_pwait2,
	SYS_rt_sigtimedwait, SYS_semop,		 SYS_semtimedop,
	SYS_io_getevents,    SYS_io_pgetevents,	 SYS_msgsnd,
	SYS_msgrcv,	     SYS_io_uring_enter, SYS_read,
	SYS_readv,	     SYS_recvfrom,	 SYS_recvmsg,
	SYS_recvmmsg,	     SYS_accept,	 SYS_accept4,
	SYS_write,	     SYS_writev,	 SYS_sendto,
	SYS_sendmsg,
};
/* The first so many of them whatever the descriptor. */
#define NEVER_RESTARTED 11

static bool in_list(long nr, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (not_restarted[i] == nr)
			return true;
	return false;
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static bool vforks(long nr)
{
	return nr == SYS_vfork || nr == SYS_clone || nr == SYS_clone3;
}

/* A system call that a thread is asleep in */
struct call {
	long nr;
	unsigned long long args[6], sp, pc;
};

/* "running", if it is */
static bool read_line(pid_t pid, pid_t tid, char *line, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, size - 1);
	close(fd);
	line[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

static bool read_call(pid_t pid, pid_t tid, struct call *c)
{
	unsigned long long *a = c->args;
	char line[256];

	return read_line(pid, tid, line, sizeof(line)) &&
	       sscanf(line, "%ld %llx %llx %llx %llx %llx %llx %llx %llx",
		      &c->nr, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &c->sp,
		      &c->pc) == 9;
}

/* Not so one that sleeps, in a system call or for a page, or that is stopped. If it
 * cannot be told, it does. */
static bool runs(pid_t pid, pid_t tid)
{
	char line[256];

	return !read_line(pid, tid, line, sizeof(line)) || line[0] == 'r';
}

/* Under a signal mask of its own? */
static bool has_own_mask(const struct call *c)
{
	switch (c->nr) {
	case SYS_rt_sigsuspend:
		return true;
	case SYS_ppoll:
		return c->args[3];
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return c->args[4];
	case SYS_pselect6:
	case SYS_io_pgetevents:
		return c->args[5];
	default:
		return false;
	}
}

static bool call_of(pid_t pid, pid_t tid, long *nr, u64 *sp, u64 *pc)
{
	struct call c;

	if (!read_call(pid, tid, &c))
		return false;
	*nr = c.nr;
	*sp = c.sp;
	*pc = c.pc;
	return true;
}

/* Of one that is stopped the call is that which it has been in: a new thread is
 * stopped in the clone that has made it. */
static bool in_vfork(pid_t pid, pid_t tid, long nr)
{
	struct dp_status st;

	return vforks(nr) && !dp_status_read(pid, tid, &st) &&
	       st.state != 't' && st.state != 'T';
}

/*
 * A vfork parent sleeps where no stop reaches it, until its child is gone. A call
 * with a signal mask of its own is restarted, but before that such signals come
 * as it has blocked.
 */
bool dp_stop_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc)
{
	struct call c;

	if (!read_call(pid, tid, &c))
		return false;
	*sp = c.sp;
	*pc = c.pc;
	return in_list(c.nr, NEVER_RESTARTED) || in_vfork(pid, tid, c.nr) ||
	       has_own_mask(&c);
}

/* @wake: as a last resort, one that is asleep but can be woken */
static bool wanted(pid_t pid, pid_t tid, bool wake)
{
	u64 sp, pc;
	long nr;

	if (!wake)
		return !dp_stop_asleep(pid, tid, &sp, &pc);
	return !call_of(pid, tid, &nr, &sp, &pc) || !in_vfork(pid, tid, nr);
}

struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid)
{
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (proc->threads[i].tid == tid)
			return &proc->threads[i];
	return NULL;
}

static struct dp_thread *add_thread(struct dp_process *proc, pid_t tid)
{
	size_t want = proc->cap_threads ? proc->cap_threads * 2 : 16;
	struct dp_thread *bigger;

	if (proc->nr_threads == proc->cap_threads) {
		bigger = realloc(proc->threads, want * sizeof(*bigger));
		if (!bigger)
			return NULL;
		proc->threads = bigger;
		proc->cap_threads = want;
	}
	proc->threads[proc->nr_threads] = (struct dp_thread){ .tid = tid };
	return &proc->threads[proc->nr_threads++];
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	       sig == SIGTTOU;
}

bool dp_stop_nap(u32 n)
{
	const struct timespec nap = { 0, NAP_NS };

	if (n < SPINS)
		return false;
	nanosleep(&nap, NULL);
	return true;
}

bool dp_stop_lost(struct dp_process *proc, pid_t tid, int status)
{
	bool ended = !WIFSTOPPED(status);

	if (!ended && !(proc->family && status >> 16 == PTRACE_EVENT_EXEC))
		return false;
	if (proc->family)
		dp_family_deal(proc->family, tid, status, false);
	if (ended && tid == proc->pid &&
	    (proc->launched || proc->family || proc->held)) {
		proc->reaped = proc->exited = true;
		proc->status = status;
	}
	return true;
}

/* A stop for another reason: it goes on. Return: false if it has ended. */
static bool pass_on(struct dp_process *proc, pid_t tid, int status)
{
	if (proc->family)
		return dp_family_deal(proc->family, tid, status, false);
	if (dp_stop_lost(proc, tid, status))
		return false;
	/* A signal of its own was on the way: it goes first. */
	ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	return true;
}

static void note_stop(struct dp_process *proc, struct dp_thread *t, int status)
{
	t->group_stop = is_stop_signal(WSTOPSIG(status));
	proc->halted |= t->group_stop;
}

/* Return: 1 stopped, 0 gone, -EAGAIN not in time. */
static int wait_stop(struct dp_process *proc, struct dp_thread *t,
		     long long deadline)
{
	pid_t tid = t->tid;
	int status;
	pid_t got;
	u32 n = 0;

	for (;;) {
		got = waitpid(tid, &status, __WALL | WNOHANG);
		if (got == 0) {
			if (now_ns() > deadline)
				return -EAGAIN;
			dp_stop_nap(++n);
			continue;
		}
		if (got < 0)
			return 0;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP) {
			note_stop(proc, t, status);
			return 1;
		}
		if (!pass_on(proc, tid, status))
			return 0;
		/* Any other stop has made the kernel forget that this one was
		 * wanted, if it was by then. */
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
}

static u64 running_options(const struct dp_process *proc)
{
	return proc->family ? DP_FAMILY_OPTIONS : PTRACE_O_TRACESYSGOOD;
}

u64 dp_trace_options(const struct dp_process *proc)
{
	return running_options(proc) |
	       (proc->filtered ? PTRACE_O_SUSPEND_SECCOMP : 0);
}

bool dp_stop_suspends(const struct dp_process *proc, pid_t tid, bool suspend)
{
	return !proc->filtered || !ptrace(PTRACE_SETOPTIONS, tid, 0,
					  suspend ? dp_trace_options(proc) :
						    running_options(proc));
}

/* One that is just ending is no concern of ours; unless it was ours when it was
 * killed: then the process does not end before we have seen it. */
static int not_seized(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (errno != EPERM || dp_status_read(proc->pid, tid, &st))
		return 0;
	if (st.state != 'Z' && st.state != 'X')
		return st.tracer ? -EBUSY : -EPERM;
	if ((pid_t)st.tracer == getpid() && tid != proc->pid)
		waitpid(tid, NULL, __WALL | WNOHANG);
	return 0;
}

static int seize(struct dp_process *proc, pid_t tid, size_t *fresh)
{
	if (proc->family && !ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		++*fresh;
		return add_thread(proc, tid) ? 0 : -ENOMEM;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0, running_options(proc)))
		return not_seized(proc, tid);
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	++*fresh;
	return add_thread(proc, tid) ? 0 : -ENOMEM;
}

/* @one: no more than one */
static int seize_new(struct dp_process *proc, bool wake, bool one,
		     size_t *fresh)
{
	pid_t *tids;
	size_t n, i;
	int err = dp_tasks_list(proc->pid, &tids, &n);

	*fresh = 0;
	if (err)
		return err;
	for (i = 0; i < n && !err && !(one && *fresh); i++)
		if (!dp_stop_held(proc, tids[i]) &&
		    wanted(proc->pid, tids[i], wake))
			err = seize(proc, tids[i], fresh);
	free(tids);
	return err;
}

static void drop_thread(struct dp_process *proc, size_t i)
{
	proc->threads[i] = proc->threads[--proc->nr_threads];
}

static bool signal_waits(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st))
		return true;
	return (st.pending | st.shared_pending) & ~st.blocked & ~st.ignored;
}

/* A call's own signal mask stays in force until a signal is delivered, or none is
 * found. One that is open only there would come before the call, and not end it. */
static void end_own_mask(const struct dp_thread *t)
{
	u64 mask;

	if ((long)t->regs.orig_rax != SYS_epoll_pwait &&
	    (long)t->regs.orig_rax != SYS_epoll_pwait2)
		return;
	if (!ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
}

/* A filter may forbid restart_syscall, by which the kernel would go on. */
static bool restarts_otherwise(const struct dp_process *proc,
			       const struct dp_thread *t)
{
	return proc->no_restart && (long)t->regs.orig_rax >= 0 &&
	       (long)t->regs.rax == -ERESTART_RESTARTBLOCK;
}

/* A call with a timeout starts afresh: how long it has waited is not known. */
static void resume_call(const struct dp_process *proc, struct dp_thread *t)
{
	bool again = restarts_otherwise(proc, t);

	if (!again &&
	    ((long)t->regs.orig_rax < 0 || (long)t->regs.rax != -EINTR ||
	     !in_list((long)t->regs.orig_rax, ARRAY_SIZE(not_restarted))))
		return;
	end_own_mask(t);
	if (!again && signal_waits(proc, t->tid))
		return;
	t->regs.rip -= 2;
	t->regs.rax = t->regs.orig_rax;
	t->regs.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}

static int wait_new(struct dp_process *proc, size_t from, long long deadline)
{
	size_t i = from;

	while (i < proc->nr_threads) {
		struct dp_thread *t = &proc->threads[i];
		int got = wait_stop(proc, t, deadline);

		if (got < 0)
			return got;
		if (!got || ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ||
		    !dp_stop_suspends(proc, t->tid, true))
			drop_thread(proc, i);
		else
			resume_call(proc, &proc->threads[i++]);
	}
	return 0;
}

/* Until a look at the threads finds no new one. */
static int stop_rounds(struct dp_process *proc, bool wake)
{
	long long deadline = now_ns() + STOP_DEADLINE_NS;
	size_t fresh, had;
	int err;

	do {
		had = proc->nr_threads;
		err = seize_new(proc, wake && !had, wake, &fresh);
		if (wait_new(proc, had, deadline) && !err)
			err = -EAGAIN;
	} while (!err && fresh && now_ns() < deadline);
	return err;
}

static int no_stop(const struct dp_process *proc, int err, struct dp_diag *diag)
{
	if (err == -EAGAIN)
		dp_diag_set(
			diag, err,
			"process %d does not stop: a thread of it is stuck in the kernel; try again",
			proc->pid);
	else if (err == -EBUSY)
		dp_diag_set(
			diag, err,
			"process %d is being traced by someone else; end that first, then any dprobes on it cleans up",
			proc->pid);
	else if (err == -ESRCH)
		dp_diag_set(diag, err, "process %d has ended", proc->pid);
	else
		dp_diag_set(diag, err, "cannot stop process %d: %s", proc->pid,
			    strerror(-err));
	return err;
}

int dp_stop_all(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held || proc->frozen)
		return 0;
	proc->halted = false;
	err = stop_rounds(proc, false);
	if (!err && !proc->nr_threads)
		err = stop_rounds(proc, true);
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

int dp_stop_again(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held || proc->frozen)
		return 0;
	err = stop_rounds(proc, false);
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

/* A thread that waits in vfork or posix_spawn: somebody else, with signals and
 * signal actions of his own, runs in its memory until then. */
static bool is_shared(const struct dp_process *proc)
{
	bool shared = false;
	pid_t *tids;
	size_t n, i;
	u64 sp, pc;
	long nr;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return false;
	for (i = 0; i < n && !shared; i++)
		shared = !dp_stop_held(proc, tids[i]) &&
			 call_of(proc->pid, tids[i], &nr, &sp, &pc) &&
			 in_vfork(proc->pid, tids[i], nr);
	free(tids);
	return shared;
}

/* Its memory goes first. */
bool dp_process_ended(const struct dp_process *proc)
{
	struct pollfd p = { proc->pidfd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0 || dp_memory_gone(proc);
}

int dp_stop_alone(struct dp_process *proc, struct dp_diag *diag)
{
	long long deadline = now_ns() + STOP_DEADLINE_NS;
	struct timespec nap = { 0, 200000 };
	int err;

	do {
		err = dp_stop_all(proc, diag);
		if (err || proc->held || (proc->nr_threads && !is_shared(proc)))
			return err;
		/* Of one thread in vfork that has come out of it by now. */
		if (!proc->nr_threads && dp_process_ended(proc))
			return no_stop(proc, -ESRCH, diag);
		if (proc->frozen)
			break;
		dp_stop_release(proc);
		if (proc->family)
			dp_family_pass(proc->family);
		nanosleep(&nap, NULL);
	} while (now_ns() < deadline);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has another process running in its memory (vfork), which has not come to its exec; try again",
		proc->pid);
}

/* One that sleeps under a mask of its own has another that does not show. */
static bool is_deaf(pid_t pid, pid_t tid)
{
	struct dp_status st;
	struct call c;

	if (read_call(pid, tid, &c) && has_own_mask(&c))
		return true;
	return !dp_status_read(pid, tid, &st) &&
	       st.blocked & dp_caught_mask(DP_CAUGHT);
}

int dp_stop_more(struct dp_process *proc, bool deaf, struct dp_diag *diag)
{
	size_t had = proc->nr_threads, fresh = 0, n, i;
	pid_t *tids;
	int err;

	if (proc->held)
		return 0;
	err = dp_tasks_list(proc->pid, &tids, &n);
	if (err)
		return no_stop(proc, err, diag);
	for (i = 0; i < n && !err; i++)
		if (!dp_stop_held(proc, tids[i]) &&
		    wanted(proc->pid, tids[i], true) &&
		    (!deaf || is_deaf(proc->pid, tids[i])))
			err = seize(proc, tids[i], &fresh);
	free(tids);
	if (wait_new(proc, had, now_ns() + STOP_DEADLINE_NS) && !err)
		err = -EAGAIN;
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

/* @got: from wait_stop() */
static int is_stopped(struct dp_process *proc, struct dp_thread *t, int got)
{
	if (got <= 0 || ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ||
	    !dp_stop_suspends(proc, t->tid, true))
		return -ESRCH;
	resume_call(proc, t);
	return 0;
}

int dp_stop_take(struct dp_process *proc, struct dp_thread *t, int status)
{
	note_stop(proc, t, status);
	return is_stopped(proc, t, 1);
}

int dp_stop_halt(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	return is_stopped(proc, t, wait_stop(proc, t, deadline));
}

/* Let one thread run for a moment, the others held. Return: 0 stopped again. */
static int run_on(struct dp_process *proc, struct dp_thread *t,
		  long long deadline)
{
	struct timespec moment = { 0, 20000 };
	int got, tries = 0;

	/* One that SIGSTOP has stopped has another stop to come: it was
	 * interrupted as well. And one that got a signal has been interrupted
	 * behind it, perhaps in the call that came next. */
	do {
		if (!dp_stop_suspends(proc, t->tid, false) ||
		    ptrace(PTRACE_CONT, t->tid, 0, 0))
			return -ESRCH;
		nanosleep(&moment, NULL);
		got = wait_stop(proc, t, 0);
		if (got == -EAGAIN)
			return dp_stop_halt(proc, t, deadline);
		if (is_stopped(proc, t, got))
			return -ESRCH;
	} while (++tries < 4);
	return 0;
}

/* In a stopped process a signal that a probe has raised waits for SIGCONT. */
static bool has_trapped(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return proc->halted && !dp_status_read(proc->pid, tid, &st) &&
	       st.pending & ~st.blocked & dp_caught_mask(DP_CAUGHT);
}

void dp_stop_run_out(struct dp_process *proc, size_t from,
		     bool (*inside)(const void *arg, u64 pc), const void *arg)
{
	long long deadline = now_ns() + RUN_OUT_NS;
	size_t i = from;

	if (proc->held)
		return;
	while (i < proc->nr_threads && now_ns() < deadline) {
		if (!inside(arg, proc->threads[i].regs.rip) &&
		    !has_trapped(proc, proc->threads[i].tid))
			i++;
		else if (run_on(proc, &proc->threads[i],
				now_ns() + STOP_DEADLINE_NS))
			drop_thread(proc, i);
	}
}

int dp_stop_one(struct dp_process *proc, struct dp_diag *diag)
{
	long long deadline = now_ns() + STOP_DEADLINE_NS;
	struct timespec nap = { 0, 200000 };
	bool wake = false;
	size_t fresh = 1;
	int err = 0;

	/* One that ends meanwhile is no one; when none is left to stop, one has
	 * to be woken. */
	while (!err && !proc->nr_threads && now_ns() < deadline) {
		wake |= !fresh;
		err = seize_new(proc, wake, true, &fresh);
		if (wait_new(proc, 0, deadline) && !err)
			err = -EAGAIN;
		if (!err && wake && !fresh)
			nanosleep(&nap, NULL);
	}
	if (!err && proc->nr_threads)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err ? err : -EAGAIN, diag);
}

/*
 * Calls in which a thread holds nothing that others, or it, would wait for; first
 * those that do not notice at all, last those whose timeout starts afresh. Not
 * here: whatever an allocation, a lock or buffered output sleeps in.
 */
static const short idle_calls[] = {
	SYS_read,
	SYS_readv,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_accept,
	SYS_accept4,
	SYS_wait4,
	SYS_waitid,
	SYS_pause,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	SYS_epoll_pwait2,
	SYS_rt_sigtimedwait,
	SYS_poll,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_clock_nanosleep,
	SYS_nanosleep,
};

/* A thread that comes home from us has the mask again that it came with: what
 * probes raise must not be in that. */
static bool blocks_ours(pid_t pid, pid_t tid)
{
	struct dp_status st;

	return dp_status_read(pid, tid, &st) ||
	       st.blocked & dp_caught_mask(DP_CAUGHT);
}

/* Return: its place in the list, or a negative number. */
static int idleness(pid_t pid, pid_t tid, const struct dp_map *text)
{
	struct call c;
	size_t i;

	if (!read_call(pid, tid, &c) || has_own_mask(&c) ||
	    c.pc < text->start || c.pc >= text->end || blocks_ours(pid, tid))
		return -1;
	for (i = 0; i < ARRAY_SIZE(idle_calls); i++)
		if (idle_calls[i] == c.nr)
			return (int)i;
	return -1;
}

static pid_t idlest(pid_t pid, const struct dp_map *text)
{
	int least = ARRAY_SIZE(idle_calls), place;
	pid_t *tids, best = 0;
	size_t n, i;

	if (dp_tasks_list(pid, &tids, &n))
		return 0;
	for (i = 0; i < n; i++) {
		place = idleness(pid, tids[i], text);
		if (place >= 0 && place < least) {
			least = place;
			best = tids[i];
		}
	}
	free(tids);
	return best;
}

/* Is it still in such a call, and will go back into it? */
static bool is_idle(const struct dp_thread *t, const struct dp_map *text)
{
	long nr = (long)t->regs.orig_rax, ret = (long)t->regs.rax;
	size_t i;

	if (t->regs.rip < text->start || t->regs.rip >= text->end)
		return false;
	if (nr < 0) /* resume_call() has sent it back */
		nr = ret;
	else if (ret > -512 || ret < -516) /* the kernel's ERESTART… */
		return false;
	for (i = 0; i < ARRAY_SIZE(idle_calls); i++)
		if (idle_calls[i] == nr)
			return true;
	return false;
}

int dp_stop_idle(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag)
{
	pid_t tid = idlest(proc->pid, text);
	size_t fresh = 0;
	int err;

	if (!tid)
		return -EAGAIN;
	err = seize(proc, tid, &fresh);
	if (err && err != -EAGAIN)
		return no_stop(proc, err, diag);
	if (!wait_new(proc, 0, now_ns() + STOP_DEADLINE_NS) &&
	    proc->nr_threads == 1 && is_idle(&proc->threads[0], text))
		return 0;
	dp_stop_release(proc);
	return -EAGAIN;
}

static void let(const struct dp_process *proc, const struct dp_thread *t)
{
	if (!proc->family)
		ptrace(PTRACE_DETACH, t->tid, 0, 0);
	else
		dp_family_let(t->tid, t->group_stop);
}

void dp_stop_reap(const struct dp_process *proc)
{
	struct dp_status st;
	pid_t *tids;
	size_t n, i;

	if (proc->family || dp_status_read(proc->pid, proc->pid, &st) ||
	    st.state != 'Z' || dp_tasks_list(proc->pid, &tids, &n))
		return;
	for (i = 0; i < n; i++)
		if (tids[i] != proc->pid || !proc->launched)
			waitpid(tids[i], NULL, __WALL | WNOHANG);
	free(tids);
}

/* @bother: about somebody else who traces it */
static int seize_running(struct dp_process *proc, bool bother)
{
	size_t fresh, n, i;
	struct dp_status st;
	pid_t *tids;
	int err = dp_tasks_list(proc->pid, &tids, &n), got;

	if (err)
		return err;
	if (bother && !dp_status_read(proc->pid, proc->pid, &st) && st.tracer &&
	    (pid_t)st.tracer != getpid())
		err = -EBUSY;
	for (i = 0; i < n && !err; i++) {
		if (dp_stop_held(proc, tids[i]) || !runs(proc->pid, tids[i]))
			continue;
		got = seize(proc, tids[i], &fresh);
		err = bother || got != -EBUSY ? got : 0;
	}
	free(tids);
	return err;
}

int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	int err = seize_running(proc, bother);

	if (wait_new(proc, had, now_ns() + STOP_DEADLINE_NS) && !err)
		err = -EAGAIN;
	while (proc->nr_threads > had)
		let(proc, &proc->threads[--proc->nr_threads]);
	return err ? no_stop(proc, err, diag) : 0;
}

void dp_stop_release_one(struct dp_process *proc, pid_t tid)
{
	struct dp_thread *t = dp_stop_held(proc, tid);

	if (!t)
		return;
	let(proc, t);
	drop_thread(proc, (size_t)(t - proc->threads));
}

void dp_stop_release(struct dp_process *proc)
{
	size_t i;

	if (proc->held || proc->frozen)
		return;
	for (i = 0; i < proc->nr_threads; i++)
		let(proc, &proc->threads[i]);
	proc->nr_threads = 0;
	proc->outdated = true;
}

const struct dp_maps *dp_stop_maps(struct dp_process *proc)
{
	/* It may be held for long, and much be done meanwhile. */
	if (proc->outdated || proc->held || proc->frozen)
		dp_maps_free(&proc->maps);
	proc->outdated = false;
	return dp_last_maps(proc);
}

const struct dp_maps *dp_last_maps(struct dp_process *proc)
{
	if (!proc->maps.n && dp_maps_read(proc->pid, &proc->maps))
		return NULL;
	return &proc->maps;
}
