// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* list: what specs would probe, and which probes are armed. */
#include "tracer/session.h"
#include "resolve/exits.h"
#include "proc/inspect.h"
#include "sym/exits.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "resolve/points.h"

/* A line of either listing. */
struct row {
	const char *name;
	pid_t pid; /* 0: of the process that the user named */
	pid_t tool; /* of an armed probe; 0: it has ended */
	u64 addr;
	char kind;
	const char *symbol, *module, *mode, *reason, *flags;
	u64 offset, hits, missed, middle;
	struct exits {
		bool known; /* of a return probe in another process */
		size_t n, traps;
		/* tail jumps, and those to unknown targets */
		size_t tails, lost;
		const char *reason; /* why an exit is a trap, or "" */
	} exits;
};

static void row_json(FILE *out, const struct row *r)
{
	dp_output_print(out, "{\"addr\":\"0x%lx\",\"kind\":\"%c\",\"symbol\":",
			r->addr, r->kind);
	dp_json_string(out, r->symbol);
	dp_output_print(out, ",\"offset\":%lu,\"module\":", r->offset);
	dp_json_string(out, r->module);
	dp_output_print(out, ",\"mode\":\"%s\",\"reason\":", r->mode);
	dp_json_string(out, r->reason);
	dp_output_print(out, ",\"flags\":\"%s\",\"hits\":%lu,\"missed\":%lu",
			r->flags, r->hits, r->missed);
	if (r->middle)
		dp_output_print(out, ",\"interior\":%lu", r->middle);
	if (r->exits.known)
		dp_output_print(
			out,
			",\"exits\":%zu,\"exits_trap\":%zu,\"exits_tail\":%zu,\"exits_lost\":%zu",
			r->exits.n, r->exits.traps, r->exits.tails,
			r->exits.lost);
	if (r->pid)
		dp_output_print(out, ",\"pid\":%d,\"tool\":%d", r->pid,
				r->tool);
	fputs("}\n", out);
}

/* The mode in which a point would be armed. */
static void foretell(const struct dp_session *s, size_t i, bool planned,
		     struct row *r)
{
	struct dp_source_count count;

	r->mode = "trap";
	r->reason = "";
	if (s->points.v[i].refused) {
		r->mode = "refused";
		r->reason = s->points.v[i].reason;
	} else if (planned) {
		s->ops->count(s->source, &s->points.v[i], &count);
		r->mode = count.mode;
		r->reason = s->ops->reason(s->source, &s->points.v[i], 0);
	}
}

/* "; 3 exits: 2 jump, 1 trap: REASON; 2 tail jumps, 1 to where nobody knows" */
static void exits_text(FILE *out, const struct exits *x)
{
	if (!x->known)
		return;
	dp_output_print(out, "%zu exit%s: %zu jump, %zu trap%s%s", x->n,
			x->n == 1 ? "" : "s", x->n - x->traps, x->traps,
			*x->reason ? ": " : "", x->reason);
	if (x->tails)
		dp_output_print(out, "; %zu tail jump%s", x->tails,
				x->tails == 1 ? "" : "s");
	if (x->lost)
		dp_output_print(out, ", %zu to where nobody knows", x->lost);
}

/* The exits of a return probe have the numbers behind its entry's. */
static void foretell_exits(const struct dp_session *s, size_t i, bool planned,
			   struct exits *x)
{
	const struct dp_point *p = &s->points.v[i];
	const char *why;
	size_t k;

	*x = (struct exits){ .known = planned && !p->refused &&
				      p->spec->kind == DP_SPEC_RETURN,
			     .n = p->nr_exits,
			     .reason = "" };
	for (k = 0; x->known && k < p->nr_exits; k++) {
		const struct dp_exit *exit = &p->exits[k];

		why = s->ops->reason(s->source, p, k + 1);
		x->traps += *why != '\0';
		x->reason = *why ? why : x->reason;
		if (exit->kind != DP_EXIT_TAIL)
			continue;
		x->tails++;
		x->lost += !exit->to ||
			   !dp_tail_targets_is_covered(&s->points, exit->to);
	}
}

static void list_verbose(FILE *out, const struct row *r)
{
	dp_output_print(out, "%s  %s  %s", r->name, r->mode, r->reason);
	if (r->exits.known && *r->reason)
		fputs("; ", out);
	exits_text(out, &r->exits);
	putc('\n', out);
}

static void print_point(const struct dp_session *s, size_t i, bool planned)
{
	const struct dp_tracer_options *opt = s->opt;
	const struct dp_point *p = &s->points.v[i];
	struct row r = {
		.name = p->name,
		.addr = p->addr,
		.kind = p->spec->kind == DP_SPEC_RETURN ? 'r' : 'k',
		.symbol = p->symbol,
		.module = p->module,
		.offset = p->offset,
		.flags = "",
	};

	foretell(s, i, planned, &r);
	foretell_exits(s, i, planned, &r.exits);
	if (opt->json)
		row_json(opt->out, &r);
	else if (!p->refused && opt->verbose)
		list_verbose(opt->out, &r);
	else if (!p->refused)
		dp_output_print(opt->out, "%s\n", r.name);
}

/* A glob none of whose matches can be probed is no error here. */
static bool all_refused(const struct dp_session *s)
{
	size_t i = 0;

	while (i < s->points.n && s->points.v[i].refused)
		i++;
	return i == s->points.n;
}

/* Plan the probes, for their modes. Return: 0, with @planned: they are planned; a negative
 * errno, and then a launched command is killed. */
static int plan(struct dp_session *s, bool *planned, struct dp_diag *diag)
{
	int err = dp_session_add_probes(s, diag);

	*planned = !err;
	if (!err || all_refused(s))
		return 0;
	s->ops->kill(s->source);
	return err;
}

int dp_tracer_list(const struct dp_tracer_options *opt, const char **bad_spec,
		   struct dp_diag *diag)
{
	static const struct dp_session_kind kind = { .arguments = true };
	struct dp_session s;
	size_t i, probeable = 0;
	bool planned = false;
	int err = dp_session_parse(&s, opt, &kind, bad_spec, diag);

	if (!err)
		err = dp_session_open(&s, bad_spec, diag);
	if (!err && (opt->verbose || opt->json))
		err = plan(&s, &planned, diag);
	for (i = 0; i < s.points.n && !err; i++) {
		probeable += !s.points.v[i].refused;
		print_point(&s, i, planned);
	}
	if (!err) {
		dp_report_refused(&s);
		s.ops->kill(s.source);
		err = probeable == 0;
	}
	dp_session_close(&s);
	return err;
}

/* The kernel's kprobes/list, byte for byte. */
static void print_armed(const struct dp_tracer_options *opt,
			const struct row *r)
{
	if (opt->json) {
		row_json(opt->out, r);
		return;
	}
	dp_output_print(opt->out, "%016lx  %c  ", r->addr, r->kind);
	if (*r->symbol)
		dp_output_print(opt->out, "%s+0x%lx  %s ", r->symbol, r->offset,
				*r->module ? r->module : " ");
	else
		dp_output_print(opt->out, "0x%lx ", r->addr);
	dp_output_print(opt->out, "%s", r->flags);
	if (opt->verbose)
		dp_output_print(opt->out,
				"  pid %d  %s  %s  %lu hits  %lu missed",
				r->pid, r->mode, r->reason, r->hits, r->missed);
	if (opt->verbose && r->middle)
		dp_output_print(opt->out, "  %lu traps in the middle of a jump",
				r->middle);
	if (opt->verbose && r->exits.known) {
		fputs("  ", opt->out);
		exits_text(opt->out, &r->exits);
	}
	if (opt->verbose && !r->tool)
		fputs("  its tool has ended", opt->out);
	putc('\n', opt->out);
}

static void describe(struct dp_modules *mods, const struct dp_armed *a,
		     struct row *r)
{
	struct dp_symbol sym;

	*r = (struct row){
		.addr = a->addr,
		.kind = a->kind,
		.symbol = "",
		.module = "",
		.mode = a->disabled  ? "off" :
			a->optimized ? "jump" :
				       "trap",
		.reason = a->optimized ? "" : a->reason,
		.flags = a->gone      ? "[GONE]" :
			 a->disabled  ? "[DISABLED]" :
			 a->optimized ? "[OPTIMIZED]" :
					"",
		.hits = a->hits,
		.missed = a->missed,
		.middle = a->middle,
		.exits = { .known = a->has_exits,
			   .n = a->exits,
			   .traps = a->exit_traps,
			   .tails = a->exit_tails,
			   .lost = a->exit_lost,
			   .reason = "" },
	};
	/* The address of a gone probe may have other code by now. */
	if (a->gone || !mods || dp_symbol_at(mods, a->addr, &sym))
		return;
	r->symbol = sym.name;
	r->offset = a->addr - sym.addr;
	r->module = sym.module->is_main ? "" : sym.module->base;
}

/* The pending spec comes from another process's memory, and may be any text. */
static void print_pending(const struct dp_tracer_options *opt, pid_t pid,
			  pid_t tool, const char *text)
{
	struct row r = { .kind = 'k',
			 .flags = "[PENDING]",
			 .pid = pid,
			 .tool = tool,
			 .mode = "",
			 .reason = "" };
	struct dp_spec spec;

	if (dp_spec_parse(text, &spec, NULL))
		return;
	r.kind = spec.kind == DP_SPEC_RETURN ? 'r' : 'k';
	r.symbol = spec.name ? spec.name : "";
	r.offset = spec.offset;
	r.module = spec.module;
	print_armed(opt, &r);
	dp_spec_free(&spec);
}

static int list_process(const struct dp_tracer_options *opt, pid_t pid,
			struct dp_diag *diag)
{
	struct dp_modules *mods = NULL;
	struct dp_armed *list;
	char path[64];
	struct row r;
	size_t n, i;
	pid_t tool;
	int mem, err = dp_process_inspect(pid, &list, &n, &tool, diag);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem >= 0 && dp_modules_open(pid, mem, &mods, NULL))
		mods = NULL;
	for (i = 0; i < n; i++) {
		if (*list[i].pending) {
			print_pending(opt, pid, tool, list[i].pending);
			continue;
		}
		describe(mods, &list[i], &r);
		r.pid = pid;
		r.tool = tool;
		print_armed(opt, &r);
	}
	dp_modules_close(mods);
	if (mem >= 0)
		close(mem);
	free(list);
	return 0;
}

int dp_tracer_list_armed(const struct dp_tracer_options *opt,
			 struct dp_diag *diag)
{
	struct dirent *d;
	DIR *dir;
	int err;

	if (opt->pid) {
		err = list_process(opt, opt->pid, diag);
		return err == -ENOENT ? 0 : err;
	}
	dir = opendir("/proc");
	if (!dir)
		return dp_diag_set(diag, -errno, "cannot read /proc");
	while ((d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			list_process(opt, atoi(d->d_name), NULL);
	closedir(dir);
	return 0;
}
