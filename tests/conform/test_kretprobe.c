// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kretprobe: calls that are tracked to their return. */
#include "conform.h"
#include "victims.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#define MAGIC 0x5eedul

/* --- what handlers see --- */

static struct kretprobe_instance *seen_at_entry, *seen_at_return;
static struct kretprobe *seen_probe;
static unsigned long seen_ret_addr, seen_ip, seen_value;
static const void *seen_task[2];

static int see_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.entry);
	seen_at_entry = ri;
	seen_task[0] = ri->task;
	return 0;
}

static int see_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	seen_at_return = ri;
	seen_probe = ri->rp;
	seen_ret_addr = (unsigned long)ri->ret_addr;
	seen_ip = regs->ip;
	seen_value = regs_return_value(regs);
	seen_task[1] = ri->task;
	check(get_kretprobe(ri) == ri->rp);
	return 0;
}

static struct kretprobe seeing(void *function)
{
	return (struct kretprobe){ .kp.addr = function,
				   .entry_handler = see_entry,
				   .handler = see_return };
}

TEST(row_005_125_a_return_probe_fires_when_the_function_returns)
{
	struct kretprobe rp = retprobe_at(c_plain);

	must(register_kretprobe(&rp));
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, 1);
}

TEST(row_032_the_probe_stands_at_the_functions_entry)
{
	struct kretprobe rp = retprobe_at(NULL);

	rp.kp.symbol_name = "c_plain";
	must(register_kretprobe(&rp));
	check(rp.kp.addr == (void *)c_plain);
	check(list_line(c_plain, 'r'));
	unregister_kretprobe(&rp);
}

TEST(row_035_after_the_handler_the_caller_goes_on)
{
	struct kretprobe rp = seeing(v_returns);

	must(register_kretprobe(&rp));
	check_eq(v_caller(5, 0), 105);
	check_eq(v_caller(6, 0), 106);
	check_eq(counts.ret, 2);
	check_eq(seen_ip, (unsigned long)v_caller_back);
	unregister_kretprobe(&rp);
}

TEST(row_126_ret_addr_is_the_return_address)
{
	struct kretprobe rp = seeing(v_returns);

	must(register_kretprobe(&rp));
	v_caller(1, 0);
	check_eq(seen_ret_addr, (unsigned long)v_caller_back);
	unregister_kretprobe(&rp);
}

static void look_inside(long arg)
{
	seen_ret_addr = (unsigned long)seen_at_entry->ret_addr;
}

TEST(row_036_while_the_function_runs_the_instance_has_the_address)
{
	struct kretprobe rp = seeing(c_call_back);
	unsigned long inside;

	must(register_kretprobe(&rp));
	check_eq(c_call_back(look_inside, 1), 2);
	inside = seen_ret_addr;
	check_eq(c_call_back((void (*)(long))c_void, 1), 2);
	check(inside);
	check(seen_ret_addr);
	check(seen_at_entry == seen_at_return);
	unregister_kretprobe(&rp);
}

TEST(row_127_rp_is_the_probe)
{
	struct kretprobe a = seeing(v_returns), b = seeing(c_plain);

	must(register_kretprobe(&a));
	must(register_kretprobe(&b));
	v_caller(1, 0);
	check(seen_probe == &a);
	c_plain(1, 1);
	check(seen_probe == &b);
	unregister_kretprobe(&a);
	unregister_kretprobe(&b);
}

static void *plain_thread(void *arg)
{
	c_plain(1, 1);
	return NULL;
}

TEST(row_128_task_is_the_thread)
{
	struct kretprobe rp = seeing(c_plain);
	const void *mine;
	pthread_t thread;

	must(register_kretprobe(&rp));
	c_plain(1, 1);
	mine = seen_task[0];
	check(mine);
	check(seen_task[1] == mine);
	pthread_create(&thread, NULL, plain_thread, NULL);
	pthread_join(thread, NULL);
	check(seen_task[0] == seen_task[1]);
	check(seen_task[0] != mine);
	c_plain(1, 1);
	check(seen_task[1] == mine);
	unregister_kretprobe(&rp);
}

TEST(row_130_regs_return_value_is_the_value)
{
	struct kretprobe rp = seeing(c_plain);
	long i;

	must(register_kretprobe(&rp));
	for (i = 0; i < 20; i++) {
		c_plain(i, 2);
		check_eq(seen_value, 3 * i + 2);
	}
	unregister_kretprobe(&rp);
}

static int return_one(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	return 1;
}

TEST(row_131_what_a_return_handler_returns_is_ignored)
{
	struct kretprobe rp = retprobe_at(c_plain);
	long i;

	rp.handler = return_one;
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 0), 3 * i);
	check_eq(counts.ret, ROUNDS);
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static int change_value(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	regs->ax += 1000;
	return 0;
}

TEST(row_151_a_return_handler_may_change_the_value)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.handler = change_value;
	must(register_kretprobe(&rp));
	check_eq(c_plain(1, 1), 1004);
	unregister_kretprobe(&rp);
	check_eq(c_plain(1, 1), 4);
}

/* --- instances --- */

TEST(row_041_maxactive_has_a_default_that_is_written_back)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);
	int wanted = 2 * cpus > 10 ? 2 * cpus : 10;
	struct kretprobe zero = retprobe_at(c_plain),
			 negative = retprobe_at(c_other);

	negative.maxactive = -3;
	must(register_kretprobe(&zero));
	must(register_kretprobe(&negative));
	check_eq(zero.maxactive, wanted);
	check_eq(negative.maxactive, wanted);
	unregister_kretprobe(&zero);
	unregister_kretprobe(&negative);
}

TEST(row_041_the_default_is_obeyed_exactly)
{
	struct kretprobe rp = retprobe_at(c_recurse);

	must(register_kretprobe(&rp));
	check_eq(c_recurse(99), 99 * 100 / 2);
	check_eq(counts.ret, rp.maxactive);
	check_eq(rp.nmissed, 100 - rp.maxactive);
	unregister_kretprobe(&rp);
}

TEST(row_037_maxactive_says_how_many_calls_can_be_followed)
{
	struct kretprobe rp = retprobe_at(c_recurse);
	int n;

	for (n = 1; n < 12; n++) {
		rp.maxactive = n;
		counts.ret = 0;
		must(register_kretprobe(&rp));
		check_eq(rp.maxactive, n);
		check_eq(c_recurse(9), 45);
		check_eq(counts.ret, n < 10 ? n : 10);
		check_eq(rp.nmissed, n < 10 ? 10 - n : 0);
		unregister_kretprobe(&rp);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void one_at_a_time(int index)
{
	long i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		check_eq(c_plain(i, index), 3 * i + index);
		pthread_mutex_unlock(&lock);
	}
}

TEST(row_039_one_instance_is_enough_under_a_lock)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.maxactive = 1;
	must(register_kretprobe(&rp));
	in_threads(one_at_a_time);
	check_eq(rp.nmissed, 0);
	check_eq(counts.ret, (unsigned long)ROUNDS * conform_threads());
	unregister_kretprobe(&rp);
}

static void all_at_once(int index)
{
	long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, index), 3 * i + index);
}

/* A thread can be preempted in the function, so it is threads that count here. */
TEST(row_040_as_many_instances_as_threads_are_enough)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.maxactive = conform_threads();
	must(register_kretprobe(&rp));
	in_threads(all_at_once);
	check_eq(rp.nmissed, 0);
	check_eq(counts.ret, (unsigned long)ROUNDS * conform_threads());
	unregister_kretprobe(&rp);
}

TEST(row_043_too_low_a_maxactive_only_misses)
{
	struct kretprobe rp = seeing(c_fib);
	unsigned long calls = 177; /* of c_fib(10), itself included */

	rp.maxactive = 2;
	must(register_kretprobe(&rp));
	check_eq(c_fib(10), 55);
	check_eq(counts.ret + rp.nmissed, calls);
	check(rp.nmissed > 0);
	check_eq(counts.entry, counts.ret);
	unregister_kretprobe(&rp);
	check_eq(c_fib(10), 55);
}

TEST(row_044_nmissed_is_zero_after_registering)
{
	struct kretprobe rp = retprobe_at(c_recurse);

	rp.maxactive = 1;
	rp.nmissed = 1234;
	must(register_kretprobe(&rp));
	check_eq(rp.nmissed, 0);
	c_recurse(5);
	check_eq(rp.nmissed, 5);
	unregister_kretprobe(&rp);
	must(register_kretprobe(&rp));
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static void recurse_much(int index)
{
	int i;

	for (i = 0; i < 50; i++)
		check_eq(c_recurse(20), 210);
}

TEST(row_045_nmissed_counts_each_entry_without_instance)
{
	unsigned long calls = 50ul * 21 * conform_threads();
	struct kretprobe rp = seeing(c_recurse);

	rp.maxactive = 3;
	must(register_kretprobe(&rp));
	in_threads(recurse_much);
	check_eq(counts.ret + rp.nmissed, calls);
	if (conform_threads() == 1)
		check_eq(rp.nmissed, 50 * 18);
	check_eq(rp.kp.nmissed, 0);
	unregister_kretprobe(&rp);
}

TEST(row_052_without_an_instance_entry_handler_is_not_called)
{
	struct kretprobe rp = seeing(c_recurse);

	rp.maxactive = 2;
	must(register_kretprobe(&rp));
	c_recurse(9);
	check_eq(counts.entry, 2);
	check_eq(counts.ret, 2);
	check_eq(rp.nmissed, 8);
	unregister_kretprobe(&rp);
}

/* --- entry_handler --- */

TEST(row_046_entry_handler_runs_at_every_entry)
{
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.entry_handler = count_entry };
	int i;

	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		c_plain(i, 1);
	check_eq(counts.entry, ROUNDS);
	unregister_kretprobe(&rp);
}

TEST(row_047_zero_means_that_the_return_is_seen)
{
	struct kretprobe rp = retprobe_at(c_fib);

	rp.entry_handler = count_entry;
	rp.maxactive = 100;
	must(register_kretprobe(&rp));
	check_eq(c_fib(12), 144);
	check_eq(counts.entry, 465);
	check_eq(counts.ret, 465);
	unregister_kretprobe(&rp);
}

static int veto_odd(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.entry);
	return regs->di & 1;
}

TEST(row_048_non_zero_leaves_the_call_alone)
{
	struct kretprobe rp = retprobe_at(c_plain);
	long i;

	rp.entry_handler = veto_odd;
	rp.maxactive = 1;
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 0), 3 * i);
	check_eq(counts.entry, ROUNDS);
	check_eq(counts.ret, ROUNDS / 2);
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* An instance that was vetoed is free again before the function runs. */
TEST(row_048_a_vetoed_call_takes_no_instance)
{
	struct kretprobe rp = retprobe_at(c_recurse);

	rp.entry_handler = veto_odd;
	rp.maxactive = 5;
	must(register_kretprobe(&rp));
	check_eq(c_recurse(9), 45);
	check_eq(counts.ret, 5);
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* --- private data --- */

struct data {
	unsigned long magic, argument;
	char more[1000];
};

static int data_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct data *d = (struct data *)ri->data;

	d->magic = MAGIC;
	d->argument = regs->di;
	memset(d->more, (int)regs->di, sizeof(d->more));
	return 0;
}

static int data_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct data *d = (struct data *)ri->data;
	unsigned long n = d->argument;
	bool right = d->magic == MAGIC &&
		     regs_return_value(regs) == n * (n + 1) / 2 &&
		     d->more[0] == (char)n &&
		     d->more[sizeof(d->more) - 1] == (char)n;

	count(right ? &counts.ret : &counts.fault);
	return 0;
}

static void match_much(int index)
{
	long i;

	for (i = 0; i < 50; i++)
		check_eq(c_recurse(i % 7 + index),
			 (i % 7 + index) * (i % 7 + index + 1) / 2);
}

TEST(row_049_entry_and_return_are_matched_under_recursion_and_threads)
{
	struct kretprobe rp = { .kp.addr = (void *)c_recurse,
				.entry_handler = data_entry,
				.handler = data_return,
				.data_size = sizeof(struct data),
				.maxactive = 400 };

	must(register_kretprobe(&rp));
	in_threads(match_much);
	check_eq(counts.fault, 0);
	check(counts.ret > 0);
	check_eq(rp.nmissed, 0);
	check_eq(counts.ret, dp_kprobe_hits(&rp.kp));
	unregister_kretprobe(&rp);
}

static unsigned long data_addr;
static bool data_zero;

static int look_at_data(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned int i;

	data_addr = (unsigned long)ri->data;
	data_zero = true;
	for (i = 0; i < sizeof(struct data); i++)
		data_zero &= !ri->data[i];
	memset(ri->data, 0xff, sizeof(struct data));
	return 0;
}

TEST(row_050_every_instance_has_data_of_the_size_asked_for)
{
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.entry_handler = look_at_data,
				.data_size = sizeof(struct data),
				.maxactive = 1 };

	must(register_kretprobe(&rp));
	c_plain(1, 1);
	check(data_zero);
	check_eq(data_addr % sizeof(long), 0);
	c_plain(1, 1);
	c_plain(1, 1);
	check(data_zero);
	unregister_kretprobe(&rp);
}

TEST(row_051_both_handlers_reach_the_data)
{
	struct kretprobe rp = { .kp.addr = (void *)c_recurse,
				.entry_handler = data_entry,
				.handler = data_return,
				.data_size = sizeof(struct data) };

	must(register_kretprobe(&rp));
	c_recurse(4);
	check_eq(counts.ret, 5);
	check_eq(counts.fault, 0);
	unregister_kretprobe(&rp);
}

TEST(row_129_data_is_the_same_in_both_handlers)
{
	struct kretprobe rp = seeing(c_plain);

	rp.data_size = 8;
	must(register_kretprobe(&rp));
	c_plain(1, 1);
	check(seen_at_entry == seen_at_return);
	unregister_kretprobe(&rp);
}

TEST(row_038_instances_are_allocated_when_registering)
{
	struct kretprobe rp = retprobe_at(c_plain);
	int rc;

	rp.maxactive = 1 << 30;
	rp.data_size = 1 << 30;
	rc = register_kretprobe(&rp);
	check(rc == -ENOMEM || rc == -EINVAL);
	check(dp_last_diag()->text[0]);
	check_eq(list_length(), 0);
	check_eq(c_plain(1, 1), 4);
	rp.maxactive = 1000;
	rp.data_size = 100;
	must(register_kretprobe(&rp));
	c_plain(1, 1);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
}

/* --- conventions of returning --- */

static void returns_right(int index)
{
	struct big big = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, out;
	struct pair pair = c_pair((struct pair){ 1, 2.5 });
	double _Complex c;
	long double _Complex lc;
	__int128 wide;

	out = c_big(big, 10);
	check(out.v[0] == 11 && out.v[8] == 19);
	check(pair.a == 2 && pair.b == 5.0);
	check(c_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
	check(c_long_double(1, 4) == 0.25L);
	c = c_complex(2.0 + 3.0 * I);
	check(creal(c) == 3.0 && cimag(c) == 3.0);
	lc = c_long_complex(2.0L + 3.0L * I);
	check(creall(lc) == 3.0L && cimagl(lc) == 3.0L);
	wide = c_int128(1);
	check((long)(wide >> 64) == 5 && (long)wide == 8);
	check_eq(c_varargs(3, 1.0, 2.0, 3.0), 6);
	check_eq(c_ms(1, 2, 3, 4, 5, 6), 91);
	check(c_ms_double(1, 2, 3, 4, 5) == 55);
	check_eq(c_stack72(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 120);
	check_eq(c_frame(4), 6);
	c_void();
}

TEST(row_124_functions_of_every_convention_return_right)
{
	void *at[] = { (void *)c_big,	  (void *)c_pair,
		       (void *)c_doubles, (void *)c_long_double,
		       (void *)c_complex, (void *)c_long_complex,
		       (void *)c_int128,  (void *)c_varargs,
		       (void *)c_ms,	  (void *)c_ms_double,
		       (void *)c_stack72, (void *)c_frame,
		       (void *)c_void };
	struct kretprobe rp[COUNT(at)];
	unsigned int i;

	for (i = 0; i < COUNT(at); i++) {
		rp[i] = retprobe_at(at[i]);
		rp[i].entry_handler = count_entry;
		must(register_kretprobe(&rp[i]));
	}
	in_threads(returns_right);
	check_eq(counts.ret, COUNT(at) * conform_threads());
	check_eq(counts.entry, counts.ret);
	for (i = 0; i < COUNT(at); i++)
		unregister_kretprobe(&rp[i]);
	returns_right(0);
}

/* A handler that uses the x87 unit while a result is in it. */
static int compute(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	volatile long double a = 3, b = 7;
	volatile double c = 2;

	a = a * b + c;
	count(a == 23 ? &counts.ret : &counts.fault);
	return 0;
}

TEST(row_124_results_in_vector_and_x87_registers_survive_a_handler)
{
	struct kretprobe rp[3] = { retprobe_at(c_long_double),
				   retprobe_at(c_long_complex),
				   retprobe_at(c_doubles) };
	long double _Complex lc;
	int i;

	for (i = 0; i < 3; i++) {
		rp[i].handler = compute;
		must(register_kretprobe(&rp[i]));
	}
	check(c_long_double(3, 4) == 0.75L);
	lc = c_long_complex(5.0L + 6.0L * I);
	check(creall(lc) == 6.0L && cimagl(lc) == 6.0L);
	check(c_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
	check_eq(counts.ret, 3);
	for (i = 0; i < 3; i++)
		unregister_kretprobe(&rp[i]);
}

/* --- beside other probes --- */

TEST(row_142_several_return_probes_on_one_function)
{
	struct kretprobe a = seeing(v_returns), b = seeing(v_returns);
	struct kprobe kp = probe_at(v_returns);

	must(register_kretprobe(&a));
	must(register_kprobe(&kp));
	must(register_kretprobe(&b));
	check_eq(v_caller(1, 0), 101);
	check_eq(counts.entry, 2);
	check_eq(counts.ret, 2);
	check_eq(counts.pre, 1);
	check_eq(seen_ret_addr, (unsigned long)v_caller_back);
	unregister_kretprobe(&a);
	check_eq(v_caller(1, 0), 101);
	check_eq(counts.ret, 3);
	unregister_kretprobe(&b);
	unregister_kprobe(&kp);
	check_eq(v_caller(1, 0), 101);
}

static struct kretprobe around;

static void unregister_inside(long arg)
{
	unregister_kretprobe(&around);
}

/* Its handler is not called any more, and the function still returns. */
TEST(row_132_unregistered_while_the_function_runs)
{
	int i;

	for (i = 0; i < 20; i++) {
		around = retprobe_at(c_call_back);
		around.entry_handler = count_entry;
		must(register_kretprobe(&around));
		check_eq(c_call_back(unregister_inside, 5), 6);
		check_eq(c_call_back((void (*)(long))c_void, 5), 6);
	}
	check_eq(counts.entry, 20);
	check_eq(counts.ret, 0);
}

static void register_inside(long arg)
{
	must(register_kretprobe(&around));
}

TEST(row_132_registered_while_the_function_runs)
{
	around = retprobe_at(c_call_back);
	check_eq(c_call_back(register_inside, 5), 6);
	check_eq(counts.ret, 0);
	check_eq(c_call_back((void (*)(long))c_void, 5), 6);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&around);
}

/* --- calls that do not return, or more than once --- */

static void take_backtrace(long arg)
{
	void *frames[64];

	check(backtrace(frames, 64) > 0);
}

TEST(row_159_a_backtrace_in_a_followed_call_ends_well)
{
	struct kretprobe rp = retprobe_at(c_call_back);

	must(register_kretprobe(&rp));
	check_eq(c_call_back(take_backtrace, 1), 2);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
}

static struct dp_kretprobe_account account_of(const struct kretprobe *rp)
{
	struct dp_kretprobe_account a;

	must(dp_kretprobe_account(rp, &a));
	check_eq(a.entries, a.returned + a.unwound + a.abandoned + a.inside);
	return a;
}

static char reports[4096];

static void keep_report(const char *line)
{
	strncat(reports, line, sizeof(reports) - strlen(reports) - 2);
	strcat(reports, "\n");
}

TEST(row_160_calls_that_are_left_by_longjmp)
{
	struct kretprobe rp = retprobe_at(c_jump_out);
	volatile int i;
	jmp_buf env;

	reports_to(keep_report);
	rp.maxactive = 2;
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		if (!setjmp(env))
			c_jump_out(env);
	check_eq(counts.ret, 0);
	/* Each of them is followed and given up, though two have room. */
	check_eq(account_of(&rp).entries, ROUNDS);
	check_eq(account_of(&rp).abandoned, ROUNDS);
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
	check(list_length() == 0);
	/* None of them has come back. */
	check_eq(strlen(reports), 0);
}

TEST(row_160_the_thread_is_followed_on_after_a_longjmp)
{
	struct kretprobe out = retprobe_at(c_jump_out), rp = seeing(v_returns);
	volatile int i;
	jmp_buf env;

	must(register_kretprobe(&out));
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++) {
		if (!setjmp(env))
			c_jump_out(env);
		check_eq(v_caller(i, 0), 100 + i);
	}
	check_eq(counts.ret, ROUNDS);
	check_eq(seen_ret_addr, (unsigned long)v_caller_back);
	unregister_kretprobe(&out);
	unregister_kretprobe(&rp);
}

/* A function that returns twice is refused, and works as ever. */
TEST(row_161_functions_that_return_more_often_than_they_are_called)
{
	static const char *const names[] = { "_setjmp", "__sigsetjmp",
					     "getcontext", "vfork" };
	struct kretprobe rp[COUNT(names)];
	volatile int turns = 0;
	unsigned int i;
	jmp_buf env;

	for (i = 0; i < COUNT(names); i++) {
		rp[i] = retprobe_at(NULL);
		rp[i].kp.symbol_name = names[i];
		check_eq(register_kretprobe(&rp[i]), -EINVAL);
	}
	if (setjmp(env) < 3) {
		turns++;
		longjmp(env, turns);
	}
	check_eq(turns, 3);
	check_eq(system("exit 3"), 3 << 8);
}

static void leave_thread(long arg)
{
	if (arg)
		pthread_exit(NULL);
}

static void *exiting(void *arg)
{
	c_call_back(leave_thread, 1);
	return NULL;
}

TEST(row_162_threads_that_end_inside_give_their_instances_back)
{
	struct kretprobe rp = retprobe_at(c_call_back);
	pthread_t thread;
	int i;

	rp.maxactive = 2;
	must(register_kretprobe(&rp));
	for (i = 0; i < 20; i++) {
		check(!pthread_create(&thread, NULL, exiting, NULL));
		pthread_join(thread, NULL);
	}
	check_eq(rp.nmissed, 0);
	check_eq(c_call_back(leave_thread, 0), 1);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
}

/* --- functions that come back on another stack --- */

static ucontext_t here, there;
static int switches;

static void coroutine(void)
{
	for (;;) {
		switches++;
		swapcontext(&there, &here);
	}
}

static void make_there(void (*run)(void))
{
	static char stack[65536];

	check(!getcontext(&there));
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, run, 0);
}

/* What the scheduler's switch is to the kernel: refused, or right. */
static bool is_here(const void *addr)
{
	Dl_info info, own;

	return dladdr(addr, &info) && dladdr((void *)&counts, &own) &&
	       info.dli_fbase == own.dli_fbase;
}

/* By name, or because the code says so. They are followed by their exits then. */
TEST(row_161_functions_that_look_at_their_caller)
{
	static const char *const names[] = { "dlopen", "dlsym",
					     "dlvsym", "dl_iterate_phdr",
					     "mcount", "c_look_back" };
	struct kretprobe rp;
	unsigned int i;

	for (i = 0; i < COUNT(names); i++) {
		rp = retprobe_at(NULL);
		rp.kp.symbol_name = names[i];
		must(register_kretprobe(&rp));
		check_eq(rp.kp.flags & KPROBE_FLAG_RET_SITES, 0);
		unregister_kretprobe(&rp);
	}
	rp = retprobe_at(c_look_back);
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		check(is_here(c_look_back()));
	check_eq(counts.ret, ROUNDS);
	must(disable_kretprobe(&rp));
	check(is_here(c_look_back()));
	must(enable_kretprobe(&rp));
	check(is_here(c_look_back()));
	check_eq(counts.ret, ROUNDS + 1);
	unregister_kretprobe(&rp);
	check(is_here(c_look_back()));
	check_eq(list_length(), 0);
	/* The next function that it follows need not be of that kind. */
	rp.kp.addr = (void *)c_plain;
	must(register_kretprobe(&rp));
	check_eq(c_plain(1, 1), 4);
	must(disable_kretprobe(&rp));
	must(enable_kretprobe(&rp));
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, ROUNDS + 3);
	unregister_kretprobe(&rp);
}

/* Where it can be told that an exception passes, the return address is another. */
TEST(row_161_but_not_where_exceptions_are_asked_for)
{
	struct kretprobe rp = retprobe_at(c_look_back);

	rp.kp.flags = KPROBE_FLAG_UNWIND;
	check_eq(register_kretprobe(&rp), -EINVAL);
	check(strstr(dp_last_diag()->text, "looks at its return address"));
	check(is_here(c_look_back()));
}

/* They never come back, or have to do with what does, and can be followed. */
TEST(row_160_functions_that_do_not_return_may_be_followed)
{
	static const char *const names[] = { "longjmp", "siglongjmp",
					     "__longjmp_chk", "makecontext",
					     "dladdr" };
	struct kretprobe rp[COUNT(names)];
	volatile unsigned int i;
	sigjmp_buf env;
	Dl_info info;

	for (i = 0; i < COUNT(names); i++) {
		rp[i] = retprobe_at(NULL);
		rp[i].kp.symbol_name = names[i];
		must(register_kretprobe(&rp[i]));
	}
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(env, i & 1))
			i & 2 ? siglongjmp(env, 1) : longjmp(env, 1);
	check_eq(counts.ret, 0);
	make_there(coroutine);
	for (i = 0; i < ROUNDS; i++)
		check(!swapcontext(&here, &there));
	check_eq(switches, ROUNDS);
	check_eq(counts.ret, 1);
	check(dladdr((void *)c_plain, &info) && info.dli_fbase);
	check_eq(counts.ret, 2);
	for (i = 0; i < COUNT(names); i++)
		unregister_kretprobe(&rp[i]);
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(env, 1))
			siglongjmp(env, 1);
}

TEST(row_163_functions_that_return_on_another_stack)
{
	struct kretprobe rp = { .kp.symbol_name = "swapcontext",
				.handler = count_ret };
	int i, rc = register_kretprobe(&rp);

	check(rc == 0 || rc == -EINVAL);
	make_there(coroutine);
	for (i = 0; i < ROUNDS; i++)
		check(!swapcontext(&here, &there));
	check_eq(switches, ROUNDS);
	if (!rc)
		unregister_kretprobe(&rp);
}

static void switch_there(long arg)
{
	check(!swapcontext(&here, &there));
}

static void switch_back(long arg)
{
	switches++;
	check(!swapcontext(&there, &here));
}

static void tracked_coroutine(void)
{
	for (;;)
		c_call_back(switch_back, 7);
}

/* Followed calls on two stacks, left and entered in turn. */
TEST(row_163_followed_calls_on_several_stacks)
{
	struct kretprobe rp = retprobe_at(c_call_back);
	int i;

	must(register_kretprobe(&rp));
	make_there(tracked_coroutine);
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_call_back(switch_there, i), i + 1);
	check_eq(switches, ROUNDS);
	/* All have returned but the last one of the coroutine. */
	check_eq(counts.ret + rp.nmissed, 2 * ROUNDS - 1);
	unregister_kretprobe(&rp);
}

/* Returns in the function's place: to where it would. */
static int return_at_once(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	regs->ax = 42;
	return 1;
}

TEST(row_036_a_followed_call_that_a_kprobe_returns_from)
{
	struct kretprobe rp = retprobe_at(c_plain);
	struct kprobe p = { .addr = (kprobe_opcode_t *)c_plain,
			    .pre_handler = return_at_once };
	int i;

	must(register_kprobe(&p));
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 42);
	check_eq(counts.ret, ROUNDS);
	unregister_kprobe(&p);
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, ROUNDS + 1);
	/* The newest comes first, and leaves nothing to the others. */
	must(register_kprobe(&p));
	check_eq(c_plain(1, 1), 42);
	check_eq(counts.ret, ROUNDS + 1);
	unregister_kprobe(&p);
	unregister_kretprobe(&rp);
}

/* --- what the kernel's manual knows nothing of --- */

static int ends_returned, ends_unwound, ends_jumped;

static int how_it_ended(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (dp_kretprobe_unwound(ri))
		ends_unwound++;
	else if (dp_kretprobe_jumped(ri))
		ends_jumped++;
	else
		ends_returned++;
	return 0;
}

static void forget_ends(void)
{
	ends_returned = ends_unwound = ends_jumped = 0;
}

static void exit_in_threads(int n)
{
	pthread_t thread;
	int i;

	for (i = 0; i < n; i++) {
		check(!pthread_create(&thread, NULL, exiting, NULL));
		pthread_join(thread, NULL);
	}
}

TEST(row_160_calls_that_the_end_of_a_thread_unwinds)
{
	struct kretprobe rp = { .kp.addr = (kprobe_opcode_t *)c_call_back,
				.kp.flags = KPROBE_FLAG_UNWIND,
				.handler = how_it_ended };
	struct dp_kretprobe_account a;

	forget_ends();
	must(register_kretprobe(&rp));
	check(rp.kp.flags & KPROBE_FLAG_UNWIND);
	exit_in_threads(5);
	check_eq(c_call_back(leave_thread, 0), 1);
	a = account_of(&rp);
	check_eq(a.entries, 6);
	check_eq(a.unwound, 5);
	check_eq(a.returned, 1);
	check_eq(ends_unwound, 5);
	check_eq(ends_returned, 1);
	unregister_kretprobe(&rp);
	check_eq(dp_kretprobe_account(&rp, &a), -EINVAL);
	/* Without the flag they are only counted. */
	rp = retprobe_at(c_call_back);
	must(register_kretprobe(&rp));
	exit_in_threads(3);
	check_eq(counts.ret, 0);
	check_eq(account_of(&rp).unwound, 3);
	unregister_kretprobe(&rp);
}

TEST(row_160_an_account_of_calls_that_are_left)
{
	struct kretprobe rp = retprobe_at(c_jump_out);
	volatile int i;
	jmp_buf env;

	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		if (!setjmp(env))
			c_jump_out(env);
	check_eq(account_of(&rp).entries, ROUNDS);
	check_eq(account_of(&rp).abandoned, ROUNDS);
	check_eq(account_of(&rp).inside, 0);
	unregister_kretprobe(&rp);
}

/* A piece of a stack that is copied, left, put back and gone on with. */
static jmp_buf outside, inside;
static char copied[65536], *copied_low, *copied_high;
static unsigned long copied_back;
static int copied_ret;

static int copied_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	copied_back = (unsigned long)ri->ret_addr;
	return 0;
}

static void copy_and_leave(long arg)
{
	if (setjmp(inside))
		return;
	copied_low = (char *)__builtin_frame_address(0) - 1024;
	check(copied_high - copied_low < (long)sizeof(copied));
	memcpy(copied, copied_low, copied_high - copied_low);
	longjmp(outside, 1);
}

static __attribute__((noinline)) void call_here(void (*function)(long))
{
	copied_high = (char *)__builtin_frame_address(0) + 16;
	copied_ret = c_call_back(function, 1);
}

/* Far below what it overwrites. */
static __attribute__((noinline)) void put_back(void)
{
	volatile char room[sizeof(copied)];

	room[0] = 1;
	memcpy(copied_low, copied, copied_high - copied_low);
	longjmp(inside, room[0]);
}

static void note_nothing(long arg)
{
}

TEST(row_160_a_call_that_had_been_given_up_and_returns_all_the_same)
{
	static struct kretprobe rp;
	char wanted[128];

	rp = retprobe_at(c_call_back);
	rp.entry_handler = copied_entry;
	reports_to(keep_report);
	must(register_kretprobe(&rp));
	if (!setjmp(outside)) {
		call_here(copy_and_leave);
	} else {
		/* Where a call begins no other one can be inside. */
		call_here(note_nothing);
		check_eq(account_of(&rp).abandoned, 1);
		check_eq(account_of(&rp).late, 0);
		put_back();
	}
	check_eq(copied_ret, 2);
	check_eq(account_of(&rp).abandoned, 1);
	check_eq(account_of(&rp).returned, 1);
	check_eq(account_of(&rp).late, 1);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
	snprintf(wanted, sizeof(wanted),
		 "kretprobe BUG!: Processing kretprobe %016lx @ %016lx\n",
		 (unsigned long)&rp, copied_back);
	if (strcmp(reports, wanted))
		conform_fail(__FILE__, __LINE__, "\"%s\" is not \"%s\"",
			     reports, wanted);
}

static struct kretprobe site_probe_at(void *addr)
{
	forget_ends();
	return (struct kretprobe){ .kp.addr = addr,
				   .kp.flags = KPROBE_FLAG_RET_SITES,
				   .handler = how_it_ended };
}

TEST(row_033_or_the_return_address_is_left_alone)
{
	struct kretprobe rp = site_probe_at(c_tail);
	long i;

	must(register_kretprobe(&rp));
	check_eq(list_length(), 1);
	for (i = 0; i < ROUNDS; i++) {
		check_eq(c_tail(-1 - i, 0), -2 - 2 * i);
		check_eq(c_tail(i, 1), 3 * (i + 1) + 1);
	}
	check_eq(ends_returned, ROUNDS);
	check_eq(ends_jumped, ROUNDS);
	check_eq(account_of(&rp).returned, 2 * ROUNDS);
	check_eq(rp.nmissed, 0);
	must(disable_kretprobe(&rp));
	check_eq(c_tail(-1, 0), -2);
	must(enable_kretprobe(&rp));
	check_eq(c_tail(-1, 0), -2);
	check_eq(account_of(&rp).entries, 2 * ROUNDS + 1);
	unregister_kretprobe(&rp);
	check_eq(list_length(), 0);
	check_eq(c_tail(4, 1), 16);
	check_eq(ends_returned, ROUNDS + 1);
}

TEST(row_043_too_few_instances_with_the_return_address_left_alone)
{
	struct kretprobe rp = site_probe_at(c_jump_out);
	volatile int i;
	jmp_buf env;

	rp.maxactive = 1;
	must(register_kretprobe(&rp));
	for (i = 0; i < ROUNDS; i++)
		if (!setjmp(env))
			c_jump_out(env);
	check_eq(account_of(&rp).abandoned, ROUNDS);
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static struct kretprobe goes_itself;

static int go_itself(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ends_returned++;
	unregister_kretprobe(&goes_itself);
	return 0;
}

TEST(row_132_one_with_the_return_address_left_alone_goes_in_its_handler)
{
	goes_itself = site_probe_at(c_plain);
	goes_itself.handler = go_itself;
	must(register_kretprobe(&goes_itself));
	check_eq(c_plain(1, 1), 4);
	check_eq(c_plain(1, 2), 5);
	check_eq(ends_returned, 1);
	/* The next call of the library takes it away. */
	check_eq(dp_kprobes_enabled(-1), 1);
	check_eq(list_length(), 0);
	goes_itself = site_probe_at(c_plain);
	must(register_kretprobe(&goes_itself));
	check_eq(c_plain(1, 3), 6);
	check_eq(ends_returned, 1);
	unregister_kretprobe(&goes_itself);
}

/* Who looks at his return address can be followed that way, and is. */
TEST(row_161_what_only_the_other_way_can_follow)
{
	struct kretprobe rp = { .kp.symbol_name = "dlsym",
				.handler = how_it_ended };

	forget_ends();
	must(register_kretprobe(&rp));
	check(dlsym(RTLD_DEFAULT, "malloc") == (void *)malloc);
	check_eq(ends_returned + ends_jumped, 1);
	unregister_kretprobe(&rp);
	rp.kp.symbol_name = "vfork";
	rp.kp.addr = NULL;
	check_eq(register_kretprobe(&rp), -EINVAL);
}
