// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * processes: a process that probes itself and what becomes of it: fork, exec,
 * libraries that go, few descriptors, no /proc, other people's waits.
 */
#include "tests/self/self.h"
#include <dlfcn.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

extern char **environ;

__attribute__((noinline, noclone, noipa)) static long first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

static volatile long runs;

static int just_count(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
	return 0;
}

static volatile long handled;

static int returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	return 0;
}

/* --- fork --- */

static volatile int stop_all;
static long turns;
static struct kprobe toggled[5];
static const char *const toggled_names[] = { "malloc", "memcpy", "write",
					     "fork", "_Fork" };

static void *toggles(void *arg)
{
	unsigned int seed = 5;
	int i, k;

	for (i = 0; !stop_all; i++) {
		k = (int)(draw(&seed) % 5);
		toggled[k] = (struct kprobe){ .symbol_name = toggled_names[k],
					      .pre_handler = just_count };
		register_kprobe(&toggled[k]);
		k = (int)(draw(&seed) % 5);
		unregister_kprobe(&toggled[k]);
		__atomic_fetch_add(&turns, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *works(void *arg)
{
	char a[500], b[500] = "x";

	while (!stop_all) {
		free(malloc(100));
		memcpy(a, b, sizeof(a));
	}
	return NULL;
}

static int child_probes(struct text *text, int deep)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	long before = runs;
	pid_t pid;
	int status;

	EXPECT(!register_kprobe(&p));
	EXPECT(first(1) == 4 && runs == before + 1);
	if (deep) {
		pid = fork();
		if (!pid)
			_exit(child_probes(text, deep - 1));
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
	}
	EXPECT(first(1) == 4 && runs == before + 2);
	unregister_kprobe(&p);
	return 0;
}

static int forks(void *arg)
{
	struct text text = text_of("/proc/self/exe"), libc;
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	struct kretprobe r = { .kp.symbol_name = "fork", .handler = returns };
	pthread_t threads[3];
	pid_t pid;
	int i, status;

	libc = text_of("libc.so.6");
	EXPECT(!register_kprobe(&p) && !register_kretprobe(&r));
	pthread_create(&threads[0], NULL, toggles, NULL);
	pthread_create(&threads[1], NULL, works, NULL);
	pthread_create(&threads[2], NULL, works, NULL);
	for (i = 0; i < amount("FORKS", 60); i++) {
		pid = fork();
		if (!pid) {
			alarm(120);
			/* It is clean, and has no probe. */
			if (text_differs(&text) || text_differs(&libc))
				_exit(10);
			if (handled > i || first(1) != 4)
				_exit(11);
			if (i % 3 == 0)
				_exit(child_probes(&text, 2));
			if (i % 3 == 1)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		EXPECT(waitpid(pid, &status, 0) == pid);
		if (status)
			printf("# fork %d: status %x\n", i, status);
		EXPECT(!status);
		EXPECT(handled == i + 1);
	}
	stop_all = 1;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A tracked call that returns in a child which has an engine of its own. */
__attribute__((noinline, noclone, noipa)) static long forks_inside(long a)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	pid_t pid = a == 1 ? (pid_t)syscall(SYS_fork) : fork();

	if (!pid && a == 2 && (register_kprobe(&p) || first(1) != 4 || !runs))
		_exit(12);
	return pid;
}

static int followed(void *arg)
{
	struct kretprobe r = { .kp.addr = (void *)forks_inside,
			       .handler = returns };
	struct kretprobe s = r;
	int status;
	long a;
	pid_t pid;

	EXPECT(!register_kretprobe(&r) && !register_kretprobe(&s));
	for (a = 0; a < 3; a++) {
		pid = (pid_t)forks_inside(a);
		if (!pid)
			_exit(handled != 2 * a);
		EXPECT(waitpid(pid, &status, 0) == pid);
		if (status)
			printf("# %ld: status %x\n", a, status);
		EXPECT(!status && handled == 2 * a + 2);
	}
	return 0;
}

/* What the program does in a callback is its own affair. */
static int listed;

static void call_in_list(void *arg, const char *line)
{
	struct kprobe *p = arg;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(first(1) != 4);
	listed += waitpid(pid, &status, 0) == pid && !status;
	listed += !disable_kprobe(p) && !enable_kprobe(p);
}

static int lists(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	struct dp_kretprobe_account account;
	int n;

	EXPECT(!register_kprobe(&p));
	EXPECT(dp_kprobes_list(call_in_list, &p) == 1 && listed == 2);
	n = dp_kprobes_blacklist(call_in_list, &p);
	EXPECT(n > 0 && listed == 2 + 2 * n);
	EXPECT(first(1) == 4 && runs == 1);
	EXPECT(dp_kretprobe_account((void *)&p, &account) == -EINVAL);
	unregister_kprobe(&p);
	return 0;
}

/* The library's other locks, which no call of its functions holds for long. */
static void hears(const char *line)
{
}

static void takes_locks(void)
{
	static const char code[16];

	dp_set_report(hears);
	dp_module_note(code, code + sizeof(code), NULL, NULL);
}

static void *takes_locks_often(void *arg)
{
	while (!stop_all) {
		takes_locks();
		__atomic_fetch_add(&turns, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int child_takes_locks(void)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };

	alarm(20);
	takes_locks();
	EXPECT(!register_kprobe(&p) && first(1) == 4);
	unregister_kprobe(&p);
	exit(0);
}

static int forks_with_locks(void *arg)
{
	long n = amount("FORKS", 60), i, before;
	pthread_t threads[2];
	int status;
	pid_t pid;

	pthread_create(&threads[0], NULL, takes_locks_often, NULL);
	pthread_create(&threads[1], NULL, takes_locks_often, NULL);
	for (i = 0; i < n; i++) {
		/* It is somewhere else each time. */
		before = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&turns, __ATOMIC_ACQUIRE) < before + i)
			sched_yield();
		pid = fork();
		if (!pid)
			_exit(child_takes_locks());
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
	}
	stop_all = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

static int spawns(void *arg)
{
	char *args[] = { "true", NULL };
	pthread_t threads[2];
	int i, status;
	pid_t pid;

	pthread_create(&threads[0], NULL, toggles, NULL);
	pthread_create(&threads[1], NULL, works, NULL);
	for (i = 0; i < amount("FORKS", 60); i++) {
		EXPECT(!posix_spawn(&pid, "/bin/true", NULL, NULL, args,
				    environ));
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
		EXPECT(!system("exit 0"));
		pid = vfork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
	}
	stop_all = 1;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* In the middle of it. */
static void *executes(void *arg)
{
	while (__atomic_load_n(&turns, __ATOMIC_ACQUIRE) < 50)
		sched_yield();
	execl("/bin/true", "true", NULL);
	return NULL;
}

static int exec_in_thread(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, executes, NULL);
	toggles(NULL);
	return 1;
}

static int vfork_child(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	struct kprobe q = { .addr = (void *)first };
	volatile int err = 0;
	int status;
	pid_t pid;

	EXPECT(!register_kprobe(&p));
	pid = vfork();
	if (!pid) {
		err = register_kprobe(&q);
		first(1);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
	EXPECT(err == -EAGAIN && !runs);
	EXPECT(first(1) == 4 && runs == 1);
	unregister_kprobe(&p);
	return 0;
}

/* --- libraries --- */

static char one[600], two[600];

static void collect(void *arg, const char *text)
{
	strncat(arg, text, 2000);
	strcat(arg, "\n");
}

/* A library with probes that goes, and what comes to its place. */
struct going {
	struct kprobe p, q;
	struct kretprobe r;
	void *so, *at;
	long (*f)(long);
	bool other; /* the library in its place is another one */
};

static int load_probed(struct going *g)
{
	long (*second)(long);

	g->so = dlopen(one, RTLD_NOW);
	EXPECT(g->so);
	g->f = (long (*)(long))dlsym(g->so, "so_first");
	second = (long (*)(long))dlsym(g->so, "so_second");
	g->p = g->q = (struct kprobe){ .pre_handler = just_count };
	g->r = (struct kretprobe){ .handler = returns };
	g->p.addr = (void *)g->f;
	g->q.addr = (void *)second;
	g->r.kp.addr = (void *)second;
	EXPECT(!register_kprobe(&g->p) && !register_kprobe(&g->q) &&
	       !register_kretprobe(&g->r));
	runs = handled = 0;
	EXPECT(g->f(1) == 4 && second(1) == 9 && runs == 3 && handled == 1);
	return 0;
}

static int list_gone(const struct going *g)
{
	char list[8192] = "";

	EXPECT(dp_kprobes_list(collect, list) == 3);
	EXPECT(strstr(list, "[GONE]"));
	EXPECT(g->p.flags == KPROBE_FLAG_GONE);
	return 0;
}

/* Something else is there now, or the same again. */
static int replace(struct going *g, bool by_library)
{
	g->at = (void *)((unsigned long)g->f & -4096ul);
	if (by_library) {
		g->so = dlopen(g->other ? two : one, RTLD_NOW);
		g->f = (long (*)(long))dlsym(g->so, "so_first");
		EXPECT(g->f(1) == (g->other ? -3 : 4) && runs == 3);
	} else {
		g->at = mmap(g->at, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memset(g->at, 0xcc, 4096);
		g->so = NULL;
	}
	EXPECT(enable_kprobe(&g->p) == -EINVAL);
	return 0;
}

static int probe_anew(const struct going *g)
{
	struct kprobe n = { .addr = (void *)g->f, .pre_handler = just_count };

	EXPECT(!register_kprobe(&n));
	EXPECT(g->f(1) == -3 && runs == 4);
	unregister_kprobe(&n);
	return 0;
}

static int unregister_gone(struct going *g)
{
	int k;

	unregister_kprobe(&g->p);
	unregister_kprobe(&g->q);
	unregister_kretprobe(&g->r);
	if (g->so) {
		runs = 0;
		EXPECT(g->f(1) == (g->other ? -3 : 4) && !runs);
		dlclose(g->so);
		return 0;
	}
	for (k = 0; k < 4096; k++)
		EXPECT(((unsigned char *)g->at)[k] == 0xcc);
	munmap(g->at, 4096);
	return 0;
}

static int libraries(void *arg)
{
	struct going g;
	void *same = NULL;
	int i, again = 0;

	for (i = 0; i < 40; i++) {
		g.other = i % 4 == 1;
		if (load_probed(&g))
			return 1;
		again += (void *)g.f == same;
		same = (void *)g.f;
		dlclose(g.so);
		if ((i % 4 < 2 && list_gone(&g)) || replace(&g, i % 2) ||
		    (i % 8 == 5 && probe_anew(&g)) || unregister_gone(&g))
			return 1;
	}
	printf("# the same place %d times\n", again);
	return 0;
}

/* Return: is xmm0 as it was, around a call of first()? */
static bool keeps_vectors(void)
{
	double in = 1.25, out = 0;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "movsd (%0), %%xmm0\n\t"
			 "call *%2\n\t"
			 "movsd %%xmm0, (%1)\n\t"
			 "lea 128(%%rsp), %%rsp"
			 :
			 : "b"(&in), "r"(&out), "r"(first)
			 : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi",
			   "r8", "r9", "r10", "r11", "xmm0");
	return out == in;
}

/* A handler that has come to the place of one that used general registers only. */
static int successor(void *arg)
{
	/* xorps %xmm0,%xmm0; xor %eax,%eax; ret */
	static const char code[] = { 0x0f, 0x57,       (char)0xc0,
				     0x31, (char)0xc0, (char)0xc3 };
	void *so = dlopen(one, RTLD_NOW), *at, *page;
	struct kprobe p = { .addr = (void *)first };

	EXPECT(so);
	at = dlsym(so, "so_handler");
	p.pre_handler = (kprobe_pre_handler_t)at;
	EXPECT(!register_kprobe(&p) && keeps_vectors());
	unregister_kprobe(&p);
	EXPECT(!dlclose(so));
	page = (void *)((unsigned long)at & -4096ul);
	EXPECT(mmap(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		    0) == page);
	memcpy(at, code, sizeof(code));
	EXPECT(!register_kprobe(&p) && keeps_vectors());
	unregister_kprobe(&p);
	return 0;
}

/* --- the surroundings --- */

static int works_still(void)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };

	runs = 0;
	EXPECT(!register_kprobe(&p));
	EXPECT(first(1) == 4 && runs == 1);
	unregister_kprobe(&p);
	return 0;
}

static int closed(void *arg)
{
	int out = fcntl(1, F_DUPFD_CLOEXEC, 100), i;

	for (i = 0; i < (arg ? 1024 : 3); i++)
		if (i != out)
			close(i);
	i = works_still();
	/* Nothing of ours is left where the program's would be. */
	if (!i && open("/dev/null", O_RDWR) != 0)
		i = 5;
	dup2(out, 1);
	return i;
}

static int no_descriptors(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	struct rlimit limit = { 3, 64 };
	int err;

	if (arg)
		EXPECT(!works_still());
	setrlimit(RLIMIT_NOFILE, &limit);
	err = register_kprobe(&p);
	EXPECT(err == -EMFILE && dp_last_diag()->text[0]);
	EXPECT(first(1) == 4);
	limit.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &limit);
	return works_still();
}

static int little_memory(void *arg)
{
	struct rlimit limit = { 2ul << 30, 2ul << 30 };

	setrlimit(RLIMIT_AS, &limit);
	return works_still();
}

static int file_size(void *arg)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	int err;

	/* Refused in words, if need be, and not ended by a signal. */
	setrlimit(RLIMIT_FSIZE, &limit);
	err = register_kprobe(&p);
	printf("# %d %s\n", err, err ? dp_last_diag()->text : "");
	EXPECT(!err || (err == -EFBIG && dp_last_diag()->text[0]));
	EXPECT(first(1) == 4 && runs == !err);
	return 0;
}

static int locked(void *arg)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return CANNOT;
	return works_still();
}

static int no_proc(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	int err;

	if (chroot("/var/empty") && chroot("/tmp"))
		return CANNOT;
	EXPECT(access("/proc/self/maps", F_OK));
	err = register_kprobe(&p);
	EXPECT(err < 0 && err != -ENOMEM && dp_last_diag()->text[0]);
	printf("# %d %s\n", err, dp_last_diag()->text);
	EXPECT(first(1) == 4);
	return 0;
}

/* Take away what the library writes text with, a descriptor or /proc; or give it back. */
static int text_out_of_reach(bool proc, bool away)
{
	struct rlimit limit = { away ? 3 : 64, 64 };
	static int root;

	if (!proc)
		return setrlimit(RLIMIT_NOFILE, &limit);
	if (away) {
		root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return chroot("/var/empty") && chroot("/tmp");
	}
	return fchdir(root) || chroot(".");
}

/* The structures are the caller's again, so they are overwritten at once. */
static int unregister_away(struct kprobe *p, struct kretprobe *r, bool proc)
{
	struct kretprobe was[2];

	if (text_out_of_reach(proc, true))
		return CANNOT;
	EXPECT(disable_kprobe(p) < 0 && dp_last_diag()->text[0]);
	unregister_kprobe(p);
	unregister_kretprobe(&r[0]);
	unregister_kretprobe(&r[1]);
	EXPECT(p->addr == (void *)first);
	memset(p, 0x5a, sizeof(*p));
	memset(r, 0x5a, sizeof(was));
	memcpy(was, r, sizeof(was));
	EXPECT(first(1) == 4 && runs == 1 && handled == 2);
	EXPECT(!memcmp(was, r, sizeof(was)) && !memcmp(was, p, sizeof(*p)));
	return text_out_of_reach(proc, false);
}

static int unregister_without_text(void *arg)
{
	struct text text = text_of("/proc/self/exe");
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	struct kretprobe r[2] = {
		{ .kp.addr = (void *)first, .handler = returns },
		{ .kp.addr = (void *)first,
		  .kp.flags = KPROBE_FLAG_RET_SITES,
		  .handler = returns },
	};
	int err;

	EXPECT(!register_kprobe(&p));
	EXPECT(!register_kretprobe(&r[0]) && !register_kretprobe(&r[1]));
	EXPECT(first(1) == 4 && runs == 1 && handled == 2);
	err = unregister_away(&p, r, arg);
	if (err)
		return err;
	EXPECT(!works_still() && handled == 2);
	EXPECT(!text_differs(&text));
	return 0;
}

static int not_dumpable(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = just_count };
	int err;

	if (setuid(65534))
		return CANNOT;
	prctl(PR_SET_DUMPABLE, 0);
	err = register_kprobe(&p);
	EXPECT(err < 0 && dp_last_diag()->text[0]);
	printf("# %d %s\n", err, dp_last_diag()->text);
	prctl(PR_SET_DUMPABLE, 1);
	return works_still();
}

static volatile int chld;

static void on_chld(int sig)
{
	chld++;
}

static void *waits(void *arg)
{
	while (!stop_all) {
		if (waitpid(-1, NULL, 0) > 0)
			chld++;
		usleep(100);
	}
	return NULL;
}

static int waiters(void *arg)
{
	pthread_t thread;
	int err;

	signal(SIGCHLD, on_chld);
	pthread_create(&thread, NULL, waits, NULL);
	err = works_still();
	stop_all = 1;
	pthread_join(thread, NULL);
	EXPECT(!chld);
	return err;
}

int main(int argc, char **argv)
{
	char *slash;

	if (readlink("/proc/self/exe", one, 500) < 0)
		return 1;
	slash = strrchr(one, '/');
	snprintf(two, sizeof(two), "%.*s/libself_two.so", (int)(slash - one),
		 one);
	strcpy(slash, "/libself_one.so");
	setvbuf(stdout, NULL, _IOLBF, 0);
	ok_child(forks, NULL, 100, "forks while probes come and go");
	ok_child(forks_with_locks, NULL, 100, "forks while threads hold locks");
	ok_child(lists, NULL, 20, "calls and forks while probes are listed");
	ok_child(followed, NULL, 20, "followed calls return in children");
	ok_child(spawns, NULL, 100, "spawned and vfork children");
	ok_child(exec_in_thread, NULL, 20, "a thread executes");
	ok_child(vfork_child, NULL, 20, "a vfork child changes nothing");
	ok_child(libraries, NULL, 60, "libraries that go");
	ok_child(successor, NULL, 20, "a handler in the place of another one");
	ok_child(closed, NULL, 20, "no standard descriptors");
	ok_child(closed, argv, 20, "no descriptors at all");
	ok_child(no_descriptors, NULL, 20, "no more descriptors");
	ok_child(no_descriptors, argv, 20, "… later");
	ok_child(little_memory, NULL, 20, "a limit of address space");
	ok_child(file_size, NULL, 20, "a limit of file sizes");
	ok_child(locked, NULL, 20, "all memory is locked");
	ok_child(no_proc, NULL, 20, "no /proc");
	ok_child(unregister_without_text, NULL, 20,
		 "unregistering without a descriptor");
	ok_child(unregister_without_text, argv, 20, "… without /proc");
	ok_child(not_dumpable, NULL, 20, "a process that may not be traced");
	ok_child(waiters, NULL, 20, "waits of others");
	return plan();
}
