// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* state: what a program has besides registers is as before behind a probe. */
#include "conform.h"
#include "victims.h"
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* An ordinary handler that clobbers all it may. */
static void (*clobber)(void);
static bool aligned = true;

static __attribute__((noinline)) void clobber_x87(void)
{
	volatile long double a = 1, b = 3;

	a = a / b * 7 + b;
	fesetround(FE_UPWARD);
	feraiseexcept(FE_ALL_EXCEPT);
	__asm__ volatile("fldpi; fldpi; fstp %%st(0); fstp %%st(0)"
			 :
			 :
			 : "st", "st(1)");
}

static void clobber_all(void)
{
	char text[64];
	struct {
		char c[16];
	} __attribute__((aligned(16))) local;

	__asm__ volatile("" : : "r"(&local) : "memory");
	aligned &= !((unsigned long)&local & 15);
	errno = 99;
	snprintf(text, sizeof(text), "%.3f %d", sqrt(2.0) * 3, 17);
	if (clobber)
		clobber();
	clobber_x87();
	errno = 98;
}

static int clobbering_pre(struct kprobe *p, struct pt_regs *regs)
{
	clobber_all();
	count(&counts.pre);
	return 0;
}

static void clobbering_post(struct kprobe *p, struct pt_regs *regs,
			    unsigned long flags)
{
	clobber_all();
	count(&counts.post);
}

/* Runs @test with a probe at @at that has a pre_handler, and with both. */
static void with_probe(void *at, void (*test)(int index))
{
	struct kprobe kp = { .addr = at, .pre_handler = clobbering_pre };

	must(register_kprobe(&kp));
	in_threads(test);
	unregister_kprobe(&kp);
	kp.post_handler = clobbering_post;
	must(register_kprobe(&kp));
	in_threads(test);
	unregister_kprobe(&kp);
	check(aligned);
	check(counts.pre > 0);
	check(counts.post > 0);
}

static void errno_test(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		errno = 5 + index;
		check_eq(c_plain(i, 1), 3 * i + 1);
		check_eq(errno, 5 + index);
	}
}

TEST(row_115_errno_is_preserved)
{
	with_probe((void *)c_plain, errno_test);
}

static void fenv_test(int index)
{
	static const int modes[] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD,
				     FE_TOWARDZERO };
	int i, mode = modes[index % 4];

	for (i = 0; i < ROUNDS; i++) {
		check(!fesetround(mode));
		feclearexcept(FE_ALL_EXCEPT);
		feraiseexcept(FE_INEXACT);
		c_plain(i, 1);
		check_eq(fegetround(), mode);
		check_eq(fetestexcept(FE_ALL_EXCEPT), FE_INEXACT);
	}
	fesetround(FE_TONEAREST);
	feclearexcept(FE_ALL_EXCEPT);
}

TEST(row_115_rounding_and_exceptions_are_preserved)
{
	with_probe((void *)c_plain, fenv_test);
}

/* Exceptions that the program has unmasked are not raised by handlers. */
static void unmasked_test(int index)
{
	int i;

	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
	for (i = 0; i < 20; i++)
		c_plain(i, 1);
	check_eq(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
	fedisableexcept(FE_ALL_EXCEPT);
}

static int inexact_pre(struct kprobe *p, struct pt_regs *regs)
{
	volatile double zero = 0, one = 1, r;

	r = one / zero;
	count(isinf(r) ? &counts.pre : &counts.fault);
	return 0;
}

TEST(row_115_handlers_begin_with_masked_exceptions)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = inexact_pre };

	must(register_kprobe(&kp));
	in_threads(unmasked_test);
	check_eq(counts.pre, 20ul * conform_threads());
	check_eq(counts.fault, 0);
	unregister_kprobe(&kp);
}

/* --- vector registers --- */

#define VECTORS (32 * 64 + 8 * 8)

static void (*load_and_store)(const void *in, void *out);
static unsigned int vector_bytes;

static void vector_test(int index)
{
	unsigned char in[VECTORS], out[VECTORS];
	unsigned int i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < VECTORS; i++)
			in[i] = i * 7 + index + round;
		memset(out, 0, sizeof(out));
		load_and_store(in, out);
		check(!memcmp(in, out, vector_bytes));
	}
}

TEST(row_115_sse_registers_are_preserved)
{
	clobber = clobber_xmm;
	load_and_store = v_xmm;
	vector_bytes = 16 * 16;
	with_probe(v_xmm_at, vector_test);
}

TEST(row_115_avx_registers_are_preserved)
{
	if (!__builtin_cpu_supports("avx2"))
		conform_skip("no AVX2 here");
	clobber = clobber_ymm;
	load_and_store = v_ymm;
	vector_bytes = 16 * 32;
	with_probe(v_ymm_at, vector_test);
}

TEST(row_115_avx512_registers_are_preserved)
{
	if (!__builtin_cpu_supports("avx512f") ||
	    !__builtin_cpu_supports("avx512bw"))
		conform_skip("no AVX-512 here");
	clobber = clobber_zmm;
	load_and_store = v_zmm;
	vector_bytes = VECTORS;
	with_probe(v_zmm_at, vector_test);
}

static void x87_test(int index)
{
	static const unsigned short words[] = { 0x37f, 0x27f, 0xf7f, 0x77f };
	unsigned long out[10];
	double got;
	int i, round;

	for (round = 0; round < 20; round++) {
		v_x87(words[(round + index) % 4], out);
		for (i = 0; i < 8; i++) {
			memcpy(&got, &out[i], sizeof(got));
			check(got == i + 1);
		}
		check_eq(out[8], words[(round + index) % 4]);
		check_eq(out[9], 0);
	}
}

TEST(row_115_a_full_x87_stack_is_preserved)
{
	with_probe(v_x87_at, x87_test);
}

/* --- stack and flags --- */

static void redzone_test(int index)
{
	unsigned long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(v_redzone(i * 1000, 0), 0);
}

TEST(row_115_the_red_zone_is_preserved)
{
	with_probe(v_redzone_at, redzone_test);
}

#define DF 0x400

static void df_test(int index)
{
	int i;

	for (i = 0; i < 20; i++)
		check(v_df(0, 0) & DF);
}

static bool df_clear = true;

static int copying_pre(struct kprobe *p, struct pt_regs *regs)
{
	char from[100] = "direction", to[100];
	unsigned long flags;

	memmove(to, from, sizeof(to));
	flags = __builtin_ia32_readeflags_u64();
	df_clear &= !(flags & DF) && !strcmp(to, from);
	df_clear &= !!(regs->flags & DF);
	count(&counts.pre);
	return 0;
}

TEST(row_115_the_direction_flag_is_clear_in_handlers_and_preserved)
{
	struct kprobe kp = { .addr = v_df_at, .pre_handler = copying_pre };

	with_probe(v_df_at, df_test);
	counts.pre = 0;
	must(register_kprobe(&kp));
	in_threads(df_test);
	check(df_clear);
	check_eq(counts.pre, 20ul * conform_threads());
	unregister_kprobe(&kp);
}

static int deep_pre(struct kprobe *p, struct pt_regs *regs)
{
	volatile char room[DP_HANDLER_STACK - 4096];

	room[0] = room[sizeof(room) - 1] = 1;
	memset((void *)room, 0x55, sizeof(room));
	count(&counts.pre);
	return room[100] != 0x55;
}

/* The probed code's own stack need not be deep: a signal frame fits in there and
 * little more. */
#define SMALL 16384

static void small_stack_test(int index)
{
	unsigned char *stack = mmap(NULL, 2 * SMALL, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, k;

	check(stack != MAP_FAILED);
	check(!mprotect(stack, SMALL, PROT_NONE));
	for (i = 0; i < 20; i++)
		for (k = 0; k < 16; k += 3)
			check_eq(v_on_stack(v_returns, 5,
					    stack + 2 * SMALL - 64 - k),
				 105);
	munmap(stack, 2 * SMALL);
}

TEST(row_115_handlers_have_a_stack_of_their_own)
{
	struct kprobe kp = { .addr = (void *)v_returns,
			     .pre_handler = deep_pre };

	check(SMALL <= DP_HANDLER_STACK);
	must(register_kprobe(&kp));
	in_threads(small_stack_test);
	check(counts.pre > 0);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
}

/* --- threads' own things --- */

static __thread long own_number;
static __thread pid_t own_tid;

static int thread_pre(struct kprobe *p, struct pt_regs *regs)
{
	count(own_number == (long)regs->di && syscall(SYS_gettid) == own_tid ?
		      &counts.pre :
		      &counts.fault);
	return 0;
}

static void thread_test(int index)
{
	int i;

	own_tid = syscall(SYS_gettid);
	for (i = 0; i < ROUNDS; i++) {
		own_number = index * 1000 + i;
		c_plain(own_number, 1);
	}
}

TEST(row_115_handlers_run_as_part_of_the_thread_that_hit)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = thread_pre };

	must(register_kprobe(&kp));
	in_threads(thread_test);
	check_eq(counts.pre, (unsigned long)ROUNDS * conform_threads());
	check_eq(counts.fault, 0);
	unregister_kprobe(&kp);
}

/* The kernel's idea of the mask, in its 8 bytes. */
static unsigned long kernel_mask(void)
{
	unsigned long mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
	return mask;
}

/* What is blocked while a handler runs. */
static unsigned long mask_in_pre, mask_in_post, mask_in_ret;

static int mask_pre(struct kprobe *p, struct pt_regs *regs)
{
	mask_in_pre = kernel_mask();
	return 0;
}

static void mask_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	mask_in_post = kernel_mask();
}

static int mask_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	mask_in_ret = kernel_mask();
	return 0;
}

#define BIT_OF(sig) (1ul << ((sig)-1))
#define ASYNCHRONOUS \
	(BIT_OF(SIGUSR1) | BIT_OF(SIGTERM) | BIT_OF(SIGINT) | BIT_OF(SIGALRM))
#define SYNCHRONOUS \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGFPE) | BIT_OF(SIGILL))

/* Behind a breakpoint signals wait; behind a jump they come as ever. Those of
 * faults are never blocked, or a handler's fault would kill. */
TEST_STILL(row_157_which_signals_are_blocked_in_handlers)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = mask_pre };
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.handler = mask_ret };
	unsigned long before = kernel_mask(), in_trap;

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	v_mov(0, 0);
	c_plain(1, 1);
	check_eq(mask_in_ret & (ASYNCHRONOUS | SYNCHRONOUS), 0);
	in_trap = jumps() ? before : before | ASYNCHRONOUS;
	check_eq(mask_in_pre & ASYNCHRONOUS, in_trap & ASYNCHRONOUS);
	check_eq(mask_in_pre & SYNCHRONOUS, 0);
	unregister_kprobe(&kp);
	kp.post_handler = mask_post;
	must(register_kprobe(&kp));
	v_mov(0, 0);
	check_eq(mask_in_pre & ASYNCHRONOUS, ASYNCHRONOUS);
	check_eq(mask_in_post & ASYNCHRONOUS, ASYNCHRONOUS);
	check_eq((mask_in_pre | mask_in_post) & SYNCHRONOUS, 0);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
	check_eq(kernel_mask(), before);
}

static void mask_test(int index)
{
	unsigned long before;
	sigset_t set, now;
	int i, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1 + (index & 1) * (SIGUSR2 - SIGUSR1));
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	before = kernel_mask();
	for (i = 0; i < ROUNDS; i++) {
		c_plain(i, 1);
		check_eq(kernel_mask(), before);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (sig = 1; sig < 32; sig++)
		check_eq(sigismember(&now, sig), sigismember(&set, sig));
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

TEST(row_157_the_signal_mask_is_as_before_behind_a_probe)
{
	with_probe((void *)c_plain, mask_test);
}

static void all_blocked_test(int index)
{
	sigset_t set, now;
	int i;

	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	for (i = 0; i < 20; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	check(sigismember(&now, SIGTRAP));
	check(sigismember(&now, SIGSEGV));
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

TEST(row_157_a_thread_that_blocks_every_signal_can_be_probed)
{
	with_probe((void *)c_plain, all_blocked_test);
}

/* The same where it was blocked before the library was asked for anything. */
TEST(row_157_signals_blocked_before_the_first_probe)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = count_pre,
			     .post_handler = count_post };
	sigset_t set, now;

	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	must(register_kprobe(&kp));
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	check(sigismember(&now, SIGTRAP));
	unregister_kprobe(&kp);
	check_eq(c_plain(1, 1), 4);
}

/* --- the short path --- */

static unsigned long gpr_hits;

DP_HANDLER_GPR static int gpr_pre(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&gpr_hits, 1, __ATOMIC_RELAXED);
	regs->si += 10;
	return 0;
}

DP_HANDLER_GPR static void gpr_post(struct kprobe *p, struct pt_regs *regs,
				    unsigned long flags)
{
	__atomic_fetch_add(&gpr_hits, 1, __ATOMIC_RELAXED);
}

static void gpr_test(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 3 * i + 11);
}

TEST(row_010_a_handler_that_uses_general_registers_only)
{
	struct kprobe kp = { .addr = (void *)c_plain, .pre_handler = gpr_pre };
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();

	must(register_kprobe(&kp));
	in_threads(gpr_test);
	unregister_kprobe(&kp);
	check_eq(gpr_hits, wanted);
	kp.post_handler = gpr_post;
	must(register_kprobe(&kp));
	in_threads(gpr_test);
	unregister_kprobe(&kp);
	check_eq(gpr_hits, 3 * wanted);
}

DP_HANDLER_GPR static int gpr_count(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&gpr_hits, 1, __ATOMIC_RELAXED);
	return 0;
}

TEST(row_010_vector_registers_are_preserved_on_the_short_path)
{
	struct kprobe kp = { .addr = v_xmm_at, .pre_handler = gpr_count };

	load_and_store = v_xmm;
	vector_bytes = 16 * 16;
	must(register_kprobe(&kp));
	in_threads(vector_test);
	check_eq(gpr_hits, 20ul * conform_threads());
	unregister_kprobe(&kp);
}
