// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handlers: what can befall a handler: recursion, signals, jumps out of them, the
 * end of its thread, faults, and its own removal; and nmissed, exactly.
 */
#include "tests/self/self.h"
#include <sys/time.h>

#define ALT_SIZE 65536

__attribute__((noinline, noclone, noipa)) static long first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

__attribute__((noinline, noclone, noipa)) static long second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 5 + 2;
}

__attribute__((noinline, noclone, noipa)) static long deep(long a);
static long (*volatile deeper)(long a) = deep;

static long deep(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a ? deeper(a - 1) + 1 : 0;
}

/* There a breakpoint has every signal blocked, and they come afterwards. */
static bool by_trap(void)
{
	const char *how = getenv("DPROBES_ARM");

	return how && !strcmp(how, "trap");
}

static volatile long runs;

static int just_count(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	return 0;
}

/* --- recursion --- */

static int calls_probed(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	second(1);
	first(2);
	deep(3);
	return 0;
}

static int recursion(void *arg)
{
	struct kprobe a = { .addr = (void *)first,
			    .pre_handler = calls_probed };
	struct kprobe b = { .addr = (void *)second,
			    .pre_handler = calls_probed };
	struct kprobe c = { .addr = (void *)second, .pre_handler = just_count };
	struct kretprobe r = { .kp.addr = (void *)deep };
	long i;

	EXPECT(!register_kprobe(&a) && !register_kprobe(&b) &&
	       !register_kprobe(&c) && !register_kretprobe(&r));
	for (i = 0; i < 1000; i++)
		EXPECT(first(i) == i * 3 + 1);
	EXPECT(runs == 1000);
	EXPECT(a.nmissed == 1000 && b.nmissed == 1000 && c.nmissed == 1000);
	EXPECT(r.kp.nmissed == 4000 && r.nmissed == 0);
	EXPECT(dp_kprobe_hits(&a) == 1000 && !dp_kprobe_hits(&b));
	EXPECT(second(1) == 7);
	EXPECT(runs == 1002);
	/* Another time nothing is left of that. */
	unregister_kprobe(&a);
	a.addr = (void *)first;
	EXPECT(!register_kprobe(&a));
	EXPECT(!a.nmissed && !dp_kprobe_hits(&a));
	return 0;
}

/* --- a second registration is refused, and changes nothing --- */

static int twice(void *arg)
{
	struct kprobe a = { .addr = (void *)first,
			    .pre_handler = calls_probed };
	struct kprobe *two[] = { &a, &a };
	struct kretprobe r = { .kp.addr = (void *)second };
	struct kretprobe *rs[] = { &r, &r };

	EXPECT(register_kprobes(two, 2) == -EINVAL);
	EXPECT(first(1) == 4 && !runs);
	EXPECT(!register_kprobe(&a));
	first(1);
	EXPECT(a.nmissed == 1);
	EXPECT(register_kprobe(&a) == -EINVAL);
	EXPECT(a.nmissed == 1 && a.addr == (void *)first);
	first(1);
	EXPECT(runs == 2 && a.nmissed == 2);
	EXPECT(register_kretprobes(rs, 2) == -EINVAL);
	EXPECT(!register_kretprobe(&r));
	EXPECT(register_kretprobe(&r) == -EINVAL);
	return 0;
}

__asm__(".text\n"
	".type torn, @function\n"
	"torn:\n"
	".cfi_startproc\n"
	"nop\n .byte 0x06\n ret\n"
	".cfi_endproc\n"
	".size torn, .-torn\n");
void torn(void);

/* A function that no decoder understands may look at its return address, and its ends
 * are not known. */
static int torn_code(void *arg)
{
	struct kretprobe r = { .kp.addr = (void *)torn };

	EXPECT(register_kretprobe(&r) == -EINVAL);
	r.kp.flags = KPROBE_FLAG_UNWIND;
	EXPECT(register_kretprobe(&r) == -EINVAL);
	EXPECT(strstr(dp_last_diag()->text, "cannot be read"));
	return 0;
}

/* --- signals in handlers --- */

static char alt[ALT_SIZE];
static sigjmp_buf out;
static volatile int leave_by_jump, raised, on_alt;
static volatile long in_signal;

static void on_usr(int sig)
{
	char here;

	in_signal++;
	on_alt = &here - alt < ALT_SIZE && &here >= alt;
	if (second(10) != 52)
		abort();
	if (leave_by_jump)
		siglongjmp(out, 1);
}

static int raises(struct kprobe *p, struct pt_regs *regs)
{
	volatile long canary[32];
	int i;

	runs++;
	for (i = 0; i < 32; i++)
		canary[i] = i * 7;
	if (raised)
		syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	for (i = 0; i < 32; i++)
		if (canary[i] != i * 7)
			abort();
	return 0;
}

static void take_signals(int flags)
{
	struct sigaction act = { .sa_handler = on_usr, .sa_flags = flags };

	sigaction(SIGUSR1, &act, NULL);
}

static void use_alt(void)
{
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };

	sigaltstack(&ss, NULL);
}

/* @arg: 0 on the thread's stack, 1 on an alternate one, 2 on one that is set when
 * the library knows the thread already */
static int signals(void *arg)
{
	long how = (long)arg, i;
	struct kprobe a = { .addr = (void *)first, .pre_handler = raises };
	struct kprobe b = { .addr = (void *)second, .pre_handler = just_count };
	stack_t ss;

	if (how == 1)
		use_alt();
	take_signals(how ? SA_ONSTACK : 0);
	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	first(1);
	if (how == 2)
		use_alt();
	runs = 0;
	raised = 1;
	for (i = 0; i < 100; i++)
		EXPECT(first(i) == i * 3 + 1);
	EXPECT(in_signal == 100 && on_alt == !!how);
	EXPECT(runs == 100 && b.nmissed == 100 && !a.nmissed);
	/* Out of the signal handler by a jump: the next hit counts again. */
	leave_by_jump = 1;
	for (i = 0; i < 100; i++) {
		if (!sigsetjmp(out, 1))
			first(i);
		EXPECT(b.nmissed == 101 + (unsigned long)i);
	}
	raised = 0;
	EXPECT(second(1) == 7 && first(1) == 4);
	EXPECT(runs == 202);
	sigaltstack(NULL, &ss);
	EXPECT(how ? ss.ss_sp == alt && !ss.ss_flags :
		     ss.ss_flags == SS_DISABLE);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	return 0;
}

/* After a jump out of a handler only signal handlers on the alternate stack hit
 * anything: these are no longer inside that handler. */
static int jumped_out(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = raises };
	struct kprobe b = { .addr = (void *)second, .pre_handler = just_count };
	int i;

	use_alt();
	take_signals(SA_ONSTACK);
	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	raised = leave_by_jump = 1;
	if (!sigsetjmp(out, 1))
		first(1);
	leave_by_jump = 0;
	EXPECT(runs == 1 && b.nmissed == 1);
	for (i = 0; i < 10; i++)
		raise(SIGUSR1);
	EXPECT(runs == 11 && b.nmissed == 1);
	return 0;
}

/* A handler on behalf of a signal handler on the alternate stack is interrupted
 * by another signal, and left: the alternate stack is there again. */
static void on_usr2(int sig)
{
	raised = leave_by_jump = 1;
	first(1);
}

static int alternate_back(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = raises };
	struct sigaction act = { .sa_handler = on_usr2,
				 .sa_flags = SA_ONSTACK };
	stack_t ss;
	int i;

	use_alt();
	take_signals(SA_ONSTACK);
	sigaction(SIGUSR2, &act, NULL);
	EXPECT(!register_kprobe(&a));
	for (i = 0; i < 10; i++) {
		if (!sigsetjmp(out, 1))
			raise(SIGUSR2);
		raised = leave_by_jump = 0;
		first(1);
		sigaltstack(NULL, &ss);
		EXPECT(ss.ss_sp == alt && ss.ss_size == sizeof(alt) &&
		       !ss.ss_flags);
	}
	return 0;
}

/* --- unregistering waits for nobody who will not come --- */

static volatile int gone_out, stop_spinning;

static void *jumps_out_and(void *arg)
{
	if (!sigsetjmp(out, 1))
		first(1);
	gone_out = 1;
	if (arg)
		pause();
	while (!stop_spinning)
		continue;
	return NULL;
}

static int left_behind(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = raises };
	pthread_t thread;

	take_signals(0);
	raised = leave_by_jump = 1;
	EXPECT(!register_kprobe(&a));
	pthread_create(&thread, NULL, jumps_out_and, arg);
	while (!gone_out)
		usleep(1000);
	unregister_kprobe(&a);
	stop_spinning = 1;
	return 0;
}

/* --- threads that end --- */

static volatile int nr_ends;

static int ends(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&nr_ends, 1, __ATOMIC_RELEASE);
	syscall(SYS_exit, 0);
	return 0;
}

static void *ends_inside(void *arg)
{
	if (arg)
		deep(20);
	first(1);
	return NULL;
}

static int thread_ends(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = ends };
	pthread_t thread;
	int i;

	for (i = 0; i < 20; i++) {
		EXPECT(!register_kprobe(&a));
		pthread_create(&thread, NULL, ends_inside, NULL);
		pthread_detach(thread);
		while (nr_ends == i)
			sched_yield();
		unregister_kprobe(&a);
	}
	return 0;
}

static int cancels(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	usleep(100);
	return 0;
}

static void *is_cancelled(void *arg)
{
	for (;;) {
		first(1);
		pthread_testcancel();
	}
	return NULL;
}

static int cancelled(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = cancels };
	pthread_t thread;
	long before;
	int i;

	for (i = 0; i < 20; i++) {
		EXPECT(!register_kprobe(&a));
		before = runs;
		pthread_create(&thread, NULL, is_cancelled, NULL);
		while (runs == before)
			sched_yield();
		pthread_cancel(thread);
		unregister_kprobe(&a);
		if (pthread_join(thread, NULL))
			return 2;
	}
	return 0;
}

/* More threads than there are stacks, one after the other and many at once. */
static pthread_barrier_t together;

static void *lives_briefly(void *arg)
{
	first(1);
	deep(3);
	if (arg)
		pthread_barrier_wait(&together);
	return NULL;
}

static int many_threads(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = just_count };
	struct kretprobe r = { .kp.addr = (void *)deep, .maxactive = 4096 };
	pthread_t threads[300];
	pthread_attr_t attr;
	long i, n = amount("THREADS", 4500);

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	EXPECT(!register_kprobe(&a) && !register_kretprobe(&r));
	for (i = 0; i < n; i++) {
		EXPECT(!pthread_create(&threads[0], &attr, lives_briefly,
				       NULL));
		pthread_join(threads[0], NULL);
	}
	EXPECT(runs == n && !a.nmissed && !r.nmissed && !r.kp.nmissed);
	pthread_barrier_init(&together, NULL, 300);
	for (i = 0; i < 300; i++)
		EXPECT(!pthread_create(&threads[i], &attr, lives_briefly, &a));
	for (i = 0; i < 300; i++)
		pthread_join(threads[i], NULL);
	EXPECT(!a.nmissed && dp_kprobe_hits(&a) == (unsigned long)n + 300);
	unregister_kprobe(&a);
	unregister_kretprobe(&r);
	return 0;
}

/* --- unregistering from a handler --- */

static struct kprobe *itself, *other;
static struct kretprobe *follower;

static int removes(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	unregister_kprobe(itself);
	if (other)
		unregister_kprobe(other);
	if (follower)
		unregister_kretprobe(follower);
	return 0;
}

static int touched(const void *what, size_t n)
{
	const unsigned char *p = what;

	while (n--)
		if (*p++ != 0xa5)
			return 1;
	return 0;
}

static int from_handler(void *arg)
{
	struct kretprobe *r = calloc(1, sizeof(*r));
	struct text text;
	int i;

	text = text_of("/proc/self/exe");
	text_note(&text);
	for (i = 0; i < 100; i++) {
		itself = calloc(1, sizeof(*itself));
		other = calloc(1, sizeof(*other));
		follower = r = calloc(1, sizeof(*r));
		itself->addr = (void *)first;
		itself->pre_handler = removes;
		other->addr = (void *)second;
		other->pre_handler = just_count;
		r->kp.addr = (void *)deep;
		EXPECT(!register_kprobe(itself) && !register_kprobe(other) &&
		       !register_kretprobe(r));
		runs = 0;
		EXPECT(first(1) == 4);
		EXPECT(itself->addr == (void *)first);
		memset(itself, 0xa5, sizeof(*itself));
		memset(other, 0xa5, sizeof(*other));
		memset(r, 0xa5, sizeof(*r));
		EXPECT(first(1) == 4 && second(1) == 7 && deep(4) == 4);
		EXPECT(runs == 1);
		/* The next call of the library takes them away. */
		dp_kprobes_enabled(-1);
		EXPECT(first(1) == 4 && second(1) == 7 && deep(4) == 4);
		EXPECT(!text_differs(&text));
		EXPECT(!touched(itself, sizeof(*itself)) &&
		       !touched(other, sizeof(*other)) &&
		       !touched(r, sizeof(*r)));
		free(itself);
		free(other);
		free(r);
	}
	return 0;
}

/* While another thread changes probes all the time. */
static void *changes(void *arg)
{
	struct kprobe a = { .addr = (void *)second, .pre_handler = just_count };

	while (!stop_spinning) {
		register_kprobe(&a);
		unregister_kprobe(&a);
	}
	return NULL;
}

static int from_handler_busy(void *arg)
{
	pthread_t thread;
	int i;

	pthread_create(&thread, NULL, changes, NULL);
	for (i = 0; i < 2000; i++) {
		itself = calloc(1, sizeof(*itself));
		itself->addr = (void *)first;
		itself->pre_handler = removes;
		EXPECT(!register_kprobe(itself));
		first(1);
		runs = 0;
		first(1);
		EXPECT(!runs);
		dp_kprobes_enabled(-1);
		EXPECT(!get_kprobe((void *)first));
		free(itself);
	}
	stop_spinning = 1;
	pthread_join(thread, NULL);
	return 0;
}

static int calls_library(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe b = { .addr = (void *)deep };

	runs += register_kprobe(&b) == -EAGAIN;
	runs += disable_kprobe(p) == -EAGAIN;
	runs += dp_kprobes_enabled(0) == -EAGAIN;
	runs += !get_kprobe(p->addr);
	return 0;
}

static int others_from_handler(void *arg)
{
	struct kprobe a = { .addr = (void *)first,
			    .pre_handler = calls_library };

	EXPECT(!register_kprobe(&a));
	first(1);
	EXPECT(runs == 4);
	return 0;
}

/* What a handler finds in its probe is complete when it is first called. */
static volatile int bad_addr;

static int looks(struct kprobe *p, struct pt_regs *regs)
{
	if ((unsigned long)p->addr + 1 != regs->ip)
		bad_addr++;
	return 0;
}

static void *calls_second(void *arg)
{
	while (!stop_spinning)
		second(1);
	return NULL;
}

static int complete(void *arg)
{
	struct kprobe a = { .pre_handler = looks };
	pthread_t thread;
	char name[32];
	int i;

	snprintf(name, sizeof(name), "second");
	pthread_create(&thread, NULL, calls_second, NULL);
	for (i = 0; i < 1000; i++) {
		a.symbol_name = "second";
		a.addr = NULL;
		EXPECT(!register_kprobe(&a));
		unregister_kprobe(&a);
	}
	stop_spinning = 1;
	pthread_join(thread, NULL);
	EXPECT(!bad_addr);
	return 0;
}

/* A return handler does not run any more when its probe has gone. */
static volatile int unregistered, late, go_back;

static int returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	late += unregistered;
	runs++;
	return 0;
}

__attribute__((noinline, noclone, noipa)) static long waits(long a)
{
	while (!go_back)
		__asm__ volatile("pause");
	return a;
}

static void *calls_waits(void *arg)
{
	return (void *)waits((long)arg);
}

static int away(void *arg)
{
	pthread_t thread;
	void *result;
	int i;

	for (i = 0; i < 200; i++) {
		struct kretprobe r = { .kp.addr = (void *)waits,
				       .handler = returns };

		go_back = unregistered = 0;
		EXPECT(!register_kretprobe(&r));
		pthread_create(&thread, NULL, calls_waits, (void *)5);
		usleep(i % 20 * 20);
		if (i % 2)
			go_back = 1;
		unregister_kretprobe(&r);
		unregistered = 1;
		memset(&r, 0xa5, sizeof(r));
		go_back = 1;
		pthread_join(thread, &result);
		EXPECT(result == (void *)5 && !late);
	}
	return 0;
}

/* --- a signal handler needs much stack, while a handler in C is interrupted --- */

static volatile long deep_signals;

static void needs_stack(int sig)
{
	volatile char room[DP_SIGNAL_STACK - 16384]; /* less the kernel's frame */

	memset((void *)room, sig, sizeof(room));
	deep_signals += room[sizeof(room) / 2] == sig;
}

static int is_interrupted(struct kprobe *p, struct pt_regs *regs)
{
	volatile char room[DP_HANDLER_STACK - 4096];

	memset((void *)room, 1, sizeof(room));
	raise(SIGUSR1);
	runs += room[sizeof(room) / 2];
	return 0;
}

static int much_stack(void *arg)
{
	struct kprobe k = { .addr = (void *)first,
			    .pre_handler = is_interrupted };
	struct sigaction sa = { .sa_handler = needs_stack };

	sigaction(SIGUSR1, &sa, NULL);
	EXPECT(!register_kprobe(&k));
	EXPECT(first(1) == 4 && runs == 1 && deep_signals == 1);
	unregister_kprobe(&k);
	return 0;
}

int main(void)
{
	ok_child(recursion, NULL, 20, "a handler that calls probed functions");
	ok_child(twice, NULL, 20, "a probe is registered twice");
	ok_child(torn_code, NULL, 20, "a return probe on torn code");
	if (by_trap()) {
		skip("signals in handlers", "they are blocked");
		goto others;
	}
	ok_child(signals, (void *)0, 20, "signals in handlers");
	ok_child(signals, (void *)1, 20, "… on an alternate stack");
	ok_child(signals, (void *)2, 20, "… that comes later");
	ok_child(much_stack, NULL, 20, "… that need much stack");
	ok_child(jumped_out, NULL, 20, "a thread that has left is not inside");
	ok_child(alternate_back, NULL, 20, "its alternate stack is back");
	ok_child(left_behind, (void *)1, 20,
		 "who left and sleeps is not waited for");
	ok_child(left_behind, NULL, 20, "who left and runs is not waited for");
others:
	ok_child(thread_ends, NULL, 20, "a thread ends in a handler");
	ok_child(cancelled, NULL, 20, "a thread is cancelled in a handler");
	ok_child(many_threads, NULL, 120, "more threads than stacks");
	ok_child(from_handler, NULL, 20, "unregistering from a handler");
	ok_child(from_handler_busy, NULL, 60, "… while others change probes");
	ok_child(others_from_handler, NULL, 20, "the rest is refused there");
	ok_child(complete, NULL, 20, "a probe is complete when it is hit");
	ok_child(away, NULL, 30, "no return handler after unregistering");
	return plan();
}
