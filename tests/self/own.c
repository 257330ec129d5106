// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own: what the library calls itself is none of the program's hits; what anybody
 * else calls meanwhile is.
 */
#include "tap.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned long handled;
static pthread_t main_thread;
static unsigned long on_main;

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	on_main += pthread_self() == main_thread;
	return 0;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return pre(NULL, regs);
}

static void none(void *arg, const char *line)
{
}

/* All that a program may ask of the library. */
static void ask(void)
{
	struct kprobe kp = { .symbol_name = "qsort", .pre_handler = pre };
	struct kretprobe rp = { .kp.symbol_name = "qsort", .handler = entry };

	if (register_kprobe(&kp) || register_kretprobe(&rp))
		abort();
	if (disable_kprobe(&kp) || enable_kprobe(&kp) ||
	    disable_kretprobe(&rp) || enable_kretprobe(&rp))
		abort();
	dp_kprobes_list(none, NULL);
	dp_kprobes_blacklist(none, NULL);
	get_kprobe(kp.addr);
	dp_kprobe_hits(&kp);
	dp_kprobes_optimization(0);
	dp_kprobes_optimization(1);
	unregister_kretprobe(&rp);
	unregister_kprobe(&kp);
}

/* By threads that have come to a probe before, and by those that have not. */
static void *ask_often(void *arg)
{
	int i;

	for (i = 0; i < 3; i++)
		ask();
	return NULL;
}

static void ask_on_new_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask_often, NULL))
		abort();
	pthread_join(thread, NULL);
}

static const char *const names[] = {
	"memcpy",
	"memset",
	"strlen",
	"strcmp",
	"strchr",
	"malloc",
	"calloc",
	"realloc",
	"free",
	"open64",
	"close",
	"read",
	"pread64",
	"syscall",
	"getpid",
	"sysconf",
	"nanosleep",
	"sched_yield",
	"snprintf",
	"vsnprintf",
	"pthread_mutex_lock",
	"pthread_mutex_unlock",
	"pthread_mutex_trylock",
	"pthread_sigmask",
	"pthread_setcancelstate",
	"sigfillset",
	"sigdelset",
	"dl_iterate_phdr",
	"mmap64",
	"munmap",
	"mprotect",
	"fopen64",
	"getenv",
	"__errno_location",
};

static void own_calls(const char *name)
{
	struct kprobe kp = { .symbol_name = name, .pre_handler = pre };
	struct kretprobe rp = { .kp.symbol_name = name,
				.handler = entry,
				.entry_handler = entry };

	if (!dlsym(RTLD_DEFAULT, name))
		return;
	handled = 0;
	if (register_kprobe(&kp)) {
		skip(name, dp_last_diag()->text);
		return;
	}
	ask();
	unregister_kprobe(&kp);
	ok(!handled && !kp.nmissed, "%s: %lu hits by a kprobe", name, handled);
	if (register_kretprobe(&rp))
		return;
	ask();
	unregister_kretprobe(&rp);
	ok(!handled, "%s: %lu hits by a return probe", name, handled);
}

static void new_thread(void)
{
	struct kprobe kp = { .symbol_name = "pthread_mutex_lock",
			     .pre_handler = pre };
	unsigned long before;

	/* What it takes to make a thread is the program's. */
	is(register_kprobe(&kp), 0, "another thread");
	handled = 0;
	ask_on_new_thread();
	before = handled;
	handled = 0;
	ask_on_new_thread();
	is(handled, before, "makes as many hits each time");
	unregister_kprobe(&kp);
	ok(before < 20, "and those are not the library's: %lu", before);
}

/* --- others' --- */

static bool stop;
static unsigned long calls;

static void *call(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		getpid();
		__atomic_store_n(&calls, calls + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void beside(void)
{
	struct kprobe kp = { .symbol_name = "getpid", .pre_handler = pre };
	pthread_t thread;
	int i;

	handled = on_main = 0;
	is(register_kprobe(&kp), 0, "while another thread calls it");
	if (pthread_create(&thread, NULL, call, NULL))
		abort();
	while (!__atomic_load_n(&calls, __ATOMIC_RELAXED))
		sched_yield();
	for (i = 0; i < 50; i++)
		ask();
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	unregister_kprobe(&kp);
	ok(calls && handled - on_main == calls,
	   "each of its %lu calls has run the handler", calls);
	is(on_main, 0, "and none of ours");
}

/* A signal's handler is the program, wherever the signal comes. */
static unsigned long signals;

static void on_signal(int sig)
{
	getppid();
	signals++;
}

static void in_signals(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } },
			       never = { 0 };
	struct kprobe kp = { .symbol_name = "getppid", .pre_handler = pre };
	double end = seconds() + 1;

	handled = 0;
	signal(SIGALRM, on_signal);
	is(register_kprobe(&kp), 0, "while signals come");
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 300 && seconds() < end + 30)
		ask();
	setitimer(ITIMER_REAL, &never, NULL);
	unregister_kprobe(&kp);
	ok(signals >= 300 && handled == signals,
	   "%lu of their handlers' %lu calls have run ours", handled, signals);
}

static void call_in_list(void *arg, const char *line)
{
	getppid();
}

static void in_callbacks(void)
{
	struct kprobe kp = { .symbol_name = "getppid", .pre_handler = pre };
	int n;

	handled = 0;
	is(register_kprobe(&kp), 0, "what the program is called back for");
	is(dp_kprobes_list(call_in_list, NULL), 1, "a line");
	is(handled, 1, "is the program's");
	n = dp_kprobes_blacklist(call_in_list, NULL);
	ok(n > 0 && handled == 1 + (unsigned long)n, "also of the other list");
	unregister_kprobe(&kp);
}

int main(void)
{
	struct kprobe first = { .symbol_name = "getpid", .pre_handler = pre };
	size_t i;

	main_thread = pthread_self();
	is(register_kprobe(&first), 0, "the first probe of all");
	is(handled, 0, "is not hit by what prepares the process");
	unregister_kprobe(&first);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		own_calls(names[i]);
	new_thread();
	beside();
	in_signals();
	in_callbacks();
	return plan();
}
