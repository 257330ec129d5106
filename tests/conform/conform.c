// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* conform: runs the conformance tests of a program and prints TAP. */
#include "conform.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define SKIPPED 77
#define MAX_TESTS 256
#define MAX_THREADS 64
#define TEST_SECONDS 60

extern const struct conform_test *const __start_conform_tests[];
extern const struct conform_test *const __stop_conform_tests[];

struct conform_counts counts;

/* --- verdicts --- */

void conform_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	char text[1024];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "# %s:%d: %s\n", file, line, text);
	_exit(1);
}

void conform_skip(const char *why)
{
	fprintf(stderr, "# skipped: %s\n", why);
	_exit(SKIPPED);
}

void conform_eq(const char *file, int line, const char *what, long long got,
		long long wanted)
{
	if (got != wanted)
		conform_fail(file, line, "%s is %lld (%#llx), not %lld (%#llx)",
			     what, got, got, wanted, wanted);
}

void conform_ok(const char *file, int line, const char *what, int rc)
{
	const struct dp_diag *diag;

	if (!rc)
		return;
	diag = dp_last_diag();
	conform_fail(file, line, "%s: %s: %s", what, strerror(-rc),
		     diag ? diag->text : "");
}

/* --- handlers and what the library says --- */

int count_pre(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	return 0;
}

void count_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	count(&counts.post);
}

int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.entry);
	return 0;
}

int count_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	return 0;
}

bool jumps(void)
{
	const char *arm = getenv("DPROBES_ARM");

	return !arm || strcmp(arm, "trap");
}

struct wanted {
	unsigned long addr;
	char kind;
	char line[512];
};

static void find_line(void *arg, const char *text)
{
	struct wanted *w = arg;
	unsigned long addr;
	char kind;

	if (sscanf(text, "%lx %c", &addr, &kind) == 2 && addr == w->addr &&
	    (!w->kind || w->kind == kind) && !w->line[0])
		snprintf(w->line, sizeof(w->line), "%s", text);
}

const char *list_line(const void *addr, char kind)
{
	static struct wanted w;

	w = (struct wanted){ .addr = (unsigned long)addr, .kind = kind };
	check(dp_kprobes_list(find_line, &w) >= 0);
	return w.line[0] ? w.line : NULL;
}

bool listed(const void *addr, const char *tag)
{
	const char *line = list_line(addr, 0);

	return line && strstr(line, tag);
}

static void ignore_line(void *arg, const char *text)
{
}

int list_length(void)
{
	return dp_kprobes_list(ignore_line, NULL);
}

/* A library without it fails some tests, and not the build of all of them. */
#pragma weak dp_set_report

void reports_to(void (*report)(const char *line))
{
	check(dp_set_report);
	dp_set_report(report);
}

struct conform_text text_of(const void *addr)
{
	struct conform_text text = { .addr = addr };

	memcpy(text.bytes, addr, sizeof(text.bytes));
	return text;
}

bool text_same(const struct conform_text *text)
{
	return !memcmp(text->addr, text->bytes, sizeof(text->bytes));
}

/* --- threads --- */

int conform_threads(void)
{
	const char *value = getenv("CONFORM_THREADS");
	int n = value ? atoi(value) : 1;

	return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

struct starter {
	void (*work)(int index);
	int index;
	pthread_barrier_t *begin;
};

static void *start(void *arg)
{
	struct starter *s = arg;

	pthread_barrier_wait(s->begin);
	s->work(s->index);
	return NULL;
}

void in_threads(void (*work)(int index))
{
	struct starter starters[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	pthread_barrier_t begin;
	int i, n = conform_threads();

	if (n == 1) {
		work(0);
		return;
	}
	pthread_barrier_init(&begin, NULL, n);
	for (i = 0; i < n; i++) {
		starters[i] = (struct starter){ work, i, &begin };
		check(!pthread_create(&threads[i], NULL, start, &starters[i]));
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Switches jumps off and on for as long as a test runs. */
static bool toggling;

static void *toggle(void *arg)
{
	int on = 0, rc;

	while (__atomic_load_n(&toggling, __ATOMIC_RELAXED)) {
		rc = dp_kprobes_optimization(on);
		conform_ok(__FILE__, __LINE__, "dp_kprobes_optimization()",
			   rc < 0 ? rc : 0);
		on = !on;
		usleep(300);
	}
	dp_kprobes_optimization(1);
	return NULL;
}

/* --- running --- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct conform_test *const *)a)->name,
		      (*(const struct conform_test *const *)b)->name);
}

static const struct conform_test *find(const char *name)
{
	const struct conform_test *const *t;

	for (t = __start_conform_tests; t < __stop_conform_tests; t++)
		if (!strcmp((*t)->name, name))
			return *t;
	return NULL;
}

static bool toggled(const struct conform_test *test)
{
	const char *value = getenv("CONFORM_TOGGLE");

	return value && atoi(value) &&
	       !(test->flags & (CONFORM_STILL | CONFORM_HELPER));
}

static int run_here(const struct conform_test *test)
{
	pthread_t toggler;

	setvbuf(stderr, NULL, _IOLBF, 0);
	if (!toggled(test)) {
		test->run();
		return 0;
	}
	toggling = true;
	check(!pthread_create(&toggler, NULL, toggle, NULL));
	test->run();
	__atomic_store_n(&toggling, false, __ATOMIC_RELAXED);
	pthread_join(toggler, NULL);
	return 0;
}

static pid_t start_self(const char *name)
{
	char *argv[] = { "/proc/self/exe", "--only", (char *)name, NULL };
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], argv);
	_exit(127);
}

/* Waits, but not for ever: a test that hangs is killed. */
static int wait_for(pid_t pid)
{
	struct timespec nap = { .tv_nsec = 2000000 };
	int i, status = -1;

	for (i = 0; i < TEST_SECONDS * 500; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		nanosleep(&nap, NULL);
	}
	fprintf(stderr, "# killed after %d seconds\n", TEST_SECONDS);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

int in_process(const char *helper)
{
	check(find(helper));
	return wait_for(start_self(helper));
}

static void report(int number, const char *name, int status)
{
	bool exited = WIFEXITED(status);

	if (exited && WEXITSTATUS(status) == SKIPPED) {
		printf("ok %d - %s # SKIP see above\n", number, name);
		return;
	}
	if (!exited)
		fprintf(stderr, "# died of signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	printf("%s %d - %s\n", status ? "not ok" : "ok", number, name);
}

static int run_all(const char *pattern)
{
	const struct conform_test *tests[MAX_TESTS];
	const struct conform_test *const *t;
	int i, n = 0, status, bad = 0;

	for (t = __start_conform_tests; t < __stop_conform_tests; t++)
		if (!((*t)->flags & CONFORM_HELPER) &&
		    strstr((*t)->name, pattern) && n < MAX_TESTS)
			tests[n++] = *t;
	qsort(tests, n, sizeof(tests[0]), by_name);
	printf("1..%d\n", n);
	for (i = 0; i < n; i++) {
		status = wait_for(start_self(tests[i]->name));
		report(i + 1, tests[i]->name, status);
		bad += status &&
		       !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED);
	}
	return bad != 0;
}

static int list_tests(void)
{
	const struct conform_test *const *t;

	for (t = __start_conform_tests; t < __stop_conform_tests; t++)
		if (!((*t)->flags & CONFORM_HELPER))
			puts((*t)->name);
	return 0;
}

/* main() - [--list | --only NAME | PART-OF-NAMES] */
int main(int argc, char **argv)
{
	const struct conform_test *test;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list_tests();
	if (argc < 3 || strcmp(argv[1], "--only"))
		return run_all(argc > 1 ? argv[1] : "");
	test = find(argv[2]);
	return test ? run_here(test) : 2;
}
