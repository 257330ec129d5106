// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * upreload: upreload PID LIBRARY OFFSET ROUNDS: a Uprobe in a library of another process,
 * which that loads and unloads all the time, wherever it is just then.
 *
 * Prints "registered N, gone N, hits N", or what was refused for another reason.
 */
#include <dprobes/uprobes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long hits;

static void count(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

/* 0: it is not there. */
static unsigned long text_of(const char *pid, const char *library)
{
	unsigned long start, end, offset, at = 0;
	char path[64], line[4200], perms[8];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, perms,
			   &offset) == 4 &&
		    perms[2] == 'x' && strstr(line, library))
			at = start - offset;
	if (f)
		fclose(f);
	return at;
}

/* What comes of its being unloaded while it is looked at. */
static int is_gone(int err)
{
	return err == -EFAULT || err == -EILSEQ || err == -EINVAL ||
	       err == -ENOENT;
}

int main(int argc, char **argv)
{
	struct uprobe u = { .handler = count };
	unsigned long registered = 0, gone = 0, at;
	time_t end = time(NULL) + 60;
	long rounds;
	int err;

	if (argc != 5)
		return 2;
	u.pid = atoi(argv[1]);
	/* However they are scheduled: until it was there and hit. */
	for (rounds = atol(argv[4]); rounds > 0 || (!hits && time(NULL) < end);
	     rounds--) {
		at = text_of(argv[1], argv[2]);
		u.vaddr = at + strtoul(argv[3], NULL, 16);
		err = at ? register_uprobe(&u) : -ENOENT;
		if (err && !is_gone(err)) {
			printf("%d: %s\n", err, dp_last_diag()->text);
			return 1;
		}
		gone += err != 0;
		if (err)
			continue;
		registered++;
		usleep(500);
		unregister_uprobe(&u);
	}
	printf("registered %lu, gone %lu, hits %lu\n", registered, gone, hits);
	return 0;
}
