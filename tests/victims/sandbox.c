// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sandbox: a program that confines itself: sandbox HOW [wait].
 *
 * It calls victim_function and short_function CALLS times each, installs what HOW
 * names, and calls them as often again, checking every result. HOW:
 *   strict, strict2  seccomp's strict mode, by prctl(2) and by seccomp(2)
 *   tight, tight2    a filter that kills for all but read, write, exit and exit_group
 *   returns          the same, with rt_sigreturn
 *   loose            one that lets getppid fail and permits the rest
 *   second           loose, then tight
 *   nosy             one that lets process_vm_readv fail, while a timer's signal comes
 *   threads, tsync   tight, while other threads work; for all of them
 *   null             what the kernel refuses: no filter at all
 *   child            tight, in a fork child
 *   raw              tight, by a system call of its own
 * wait: it begins when something can be read. Says "right: HOW" and exits with 7.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 20000
#define STATUS 7
#define KILL SECCOMP_RET_KILL_PROCESS
#define LOAD_NR \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define SAY(nr, what)                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW(nr) SAY(nr, SECCOMP_RET_ALLOW)

long victim_function(long n);
long short_function(long n);
static volatile int wrong, working;
static volatile long signals;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1 + n / 7 - n / 7;
}

/* A jump has no room here. */
__attribute__((noipa, naked)) long short_function(long n)
{
	__asm__("ret");
}

static void work(long calls)
{
	long i;

	for (i = 0; i < calls; i++) {
		if (victim_function(i) != i * 3 + 1)
			wrong = 1;
		short_function(i);
	}
}

static void *worker(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	__atomic_fetch_add(&working, 1, __ATOMIC_RELEASE);
	for (;;)
		work(100);
	return NULL;
}

static void start_workers(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, worker, NULL))
			exit(2);
	while (__atomic_load_n(&working, __ATOMIC_ACQUIRE) < 2)
		usleep(1000);
}

static void on_signal(int sig)
{
	(void)sig;
	if (victim_function(5) != 16)
		wrong = 1;
	signals++;
}

static void start_timer(void)
{
	struct itimerval each = { { 0, 500 }, { 0, 500 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &each, NULL);
	while (!signals)
		work(10);
}

enum way { BY_PRCTL, BY_SECCOMP, BY_TSYNC, RAW };

static long raw_seccomp(struct sock_fprog *prog)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER),
			   "S"(0l), "d"(prog)
			 : "rcx", "r11", "memory");
	return ret;
}

static void install(enum way way, struct sock_filter *code, size_t n)
{
	struct sock_fprog prog = { (unsigned short)n, code };
	long ret;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (way == RAW)
		ret = raw_seccomp(&prog);
	else if (way == BY_PRCTL)
		ret = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
	else
		ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      way == BY_TSYNC ? SECCOMP_FILTER_FLAG_TSYNC : 0,
			      &prog);
	if (ret)
		_exit(3);
}

static void tight(enum way way, int returns)
{
	struct sock_filter code[] = {
		LOAD_NR,
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(returns ? SYS_rt_sigreturn : SYS_write),
		BPF_STMT(BPF_RET | BPF_K, KILL),
	};

	install(way, code, sizeof(code) / sizeof(code[0]));
}

static void fails(int nr)
{
	struct sock_filter code[] = {
		LOAD_NR,
		SAY(nr, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	install(BY_SECCOMP, code, sizeof(code) / sizeof(code[0]));
}

static void refused(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1 ||
	    errno != EFAULT)
		wrong = 1;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) != -1 ||
	    errno != EINVAL)
		wrong = 1;
}

static int is(const char *how, const char *name)
{
	return !strcmp(how, name);
}

static void confine(const char *how)
{
	if (is(how, "strict") && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(3);
	else if (is(how, "strict2") &&
		 syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL))
		_exit(3);
	else if (is(how, "tight") || is(how, "threads") || is(how, "child"))
		tight(BY_PRCTL, 0);
	else if (is(how, "tight2"))
		tight(BY_SECCOMP, 0);
	else if (is(how, "tsync"))
		tight(BY_TSYNC, 0);
	else if (is(how, "returns"))
		tight(BY_PRCTL, 1);
	else if (is(how, "raw"))
		tight(RAW, 0);
	else if (is(how, "nosy"))
		fails(SYS_process_vm_readv);
	else if (is(how, "loose") || is(how, "second"))
		fails(SYS_getppid);
	else if (is(how, "null"))
		refused();
}

static void say(const char *what)
{
	if (write(1, what, strlen(what)) < 0)
		wrong = 1;
}

static void end(const char *how)
{
	say(wrong ? "wrong: " : "right: ");
	say(how);
	say("\n");
	if (is(how, "strict") || is(how, "strict2"))
		syscall(SYS_exit, STATUS);
	_exit(STATUS);
}

static void make_child(const char *how)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		work(CALLS);
		confine(how);
		work(CALLS);
		end(how);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != STATUS)
		wrong = 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char c;

	if (argc > 2) {
		say("waits\n");
		if (read(0, &c, 1) != 1)
			return 2;
	}
	if (is(how, "threads") || is(how, "tsync"))
		start_workers();
	if (is(how, "nosy"))
		start_timer();
	work(CALLS);
	if (is(how, "child")) {
		make_child(how);
	} else {
		confine(how);
		if (is(how, "second")) {
			work(CALLS);
			tight(BY_SECCOMP, 0);
		}
	}
	work(CALLS);
	end(how);
	return 0;
}
