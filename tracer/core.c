// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * core: the file of a core dump (exit 3), its name and its progress.
 *
 * The name is the user's, and the process has no say in it but by its number and, where the user
 * asks for that, its name, of which only letters, digits and a few signs are taken. A file that is
 * there already, or a link, is not written to.
 */
#include "tracer/facility.h"
#include "tracer/output.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#define PATTERN "core.%p.%n"
#define PROGRESS_SECONDS 1.0
#define MEGABYTE (1u << 20)

/** struct progress - of a dump that takes long */
struct progress {
	const char *name;
	double next;
	bool quiet;
};

const char *dp_tracer_core_bad(const char *pattern)
{
	const char *p;

	for (p = pattern; *p; p++)
		if (*p == '%' && (!*++p || !strchr("pnte%", *p)))
			return p - 1;
	return NULL;
}

static bool is_tame(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-';
}

/* Not "..", no separator, and nothing that a shell or a terminal would obey */
static void put_name(FILE *f, const char *comm)
{
	const char *p;
	char c;

	for (p = comm; *p; p++) {
		c = is_tame(*p) || (*p == '.' && p != comm) ? *p : '_';
		fputc(c, f);
	}
}

static char *name_of(const struct dp_session *s, const struct dp_stamp *stamp,
		     u64 number)
{
	const char *p = s->opt->core ? s->opt->core : PATTERN;
	char *name = NULL;
	size_t len;
	FILE *f = open_memstream(&name, &len);

	for (; f && *p; p++) {
		if (*p != '%') {
			fputc(*p, f);
			continue;
		}
		switch (*++p) {
		case 'p':
			fprintf(f, "%d", s->source->pid);
			break;
		case 'n':
			fprintf(f, "%lu", number);
			break;
		case 't':
			fprintf(f, "%lu", (u64)stamp->seconds);
			break;
		case 'e':
			put_name(f, stamp->comm);
			break;
		default:
			fputc('%', f);
		}
	}
	return f && !fclose(f) ? name : NULL;
}

static void tell(void *arg, u64 done, u64 all)
{
	struct progress *p = arg;
	double now = dp_source_now();

	if (p->quiet || now < p->next)
		return;
	p->next = now + PROGRESS_SECONDS;
	dp_output_say("%s: %lu of %lu MB", p->name, done / MEGABYTE,
		      all / MEGABYTE);
}

static void say_done(const char *name, const struct dp_core_result *r,
		     struct dp_diag *outcome)
{
	dp_diag_set(outcome, 0, "a core dump: %s, %u thread%s, held for %lu us",
		    name, r->threads, r->threads == 1 ? "" : "s",
		    (r->held_ns + 999) / 1000);
	if (!r->held)
		dp_diag_add(outcome, ", the one that hit had gone on");
	if (r->asleep)
		dp_diag_add(outcome, ", of %u only pc and stack are known",
			    r->asleep);
	if (r->inside)
		dp_diag_add(outcome, ", %u of them in the agent", r->inside);
	if (r->unread)
		dp_diag_add(outcome, ", %lu bytes could not be read",
			    r->unread);
}

static int dump(const struct dp_session *s, const struct dp_stamp *stamp,
		u32 inside, const char *name, int file, struct dp_diag *outcome)
{
	struct progress p = { .name = name,
			      .next = dp_source_now() + PROGRESS_SECONDS,
			      .quiet = s->opt->quiet };
	const struct dp_core_request want = { .file = file,
					      .small = s->opt->minidump,
					      .tid = stamp->tid,
					      .inside = inside,
					      .progress = tell,
					      .arg = &p };
	struct dp_core_result result;
	struct dp_diag words = { .text = "" };
	int err = s->ops->core(s->source, &want, &result, &words);

	if (!err)
		say_done(name, &result, outcome);
	else
		dp_diag_set(outcome, err, "a core dump, which failed: %s",
			    words.text);
	return err;
}

/* The file is the user's alone: it has what the process has in memory. */
static int make_file(const struct dp_session *s, const char *name,
		     struct dp_diag *outcome)
{
	int file;

	if (!s->ops->core)
		return dp_diag_set(
			outcome, -EOPNOTSUPP,
			"a core dump, which cannot be made of a process that probes itself; use gcore(1)");
	if (getauxval(AT_SECURE))
		return dp_diag_set(
			outcome, -EPERM,
			"a core dump, which is not made: this dprobes has more rights than its user");
	if (!name)
		return dp_diag_set(outcome, -ENOMEM,
				   "a core dump, which failed: out of memory");
	file = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (file >= 0)
		return file;
	return dp_diag_set(outcome, -errno,
			   "a core dump, but %s cannot be made: %s", name,
			   strerror(errno));
}

int dp_core_dump(const struct dp_session *s, const struct dp_stamp *stamp,
		 u32 inside, u64 number, struct dp_diag *outcome)
{
	char *name = name_of(s, stamp, number);
	int file = make_file(s, name, outcome), err = file;

	if (file >= 0) {
		err = dump(s, stamp, inside, name, file, outcome);
		if (close(file) && !err)
			err = dp_diag_set(outcome, -errno,
					  "a core dump, which failed: %s",
					  strerror(errno));
		if (err)
			unlink(name);
	} else if (s->ops->core_end) {
		s->ops->core_end(s->source, inside);
	}
	free(name);
	return err;
}
