// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * launch: start a command and stop it before its first own instruction.
 *
 * The dynamic linker calls _dl_debug_state() for debuggers. At the last call, with r_state
 * RT_CONSISTENT, every library is mapped and relocated, and no constructor has run. Without
 * loader events a program is stopped at its entry point, where constructors may have run.
 *
 * Until a launched command is stopped there it dies with the tool, so a breakpoint can stop
 * it. A program that has executed under -f must survive the tool's end at any moment. So
 * meanwhile that function, which is empty otherwise, and the padding behind it hold a
 * system call that does nothing. The thread stops at its system calls, and the pc tells
 * this one.
 */
#include "arch/arch.h"
#include "arch/calls.h"
#include "arch/uregs.h"
#include "engine/insn/insn.h"
#include "proc/attach/attach.h"
#include "proc/code/intercepts.h"
#include "proc/facts.h"
#include "proc/linker.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/seccomp/filters.h"
#include <dprobes/diag.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/signals/masks.h"

static bool runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int dp_command_find(const char *name, char *path, size_t size)
{
	const char *dirs = secure_getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return access(path, F_OK) ? -ENOENT :
		       runnable(path)	  ? 0 :
					    -EACCES;
	}
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs;
	     dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, size, "%.*s/%s", (int)(end - dirs), dirs, name);
		if (runnable(path))
			return 0;
	}
	return -ENOENT;
}

int dp_command_linker(const char *command, char *linker, size_t size)
{
	char path[PATH_MAX];
	int err = dp_command_find(command, path, sizeof(path));

	return err ? -ENOENT : dp_check_linker(path, linker, size);
}

/* In the child: wait until the tool has seized it, then become the command. If the tool
 * ends first, the command does not run. */
static void __attribute__((noreturn))
become(const char *path, char *const argv[], int go)
{
	char byte;
	ssize_t n;

	while ((n = read(go, &byte, 1)) < 0 && errno == EINTR)
		continue;
	if (n != 1)
		_exit(127);
	close(go);
	dp_limits_restore();
	execv(path, argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Has a process sent the signal, and not a breakpoint or a step raised it? */
static bool is_sent(pid_t pid)
{
	siginfo_t si;

	return !ptrace(PTRACE_GETSIGINFO, pid, 0, &si) && si.si_code <= 0;
}

/* Wait for the next stop: at a system call if the process goes on by PTRACE_SYSCALL as @how, else
 * for an event or a trap. Signals of the program's are delivered on the way. */
static int next_stop(struct dp_process *proc, enum __ptrace_request how,
		     int *event)
{
	int status, sig;

	for (;;) {
		while (dp_stop_seen(proc->pid, &status, 0) < 0)
			if (errno != EINTR)
				return -errno;
		if (!WIFSTOPPED(status)) {
			proc->reaped = proc->exited = true;
			proc->status = status;
			return -ESRCH;
		}
		*event = status >> 16;
		sig = WSTOPSIG(status);
		if (how == PTRACE_SYSCALL ?
			    sig == (SIGTRAP | 0x80) :
			    *event || (sig == SIGTRAP && !is_sent(proc->pid)))
			return 0;
		if (ptrace(how, proc->pid, 0, *event ? 0 : sig))
			return -errno;
	}
}

/* Let the process go on as @how, to the next stop. */
static int run(struct dp_process *proc, enum __ptrace_request how, int *event)
{
	return ptrace(how, proc->pid, 0, 0) ? -errno :
					      next_stop(proc, how, event);
}

/* Run to the next stop at a system call. */
static int next_call(struct dp_process *proc)
{
	int event;

	return run(proc, PTRACE_SYSCALL, &event);
}

static int to_exec(struct dp_process *proc)
{
	int event, err = next_stop(proc, PTRACE_CONT, &event);

	while (!err && event != PTRACE_EVENT_EXEC) {
		ptrace(PTRACE_CONT, proc->pid, 0, 0);
		err = next_stop(proc, PTRACE_CONT, &event);
	}
	return err;
}

/* Let the process run up to an address. A breakpoint may unblock SIGTRAP: restore the
 * mask. */
static int to_address(struct dp_process *proc, u64 addr)
{
	static const u8 breakpoint = 0xcc;
	struct user_regs_struct r;
	u64 mask;
	u8 orig;
	int event, err = dp_process_read(proc, addr, &orig, 1);

	if (!err && ptrace(PTRACE_GETSIGMASK, proc->pid, 8, &mask))
		err = -errno;
	if (!err)
		err = dp_process_write(proc, addr, &breakpoint, 1);
	while (!err) {
		err = run(proc, PTRACE_CONT, &event);
		if (err || event || ptrace(PTRACE_GETREGS, proc->pid, 0, &r) ||
		    dp_uregs_pc(&r) != addr + 1)
			continue;
		dp_uregs_set_pc(&r, addr);
		ptrace(PTRACE_SETREGS, proc->pid, 0, &r);
		ptrace(PTRACE_SETSIGMASK, proc->pid, 8, &mask);
		return dp_process_write(proc, addr, &orig, 1);
	}
	return err;
}

/* close(-1): the linker calls close(), too, so a filter that lets the linker run permits it */
static const u8 stop_call[] = DP_CODE_STOP_CALL(SYS_close);
#define BEHIND_CALL (sizeof(stop_call) - 1)
#define INSN_MAX 15

/* Does the function only return, with enough padding behind it? */
static bool is_empty(const u8 *code, size_t size)
{
	size_t at = dp_code_returns(code);
	struct insn_facts f;

	if (!at)
		return false;
	for (; at < sizeof(stop_call); at += f.len)
		if (dp_insn_facts(code + at, size - at, &f) ||
		    !dp_insn_is_nop(code + at, f.len))
			return false;
	return true;
}

/* Are all libraries in place? */
static int is_consistent(struct dp_process *proc,
			 const struct dp_loader_event *n, bool *yes)
{
	struct r_debug rd = { 0 };
	u64 record;
	int err = dp_loader_event_record(proc, n, &record);

	if (!err)
		err = dp_process_read(proc, record, &rd, sizeof(rd));
	*yes = !err && rd.r_map && rd.r_state == RT_CONSISTENT;
	return err;
}

/* Run to behind the call in the linker's function, when all libraries are in place. */
static int to_stop_call(struct dp_process *proc,
			const struct dp_loader_event *n,
			struct user_regs_struct *r)
{
	bool there = false;
	int err;

	do {
		err = next_call(proc);
		if (!err && ptrace(PTRACE_GETREGS, proc->pid, 0, r))
			err = -errno;
		if (!err && dp_uregs_pc(r) == n->function + BEHIND_CALL)
			err = is_consistent(proc, n, &there);
	} while (!err && !there);
	dp_kill_point("launch: at the call");
	/* The stop before was the call's entry; go to its exit. */
	if (!err)
		err = next_call(proc);
	if (!err && ptrace(PTRACE_GETREGS, proc->pid, 0, r))
		err = -errno;
	return err;
}

/* Let the linker run up to its function, all libraries in place. @orig: its original
 * bytes */
static int to_consistent(struct dp_process *proc,
			 const struct dp_loader_event *n, const u8 *orig)
{
	struct user_regs_struct r;
	int err = dp_process_write(proc, n->function, stop_call,
				   sizeof(stop_call));

	dp_kill_point("launch: call");
	if (!err)
		err = to_stop_call(proc, n, &r);
	if (err)
		return err;
	dp_kill_point("launch: behind the call");
	dp_uregs_set_pc(&r, n->function);
	dp_uregs_leave_call(&r);
	if (ptrace(PTRACE_SETREGS, proc->pid, 0, &r))
		return -errno;
	dp_kill_point("launch: back");
	return dp_process_write(proc, n->function, orig, sizeof(stop_call));
}

/* The same, by means of a breakpoint. */
static int trap_consistent(struct dp_process *proc,
			   const struct dp_loader_event *n)
{
	int event, err;
	bool yes;

	for (;;) {
		err = to_address(proc, n->function);
		if (!err)
			err = is_consistent(proc, n, &yes);
		if (err || yes)
			return err;
		dp_kill_point("launch: libraries to come");
		if (run(proc, PTRACE_SINGLESTEP, &event))
			return -ESRCH;
	}
}

/* The kernel resets the action of a blocked or ignored signal that it has to force. */
static bool minds_traps(const struct dp_process *proc)
{
	struct dp_status st;

	return !dp_status_read(proc->pid, proc->pid, &st) &&
	       (st.blocked | st.ignored) & DP_SIGTRAP_BIT;
}

/* @survives: the program must survive the end of the tool */
static int to_loader_event(struct dp_process *proc,
			   const struct dp_loader_event *n, bool survives)
{
	u8 code[sizeof(stop_call) + INSN_MAX];
	int err = dp_process_read(proc, n->function, code, sizeof(code));

	if (err)
		return err;
	return (survives || minds_traps(proc)) && is_empty(code, sizeof(code)) ?
		       to_consistent(proc, n, code) :
		       trap_consistent(proc, n);
}

static bool find_loader_event(struct dp_process *proc,
			      struct dp_loader_event *n, struct dp_diag *diag)
{
	struct dp_modules *mods;
	bool found;

	if (dp_modules_open(proc->pid, proc->mem, &mods, diag))
		return false;
	found = dp_loader_event_find(mods, n);
	dp_modules_close(mods);
	return found;
}

/* A program without a dynamic linker is at its start already, but still inside the execve: a
 * remote call made there would end as that. */
static int to_start(struct dp_process *proc, bool survives,
		    struct dp_diag *diag)
{
	struct dp_loader_event n;
	int err;

	if (!dp_auxv_get(proc->pid, AT_BASE))
		err = next_call(proc);
	else if (find_loader_event(proc, &n, diag))
		err = to_loader_event(proc, &n, survives);
	else
		err = to_address(proc, dp_auxv_get(proc->pid, AT_ENTRY));
	if (err)
		dp_diag_set(diag, err,
			    "%s ended before its first own instruction",
			    proc->exe);
	return err;
}

void dp_process_kill_launched(struct dp_process *proc)
{
	if (!proc->launched || proc->reaped)
		return;
	kill(proc->pid, SIGKILL);
	while (dp_stop_wait(proc->pid, &proc->status) == proc->pid &&
	       !WIFEXITED(proc->status) && !WIFSIGNALED(proc->status))
		continue;
	proc->reaped = proc->exited = true;
	proc->held = false;
}

static int start(struct dp_process *proc, const char *path, char *const argv[])
{
	int go[2], err = 0;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	proc->pid = fork();
	if (proc->pid == 0) {
		close(go[1]);
		become(path, argv, go[0]);
	}
	dp_kill_point("launch: forked");
	if (proc->pid < 0)
		err = -errno;
	else if (ptrace(PTRACE_SEIZE, proc->pid, 0,
			PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD |
				PTRACE_O_EXITKILL))
		err = -errno;
	dp_kill_point("launch: seized");
	/* The tool has the other end open as well, so no SIGPIPE comes. */
	if (!err && write(go[1], "", 1) != 1)
		err = -errno;
	proc->launched = proc->pid > 0;
	close(go[0]);
	close(go[1]);
	if (err && proc->launched)
		dp_process_kill_launched(proc);
	return err;
}

/* Bring a process that has just executed a program to its start.
 * @again: it is traced already (-f); else from here on the end of the tool must not end it */
static int take_hold(struct dp_process *proc, bool again, struct dp_diag *diag)
{
	int err = dp_process_open_mem(proc, diag);

	proc->held = true;
	if (!err && !again)
		err = dp_process_lock(proc, DP_LOCK_AGENT, diag);
	if (!err)
		err = dp_check_process(proc, diag);
	if (!err)
		err = to_start(proc, again, diag);
	if (!err)
		err = dp_kind_find(proc, diag);
	if (!err && !again)
		ptrace(PTRACE_SETOPTIONS, proc->pid, 0, dp_trace_options(proc));
	if (!err && dp_process_hold(proc))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	if (!err)
		dp_kill_point("launch: held");
	if (!err)
		dp_filters_read(proc);
	return err;
}

int dp_launch_again(struct dp_process *proc, struct dp_diag *diag)
{
	return take_hold(proc, true, diag);
}

int dp_process_launch(char *const argv[], struct dp_process **out,
		      struct dp_diag *diag)
{
	char path[PATH_MAX];
	struct dp_process *proc;
	int err = dp_command_find(argv[0], path, sizeof(path));

	if (err)
		return dp_diag_set(diag, err, "%s: %s", argv[0],
				   err == -ENOENT ? "no such command" :
						    "not an executable file");
	err = dp_check_program(path, argv[0], diag);
	if (!err)
		err = dp_limits_descriptors(diag);
	if (err)
		return err;
	proc = dp_process_new();
	if (!proc)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	snprintf(proc->exe, sizeof(proc->exe), "%s", path);
	err = start(proc, path, argv);
	if (err)
		dp_diag_set(diag, err, "cannot start %s: %s", argv[0],
			    strerror(-err));
	else if (to_exec(proc))
		err = dp_diag_set(diag, -ENOEXEC, "%s cannot be executed: %s",
				  proc->exe,
				  WIFSIGNALED(proc->status) ?
					  "a signal has ended it" :
					  "the kernel refuses it");
	else
		err = take_hold(proc, false, diag);
	if (err) {
		dp_process_kill_launched(proc);
		dp_process_close(proc);
		return err;
	}
	*out = proc;
	return 0;
}
