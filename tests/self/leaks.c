// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leaks: what a probe takes is given back: after a hundred rounds of registering, calling and
 * unregistering, or of being refused, the process has the heap, the mappings and the
 * descriptors that it had before them.
 */
#include "tests/self/uprobing.h"
#include <dirent.h>
#include <limits.h>
#include <malloc.h>

#define WARM 20
#define ROUNDS 60
#define FEW 5
#define LATE 20 /* times as many, at most */
/* The least allocation; a probe of another process */
#define LEAST 16
#define OTHER 100

static volatile long hits;

__attribute__((noinline, noclone, noipa)) static long first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

__attribute__((noinline, noclone, noipa)) static long second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a > 3 ? a * 5 + 1 : -a;
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

static long jumped(long a)
{
	hits++;
	jprobe_return();
	return 0;
}

struct held {
	long heap, mappings, descriptors;
};

static long descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	long n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static long mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	long n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static struct held held_now(void)
{
	return (struct held){ (long)mallinfo2().uordblks, mapped(),
			      descriptors() };
}

static bool is_less(struct held a, struct held b)
{
	return a.heap < b.heap;
}

/* What the library's threads have for a moment is not kept. */
static struct held least_of(int (*round)(void), int rounds, int *err)
{
	struct held least = { .heap = LONG_MAX }, now;

	while (rounds--) {
		*err |= round();
		now = held_now();
		if (is_less(now, least))
			least = now;
	}
	return least;
}

/* @slack: bytes a round that no leak is as small as */
static void gives_back(int (*round)(void), long slack, const char *what)
{
	struct held before, after;
	long most;
	int i, err = 0;

	for (i = 0; i < WARM; i++)
		err |= round();
	before = least_of(round, FEW, &err);
	for (i = 0; i < ROUNDS; i++)
		err |= round();
	most = before.heap + ROUNDS * slack;
	after = least_of(round, FEW, &err);
	/* Beside other work the library's threads come to free something late: what is
	 * kept grows with each round. */
	for (i = 0; i < LATE && after.heap >= most; i++)
		after = least_of(round, FEW, &err);
	is(err, 0, what);
	if (!ok(after.heap < most, "%s: the heap", what))
		printf("# %ld bytes more\n", after.heap - before.heap);
	ok(after.mappings < before.mappings + ROUNDS / 2, "%s: the mappings",
	   what);
	ok(after.descriptors < before.descriptors + ROUNDS / 2,
	   "%s: the descriptors", what);
}

/* Return: 0 when @want hits were counted. */
static int called(int err, long want)
{
	hits = 0;
	first(4);
	second(4);
	return err || hits != want;
}

static int plain(void)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = count };
	struct kprobe b = { .symbol_name = "getppid", .pre_handler = count };
	int err = register_kprobe(&a);

	err |= register_kprobe(&b);
	err |= called(err, 1);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	return err;
}

static int returns(void)
{
	struct kretprobe a = { .kp.addr = (void *)first,
			       .handler = count_return };
	struct kretprobe b = { .kp.addr = (void *)second,
			       .handler = count_return,
			       .data_size = 40 };
	struct kretprobe c = { .kp.addr = (void *)second,
			       .kp.flags = KPROBE_FLAG_RET_SITES,
			       .handler = count_return };
	int err = register_kretprobe(&a);

	err |= register_kretprobe(&b);
	err |= register_kretprobe(&c);
	err |= called(err, 3);
	unregister_kretprobe(&a);
	unregister_kretprobe(&b);
	unregister_kretprobe(&c);
	return err;
}

static int jumps(void)
{
	struct jprobe a = { .kp.addr = (void *)first, .entry = (void *)jumped };
	int err = register_jprobe(&a);

	err |= called(err, 1);
	unregister_jprobe(&a);
	return err;
}

static int arrays(void)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = count };
	struct kprobe b = { .addr = (void *)second, .pre_handler = count };
	struct kprobe bad = { .symbol_name = "there_is_none" };
	struct kprobe *all[] = { &a, &b, &bad };
	int err = register_kprobes(all, 2);

	err |= called(err, 2);
	unregister_kprobes(all, 2);
	a.addr = (void *)first;
	b.addr = (void *)second;
	return err | (register_kprobes(all, 3) != -ENOENT);
}

static int refused(void)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = count };
	struct kprobe no = { .symbol_name = "there_is_none" };
	struct kprobe both = { .symbol_name = "getppid",
			       .addr = (void *)first };
	struct kretprobe inside = { .kp.addr = (kprobe_opcode_t *)first + 1,
				    .handler = count_return };
	struct kretprobe lost = { .kp.symbol_name = "there_is_none",
				  .handler = count_return };
	int err = register_kprobe(&a);

	err |= register_kprobe(&a) != -EINVAL;
	unregister_kprobe(&a);
	err |= register_kprobe(&no) != -ENOENT;
	err |= register_kprobe(&both) != -EINVAL;
	err |= !register_kretprobe(&inside);
	return err | (register_kretprobe(&lost) != -ENOENT);
}

static void ignore(void *arg, const char *text)
{
}

static int listed(void)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = count };
	int err = register_kprobe(&a);

	err |= dp_kprobes_list(ignore, NULL) < 0;
	err |= dp_kprobes_blacklist(ignore, NULL) < 0;
	unregister_kprobe(&a);
	return err;
}

static int ret_watch(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void leave(struct uprobe *u, struct pt_regs *regs)
{
	calls++;
	unregister_uprobe(u);
}

/* One that ends itself is freed later. */
static int ends_itself(void)
{
	static struct uprobe a;
	int err;

	a = (struct uprobe){ .pid = getpid(),
			     .vaddr = (unsigned long)first,
			     .handler = leave };
	calls = 0;
	err = register_uprobe(&a);
	first(4);
	first(4);
	return err || calls != 1;
}

static struct victim victim;

/* What has another process's probes has them again and again. */
static int others(void)
{
	struct uprobe a = probe_of(&victim, watch), bad = a;
	struct uretprobe r = { .u = a, .handler = ret_watch };
	int err = register_uprobe(&a);

	bad.vaddr = 4096;
	r.u.handler = NULL;
	err |= register_uprobe(&bad) != -EFAULT;
	err |= register_uretprobe(&r);
	err |= !!strcmp(told(&victim, "call"), "42");
	err |= calls != 2;
	unregister_uprobe(&a);
	unregister_uretprobe(&r);
	return err;
}

/* A process that ends with probes on it */
static int ended(void)
{
	struct uprobe a;
	struct victim v;
	int err;

	begin(&v);
	a = probe_of(&v, watch);
	err = register_uprobe(&a);
	err |= !!strcmp(told(&v, "call"), "42");
	err |= calls != 1;
	end(&v);
	unregister_uprobe(&a);
	return err;
}

/* What a thread keeps for itself of what was freed counts as used. */
static void keep_nothing_freed(void)
{
	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execl("/proc/self/exe", "leaks", (char *)NULL);
}

int main(void)
{
	keep_nothing_freed();
	setvbuf(stdout, NULL, _IOLBF, 0);
	gives_back(plain, LEAST, "probes");
	gives_back(returns, LEAST, "return probes");
	gives_back(jumps, LEAST, "jprobes");
	gives_back(arrays, LEAST, "arrays");
	gives_back(refused, LEAST, "refused ones");
	gives_back(listed, LEAST, "lists");
	gives_back(ends_itself, LEAST, "probes that end themselves");
	begin(&victim);
	gives_back(others, OTHER, "probes of another process");
	end(&victim);
	gives_back(ended, OTHER, "probes of processes that end");
	return plan();
}
