// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* knobs: the list of probes, the two knobs, and what is optimised when. */
#include "conform.h"
#include "victims.h"
#include <pthread.h>
#include <regex.h>
#include <signal.h>

#define OPTIMIZED "[OPTIMIZED]"

static bool optimized(const void *addr)
{
	return listed(addr, OPTIMIZED);
}

/* What stands at an address. */
static unsigned char byte_at(const void *addr)
{
	return *(const volatile unsigned char *)addr;
}

/* The list, the flag and the text say the same. [row 269] */
static void optimized_is(int line, struct kprobe *kp, bool wanted)
{
	wanted = wanted && jumps();
	conform_eq(__FILE__, line, "[OPTIMIZED]", optimized(kp->addr), wanted);
	conform_eq(__FILE__, line, "KPROBE_FLAG_OPTIMIZED",
		   !!(kp->flags & KPROBE_FLAG_OPTIMIZED), wanted);
	conform_eq(__FILE__, line, "the first byte", byte_at(kp->addr),
		   wanted ? 0xe9 : 0xcc);
}
#define check_optimized(kp, wanted) optimized_is(__LINE__, kp, wanted)

/* What is a jump where the others are, by the way they are written. */
enum { NEVER, INTERIOR, ALWAYS };

static bool becomes_jump(int when)
{
	const char *arm = getenv("DPROBES_ARM");

	return when == ALWAYS ||
	       (when == INTERIOR && (!arm || !strcmp(arm, "interior")));
}

/* --- optimisation --- */

TEST_STILL(row_053_087_breakpoints_become_jumps)
{
	struct kprobe kp = probe_at(v_mov_at);
	int i;

	must(register_kprobe(&kp));
	check_optimized(&kp, true);
	for (i = 0; i < ROUNDS; i++)
		check_eq(v_mov(0, 0), 7);
	check_eq(counts.pre, ROUNDS);
	unregister_kprobe(&kp);
	check_eq(byte_at(v_mov_at), 0xb8);
	check_eq(counts.pre, ROUNDS);
}

/* Not only those whose first instruction has room for a jump. */
TEST_STILL(row_056_082_what_cannot_be_optimised_is_still_probed)
{
	const struct {
		void *addr;
		int when;
	} at[] = { { (void *)c_plain, ALWAYS },
		   { (void *)c_recurse, ALWAYS },
		   { (void *)v_into, INTERIOR },
		   { (void *)v_tiny, INTERIOR },
		   { (void *)v_ret_only, ALWAYS },
		   { (void *)v_switch, ALWAYS },
		   { v_syscall_at, NEVER },
		   { (void *)c_static_caller, ALWAYS } };
	struct kprobe kp[COUNT(at)];
	unsigned int i;

	for (i = 0; i < COUNT(at); i++) {
		kp[i] = probe_at(at[i].addr);
		must(register_kprobe(&kp[i]));
		check_optimized(&kp[i], becomes_jump(at[i].when));
	}
	check_eq(c_plain(1, 1) + c_recurse(0) + v_into(1, 0) + v_tiny(0, 0) +
			 v_switch(0, 0) + c_static_caller(0),
		 4 + 0 + 1 + 0 + 3 + 1001);
	v_ret_only();
	check_eq(v_syscall(0, 0), getpid());
	check_eq(counts.pre, COUNT(at));
	for (i = 0; i < COUNT(at); i++)
		unregister_kprobe(&kp[i]);
}

TEST_STILL(row_022_a_break_handler_suppresses_optimisation)
{
	struct kprobe kp = probe_at(v_mov_at);

	kp.break_handler = count_pre;
	must(register_kprobe(&kp));
	check_optimized(&kp, false);
	v_mov(0, 0);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

TEST_STILL(row_023_switching_it_off_suppresses_optimisation)
{
	struct kprobe kp = probe_at(v_mov_at);

	check_eq(dp_kprobes_optimization(0), 0);
	must(register_kprobe(&kp));
	check_optimized(&kp, false);
	unregister_kprobe(&kp);
}

TEST_STILL(row_065_a_post_handler_suppresses_optimisation)
{
	struct kprobe kp = { .addr = v_mov_at, .post_handler = count_post };

	must(register_kprobe(&kp));
	check_optimized(&kp, false);
	v_mov(0, 0);
	check_eq(counts.post, 1);
	unregister_kprobe(&kp);
}

TEST_STILL(row_067_a_disabled_probe_is_not_optimised)
{
	struct kprobe kp = probe_at(v_mov_at);

	must(register_kprobe(&kp));
	must(disable_kprobe(&kp));
	check(!optimized(v_mov_at));
	check(!(kp.flags & KPROBE_FLAG_OPTIMIZED));
	check_eq(byte_at(v_mov_at), 0xb8);
	must(enable_kprobe(&kp));
	check_optimized(&kp, true);
	unregister_kprobe(&kp);
}

TEST_STILL(row_068_optimised_when_the_reason_against_it_is_gone)
{
	struct kprobe kp = probe_at(v_mov_at);
	struct kprobe post = { .addr = v_mov_at, .post_handler = count_post };

	must(register_kprobe(&post));
	must(register_kprobe(&kp));
	check_optimized(&kp, false);
	unregister_kprobe(&post);
	check_optimized(&kp, true);
	must(register_kprobe(&post));
	check_optimized(&kp, false);
	v_mov(0, 0);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 1);
	unregister_kprobe(&post);
	unregister_kprobe(&kp);
}

TEST_STILL(row_144_a_post_handler_at_an_optimised_place_takes_it_back)
{
	struct kprobe kp = probe_at(v_mov_at);
	struct kprobe post = { .addr = v_mov_at, .post_handler = count_post };

	must(register_kprobe(&kp));
	check_optimized(&kp, true);
	must(register_kprobe(&post));
	check_optimized(&kp, false);
	check_eq(v_mov(0, 0), 7);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 1);
	unregister_kprobe(&post);
	unregister_kprobe(&kp);
}

static unsigned long j_mov(unsigned long a, unsigned long b)
{
	count(&counts.entry);
	jprobe_return();
	return 0;
}

TEST_STILL(row_144_a_jprobe_at_an_optimised_place_takes_it_back)
{
	struct kprobe kp = probe_at(v_mov);
	struct jprobe jp = { .kp.addr = (void *)v_mov, .entry = (void *)j_mov };

	must(register_kprobe(&kp));
	check_optimized(&kp, true);
	must(register_jprobe(&jp));
	check_optimized(&kp, false);
	check_eq(v_mov(0, 0), 7);
	check_eq(counts.pre, 1);
	check_eq(counts.entry, 1);
	unregister_jprobe(&jp);
	check_optimized(&kp, true);
	unregister_kprobe(&kp);
}

/* A second probe in the region: whatever is done, nothing is missed. */
TEST_STILL(row_066_another_probe_in_the_region)
{
	struct kprobe first = probe_at(v_chain_0), second = probe_at(v_chain_2);

	must(register_kprobe(&first));
	must(register_kprobe(&second));
	check_eq(v_chain(1, 0), 7);
	check_eq(dp_kprobe_hits(&first), 1);
	check_eq(dp_kprobe_hits(&second), 1);
	unregister_kprobe(&first);
	check_eq(v_chain(1, 0), 7);
	check_eq(dp_kprobe_hits(&second), 2);
	counts.pre = 0;
	must(register_kprobe(&first));
	unregister_kprobe(&second);
	check_eq(v_chain(1, 0), 7);
	check_eq(counts.pre, 1);
	unregister_kprobe(&first);
}

/* What a jump displaces of the next function begins with breakpoints there, so
 * whoever comes in by its own name is sent on; see doc/differences.md. */
TEST_STILL(row_057_081_a_region_may_not_be_entered_from_the_next_function)
{
	struct kprobe kp = probe_at(v_tiny);
	struct conform_text next = text_of(v_tiny2);
	int i;

	must(register_kprobe(&kp));
	for (i = 0; i < 100; i++) {
		check_eq(v_tiny(0, 0), 0);
		check_eq(v_tiny2(0, 0), 22);
	}
	check_eq(counts.pre, 100);
	unregister_kprobe(&kp);
	check(text_same(&next));
}

static void loop_into(int index)
{
	unsigned long i;

	for (i = 1; i < ROUNDS; i++)
		check_eq(v_into(i, 0), i);
}

TEST(row_060_080_branches_into_the_region_work)
{
	struct kprobe kp = probe_at(v_into);

	must(register_kprobe(&kp));
	in_threads(loop_into);
	check_eq(dp_kprobe_hits(&kp), (ROUNDS - 1ul) * conform_threads());
	unregister_kprobe(&kp);
}

static void switch_often(int index)
{
	unsigned long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(v_switch(i % 3, 0), 3 - i % 3);
}

TEST(row_058_functions_with_indirect_jumps_work)
{
	struct kprobe kp = probe_at(v_switch);

	must(register_kprobe(&kp));
	in_threads(switch_often);
	check_eq(counts.pre, (unsigned long)ROUNDS * conform_threads());
	unregister_kprobe(&kp);
}

/* A relocated call, branch and address in the region. */
TEST(row_061_078_079_instructions_of_the_region_work_from_their_copies)
{
	struct kprobe kp[] = { probe_at(v_call),    probe_at(v_jcc),
			       probe_at(v_lea_rip), probe_at(v_loop),
			       probe_at(v_jrcxz),   probe_at(v_call_mem) };
	unsigned int i;

	for (i = 0; i < COUNT(kp); i++)
		must(register_kprobe(&kp[i]));
	check_eq(v_call(1, 0), 5);
	check_eq(v_jcc(0, 0), 1);
	check_eq(v_jcc(1, 0), 2);
	check_eq(v_lea_rip(0, 0), (unsigned long)&v_data);
	check_eq(v_loop(1, 0), 1);
	check_eq(v_loop(2, 0), 2);
	check_eq(v_jrcxz(0, 0), 2);
	check_eq(v_jrcxz(1, 0), 1);
	check_eq(v_call_mem(1, 0), 5);
	check_eq(counts.pre, 9);
	for (i = 0; i < COUNT(kp); i++)
		unregister_kprobe(&kp[i]);
}

TEST_STILL(row_074_unregistered_disabled_or_blocked_is_unoptimised)
{
	struct conform_text text = text_of(v_mov);
	struct kprobe kp = probe_at(v_mov_at);

	must(register_kprobe(&kp));
	check_optimized(&kp, true);
	must(disable_kprobe(&kp));
	check(text_same(&text));
	must(enable_kprobe(&kp));
	unregister_kprobe(&kp);
	check(text_same(&text));
	check(!(kp.flags & KPROBE_FLAG_OPTIMIZED));
}

/* What is restored in place of a jump: everything but the first byte. */
TEST_STILL(row_076_an_unoptimised_probe_has_its_code_but_a_breakpoint)
{
	struct conform_text text = text_of(v_mov);
	struct kprobe kp = probe_at(v_mov_at);

	must(register_kprobe(&kp));
	check_eq(dp_kprobes_optimization(0), 0);
	check_optimized(&kp, false);
	check(!memcmp((char *)v_mov + 1, text.bytes + 1, 63));
	check_eq(v_mov(0, 0), 7);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	check(text_same(&text));
}

/* --- the optimisation knob --- */

TEST_STILL(row_195_the_optimisation_knob_can_be_asked)
{
	check_eq(dp_kprobes_optimization(-1), 1);
	check_eq(dp_kprobes_optimization(0), 0);
	check_eq(dp_kprobes_optimization(-1), 0);
	check_eq(dp_kprobes_optimization(1), 1);
	check_eq(dp_kprobes_optimization(-1), 1);
}

TEST_STILL(row_196_optimisation_is_allowed_by_default)
{
	struct kprobe kp = probe_at(v_mov_at);

	must(register_kprobe(&kp));
	check_optimized(&kp, true);
	unregister_kprobe(&kp);
}

TEST_STILL(row_197_zero_takes_optimisation_back_and_stops_it)
{
	struct kprobe kp = probe_at(v_mov_at), later = probe_at(v_call_at);

	must(register_kprobe(&kp));
	check_eq(dp_kprobes_optimization(0), 0);
	check_optimized(&kp, false);
	must(register_kprobe(&later));
	check_optimized(&later, false);
	check_eq(v_mov(0, 0), 7);
	check_eq(v_call(1, 0), 5);
	check_eq(counts.pre, 2);
	unregister_kprobe(&kp);
	unregister_kprobe(&later);
}

TEST_STILL(row_198_on_again_they_are_optimised_again)
{
	struct kprobe kp = probe_at(v_mov_at), later = probe_at(v_call_at);

	must(register_kprobe(&kp));
	check_eq(dp_kprobes_optimization(0), 0);
	must(register_kprobe(&later));
	check_eq(dp_kprobes_optimization(1), 1);
	check_optimized(&kp, true);
	check_optimized(&later, true);
	check_eq(v_mov(0, 0), 7);
	check_eq(v_call(1, 0), 5);
	check_eq(counts.pre, 2);
	unregister_kprobe(&kp);
	unregister_kprobe(&later);
}

static bool toggling;

static void *toggle_both(void *arg)
{
	while (__atomic_load_n(&toggling, __ATOMIC_ACQUIRE)) {
		check_eq(dp_kprobes_optimization(0), 0);
		check_eq(dp_kprobes_optimization(1), 1);
	}
	return NULL;
}

static void call_chain(int index)
{
	unsigned long i;

	for (i = 0; i < 5000; i++) {
		check_eq(v_mov(0, 0), 7);
		check_eq(v_chain(i, 0), i + 6);
	}
}

TEST_STILL(row_198_no_hit_is_missed_while_it_is_switched)
{
	unsigned long wanted = 5000ul * conform_threads();
	struct kprobe kp[] = { probe_at(v_mov_at), probe_at(v_chain_0),
			       probe_at(v_chain_5) };
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < COUNT(kp); i++)
		must(register_kprobe(&kp[i]));
	toggling = true;
	check(!pthread_create(&thread, NULL, toggle_both, NULL));
	in_threads(call_chain);
	__atomic_store_n(&toggling, false, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	for (i = 0; i < COUNT(kp); i++) {
		check_eq(dp_kprobe_hits(&kp[i]), wanted);
		check_eq(kp[i].nmissed, 0);
		unregister_kprobe(&kp[i]);
	}
}

/* --- the "enabled" knob --- */

static bool asking;

/* It blocks what a breakpoint raises all the while, and comes to one then. */
static void *ask(void *arg)
{
	sigset_t all, old;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (rc >= 0 && __atomic_load_n(&asking, __ATOMIC_RELAXED))
		rc = arg ? dp_kprobes_enabled(1) : dp_kprobes_optimization(!rc);
	c_plain(1, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &old);
	check_eq(sigismember(&old, SIGTRAP), 1);
	check_eq(sigismember(&old, SIGSEGV), 1);
	check_eq(sigismember(&old, SIGUSR1), 1);
	return (void *)(long)(rc < 0 ? rc : 0);
}

/* Before there is anything to be turned, and while it comes. */
TEST_STILL(row_195_the_knobs_while_the_first_probe_comes)
{
	struct kprobe kp = probe_at(c_plain);
	pthread_t threads[8];
	unsigned long i;
	void *rc;

	asking = true;
	for (i = 0; i < COUNT(threads); i++)
		check(!pthread_create(&threads[i], NULL, ask, (void *)(i & 1)));
	must(register_kprobe(&kp));
	__atomic_store_n(&asking, false, __ATOMIC_RELAXED);
	for (i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &rc);
		check_eq((long)rc, 0);
	}
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.pre, 1 + COUNT(threads));
	unregister_kprobe(&kp);
}

TEST(row_192_all_probes_are_on_by_default)
{
	check_eq(dp_kprobes_enabled(-1), 1);
}

TEST(row_193_zero_disarms_all_until_one)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);
	struct kretprobe rp = retprobe_at(c_other);

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	check_eq(dp_kprobes_enabled(0), 0);
	check_eq(dp_kprobes_enabled(-1), 0);
	check(text_same(&text));
	check_eq(c_plain(1, 1) + c_other(1, 1), 10);
	check_eq(counts.pre + counts.ret, 0);
	check_eq(kp.nmissed, 0);
	check_eq(dp_kprobes_enabled(1), 1);
	check_eq(c_plain(1, 1) + c_other(1, 1), 10);
	check_eq(counts.pre, 1);
	check_eq(counts.ret, 1);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
}

TEST(row_193_probes_registered_meanwhile_wait_for_it)
{
	struct kprobe kp = probe_at(c_plain);

	check_eq(dp_kprobes_enabled(0), 0);
	must(register_kprobe(&kp));
	c_plain(1, 1);
	check_eq(counts.pre, 0);
	check_eq(dp_kprobes_enabled(1), 1);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	check_eq(dp_kprobes_enabled(0), 0);
	unregister_kprobe(&kp);
	check_eq(dp_kprobes_enabled(1), 1);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
}

TEST(row_194_the_knob_leaves_each_probes_own_state_alone)
{
	struct kprobe on = probe_at(c_plain), off = probe_at(c_other),
		      later = probe_at(c_third);

	must(register_kprobe(&on));
	must(register_kprobe(&off));
	must(register_kprobe(&later));
	must(disable_kprobe(&off));
	check_eq(dp_kprobes_enabled(0), 0);
	check(!listed(c_plain, "[DISABLED]"));
	check(listed(c_other, "[DISABLED]"));
	must(disable_kprobe(&later));
	check_eq(dp_kprobes_enabled(1), 1);
	c_plain(1, 1);
	c_other(1, 1);
	c_third(1, 1);
	check_eq(counts.pre, 1);
	check_eq(dp_kprobe_hits(&on), 1);
	check(listed(c_other, "[DISABLED]"));
	must(enable_kprobe(&off));
	c_other(1, 1);
	check_eq(counts.pre, 2);
	unregister_kprobe(&on);
	unregister_kprobe(&off);
	unregister_kprobe(&later);
}

TEST(row_194_enabling_one_does_not_overrule_the_knob)
{
	struct kprobe kp = probe_at(c_plain);

	kp.flags = KPROBE_FLAG_DISABLED;
	must(register_kprobe(&kp));
	check_eq(dp_kprobes_enabled(0), 0);
	must(enable_kprobe(&kp));
	c_plain(1, 1);
	check_eq(counts.pre, 0);
	check_eq(dp_kprobes_enabled(1), 1);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

/* --- the list --- */

static void matches(const char *line, const char *pattern)
{
	regex_t regex;

	check(line);
	check(!regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB));
	if (regexec(&regex, line, 0, NULL, 0))
		conform_fail(__FILE__, __LINE__, "\"%s\" does not match \"%s\"",
			     line, pattern);
	regfree(&regex);
}

TEST(row_183_the_list_has_all_registered_probes)
{
	struct kprobe kp[3] = { probe_at(c_plain), probe_at(c_plain),
				probe_at(c_other) };
	struct kretprobe rp = retprobe_at(c_third);
	int i;

	check_eq(list_length(), 0);
	for (i = 0; i < 3; i++)
		must(register_kprobe(&kp[i]));
	must(register_kretprobe(&rp));
	check_eq(list_length(), 4);
	for (i = 0; i < 3; i++)
		unregister_kprobe(&kp[i]);
	check_eq(list_length(), 1);
	unregister_kretprobe(&rp);
	check_eq(list_length(), 0);
}

TEST(row_184_the_first_column_is_the_address)
{
	struct kprobe kp = probe_at(v_push_next);
	char wanted[32];

	must(register_kprobe(&kp));
	snprintf(wanted, sizeof(wanted), "%016lx  k  ",
		 (unsigned long)v_push_next);
	check(!strncmp(list_line(v_push_next, 0), wanted, strlen(wanted)));
	unregister_kprobe(&kp);
}

TEST(row_185_the_second_column_is_the_kind)
{
	struct kprobe kp = probe_at(v_mov);
	struct kretprobe rp = retprobe_at(v_mov);
	struct jprobe jp = { .kp.addr = (void *)v_mov, .entry = (void *)j_mov };

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	must(register_jprobe(&jp));
	check(list_line(v_mov, 'k'));
	check(list_line(v_mov, 'r'));
	check(list_line(v_mov, 'j'));
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
	unregister_jprobe(&jp);
}

TEST(row_186_the_third_column_is_symbol_and_offset)
{
	struct kprobe kp = probe_at(v_push_next), entry = probe_at(c_plain);
	struct kprobe in_static = { .symbol_name = "c_static_function" };
	struct kprobe in_libc = { .symbol_name = "getppid" };

	must(register_kprobe(&kp));
	must(register_kprobe(&entry));
	must(register_kprobe(&in_static));
	must(register_kprobe(&in_libc));
	matches(list_line(kp.addr, 0), "^[0-9a-f]{16}  k  v_push\\+0x1   ");
	matches(list_line(entry.addr, 0), "^[0-9a-f]{16}  k  c_plain\\+0x0   ");
	matches(list_line(in_static.addr, 0),
		"^[0-9a-f]{16}  k  c_static_function\\+0x0   ");
	matches(list_line(in_libc.addr, 0),
		"^[0-9a-f]{16}  k  getppid\\+0x0  libc\\.so\\.6 ");
	unregister_kprobe(&kp);
	unregister_kprobe(&entry);
	unregister_kprobe(&in_static);
	unregister_kprobe(&in_libc);
}

TEST(row_189_disabled_probes_are_marked)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	check(!listed(c_plain, "[DISABLED]"));
	must(disable_kprobe(&kp));
	matches(list_line(c_plain, 0), "c_plain\\+0x0   *\\[DISABLED\\]$");
	must(enable_kprobe(&kp));
	check(!listed(c_plain, "[DISABLED]"));
	unregister_kprobe(&kp);
}

TEST(row_191_no_probe_is_ever_marked_ftrace)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	check(!listed(c_plain, "[FTRACE]"));
	check(!(kp.flags & KPROBE_FLAG_FTRACE));
	unregister_kprobe(&kp);
}

TEST_STILL(row_190_optimised_probes_are_marked_and_only_they)
{
	struct kprobe kp[] = { probe_at(v_mov), probe_at(v_tiny),
			       probe_at(c_plain), probe_at(v_ret_only),
			       probe_at(v_syscall_at) };
	static const int when[] = { ALWAYS, INTERIOR, ALWAYS, ALWAYS, NEVER };
	unsigned int i;

	for (i = 0; i < COUNT(kp); i++)
		must(register_kprobe(&kp[i]));
	for (i = 0; i < COUNT(kp); i++)
		check_optimized(&kp[i], becomes_jump(when[i]));
	if (jumps())
		matches(list_line(v_mov, 0), "v_mov\\+0x0   *\\[OPTIMIZED\\]$");
	check_eq(dp_kprobes_enabled(0), 0);
	for (i = 0; i < COUNT(kp); i++)
		check(!optimized(kp[i].addr));
	check_eq(dp_kprobes_enabled(1), 1);
	for (i = 0; i < COUNT(kp); i++)
		unregister_kprobe(&kp[i]);
}
