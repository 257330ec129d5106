// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* doctor: print what stands in the way of probing, a line each, and a verdict. */
#include "tracer/session.h"
#include "proc/facts.h"
#include "tracer/output.h"

static const char *const states[] = {
	[DP_FACT_OK] = "ok",
	[DP_FACT_NOTE] = "note",
	[DP_FACT_NO] = "no",
};

static void fact_json(FILE *out, const struct dp_fact *f)
{
	dp_output_print(out,
			"{\"check\":\"%s\",\"state\":\"%s\",\"text\":", f->name,
			states[f->state]);
	dp_json_string(out, f->text);
	fputs(",\"remedy\":", out);
	dp_json_string(out, f->remedy);
	fputs("}\n", out);
}

static void fact_text(FILE *out, const struct dp_fact *f)
{
	dp_output_print(out, "%-4s  %s: %s", states[f->state], f->name,
			f->text);
	if (*f->remedy)
		dp_output_print(out, "; %s", f->remedy);
	putc('\n', out);
}

/* With -q only facts that forbid probing are shown. */
static bool is_shown(const struct dp_tracer_options *opt,
		     const struct dp_fact *f)
{
	return opt->json || !opt->quiet || f->state == DP_FACT_NO;
}

static void verdict(const struct dp_tracer_options *opt, bool forbidden)
{
	const char *can = forbidden ? "cannot" : "can";

	if (opt->json)
		dp_output_print(opt->out,
				"{\"check\":\"verdict\",\"state\":\"%s\",",
				forbidden ? "no" : "ok");
	if (opt->json && opt->pid)
		dp_output_print(opt->out, "\"pid\":%d}\n", opt->pid);
	else if (opt->json)
		fputs("\"pid\":null}\n", opt->out);
	else if (opt->pid)
		dp_output_print(opt->out, "process %d %s be probed\n", opt->pid,
				can);
	else
		dp_output_print(opt->out,
				"processes %s be probed on this machine\n",
				can);
}

int dp_tracer_doctor(const struct dp_tracer_options *opt)
{
	struct dp_facts facts = { .n = 0 };
	bool forbidden;
	size_t i;

	dp_facts_machine(&facts, !opt->pid);
	if (opt->pid)
		dp_facts_process(&facts, opt->pid);
	for (i = 0; i < facts.n; i++)
		if (!is_shown(opt, &facts.v[i]))
			continue;
		else if (opt->json)
			fact_json(opt->out, &facts.v[i]);
		else
			fact_text(opt->out, &facts.v[i]);
	forbidden = dp_facts_forbid(&facts, 0);
	verdict(opt, forbidden);
	return forbidden;
}
