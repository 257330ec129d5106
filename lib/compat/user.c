// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user: copies to and from memory that may be unmapped. */
#include "lib/compat/compat.h"

/* A return, to run instead of a function that a handler skips. */
__asm__(".text\n"
	".globl dp_compat_just_return\n"
	".type dp_compat_just_return, @function\n"
	"dp_compat_just_return:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size dp_compat_just_return, . - dp_compat_just_return\n");

struct range {
	void *base;
	size_t size;
};

/* Copy through the kernel. Return: how many bytes were copied. */
static size_t transfer(long nr, long pid, void *ours, const void *theirs,
		       size_t n)
{
	struct range local = { ours, n }, remote = { (void *)theirs, n };
	long done =
		pid ? dp_sys6(nr, pid, (long)&local, 1, (long)&remote, 1, 0) :
		      0;

	return done < 0 ? 0 : (size_t)done;
}

static long own(void)
{
	return dp_sys3(__NR_getpid, 0, 0, 0);
}

/* Return: the process whose memory a handler means; 0: it has ended, or executed. The
 * descriptor does not read a program that was executed later. */
static long user(void)
{
	long word;

	if (!dp_probed)
		return own();
	return dp_sys6(__NR_pread64, dp_probed->mem, (long)&word, sizeof(word),
		       (long)dp_probed->there, 0, 0) == sizeof(word) ?
		       dp_probed->task.tgid :
		       0;
}

static size_t fetch(long pid, void *to, const void *from, size_t n)
{
	return transfer(__NR_process_vm_readv, pid, to, from, n);
}

static size_t store(long pid, void *to, const void *from, size_t n)
{
	return transfer(__NR_process_vm_writev, pid, (void *)from, to, n);
}

unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	size_t done = fetch(user(), to, from, n);

	memset((char *)to + done, 0, n - done);
	return n - done;
}

unsigned long copy_to_user(void *to, const void *from, unsigned long n)
{
	return n - store(user(), to, from, n);
}

long copy_from_kernel_nofault(void *to, const void *from, size_t n)
{
	return fetch(own(), to, from, n) == n ? 0 : -EFAULT;
}

long copy_to_kernel_nofault(void *to, const void *from, size_t n)
{
	return store(own(), to, from, n) == n ? 0 : -EFAULT;
}

unsigned long clear_user(void *to, unsigned long n)
{
	char zeros[256];
	unsigned long part;

	memset(zeros, 0, sizeof(zeros));
	for (; n; n -= part, to = (char *)to + part) {
		part = min_t(unsigned long, n, sizeof(zeros));
		if (copy_to_user(to, zeros, part))
			break;
	}
	return n;
}

/* Copy page by page, because the next page may be unmapped. */
static long copy_string(long pid, char *to, const char *from, long n)
{
	size_t at = 0, part, len;

	while (at < (size_t)n) {
		part = min_t(size_t, (size_t)n - at,
			     4096 - (unsigned long)(from + at) % 4096);
		if (fetch(pid, to + at, from + at, part) != part)
			return -EFAULT;
		len = strnlen(to + at, part);
		at += len;
		if (len < part)
			break;
	}
	return (long)at;
}

long strncpy_from_user(char *to, const char *from, long n)
{
	return copy_string(user(), to, from, n);
}

long strncpy_from_kernel_nofault(char *to, const void *from, long n)
{
	long len;

	if (n <= 0)
		return 0;
	len = copy_string(own(), to, from, n);
	if (len < 0) {
		to[0] = '\0';
		return len;
	}
	if (len == n)
		to[--len] = '\0';
	return len + 1;
}

long strnlen_user(const char *s, long n)
{
	long pid = user(), at, part, len;
	char text[256];

	for (at = 0; at < n; at += part) {
		part = min_t(long, n - at, sizeof(text));
		len = copy_string(pid, text, s + at, part);
		if (len < 0)
			return 0;
		if (len < part)
			return at + len + 1;
	}
	return n + 1;
}
