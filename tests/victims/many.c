// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * many: a process with very many mappings: many text N: of its own code; many libs N FILE
 * DIR: of so many copies of a library in DIR, as if they had been loaded. Says how many.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long texts(long n)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	long i;

	for (i = 0; i < n; i++)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 4096) == MAP_FAILED)
			break;
	close(fd);
	return i;
}

static long libs(long n, const char *file, const char *dir)
{
	static char bytes[1 << 16];
	int from = open(file, O_RDONLY), fd;
	ssize_t size = read(from, bytes, sizeof(bytes));
	char path[512];
	void *at;
	long i;

	close(from);
	for (i = 0; i < n && size > 0; i++) {
		snprintf(path, sizeof(path), "%s/lib%ld.so", dir, i);
		fd = open(path, O_RDWR | O_CREAT, 0644);
		if (fd < 0 || write(fd, bytes, (size_t)size) != size)
			break;
		at = mmap(NULL, (size_t)size, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE, fd, 0);
		close(fd);
		if (at == MAP_FAILED)
			break;
	}
	return i;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (argc > 4 && !strcmp(argv[1], "libs"))
		n = libs(n, argv[3], argv[4]);
	else
		n = texts(n);
	printf("%ld\n", n);
	fflush(stdout);
	for (;;)
		usleep(1000);
}
