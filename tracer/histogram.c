// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * histogram: counts by ranges of values, as bars and as JSON.
 *
 * Ranges of powers of two are written with K for 1,024, as bpftrace does; those of times with us for
 * 1,024 ns, ms for 1,024 us. JSON has the numbers.
 */
#include "tracer/kept.h"
#include "tracer/output.h"
#include <string.h>

#define BAR 52
#define LABEL 24
#define NUMBER 24
#define LABEL_ROOM (2 * NUMBER + 8)
#define STEP 1024u

/** struct range - of values from @low to @high; @below, @above: without such an end */
struct range {
	s64 low, high;
	bool below, above, huge;
};

/* Modulo 2^64: the ends of ranges lie on both sides of all that a value with a sign can be. */
static s64 plus(s64 a, u64 b)
{
	return (s64)((u64)a + b);
}

static struct range hist_range(u32 i)
{
	struct range r = { 0 };

	if (i == DP_HIST_NEGATIVE)
		return (struct range){ .high = -1, .below = true };
	if (i == 64)
		return (struct range){ .above = true, .huge = true };
	r.low = i ? (s64)(1ull << (i - 1)) : 0;
	r.high = i ? (s64)((1ull << i) - 1) : 0;
	return r;
}

static struct range lhist_range(const struct dp_aggregate_field *f, u32 i)
{
	struct range r = { .low = f->low, .high = plus(f->low, -1ull) };

	if (!i)
		r.below = true;
	else if (i == f->words - 1u)
		r.above = true;
	else
		r.low = plus(f->low, (i - 1) * f->step);
	if (r.above)
		r.low = f->high;
	else if (i)
		r.high = (u64)f->high - (u64)r.low > f->step ?
				 plus(r.low, f->step - 1) :
				 f->high - 1;
	return r;
}

static struct range range_of(const struct dp_aggregate_field *f, u32 i)
{
	return f->kind == DP_FIELD_HIST ? hist_range(i) : lhist_range(f, i);
}

/* Values below 0 come first. Return: buckets, in their order in @order */
static u32 order_of(const struct dp_aggregate_field *f, u32 i)
{
	if (f->kind != DP_FIELD_HIST)
		return i;
	return i ? i - 1 : DP_HIST_NEGATIVE;
}

/* A number of the power-of-two kind, and then its unit. What no unit divides is written out. */
static void label_power(char *to, u64 value, bool time)
{
	static const char *const plain[] = { "", "K", "M", "G", "T", "P", "E" };
	static const char *const times[] = { "ns", "us", "ms", "s" };
	u32 unit = 0, most = time ? 3 : 6;

	while (unit < most && value >= STEP && value % STEP == 0) {
		value /= STEP;
		unit++;
	}
	snprintf(to, NUMBER, "%lu%s", value,
		 value ? (time ? times : plain)[unit] : "");
}

static void label_time(char *to, s64 value)
{
	static const struct {
		s64 ns;
		const char *unit;
	} units[] = { { 1000000000, "s" },
		      { 1000000, "ms" },
		      { 1000, "us" },
		      { 1, "ns" } };
	u32 i = 0;

	while (value % units[i].ns)
		i++;
	snprintf(to, NUMBER, "%ld%s", value / units[i].ns,
		 value ? units[i].unit : "");
}

static void label(char *to, const struct dp_aggregate_field *f, s64 value,
		  bool time)
{
	if (f->kind == DP_FIELD_HIST)
		label_power(to, (u64)value, time);
	else if (time)
		label_time(to, value);
	else
		snprintf(to, NUMBER, "%ld", value);
}

static void name_range(char *to, const struct dp_aggregate_field *f, u32 i,
		       bool time)
{
	struct range r = range_of(f, i);
	char low[NUMBER], high[NUMBER];

	label(low, f, r.huge ? (s64)(1ull << 63) : r.low, time);
	label(high, f, plus(r.high, 1), time);
	if (r.below)
		snprintf(to, LABEL_ROOM, "(..., %s)", high);
	else if (r.above)
		snprintf(to, LABEL_ROOM, "[%s, ...)", low);
	else if (r.low == r.high)
		snprintf(to, LABEL_ROOM, "[%s]", low);
	else
		snprintf(to, LABEL_ROOM, "[%s, %s)", low, high);
}

static u64 largest(const u64 *buckets, u32 n)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < n; i++)
		if (buckets[i] > most)
			most = buckets[i];
	return most;
}

static void bar(FILE *out, u64 n, u64 most)
{
	char text[BAR + 1];
	size_t filled = (size_t)((double)n / (double)most * BAR);

	memset(text, ' ', BAR);
	memset(text, '@', filled < BAR ? filled : BAR);
	text[BAR] = '\0';
	dp_output_print(out, " |%s|\n", text);
}

void dp_histogram_print(FILE *out, const struct dp_aggregate_field *f,
			const u64 *buckets, bool time)
{
	u64 most = largest(buckets, f->words);
	char name[LABEL_ROOM];
	u32 first = 0, last = f->words, i, at;

	if (!most)
		return;
	while (!buckets[order_of(f, first)])
		first++;
	while (!buckets[order_of(f, last - 1)])
		last--;
	for (i = first; i < last; i++) {
		at = order_of(f, i);
		name_range(name, f, at, time);
		dp_output_print(out, "%-*s %10lu", LABEL, name, buckets[at]);
		bar(out, buckets[at], most);
	}
}

void dp_histogram_json(FILE *out, const struct dp_aggregate_field *f,
		       const u64 *buckets)
{
	const char *comma = "";
	u32 i, at;

	putc('[', out);
	for (i = 0; i < f->words; i++) {
		struct range r = range_of(f, order_of(f, i));

		at = order_of(f, i);
		if (!buckets[at])
			continue;
		dp_output_print(out, "%s{", comma);
		if (r.huge)
			dp_output_print(out, "\"min\":%lu,", 1ul << 63);
		else if (!r.below)
			dp_output_print(out, "\"min\":%ld,", r.low);
		if (!r.above)
			dp_output_print(out, "\"max\":%ld,", r.high);
		dp_output_print(out, "\"count\":%lu}", buckets[at]);
		comma = ",";
	}
	putc(']', out);
}
