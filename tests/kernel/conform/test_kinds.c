// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kinds: k, j, r, kr, jr and kj, of which the manuals have a table, and k several times: each kind is called once a
 * call, whatever is beside it and in whatever order they have come and go.
 */
#include "conform.h"
#include "victims.h"

/* A set of these, a bit each */
enum kind { K, K2, POST, J, R, R2, KINDS };
static const char *const names[] = { "k", "k2", "b", "j", "r", "r2" };

static unsigned long seen[KINDS];

static int pre(struct kprobe *p, struct pt_regs *regs);
static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
static int returned(struct kretprobe_instance *ri, struct pt_regs *regs);

static long entered(long a, long b)
{
	count(&seen[J]);
	jprobe_return();
	return -1;
}

static struct kprobe k[3];
static struct jprobe j;
static struct kretprobe r[2];

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	count(&seen[K + (p - k)]);
	return 0;
}

static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	count(&seen[POST]);
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&seen[R + (ri->rp - r)]);
	/* Of c_plain(2, 1) */
	check_eq(regs_return_value(regs), 7);
	return 0;
}

static void clear_all(void)
{
	int i;

	for (i = 0; i < 3; i++)
		k[i] = (struct kprobe){ .addr = (void *)c_plain,
					.pre_handler = pre };
	k[POST].pre_handler = NULL;
	k[POST].post_handler = post;
	j = (struct jprobe){ .kp.addr = (void *)c_plain, .entry = entered };
	for (i = 0; i < 2; i++)
		r[i] = (struct kretprobe){ .kp.addr = (void *)c_plain,
					   .handler = returned,
					   .maxactive = 8 };
}

static void come(enum kind kind)
{
	if (kind == J)
		must(register_jprobe(&j));
	else if (kind >= R)
		must(register_kretprobe(&r[kind - R]));
	else
		must(register_kprobe(&k[kind]));
}

static void go(enum kind kind)
{
	if (kind == J)
		unregister_jprobe(&j);
	else if (kind >= R)
		unregister_kretprobe(&r[kind - R]);
	else
		unregister_kprobe(&k[kind]);
}

static void call(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(2, 1), 7);
}

/* Return: how many calls each kind of the set has not seen, or has seen twice. */
static void expect_calls(unsigned int set, const char *what)
{
	unsigned long want = (unsigned long)ROUNDS * conform_threads();
	int i;

	memset(seen, 0, sizeof(seen));
	in_threads(call);
	for (i = 0; i < KINDS; i++)
		if (seen[i] != (set >> i & 1 ? want : 0))
			conform_fail(
				__FILE__, __LINE__,
				"set %#x, %s: %s has seen %lu of %lu calls",
				set, what, names[i], seen[i], want);
}

/* @turn: the order in which they come and go */
static void together(unsigned int set, int turn)
{
	struct conform_text text = text_of(c_plain);
	unsigned int left = set;
	int i, kind;

	clear_all();
	for (i = 0; i < KINDS; i++) {
		kind = (i * 5 + turn) % KINDS;
		if (set >> kind & 1)
			come(kind);
	}
	expect_calls(set, "all");
	for (i = 0; i < KINDS; i++) {
		kind = (i + turn) % KINDS;
		if (!(left >> kind & 1))
			continue;
		go(kind);
		left &= ~(1u << kind);
		if (left)
			expect_calls(left, "some have gone");
	}
	check(text_same(&text));
}

/* Those of the tables, and the most that can be at once */
static const unsigned int sets[] = {
	1 << K,
	1 << J,
	1 << R,
	1 << K | 1 << R,
	1 << J | 1 << R,
	1 << K | 1 << J,
	1 << POST,
	1 << R | 1 << POST,
	1 << R | 1 << R2,
	1 << K | 1 << K2 | 1 << POST,
	1 << K | 1 << K2 | 1 << POST | 1 << J | 1 << R | 1 << R2,
};

TEST(row_142_168_171_kinds_beside_each_other)
{
	unsigned int i;

	for (i = 0; i < COUNT(sets); i++)
		together(sets[i], (int)i % 3);
}

TEST(row_142_197_kinds_beside_each_other_not_optimised)
{
	unsigned int i;

	check(dp_kprobes_optimization(0) >= 0);
	for (i = 0; i < COUNT(sets); i += 5)
		together(sets[i], 1);
}

/* Not where there is a post_handler, and again when that has gone. A jprobe may be a jump. */
TEST_STILL(row_022_053_065_068_074_076_087_144_optimised_by_kind)
{
	const unsigned char *at = (void *)c_plain;
	struct conform_text text = text_of(at);
	unsigned int i;
	int kind;

	for (i = 0; i < COUNT(sets); i++) {
		clear_all();
		for (kind = 0; kind < KINDS; kind++)
			if (sets[i] >> kind & 1 && kind != POST)
				come(kind);
		check(listed(at, "[OPTIMIZED]") ==
		      (jumps() && sets[i] != 1 << POST));
		come(POST);
		check(!listed(at, "[OPTIMIZED]"));
		check(at[0] == 0xcc && !memcmp(at + 1, text.bytes + 1, 4));
		go(POST);
		check(!list_line(at, 0) ||
		      listed(at, "[OPTIMIZED]") == jumps());
		for (kind = 0; kind < KINDS; kind++)
			if (kind != POST)
				go(kind);
		check(text_same(&text));
	}
}

TEST_STILL(row_067_a_disabled_probe_is_not_optimised)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	must(disable_kprobe(&kp));
	check(!listed(c_plain, "[OPTIMIZED]"));
	check(text_same(&text));
	must(enable_kprobe(&kp));
	check(listed(c_plain, "[OPTIMIZED]") == jumps());
	unregister_kprobe(&kp);
}

/* Calls that are inside when the return probe goes, and comes, do not mix with others. */
TEST(row_049_167_recursion_under_kprobe_and_return_probe)
{
	struct kretprobe rp = retprobe_at(c_recurse);
	struct kprobe kp = probe_at(c_recurse);

	rp.maxactive = 64;
	rp.entry_handler = count_entry;
	must(register_kretprobe(&rp));
	must(register_kprobe(&kp));
	check_eq(c_recurse(30), 465);
	check_eq(counts.pre, 31);
	check_eq(counts.entry, 31);
	check_eq(counts.ret, 31);
	check_eq(rp.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
	rp = retprobe_at(c_recurse);
	rp.maxactive = 3;
	must(register_kretprobe(&rp));
	check_eq(c_recurse(30), 465);
	check_eq(counts.ret, 31 + 3);
	check_eq(rp.nmissed, 28);
	unregister_kretprobe(&rp);
}
