// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* check: refuse a process that cannot be handled before it is touched. */
#include "arch/elf.h"
#include "proc/attach/attach.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/seccomp/filters.h"
#include <dprobes/diag.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4

/* Can all program headers be read? They say what is to be mapped. */
static bool has_segments(int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	unsigned int i;

	for (i = 0; i < eh->e_phnum; i++)
		if (pread(fd, &ph, sizeof(ph),
			  (off_t)(eh->e_phoff + i * sizeof(ph))) != sizeof(ph))
			return false;
	return eh->e_phnum > 0;
}

static int check_elf(int fd, const Elf64_Ehdr *eh, const char *shown,
		     struct dp_diag *diag)
{
	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s is a 32-bit program; only 64-bit x86 programs can be probed",
			shown);
	if (eh->e_machine != DP_ELF_MACHINE)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s is a program for another machine; only x86-64 programs can be probed",
			shown);
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || !has_segments(fd, eh))
		return dp_diag_set(
			diag, -ENOEXEC,
			"%s is not a program: its ELF headers are damaged",
			shown);
	return 0;
}

/* The interpreter named by a script's first line. */
static int script_interp(const char *head, char *path, size_t size)
{
	size_t n;

	head += 2;
	head += strspn(head, " \t");
	n = strcspn(head, " \t\n");
	if (!n || n >= size)
		return -ENOEXEC;
	memcpy(path, head, n);
	path[n] = '\0';
	return 0;
}

static int check_file(const char *path, const char *shown, int depth,
		      struct dp_diag *diag)
{
	union {
		Elf64_Ehdr eh;
		char text[PATH_MAX];
	} head = { 0 };
	char interp[PATH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	/* An executable program need not be readable; then the exec decides. */
	if (fd < 0)
		return errno == EACCES ? 0 :
					 dp_diag_set(diag, -errno, "%s: %s",
						     shown, strerror(errno));
	n = read(fd, &head, sizeof(head) - 1);
	if (n >= (ssize_t)sizeof(head.eh) &&
	    !memcmp(head.eh.e_ident, ELFMAG, SELFMAG))
		err = check_elf(fd, &head.eh, shown, diag);
	else if (n > 2 && !memcmp(head.text, "#!", 2) && depth &&
		 !script_interp(head.text, interp, sizeof(interp)))
		err = check_file(interp, interp, depth - 1, diag);
	else
		err = dp_diag_set(
			diag, -ENOEXEC,
			"%s is not a program: neither ELF nor a script that names its interpreter",
			shown);
	close(fd);
	return err;
}

/* Return: 0, the path that PT_INTERP names; -ENOENT there is none, or it cannot be read. */
static int read_linker(int fd, const Elf64_Ehdr *eh, char *path, size_t size)
{
	Elf64_Phdr ph;
	unsigned int i;

	for (i = 0; i < eh->e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph),
			  (off_t)(eh->e_phoff + i * sizeof(ph))) != sizeof(ph))
			return -ENOENT;
		if (ph.p_type != PT_INTERP)
			continue;
		if (!ph.p_filesz || ph.p_filesz > size ||
		    pread(fd, path, ph.p_filesz, (off_t)ph.p_offset) !=
			    (ssize_t)ph.p_filesz)
			return -ENOENT;
		path[ph.p_filesz - 1] = '\0';
		return 0;
	}
	return -ENOENT;
}

static int find_linker(const char *program, int depth, char *path, size_t size)
{
	union {
		Elf64_Ehdr eh;
		char text[PATH_MAX];
	} head = { 0 };
	char interp[PATH_MAX];
	int fd = open(program, O_RDONLY | O_CLOEXEC), err = -ENOENT;
	ssize_t n;

	if (fd < 0)
		return -ENOENT;
	n = read(fd, &head, sizeof(head) - 1);
	if (n >= (ssize_t)sizeof(head.eh) &&
	    !memcmp(head.eh.e_ident, ELFMAG, SELFMAG) &&
	    head.eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.eh.e_phentsize == sizeof(Elf64_Phdr))
		err = read_linker(fd, &head.eh, path, size);
	else if (n > 2 && !memcmp(head.text, "#!", 2) && depth &&
		 !script_interp(head.text, interp, sizeof(interp)))
		err = find_linker(interp, depth - 1, path, size);
	close(fd);
	return err;
}

int dp_check_linker(const char *path, char *linker, size_t size)
{
	return find_linker(path, SCRIPT_DEPTH, linker, size);
}

int dp_check_program(const char *path, const char *shown, struct dp_diag *diag)
{
	return check_file(path, shown, SCRIPT_DEPTH, diag);
}

/* Is any thread under a filter? Waits for the tracer child of a killed tool.
 * @first: status of the first thread */
static bool is_filtered(struct dp_process *proc, const struct dp_status *first)
{
	bool filtered = false;
	struct dp_status st;
	pid_t tid;

	dp_each_task(tid, proc->pid) {
		if (tid == proc->pid)
			st = *first;
		else if (dp_status_read(proc->pid, tid, &st))
			continue;
		if (st.tracer && !proc->held)
			dp_tracer_child_wait((pid_t)st.tracer);
		filtered |= st.seccomp != 0;
		if (dp_status_filters(&st) > proc->nr_filters)
			proc->nr_filters = dp_status_filters(&st);
		proc->timeless |= st.seccomp == SECCOMP_MODE_STRICT;
	}
	return filtered;
}

static int check_filter(struct dp_process *proc, const struct dp_status *first,
			struct dp_diag *diag)
{
	proc->filtered = is_filtered(proc, first);
	if (proc->filtered)
		dp_filters_presume(proc);
	if (!proc->filtered || dp_filters_can_suspend())
		return 0;
	return dp_diag_set(
		diag, -EPERM,
		"process %d runs under a seccomp filter, which could kill it for what a probe needs; to suspend that for a moment dprobes has to be run with CAP_SYS_ADMIN and under no filter itself",
		proc->pid);
}

/* A tracer child of another dprobes is over in a moment. */
static int read_undisturbed(const struct dp_process *proc, struct dp_status *st)
{
	int err = dp_status_read(proc->pid, proc->pid, st);

	if (err || !st->tracer || proc->held)
		return err;
	dp_tracer_child_wait((pid_t)st->tracer);
	return dp_status_read(proc->pid, proc->pid, st);
}

int dp_check_process(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_path path = dp_path("/proc/%d/exe", proc->pid);
	struct dp_status st;
	ssize_t n;

	if (read_undisturbed(proc, &st))
		return dp_diag_set(diag, -ESRCH, "no process %d", proc->pid);
	n = readlink(path.s, proc->exe, sizeof(proc->exe) - 1);
	if (n < 0)
		return dp_diag_set(diag, -ESRCH, "process %d has ended already",
				   proc->pid);
	proc->exe[n] = '\0';
	proc->ns_pid = st.ns_pid;
	proc->catches_sigsys = st.caught >> (SIGSYS - 1) & 1;
	if (st.tracer && !proc->held)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d is being traced by process %u; end that first",
			proc->pid, st.tracer);
	if (st.shadow_stack)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d runs with a shadow stack; it cannot be probed yet",
			proc->pid);
	if (check_filter(proc, &st, diag))
		return -EPERM;
	return check_file(path.s, proc->exe, 0, diag);
}
