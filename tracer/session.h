/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: one run of the tool over one process. */
#ifndef DP_SESSION_H
#define DP_SESSION_H

#include "tracer/tracer.h"
#include "tracer/items.h"
#include "tracer/kind.h"
#include "tracer/source.h"

/** enum dp_ending - what ended the counting */
enum dp_ending {
	DP_ENDING_EXIT, /* the target ended */
	DP_ENDING_EXEC, /* the target replaced its image */
	DP_ENDING_INTERRUPT, /* ^C */
	DP_ENDING_DURATION,
	DP_ENDING_RECORDS, /* as many as were asked for */
	DP_ENDING_UNTIL, /* the spec of --until has hit */
	DP_ENDING_OUTPUT, /* the output cannot be written */
	DP_ENDING_FILTER, /* a filter install: @filter_refused */
	DP_ENDING_DEBUGGER, /* which takes the process over */
	DP_ENDING_FAILURE, /* the probes could not be armed again */
};

/** dp_ending_words - what ended it; NULL where it takes more than a constant */
extern const char *const dp_ending_words[];

struct dp_session;
struct dp_records;

/** struct dp_debugged - a process that a debugger takes over; @pid: 0: none does
 *  @tid: the thread that hit; @probe: what it hit; @late: it is stopped when its probes are out */
struct dp_debugged {
	pid_t pid;
	u32 tid;
	const char *probe;
	bool late;
};

struct dp_printed;
struct dp_seen;

/**
 * struct dp_session - everything in it is freed by dp_session_close()
 * @ops: of the source, which exists from dp_session_open() on
 * @own: the verb's data
 * @written: records that were printed; @dropped: for which there was no memory; @torn: of no
 *           probe of a point, for the process writes them
 * @began: when the probes were made, by dp_source_now()
 * @over: the session is to end, as by ^C
 * @debugged: its process has been stopped for a debugger, so that it ends
 */
struct dp_session {
	const struct dp_tracer_options *opt;
	const struct dp_session_kind *kind;
	struct dp_spec *specs;
	size_t nr_specs;
	const struct dp_source_ops *ops;
	struct dp_source *source;
	struct dp_points points;
	struct dp_records *records;
	void *own;
	u64 written, dropped, torn;
	double began;
	bool over;
	struct dp_debugged debugged;
	enum dp_ending ending;
	const char *filter_refused; /* owned by the source */
	bool *pending; /* of each spec: does it wait for its library? */
	size_t nr_coming; /* specs whose library was not loaded at first */
	/* With -f: the session whose points are used here, if not this session's own, and how
	 * many sessions use the points of this one. */
	struct dp_session *origin;
	u32 users;
	struct dp_process_tree *tree; /* with -f, once the session is in it */
	struct dp_printed *printed; /* by all sessions of the run */
	bool unwritten; /* the flame graph, which has been said */
	u32 *tables; /* 1 + number of the table of each spec; NULL: none has one */
	struct dp_seen *seen; /* of each point: what intervals before have had */
	size_t nr_seen;
};

/** dp_session_parse() - parse the specs, before anything is started
 *  Return: 0; -EINVAL or -EOPNOTSUPP with a caret under *@bad_spec. */
int dp_session_parse(struct dp_session *s, const struct dp_tracer_options *opt,
		     const struct dp_session_kind *kind, const char **bad_spec,
		     struct dp_diag *diag);

/** dp_session_open() - open the target and find its points. On failure a launched
 *  command is ended before it runs. Return: 0 or a negative errno. */
int dp_session_open(struct dp_session *s, const char **bad_spec,
		    struct dp_diag *diag);

/**
 * dp_session_run() - probe, watch until the end, report
 * @died_of: signal that the launched command died of
 * Return: exit status of the tool, or a negative errno.
 */
int dp_session_run(struct dp_session *s, int *died_of, struct dp_diag *diag);

/** dp_session_do() - parse, open, run and close; @own: the verb's data */
int dp_session_do(const struct dp_tracer_options *opt,
		  const struct dp_session_kind *kind, void *own,
		  const char **bad_spec, int *died_of, struct dp_diag *diag);

/** dp_session_resolve() - find the points of the specs; with -f a spec may have none.
 *  Return: 0 or a negative errno with words. */
int dp_session_resolve(struct dp_session *s, const char **bad_spec,
		       struct dp_diag *diag);

/**
 * dp_session_add_specs() - parse more specs, and find their points, behind the others
 * @mods: the modules now; they become the source's with its exchange()
 * Return: 0; a negative errno with words, and nothing has changed.
 */
int dp_session_add_specs(struct dp_session *s, const char *const *texts,
			 size_t n, struct dp_modules *mods,
			 struct dp_diag *diag);
/** dp_session_drop_specs() - forget those from the @n-th on, which no source knows yet */
void dp_session_drop_specs(struct dp_session *s, size_t n);

/* watch.c: also for follow.c */
void dp_watch_signals(void);
bool dp_watch_interrupted(void);
/** dp_watch_over() - must the tool end, whatever the processes do? @end: of --duration,
 *  or 0 */
bool dp_watch_over(const struct dp_session *s, double end,
		   enum dp_ending *ending);
/** dp_watch_wait() - how long to wait now, in ms. @came: records that have just come;
 *  @most: longest wait that other work allows, in ms */
int dp_watch_wait(const struct dp_session *s, double end, size_t came,
		  double most);
/** dp_watch_foreign() - say that a site was ceded or taken back: struct dp_source_ops */
void dp_watch_foreign(void *session, u64 addr, bool away);
/** dp_watch_status() - the tool's exit status for a wait(2) status of the command */
int dp_watch_status(int status, int *died_of);

/** dp_session_request() - the session's points as probes */
struct dp_source_request dp_session_request(struct dp_session *s);
/** dp_session_finish() - disarm the probes, read the last records, close the account.
 *  Return: as its source's disarm(). */
int dp_session_finish(struct dp_session *s, struct dp_diag *diag);

/** dp_loadable() - is there a file of this name that the session's process could load as
 *  a library? */
bool dp_loadable(const struct dp_session *s, const char *name);

/* pending.c */
/** dp_pending_take() - let a spec that was not found wait for its library, if it may.
 *  If it may not, there may be more words in @diag. */
bool dp_pending_take(struct dp_session *s, size_t spec, struct dp_diag *diag);
/** dp_pending_look() - look for pending and gone specs: a thread waits with new libraries
 *  in place. Return: 0, also if the process has ended; a negative errno. */
int dp_pending_look(struct dp_session *s, struct dp_diag *diag);
/** dp_pending_tell() - say which specs never found their library */
void dp_pending_tell(const struct dp_session *s);

/* follow.c */
/** dp_follow_births() - take in the known fork children of a session's process, before
 *  its probes change */
void dp_follow_births(struct dp_session *s);
/** dp_follow_run() - dp_session_run() over the target's process tree */
int dp_follow_run(struct dp_session *s, int *died_of, struct dp_diag *diag);

/** dp_session_add_probes() - add a probe at each point that can have one; none is armed
 *  yet. Return: 0 or a negative errno with words. */
int dp_session_add_probes(struct dp_session *s, struct dp_diag *diag);
void dp_session_close(struct dp_session *s);

/** dp_rate_begin() - the clock's rate may be asked for: from 10 ms later on, without a wait */
void dp_rate_begin(const struct dp_session *s);
/** dp_rate_ask() - nanoseconds of 2^DP_TRACE_RATE_BITS of the source's ticks, the same in the whole run.
 *  Context: the first call waits until dp_rate_begin() is 10 ms ago. */
u64 dp_rate_ask(const struct dp_session *s);
/** dp_rate_ns() - the time between two stamps, in ns, as programs compute it; 0: @to is not later */
u64 dp_rate_ns(const struct dp_session *s, u64 from, u64 to);
/** dp_session_symbol() - the address of a name in the module of a point
 *  @words: what stands before the name in messages. Return: 0; a negative errno with words. */
int dp_session_symbol(struct dp_session *s, size_t point, const char *words,
		      const char *name, u64 *addr, struct dp_diag *diag);

struct dp_trace_program;
/**
 * dp_session_bind() - have the probe of a point run a program
 * @nr_lv: how many local variables the program has
 */
int dp_session_bind(struct dp_session *s, size_t point,
		    const struct dp_trace_program *program, u32 nr_lv,
		    struct dp_diag *diag);

/** dp_session_hits() - hits of a point; with a counting condition only those for which it
 *  held */
static inline u64 dp_session_hits(const struct dp_session *s,
				  const struct dp_point *point,
				  const struct dp_source_count *count)
{
	if (point->spec->cond && !point->spec->aggs && !s->kind->record)
		return s->ops->variable(s->source, point->program, 0);
	return count->hits;
}

/* record.c: records in the order of time */
int dp_records_open(struct dp_session *s);
/** dp_records_read() - hand on the records that have come; @ended: no more will come.
 *  Return: how many came. */
size_t dp_records_read(struct dp_session *s, bool ended);
/** dp_record_point() - the point that a probe belongs to, or NULL */
const struct dp_point *dp_record_point(const struct dp_session *s, u32 probe);
/** dp_records_fits() - is the probe of @record a point's? If not, it is torn. */
bool dp_records_fits(struct dp_session *s, const struct dp_record_copy *record);
void dp_records_close(struct dp_session *s);
/** dp_record_print() - print a record, if fewer have been printed than were asked for
 *  dp_record_were_all() - have these been printed, or the hit of --until?
 *  @ending: which of them */
void dp_record_print(struct dp_session *s, const struct dp_record_copy *record);
bool dp_record_were_all(const struct dp_session *s, enum dp_ending *ending);

/** struct dp_stamp - what a record says besides its data, ready to print */
struct dp_stamp {
	char time[32]; /* of day, with microseconds */
	double seconds; /* since the epoch */
	u32 pid, tid;
	const char *comm;
};
void dp_record_stamp(const struct dp_session *s,
		     const struct dp_record_copy *record,
		     struct dp_stamp *stamp);

/* calls.c: the account of functions that are tracked */
/** dp_calls_total() - the sum over all points. Return: false if none is tracked. */
bool dp_calls_total(const struct dp_session *s, struct dp_account *total);
/** dp_calls_complain() - tell of damaged calls and accounts that do not balance */
void dp_calls_complain(const struct dp_session *s);

/* report.c */
/** Probes that are named one by one, at most; the others are a number. */
#define DP_NAMED_MAX 8
/** dp_report_program() - the last part of the path of the session's program */
const char *dp_report_program(const struct dp_session *s);
void dp_report_counts(struct dp_session *s);
/** dp_report_dull() - say how many rows without a hit all sessions' counts have left out */
void dp_report_dull(const struct dp_session *s);
void dp_report_summary(const struct dp_session *s);
/**
 * struct dp_sums - sums over the points of sessions
 * @held: hits for which the condition held; @written: records that were printed
 * @vforked: hits of CLONE_VM children; @onward: as of struct dp_source_count
 */
struct dp_sums {
	u64 hits, held, missed, written, interior_arrivals, torn, vforked, gone,
		late, impossible, onward;
	u64 tally[DP_TALLY_NR];
};
void dp_sums_add(struct dp_sums *sums, const struct dp_session *s);
/** dp_report_costly() - a sentence for each probe whose interior arrivals cost more than
 *  its hits */
void dp_report_costly(const struct dp_session *s);
/** dp_report_signal() - " was killed by SIGTERM", in the middle of a line; a real-time signal has
 *  no name */
void dp_report_signal(int sig);
/** dp_report_sums() - "3 hits, 0 missed, …", in the middle of a line */
void dp_report_sums(const struct dp_session *s, const struct dp_sums *sums);
/** dp_report_probes() - how many points are not refused */
size_t dp_report_probes(const struct dp_session *s);
/** dp_report_refused() - tell of matches of globs that cannot be probed */
void dp_report_refused(const struct dp_session *s);

/** dp_order_check() - can a module, its parameters and aliases be sent to a process?
 *  Return: 0; -EINVAL, with words. */
int dp_order_check(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_order_text() - these, a line each; the module's path is absolute, because it may be opened
 *  in another directory. Return: malloc()ed, or NULL. */
char *dp_order_text(const struct dp_tracer_options *opt);

/* returned.c: values that tracked functions return, printed by type */
/** dp_returned_find() - set the return types of all points: from their specs or, where
 *  these give none, from debug information. @mods: modules of the points; NULL: they are of the kernel */
void dp_returned_find(struct dp_session *s, struct dp_modules *mods);
/**
 * dp_returned_text() - " = -1"; " = rax=0x2a" for an unknown type; nothing for void
 * dp_returned_json() - ",\"ret\":-1"; ",\"rax\":\"0x2a\"" if unknown; nothing for void
 * @value: of rax, or of xmm0 for DP_TYPE_FLOAT
 * @err: errno; 0: it is not known, or the function has not failed
 */
void dp_returned_text(FILE *out, const struct dp_point *p, u64 value, int err);
void dp_returned_json(FILE *out, struct dp_type type, u64 value);

/* json.c */
/** dp_json_string() - print @text in quotes, as valid JSON: a byte that is no UTF-8
 *  becomes \\xHH, which stands for \xHH. dp_json_text(): of @len bytes, zeros among them */
void dp_json_string(FILE *out, const char *text);
void dp_json_text(FILE *out, const char *text, size_t len);
void dp_json_bytes(FILE *out, const void *bytes, size_t len);
/** dp_json_process() - with -f: ",\"pid\":12,\"program\":\"sh\"" */
void dp_json_process(FILE *out, const struct dp_session *s);
/** dp_json_stamp() - "time", "pid", "tid", "comm", "probe", without braces */
void dp_json_stamp(FILE *out, const struct dp_stamp *stamp, const char *probe);

#endif
