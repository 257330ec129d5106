/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run: probe programs from files, as the probes of a session.
 *
 * A session's own data begins with a struct run. Its specs are those of all points of all files,
 * in order.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_TRACER_RUN_H
#define DP_TRACER_RUN_H

#include "tracer/facility.h"
#include "tracer/session.h"

/**
 * struct file - a file and its program
 * @first: the first of its specs, which are its points', in order
 * @number: the program's number in the engine that took it last
 * @shares: 1 + number of the program whose local variables it uses, or 0; @room_lv: local variables
 *          for which it has room, if more than it uses
 */
struct file {
	struct dp_lang_program *program;
	size_t first;
	u32 number, shares, room_lv;
};

/** struct run - @everybody: probes of programs with modtype = user are on files, for all processes */
struct run {
	const struct dp_tracer_options *opt;
	struct file *files;
	size_t nr_files;
	char **specs;
	size_t nr_specs, room;
	char **bad_line;
	struct dp_facilities *facilities;
	bool everybody;
};

/** dp_run_read() - read a file. @text: malloc()ed, on failure too. Return: 0 or a negative errno with
 *  words. */
int dp_run_read(const char *path, char **text, size_t *len,
		struct dp_diag *diag);
/** dp_run_text() - read a file, and preprocess it. @text: malloc()ed, on failure too.
 *  Return: 0 or a negative errno with words. */
int dp_run_text(struct run *run, const char *path, char **text, size_t *len,
		struct dp_diag *diag);
/** dp_run_assemble() - make the program of a file of its text.
 *  Return: 0; as dp_lang_assemble(); -EPERM it asks for more than --allow permits. */
int dp_run_assemble(struct run *run, const char *path, const char *text,
		    size_t len, struct file *file, struct dp_diag *diag);
/** dp_run_place() - where a file is for all processes, find its points in the file that they map
 *  @symbols: a file with its symbols, or "". Return: 0; as dp_everywhere_place(). */
int dp_run_place(struct run *run, struct file *file, const char *symbols,
		 struct dp_diag *diag);
/** dp_run_add_specs() - add the specs of a file's points. Return: 0 or -ENOMEM, with words. */
int dp_run_add_specs(struct run *run, struct file *file, struct dp_diag *diag);
/** dp_run_file() - the file, and its point, that a spec was made for */
struct file *dp_run_file(const struct run *run, size_t spec,
			 const struct dp_lang_point **point);
/** dp_run_session() - run a session over the specs. Return: as dp_session_do(). */
int dp_run_session(struct run *run, const struct dp_session_kind *kind,
		   int *died_of, struct dp_diag *diag);
/** dp_run_free() - free what is in it, and wait for facilities */
void dp_run_free(struct run *run);

/** dp_run_same_build() - is a point in the build that its program has been written for, if it says which? */
bool dp_run_same_build(const struct dp_modules *mods,
		       const struct dp_lang_program *program,
		       const struct dp_point *p);

/* See struct dp_session_kind. */
bool dp_run_wants(const struct dp_session *s, size_t spec,
		  struct dp_diag *diag);
void dp_run_rooms(const struct dp_session *s, struct dp_source_request *want);
int dp_run_bind(struct dp_session *s, size_t point, struct dp_diag *diag);
void dp_run_record(struct dp_session *s, const struct dp_record_copy *record);

#endif
