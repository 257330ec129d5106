// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flame_report: what a run has counted by stacks, as a tree. */
#include "tracer/flame.h"
#include "tracer/kept.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <errno.h>
#include <string.h>

#define COMM 16
/** struct names - of a stack, from the thread's on; @end: what stands for frames that are not known */
struct names {
	const char *v[DP_BACKTRACE_FRAMES + 2];
	u32 n;
};

static const char *const ends[DP_END_NR] = {
	[DP_END_NONE] = "[full]",
	[DP_END_UNKNOWN] = "[unknown]",
	[DP_END_UNREADABLE] = "[unreadable]",
	[DP_END_BROKEN] = "[broken]",
	[DP_END_DEEP] = "[deep]",
};

static void name_stack(struct names *names, const struct dp_walked_stack *stack,
		       u32 depth)
{
	u32 i;

	if (ends[stack->end])
		names->v[names->n++] = ends[stack->end];
	for (i = stack->n; i-- > 0;)
		names->v[names->n++] = stack->frames[i].function;
	if (depth && names->n > depth + 1)
		names->n = depth + 1;
}

/* The key is comm, and the stack. The name has a 0 behind it: its words are 16 bytes, of which the
 * kernel gives 15; those that the target has written may have none. */
static int add_row(struct dp_flame *top, const struct dp_kept *kept,
		   struct dp_kept_row *row, u32 depth)
{
	char *comm = (char *)row->key;
	u32 stack_at = kept->program.items[0].words;
	const struct dp_walked_stack *stack =
		dp_walked_get(&kept->walked, (u32)row->key[stack_at]);
	struct names names = { .n = 1 };

	if (!stack)
		return 0;
	comm[COMM - 1] = 0;
	names.v[0] = comm;
	name_stack(&names, stack, depth);
	return dp_flame_add(top, names.v, names.n, row->words[0]);
}

static struct dp_kept *kept_of(const struct dp_session *s, size_t spec)
{
	return (struct dp_kept *)s->own + spec;
}

static int add_all(const struct dp_session *s, struct dp_flame *top)
{
	struct dp_kept *kept;
	size_t i, k;
	int err = 0;

	for (i = 0; i < s->nr_specs && !err; i++) {
		kept = kept_of(s, i);
		for (k = 0; k < kept->ended.rows.n && kept->made && !err; k++)
			err = add_row(top, kept, &kept->ended.rows.v[k],
				      s->opt->depth);
	}
	return err;
}

static void write_svg(struct dp_session *s, const struct dp_flame *top)
{
	FILE *out = fopen(s->opt->flame, "we");
	char title[200];
	bool bad;

	snprintf(title, sizeof(title), "%s: %lu hits%s",
		 s->nr_specs ? s->specs[0].text : "", top->count,
		 s->nr_specs > 1 ? ", and those of other probes" : "");
	bad = !out || dp_flame_svg(out, top, title) || ferror(out);
	if ((out && fclose(out)) || bad) {
		dp_output_say("cannot write %s: %s", s->opt->flame,
			      strerror(errno));
		s->unwritten = true;
	}
}

static void print_tree(struct dp_session *s, struct dp_flame *top)
{
	const struct dp_tracer_options *opt = s->opt;
	int err = dp_flame_sort(top, opt->folded || opt->flame);

	if (!err && opt->flame)
		write_svg(s, top);
	if (!err && opt->folded)
		dp_flame_folded(opt->out, top);
	else if (!err && !opt->flame && !opt->json)
		dp_flame_text(opt->out, top);
	if (err)
		dp_output_say("out of memory: stacks are not shown");
}

static void print_json(const struct dp_session *s, struct dp_kept *kept)
{
	size_t n = dp_kept_sort(kept, &kept->ended.rows);

	dp_kept_json(s->opt->out, kept, &kept->ended, n, 0, NULL, "");
}

void dp_flame_report(struct dp_session *s)
{
	struct dp_flame top = { .name = "" };
	size_t i;

	for (i = 0; i < s->nr_specs; i++) {
		if (!kept_of(s, i)->made)
			continue;
		if (s->opt->json)
			print_json(s, kept_of(s, i));
		else
			dp_kept_lost(kept_of(s, i), &kept_of(s, i)->ended);
	}
	if (add_all(s, &top))
		dp_output_say("out of memory: some stacks are not shown");
	print_tree(s, &top);
	dp_flame_free(&top);
	fflush(s->opt->out);
}
