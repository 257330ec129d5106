/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* self: what tests of a process that probes itself have in common. */
#ifndef TESTS_SELF_H
#define TESTS_SELF_H

#include "tests/self/tap.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/*
 * Run a test in a process of its own. Return: its wait status; 256 * 124 if it
 * did not end in time.
 */
static int __attribute__((unused))
in_child(int (*test)(void *arg), void *arg, int limit)
{
	int status = 0, naps;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(test(arg));
	for (naps = 0; naps < limit * 100; naps++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 124 << 8;
}

/* What a test returns that cannot do here what it is about. */
#define CANNOT 77

static void __attribute__((unused))
ok_child(int (*test)(void *arg), void *arg, int limit, const char *what)
{
	int status = in_child(test, arg, limit);

	if (status == CANNOT << 8) {
		skip(what, "it cannot be done here");
		return;
	}
	if (!ok(!status, "%s", what))
		printf("# it %s %d\n",
		       WIFSIGNALED(status) ? "died of signal" : "returned",
		       WIFSIGNALED(status) ? WTERMSIG(status) :
					     WEXITSTATUS(status));
}

/* In a test that runs in a child. */
#define EXPECT(what)                                                           \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("# %s:%d: %s: %s\n", __FILE__, __LINE__, #what, \
			       dp_last_diag()->text);                          \
			fflush(stdout);                                        \
			return 1;                                              \
		}                                                              \
	} while (0)

/** struct text - the code of a module and what its file has there */
struct text {
	const char *name;
	char path[512];
	unsigned char *start, *end, *file;
	uintptr_t bias;
};

static int text_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct text *t = arg;
	const char *path = info->dlpi_name[0] ? info->dlpi_name :
						"/proc/self/exe";
	int i, fd;

	if (!strstr(path, t->name))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		t->bias = info->dlpi_addr;
		t->start = (void *)(info->dlpi_addr + p->p_vaddr);
		t->end = t->start + p->p_filesz;
		snprintf(t->path, sizeof(t->path), "%s", path);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		t->file = malloc(p->p_filesz);
		if (pread(fd, t->file, p->p_filesz, (off_t)p->p_offset) !=
		    (ssize_t)p->p_filesz)
			abort();
		close(fd);
		return 1;
	}
	return 0;
}

/** text_of() - of a module whose path holds @name */
static struct text __attribute__((unused)) text_of(const char *name)
{
	struct text t = { .name = name };

	dl_iterate_phdr(text_find, &t);
	if (!t.start)
		abort();
	return t;
}

/** text_differs() - how many bytes are not as in the file */
static long __attribute__((unused)) text_differs(const struct text *t)
{
	long n = 0, i, size = t->end - t->start;

	for (i = 0; i < size; i++) {
		if (t->start[i] == t->file[i])
			continue;
		if (!n++)
			printf("# first at %p (+0x%lx): %02x, not %02x\n",
			       (void *)(t->start + i),
			       (long)(t->start + i - t->bias), t->start[i],
			       t->file[i]);
	}
	return n;
}

/** text_note() - as it is now is how it is to be: the library has intercepted some
 *  system calls in it, for good */
static void __attribute__((unused)) text_note(const struct text *t)
{
	memcpy(t->file, t->start, (size_t)(t->end - t->start));
}

/** struct function - an exported one */
struct function {
	unsigned char *at;
	size_t size;
	char name[64];
};

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/** functions_of() - those that a module exports, each address once */
static size_t __attribute__((unused))
functions_of(const struct text *t, struct function **out)
{
	int fd = open(t->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	unsigned char *image;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	size_t n = 0, m = 0, i, k;

	fstat(fd, &st);
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	eh = (void *)image;
	sh = (void *)(image + eh->e_shoff);
	*out = NULL;
	for (i = 0; i < eh->e_shnum; i++) {
		const Elf64_Sym *sym = (void *)(image + sh[i].sh_offset);
		const char *names;

		if (sh[i].sh_type != SHT_DYNSYM)
			continue;
		names = (char *)image + sh[sh[i].sh_link].sh_offset;
		*out = calloc(sh[i].sh_size / sizeof(*sym), sizeof(**out));
		for (k = 0; k < sh[i].sh_size / sizeof(*sym); k++) {
			struct function *f = &(*out)[n];

			if (ELF64_ST_TYPE(sym[k].st_info) != STT_FUNC ||
			    !sym[k].st_shndx || !sym[k].st_size)
				continue;
			f->at = (void *)(t->bias + sym[k].st_value);
			f->size = sym[k].st_size;
			snprintf(f->name, sizeof(f->name), "%s",
				 names + sym[k].st_name);
			n++;
		}
	}
	munmap(image, (size_t)st.st_size);
	qsort(*out, n, sizeof(**out), by_address);
	for (i = 0; i < n; i++)
		if (!i || (*out)[i].at != (*out)[m - 1].at)
			(*out)[m++] = (*out)[i];
	return m;
}

#endif
