// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_table: tables in which programs keep hits, for who may see addresses: a key may be one.
 *
 * A row goes out as its key, the hits, and the words of each field, which are plain: what the engine orders is turned back.
 */
#include "kmod/device.h"
#include "kmod/tables.h"
#include <dprobes/device.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Bytes of rows that are copied at a time, at most */
#define ROOM (1u << 20)

static_assert(DP_DEVICE_SUM == (int)DP_FIELD_SUM);
static_assert(DP_DEVICE_DISTINCT == (int)DP_FIELD_SET);
static_assert(DP_DEVICE_BUCKETS == DP_HIST_BUCKETS);
static_assert(DP_DEVICE_FIELDS == DP_AGGREGATE_FIELDS);
static_assert(DP_DEVICE_KEYS == DP_AGGREGATE_KEYS);
static_assert(DP_DEVICE_MOST == DP_AGGREGATE_MOST);
static_assert(DP_DEVICE_TABLES == DP_AGGREGATE_TABLES);

static bool is_sound_field(const struct dp_device_field *f)
{
	u64 range = (u64)f->high - (u64)f->low;

	if (f->kind > DP_DEVICE_DISTINCT || f->sign > 1)
		return false;
	if (f->kind != DP_DEVICE_LHIST)
		return !f->low && !f->high && !f->step;
	return f->low < f->high && range < 1ull << 63 && f->step &&
	       (range - 1) / f->step < DP_DEVICE_STEPS;
}

static int copy_shape(const struct dp_device_table *want,
		      struct dp_aggregate_shape *shape)
{
	struct dp_device_field v[DP_DEVICE_FIELDS];
	u32 i;

	if (copy_from_user(v, u64_to_user_ptr(want->fields),
			   want->nr * sizeof(*v)))
		return -EFAULT;
	*shape = (struct dp_aggregate_shape){ .keys = want->keys,
					      .most = want->most,
					      .nr = want->nr };
	for (i = 0; i < want->nr; i++) {
		if (!is_sound_field(&v[i]))
			return -EINVAL;
		shape->fields[i] =
			(struct dp_aggregate_field){ .kind = (u8)v[i].kind,
						     .sign = (u8)v[i].sign,
						     .low = v[i].low,
						     .high = v[i].high,
						     .step = v[i].step };
	}
	return 0;
}

/* A set has keys alone. */
static u32 words_of(const struct dp_aggregate_entry *t)
{
	u32 words = t->keys + (t->row_words ? 1 : 0), i;

	for (i = 0; i < t->nr_fields; i++)
		words += t->fields[i].words;
	return words;
}

static bool is_sound(const struct dp_device_table *want)
{
	return !want->table && !want->row &&
	       !memchr_inv(want->distinct, 0, sizeof(want->distinct)) &&
	       !memchr_inv(want->reserved, 0, sizeof(want->reserved)) &&
	       want->keys <= DP_DEVICE_KEYS && want->most &&
	       want->most <= DP_DEVICE_MOST && want->nr <= DP_DEVICE_FIELDS &&
	       want->words_size <= DP_DEVICE_WORDS;
}

static int add(struct dp_owner *o, struct dp_device_table *want,
	       const struct dp_aggregate_shape *shape, const char **why)
{
	struct dp_aggregate_entry *t = kmalloc(sizeof(*t), GFP_KERNEL);
	int err = t ? dp_client_add_table(&o->client, shape, &want->table, t,
					  why) :
		      -ENOMEM;
	u32 i;

	if (!err)
		want->row = words_of(t);
	for (i = 0; !err && i < t->nr_fields; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			want->distinct[i] = t->fields[i].set;
	kfree(t);
	return err;
}

int dp_device_table(struct dp_owner *o, struct dp_device_table *want)
{
	struct dp_aggregate_shape *shape;
	const char *why = NULL;
	int err;

	if (!is_sound(want) || !dp_device_may_add(o))
		return -EINVAL;
	if (!o->client.shows)
		return -EPERM;
	err = dp_device_answer(want->words, want->words_size, "");
	if (err)
		return err;
	shape = kmalloc(sizeof(*shape), GFP_KERNEL);
	if (!shape)
		return -ENOMEM;
	err = copy_shape(want, shape) ?: add(o, want, shape, &why);
	kfree(shape);
	return dp_device_refuse(err, want->words, want->words_size, why);
}

/* Rows */

/** struct taking - @t: of the table; @to: where the next row goes */
struct taking {
	const struct dp_aggregate_entry *t;
	u64 *to;
};

static u64 *take_field(u64 *to, const struct dp_aggregate_field *f,
		       const u64 *row)
{
	u32 i;

	for (i = 0; i < f->words; i++)
		to[i] = row[f->at + i];
	if (f->kind == DP_FIELD_MAX || f->kind == DP_FIELD_MIN)
		to[0] = dp_field_ordered(f, to[0]);
	if (f->kind == DP_FIELD_FIRST)
		to[0] = ~to[0];
	return to + f->words;
}

static void take(void *arg, const u64 *key, const u64 *row)
{
	struct taking *taking = arg;
	const struct dp_aggregate_entry *t = taking->t;
	u64 *to = taking->to;
	u32 i;

	memcpy(to, key, t->keys * sizeof(*to));
	to += t->keys;
	if (t->row_words)
		*to++ = row[0];
	for (i = 0; i < t->nr_fields; i++)
		to = take_field(to, &t->fields[i], row);
	taking->to = to;
}

static int read_rows(const struct dp_owner *o, struct dp_device_rows *want,
		     const struct dp_aggregate_entry *t)
{
	u32 bytes = words_of(t) * sizeof(u64), most = want->nr;
	struct taking taking = { .t = t };
	u64 lost[DP_LOST_NR] = { 0 }, *rows;
	int more;

	most = bytes ? min(most, ROOM / bytes) : 0;
	rows = kvmalloc(most * bytes + 1, GFP_KERNEL);
	if (!rows)
		return -ENOMEM;
	taking.to = rows;
	more = dp_client_read_table(&o->client, want->table, &want->next, most,
				    take, &taking, lost);
	want->more = more > 0;
	want->full = lost[DP_LOST_FULL];
	want->unreadable = lost[DP_LOST_UNREADABLE];
	want->nr = bytes ? (u32)((u8 *)taking.to - (u8 *)rows) / bytes : 0;
	if (more >= 0 &&
	    copy_to_user(u64_to_user_ptr(want->rows), rows, want->nr * bytes))
		more = -EFAULT;
	kvfree(rows);
	return more < 0 ? more : 0;
}

int dp_device_rows(const struct dp_owner *o, struct dp_device_rows *want)
{
	struct dp_aggregate_entry *t;
	int err;

	if (want->full || want->unreadable || want->more || want->reserved ||
	    !o->committed)
		return -EINVAL;
	if (!o->client.shows)
		return -EPERM;
	t = kmalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	err = dp_client_table(&o->client, want->table, t) ?
		      -EINVAL :
		      read_rows(o, want, t);
	kfree(t);
	return err;
}
