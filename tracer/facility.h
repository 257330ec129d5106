/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facility: what takes over when a program ends with "exit" or "exit N".
 *
 * The facilities of a run: where its records go, and who takes those that ask for more. A facility
 * that is missing, or fails, never ends the run; each such record says so, and they are counted.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_TRACER_FACILITY_H
#define DP_TRACER_FACILITY_H

#include "tracer/session.h"

struct dp_facilities;
struct dp_commands;

/** The first number that can be registered */
#define DP_FACILITY_REGISTERED 16
#define DP_FACILITIES 256

/** enum dp_facility_number - DProbes' own */
enum dp_facility_number {
	DP_FACILITY_DEBUGGER = 1,
	DP_FACILITY_CRASH_DUMP,
	DP_FACILITY_CORE,
};

/**
 * dp_facilities_open() - begin, before any process is probed
 * Return: 0; -EPERM the tool has more rights than its caller, who may not say what it runs or where
 * it writes; -EIO the log cannot be written; -ENOMEM; with words.
 */
int dp_facilities_open(const struct dp_tracer_options *opt,
		       struct dp_facilities **facilities, struct dp_diag *diag);
/**
 * dp_facilities_take() - a record that a program has made
 * @id: of its file
 *
 * Written to the log, or printed, with what became of its facility.
 */
void dp_facilities_take(struct dp_facilities *facilities, struct dp_session *s,
			const struct dp_record_copy *record, u16 id);
/** dp_facilities_left() - the probes of @s have been taken out: what has to wait for that, a debugger */
void dp_facilities_left(struct dp_session *s);
/** dp_facilities_close() - wait for commands that still run, until ^C; tell what was not done */
void dp_facilities_close(struct dp_facilities *facilities);

/* command.c: commands that take records. */

/** dp_command_begin() - make a child that will run @command. Return: 0; -ENOMEM, -EAGAIN */
int dp_commands_begin(struct dp_commands **commands, u32 number,
		      const char *command);
/**
 * dp_commands_put() - hand a record over; one command runs at a time for each number
 * @file: has it from its beginning
 * Return: 0; -ENOENT no command has this number; -EAGAIN too many wait; -EPIPE.
 */
int dp_commands_put(struct dp_commands *commands, u32 number, int file);
/** dp_commands_end() - wait for all of them. @failed: of each number, or NULL: do not wait */
void dp_commands_end(struct dp_commands *commands, u64 failed[DP_FACILITIES]);

/* core.c: core dumps. */

/**
 * dp_core_dump() - make a core dump of the session's process, which runs on
 * @inside: the thread that asked for it, as the process knows it
 * @number: of the dump, from 1
 * @outcome: what became of it, in words
 * Return: 0 or a negative errno
 */
int dp_core_dump(const struct dp_session *s, const struct dp_stamp *stamp,
		 u32 inside, u64 number, struct dp_diag *outcome);

/* debugger.c: a debugger takes a process over. */

/**
 * dp_debugger_halt() - stop the session's process for the debugger
 * @probe: its name, the session's
 * @inside: the thread that asked for it, as the process knows it
 * @outcome: what became of it, in words
 * Return: 0, and @s->debugged is filled in; or a negative errno
 */
int dp_debugger_halt(struct dp_session *s, const struct dp_stamp *stamp,
		     const char *probe, u32 inside, struct dp_diag *outcome);
/**
 * dp_debugger_call() - the process has no probes of ours any more: say how to debug it, and run --debugger
 *
 * Waits for the debugger's end. With -f other processes need the tool meanwhile: there a debugger
 * runs beside it, when those before it have ended.
 */
void dp_debugger_call(const struct dp_session *s);
/** dp_debugger_runs() - does one run beside the tool? Context: also a signal's handler */
bool dp_debugger_runs(void);
/** dp_debugger_wait() - wait for debuggers that run beside the tool, or until @over() */
void dp_debugger_wait(bool (*over)(void));

/* log.c: DProbes' log. */

struct dp_log;
/** dp_log_open() - Return: as dp_facilities_open() */
int dp_log_open(const struct dp_tracer_options *opt, struct dp_log **log,
		struct dp_diag *diag);
/** dp_log_write() - write a record as the kernel's DProbes did. Return: 0 or a negative errno */
int dp_log_write(struct dp_log *log, const struct dp_session *s,
		 const struct dp_stamp *stamp,
		 const struct dp_record_copy *record, u16 id);
void dp_log_close(struct dp_log *log);
/** dp_log_user() - the user of the thread of a record; ~0: it has ended */
u32 dp_log_user(const struct dp_session *s, const struct dp_stamp *stamp);
/** dp_log_segment() - cs of the code that is probed */
u16 dp_log_segment(const struct dp_point *point);
/** dp_log_time() - when a hit began, in ns of CLOCK_MONOTONIC */
u64 dp_log_time(const struct dp_session *s, const struct dp_record *r);
/**
 * dp_log_traces() - the log of the record of stack traces that follows a record
 * @all: out: free()d by the caller; @len: its bytes
 * @whole: out: it can be read item by item; pop stp has not cut it
 * Return: 0; -ENOMEM.
 */
int dp_log_traces(const struct dp_session *s,
		  const struct dp_record_copy *record, u16 id, char **all,
		  size_t *len, bool *whole);

/* raw.c: the same records in binary. */

struct dp_raw;
/** dp_raw_open() - Return: 0; -EIO, -ENOMEM, with words */
int dp_raw_open(const struct dp_tracer_options *opt, struct dp_raw **raw,
		struct dp_diag *diag);
/** dp_raw_write() - Return: 0 or a negative errno */
int dp_raw_write(struct dp_raw *raw, const struct dp_session *s,
		 const struct dp_stamp *stamp,
		 const struct dp_record_copy *record, u16 id);
/** dp_raw_close() - Return: 0; as close(2): the last records may be missing */
int dp_raw_close(struct dp_raw *raw);

#endif
