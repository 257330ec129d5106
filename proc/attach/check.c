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
#include <linux/seccomp.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4

static bool read_segment(int fd, const Elf64_Ehdr *eh, u32 i, Elf64_Phdr *ph)
{
	return pread(fd, ph, sizeof(*ph),
		     (off_t)(eh->e_phoff + i * sizeof(*ph))) == sizeof(*ph);
}

/* Can all program headers be read? They say what is to be mapped. */
static bool has_segments(int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	u32 i;

	for (i = 0; i < eh->e_phnum; i++)
		if (!read_segment(fd, eh, i, &ph))
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

/** struct program - an ELF file that has been opened
 *  @interp: its path, if it is the interpreter of a script; or "" */
struct program {
	int fd;
	union {
		Elf64_Ehdr eh;
		char text[PATH_MAX];
	};
	char interp[PATH_MAX];
};

/* Find the interpreter named by a script's first line. */
static bool find_interp(struct program *p)
{
	const char *name;
	size_t n;

	if (memcmp(p->text, "#!", 2))
		return false;
	name = p->text + 2 + strspn(p->text + 2, " \t");
	n = strcspn(name, " \t\n");
	if (!n)
		return false;
	memcpy(p->interp, name, n);
	p->interp[n] = '\0';
	return true;
}

/* Open a program, or the interpreter of a script. Return: 0; -ENOEXEC it is neither; as open(2). */
static int open_program(const char *path, struct program *p)
{
	int scripts = 0;
	ssize_t n;

	p->interp[0] = '\0';
	do {
		p->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (p->fd < 0)
			return -errno;
		n = read(p->fd, p->text, sizeof(p->text) - 1);
		if (n >= (ssize_t)sizeof(p->eh) &&
		    !memcmp(p->text, ELFMAG, SELFMAG))
			return 0;
		close(p->fd);
		path = p->interp;
		p->text[n > 2 ? n : 0] = '\0';
	} while (scripts++ < SCRIPT_DEPTH && find_interp(p));
	return -ENOEXEC;
}

int dp_check_program(const char *path, const char *shown, struct dp_diag *diag)
{
	struct program p;
	int err = open_program(path, &p);

	if (p.interp[0])
		shown = p.interp;
	/* An executable program need not be readable; then the exec decides. */
	if (err == -EACCES)
		return 0;
	if (err)
		return dp_diag_set(
			diag, err,
			err == -ENOEXEC ?
				"%s is not a program: neither ELF nor a script that names its interpreter" :
				"%s: %s",
			shown, strerror(-err));
	err = check_elf(p.fd, &p.eh, shown, diag);
	close(p.fd);
	return err;
}

/* Return: 0, the path that PT_INTERP names; -ENOENT there is none, or it cannot be read. */
static int read_linker(int fd, const Elf64_Ehdr *eh, char *path, size_t size)
{
	Elf64_Phdr ph;
	u32 i;

	for (i = 0; i < eh->e_phnum && read_segment(fd, eh, i, &ph); i++) {
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

int dp_check_linker(const char *path, char *linker, size_t size)
{
	struct program p;
	int err = -ENOENT;

	if (open_program(path, &p))
		return err;
	if (p.eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	    p.eh.e_phentsize == sizeof(Elf64_Phdr))
		err = read_linker(p.fd, &p.eh, linker, size);
	close(p.fd);
	return err;
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
	return dp_check_program(path.s, proc->exe, diag);
}
