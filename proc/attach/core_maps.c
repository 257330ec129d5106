// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * core_maps: what of each mapping is in a core file.
 *
 * As the kernel chooses it by /proc/PID/coredump_filter (core(5)). Whether a mapping of a file has been written
 * to is known there by an anon_vma, and here by pages that are the process's own.
 */
#include "engine/site/view.h"
#include "proc/attach/core.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "sym/list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* /proc/PID/coredump_filter */
enum {
	ANON_PRIVATE = 1,
	ANON_SHARED = 2,
	FILE_PRIVATE = 4,
	FILE_SHARED = 8,
	ELF_HEADERS = 16,
	HUGE_PRIVATE = 32,
	HUGE_SHARED = 64,
};
#define FILTER_DEFAULT 0x33
/* A small core file has mappings of that size at most. */
#define SMALL (256u << 10)

/** struct line - what /proc/PID/smaps says of a mapping; @own: kB that are the process's own */
struct line {
	struct dp_core_map map;
	bool shared, file, deleted, huge, io, skip;
	u64 own;
};

static u32 filter_of(pid_t pid)
{
	char text[32];
	u32 filter = FILTER_DEFAULT;

	if (dp_line_read(dp_path("/proc/%d/coredump_filter", pid).s, text,
			 sizeof(text)))
		filter = (u32)strtoul(text, NULL, 16);
	return filter;
}

static bool begin(struct line *l, char *text)
{
	char perms[5];
	u64 inode;
	int n = 0;

	*l = (struct line){ 0 };
	if (sscanf(text, "%lx-%lx %4s %lx %*x:%*x %lu %n", &l->map.start,
		   &l->map.end, perms, &l->map.offset, &inode, &n) < 5 ||
	    !n || l->map.end <= l->map.start)
		return false;
	l->map.prot = (perms[0] == 'r' ? PROT_READ : 0) |
		      (perms[1] == 'w' ? PROT_WRITE : 0) |
		      (perms[2] == 'x' ? PROT_EXEC : 0);
	l->shared = perms[3] == 's';
	l->file = inode;
	text += n;
	text[strcspn(text, "\n")] = '\0';
	n = (int)strlen(text) - (int)strlen(" (deleted)");
	l->deleted = n > 0 && !strcmp(text + n, " (deleted)");
	if (l->deleted)
		text[n] = '\0';
	l->map.path = strdup(text);
	return l->map.path;
}

static void tell(struct line *l, const char *text)
{
	u64 kb;

	if (sscanf(text, "Anonymous: %lu", &kb) == 1 ||
	    sscanf(text, "Swap: %lu", &kb) == 1)
		l->own += kb;
	if (strncmp(text, "VmFlags:", 8))
		return;
	l->skip = strstr(text, " dd") != NULL;
	l->io = strstr(text, " io") != NULL;
	l->huge = strstr(text, " ht") != NULL;
}

static bool is_elf(const struct dp_process *proc, const struct line *l)
{
	char magic[SELFMAG];

	return l->file && !l->map.offset && l->map.prot & PROT_READ &&
	       !dp_process_read(proc, l->map.start, magic, sizeof(magic)) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* Linux, fs/coredump.c: vma_dump_size() */
static u64 wanted(const struct dp_process *proc, const struct line *l,
		  u32 filter)
{
	u64 all = l->map.end - l->map.start;
	u32 bit;

	if (!strcmp(l->map.path, "[vdso]"))
		return all;
	if (l->skip)
		return 0;
	if (l->huge)
		return filter & (l->shared ? HUGE_SHARED : HUGE_PRIVATE) ? all :
									   0;
	if (l->io)
		return 0;
	if (l->shared) {
		bit = l->deleted || !l->file ? ANON_SHARED : FILE_SHARED;
		return filter & bit ? all : 0;
	}
	if (l->own && filter & ANON_PRIVATE)
		return all;
	if (!l->file)
		return 0;
	if (filter & FILE_PRIVATE)
		return all;
	return filter & ELF_HEADERS && is_elf(proc, l) ? DP_PAGE : 0;
}

/* The lists of modules are among these. */
static u64 wanted_small(const struct dp_process *proc, const struct line *l)
{
	u64 all = l->map.end - l->map.start;

	if (l->skip || l->io || l->shared)
		return 0;
	if (!strcmp(l->map.path, "[vdso]") || (l->own && all <= SMALL))
		return all;
	return is_elf(proc, l) ? DP_PAGE : 0;
}

static int add(struct dp_core *core, const struct dp_view *view, struct line *l,
	       u32 filter)
{
	const struct dp_process *proc = core->proc;

	if (dp_core_is_ours(proc, view, l->map.start, l->map.path)) {
		free(l->map.path);
		return 0;
	}
	l->map.bytes = core->want->small ? wanted_small(proc, l) :
					   wanted(proc, l, filter);
	l->map.zeros = !l->file && !l->shared && strcmp(l->map.path, "[vdso]");
	if (!l->file && l->map.path[0] != '[')
		l->map.path[0] = '\0';
	core->all += l->map.bytes;
	if (!dp_list_push(&core->maps, &l->map))
		return 0;
	free(l->map.path);
	return -ENOMEM;
}

static bool is_header(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n && text[n] == '-';
}

static int read_all(struct dp_core *core, const struct dp_view *view, FILE *f)
{
	u32 filter = filter_of(core->proc->pid);
	struct line l = { 0 };
	bool open = false;
	char *text = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&text, &room, f) > 0) {
		if (!is_header(text)) {
			tell(&l, text);
			continue;
		}
		if (open)
			err = add(core, view, &l, filter);
		open = !err && begin(&l, text);
		if (!err && !open)
			err = -ENOMEM;
	}
	if (!err && open)
		err = add(core, view, &l, filter);
	free(text);
	return err;
}

int dp_core_maps(struct dp_core *core)
{
	struct dp_view view;
	FILE *f;
	int err;

	if (!dp_process_view(core->proc, &view))
		return -ESRCH;
	f = fopen(dp_path("/proc/%d/smaps", core->proc->pid).s, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	err = read_all(core, &view, f);
	fclose(f);
	/* What has been read may be another program's. */
	return err ?: dp_memory_gone(core->proc) ? -ESRCH : 0;
}
