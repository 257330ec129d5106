// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* graph_print: trees of calls, as text, as JSON, and as events of Chrome's trace format. */
#include "tracer/graph.h"
#include "tracer/output.h"
#include <string.h>

#define INDENT 2
#define INDENT_MOST 50 /* levels; deeper ones have their number */

/* With the largest unit of which it is one, but us for what is less */
static void print_time(FILE *out, u64 ns)
{
	static const struct {
		u64 ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	size_t i = 0;

	while (i < 2 && ns < units[i].ns)
		i++;
	dp_output_print(out, "%4lu.%03lu %-2s", ns / units[i].ns,
			ns % units[i].ns * 1000 / units[i].ns, units[i].name);
}

static void begin_line(FILE *out, const struct dp_graph_thread *t,
		       const struct dp_call *c, u32 depth)
{
	if (c && c->how != DP_CALL_ABANDONED)
		print_time(out, c->ns);
	else
		dp_output_print(out, "%11s", "");
	dp_output_print(
		out, " [%7u] | %*s", t->tid,
		(int)(depth < INDENT_MOST ? depth : INDENT_MOST) * INDENT, "");
	if (depth > INDENT_MOST)
		dp_output_print(out, "%u: ", depth);
}

static const char *returned(const struct dp_call *c)
{
	return c->text ? c->text + strlen(c->text) + 1 : "";
}

/* "r:prog:f" is "f" in the program itself, and "libc.so.6:f" elsewhere. */
static const char *name_of(const struct dp_graph_thread *t,
			   const struct dp_call *c)
{
	const char *name = c->point->name, *program = dp_report_program(t->s);
	size_t len = strlen(program);

	name += strncmp(name, "r:", 2) ? 0 : 2;
	return strncmp(name, program, len) || name[len] != ':' ? name :
								 name + len + 1;
}

static void print_name(FILE *out, const struct dp_graph_thread *t,
		       const struct dp_call *c)
{
	const char *name = name_of(t, c);

	dp_output_write(out, name, strlen(name));
}

/* What it returned, or how else it ended */
static void print_end(FILE *out, const struct dp_call *c)
{
	if (c->how == DP_CALL_RETURNED)
		dp_output_print(out, "%s", returned(c));
	else
		dp_output_print(out, " = %s", dp_leaving_names[c->how]);
}

static bool is_leaf(const struct dp_graph_out *o, const struct dp_call *c,
		    u32 depth)
{
	return !c->first || (o->opt->depth && depth + 1 >= o->opt->depth);
}

static void open_text(struct dp_graph_out *o, const struct dp_graph_thread *t,
		      const struct dp_call *c, u32 depth)
{
	bool leaf = is_leaf(o, c, depth);
	FILE *out = o->opt->out;

	begin_line(out, t, leaf ? c : NULL, depth);
	print_name(out, t, c);
	dp_output_print(out, "(%s)", c->text ? c->text : "");
	if (leaf)
		print_end(out, c);
	dp_output_print(out, "%s%s\n", leaf ? ";" : " {",
			c->own ? " /* on its own stack */" : "");
}

static void close_text(struct dp_graph_out *o, const struct dp_graph_thread *t,
		       const struct dp_call *c, u32 depth)
{
	FILE *out = o->opt->out;

	begin_line(out, t, c, depth);
	fputs("} /* ", out);
	print_name(out, t, c);
	fputs(" */", out);
	print_end(out, c);
	putc('\n', out);
}

static void open_json(struct dp_graph_out *o, const struct dp_graph_thread *t,
		      const struct dp_call *c, u32 depth)
{
	struct dp_stamp stamp = { .seconds = c->seconds,
				  .pid = t->pid,
				  .tid = t->tid,
				  .comm = t->comm };
	u64 us = (u64)(c->seconds * 1e6);
	FILE *out = o->opt->out;

	snprintf(stamp.time, sizeof(stamp.time), ".%06lu", us % 1000000);
	putc('{', out);
	dp_json_stamp(out, &stamp, c->point->name);
	dp_output_print(out, ",\"depth\":%u", depth);
	if (c->how != DP_CALL_ABANDONED)
		dp_output_print(out, ",\"latency_ns\":%lu", c->ns);
	dp_output_print(out, ",\"exit\":\"%s\"", dp_leaving_names[c->how]);
	if (c->own)
		fputs(",\"own_stack\":true", out);
	if (c->text)
		dp_output_print(out, "%s%s", c->text, returned(c));
	fputs("}\n", out);
}

static void begin_event(struct dp_graph_out *o, const struct dp_graph_thread *t,
			const struct dp_call *c, const char *phase, double us)
{
	FILE *out = o->opt->out;

	if (o->objects++)
		fputs(",\n", out);
	else
		fputs("{\"traceEvents\":[\n", out);
	fputs("{\"name\":", out);
	dp_json_string(out, name_of(t, c));
	dp_output_print(out, ",\"ph\":\"%s\",\"ts\":%.3f,\"pid\":%u,\"tid\":%u",
			phase, us, t->pid, t->tid);
	if (c->track)
		dp_output_print(out, ",\"cat\":\"stack\",\"id\":\"%u.%u\"",
				t->tid, c->track);
}

static void end_event(struct dp_graph_out *o, const struct dp_call *c)
{
	dp_output_print(o->opt->out, ",\"args\":{\"exit\":\"%s\"}}",
			dp_leaving_names[c->how]);
}

/* Events of a thread must be within one another. So those on stacks of their own are asynchronous ones, with the number
 * of their track, and a call has two. */
static void open_own_event(struct dp_graph_out *o,
			   const struct dp_graph_thread *t,
			   const struct dp_call *c)
{
	double us = c->seconds * 1e6;

	if (c->how == DP_CALL_ABANDONED) {
		begin_event(o, t, c, "n", us);
	} else {
		begin_event(o, t, c, "b", us);
		end_event(o, c);
		begin_event(o, t, c, "e", us + (double)c->ns / 1e3);
	}
	end_event(o, c);
}

/* An event of Chrome's trace format, which Perfetto reads, too. Its times are microseconds. */
static void open_event(struct dp_graph_out *o, const struct dp_graph_thread *t,
		       const struct dp_call *c, u32 depth)
{
	bool lasted = c->how != DP_CALL_ABANDONED;

	if (c->track) {
		open_own_event(o, t, c);
		return;
	}
	begin_event(o, t, c, lasted ? "X" : "I", c->seconds * 1e6);
	if (lasted)
		dp_output_print(o->opt->out, ",\"dur\":%lu.%03lu", c->ns / 1000,
				c->ns % 1000);
	else
		fputs(",\"s\":\"t\"", o->opt->out);
	end_event(o, c);
}

/** struct form - how a call is written: @open before its own calls, @close, or NULL, behind them */
struct form {
	void (*open)(struct dp_graph_out *o, const struct dp_graph_thread *t,
		     const struct dp_call *c, u32 depth);
	void (*close)(struct dp_graph_out *o, const struct dp_graph_thread *t,
		      const struct dp_call *c, u32 depth);
};

static void print_calls(struct dp_graph_out *o, const struct dp_graph_thread *t,
			const struct dp_call *tree, const struct form *form)
{
	const struct dp_call *c = tree;
	u32 depth = 0;

	for (;; c = c->next) {
		for (form->open(o, t, c, depth); !is_leaf(o, c, depth);
		     form->open(o, t, c, depth)) {
			c = c->first;
			depth++;
		}
		while (c != tree && !c->next) {
			c = c->caller;
			depth--;
			if (form->close)
				form->close(o, t, c, depth);
		}
		if (c == tree)
			return;
	}
}

static void print_thread(struct dp_graph_out *o,
			 const struct dp_graph_thread *t)
{
	u64 id = (u64)t->pid << 32 | t->tid;

	if (o->thread == id)
		return;
	if (!o->thread)
		fputs("   DURATION       TID    FUNCTION\n", o->opt->out);
	dp_output_print(o->opt->out, "# %s %u, thread %u\n", t->comm, t->pid,
			t->tid);
	o->thread = id;
}

static void print_tree(struct dp_graph_out *o, const struct dp_graph_thread *t,
		       const struct dp_call *tree)
{
	static const struct form text = { open_text, close_text },
				 json = { open_json, NULL },
				 event = { open_event, NULL };

	dp_output_begin(o->opt->out);
	if (o->opt->format == DP_FORMAT_CHROME) {
		print_calls(o, t, tree, &event);
	} else if (o->opt->json) {
		print_calls(o, t, tree, &json);
	} else {
		print_thread(o, t);
		print_calls(o, t, tree, &text);
	}
	dp_output_whole(o->opt->out);
}

void dp_graph_print(struct dp_graph_out *o, const struct dp_graph_thread *t,
		    size_t n)
{
	const struct dp_call *tree = t->tree.top.first;

	for (; n--; tree = tree->next)
		print_tree(o, t, tree);
}

void dp_graph_print_end(const struct dp_graph_out *o)
{
	if (o->objects)
		fputs("\n]}\n", o->opt->out);
	else if (o->opt->format == DP_FORMAT_CHROME)
		fputs("{\"traceEvents\":[]}\n", o->opt->out);
}
