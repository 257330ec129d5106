// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * writers: a process that probes itself, and who can write what it executes: nobody, and
 * a fork child of it only its own.
 */
#include "tests/self/self.h"
#include "tests/self/tap.h"
#include <stdlib.h>
#include <sys/mman.h>

static volatile unsigned long hits;

__attribute__((noinline)) static int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static int count(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Return: mappings of ours, with such rights: a dot is any */
static int mapped(const char *rights)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], perms[8];
	int n = 0, i;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/memfd:dprobes") ||
		    sscanf(line, "%*s %7s", perms) != 1)
			continue;
		for (i = 0;
		     i < 4 && (rights[i] == '.' || rights[i] == perms[i]); i++)
			;
		n += i == 4;
	}
	if (f)
		fclose(f);
	return n;
}

/* All that it can make writable of what it shares with its parent, or executes. */
static void ruin(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start[64], end[64];
	char line[512];
	int n = 0, i;

	while (f && n < 64 && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:dprobes") &&
		    sscanf(line, "%lx-%lx", &start[n], &end[n]) == 2)
			n++;
	for (i = 0; i < n; i++)
		if (!mprotect((void *)start[i], end[i] - start[i],
			      PROT_READ | PROT_WRITE))
			/* Enough to end whoever executes or follows it */
			memset((void *)start[i], 0xcc,
			       end[i] - start[i] < 1 << 20 ? end[i] - start[i] :
							     1 << 20);
	_exit(0);
}

int main(void)
{
	struct kprobe p = { .addr = (void *)work, .pre_handler = count };
	struct kretprobe r = { .kp.addr = (void *)work,
			       .handler = count_return };
	int i, wrong = 0, status = 0;
	pid_t pid;

	ok(!register_kprobe(&p) && !register_kretprobe(&r), "registered");
	ok(work(1) == 2 && hits == 2, "hit");
	ok(mapped("..x.") > 0, "there is code");
	ok(mapped(".wx.") == 0, "none of it is writable");
	ok(mapped("..xs") == 0, "none of it is shared");
	ok(mapped(".w.s") == 0, "nor is anything that it follows");
	pid = fork();
	if (!pid)
		ruin();
	waitpid(pid, &status, 0);
	for (i = 0; i < 1000; i++)
		wrong += work(i) != i + 1;
	ok(!wrong && hits == 2 + 2000,
	   "a child that overwrites all of it changes nothing here");
	unregister_kprobe(&p);
	unregister_kretprobe(&r);
	return plan();
}
