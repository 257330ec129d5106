// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * writers: a program with a child of fewer rights, which shares what a fork child shares
 * and would change what its parent executes. Usage: writers [seconds], from
 * the signal on
 *
 * On SIGUSR1 it makes such a child. The child tries to make every mapping of dprobes
 * writable that it executes, or that only the tool may write, and prints each success.
 * What it can write it fills with what would send its parent astray, and keeps doing so
 * while its parent calls work(). The parent says in the end whether work() was right.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534
#define MAPS_MAX 256

struct map {
	unsigned long start, end;
	char perms[8];
};

static struct map maps[MAPS_MAX];
static int nr_maps;
static volatile sig_atomic_t asked;
static volatile unsigned long memory[4] = { 1, 2, 3, 4 };

__attribute__((noinline)) static unsigned long work(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3 + memory[1];
}

__attribute__((noinline)) static unsigned long outer(unsigned long n)
{
	unsigned long r = work(n);

	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	nr_maps = 0;
	while (f && fgets(line, sizeof(line), f) && nr_maps < MAPS_MAX) {
		struct map *m = &maps[nr_maps];

		if (strstr(line, "/memfd:dprobes") &&
		    sscanf(line, "%lx-%lx %7s", &m->start, &m->end, m->perms) ==
			    3)
			nr_maps++;
	}
	if (f)
		fclose(f);
}

/* What is private is the child's own, and hurts nobody. */
static int is_shared(const struct map *m)
{
	return m->perms[3] == 's';
}

static void try_to_write(const struct map *m)
{
	unsigned long size = m->end - m->start;
	void *more;

	if (m->perms[1] == 'w' || !is_shared(m))
		return;
	if (!mprotect((void *)m->start, size, PROT_READ | PROT_WRITE))
		printf("writable: %s\n", m->perms);
	more = mremap((void *)m->start, 0, size, MREMAP_MAYMOVE);
	if (more != MAP_FAILED && !mprotect(more, size, PROT_READ | PROT_WRITE))
		printf("writable elsewhere: %s\n", m->perms);
}

static void try_by_proc(const struct map *m, int mem)
{
	if (is_shared(m) && m->perms[1] != 'w' &&
	    pwrite(mem, (const void *)memory, sizeof(memory), (off_t)m->start) >
		    0)
		printf("written: %s\n", m->perms);
}

static void spoil(const struct map *m, unsigned *seed)
{
	unsigned long *p = (void *)m->start, *end = (void *)m->end;

	if (!is_shared(m) || m->perms[1] != 'w')
		return;
	/* Rings and tables of calls are large: the first and some of the rest. */
	for (; p < end; p += 1 + (unsigned)rand_r(seed) % 7)
		switch (rand_r(seed) % 4) {
		case 0:
			*p = (unsigned long)rand_r(seed) << 32 |
			     (unsigned)rand_r(seed);
			break;
		case 1:
			*p = ~0ul;
			break;
		case 2:
			*p = (unsigned long)memory;
			break;
		default:
			*p = 0;
		}
}

static void child(void)
{
	unsigned seed = (unsigned)getpid();
	int mem, i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!getuid() &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	     setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	read_maps();
	mem = open("/proc/self/mem", O_RDWR);
	for (i = 0; i < nr_maps; i++) {
		try_by_proc(&maps[i], mem);
		try_to_write(&maps[i]);
	}
	printf("tried %d\n", nr_maps);
	fflush(stdout);
	for (;;)
		for (i = 0; i < nr_maps; i++)
			spoil(&maps[i], &seed);
}

static void on_usr1(int sig)
{
	asked = sig;
}

static int right(unsigned long n)
{
	return outer(n) == n * 3 + 3;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + 60;
	unsigned long n = 0, wrong = 0;
	pid_t pid = 0;
	int status;

	signal(SIGUSR1, on_usr1);
	printf("ready\n");
	fflush(stdout);
	while (time(NULL) < end) {
		wrong += !right(n++);
		if (asked && !pid) {
			end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
			pid = fork();
			if (!pid)
				child();
		}
		if (n % 64 == 0)
			usleep(100);
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	printf("%s\n", wrong ? "wrong" : "right");
	return wrong != 0;
}
