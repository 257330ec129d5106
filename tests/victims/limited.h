/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* limited: limits that a process puts on itself, by name, and what it can do under them. */
#ifndef TESTS_LIMITED_H
#define TESTS_LIMITED_H

#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define USER_END 0x7ffffffff000ul
#define FAR (4ul << 30) /* beyond this no jump reaches */
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static bool limit(int what, rlim_t to)
{
	const struct rlimit l = { to, to };

	return !setrlimit(what, &l);
}

/* A field of /proc/self/status, in bytes */
static rlim_t used(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kilobytes = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			sscanf(line + strlen(field), ": %lu", &kilobytes);
	if (f)
		fclose(f);
	return (rlim_t)kilobytes << 10;
}

/* Root may lock as much as it likes. */
static bool is_limited(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps))
		return false;
	caps[0].effective &= ~(1u << CAP_IPC_LOCK);
	caps[0].permitted &= ~(1u << CAP_IPC_LOCK);
	return !syscall(SYS_capset, &head, caps);
}

/* What is locked already may be more than the limit. */
static bool lock_at_most(rlim_t more)
{
	struct rlimit l;
	rlim_t most;

	if (mlockall(MCL_CURRENT | MCL_FUTURE) || getrlimit(RLIMIT_MEMLOCK, &l))
		return false;
	most = used("VmLck") + more;
	return limit(RLIMIT_MEMLOCK, most < l.rlim_max ? most : l.rlim_max) &&
	       is_limited();
}

/* So many descriptors, until more are permitted again. */
static bool descriptors(rlim_t most)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return false;
	l.rlim_cur = most < l.rlim_max ? most : l.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &l);
}

static bool open_all(void)
{
	if (!descriptors(64))
		return false;
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		continue;
	return true;
}

/* Each other one is of another kind, so that they stay apart. */
static bool map_all_but(unsigned long left)
{
	const size_t page = 4096;
	char *first[4096], *at;
	size_t n = 0;

	if (left > sizeof(first) / sizeof(*first))
		return false;
	for (;; n++) {
		at = mmap(NULL, page, n & 1 ? PROT_READ : PROT_NONE, RESERVED,
			  -1, 0);
		if (at == MAP_FAILED)
			break;
		first[n % 4096] = at;
	}
	while (left--)
		munmap(first[--n % 4096], page);
	return true;
}

/** struct filling - PROT_NONE wherever nothing is from @from to @to, except for @heap bytes
 *  above the heap */
struct filling {
	unsigned long from, to, heap;
};

/* The kernel reads mappings before it is asked for more of them. */
static void fill(const struct filling *f)
{
	static char text[1 << 18];
	unsigned long end = 0x10000, start, next, a, b;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n, got = 0;
	char *line, *save;
	bool heap = false;

	while ((n = read(fd, text + got, sizeof(text) - 1 - (size_t)got)) > 0)
		got += n;
	close(fd);
	text[got] = '\0';
	for (line = strtok_r(text, "\n", &save); end < USER_END;
	     line = line ? strtok_r(NULL, "\n", &save) : NULL) {
		start = next = USER_END;
		if (line && sscanf(line, "%lx-%lx", &start, &next) == 2 &&
		    start > USER_END)
			start = next = USER_END;
		a = heap ? end + f->heap : end;
		a = a < f->from ? f->from : a;
		b = start < f->to ? start : f->to;
		if (a < b)
			mmap((void *)a, b - a, PROT_NONE,
			     RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
		heap = line && strstr(line, "[heap]");
		end = next;
	}
}

static bool fill_around(unsigned long heap, unsigned long reach)
{
	unsigned long at = (unsigned long)fill & ~4095ul;

	/* There is a heap from here on. */
	sbrk(4096);
	fill(&(struct filling){ at > reach ? at - reach : 0x10000, at + reach,
				heap });
	return true;
}

/** limit_to() - @kind: what; @amount: how much is left, in the unit of its kind
 *  Return: false: it cannot be done here. */
static bool __attribute__((unused))
limit_to(const char *kind, unsigned long amount)
{
	const unsigned long kb = amount << 10;

	if (!strcmp(kind, "nofile"))
		return descriptors(3);
	if (!strcmp(kind, "open"))
		return open_all();
	if (!strcmp(kind, "as"))
		return limit(RLIMIT_AS, used("VmSize") + kb);
	if (!strcmp(kind, "fsize"))
		return limit(RLIMIT_FSIZE, 0);
	if (!strcmp(kind, "mdwe"))
		return !prctl(PR_SET_MDWE, 1, 0, 0, 0);
	if (!strcmp(kind, "hidden"))
		return !prctl(PR_SET_DUMPABLE, 0);
	if (!strcmp(kind, "locked"))
		return !mlockall(MCL_CURRENT | MCL_FUTURE);
	if (!strcmp(kind, "memlock"))
		return lock_at_most(kb);
	if (!strcmp(kind, "maps"))
		return map_all_but(amount);
	if (!strcmp(kind, "near"))
		return fill_around(kb, FAR);
	if (!strcmp(kind, "space"))
		return fill_around(kb, USER_END);
	return !strcmp(kind, "none");
}

/** grows() - can the heap grow by so many KB, as before? And then it does not. */
static bool __attribute__((unused)) grows(unsigned long kb)
{
	if (sbrk((intptr_t)(kb << 10)) == (void *)-1)
		return false;
	sbrk(-(intptr_t)(kb << 10));
	return true;
}

#endif
