// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * secure: what a program that probes itself makes of its environment.
 *
 *     secure            how its probe is armed, and which variables it has left
 *     secure then CMD…  the same, and executes CMD with the rights it has
 */
#include <dprobes/kprobes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

long probed_function(long n);

/* Long enough for a jump. */
__attribute__((noinline)) long probed_function(long n)
{
	long i, sum = 0;

	for (i = 0; i < n; i++) {
		sum += i * n;
		__asm__ volatile("" : "+r"(sum) : : "memory");
	}
	return sum;
}

static int on_hit(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static void show(void *arg, const char *line)
{
	puts(strstr(line, "[OPTIMIZED]") ? "armed by a jump" :
					   "armed by a breakpoint");
}

int main(int argc, char **argv)
{
	static struct kprobe probe = { .symbol_name = "probed_function",
				       .pre_handler = on_hit };
	int err = register_kprobe(&probe);
	char **v;

	printf("secure %lu uid %u\n", getauxval(AT_SECURE), geteuid());
	if (err)
		printf("not registered: %d %s\n", err, dp_last_diag()->text);
	dp_kprobes_list(show, NULL);
	for (v = environ; *v; v++)
		if (!strncmp(*v, "DPROBES_", 8))
			printf("%.*s is there\n", (int)strcspn(*v, "="), *v);
	unregister_kprobe(&probe);
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[1], "then") && !setuid(geteuid())) {
		execv(argv[2], argv + 2);
		return 127;
	}
	return 0;
}
