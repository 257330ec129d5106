// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* list: what specs would probe, and which probes are armed. */
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "resolve/exits.h"
#include "proc/inspect.h"
#include "sym/exits.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include "sym/sym.h"
#include "sym/variable.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/system.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "resolve/points.h"

/* A line of either listing: @a is an armed probe, or what would be one. */
struct row {
	struct dp_armed a;
	const char *name;
	const char *place; /* of a line or an inlined copy, or NULL */
	const struct dp_point *point; /* NULL: of an armed probe */
	pid_t pid; /* 0: of the process that the user named */
	pid_t tool; /* of an armed probe; 0: it has ended */
	const char *symbol, *module, *mode, *reason, *flags;
	u64 offset;
	const char *exit_reason; /* why an exit is a trap, or "" */
	bool system; /* an armed probe in the kernel, which does not tell its hits */
};

static const char *access_of(const struct dp_armed *a)
{
	return a->watch == DP_SITE_WRITTEN  ? "w" :
	       a->watch == DP_SITE_ACCESSED ? "rw" :
					      "x";
}

static void tracepoint_json(FILE *out, const struct dp_point *p)
{
	fputs(",\"tracepoint\":", out);
	dp_json_string(out, p->canonical);
	fputs(",\"arguments\":", out);
	dp_json_string(out, p->arguments);
	if (p->semaphore)
		dp_output_print(out, ",\"semaphore\":\"0x%lx\"", p->semaphore);
}

static void row_json(FILE *out, const struct row *r)
{
	dp_output_print(out, "{\"addr\":\"0x%lx\",\"kind\":\"%c\",\"symbol\":",
			r->a.addr, r->a.kind);
	dp_json_string(out, r->symbol);
	dp_output_print(out, ",\"offset\":%lu,\"module\":", r->offset);
	dp_json_string(out, r->module);
	dp_output_print(out, ",\"mode\":\"%s\",\"reason\":", r->mode);
	dp_json_string(out, r->reason);
	dp_output_print(out, ",\"flags\":\"%s\"", r->flags);
	if (!r->system)
		dp_output_print(out, ",\"hits\":%lu,\"missed\":%lu", r->a.hits,
				r->a.missed);
	if (r->a.watch)
		dp_output_print(out, ",\"access\":\"%s\",\"len\":%u",
				access_of(&r->a), r->a.watch_len);
	if (r->place) {
		fputs(",\"place\":", out);
		dp_json_string(out, r->place);
	}
	if (r->point && r->point->arguments)
		tracepoint_json(out, r->point);
	if (r->a.middle)
		dp_output_print(out, ",\"interior\":%lu", r->a.middle);
	if (r->a.has_exits)
		dp_output_print(
			out,
			",\"exits\":%u,\"exits_trap\":%u,\"exits_tail\":%u,\"exits_lost\":%u",
			r->a.exits, r->a.exit_traps, r->a.exit_tails,
			r->a.exit_lost);
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
static void exits_text(FILE *out, const struct row *r)
{
	const struct dp_armed *a = &r->a;

	if (!a->has_exits)
		return;
	dp_output_print(out, "%u exit%s: %u jump, %u trap%s%s", a->exits,
			a->exits == 1 ? "" : "s", a->exits - a->exit_traps,
			a->exit_traps, *r->exit_reason ? ": " : "",
			r->exit_reason);
	if (a->exit_tails)
		dp_output_print(out, "; %u tail jump%s", a->exit_tails,
				a->exit_tails == 1 ? "" : "s");
	if (a->exit_lost)
		dp_output_print(out, ", %u to where nobody knows",
				a->exit_lost);
}

/* The exits of a return probe have the numbers behind its entry's. */
static void foretell_exits(const struct dp_session *s, size_t i, struct row *r)
{
	const struct dp_point *p = &s->points.v[i];
	const char *why;
	size_t k;

	r->a.exits = (u32)p->nr_exits;
	for (k = 0; r->a.has_exits && k < p->nr_exits; k++) {
		const struct dp_exit *exit = &p->exits[k];

		why = s->ops->reason(s->source, p, k + 1);
		r->a.exit_traps += *why != '\0';
		r->exit_reason = *why ? why : r->exit_reason;
		if (exit->kind != DP_EXIT_TAIL)
			continue;
		r->a.exit_tails++;
		r->a.exit_lost +=
			!exit->to ||
			!dp_tail_targets_is_covered(&s->points, exit->to);
	}
}

/* "(arg0, arg1)": the values that a tracepoint has */
static void list_arguments(FILE *out, const struct dp_point *p)
{
	const struct dp_scope *s = p->names ? p->names->scope : NULL;
	u32 i;

	if (p->spec->kind != DP_SPEC_USDT || p->spec->args || !s)
		return;
	for (i = 0; i < s->n; i++)
		dp_output_print(out, "%s%s", i ? ", " : "(",
				s->variables[i].name);
	if (s->n)
		putc(')', out);
}

static void list_verbose(FILE *out, const struct row *r,
			 const struct dp_point *p)
{
	dp_output_print(out, "%s", r->name);
	list_arguments(out, p);
	dp_output_print(out, "  %s  %s", r->mode, r->reason);
	if (r->a.has_exits && *r->reason)
		fputs("; ", out);
	exits_text(out, r);
	putc('\n', out);
	if (r->place)
		dp_output_print(out, "    %s\n", r->place);
	if (p->arguments && *p->arguments)
		dp_output_print(out, "    arguments: %s\n", p->arguments);
	if (p->semaphore)
		dp_output_print(out, "    semaphore: 0x%lx\n", p->semaphore);
}

/* Its other places have the same spec. */
static bool is_listed(const struct dp_session *s, size_t n)
{
	const struct dp_point *p = &s->points.v[n];
	size_t i = 0;

	if (p->spec->kind != DP_SPEC_USDT)
		return false;
	while (i < n &&
	       (s->points.v[i].spec != p->spec || s->points.v[i].refused ||
		strcmp(s->points.v[i].canonical, p->canonical)))
		i++;
	return i < n;
}

static void print_point(struct dp_session *s, size_t i, bool planned)
{
	const struct dp_tracer_options *opt = s->opt;
	const struct dp_point *p = &s->points.v[i];
	bool returns = p->spec->kind == DP_SPEC_RETURN;
	struct row r = {
		.a = { .addr = p->addr,
		       .kind = returns ? 'r' : 'k',
		       .has_exits = returns && planned && !p->refused },
		.name = p->canonical ? p->canonical : p->name,
		.place = p->place,
		.point = p,
		.symbol = p->symbol,
		.module = p->module,
		.offset = p->offset,
		.flags = "",
		.exit_reason = "",
	};

	foretell(s, i, planned, &r);
	foretell_exits(s, i, &r);
	if (opt->json) {
		row_json(opt->out, &r);
	} else if (!p->refused && !opt->verbose && !is_listed(s, i)) {
		dp_output_print(opt->out, "%s", r.name);
		list_arguments(opt->out, p);
		putc('\n', opt->out);
	}
	if (opt->json || p->refused || !opt->verbose)
		return;
	list_verbose(opt->out, &r, p);
	if (s->source->mods || dp_system_is(p->spec))
		dp_prototype_tell(s, i);
}

/* Plan the probes, for their modes. Return: 0, with @planned: they are planned; a negative
 * errno, and then a launched command is killed. */
static int plan(struct dp_session *s, bool *planned, struct dp_diag *diag)
{
	int err = dp_session_add_probes(s, diag);

	*planned = !err;
	/* A glob none of whose matches can be probed is no error here. */
	if (!err || !dp_report_probes(s))
		return 0;
	s->ops->kill(s->source);
	return err;
}

int dp_tracer_list(const struct dp_tracer_options *opt, const char **bad_spec,
		   struct dp_diag *diag)
{
	static const struct dp_session_kind kind = { .arguments = true,
						     .inlines = true,
						     .system = true };
	struct dp_session s;
	size_t i;
	bool planned = false;
	int err = dp_session_parse(&s, opt, &kind, bad_spec, diag);

	if (!err)
		err = dp_session_open(&s, bad_spec, diag);
	if (!err && (opt->verbose || opt->json))
		err = plan(&s, &planned, diag);
	for (i = 0; i < s.points.n && !err; i++)
		print_point(&s, i, planned);
	if (!err) {
		dp_report_refused(&s);
		s.ops->kill(s.source);
		err = !dp_report_probes(&s);
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
	dp_output_print(opt->out, "%016lx  %c  ", r->a.addr, r->a.kind);
	if (*r->symbol)
		dp_output_print(opt->out, "%s+0x%lx  %s ", r->symbol, r->offset,
				*r->module ? r->module : " ");
	else
		dp_output_print(opt->out, "0x%lx ", r->a.addr);
	dp_output_print(opt->out, "%s", r->flags);
	if (r->a.watch == DP_SITE_EXECUTED)
		dp_output_print(opt->out, "[WATCH:x]");
	else if (r->a.watch)
		dp_output_print(opt->out, "[WATCH/%u:%s]", r->a.watch_len,
				access_of(&r->a));
	if (opt->verbose && r->system)
		dp_output_print(opt->out, "  kernel  %s", r->mode);
	else if (opt->verbose)
		dp_output_print(opt->out,
				"  pid %d  %s  %s  %lu hits  %lu missed",
				r->pid, r->mode, r->reason, r->a.hits,
				r->a.missed);
	if (opt->verbose && r->a.middle)
		dp_output_print(opt->out, "  %lu traps in the middle of a jump",
				r->a.middle);
	if (opt->verbose && r->a.has_exits) {
		fputs("  ", opt->out);
		exits_text(opt->out, r);
	}
	if (opt->verbose && !r->tool && !r->system)
		fputs("  its tool has ended", opt->out);
	putc('\n', opt->out);
}

static void describe(struct dp_modules *mods, const struct dp_armed *a,
		     struct row *r)
{
	const struct dp_module *m;
	struct dp_symbol sym;

	*r = (struct row){
		.a = *a,
		.symbol = "",
		.module = "",
		.mode = a->disabled  ? "off" :
			a->watch     ? "watch" :
			a->optimized ? "jump" :
				       "trap",
		.reason = a->optimized ? "" : a->reason,
		.flags = a->gone      ? "[GONE]" :
			 a->disabled  ? "[DISABLED]" :
			 a->optimized ? "[OPTIMIZED]" :
					"",
		.exit_reason = "",
	};
	if (a->watch && a->watch != DP_SITE_EXECUTED && mods &&
	    !dp_variable_at(mods, a->addr, &r->symbol, &r->offset, &m))
		r->module = m->is_main ? "" : m->base;
	/* The address of a gone probe may have other code by now. */
	if (a->watch && a->watch != DP_SITE_EXECUTED)
		return;
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
	struct row r = { .flags = "[PENDING]",
			 .pid = pid,
			 .tool = tool,
			 .mode = "",
			 .reason = "" };
	struct dp_spec spec;

	if (dp_spec_parse(text, &spec, NULL))
		return;
	r.a.kind = spec.kind == DP_SPEC_RETURN ? 'r' : 'k';
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
	struct row r;
	size_t n, i;
	pid_t tool;
	int mem, err = dp_process_inspect(pid, &list, &n, &tool, diag);

	if (err)
		return err;
	mem = open(dp_path("/proc/%d/mem", pid).s, O_RDONLY | O_CLOEXEC);
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

/* Has the owner of one process a right to the other? Anybody can say that a tool of his watches one. */
static bool may_watch(pid_t tool, pid_t pid)
{
	struct stat a, b;

	return !stat(dp_path("/proc/%d", tool).s, &a) &&
	       !stat(dp_path("/proc/%d", pid).s, &b) &&
	       (!a.st_uid || a.st_uid == b.st_uid);
}

/* @head: of another process's memory. Return: false: it tells of no watchpoint. */
static bool read_watches(pid_t tool, struct dp_orders *head)
{
	u64 addr = dp_mapping_named(tool, DP_ORDER_PATH);
	int mem = addr ? open(dp_path("/proc/%d/mem", tool).s,
			      O_RDONLY | O_CLOEXEC) :
			 -1;
	const size_t size = offsetof(struct dp_orders, points);
	bool whole;

	if (mem < 0)
		return false;
	whole = pread(mem, head, size, (off_t)addr) == (ssize_t)size;
	close(mem);
	return whole && head->magic == DP_ORDER_MAGIC &&
	       head->version == DP_ORDER_VERSION && head->nr_watches &&
	       head->nr_watches <= DP_ORDER_WATCHES &&
	       may_watch(tool, (pid_t)head->watched);
}

static void print_watch(const struct dp_tracer_options *opt, pid_t tool,
			struct dp_modules *mods, const struct dp_orders *head,
			u32 i)
{
	const struct dp_order_watch *w = &head->watches[i];
	const struct dp_armed a = { .addr = w->addr,
				    .kind = 'w',
				    .hits = w->hits,
				    .watch = (u8)w->access,
				    .watch_len = (u8)w->len };
	struct row r;

	if (w->access < DP_SITE_WRITTEN || w->access > DP_SITE_EXECUTED ||
	    w->len > sizeof(u64))
		return;
	describe(mods, &a, &r);
	r.pid = (pid_t)head->watched;
	r.tool = tool;
	print_armed(opt, &r);
}

/* What a tool that watches says of itself: nothing, or nothing with a name, is in the process. */
static void list_watches(const struct dp_tracer_options *opt, pid_t tool,
			 struct dp_orders *head)
{
	struct dp_modules *mods = NULL;
	pid_t pid;
	int mem;
	u32 i;

	if (!read_watches(tool, head))
		return;
	pid = (pid_t)head->watched;
	if (opt->pid && opt->pid != pid)
		return;
	mem = open(dp_path("/proc/%d/mem", pid).s, O_RDONLY | O_CLOEXEC);
	if (mem >= 0 && dp_modules_open(pid, mem, &mods, NULL))
		mods = NULL;
	for (i = 0; i < head->nr_watches; i++)
		print_watch(opt, tool, mods, head, i);
	dp_modules_close(mods);
	if (mem >= 0)
		close(mem);
}

static void print_system(void *opt, const struct dp_system_listed *l)
{
	const struct dp_tracer_options *o = opt;
	bool off = strstr(l->flags, "[DISABLED]") || strstr(l->flags, "[GONE]");
	const struct row r = {
		.a = { .addr = l->addr, .kind = l->kind },
		.symbol = l->symbol,
		.offset = l->offset,
		.module = *l->module || !o->json ? l->module : "kernel",
		.mode = strstr(l->flags, "[OPTIMIZED]") ? "jump" :
			off				? "off" :
			strstr(l->flags, "[PENDING]")	? "" :
							  "trap",
		.reason = "",
		.flags = l->flags,
		.exit_reason = "",
		.system = true,
	};

	print_armed(o, &r);
}

int dp_tracer_list_armed(const struct dp_tracer_options *opt,
			 struct dp_diag *diag)
{
	struct dp_orders *head = malloc(sizeof(*head));
	struct dirent *d;
	DIR *dir = opendir("/proc");
	int err = 0;
	pid_t pid;

	if (opt->pid)
		err = list_process(opt, opt->pid, diag);
	if (err && err != -ENOENT)
		goto out;
	err = dir && head ? 0 : dp_diag_set(diag, -errno, "cannot read /proc");
	while (!err && (d = readdir(dir))) {
		pid = atoi(d->d_name);
		if (pid <= 0)
			continue;
		if (!opt->pid)
			list_process(opt, pid, NULL);
		list_watches(opt, pid, head);
	}
	if (!err && !opt->pid)
		dp_system_say_unlisted(
			dp_system_list(print_system, (void *)opt));
out:
	if (dir)
		closedir(dir);
	free(head);
	return err;
}
