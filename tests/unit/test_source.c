// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of sessions and reports over a source that is made up: no process, no agent. */
#include "sym/sym.h"
#include "tracer/interval.h"
#include "tracer/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define POINTS 5
/* After so many ticks a record can be seen, whatever CPU has made it. */
#define SEEN (1u << 27)
#define TURNS 3

/* What the source did, and what it is to do. */
static struct {
	bool strange, late; /* its records are of no probe */
	char log[256];
	int turn, arm_error, disarm_error;
	bool asks;
	FILE *out;
	const char *filter_refused;
	size_t bound;
	u64 now;
	struct dp_account calls;
} fake;

static void note(const char *what)
{
	strncat(fake.log, what, sizeof(fake.log) - strlen(fake.log) - 1);
}

static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct dp_points *p = want->points;
	size_t i;
	u32 next = 0;
	int err = 0;

	note("add ");
	assert_true(want->logs);
	for (i = 0; i < p->n && !err; i++) {
		p->v[i].probe = next;
		if (p->v[i].refused)
			continue;
		next += 1 + (u32)p->v[i].nr_exits;
		err = want->bind(want->arg, i, diag);
	}
	return err;
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	note("arm ");
	return fake.arm_error ? dp_diag_set(diag, fake.arm_error, "no") : 0;
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	assert_in_range(ms, 0,
			fake.turn < TURNS && !fake.filter_refused ? 10 : 200);
	/* What is as late as the reading has to wait for the next one. */
	if (fake.turn == 1 && !fake.filter_refused && !fake.strange &&
	    !fake.late)
		assert_int_equal(ftell(fake.out), strlen("a b c "));
	fake.now += SEEN;
	return ++fake.turn < TURNS ? DP_SOURCE_RUNS : DP_SOURCE_EXITED;
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	*news = (struct dp_source_news){
		.most = 10,
		.asked = fake.asks && fake.turn == 1,
		.filter_refused = fake.filter_refused,
	};
}

static u64 ticks(void)
{
	return fake.now;
}

static void give(dp_source_take take, void *arg, u32 probe, u64 when)
{
	struct dp_record_copy record = { .head = { .probe = probe,
						   .ticks = when } };

	take(arg, &record);
}

/* Two wait for the next reading, and those that come then belong before, between and behind them. */
static size_t late_records(dp_source_take take, void *arg)
{
	u64 from = fake.now - SEEN * (u64)fake.turn;

	if (fake.turn == 1) {
		give(take, arg, 4, from + 5);
		give(take, arg, 1, from + 3);
	} else if (fake.turn == 2) {
		give(take, arg, 0, from + 6);
		give(take, arg, 4, from + 2);
		give(take, arg, 0, from + 4);
	}
	return 3;
}

/* Out of order, and one of them too early to be told yet. */
static size_t records(struct dp_source *source, dp_source_take take, void *arg,
		      bool ended)
{
	if (fake.late && !ended)
		return late_records(take, arg);
	if (fake.turn != 1 || ended)
		return 0;
	give(take, arg, 4, fake.now - SEEN - 1);
	give(take, arg, 0, fake.now - SEEN - 3);
	give(take, arg, 1, fake.now - SEEN - 2);
	give(take, arg, 0, fake.now - SEEN);
	return 4;
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return tid;
}

static bool outdated(const struct dp_source *source, bool failed)
{
	return false;
}

static void count(const struct dp_source *source, const struct dp_point *point,
		  struct dp_source_count *c)
{
	*c = (struct dp_source_count){ .hits = 10 + point->probe,
				       .missed = point->probe,
				       .interior = point->probe == 4 ? 7 : 0,
				       .mode = "jump" };
}

static void totals(const struct dp_source *source, struct dp_source_totals *all)
{
	*all = (struct dp_source_totals){ .interior = 3, .torn = 2, .gone = 1 };
}

static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	return 1000 + program;
}

static void calls(const struct dp_source *source, const struct dp_point *point,
		  struct dp_account *counts)
{
	*counts = fake.calls;
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	note(alive ? "disarm " : "leave ");
	return fake.disarm_error ? dp_diag_set(diag, fake.disarm_error, "in") :
				   0;
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
	note("settle ");
	give(take, arg, 4, fake.now);
}

static void end(const struct dp_source *source, struct dp_source_end *end)
{
	*end = (struct dp_source_end){ .known = true,
				       .status = 3 << 8,
				       .execed = "" };
}

static void kill_launched(struct dp_source *source)
{
	note("kill ");
}

static u32 hear(struct dp_source *source)
{
	return 17;
}

static void answer(struct dp_source *source, u32 heard)
{
	assert_int_equal(heard, 17);
	note("answer ");
}

static void look(struct dp_source *source)
{
}

static bool is_gone(const struct dp_source *source,
		    const struct dp_point *point)
{
	return false;
}

static const struct dp_source_libraries libraries = {
	.hear = hear,
	.answer = answer,
	.look = look,
	.is_gone = is_gone,
};

static const struct dp_source_ops ops = {
	.name = "fake",
	.libraries = &libraries,
	.add = add,
	.arm = arm,
	.wait = wait_for,
	.tend = tend,
	.ticks = ticks,
	.records = records,
	.thread = thread,
	.outdated = outdated,
	.count = count,
	.totals = totals,
	.variable = variable,
	.calls = calls,
	.disarm = disarm,
	.settle = settle,
	.end = end,
	.kill = kill_launched,
};

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	fake.bound |= 1u << point;
	s->points.v[point].program = (u32)point;
	return 0;
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);

	fprintf(s->opt->out, "%s ", p ? p->name : "?");
}

static void report(struct dp_session *s)
{
	note("report ");
}

static const struct dp_session_kind kind = {
	.bind = bind,
	.record = record,
	.report = report,
};

/* Two entries with exits among them, and two that are refused. */
struct bench {
	struct dp_session s;
	struct dp_source source;
	struct dp_printed printed;
	struct dp_tracer_options opt;
	struct dp_spec entry, ret;
	struct dp_point v[POINTS];
	char *text;
	size_t size;
};

static void begin(struct bench *b, bool json)
{
	static const char *const names[POINTS] = { "no", "a", "b", "nor", "c" };
	static const u32 numbers[POINTS] = { 0, 0, 1, 4, 4 };
	size_t i;

	memset(&fake, 0, sizeof(fake));
	fake.now = 10 * SEEN;
	memset(b, 0, sizeof(*b));
	b->opt = (struct dp_tracer_options){ .quiet = true, .json = json };
	b->opt.out = fake.out = open_memstream(&b->text, &b->size);
	b->ret.kind = DP_SPEC_RETURN;
	b->source = (struct dp_source){ .ops = &ops,
					.pid = getpid(),
					.launched = true,
					.tracks = true,
					.exe = "/bin/fake" };
	for (i = 0; i < POINTS; i++)
		b->v[i] = (struct dp_point){ .name = (char *)names[i],
					     .probe = numbers[i],
					     .spec = &b->entry };
	b->v[0].refused = b->v[3].refused = -EINVAL;
	strcpy(b->v[0].reason, "it is none");
	b->v[2].spec = &b->ret;
	b->v[2].nr_exits = 2;
	b->s = (struct dp_session){
		.opt = &b->opt,
		.kind = &kind,
		.ops = &ops,
		.source = &b->source,
		.points = { .v = b->v, .n = POINTS, .cap = POINTS },
		.printed = &b->printed,
	};
}

static void finish(struct bench *b, const char *text)
{
	fclose(b->opt.out);
	assert_string_equal(b->text, text);
	free(b->text);
	dp_records_close(&b->s);
}

static void whose_probe(void **state)
{
	static const char *const owner[] = { "a", "b", "b", "b", "c", "c" };
	struct bench b;
	u32 i;

	begin(&b, false);
	for (i = 0; i < sizeof(owner) / sizeof(owner[0]); i++)
		assert_string_equal(dp_record_point(&b.s, i)->name, owner[i]);
	b.s.points.n = 1;
	assert_null(dp_record_point(&b.s, 0));
	finish(&b, "");
}

static void from_arming_to_status(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.asks = true;
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), 3);
	assert_string_equal(fake.log, "add arm answer leave settle report ");
	assert_int_equal(fake.bound, 1 << 1 | 1 << 2 | 1 << 4);
	assert_int_equal(b.s.ending, DP_ENDING_EXIT);
	assert_int_equal(b.s.written, 5);
	/* In order of time; the last is of a call that was left. */
	finish(&b, "a b c a c ");
}

static void what_waits_is_merged(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.late = true;
	dp_session_run(&b.s, &died_of, &diag);
	finish(&b, "c b a c a c ");
}

/* Whatever they are of, a record or a call that was left */
static void no_more_records_than_asked_for(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;
	u64 n;

	for (n = 3; n <= 6; n++) {
		begin(&b, false);
		dp_diag_clear(&diag);
		fake.asks = true;
		b.source.launched = false;
		b.opt.records = n;
		assert_int_equal(dp_session_run(&b.s, &died_of, &diag), 0);
		assert_int_equal(b.s.written, n < 5 ? n : 5);
		assert_int_equal(b.printed.records, b.s.written);
		fflush(b.opt.out);
		assert_int_equal(b.size, 2 * b.s.written);
		fclose(b.opt.out);
		free(b.text);
		dp_records_close(&b.s);
	}
}

/* The process writes the records, and may name what it likes. */
static void of_no_probe(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.strange = true;
	b.s.points.n = 1;
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), 3);
	assert_int_equal(b.s.written, 0);
	assert_int_equal(b.s.dropped, 0);
	assert_int_equal(b.s.torn, 5);
	finish(&b, "");
}

static void not_followed(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	b.opt.children = true;
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), -EOPNOTSUPP);
	assert_non_null(strstr(diag.text, "fake"));
	assert_string_equal(fake.log, "");
	finish(&b, "");
}

/* The filter is about to be there, so what the process has is still looked at. */
static void ended_by_filter(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.filter_refused = "a filter";
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), 3);
	assert_string_equal(fake.log, "add arm disarm settle report ");
	assert_int_equal(b.s.ending, DP_ENDING_FILTER);
	finish(&b, "c ");
}

static void not_armed(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.arm_error = -EBUSY;
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), -EBUSY);
	assert_string_equal(diag.text, "no");
	assert_string_equal(fake.log, "add arm ");
	finish(&b, "");
}

static void not_left(void **state)
{
	struct dp_diag diag;
	struct bench b;
	int died_of = 0;

	begin(&b, false);
	dp_diag_clear(&diag);
	fake.disarm_error = -EAGAIN;
	assert_int_equal(dp_session_run(&b.s, &died_of, &diag), -EAGAIN);
	assert_string_equal(diag.text, "in");
	assert_string_equal(fake.log, "add arm leave settle report ");
	finish(&b, "a b c a c ");
}

static void counted(void **state)
{
	static const struct dp_session_kind counts = {
		.report = dp_report_counts,
	};
	struct bench b;

	begin(&b, true);
	b.s.kind = &counts;
	b.s.points.n = 3;
	b.ret.cond = (char *)"arg0 == 1";
	b.v[2].program = 2;
	fake.calls.returned = 5;
	fake.calls.abandoned = 2;
	dp_report_counts(&b.s);
	finish(&b,
	       "{\"probe\":\"no\",\"refused\":\"it is none\"}\n"
	       "{\"probe\":\"a\",\"hits\":10,\"missed\":0,\"mode\":\"jump\"}\n"
	       "{\"probe\":\"b\",\"hits\":1002,\"missed\":1,\"mode\":\"jump\",\"returned\":5,\"tail\":0,\"unwound\":0,\"abandoned\":2,\"inside\":0}\n");
}

static void counted_text(void **state)
{
	struct bench b;

	begin(&b, false);
	b.s.points.v += 3;
	b.s.points.n = 2;
	b.opt.verbose = false;
	dp_report_counts(&b.s);
	finish(&b, "        HITS   MISSED  MODE  PROBE\n"
		   "          14        4  jump  c\n");
}

static void summed(void **state)
{
	struct dp_sums sums = { .hits = 100 };
	struct bench b;

	begin(&b, false);
	b.s.written = 4;
	b.v[4].spec = &b.ret;
	b.ret.cond = (char *)"arg0 == 1";
	b.v[4].program = 7;
	dp_sums_add(&sums, &b.s);
	assert_int_equal(sums.hits, 100 + 10 + 11 + 14);
	/* Where records are made a condition does not count. */
	assert_int_equal(sums.held, 10 + 11 + 14);
	assert_int_equal(sums.missed, 0 + 1 + 4);
	assert_int_equal(sums.written, 4);
	assert_int_equal(sums.interior_arrivals, 3);
	assert_int_equal(sums.torn, 2);
	assert_int_equal(sums.gone, 1);
	finish(&b, "");
}

static void account(void **state)
{
	struct dp_account sum;
	struct bench b;

	begin(&b, false);
	fake.calls = (struct dp_account){
		.entered = 9, .returned = 6, .lost = -1, .inside = 4
	};
	/* Of five points one is a return probe that is not refused. */
	assert_true(dp_calls_total(&b.s, &sum));
	assert_int_equal(sum.entered, 9);
	assert_int_equal(sum.returned, 6);
	assert_int_equal(sum.inside, 4);
	assert_true(sum.lost == -1);
	b.v[4].spec = &b.ret;
	b.v[3].spec = &b.ret;
	assert_true(dp_calls_total(&b.s, &sum));
	assert_int_equal(sum.entered, 18);
	b.source.tracks = false;
	assert_false(dp_calls_total(&b.s, &sum));
	finish(&b, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_probe),
		cmocka_unit_test(from_arming_to_status),
		cmocka_unit_test(what_waits_is_merged),
		cmocka_unit_test(no_more_records_than_asked_for),
		cmocka_unit_test(of_no_probe),
		cmocka_unit_test(not_followed),
		cmocka_unit_test(ended_by_filter),
		cmocka_unit_test(not_armed),
		cmocka_unit_test(not_left),
		cmocka_unit_test(counted),
		cmocka_unit_test(counted_text),
		cmocka_unit_test(summed),
		cmocka_unit_test(account),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
