// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jump: how jumps and breakpoints get into text and out again, write by write. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "jump_world.h"

/* Of all changes of neighbours, every SOMEth is tried. */
#define SOME 199

/* Jumps over one instruction, two, and five of them; with another site inside;
 * one whose breakpoints are not all that begins there; a breakpoint. */
static void prepare(struct world *w, u64 base, enum dp_arming arming)
{
	/* At low addresses, room for other bytes than breakpoints */
	const struct dp_hole hole = { LOW + 0x100000, LOW + 0x7c000000, false };

	begin(w, base, arming);
	assert_int_equal(add(w, 0, true), 0);
	assert_int_equal(add(w, 15 * SLOT, true), 0);
	assert_int_equal(add(w, 15 * SLOT + 2, true), 0);
	assert_int_equal(add(w, 5 * SLOT, true), 0);
	assert_int_equal(add(w, 8 * SLOT, true), 0);
	assert_int_equal(add(w, 26 * SLOT, true), 0);
	assert_int_equal(add(w, 7 * SLOT, false), 0);
	assert_int_equal(base == LOW ? build_in(w, &hole, 1) : build(w), 0);
	assert_int_equal(dp_engine_jumps(w->e), arming == DP_ARM_TRAP ? 0 : 6);
}

static void writes_in_steps(void **state)
{
	u64 base;

	for (base = LOW;; base = HIGH) {
		struct world w;
		u32 syncs;

		prepare(&w, base, DP_ARM_INTERIOR);
		assert_int_equal(commit(&w), 0);
		expect_armed(&w);
		/* Three writes a jump, one a breakpoint; a batch each. */
		assert_int_equal(w.t.writes, 3 * 5 + 1);
		assert_int_equal(w.t.syncs, 3);
		syncs = w.t.syncs;
		assert_int_equal(disarm(&w, false, NULL), 0);
		assert_int_equal(w.t.writes, 3 * 5 + 1 + 4 * 5 + 1);
		assert_int_equal(w.t.syncs, syncs + 4);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		assert_int_equal(w.t.broken, 0);
		end(&w);
		if (base == HIGH)
			break;
	}
}

/* The way is not that of one write after the other: the test would see it. */
static void sees_what_is_broken(void **state)
{
	static const struct {
		u32 at;
		const char *bytes;
	} bad[] = { { 0, "cc" },
		    { 15 * SLOT, "55" },
		    { 15 * SLOT + 1, "90" },
		    { 5 * SLOT + 1, "9090" },
		    { 7 * SLOT, "90" } };
	u8 code[SLOT];
	struct world w;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		prepare(&w, HIGH, DP_ARM_INTERIOR);
		assert_int_equal(commit(&w), 0);
		assert_int_equal(w.t.broken, 0);
		hex(bad[i].bytes, code);
		write_text(&w.t.target, HIGH + bad[i].at, code,
			   strlen(bad[i].bytes) / 2);
		assert_int_equal(!w.t.broken, !i);
		end(&w);
	}
}

/* quiesce: no thread runs while jumps come. */
static void writes_jumps_at_once(void **state)
{
	struct world w;

	prepare(&w, HIGH, DP_ARM_QUIESCE);
	assert_int_equal(commit(&w), 0);
	expect_armed(&w);
	assert_int_equal(w.m.stops, 1);
	assert_int_equal(w.t.writes, 5 + 1);
	assert_int_equal(disarm(&w, false, NULL), 0);
	assert_memory_equal(w.t.now, w.t.orig, SIZE);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

static void die_after(struct world *w, u32 writes, u32 torn)
{
	w->t.mortal = true;
	w->t.left = writes;
	w->t.torn = torn;
}

/* Another tool: the arena is as it was at the moment of death. */
static void live_again(struct world *w)
{
	memcpy((void *)w->t.arena, w->t.snapshot, w->t.arena_size);
	memcpy(w->t.synced, w->t.now, SIZE);
	w->t.mortal = w->t.dead = false;
}

static void recover(struct world *w)
{
	live_again(w);
	assert_int_equal(disarm(w, false, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	assert_int_equal(w->t.broken, 0);
}

/* Return: false if it did all that it had to. */
static bool killed_arming(enum dp_arming arming, u32 writes, u32 torn)
{
	struct world w;
	bool dead;

	prepare(&w, HIGH, arming);
	die_after(&w, writes, torn);
	commit(&w);
	dead = w.t.dead;
	if (dead)
		recover(&w);
	end(&w);
	return dead;
}

static bool killed_disarming(enum dp_arming arming, u32 writes, u32 torn)
{
	struct world w;
	bool dead;

	prepare(&w, HIGH, arming);
	assert_int_equal(commit(&w), 0);
	die_after(&w, writes, torn);
	disarm(&w, false, NULL);
	dead = w.t.dead;
	if (dead)
		recover(&w);
	end(&w);
	return dead;
}

static void recovers_from_every_kill(void **state)
{
	static bool (*const killed[])(
		enum dp_arming, u32, u32) = { killed_arming, killed_disarming };
	u32 k, arming, writes, torn;

	for (k = 0; k < 2; k++)
		for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE;
		     arming++)
			for (torn = 0; torn < DP_JUMP_SIZE; torn++) {
				writes = 0;
				while (killed[k](arming, writes, torn))
					writes++;
				assert_int_equal(writes,
						 k			  ? 21 :
						 arming == DP_ARM_QUIESCE ? 6 :
									    16);
			}
}

/* And the tool that recovers is killed too. */
static void recovers_from_kills_while_recovering(void **state)
{
	u32 writes, again, torn = 0;

	for (writes = 0; writes < 16; writes++)
		for (again = 0; again < 21; again++) {
			struct world w;

			prepare(&w, HIGH, DP_ARM_INTERIOR);
			die_after(&w, writes, torn++ % DP_JUMP_SIZE);
			commit(&w);
			live_again(&w);
			die_after(&w, again, torn++ % DP_JUMP_SIZE);
			disarm(&w, false, NULL);
			if (w.t.dead)
				recover(&w);
			assert_memory_equal(w.t.now, w.t.orig, SIZE);
			assert_int_equal(w.t.broken, 0);
			end(&w);
		}
}

/* A write that fails, and the tool goes on. */
static void rolls_back_failed_writes(void **state)
{
	u32 arming, nth, most;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		most = arming == DP_ARM_INTERIOR ? 16 :
		       arming == DP_ARM_QUIESCE	 ? 6 :
						   7;
		for (nth = 0; nth < most; nth++) {
			struct world w;

			prepare(&w, HIGH, arming);
			w.t.fail_at = nth + 1;
			assert_int_equal(commit(&w), -EIO);
			assert_non_null(entry_of(&w, w.bad));
			dp_engine_retract(w.e, &w.t.target, w.e->need.nr_pools);
			assert_memory_equal(w.t.now, w.t.orig, SIZE);
			assert_int_equal(w.t.broken, 0);
			end(&w);
		}
	}
}

static void disarms_at_the_second_try(void **state)
{
	u32 nth;

	for (nth = 0; nth < 21; nth++) {
		struct world w;

		prepare(&w, HIGH, DP_ARM_INTERIOR);
		assert_int_equal(commit(&w), 0);
		w.t.fail_at = nth + 1;
		assert_int_equal(disarm(&w, false, NULL), -EIO);
		assert_int_equal(disarm(&w, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		assert_int_equal(w.t.broken, 0);
		end(&w);
	}
}

static void turn_all(struct world *w, bool on)
{
	u32 i;

	for (i = 0; i < w->nr_probes; i++)
		dp_engine_turn(w->e, w->probe[i], on);
}

static void fail_then_apply(enum dp_arming arming, bool in, u32 nth, bool to)
{
	struct world w;

	prepare(&w, HIGH, arming);
	assert_int_equal(commit(&w), 0);
	turn_all(&w, in);
	assert_int_equal(apply(&w), 0);
	turn_all(&w, !in);
	w.t.fail_at = nth;
	apply(&w);
	w.t.fail_at = 0;
	turn_all(&w, to);
	assert_int_equal(apply(&w), 0);
	expect_armed(&w);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

/* What a failure leaves half-way, the next call brings where it belongs. */
static void applies_at_the_second_try(void **state)
{
	u32 arming, to, nth;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
		for (to = 0; to < 2; to++)
			for (nth = 1; nth <= 21; nth++) {
				fail_then_apply(arming, false, nth, to);
				fail_then_apply(arming, true, nth, to);
			}
}

/* What each site is to be, as the engine has decided */
static u8 wanted[SITES];

static int write_all(struct world *w, bool in)
{
	const struct dp_view *v = &w->e->view;
	struct dp_sites sites = { .v = v->sites,
				  .jumps = v->jumps,
				  .nr_jumps = v->nr_jumps,
				  .total = v->nr_sites,
				  .n = v->nr_sites,
				  .may_go = true };
	struct dp_target *target = &w->t.target;
	int err;
	u32 i;

	for (i = 0; i < sites.n; i++) {
		sites.v[i].wanted = in ? wanted[i] : DP_WANT_OFF;
		sites.v[i].unowned = w->t.replaced;
	}
	err = dp_strategy_interior.disarm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_trap.disarm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_interior.arm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, NULL);
	return err;
}

/* Return: whether it was found out; it may have gone when all was written there. */
static bool expect_others(const struct world *w, bool in)
{
	const struct dp_view *v = &w->e->view;
	const struct text *t = &w->t;
	bool found = false;
	u32 i;

	for (i = 0; i < v->nr_sites; i++) {
		const struct dp_site_entry *s = &v->sites[i];
		u64 at = s->addr - t->base;

		if (at / SLOT == t->slot)
			found |= s->armed == DP_SITE_GONE;
		else if (in)
			expect_hits(w, s);
		else
			assert_memory_equal(t->now + at, t->orig + at,
					    SLOT / 2);
	}
	return found;
}

/* Return: whether it was gone before all was done. Where something else comes
 * there, a call may fail instead. */
static bool goes(u32 slot, u32 go_at, bool in, bool replaced, u32 *found)
{
	struct world w;
	bool gone;
	u32 i;
	int err;

	prepare(&w, HIGH, DP_ARM_INTERIOR);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < w.e->view.nr_sites; i++)
		wanted[i] = w.e->view.sites[i].wanted;
	assert_int_equal(write_all(&w, !in), 0);
	w.t.slot = slot;
	w.t.go_at = go_at;
	w.t.replaced = replaced;
	w.t.goes = true;
	err = write_all(&w, in);
	gone = w.t.gone;
	if (!replaced)
		assert_int_equal(err, 0);
	else if (err)
		assert_int_equal(err, -EBUSY);
	for (i = 0; gone && replaced && i < SLOT; i++)
		assert_int_equal(w.t.now[slot * SLOT + i], FOREIGN);
	if (!err)
		*found += expect_others(&w, in);
	assert_int_equal(w.t.broken, 0);
	end(&w);
	return gone;
}

/* Code that is unmapped or replaced half-way: the others are written, and it is
 * not. */
static void goes_on_without(void **state)
{
	static const u32 slots[] = { 0, 5, 7, 15, 26 };
	u32 i, n, how, found;

	for (how = 0; how < 4; how++)
		for (i = 0; i < 5; i++) {
			n = found = 0;
			while (goes(slots[i], n, how & 1, how & 2, &found))
				n++;
			assert_true(n > 10);
			assert_true(found > 1 || how & 2);
		}
}

/* None of these is ours, or there. */
static void refuses_foreign_bytes(void **state)
{
	u32 arming, b;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++)
		for (b = 0; b < DP_JUMP_SIZE; b++) {
			struct world w;
			u8 seen[SIZE];

			prepare(&w, HIGH, arming);
			w.t.now[5 * SLOT + b] = FOREIGN;
			w.t.synced[5 * SLOT + b] = FOREIGN;
			memcpy(seen, w.t.now, SIZE);
			assert_int_equal(commit(&w), -EBUSY);
			assert_int_equal(w.bad, w.t.base + 5 * SLOT);
			assert_memory_equal(w.t.now + 5 * SLOT, seen + 5 * SLOT,
					    SLOT);
			dp_engine_retract(w.e, &w.t.target, w.e->need.nr_pools);
			assert_memory_equal(w.t.now, seen, SIZE);
			assert_int_equal(w.t.broken, 0);
			end(&w);
		}
}

static void leaves_foreign_bytes(void **state)
{
	u32 arming, b;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++)
		for (b = 0; b < DP_JUMP_SIZE; b++) {
			u8 *at, seen[DP_JUMP_SIZE];
			struct world w;
			u64 bad = 0;

			prepare(&w, HIGH, arming);
			assert_int_equal(commit(&w), 0);
			at = w.t.now + 5 * SLOT;
			at[b] = FOREIGN;
			memcpy(seen, at, DP_JUMP_SIZE);
			assert_int_equal(disarm(&w, false, &bad), -EBUSY);
			assert_int_equal(bad, w.t.base + 5 * SLOT);
			assert_memory_equal(at, seen, DP_JUMP_SIZE);
			assert_true(site_of(&w, 5 * SLOT)->armed);
			/* All others have left. */
			memcpy(at, w.t.orig + 5 * SLOT, DP_JUMP_SIZE);
			assert_memory_equal(w.t.now, w.t.orig, SIZE);
			/* Nor does it come back over what is there again. */
			assert_int_equal(disarm(&w, false, &bad), 0);
			assert_int_equal(site_of(&w, 5 * SLOT)->armed, 0);
			end(&w);
		}
}

static bool nobody_traces(struct dp_target *target)
{
	return false;
}

static const struct dp_target_ops untraced = { .read = read_text,
					       .write = write_text,
					       .sync = sync_text,
					       .traced = nobody_traces };

/* A uprobe will write the file's byte: the bytes behind it have to be the file's, too. */
static void leaves_from_behind_a_uprobe(void **state)
{
	u32 signal_free;

	for (signal_free = 0; signal_free < 2; signal_free++) {
		struct world w;

		prepare(&w, HIGH,
			signal_free ? DP_ARM_QUIESCE : DP_ARM_INTERIOR);
		assert_int_equal(commit(&w), 0);
		w.t.target.ops = &untraced;
		w.t.now[5 * SLOT] = DP_BREAKPOINT;
		dp_engine_arena(w.e)->control.signal_free = signal_free;
		assert_int_equal(disarm(&w, false, NULL), 0);
		assert_int_equal(w.t.now[5 * SLOT], DP_BREAKPOINT);
		assert_int_equal(site_of(&w, 5 * SLOT)->armed, DP_SITE_OFF);
		w.t.now[5 * SLOT] = w.t.orig[5 * SLOT];
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

/* Bring probes, one a bit, from each subset to each. */
static void toggle_all(struct world *w, u32 n)
{
	u32 sets = 1u << n, i, set, probe;

	assert_int_equal(commit(w), 0);
	for (i = 0; i < sets * sets; i++) {
		set = i % 2 ? i / sets : i % sets;
		for (probe = 0; probe < n; probe++)
			dp_engine_turn(w->e, w->probe[probe], set >> probe & 1);
		assert_int_equal(apply(w), 0);
		expect_armed(w);
		assert_int_equal(w->t.broken, 0);
	}
	assert_int_equal(disarm(w, false, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	assert_int_equal(w->t.broken, 0);
}

static void toggles_every_subset(void **state)
{
	u32 arming, i;
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		begin(&w, HIGH, arming);
		for (i = 0; i < 6; i++)
			assert_int_equal(add(&w, (15 - i) * SLOT, i != 2), 0);
		assert_int_equal(build(&w), 0);
		toggle_all(&w, 6);
		end(&w);
	}
}

/* Neighbours: those that come later in the code than others, or of which one cannot jump. */
static void begin_neighbours(struct world *w, enum dp_arming arming, u32 how)
{
	static const u32 at[] = { 0, 1, 3, 4, 6 };
	u32 i, k;

	begin(w, HIGH, arming);
	hex("55 89e5 55 89e5 55 4889e5 4889e5", w->t.orig);
	for (i = 0; i < 5; i++) {
		k = how % 2 ? 4 - i : i;
		assert_int_equal(add(w, at[k], k != how / 2), 0);
	}
}

/* Each is turned off alone, and the others count on. */
static void toggles_neighbours(void **state)
{
	u32 arming, how;
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
		for (how = 0; how < 12; how += 3) {
			begin_neighbours(&w, arming, how);
			assert_int_equal(build(&w), 0);
			toggle_all(&w, 5);
			end(&w);
		}
}

/* Return: false if it did all that it had to. */
static bool killed_toggling(enum dp_arming arming, u32 how, u32 from, u32 to,
			    u32 writes, bool fails)
{
	struct world w;
	bool ended;
	u32 i;

	begin_neighbours(&w, arming, how);
	assert_int_equal(build(&w), 0);
	for (i = 0; i < 5; i++)
		dp_engine_turn(w.e, w.probe[i], from >> i & 1);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < 5; i++)
		dp_engine_turn(w.e, w.probe[i], to >> i & 1);
	if (fails)
		w.t.fail_at = writes + 1;
	else
		die_after(&w, writes, writes % DP_JUMP_SIZE);
	apply(&w);
	ended = fails ? !w.t.fail_at : w.t.dead;
	if (w.t.dead) {
		recover(&w);
	} else {
		w.t.fail_at = w.t.mortal = 0;
		assert_int_equal(apply(&w), 0);
		expect_armed(&w);
		assert_int_equal(w.t.broken, 0);
	}
	end(&w);
	return ended;
}

/* The tool dies, or a write fails, while one jump becomes another one. Of all that can change
 * to all, in all orders, some. */
static void recovers_while_jumps_change(void **state)
{
	u32 arming, how, i, fails, writes;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
		for (i = 0; i < 12 * 32 * 32; i += SOME)
			for (fails = 0; fails < 2; fails++) {
				how = i / 1024;
				writes = 0;
				while (killed_toggling(arming, how, i / 32 % 32,
						       i % 32, writes, fails))
					writes++;
			}
}

/* In all that the tests before have done. */
static void changes_no_site_impossibly(void **state)
{
	assert_int_equal(dp_engine_impossible(), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_in_steps),
		cmocka_unit_test(sees_what_is_broken),
		cmocka_unit_test(writes_jumps_at_once),
		cmocka_unit_test(recovers_from_every_kill),
		cmocka_unit_test(recovers_from_kills_while_recovering),
		cmocka_unit_test(rolls_back_failed_writes),
		cmocka_unit_test(disarms_at_the_second_try),
		cmocka_unit_test(applies_at_the_second_try),
		cmocka_unit_test(goes_on_without),
		cmocka_unit_test(refuses_foreign_bytes),
		cmocka_unit_test(leaves_foreign_bytes),
		cmocka_unit_test(leaves_from_behind_a_uprobe),
		cmocka_unit_test(toggles_every_subset),
		cmocka_unit_test(toggles_neighbours),
		cmocka_unit_test(recovers_while_jumps_change),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
