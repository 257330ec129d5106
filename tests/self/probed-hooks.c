// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probed-hooks: probes at the nops of hooks, whichever comes and goes first.
 *   HOOK_ROUNDS=N   how often exits come and go under threads
 */
#include "tap.h"
#include <dprobes/hooks.h>
#include <dprobes/kprobes.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

DECLARE_HOOK(probed, unsigned int *);
DECLARE_HOOK(beside, unsigned int *);
DECLARE_HOOK(covered, unsigned int *);
DECLARE_HOOK(begun);

extern const char before_covered[];

static __attribute__((noinline)) unsigned int run_probed(void)
{
	unsigned int bits = 0;

	HOOK(probed, &bits);
	return bits;
}

static __attribute__((noinline)) unsigned int run_beside(void)
{
	unsigned int bits = 0;

	HOOK(beside, &bits);
	return bits;
}

/* A jump at the short instruction in front has the hook's nop in its region. */
static __attribute__((noinline)) unsigned int run_covered(void)
{
	unsigned int bits = 0;

	__asm__ volatile(".globl before_covered\n"
			 "before_covered: nop\n" ::"r"(&bits)
			 : "memory");
	HOOK(covered, &bits);
	return bits;
}

/* Its first instruction is the nop. */
static __attribute__((noipa, no_sanitize("thread"))) void begin(void)
{
	HOOK(begun);
}

static unsigned long late, hits[3];
static int closed;

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
BIT_EXIT(probed_one, probed, 1);
BIT_EXIT(probed_two, probed, 2);
BIT_EXIT(beside_four, beside, 4);
BIT_EXIT(covered_eight, covered, 8);

static struct gkh_rec one = { .hook = GKH_HOOK(probed), .exit = probed_one },
		      two = { .hook = GKH_HOOK(probed), .exit = probed_two },
		      four = { .hook = GKH_HOOK(beside), .exit = beside_four },
		      eight = { .hook = GKH_HOOK(covered),
				.exit = covered_eight };

static const unsigned char *place_of(const struct gkh_hook *h)
{
	const struct gkh_point *p = __start_gkh_points;

	while (p->hook != h)
		p++;
	return (const unsigned char *)&p->at + p->at;
}

static bool is_nop(const struct gkh_hook *h)
{
	static const unsigned char nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };

	return !memcmp(place_of(h), nop, sizeof(nop));
}

static int note_hit(struct kprobe *p, struct pt_regs *regs);
static struct kprobe kps[3];

static int note_hit(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&hits[p - kps], 1, __ATOMIC_RELAXED);
	return 0;
}

static int probe(int i, const void *at)
{
	kps[i] = (struct kprobe){ .addr = (void *)at, .pre_handler = note_hit };
	return register_kprobe(&kps[i]);
}

/* Return: how many probes see a pass, and bits of the exits that do: 0xPE */
static unsigned int pass(unsigned int (*run)(void))
{
	unsigned int bits;

	memset(hits, 0, sizeof(hits));
	bits = run();
	return (unsigned int)(hits[0] + hits[1] + hits[2]) << 4 | bits;
}

static void probe_then_arm(void)
{
	const void *at = place_of(GKH_HOOK(probed));

	is(probe(0, at), 0, "a probe at a dormant hook");
	is(gkh_register(&one) || gkh_arm(&one), 0, "whose exit is armed then");
	is(pass(run_probed), 0x11, "a pass is seen by both");
	is(probe(1, at), 0, "one more probe comes");
	is(gkh_register(&two) || gkh_arm(&two), 0, "and one more exit");
	is(pass(run_probed), 0x23, "all see a pass");
	ok(get_kprobe((void *)at) == &kps[0] ||
		   get_kprobe((void *)at) == &kps[1],
	   "who asks for a probe there gets the program's own");
	unregister_kprobe(&kps[0]);
	unregister_kprobe(&kps[1]);
	is(pass(run_probed), 3, "probes go, and exits stay");
	is(probe(2, at), 0, "a probe comes to the armed hook");
	is(pass(run_probed), 0x13, "and is hit, too");
	is(gkh_deregister(&one) || gkh_disarm(&two), 0, "exits go");
	is(pass(run_probed), 0x10, "and the probe stays");
	is(gkh_arm(&two), 0, "an exit is armed again");
	is(pass(run_probed), 0x12, "and called");
	is(gkh_deregister(&two), 0, "it goes");
	unregister_kprobe(&kps[2]);
	is(is_nop(GKH_HOOK(probed)), 1, "the text is as before");
	is(pass(run_probed), 0, "nothing sees a pass");
}

static void arm_then_probe(void)
{
	const void *at = place_of(GKH_HOOK(probed));

	is(gkh_register(&one) || gkh_arm(&one) || probe(0, at), 0,
	   "a hook is armed, and then probed");
	is(pass(run_probed), 0x11, "a pass is seen by both");
	is(gkh_disarm(&one), 0, "the exit is disarmed");
	is(pass(run_probed), 0x10, "and the probe is left");
	is(gkh_arm(&one), 0, "armed again");
	is(pass(run_probed), 0x11, "both see a pass");
	unregister_kprobe(&kps[0]);
	is(pass(run_probed), 1, "the probe goes");
	is(gkh_deregister(&one), 0, "and the exit");
	is(is_nop(GKH_HOOK(probed)), 1, "the text is as before");
}

static void covered_nop(void)
{
	is(probe(0, before_covered), 0, "a probe in front of a hook");
	is(gkh_register(&eight) || gkh_arm(&eight), 0, "the hook is armed");
	is(pass(run_covered), 0x18, "both see a pass");
	unregister_kprobe(&kps[0]);
	is(pass(run_covered), 8, "the probe goes, and the exit stays");
	is(gkh_deregister(&eight), 0, "it goes");
	is(is_nop(GKH_HOOK(covered)), 1, "the text is as before");
}

static int begins, jumps;

static int count_begin(struct gkh_hook *h, struct gkh_args *a)
{
	begins++;
	return GKH_CONTINUE;
}

static void jumped(void)
{
	jumps++;
	jprobe_return();
}

/* A jprobe's handler and the code of an armed hook would each go on instead of the nop. */
static void beside_jprobe(void)
{
	struct jprobe j = { .kp.addr = (void *)begin, .entry = jumped };
	struct gkh_rec rec = { .hook = GKH_HOOK(begun), .exit = count_begin };

	is(place_of(GKH_HOOK(begun)) == (void *)begin, 1,
	   "a hook begins a function");
	is(register_jprobe(&j) || gkh_register(&rec), 0, "with a jprobe");
	is(gkh_arm(&rec), -EBUSY, "the hook is not armed");
	ok(strstr(dp_last_diag()->text, "hook begun cannot be armed") &&
		   strstr(dp_last_diag()->text, "jprobe"),
	   "for that reason: %s", dp_last_diag()->text);
	begin();
	is(jumps == 1 && !begins, 1, "the jprobe is hit");
	unregister_jprobe(&j);
	is(probe(0, (void *)begin) || gkh_arm(&rec), 0,
	   "with a probe instead, it is armed");
	is(register_jprobe(&j), -EBUSY, "and the jprobe does not come");
	ok(strstr(dp_last_diag()->text, "hook"), "for that reason: %s",
	   dp_last_diag()->text);
	begin();
	is(begins == 1 && jumps == 1 && hits[0] == 1, 1, "the exit is called");
	is(gkh_deregister(&rec), 0, "it goes");
	unregister_kprobe(&kps[0]);
	is(is_nop(GKH_HOOK(begun)), 1, "the text is as before");
}

/* It has its parent's exits, and no probes. */
static int in_child(void)
{
	if (pass(run_probed) != 1)
		return 1;
	if (gkh_register(&two) || gkh_arm(&two))
		return 2;
	if (pass(run_probed) != 3)
		return 3;
	if (gkh_deregister(&one) || gkh_deregister(&two))
		return 4;
	return pass(run_probed) || !is_nop(GKH_HOOK(probed)) ? 5 : 0;
}

static void forked(void)
{
	int status = -1;
	pid_t pid;

	is(probe(0, place_of(GKH_HOOK(probed))) || gkh_register(&one) ||
		   gkh_arm(&one),
	   0, "a probed hook is armed");
	pid = fork();
	if (!pid)
		_exit(in_child());
	waitpid(pid, &status, 0);
	is(WIFEXITED(status) ? WEXITSTATUS(status) : -status, 0,
	   "a fork child has the exits of its parent's hook");
	is(pass(run_probed), 0x11, "the parent's are as before");
	is(gkh_deregister(&one), 0, "the exit goes");
	unregister_kprobe(&kps[0]);
}

/* A foreign breakpoint is in nobody's table. */
static void foreign(void)
{
	unsigned char *at = (void *)place_of(GKH_HOOK(beside)), byte = 0xcc;
	int fd = open("/proc/self/mem", O_RDWR);

	if (fd < 0 || pwrite(fd, &byte, 1, (off_t)at) != 1)
		return;
	is(gkh_register(&four), 0,
	   "an exit at a hook with a foreign breakpoint");
	is(gkh_arm(&four), -EBUSY, "is refused");
	ok(strstr(dp_last_diag()->text, "hook beside cannot be armed") &&
		   strstr(dp_last_diag()->text, "breakpoint"),
	   "with words: %s", dp_last_diag()->text);
	byte = 0x0f;
	is((long)pwrite(fd, &byte, 1, (off_t)at), 1, "the breakpoint goes");
	close(fd);
	is(gkh_arm(&four), 0, "and the exit comes");
	is(pass(run_beside), 4, "and is called");
	is(gkh_deregister(&four), 0, "it goes");
}

/* --- threads --- */

static bool is_running = true;
static unsigned long torn, passes;

static void *run_through(void *unused)
{
	unsigned long n = 0, bad = 0;
	unsigned int bits;

	while (__atomic_load_n(&is_running, __ATOMIC_RELAXED)) {
		bits = run_probed();
		bad += bits != 0 && bits != 3;
		bits = run_beside();
		bad += bits != 0 && bits != 4;
		bits = run_covered();
		bad += bits != 0 && bits != 8;
		if (++n % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_add(&torn, bad, __ATOMIC_RELAXED);
	__atomic_fetch_add(&passes, n, __ATOMIC_RELAXED);
	return NULL;
}

/* Exits come at probed hooks, and go before the probes, or behind them. */
static int come_and_go(unsigned int i)
{
	const void *at = i % 3 == 2 ? before_covered :
				      (void *)place_of(GKH_HOOK(probed));
	int err = 0;

	if (i & 1)
		err = probe(1, at);
	__atomic_store_n(&closed, 0, __ATOMIC_RELEASE);
	if (!err)
		err = gkh_register(&one) ?: gkh_arm(&one);
	if (!(i & 1) && !err)
		err = probe(1, at);
	if (i & 2)
		unregister_kprobe(&kps[1]);
	if (!err)
		err = gkh_deregister(&one);
	__atomic_store_n(&closed, 1, __ATOMIC_RELEASE);
	if (!(i & 2))
		unregister_kprobe(&kps[1]);
	return err;
}

static void storm(void)
{
	long rounds = amount("HOOK_ROUNDS", 100), i;
	pthread_t t[THREADS];
	int err, k;

	one.next = &two;
	two.next = &four;
	four.next = &eight;
	err = probe(0, place_of(GKH_HOOK(covered)));
	memset(hits, 0, sizeof(hits));
	for (k = 0; k < THREADS; k++)
		pthread_create(&t[k], NULL, run_through, NULL);
	for (i = 0; i < rounds && !err; i++)
		err = come_and_go((unsigned int)i);
	is(err, 0, "exits and probes come and go under eight threads");
	__atomic_store_n(&is_running, false, __ATOMIC_RELAXED);
	for (k = 0; k < THREADS; k++)
		pthread_join(t[k], NULL);
	is((long)torn, 0, "each pass saw all exits of its hook, or none");
	is((long)late, 0, "no exit was called when it had been deregistered");
	ok(passes && hits[0] == passes,
	   "the probe that stayed has seen each pass: %lu of %lu", hits[0],
	   passes);
	unregister_kprobe(&kps[0]);
	is(gkh_register(&one) || gkh_deregister(&one), 0, "one more call");
	is(is_nop(GKH_HOOK(probed)) && is_nop(GKH_HOOK(beside)) &&
		   is_nop(GKH_HOOK(covered)),
	   1, "the text is as before");
	one.next = two.next = four.next = NULL;
}

int main(void)
{
	probe_then_arm();
	arm_then_probe();
	covered_nop();
	hits[0] = 0;
	beside_jprobe();
	forked();
	foreign();
	storm();
	return plan();
}
