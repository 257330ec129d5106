// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hold: see hold.h. */
#include "tracer/facility.h"
#include "tracer/held.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/place.h"
#include "sym/file.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct dp_hold *hold_of(const struct dp_session *s)
{
	return s->own;
}

/* As the command shows where something is wrong: the line, and a caret below it. */
static void show(FILE *out, const char *line, const struct dp_diag *diag)
{
	int i;

	dp_output_print(out, "dprobes: %s\n", diag->text);
	if (!line || diag->column < 0 || diag->column > (int)strlen(line))
		return;
	dp_output_print(out, "  %s\n", line);
	dp_output_print(out, "  %*s^", diag->column, "");
	for (i = 1; i < diag->span && line[diag->column + i]; i++)
		putc('~', out);
	putc('\n', out);
}

/* A point that is not armed is no reason not to arm the others. */
static void refuse(struct dp_hold *h, size_t spec, u32 status, const char *why)
{
	const struct dp_lang_point *pt;
	const struct file *f = dp_run_file(&h->run, spec, &pt);
	struct dp_held_point *p = &h->points[spec];
	struct dp_diag diag = { .column = -1 };
	char *line = NULL;

	if (p->status)
		return;
	p->status = status;
	snprintf(p->why, sizeof(p->why), "%s", why);
	dp_lang_complain(f->program,
			 status == DP_HELD_MISMATCH ? pt->opcode_at : pt->at,
			 -EINVAL, &line, &diag, "%s", why);
	show(h->talk, line, &diag);
	free(line);
}

/* A debug register is missing, takes no such length, or is nothing that this machine has. */
static u32 status_of_watchpoint(int err)
{
	return err == -ENOSPC	  ? DP_HELD_NO_DEBUG_REGISTER :
	       err == -EINVAL	  ? DP_HELD_BAD_LENGTH :
	       err == -EOPNOTSUPP ? DP_HELD_NO_DEBUG_REGISTERS :
	       err == -ENOENT || err == -ENOTUNIQ || err == -EFAULT ?
				    DP_HELD_INVALID_OFFSET :
				    DP_HELD_FAILED;
}

static u32 status_of(const struct dp_spec *spec, int err)
{
	if (spec->kind == DP_SPEC_WATCH)
		return status_of_watchpoint(err);
	return err == -ENOENT || err == -EILSEQ ? DP_HELD_INVALID_OFFSET :
	       err == -EINVAL			? DP_HELD_EXCLUDED :
						  DP_HELD_FAILED;
}

/* Where probes are armed, the bytes below them count. */
static const struct dp_modules *modules_of(const struct dp_session *s)
{
	return hold_of(s)->coming ?: s->source->mods;
}

static void mismatch(struct dp_session *s, size_t spec, struct dp_point *p,
		     const char *what)
{
	dp_point_refuse(p, -EINVAL,
			"%s of %.60s: the file was written for another version",
			what, p->name);
	refuse(hold_of(s), spec, DP_HELD_MISMATCH, p->reason);
}

/* Return: how many of the bytes are known; a negative errno */
static ssize_t read_code(const struct dp_session *s, const struct dp_point *p,
			 u8 code[DP_LANG_BYTES])
{
	memset(code, 0, DP_LANG_BYTES);
	if (s->ops->opcode)
		return !p->refused && s->ops->opcode(s->source, p, code);
	return dp_modules_read(modules_of(s), p->addr, code, DP_LANG_BYTES);
}

/* Are the bytes at a point those that its file expects? */
static void compare(struct dp_session *s, size_t spec, struct dp_point *p)
{
	const struct dp_lang_point *pt;
	const struct file *f = dp_run_file(s->own, spec, &pt);
	u8 code[DP_LANG_BYTES];
	ssize_t n = read_code(s, p, code);
	char words[80];

	if (p->refused)
		return;
	if (!dp_run_same_build(modules_of(s), f->program, p)) {
		mismatch(s, spec, p, "this is another build (by its build-id)");
	} else if (pt->opcode >= 0 && (n < 1 || code[0] != pt->opcode)) {
		snprintf(words, sizeof(words),
			 "0x%02x, not 0x%02x, is the opcode", code[0],
			 (u32)pt->opcode);
		mismatch(s, spec, p, words);
	} else if (n < pt->nr_bytes || memcmp(code, pt->bytes, pt->nr_bytes)) {
		mismatch(s, spec, p, "other instructions are at the place");
	}
}

static int settle(struct dp_session *s, size_t spec, size_t first, int err,
		  struct dp_diag *diag)
{
	size_t i;

	if (err == -ENOMEM || (err && s->ops->ended(s->source)))
		return err;
	if (err)
		refuse(hold_of(s), spec, status_of(&s->specs[spec], err),
		       diag->text);
	for (i = first; !err && i < s->points.n; i++) {
		s->points.v[i].several = true;
		compare(s, spec, &s->points.v[i]);
	}
	return 0;
}

u32 dp_hold_note_refused(struct dp_session *s, size_t first)
{
	struct dp_hold *h = hold_of(s);
	size_t i, spec;
	u32 n = 0;

	for (i = 0; i < s->points.n; i++) {
		spec = (size_t)(s->points.v[i].spec - s->specs);
		if (spec >= first && s->points.v[i].refused)
			refuse(h, spec,
			       status_of(&s->specs[spec],
					 s->points.v[i].refused),
			       s->points.v[i].reason);
	}
	for (i = first; i < s->nr_specs; i++)
		n += h->points[i].status != 0;
	return n;
}

u32 dp_hold_count_waiting(const struct dp_session *s, size_t first)
{
	u32 n = 0;

	for (; first < s->nr_specs; first++)
		n += s->pending[first];
	return n;
}

/* The command goes on by itself; ^C at its terminal is not for the hold. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	setsid();
	fflush(NULL);
	for (fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

static void begun(struct dp_session *s)
{
	struct dp_hold *h = hold_of(s);
	struct dp_held_result result = {
		.points = (u32)s->nr_specs,
		.refused = dp_hold_note_refused(s, 0),
		.waiting = dp_hold_count_waiting(s, 0),
	};

	if (!h->kept && !s->opt->quiet)
		dp_output_say(
			"nobody listens at /dev/log: records are counted, and not kept; -o FILE keeps them");
	prctl(PR_SET_PDEATHSIG, 0);
	dp_order_held(s);
	leave_terminal();
	h->talk = stderr;
	if (write(h->report, &result, sizeof(result)) < 0)
		dp_output_say("the command that inserted has ended");
	close(h->report);
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	hold_of(s)->records++;
	if (hold_of(s)->kept || r->head.facility)
		dp_run_record(s, r);
}

/* The summary is for a command; here nobody listens. */
static void report(struct dp_session *s)
{
}

bool dp_hold_is(const struct dp_hold *h, size_t file, const char *name)
{
	return !h->gone[file] &&
	       (!*name ||
		dp_held_named(h->run.files[file].program->name, name));
}

static size_t first_behind(const struct dp_hold *h, size_t file)
{
	return file + 1 < h->run.nr_files ? h->run.files[file + 1].first :
					    h->run.nr_specs;
}

void dp_hold_mark(const struct dp_session *s, size_t file, bool *which)
{
	const struct dp_hold *h = hold_of(s);
	size_t i, spec;

	for (i = 0; i < s->points.n; i++) {
		spec = (size_t)(s->points.v[i].spec - s->specs);
		if (spec >= h->run.files[file].first &&
		    spec < first_behind(h, file) && !s->points.v[i].refused &&
		    !s->points.v[i].retired)
			which[i] = true;
	}
}

/* A file is gone when none of its points is left. */
static void note_gone(struct dp_session *s, size_t file)
{
	struct dp_hold *h = hold_of(s);
	size_t i;

	for (i = h->run.files[file].first; i < first_behind(h, file); i++)
		if (!h->points[i].retired)
			return;
	h->gone[file] = true;
}

/* Of a spec that has several points, all have to be. */
static void note_spec(struct dp_session *s, size_t spec)
{
	size_t i, n = 0;

	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].spec == &s->specs[spec]) {
			if (!s->points.v[i].retired && !s->points.v[i].refused)
				return;
			n++;
		}
	hold_of(s)->points[spec].retired |= n != 0;
}

void dp_hold_note_retired(struct dp_session *s, const bool *which)
{
	struct dp_hold *h = hold_of(s);
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (which[i]) {
			s->points.v[i].retired = true;
			note_spec(s, (size_t)(s->points.v[i].spec - s->specs));
		}
	for (i = 0; i < h->run.nr_files; i++)
		note_gone(s, i);
}

/* Those of its points that were refused go with the others. */
static void note_removed(struct dp_session *s, size_t file)
{
	struct dp_hold *h = hold_of(s);
	size_t i;

	for (i = h->run.files[file].first; i < first_behind(h, file); i++)
		h->points[i].retired = true;
	h->gone[file] = true;
}

static bool any_left(const struct dp_hold *h)
{
	size_t i;

	for (i = 0; i < h->run.nr_files; i++)
		if (!h->gone[i])
			return true;
	return false;
}

static int retire(struct dp_session *s, const bool *which, struct dp_diag *diag)
{
	int err =
		s->ops->retire ?
			s->ops->retire(s->source, &s->points, which, diag) :
			dp_diag_set(
				diag, -EOPNOTSUPP,
				"probes by way of %s are removed all at once: --remove --all",
				s->ops->name);

	if (!err)
		dp_hold_note_retired(s, which);
	return err;
}

/* The last one takes the hold along, which takes all probes out at its end. */
static int remove_programs(struct dp_session *s, const char *name,
			   struct dp_diag *diag)
{
	struct dp_hold *h = hold_of(s);
	bool *which = calloc(s->points.n + 1, sizeof(*which));
	bool gone[DP_HELD_FILES], any = false;
	size_t i;
	int err = 0;

	if (!which)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(gone, h->gone, sizeof(gone));
	for (i = 0; i < h->run.nr_files; i++)
		if (dp_hold_is(h, i, name)) {
			dp_hold_mark(s, i, which);
			gone[i] = any = true;
		}
	for (i = 0; i < h->run.nr_files && gone[i];)
		i++;
	if (!any)
		err = dp_diag_set(diag, -ENOENT, "%s has no program for %s",
				  dp_order_place(dp_order_target(s)).s, name);
	else if (i < h->run.nr_files)
		err = retire(s, which, diag);
	for (i = 0; !err && i < h->run.nr_files; i++)
		if (gone[i])
			note_removed(s, i);
	s->over = !any_left(h);
	free(which);
	return err;
}

static int insert(struct dp_session *s, const struct dp_order_text *o,
		  FILE *reply, struct dp_diag *diag)
{
	struct dp_held_source source;

	if (!dp_held_unpack(o->text, o->len, o->how, &source))
		return dp_diag_set(diag, -EINVAL, "the order is damaged");
	return dp_hold_insert(s, &source, reply, diag);
}

static int order(struct dp_session *s, const struct dp_order_text *o,
		 FILE *reply, struct dp_diag *diag)
{
	int err;

	switch (o->verb) {
	case DP_ORDER_REMOVE:
		err = remove_programs(s, o->text, diag);
		if (s->over)
			fputs("over", reply);
		return err;
	case DP_ORDER_QUERY:
		if (dp_held_query(s, o->text, o->how, reply))
			return 0;
		return dp_diag_set(diag, -ENOENT, "%s has no program for %s",
				   dp_order_place(dp_order_target(s)).s,
				   o->text);
	case DP_ORDER_VARIABLES:
		dp_held_variables(s, reply);
		return 0;
	case DP_ORDER_RESET:
		return dp_held_reset(s, o->text, o->how, reply, diag);
	default:
		return insert(s, o, reply, diag);
	}
}

/* Programs that come later may log as much as is usual. */
static void rooms(const struct dp_session *s, struct dp_source_request *want)
{
	dp_run_rooms(s, want);
	want->grows = true;
	want->longest = want->longest > DP_LOG_DEFAULT ? want->longest :
							 DP_LOG_DEFAULT;
	want->traces = DP_EX_LOG_MAX;
	want->heap = DP_HEAP_MAX;
}

static const struct dp_session_kind kind = {
	.programs = true,
	.system = true,
	.spare = DP_HELD_POINTS,
	.wants = dp_run_wants,
	.rooms = rooms,
	.bind = dp_run_bind,
	.settle = settle,
	.begun = begun,
	.order = order,
	.record = record,
	.report = report,
	.left = dp_facilities_left,
};

static int add(struct dp_hold *h, const struct dp_held_source *source,
	       struct file *f, struct dp_diag *diag)
{
	struct run *run = &h->run;
	int err = source->how & DP_HELD_PPDF ?
			  dp_lang_read_ppdf(source->file, source->text,
					    source->len, &f->program, diag) :
			  dp_run_assemble(run, source->file, source->text,
					  source->len, f, diag);

	if (!err && run->everybody)
		err = dp_run_place(run, f, source->symbols, diag);
	else if (!err && *source->symbols)
		err = dp_place_program(f->program, source->symbols, false,
				       run->bad_line, diag);
	if (!err && f->program->allow & ~source->allow)
		err = dp_lang_complain(
			f->program, f->program->allow_at, -EPERM, run->bad_line,
			diag, "the program asks for more than --allow permits");
	if (!err)
		err = dp_held_choose(f->program, source, diag);
	if (!err && run->nr_specs + f->program->nr_points > DP_HELD_POINTS)
		err = dp_diag_set(
			diag, -ENOSPC,
			"%s: a hold has room for %u points, of which %zu have been used",
			source->file, DP_HELD_POINTS, run->nr_specs);
	return err ?: dp_run_add_specs(run, f, diag);
}

int dp_hold_add(struct dp_hold *h, const struct dp_held_source *source,
		struct dp_diag *diag)
{
	struct run *run = &h->run;
	struct file *f = &run->files[run->nr_files];
	int err;

	if (run->nr_files == DP_HELD_FILES)
		return dp_diag_set(
			diag, -ENOSPC,
			"%u programs have been inserted, which is all that a hold has room for; remove them all, and insert again",
			DP_HELD_FILES);
	*f = (struct file){ .room_lv = DP_VARS_MAX, .first = run->nr_specs };
	err = add(h, source, f, diag);
	run->nr_files++;
	if (err)
		dp_hold_drop(h);
	return err;
}

void dp_hold_drop(struct dp_hold *h)
{
	struct run *run = &h->run;
	struct file *f = &run->files[--run->nr_files];

	while (f->program && run->nr_specs > f->first)
		free(run->specs[--run->nr_specs]);
	memset(&h->points[run->nr_specs], 0,
	       (DP_HELD_POINTS - run->nr_specs) * sizeof(*h->points));
	dp_lang_free(f->program);
	*f = (struct file){ 0 };
}

static int open_hold(struct dp_hold *h, struct dp_diag *diag)
{
	h->points = calloc(DP_HELD_POINTS, sizeof(*h->points));
	h->run.files = calloc(DP_HELD_FILES, sizeof(*h->run.files));
	/* The session keeps where they are. */
	h->run.specs = calloc(DP_HELD_POINTS, sizeof(*h->run.specs));
	h->run.room = h->run.specs ? DP_HELD_POINTS : 0;
	return h->points && h->run.files && h->run.specs ?
		       0 :
		       dp_diag_set(diag, -ENOMEM, "out of memory");
}

/* DProbes wrote to the system's log unless it was told otherwise. */
static void choose_log(struct dp_hold *h, struct dp_tracer_options *opt)
{
	h->kept = true;
	if (opt->log_target != DP_LOG_RING || opt->out != stdout)
		return;
	h->kept = dp_tracer_log_listens();
	if (h->kept)
		opt->log_target = DP_LOG_SYSLOG;
}

int dp_hold_run(const struct dp_tracer_options *opt,
		const struct dp_held_source *source, int report,
		char **bad_line, struct dp_diag *diag)
{
	struct dp_tracer_options mine = *opt;
	struct dp_hold h = { .run = { .opt = &mine,
				      .bad_line = bad_line,
				      .everybody = !opt->pid },
			     .report = report,
			     .talk = stderr };
	int err = open_hold(&h, diag), sig = 0;

	/* Each source has its own limit. */
	dp_tracer_allow("write,reg,io,call", &mine.allow);
	prctl(PR_SET_NAME, DP_HOLD_NAME);
	if (!err)
		err = dp_hold_add(&h, source, diag);
	if (!err) {
		choose_log(&h, &mine);
		err = dp_facilities_open(&mine, &h.run.facilities, diag);
	}
	if (!err)
		err = dp_run_session(&h.run, &kind, &sig, diag);
	dp_order_close();
	dp_run_free(&h.run);
	free(h.points);
	return err;
}
