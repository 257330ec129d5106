// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * follow-all: preloaded into a program, follows every function of it, and every
 * function of libraries that it calls, from entry to return.
 *
 * FOLLOW=program|imports|all   which; imports are what the program calls by name
 * FOLLOW_MODULE=NAME           in place of the program: the library whose path
 *                              has NAME in it
 * FOLLOW_ONLY=NAME,...         of these, only those
 * FOLLOW_HOW=ret               by the exits of functions, not by their return
 *                              address
 * FOLLOW_ACTIVE=N              calls of a function at once (100)
 * FOLLOW_REPORT=FILE           gets a line a process, at its exit, and a line for
 *                              every function whose account is wrong
 * FOLLOW_REFUSED=FILE          gets the functions that may not be followed
 *
 * Every call leaves a value in its instance, looked for when it ends; every second
 * function's handlers use all vector registers, x87 and errno.
 */
#include <dprobes/kprobes.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK 0x6d61726b6d61726bull

struct followed {
	struct kretprobe rp;
	char *name;
	bool on;
	bool hears; /* of exceptions */
	unsigned long entries, returned, unwound, damaged;
};

/* A module, and its file. */
struct module {
	const char *wanted;
	char path[512];
	uintptr_t bias;
	unsigned char *file;
	size_t size;
};

static struct followed *all;
static size_t nr, room, refused;
static pid_t owner;
static FILE *refusals;
static unsigned int how; /* flags of all probes */

static unsigned long mark_of(const struct kretprobe_instance *ri)
{
	return MARK ^ (unsigned long)ri ^ (unsigned long)ri->ret_addr;
}

static struct followed *of(const struct kretprobe_instance *ri)
{
	return (struct followed *)ri->rp;
}

static void count(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static DP_HANDLER_GPR int entered(struct kretprobe_instance *ri,
				  struct pt_regs *regs)
{
	*(unsigned long *)ri->data = mark_of(ri);
	count(&of(ri)->entries);
	return 0;
}

static DP_HANDLER_GPR bool is_unwound(const struct kretprobe_instance *ri)
{
	return dp_kretprobe_unwound(ri);
}

static DP_HANDLER_GPR int left(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	if (*(unsigned long *)ri->data != mark_of(ri))
		count(&of(ri)->damaged);
	count(is_unwound(ri) ? &of(ri)->unwound : &of(ri)->returned);
	return 0;
}

static void disturb(void)
{
	__asm__ volatile("fldpi\n\t"
			 "fsqrt\n\t"
			 "fstp %%st(0)\n\t"
			 "pcmpeqd %%xmm0, %%xmm0\n\t"
			 "pcmpeqd %%xmm1, %%xmm1\n\t"
			 "pcmpeqd %%xmm7, %%xmm7\n\t"
			 "pcmpeqd %%xmm8, %%xmm8\n\t"
			 "pcmpeqd %%xmm15, %%xmm15"
			 :
			 :
			 : "xmm0", "xmm1", "xmm7", "xmm8", "xmm15", "st");
	errno = ELNRNG;
}

static int entered_wide(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	disturb();
	return entered(ri, regs);
}

static int left_wide(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	disturb();
	return left(ri, regs);
}

static bool is_listed(const char *name)
{
	const char *list = getenv("FOLLOW_ONLY"), *at = list;
	size_t len = strlen(name);

	for (; at && (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ',') &&
		    (!at[len] || at[len] == ','))
			return true;
	return !list;
}

static void add(const char *name, uintptr_t addr)
{
	if (!addr || !is_listed(name))
		return;
	if (nr == room) {
		room = room ? 2 * room : 1024;
		all = realloc(all, room * sizeof(*all));
	}
	all[nr] = (struct followed){ .name = strdup(name) };
	all[nr++].rp.kp.addr = (kprobe_opcode_t *)addr;
}

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;

	if (m->wanted && !strstr(info->dlpi_name, m->wanted))
		return 0;
	snprintf(m->path, sizeof(m->path), "%s",
		 m->wanted ? info->dlpi_name : "/proc/self/exe");
	m->bias = info->dlpi_addr;
	return 1;
}

static bool read_module(struct module *m)
{
	struct stat st;
	int fd;

	if (!dl_iterate_phdr(find_module, m))
		return false;
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return false;
	m->size = (size_t)st.st_size;
	m->file = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return m->file != MAP_FAILED;
}

static void add_symbols(const struct module *m, const Elf64_Shdr *table,
			const char *names, bool defined)
{
	const Elf64_Sym *sym = (void *)(m->file + table->sh_offset);
	size_t i;

	for (i = 0; i < table->sh_size / sizeof(*sym); i++) {
		const char *name = names + sym[i].st_name;

		if (ELF64_ST_TYPE(sym[i].st_info) != STT_FUNC ||
		    defined != (sym[i].st_shndx != SHN_UNDEF))
			continue;
		add(name, defined ? m->bias + sym[i].st_value :
				    (uintptr_t)dlsym(RTLD_DEFAULT, name));
	}
}

static void add_tables(const struct module *m, bool defined)
{
	const Elf64_Ehdr *eh = (void *)m->file;
	const Elf64_Shdr *sh = (void *)(m->file + eh->e_shoff);
	int i;

	for (i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == SHT_DYNSYM ||
		    (sh[i].sh_type == SHT_SYMTAB && defined))
			add_symbols(m, &sh[i],
				    (char *)m->file +
					    sh[sh[i].sh_link].sh_offset,
				    defined);
}

static int by_address(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return (x->rp.kp.addr > y->rp.kp.addr) -
	       (x->rp.kp.addr < y->rp.kp.addr);
}

static void drop_doubles(void)
{
	size_t i, n = 0;

	qsort(all, nr, sizeof(*all), by_address);
	for (i = 0; i < nr; i++)
		if (!i || all[i].rp.kp.addr != all[n - 1].rp.kp.addr)
			all[n++] = all[i];
	nr = n;
}

static void prepare(struct followed *f, int active, bool wide)
{
	f->rp.handler = wide ? left_wide : left;
	f->rp.entry_handler = wide ? entered_wide : entered;
	f->rp.maxactive = active;
	f->rp.data_size = sizeof(unsigned long);
	/* Both kinds are among the wide ones, and among the others. */
	f->hears = (f - all) % 3;
	f->rp.kp.flags = (f->hears ? KPROBE_FLAG_UNWIND : 0) | how;
}

static void refuse(struct followed *f, int err)
{
	refused++;
	if (refusals)
		fprintf(refusals, "%s: %d %s\n", f->name, err,
			dp_last_diag()->text);
}

/* All of them or none are taken; those that are refused are found by halves. */
static void follow(struct kretprobe **list, size_t n)
{
	int err = register_kretprobes(list, (int)n);
	size_t i;

	for (i = 0; !err && i < n; i++)
		((struct followed *)list[i])->on = true;
	if (!err)
		return;
	if (n == 1) {
		refuse((struct followed *)list[0], err);
		return;
	}
	follow(list, n / 2);
	follow(list + n / 2, n - n / 2);
}

static void find(void)
{
	struct module m = { .wanted = getenv("FOLLOW_MODULE") };
	const char *what = getenv("FOLLOW") ?: "all";

	if (!read_module(&m))
		return;
	if (strcmp(what, "imports"))
		add_tables(&m, true);
	if (strcmp(what, "program"))
		add_tables(&m, false);
	munmap(m.file, m.size);
}

/** struct sums - over all functions */
struct sums {
	unsigned long probes, entries, returned, unwound, abandoned, inside,
		missed, vetoed, late, damaged, wrong;
};

static void account(struct followed *f, struct sums *s, FILE *out)
{
	struct dp_kretprobe_account a = { 0 };
	int err = dp_kretprobe_account(&f->rp, &a);
	bool good = !err &&
		    a.entries ==
			    a.returned + a.unwound + a.abandoned + a.inside &&
		    a.entries == f->entries && a.returned == f->returned &&
		    (f->hears ? a.unwound : 0) == f->unwound && !f->damaged &&
		    a.missed == (unsigned long)f->rp.nmissed;

	s->entries += a.entries;
	s->returned += a.returned;
	s->unwound += a.unwound;
	s->abandoned += a.abandoned;
	s->inside += a.inside;
	s->missed += a.missed;
	s->vetoed += a.vetoed;
	s->late = a.late;
	s->wrong += !good;
	if (!good)
		fprintf(out,
			"# %s: %d: %lu entries, %lu returned, %lu unwound, %lu abandoned, %lu inside, %lu missed; seen: %lu entries, %lu returned, %lu unwound, %lu damaged, %d missed, %lu in handlers\n",
			f->name, err, a.entries, a.returned, a.unwound,
			a.abandoned, a.inside, a.missed, f->entries,
			f->returned, f->unwound, f->damaged, f->rp.nmissed,
			f->rp.kp.nmissed);
}

static void report(void)
{
	const char *path = getenv("FOLLOW_REPORT");
	struct sums s = { 0 };
	FILE *out;
	size_t i;

	if (getpid() != owner || !path)
		return;
	owner = 0;
	dp_kprobes_enabled(0);
	out = fopen(path, "ae");
	if (!out)
		return;
	for (i = 0; i < nr; i++) {
		if (!all[i].on)
			continue;
		s.probes++;
		s.damaged += all[i].damaged;
		account(&all[i], &s, out);
	}
	fprintf(out,
		"probes %lu refused %zu entries %lu returned %lu unwound %lu abandoned %lu inside %lu missed %lu vetoed %lu late %lu damaged %lu wrong %lu\n",
		s.probes, refused, s.entries, s.returned, s.unwound,
		s.abandoned, s.inside, s.missed, s.vetoed, s.late, s.damaged,
		s.wrong);
	fclose(out);
}

static void __attribute__((destructor)) at_exit(void)
{
	report();
}

static void __attribute__((constructor)) begin(void)
{
	const char *active = getenv("FOLLOW_ACTIVE");
	const char *path = getenv("FOLLOW_REFUSED");
	const char *by = getenv("FOLLOW_HOW");
	struct kretprobe **list;
	size_t i;

	how = by && !strcmp(by, "ret") ? KPROBE_FLAG_RET_SITES : 0;
	find();
	drop_doubles();
	list = calloc(nr + 1, sizeof(*list));
	for (i = 0; list && i < nr; i++) {
		prepare(&all[i], active ? atoi(active) : 100, i & 1);
		list[i] = &all[i].rp;
	}
	refusals = path ? fopen(path, "ae") : NULL;
	if (list && nr)
		follow(list, nr);
	if (refusals)
		fclose(refusals);
	free(list);
	owner = getpid();
	at_quick_exit(report);
}
