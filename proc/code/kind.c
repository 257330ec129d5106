// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kind: where a program makes its system calls, by its libc and dynamic linker.
 *
 *   libc.so.6 is mapped          in libc, and in the program itself if it is Go
 *   dynamic linker not glibc's   in the linker, which is the libc, too (musl)
 *   glibc's linker and no libc,
 *   or no dynamic linker         in the program itself
 */
#include "proc/code/intercepts.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include <dprobes/diag.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#define AUXV_MAX 64
/* Looks at a process whose dynamic linker has not mapped libc yet, and the time between. */
#define START_TRIES 2000
#define START_NAP_NS 1000000

/** struct auxv - a process's auxiliary vector, of @n entries */
struct auxv {
	Elf64_auxv_t v[AUXV_MAX];
	size_t n;
};

static void read_auxv(struct auxv *aux, pid_t pid)
{
	ssize_t n = dp_text_read(dp_path("/proc/%d/auxv", pid).s,
				 (char *)aux->v, sizeof(aux->v));

	aux->n = n > 0 ? (size_t)n / sizeof(*aux->v) : 0;
}

static u64 value_of(const struct auxv *aux, u64 type)
{
	size_t i;

	for (i = 0; i < aux->n; i++)
		if (aux->v[i].a_type == type)
			return aux->v[i].a_un.a_val;
	return 0;
}

u64 dp_auxv_get(pid_t pid, u64 type)
{
	struct auxv aux;

	read_auxv(&aux, pid);
	return value_of(&aux, type);
}

static bool is_glibc(const struct dp_map *m)
{
	return m->path[0] == '/' && !strcmp(basename(m->path), "libc.so.6");
}

static bool is_glibcs_linker(const struct dp_map *m)
{
	return m->path[0] == '/' && !strncmp(basename(m->path), "ld-linux", 8);
}

static bool is_go(const struct dp_process *proc)
{
	struct dp_path exe = dp_path("/proc/%d/exe", proc->pid);

	/* In a position-independent program C's linker puts .gopclntab among other data. */
	return dp_file_has_section(exe.s, ".gopclntab") ||
	       dp_file_has_section(exe.s, ".go.buildinfo");
}

struct parts {
	const struct dp_map *exe, *linker;
	bool glibc;
};

static void find_parts(const struct auxv *aux, const struct dp_maps *maps,
		       struct parts *p)
{
	u64 base = value_of(aux, AT_BASE);
	size_t i;

	p->exe = dp_maps_find(maps, value_of(aux, AT_ENTRY));
	p->linker = base ? dp_maps_find(maps, base) : NULL;
	p->glibc = false;
	for (i = 0; i < maps->n; i++)
		p->glibc |= maps->v[i].perms[2] == 'x' && is_glibc(&maps->v[i]);
}

/* May the dynamic linker still map a libc? Its _r_debug does not say yet that all libraries
 * are in place. */
static bool is_starting(const struct dp_process *proc, const struct parts *p)
{
	const struct dp_module *linker;
	struct dp_modules *mods;
	u64 addr, map = 0;
	u32 state = 1;

	if (p->glibc || !p->linker || !is_glibcs_linker(p->linker) ||
	    proc->held || dp_modules_open(proc->pid, proc->mem, &mods, NULL))
		return false;
	linker = dp_modules_linker(mods);
	if (linker && !dp_module_dynsym(mods, linker, "_r_debug", &addr) &&
	    !dp_process_read(proc, addr + 8, &map, sizeof(map)))
		dp_process_read(proc, addr + 24, &state, sizeof(state));
	dp_modules_close(mods);
	return !map || state;
}

static int find_patched(struct dp_process *proc, struct dp_maps *maps,
			struct dp_diag *diag)
{
	struct auxv aux;
	struct parts p;
	int err, tries;
	bool begun;
	size_t i;

	for (tries = 0;; tries++) {
		/* In the middle of an exec the process has no auxiliary vector yet,
		 * and perhaps not all mappings. Hence read the vector first. */
		read_auxv(&aux, proc->pid);
		begun = value_of(&aux, AT_ENTRY) != 0;
		err = dp_maps_read(proc->pid, maps);
		if (err == -EFBIG)
			return dp_maps_too_many(proc->pid, diag);
		if (err)
			return dp_diag_set(diag, err, "process %d has ended",
					   proc->pid);
		find_parts(&aux, maps, &p);
		if (begun && !is_starting(proc, &p))
			break;
		dp_maps_free(maps);
		if (tries == START_TRIES)
			return dp_diag_set(
				diag, -EAGAIN,
				"process %d is still being started; try again when it runs",
				proc->pid);
		dp_nap(START_NAP_NS);
	}
	proc->go = is_go(proc);
	proc->nr_texts = 0;
	for (i = 0; i < maps->n && proc->nr_texts < DP_TEXTS_MAX; i++) {
		const struct dp_map *m = &maps->v[i];
		bool linker = p.linker && dp_map_same_file(m, p.linker);

		if (m->perms[2] != 'x')
			continue;
		if (is_glibc(m) ||
		    (linker && !p.glibc && !is_glibcs_linker(m)) ||
		    (p.exe && dp_map_same_file(m, p.exe) &&
		     !is_glibcs_linker(m) &&
		     (!p.linker || proc->go ||
		      (!p.glibc && is_glibcs_linker(p.linker)))))
			proc->texts[proc->nr_texts++] =
				(struct dp_span){ m->start, m->end - m->start };
	}
	return 0;
}

static int search(struct dp_process *proc, const struct dp_map *m)
{
	struct dp_syscalls calls;
	int err = dp_scan_map(proc, m, &calls);

	if (err)
		return err;
	dp_gadgets_among(proc, &calls);
	err = dp_intercepts_find(proc, &calls);
	dp_scan_free(&calls);
	return err;
}

/* Has the process, which may be loading libraries, other mappings than a moment ago? */
static bool has_changed(const struct dp_process *proc,
			const struct dp_maps *was)
{
	struct dp_maps now;
	bool changed;
	size_t i;

	if (dp_maps_read(proc->pid, &now))
		return false;
	changed = now.n != was->n;
	for (i = 0; i < now.n && !changed; i++)
		changed = now.v[i].start != was->v[i].start ||
			  now.v[i].end != was->v[i].end;
	dp_maps_free(&now);
	return changed;
}

/* Return: as dp_kind_find(); @again: the mappings have changed, call again */
static int look(struct dp_process *proc, bool *again, struct dp_diag *diag)
{
	const struct dp_maps *maps = &proc->maps;
	size_t i;
	int err;

	dp_maps_free(&proc->maps);
	err = find_patched(proc, &proc->maps, diag);
	proc->outdated = true;
	*again = false;
	if (err)
		return err;
	dp_gadgets_forget(proc);
	proc->nr_intercepts = 0;
	proc->remnants = dp_pages_ours(maps);
	proc->points = (struct dp_points){ 0 };
	for (i = 0; i < proc->nr_texts && !err; i++)
		err = search(proc, dp_maps_find(maps, proc->texts[i].start));
	if (!err)
		dp_gadgets_complete(proc, maps);
	*again = err && has_changed(proc, maps);
	return !err ? 0 :
		      dp_diag_set(diag, err, "cannot read process %d: %s",
				  proc->pid, strerror(-err));
}

int dp_kind_find(struct dp_process *proc, struct dp_diag *diag)
{
	bool again;
	int err;

	do
		err = look(proc, &again, diag);
	while (again);
	if (err)
		return err;
	if (!proc->syscall_ret || !proc->restorer)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d has neither code for a system call nor room for some; start it with the vdso (it was booted or traced without)",
			proc->pid);
	return 0;
}
