// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limits: Kprobes in a process that is under a limit, before the first probe or after it, and
 * Uprobes on such a process: registered, or refused in a sentence that is true. The program
 * goes on, can do what it could, and has its own text again.
 */
#include "tests/self/self.h"
#include "tests/victims/limited.h"
#include <dprobes/uprobes.h>

/** struct row - a limit: what is left, and what the heap has of it, in KB; what is said of
 *  probes in the process, and in another one: part of a sentence; "": they are registered;
 *  NULL: either */
static const struct row {
	const char *kind;
	unsigned long left, heap;
	const char *own, *other;
} rows[] = {
	{ "none", 0, 1000, "", "" },
	{ "nofile", 0, 1000, "Too many open files", "RLIMIT_NOFILE is 3" },
	{ "open", 0, 1000, "Too many open files", "RLIMIT_NOFILE is 64" },
	{ "as", 0, 0, "(RLIMIT_AS)", "(RLIMIT_AS)" },
	{ "as", 8000, 4000, "(RLIMIT_AS)", "(RLIMIT_AS)" },
	{ "as", 200000, 100000, "(RLIMIT_AS)", "" },
	{ "as", 300000, 200000, "(RLIMIT_AS)", "" },
	{ "as", 500000, 100000, "", "" },
	{ "locked", 0, 1000, "", "" },
	{ "memlock", 0, 0, "(RLIMIT_MEMLOCK)", "(RLIMIT_MEMLOCK)" },
	{ "mdwe", 0, 1000, "", "" },
	{ "near", 0, 0, "there is no memory near it",
	  "there is no memory near it" },
	{ "near", 65536, 65000, "there is no memory near it",
	  "there is no memory near it" },
	/* The heap begins up to 1 GB above the program. */
	{ "near", 1500000, 1000000, NULL, NULL },
	{ "space", 0, 0, "Cannot allocate memory", "no room within 2 GB" },
};

static volatile long runs, returned;

__attribute__((noinline, noclone, noipa)) static long first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

__attribute__((noinline, noclone, noipa)) static long second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 5 + 1;
}

static int count(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	return 0;
}

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned++;
	return 0;
}

/* As @says, or, where that is NULL, either way. */
static bool is_said(int err, const char *says)
{
	const char *text = dp_last_diag()->text;

	if (says && !*says)
		return !err;
	return (!says && !err) ||
	       (err < 0 && strstr(text, says ? says : "") && strlen(text) > 10);
}

/* --- our own process --- */

static int before(void *arg)
{
	const struct row *row = arg;
	struct kprobe p = { .addr = (void *)first, .pre_handler = count };
	struct kretprobe r = { .kp.addr = (void *)first,
			       .handler = count_return };
	struct text text = text_of("/proc/self/exe");
	int err, also;
	long was;

	if (!limit_to(row->kind, row->left))
		return CANNOT;
	EXPECT(grows(row->heap));
	err = register_kprobe(&p);
	EXPECT(is_said(err, row->own));
	also = register_kretprobe(&r);
	EXPECT(is_said(also, row->own));
	EXPECT(grows(row->heap));
	EXPECT(first(1) == 4);
	/* With no memory for the handlers' stack the hit is missed. */
	EXPECT(runs + (long)p.nmissed == !err);
	EXPECT(returned + r.nmissed + (long)r.kp.nmissed == !also);
	was = runs + returned;
	if (!err)
		unregister_kprobe(&p);
	if (!also)
		unregister_kretprobe(&r);
	EXPECT(first(2) == 7 && runs + returned == was);
	EXPECT(!text_differs(&text) && grows(row->heap));
	return 0;
}

/* The limit comes with probes in place: they work on, and go, whatever becomes of others. */
static int after(void *arg)
{
	const struct row *row = arg;
	struct kprobe p = { .addr = (void *)first, .pre_handler = count };
	struct kprobe q = { .addr = (void *)second, .pre_handler = count };
	struct text text = text_of("/proc/self/exe");
	int err;

	EXPECT(!register_kprobe(&p));
	if (!limit_to(row->kind, row->left))
		return CANNOT;
	EXPECT(first(1) == 4 && runs == 1);
	err = register_kprobe(&q);
	EXPECT(is_said(err, NULL));
	EXPECT(second(1) == 6 && runs == 1 + !err);
	unregister_kprobe(&p);
	if (!err)
		unregister_kprobe(&q);
	/* Without a descriptor text is restored at the next call. */
	descriptors(1000);
	if (!register_kprobe(&p))
		unregister_kprobe(&p);
	EXPECT(first(1) == 4 && second(1) == 6 && grows(row->heap));
	EXPECT(!text_differs(&text));
	return 0;
}

/* --- another one --- */

static volatile long hits;

static void hit(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST);
}

static void path_of_victim(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 32);
	char *end;

	path[n > 0 ? n : 0] = '\0';
	end = strstr(path, "/tests/self/");
	strcpy(end ? end : path, "/tests/victims/limits");
}

/* Return: what it says when it is ready. */
static FILE *begin(const struct row *row, pid_t *pid)
{
	char path[512], left[32], heap[32];
	int out[2];

	path_of_victim(path, sizeof(path));
	snprintf(left, sizeof(left), "%lu", row->left);
	snprintf(heap, sizeof(heap), "%lu", row->heap);
	if (pipe2(out, O_CLOEXEC))
		abort();
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		execl(path, "limits", row->kind, left, heap, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	return fdopen(out[0], "r");
}

/* Of a handler that runs here and of one that runs there. */
static int probe(const struct row *row, pid_t pid, unsigned long at)
{
	struct uprobe u = { .pid = pid, .vaddr = at, .handler = hit };
	struct uprobe v = u;
	struct dp_uprobe_account account;
	int err = register_uprobe(&u), also;

	EXPECT(is_said(err, row->other));
	v.handler_in_interrupt = 1;
	also = register_uprobe(&v);
	EXPECT(is_said(also, row->other));
	while (!err && !hits)
		usleep(1000);
	do
		account.hits = 1;
	while (!also && !dp_uprobe_account(&v, &account) && !account.hits);
	if (!err)
		unregister_uprobe(&u);
	if (!also)
		unregister_uprobe(&v);
	return 0;
}

static int other(void *arg)
{
	const struct row *row = arg;
	unsigned long at = 0;
	char line[64] = "";
	int status, failed;
	pid_t pid;
	FILE *says = begin(row, &pid);

	if (!fgets(line, sizeof(line), says) ||
	    sscanf(line, "ready %lx", &at) != 1)
		return CANNOT;
	failed = probe(row, pid, at);
	kill(pid, SIGTERM);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	return failed;
}

/* --- nearly all mappings that there can be --- */

static void nearly_all(void)
{
	struct row row = { .kind = "maps" };
	char what[64];

	for (row.left = 0; row.left < 24; row.left += 1 + row.left / 8) {
		snprintf(what, sizeof(what), "%lu mappings more", row.left);
		ok_child(before, &row, 60, what);
		ok_child(other, &row, 60, what);
	}
}

int main(void)
{
	char what[64];
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row row = rows[i];

		snprintf(what, sizeof(what), "%s %lu", row.kind, row.left);
		printf("# %s\n", what);
		ok_child(before, &row, 60, "before the first probe");
		ok_child(after, &row, 60, "behind it");
		ok_child(other, &row, 60, "of another process");
	}
	nearly_all();
	return plan();
}
