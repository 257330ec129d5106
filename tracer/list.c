// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* list: what specs would probe, and what is armed somewhere. */
#include "tracer/session.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line of either listing. */
struct row {
	const char *name;
	pid_t pid; /* 0: the one that was asked for */
	u64 addr;
	char kind;
	const char *symbol, *module, *mode, *reason, *flags;
	u64 offset, hits, missed;
};

static void row_json(FILE *out, const struct row *r)
{
	fprintf(out, "{\"addr\":\"0x%llx\",\"kind\":\"%c\",\"symbol\":",
		(unsigned long long)r->addr, r->kind);
	dp_json_string(out, r->symbol);
	fprintf(out,
		",\"offset\":%llu,\"module\":", (unsigned long long)r->offset);
	dp_json_string(out, r->module);
	fprintf(out, ",\"mode\":\"%s\",\"reason\":", r->mode);
	dp_json_string(out, r->reason);
	fprintf(out, ",\"flags\":\"%s\",\"hits\":%llu,\"missed\":%llu",
		r->flags, (unsigned long long)r->hits,
		(unsigned long long)r->missed);
	if (r->pid)
		fprintf(out, ",\"pid\":%d", r->pid);
	fputs("}\n", out);
}

/* How it would be armed. */
static void foretell(const struct dp_session *s, size_t i, struct row *r)
{
	r->mode = "trap";
	r->reason = "";
	if (s->points.v[i].refused) {
		r->mode = "refused";
		r->reason = s->points.v[i].reason;
	} else if (s->engine) {
		r->mode = dp_engine_mode(s->engine, s->probes[i]);
		r->reason = dp_engine_reason(s->engine, s->probes[i]);
	}
}

/* A return probe also has its exits, which the engine put behind its entry. */
static void list_verbose(const struct dp_session *s, size_t i,
			 const struct row *r)
{
	const struct dp_point *p = &s->points.v[i];
	const char *reason = "", *why;
	size_t traps = 0, k;

	fprintf(s->opt->out, "%s  %s  %s", r->name, r->mode, r->reason);
	for (k = 0; s->engine && k < p->nr_exits; k++) {
		why = dp_engine_reason(s->engine, s->probes[i] + 1 + (u32)k);
		traps += *why != '\0';
		reason = *why ? why : reason;
	}
	if (p->spec->kind == DP_SPEC_RETURN)
		fprintf(s->opt->out, "%s%zu exit%s: %zu jump, %zu trap%s%s",
			*r->reason ? "; " : "", p->nr_exits,
			p->nr_exits == 1 ? "" : "s", p->nr_exits - traps, traps,
			*reason ? ": " : "", reason);
	putc('\n', s->opt->out);
}

static void print_point(const struct dp_session *s, size_t i)
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

	foretell(s, i, &r);
	if (opt->json)
		row_json(opt->out, &r);
	else if (!p->refused && opt->verbose)
		list_verbose(s, i, &r);
	else if (!p->refused)
		fprintf(opt->out, "%s\n", r.name);
}

int dp_tracer_list(const struct dp_tracer_options *opt, const char **bad_spec,
		   struct dp_diag *diag)
{
	static const struct dp_session_kind kind = { .arguments = true };
	struct dp_session s;
	size_t i, probeable = 0;
	int err = dp_session_parse(&s, opt, &kind, bad_spec, diag);

	if (!err)
		err = dp_session_open(&s, bad_spec, diag);
	/* A glob of which nothing can be probed is no error here. */
	if (!err && (opt->verbose || opt->json) &&
	    !dp_session_add_probes(&s, NULL))
		dp_engine_layout(s.engine, 1);
	for (i = 0; i < s.points.n && !err; i++) {
		probeable += !s.points.v[i].refused;
		print_point(&s, i);
	}
	if (!err) {
		dp_report_refused(&s);
		dp_process_kill_launched(s.proc);
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
	fprintf(opt->out, "%016llx  %c  ", (unsigned long long)r->addr,
		r->kind);
	if (*r->symbol)
		fprintf(opt->out, "%s+0x%llx  %s ", r->symbol,
			(unsigned long long)r->offset,
			*r->module ? r->module : " ");
	else
		fprintf(opt->out, "0x%llx ", (unsigned long long)r->addr);
	fputs(r->flags, opt->out);
	if (opt->verbose)
		fprintf(opt->out, "  pid %d  %s  %s  %llu hits  %llu missed",
			r->pid, r->mode, r->reason, (unsigned long long)r->hits,
			(unsigned long long)r->missed);
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
		.mode = a->optimized ? "jump" : "trap",
		.reason = a->optimized ? "" : a->reason,
		.flags = a->gone      ? "[GONE]" :
			 a->disabled  ? "[DISABLED]" :
			 a->optimized ? "[OPTIMIZED]" :
					"",
		.hits = a->hits,
		.missed = a->missed,
	};
	if (!mods || dp_symbol_at(mods, a->addr, &sym))
		return;
	r->symbol = sym.name;
	r->offset = a->addr - sym.addr;
	r->module = sym.module->is_main ? "" : sym.module->base;
}

/* What is written there is only text, and may be any. */
static void print_pending(const struct dp_tracer_options *opt, pid_t pid,
			  const char *text)
{
	struct row r = { .kind = 'k', .flags = "[PENDING]", .pid = pid,
			 .mode = "", .reason = "" };
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
			print_pending(opt, pid, list[i].pending);
			continue;
		}
		describe(mods, &list[i], &r);
		r.pid = pid;
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

int dp_tracer_detach(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return dp_process_clean(opt->pid, diag);
}
