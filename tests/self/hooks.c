// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hooks: exits come and go under threads that run through their hooks; and what programs do in
 * exits, and to them.
 *   HOOK_ROUNDS=N   how often exits come and go
 */
#include "tests/self/hooks.h"
#include "tap.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
/* More than there are places for threads that have no reader */
#define CHILDREN 66
#define SIZE(a) (sizeof(a) / sizeof((a)[0]))

DEFINE_HOOK(seen, unsigned int *);
DECLARE_HOOK(second, unsigned int *);
DECLARE_HOOK(number, int);
DECLARE_HOOK(allocated, size_t);

static bool is_running = true;
static unsigned long torn, late, calls;
static int closed;
/* Odd from before exits are deregistered until that has been done */
static unsigned long phase, parted;

/* Each exit has a bit, and none may be called when it has been deregistered. */
#define BIT_EXIT(name, hook, bit)                                       \
	static int name##_typed(struct gkh_hook *h, struct gkh_args *a, \
				unsigned int *bits)                     \
	{                                                               \
		if (__atomic_load_n(&closed, __ATOMIC_ACQUIRE))         \
			__atomic_fetch_add(&late, 1, __ATOMIC_RELAXED); \
		*bits |= bit;                                           \
		return GKH_CONTINUE;                                    \
	}                                                               \
	GKH_EXIT(name, hook, name##_typed)
BIT_EXIT(bit_one, seen, 1);
BIT_EXIT(bit_two, seen, 2);
BIT_EXIT(bit_four, second, 4);

static bool is_whole(unsigned int bits)
{
	return bits == 0 || bits == 3;
}

/* What has been armed at the first hook is armed at the second, until it is disarmed. */
static void *run_through(void *unused)
{
	unsigned long n = 0, then;
	unsigned int bits, more;

	while (__atomic_load_n(&is_running, __ATOMIC_RELAXED)) {
		bits = more = 0;
		then = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
		HOOK(seen, &bits);
		HOOK(second, &more);
		if (then % 2 == 0 && bits == 3 && more != 4 &&
		    __atomic_load_n(&phase, __ATOMIC_ACQUIRE) == then)
			__atomic_fetch_add(&parted, 1, __ATOMIC_RELAXED);
		if (!is_whole(bits))
			__atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
		if (++n % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_add(&calls, n, __ATOMIC_RELAXED);
	return NULL;
}

static struct gkh_rec one = { .hook_name = "seen", .exit = bit_one },
		      two = { .hook_name = "seen", .exit = bit_two },
		      four = { .hook_name = "second", .exit = bit_four };

static void chain_all(void)
{
	one.next = &two;
	two.next = &four;
	four.next = NULL;
}

static void chain_none(void)
{
	one.next = two.next = four.next = NULL;
}

static int come_and_go(void)
{
	int err;

	__atomic_store_n(&closed, 0, __ATOMIC_RELEASE);
	err = gkh_register(&one);
	if (!err)
		err = gkh_arm(&one);
	__atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
	if (!err)
		err = gkh_deregister(&one);
	__atomic_store_n(&closed, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
	return err;
}

/* [defects 25, 29] */
static void storm(void)
{
	long rounds = amount("HOOK_ROUNDS", 4000), i;
	pthread_t t[THREADS];
	int err = 0;
	size_t k;

	for (k = 0; k < SIZE(t); k++)
		pthread_create(&t[k], NULL, run_through, NULL);
	chain_all();
	for (i = 0; i < rounds && !err; i++)
		err = come_and_go();
	is(err, 0, "exits come and go while eight threads run through");
	__atomic_store_n(&is_running, false, __ATOMIC_RELAXED);
	for (k = 0; k < SIZE(t); k++)
		pthread_join(t[k], NULL);
	ok(calls > 0, "the threads ran: %lu times", calls);
	is((long)torn, 0, "each call saw all exits of its hook, or none");
	is((long)parted, 0, "and those of two hooks together");
	is((long)late, 0, "no exit was called when it had been deregistered");
	closed = 0;
	chain_none();
}

/* The program's text is as before: the hook's place holds the nop. */
static void text_is_restored(void)
{
	static const unsigned char nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	const struct gkh_point *p;
	int n = 0, same = 0;

	for (p = __start_gkh_points; p < __stop_gkh_points; p++, n++)
		same += !memcmp((const char *)&p->at + p->at, nop, sizeof(nop));
	ok(n > 0 && same == n, "each of %d places holds a nop again", n);
}

/* --- leaving an exit otherwise --- */

static jmp_buf away;

static int jump_away(struct gkh_hook *h, struct gkh_args *a)
{
	longjmp(away, 1);
}

static void longjmps(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = jump_away };
	int i;

	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	for (i = 0; i < 100; i++)
		if (!setjmp(away))
			HOOK(number, i);
	is(gkh_deregister(&rec), 0,
	   "an exit that is left by longjmp is not waited for");
}

static void *leave_and_sleep(void *barrier)
{
	jmp_buf mine;

	memcpy(&mine, &away, sizeof(mine));
	if (!setjmp(away))
		HOOK(number, 1);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

/* @run: of a thread that leaves an exit, and waits twice */
static void left_by(void *(*run)(void *), const char *what)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = jump_away };
	pthread_barrier_t barrier;
	pthread_t t;

	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, run, &barrier);
	pthread_barrier_wait(&barrier);
	is(gkh_deregister(&rec), 0, what);
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
}

static int end_thread(struct gkh_hook *h, struct gkh_args *a)
{
	pthread_exit(NULL);
}

static void *run_number(void *unused)
{
	HOOK(number, 1);
	return NULL;
}

static void ending_threads(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = end_thread };
	pthread_t t;

	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_create(&t, NULL, run_number, NULL);
	pthread_join(t, NULL);
	is(gkh_deregister(&rec), 0, "nor one in which a thread has ended");
}

/* --- waiting for an exit --- */

static pthread_barrier_t in_exit;
static bool may_leave, has_left;

static int stay(struct gkh_hook *h, struct gkh_args *a)
{
	pthread_barrier_wait(&in_exit);
	while (!__atomic_load_n(&may_leave, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(20000);
	__atomic_store_n(&has_left, true, __ATOMIC_RELEASE);
	return GKH_CONTINUE;
}

/* [defect 26] */
static void waits(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = stay };
	pthread_t t;

	pthread_barrier_init(&in_exit, NULL, 2);
	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_create(&t, NULL, run_number, NULL);
	pthread_barrier_wait(&in_exit);
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	gkh_deregister(&rec);
	ok(__atomic_load_n(&has_left, __ATOMIC_ACQUIRE),
	   "deregister returns when no thread is in the exit");
	pthread_join(t, NULL);
}

static pid_t parent;
static bool was_waited;

static int stay_in_parent(struct gkh_hook *h, struct gkh_args *a)
{
	return getpid() == parent ? stay(h, a) : GKH_CONTINUE;
}

/* It is in no hook before its child is. */
static void *child_then_deregister(void *rec)
{
	pid_t pid;

	pthread_barrier_wait(&in_exit);
	pid = vfork();
	if (!pid) {
		HOOK(number, 2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	gkh_deregister(rec);
	was_waited = __atomic_load_n(&has_left, __ATOMIC_ACQUIRE);
	return NULL;
}

/* A vfork child has its parent's memory, and another number: to it all threads look ended. */
static void waits_beside_child(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = stay_in_parent };
	pthread_t t;

	parent = getpid();
	may_leave = has_left = false;
	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_create(&t, NULL, child_then_deregister, &rec);
	HOOK(number, 1);
	pthread_join(t, NULL);
	ok(was_waited, "a vfork child runs through a hook, and is no thread");
}

/* The alternate stack is an array of a function further out: above the exit's frame, on one stack with it. */
static void raise_on_alternate(int sig)
{
	pthread_barrier_wait(&in_exit);
	while (!__atomic_load_n(&may_leave, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(200000);
}

static int interrupted_exit(struct gkh_hook *h, struct gkh_args *a)
{
	raise(SIGUSR1);
	__atomic_store_n(&has_left, true, __ATOMIC_RELEASE);
	return GKH_CONTINUE;
}

static void *interrupted(void *unused)
{
	char stack[65536] __attribute__((aligned(16)));
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&alternate, NULL);
	HOOK(number, 1);
	sigaltstack(&none, NULL);
	return NULL;
}

static void waits_on_alternate(void)
{
	struct gkh_rec rec = { .hook_name = "number",
			       .exit = interrupted_exit };
	struct sigaction sa = { .sa_handler = raise_on_alternate,
				.sa_flags = SA_ONSTACK };
	pthread_t t;

	may_leave = has_left = false;
	sigaction(SIGUSR1, &sa, NULL);
	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_create(&t, NULL, interrupted, NULL);
	pthread_barrier_wait(&in_exit);
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	gkh_deregister(&rec);
	ok(__atomic_load_n(&has_left, __ATOMIC_ACQUIRE),
	   "an exit is waited for whose thread is in a handler on another stack");
	pthread_join(t, NULL);
}

/* A handler on the alternate stack that has left the exit is not waited for: it has interrupted nothing there. */
static void left_then_interrupted(int sig)
{
	pthread_barrier_wait(&in_exit);
	pthread_barrier_wait(&in_exit);
}

static void *leave_then_raise(void *unused)
{
	char stack[65536] __attribute__((aligned(16)));
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&alternate, NULL);
	if (!setjmp(away))
		HOOK(number, 1);
	/* Farther down than the exit was, a thread might be in it still: raise() has a large frame. */
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	sigaltstack(&none, NULL);
	return NULL;
}

static void left_on_alternate(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = jump_away };
	struct sigaction sa = { .sa_handler = left_then_interrupted,
				.sa_flags = SA_ONSTACK };
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	pthread_create(&t, NULL, leave_then_raise, NULL);
	pthread_barrier_wait(&in_exit);
	is(gkh_deregister(&rec), 0,
	   "one that was left by longjmp before that is not");
	pthread_barrier_wait(&in_exit);
	pthread_join(t, NULL);
}

/* A vfork child has no reader. What it leaves is not waited for. */
static void *child_jumps_away(void *unused)
{
	pid_t pid = vfork();

	if (!pid) {
		if (!setjmp(away))
			HOOK(number, 2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return NULL;
}

static void left_by_child(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = jump_away };
	pthread_t t;
	int i, err = 0;

	for (i = 0; i < CHILDREN && !err; i++) {
		if (gkh_register(&rec) || gkh_arm(&rec))
			break;
		pthread_create(&t, NULL, child_jumps_away, NULL);
		pthread_join(t, NULL);
		err = gkh_deregister(&rec);
	}
	ok(i == CHILDREN && !err,
	   "nor one that a vfork child has left by longjmp, %d times", i);
}

/* The place of the frame is used again, further in. */
static __attribute__((noinline)) void go_deep(pthread_barrier_t *barrier)
{
	volatile char used[65536];
	size_t i;

	for (i = 0; i < sizeof(used); i++)
		used[i] = 1;
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	used[0] = 2; /* that was no jump with the stack given back */
}

static void *leave_and_go_deep(void *barrier)
{
	if (!setjmp(away))
		HOOK(number, 1);
	go_deep(barrier);
	return NULL;
}

static int do_nothing(struct gkh_hook *h, struct gkh_args *a)
{
	return GKH_CONTINUE;
}

/* A thread is in the exit of another hook all the while. */
static void waits_for_its_own(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = stay };
	struct gkh_rec mine = { .hook_name = "second", .exit = do_nothing };
	pthread_t t;

	may_leave = has_left = false;
	if (gkh_register(&rec) || gkh_register(&mine) || gkh_arm(&rec) ||
	    gkh_arm(&mine))
		return;
	pthread_create(&t, NULL, run_number, NULL);
	pthread_barrier_wait(&in_exit);
	is(gkh_deregister(&mine), 0,
	   "threads in exits of other hooks are not waited for");
	ok(!has_left, "they are still there");
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	is(gkh_deregister(&rec), 0, "their exit goes when they have left");
	pthread_join(t, NULL);
}

/* Two exits that disarm each other, each in a thread of its own, at the same time */
static struct gkh_rec other[2];
static int deferred[2];
static pthread_barrier_t both;

static int disarm_other(struct gkh_hook *h, struct gkh_args *a)
{
	int i = a->rec == &other[1];

	pthread_barrier_wait(&both);
	deferred[i] = gkh_deregister(&other[!i]);
	return GKH_CONTINUE;
}

DECLARE_HOOK(left_hand);
DECLARE_HOOK(right_hand);

static void *run_left(void *unused)
{
	HOOK(left_hand);
	return NULL;
}

static void *run_right(void *unused)
{
	HOOK(right_hand);
	return NULL;
}

static void disarm_each_other(void)
{
	pthread_t t[2];

	other[0] = (struct gkh_rec){ .hook = GKH_HOOK(left_hand),
				     .exit = disarm_other };
	other[1] = (struct gkh_rec){ .hook = GKH_HOOK(right_hand),
				     .exit = disarm_other };
	other[0].next = &other[1];
	pthread_barrier_init(&both, NULL, 2);
	is(gkh_register(&other[0]) || gkh_arm(&other[0]), 0,
	   "two exits are armed");
	other[0].next = NULL;
	pthread_create(&t[0], NULL, run_left, NULL);
	pthread_create(&t[1], NULL, run_right, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	ok(deferred[0] == GKH_DEFERRED && deferred[1] == GKH_DEFERRED,
	   "exits that deregister each other do not wait: %d %d", deferred[0],
	   deferred[1]);
	is(gkh_deregister(&other[0]), 0, "outside, the first has gone");
	is(gkh_deregister(&other[1]), 0, "and so has the second");
	is(gkh_deregister(&other[1]), -EINVAL, "which is told once");
}

/* --- where hooks may be --- */

static long in_malloc, in_signal;

static int count_malloc(struct gkh_hook *h, struct gkh_args *a)
{
	in_malloc++;
	return GKH_CONTINUE;
}

void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
	HOOK(allocated, size);
	return __libc_malloc(size);
}

static void inside_malloc(void)
{
	struct gkh_rec rec = { .hook_name = "allocated", .exit = count_malloc };
	void *volatile p;
	int i;

	is(gkh_register(&rec) || gkh_arm(&rec), 0, "a hook in malloc is armed");
	for (i = 0; i < 100; i++) {
		p = malloc(16);
		free(p);
	}
	is(gkh_deregister(&rec), 0, "and disarmed");
	is(in_malloc, 100, "its exit sees the program's calls");
}

static int count_signal(struct gkh_hook *h, struct gkh_args *a)
{
	__atomic_fetch_add(&in_signal, 1, __ATOMIC_RELAXED);
	return GKH_CONTINUE;
}

static void on_signal(int sig)
{
	HOOK(number, sig);
}

static void inside_signals(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = count_signal };
	struct sigaction sa = { .sa_handler = on_signal };
	int i;

	sigaction(SIGUSR1, &sa, NULL);
	is(gkh_register(&rec) || gkh_arm(&rec), 0,
	   "a hook in a signal handler is armed");
	for (i = 0; i < 50; i++) {
		raise(SIGUSR1);
		HOOK(number, 0);
	}
	is(gkh_deregister(&rec), 0, "and disarmed");
	is(in_signal, 100, "its exit sees all");
}

static int depth, deepest;

static int recurse(struct gkh_hook *h, struct gkh_args *a)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 20)
		HOOK(number, depth);
	depth--;
	return GKH_CONTINUE;
}

static void recursion(void)
{
	struct gkh_rec rec = { .hook_name = "number", .exit = recurse };

	if (gkh_register(&rec) || gkh_arm(&rec))
		return;
	HOOK(number, 0);
	is(deepest, 20, "an exit may run through its own hook");
	is(gkh_deregister(&rec), 0, "and is deregistered afterwards");
}

/* --- processes --- */

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int in_child(void)
{
	if (run_inline() != 1)
		return 1;
	if (gkh_register(&two) || gkh_arm(&two))
		return 2;
	if (run_inline() != 3)
		return 3;
	if (gkh_deregister(&one) || gkh_deregister(&two))
		return 4;
	return run_inline() ? 5 : 0;
}

static void fork_and_exec(char **argv)
{
	pid_t pid;

	is(gkh_register(&one) || gkh_arm(&one), 0, "an exit is armed");
	pid = fork();
	if (!pid)
		_exit(in_child());
	is(status_of(pid), 0,
	   "a fork child has its parent's exits, and changes its own");
	is(run_inline(), 1, "the parent's are as before");
	pid = fork();
	if (!pid) {
		execl(argv[0], argv[0], "dormant", NULL);
		_exit(99);
	}
	is(status_of(pid), 0, "after exec, no hook is armed");
	is(gkh_deregister(&one), 0, "and the parent's goes");
}

static struct gkh_hook *gone_hook;

static void note_gone(enum gkh_event event, struct gkh_hook *h)
{
	if (event == GKH_DELETE && !strcmp(h->name, "of_library"))
		gone_hook = h;
}

static int return_nine(struct gkh_hook *h, struct gkh_args *a)
{
	*a->ret = 9;
	return GKH_RETURN;
}

static int orphans;

static void note_orphan(struct gkh_rec *rec)
{
	orphans++;
}

static void *open_library(const char *argv0)
{
	char path[512];
	const char *slash = strrchr(argv0, '/');

	snprintf(path, sizeof(path), "%.*s/libhooks.so",
		 slash ? (int)(slash - argv0) : 1, slash ? argv0 : ".");
	return dlopen(path, RTLD_NOW);
}

/* [rows 325, 352] */
static void libraries(const char *argv0)
{
	struct gkh_rec rec = { .hook_name = "of_library",
			       .exit = return_nine,
			       .on_delete = note_orphan };
	int (*library_run)(int), i;
	unsigned int (*library_seen)(void);
	struct gkh_rec *(*library_rec)(void);
	void *lib;

	gkh_notify(note_gone);
	is(gkh_register(&rec), -ENOENT,
	   "a hook of a library that is not loaded is not there");
	for (i = 0; i < 3; i++) {
		rec = (struct gkh_rec){ .hook_name = "of_library",
					.exit = return_nine,
					.on_delete = note_orphan };
		gone_hook = NULL;
		lib = open_library(argv0);
		if (!ok(lib, "a library is loaded: %s", lib ? "" : dlerror()))
			return;
		library_run = dlsym(lib, "library_run");
		library_seen = dlsym(lib, "library_seen");
		library_rec = dlsym(lib, "library_rec");
		is(gkh_register(&rec) || gkh_arm(&rec), 0, "its hook is armed");
		is(library_run(3), 9, "the exit makes its function return");
		is(gkh_register(library_rec()) || gkh_arm(library_rec()), 0,
		   "its exit is armed at the program's hook");
		is(run_inline(), 0x100, "the program calls it");
		is(library_seen(), 0x100, "at the hook's place there, too");
		dlclose(lib);
		ok(gone_hook && orphans == i + 1 && !rec.hook &&
			   rec.flags & GKH_DELETED,
		   "with the library its hook goes, and the exit is orphaned");
		is(run_inline(), 0, "the library's exit has gone with it");
	}
	gkh_notify_end(note_gone);
}

/* --- entry conditions --- */

static long beside, beside_before, beside_after;

static void *count_on(void *unused)
{
	while (__atomic_load_n(&is_running, __ATOMIC_RELAXED))
		__atomic_fetch_add(&beside, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int look_beside(struct gkh_hook *h, struct gkh_args *a)
{
	struct timespec begin, now;

	/* Its exit stops them, too, and lets nobody go on. The helper would take a moment for that. */
	HOOK(left_hand);
	beside_before = __atomic_load_n(&beside, __ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000l + now.tv_nsec -
		       begin.tv_nsec <
	       50000000);
	beside_after = __atomic_load_n(&beside, __ATOMIC_SEQ_CST);
	a->rec->flags &= ~(unsigned int)GKH_ARMED;
	return GKH_CONTINUE;
}

static void stops_threads(void)
{
	struct gkh_rec rec = { .hook_name = "number",
			       .exit = look_beside,
			       .flags = GKH_STOP_CPUS };
	struct gkh_rec inner = { .hook = GKH_HOOK(left_hand),
				 .exit = do_nothing,
				 .flags = GKH_STOP_CPUS };
	pthread_t t[2];
	int i;

	is_running = true;
	pthread_create(&t[0], NULL, count_on, NULL);
	pthread_create(&t[1], NULL, count_on, NULL);
	rec.next = &inner;
	is(gkh_register(&rec) || gkh_arm(&rec), 0,
	   "an exit that stops all others is armed");
	while (!__atomic_load_n(&beside, __ATOMIC_RELAXED))
		usleep(100);
	HOOK(number, 1);
	if (!beside_before)
		skip("other threads stand still meanwhile",
		     "they cannot be stopped here");
	else
		ok(beside_before == beside_after,
		   "other threads stand still meanwhile");
	for (i = 0;
	     __atomic_load_n(&beside, __ATOMIC_RELAXED) == beside_after &&
	     i < 10000;
	     i++)
		usleep(1000);
	ok(__atomic_load_n(&beside, __ATOMIC_RELAXED) != beside_after,
	   "and go on behind it");
	beside_before = -1;
	HOOK(number, 1);
	is(beside_before, -1, "it has disarmed itself");
	is(gkh_deregister(&rec), 0, "and goes");
	is_running = false;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

static int in_handler_of, was_blocked;

static void note_handler(int sig)
{
	in_handler_of++;
}

static int raise_in_exit(struct gkh_hook *h, struct gkh_args *a)
{
	sigset_t now;

	raise(SIGUSR2);
	was_blocked = in_handler_of == 0;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	if (sigismember(&now, SIGTRAP))
		was_blocked = -1;
	return GKH_CONTINUE;
}

static void blocks_signals(void)
{
	struct gkh_rec rec = { .hook_name = "number",
			       .exit = raise_in_exit,
			       .flags = GKH_DISABLE_IRQS };

	signal(SIGUSR2, note_handler);
	is(gkh_register(&rec) || gkh_arm(&rec), 0,
	   "an exit without signals is armed");
	HOOK(number, 1);
	is(was_blocked, 1, "a signal waits while the exit runs");
	is(in_handler_of, 1, "and comes behind it");
	is(gkh_deregister(&rec), 0, "it goes");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_inline() != 0;
	storm();
	text_is_restored();
	longjmps();
	left_by(leave_and_sleep, "nor one that another thread has left so");
	ending_threads();
	waits();
	waits_beside_child();
	waits_on_alternate();
	left_on_alternate();
	left_by_child();
	left_by(leave_and_go_deep,
		"nor one whose thread is further in elsewhere");
	waits_for_its_own();
	disarm_each_other();
	inside_malloc();
	inside_signals();
	recursion();
	fork_and_exec(argv);
	libraries(argv[0]);
	stops_threads();
	blocks_signals();
	text_is_restored();
	return plan();
}
