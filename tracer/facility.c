// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facility: where records of programs go, and who takes over when one ends with "exit N".
 *
 * A record that is read here was committed when its instruction had completed, so that is when
 * facilities act. Each record says what became of its facility, and so does the end of the run.
 */
#include "tracer/facility.h"
#include "tracer/interval.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct dp_facilities {
	const struct dp_tracer_options *opt;
	struct dp_commands *commands;
	struct dp_log *log;
	struct dp_raw *raw;
	u64 cores; /* that have been asked for */
	u64 absent[DP_FACILITIES]; /* records whose facility is not there */
	u64 lost[DP_FACILITIES]; /* or has not taken them */
	u64 unlogged; /* records that the log has not taken */
	u64 unraw; /* nor the file of --raw */
};

/* What a caller with fewer rights may not decide */
static int refuse(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	const char *what = opt->nr_facilities		    ? "--facility" :
			   opt->core			    ? "--core" :
			   opt->debugger		    ? "--debugger" :
			   opt->raw			    ? "--raw" :
			   opt->log_target >= DP_LOG_SYSLOG ? "--log-target" :
							      NULL;

	if (!what || !getauxval(AT_SECURE))
		return 0;
	return dp_diag_set(
		diag, -EPERM,
		"%s: this dprobes has more rights than you; start one that has not",
		what);
}

int dp_facilities_open(const struct dp_tracer_options *opt,
		       struct dp_facilities **facilities, struct dp_diag *diag)
{
	int err = refuse(opt, diag);
	struct dp_facilities *f;
	size_t i;

	*facilities = NULL;
	if (err)
		return err;
	f = *facilities = calloc(1, sizeof(*f));
	if (!f)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	f->opt = opt;
	if (opt->log_target != DP_LOG_RING)
		err = dp_log_open(opt, &f->log, diag);
	if (opt->raw && !err)
		err = dp_raw_open(opt, &f->raw, diag);
	for (i = 0; i < opt->nr_facilities && !err; i++) {
		err = dp_commands_begin(&f->commands, opt->facilities[i].number,
					opt->facilities[i].command);
		if (err)
			dp_diag_set(diag, err,
				    "--facility %u: cannot make a process: %s",
				    opt->facilities[i].number, strerror(-err));
	}
	return err;
}

static int write_record(int file, const struct dp_stamp *stamp,
			const char *probe, const struct dp_record_copy *record)
{
	int copy = dup(file);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f)
		return -ENOMEM;
	dp_items_json(f, stamp, probe, record, NULL);
	return fclose(f) ? -ENOMEM : 0;
}

/* The command has the record as "run --json" prints it. */
static int hand_over(struct dp_facilities *f, const struct dp_stamp *stamp,
		     const char *probe, const struct dp_record_copy *record)
{
	int file = memfd_create("dprobes-record", MFD_CLOEXEC), err;

	if (file < 0)
		return -errno;
	err = write_record(file, stamp, probe, record);
	lseek(file, 0, SEEK_SET);
	if (!err)
		err = dp_commands_put(f->commands, record->head.facility, file);
	close(file);
	return err;
}

static void command(struct dp_facilities *f, const struct dp_stamp *stamp,
		    const char *probe, const struct dp_record_copy *record,
		    struct dp_diag *outcome)
{
	u32 n = record->head.facility;
	u8 taken = record->head.flags & (DP_RECORD_TAKEN | DP_RECORD_MISSED);
	int err = hand_over(f, stamp, probe, record);

	/* The process has a facility of its own by that number. */
	if (err == -ENOENT && taken) {
		f->lost[n] += taken == DP_RECORD_MISSED;
		dp_diag_set(
			outcome, 0, "%s",
			taken == DP_RECORD_MISSED ?
				"the process's own facility, which could not be called there" :
				"taken by the process's own facility");
		return;
	}
	f->absent[n] += err == -ENOENT;
	f->lost[n] += err && err != -ENOENT;
	if (err == -ENOENT)
		dp_diag_set(outcome, err,
			    "a facility that nobody has registered");
	else if (err)
		dp_diag_set(outcome, err, "its command cannot take it: %s",
			    err == -EAGAIN ? "too many records wait for it" :
					     strerror(-err));
	else
		dp_diag_set(outcome, 0, "handed over to its command");
}

static int debugger(struct dp_session *s, const struct dp_stamp *stamp,
		    const char *probe, u32 inside, struct dp_diag *outcome)
{
	if (getauxval(AT_SECURE))
		return dp_diag_set(
			outcome, -EPERM,
			"the debugger, which is not called: this dprobes has more rights than its user");
	return dp_debugger_halt(s, stamp, probe, inside, outcome);
}

/* It has acted, or not, before its record was read. */
static void kernels(struct dp_facilities *f,
		    const struct dp_record_copy *record,
		    struct dp_diag *outcome)
{
	u32 n = record->head.facility;
	bool taken = record->head.flags & DP_RECORD_TAKEN;
	const char *what = n == DP_FACILITY_DEBUGGER ? "the kernel's debugger" :
						       "a dump of the kernel";

	f->lost[n] += !taken;
	dp_diag_set(outcome, taken ? 0 : -EPERM, "%s%s", what,
		    taken ? "" : ", which is not permitted any more");
}

static void perform(struct dp_facilities *f, struct dp_session *s,
		    const struct dp_stamp *stamp, const char *probe,
		    const struct dp_record_copy *record,
		    struct dp_diag *outcome)
{
	u32 n = record->head.facility;

	if (n >= DP_FACILITY_REGISTERED) {
		command(f, stamp, probe, record, outcome);
	} else if (s->ops->everybody) {
		kernels(f, record, outcome);
	} else if (n == DP_FACILITY_CORE) {
		f->lost[n] += !!dp_core_dump(s, stamp, record->head.tid,
					     ++f->cores, outcome);
	} else if (n == DP_FACILITY_DEBUGGER) {
		f->lost[n] +=
			!!debugger(s, stamp, probe, record->head.tid, outcome);
	} else {
		f->absent[n]++;
		dp_diag_set(
			outcome, -ENOENT, "%s, which is not performed",
			n == DP_FACILITY_CRASH_DUMP ?
				"a crash dump, which only a kernel's probe can make" :
				"no facility");
	}
}

void dp_facilities_left(struct dp_session *s)
{
	if (s->debugged.pid)
		dp_debugger_call(s);
}

void dp_facilities_take(struct dp_facilities *f, struct dp_session *s,
			const struct dp_record_copy *record, u16 id)
{
	const struct dp_point *p = dp_record_point(s, record->head.probe);
	struct dp_diag outcome = { .text = "" };
	struct dp_stamp stamp;

	dp_record_stamp(s, record, &stamp);
	if (record->head.facility)
		perform(f, s, &stamp, p->name, record, &outcome);
	if (f->raw)
		f->unraw += !!dp_raw_write(f->raw, s, &stamp, record, id);
	if (f->log)
		f->unlogged += !!dp_log_write(f->log, s, &stamp, record, id);
	else if (s->opt->json)
		dp_items_json(s->opt->out, &stamp, p->name, record, &outcome);
	else
		dp_items_text(s->opt->out, &stamp, p->name, record, &outcome);
}

static const char *some(u64 n)
{
	return n == 1 ? "record" : "records";
}

static void tell(u32 number, u64 n, const char *what)
{
	if (n)
		dp_output_say("exit %u: %lu %s %s", number, n, some(n), what);
}

void dp_facilities_close(struct dp_facilities *f)
{
	u64 failed[DP_FACILITIES] = { 0 };
	u32 i;

	if (!f)
		return;
	dp_debugger_wait(dp_watch_interrupted);
	dp_commands_end(f->commands, failed);
	for (i = 0; i < DP_FACILITIES; i++) {
		tell(i, f->absent[i], "for a facility that is not there");
		tell(i, f->lost[i], "that the facility could not take");
		tell(i, failed[i], "whose command failed or did not end");
	}
	if (f->unlogged)
		dp_output_say("%lu %s could not be written to the log",
			      f->unlogged, some(f->unlogged));
	f->unraw += !!dp_raw_close(f->raw);
	if (f->unraw)
		dp_output_say("%lu %s could not be written to %s", f->unraw,
			      some(f->unraw), f->opt->raw);
	dp_log_close(f->log);
	free(f);
}

const char *dp_tracer_log_target(const char *name, enum dp_log_target *target)
{
	static const struct {
		const char *name;
		enum dp_log_target target;
	} names[] = { { "ring", DP_LOG_RING },
		      { "trace", DP_LOG_RING },
		      { "file", DP_LOG_FILE },
		      { "syslog", DP_LOG_SYSLOG },
		      { "klog", DP_LOG_KERNEL } };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(name, names[i].name)) {
			*target = names[i].target;
			return NULL;
		}
	return name;
}

const char *dp_tracer_log_items(const char *list, u32 *items)
{
	static const struct {
		const char *word;
		u32 bits;
	} words[] = {
		{ "PROCNAME", DP_LOG_PROCNAME }, { "PID", DP_LOG_PID },
		{ "UID", DP_LOG_UID },		 { "CSEIP", DP_LOG_CSEIP },
		{ "TSC", DP_LOG_TSC },		 { "ALL", DP_LOG_ALL }
	};
	size_t i, len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == len &&
			    !strncasecmp(words[i].word, list, len))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return list;
		*items |= words[i].bits;
		if (!list[len])
			return NULL;
	}
}

const char *dp_tracer_log_later(const char *word)
{
	static const struct {
		const char *word, *why;
	} known[] = {
		{ "com1", "no serial line is written; use file, with -o FILE" },
		{ "com2", "no serial line is written; use file, with -o FILE" },
		{ "ltt", "LTT is no more; use ring" },
		{ "evl", "the event log is no more; use syslog" },
		{ "ssesp",
		  "records do not have it; write push r,rsp and log 1 into the program" },
		{ "psw", "it is of another machine; use CSEIP" },
		{ "upsw", "it is of another machine; use CSEIP" },
	};
	size_t i, len = strcspn(word, ",");

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].word) == len &&
		    !strncasecmp(known[i].word, word, len))
			return known[i].why;
	return NULL;
}
