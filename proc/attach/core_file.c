// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * core_file: notes and headers of a core file.
 *
 *   header, memory, notes, [section header,] program headers
 *
 * What has been read decides on the segments, so the program headers come last. Notes are those of
 * the kernel, and one by the name of DPROBES, which says in words what is from when.
 */
#include "arch/elf.h"
#include "proc/attach/core.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "sym/list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/procfs.h>
#include <unistd.h>

#define NOTE_ABOUT 1
#define ALIGNED(n) (((n) + 3) & ~(size_t)3)

static void pad(FILE *f, size_t len)
{
	static const char zeros[4];

	fwrite(zeros, 1, ALIGNED(len) - len, f);
}

static void note(FILE *f, const char *name, u32 type, const void *desc,
		 size_t len)
{
	const Elf64_Nhdr n = { .n_namesz = (u32)strlen(name) + 1,
			       .n_descsz = (u32)len,
			       .n_type = type };

	fwrite(&n, sizeof(n), 1, f);
	fwrite(name, n.n_namesz, 1, f);
	pad(f, n.n_namesz);
	fwrite(desc, 1, len, f);
	pad(f, len);
}

static void status_note(FILE *f, const struct dp_core *core,
			const struct dp_core_thread *t)
{
	struct elf_prstatus s = {
		.pr_pid = t->tid,
		.pr_ppid = (pid_t)dp_stat_number(core->proc->pid, 4),
		.pr_pgrp = (pid_t)dp_stat_number(core->proc->pid, 5),
		.pr_sid = (pid_t)dp_stat_number(core->proc->pid, 6),
		.pr_fpvalid = t->fp,
	};
	struct dp_status st;

	if (!dp_status_read(core->proc->pid, t->tid, &st)) {
		s.pr_sigpend = st.pending;
		s.pr_sighold = st.blocked;
	}
	_Static_assert(sizeof(s.pr_reg) == sizeof(t->regs), "registers");
	memcpy(&s.pr_reg, &t->regs, sizeof(s.pr_reg));
	note(f, "CORE", NT_PRSTATUS, &s, sizeof(s));
}

static void vector_notes(FILE *f, const struct dp_core_thread *t)
{
	if (t->fp)
		note(f, "CORE", NT_PRFPREG, &t->fpregs, sizeof(t->fpregs));
	if (t->xstate_size)
		note(f, "LINUX", NT_X86_XSTATE, t->xstate, t->xstate_size);
}

static void process_note(FILE *f, const struct dp_core *core)
{
	pid_t pid = core->proc->pid;
	struct elf_prpsinfo p = {
		.pr_sname = 'R',
		.pr_pid = pid,
		.pr_ppid = (pid_t)dp_stat_number(pid, 4),
		.pr_pgrp = (pid_t)dp_stat_number(pid, 5),
		.pr_sid = (pid_t)dp_stat_number(pid, 6),
		.pr_nice = (char)dp_stat_number(pid, 19),
	};
	struct dp_status st;
	char words[sizeof(p.pr_psargs)];
	ssize_t n = dp_text_read(dp_path("/proc/%d/cmdline", pid).s, words,
				 sizeof(words)),
		i;

	for (i = 0; i < n; i++)
		p.pr_psargs[i] = words[i] ? words[i] : ' ';
	n = dp_text_read(dp_path("/proc/%d/comm", pid).s, words,
			 sizeof(p.pr_fname));
	if (n > 0)
		memcpy(p.pr_fname, words, (size_t)n - (words[n - 1] == '\n'));
	if (!dp_status_read(pid, pid, &st)) {
		p.pr_uid = st.uids[0];
		p.pr_gid = st.gids[0];
	}
	note(f, "CORE", NT_PRPSINFO, &p, sizeof(p));
}

static void vector_of_the_loader(FILE *f, const struct dp_core *core)
{
	char auxv[4096];
	ssize_t n = dp_text_read(dp_path("/proc/%d/auxv", core->proc->pid).s,
				 auxv, sizeof(auxv));

	if (n > 0)
		note(f, "CORE", NT_AUXV, auxv, (size_t)n);
}

static bool is_file(const struct dp_core_map *m)
{
	return m->path[0] == '/';
}

/* Count and size of a page; begin, end and page in its file of each; their paths */
static void files(FILE *f, const struct dp_core *core)
{
	u64 head[] = { 0, DP_PAGE }, line[3];
	const struct dp_core_map *m = core->maps.v;
	size_t i, n = core->maps.n;

	for (i = 0; i < n; i++)
		head[0] += is_file(&m[i]);
	fwrite(head, sizeof(head), 1, f);
	for (i = 0; i < n; i++) {
		line[0] = m[i].start;
		line[1] = m[i].end;
		line[2] = m[i].offset / DP_PAGE;
		if (is_file(&m[i]))
			fwrite(line, sizeof(line), 1, f);
	}
	for (i = 0; i < n; i++)
		if (is_file(&m[i]))
			fwrite(m[i].path, 1, strlen(m[i].path) + 1, f);
}

static void about(FILE *f, const struct dp_core *core)
{
	const struct dp_core_thread *t = core->threads.v;
	size_t i;

	fprintf(f,
		"made by dprobes of a process that ran on\n"
		"held: at %lld.%09lld, for %lu ns: registers, and the stacks below; other memory is later\n",
		(long long)core->held_at / 1000000000,
		(long long)core->held_at % 1000000000, core->result->held_ns);
	for (i = 0; i < core->threads.n; i++)
		fprintf(f, "thread %d: stack 0x%lx-0x%lx%s%s\n", t[i].tid,
			t[i].stack_at, t[i].stack_at + t[i].stack_size,
			t[i].asleep ?
				", asleep: not held; of its registers only rip, rsp, and the number and arguments of its system call are known" :
				"",
			t[i].inside ? ", in the agent of dprobes" : "");
	if (core->result->unread)
		fprintf(f, "unreadable: %lu bytes\n", core->result->unread);
	fputc('\0', f);
}

/* A note whose contents are written by a function */
static int written(FILE *f, const struct dp_core *core, const char *name,
		   u32 type, void (*fn)(FILE *, const struct dp_core *))
{
	char *all = NULL;
	size_t len = 0;
	FILE *part = open_memstream(&all, &len);

	if (!part)
		return -ENOMEM;
	fn(part, core);
	if (fclose(part))
		return -ENOMEM;
	note(f, name, type, all, len);
	free(all);
	return 0;
}

static int notes(FILE *f, const struct dp_core *core)
{
	size_t i;
	int err = 0;

	for (i = 0; i < core->threads.n && !err; i++) {
		status_note(f, core, &core->threads.v[i]);
		if (!i) {
			process_note(f, core);
			vector_of_the_loader(f, core);
			err = written(f, core, "CORE", NT_FILE, files);
		}
		vector_notes(f, &core->threads.v[i]);
	}
	return err ?: written(f, core, "DPROBES", NOTE_ABOUT, about);
}

static int put_notes(struct dp_core *core, Elf64_Phdr *p)
{
	char *all = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&all, &len);
	int err;

	if (!f)
		return -ENOMEM;
	err = notes(f, core);
	if (fclose(f))
		err = -ENOMEM;
	*p = (Elf64_Phdr){ .p_type = PT_NOTE,
			   .p_offset = core->at,
			   .p_filesz = len,
			   .p_align = 4 };
	if (!err)
		err = dp_core_put(core, all, len);
	free(all);
	core->at = (core->at + 7) & ~7ull;
	return err;
}

/* Where the header has no room for the number of segments, a section has it. */
static int put_header(struct dp_core *core, u64 sections, u64 segments, u64 n)
{
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE },
		.e_type = ET_CORE,
		.e_machine = DP_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = segments,
		.e_shoff = sections,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n < PN_XNUM ? (u16)n : PN_XNUM,
		.e_shentsize = sections ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = sections ? 1 : 0,
	};
	u64 end = core->at;
	int err;

	core->at = 0;
	err = dp_core_put(core, &h, sizeof(h));
	core->at = end;
	return err;
}

int dp_core_finish(struct dp_core *core)
{
	u64 n = core->segments.n + 1, sections = 0, segments;
	const Elf64_Shdr section = { .sh_info = (u32)n };
	Elf64_Phdr p;
	int err = put_notes(core, &p);

	if (!err && n >= PN_XNUM) {
		sections = core->at;
		err = dp_core_put(core, &section, sizeof(section));
	}
	segments = core->at;
	if (!err)
		err = dp_core_put(core, &p, sizeof(p));
	if (!err)
		err = dp_core_put(core, core->segments.v,
				  core->segments.n * sizeof(p));
	return err ?: put_header(core, sections, segments, n);
}
