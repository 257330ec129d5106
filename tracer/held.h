/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* held: what a hold knows of its programs and points. */
#ifndef DP_TRACER_HELD_H
#define DP_TRACER_HELD_H

#include "tracer/hold.h"
#include "tracer/run.h"

/** enum dp_held_status - DProbes' status bits of a probe, and one more */
enum dp_held_status {
	DP_HELD_COMPILED = 1,
	DP_HELD_ACTIVE = 2,
	DP_HELD_MISMATCH = 4,
	DP_HELD_DISABLED = 8,
	DP_HELD_REMOVED = 0x10,
	DP_HELD_INVALID_OFFSET = 0x20,
	DP_HELD_NO_DEBUG_REGISTER = 0x40,
	DP_HELD_BAD_LENGTH = 0x80,
	DP_HELD_NO_DEBUG_REGISTERS = 0x100,
	DP_HELD_FAILED = 0x200,
	DP_HELD_EXCLUDED = 0x400,
	DP_HELD_SUSPENDED = 0x10000,
};

/* Programs, and points, that a process can have had from one hold */
#define DP_HELD_FILES 64
#define DP_HELD_POINTS 1024

/**
 * struct dp_held_point - a spec of a hold's session, and its point
 * @status: why it is not armed, of enum dp_held_status; 0: it is
 * @retired: it was removed, or another one took its place
 * @why: in words
 */
struct dp_held_point {
	u32 status;
	bool retired;
	char why[256];
};

/**
 * struct dp_hold - a hold; its session's own
 * @points: by spec; @gone: of each file: it was removed
 * @any_opcode: of each file: opcodes are not compared
 * @records: that have come; @kept: some log keeps them
 * @talk: where words about what is inserted go
 * @coming: the modules as they are for what comes; NULL: nothing does
 */
struct dp_hold {
	struct run run;
	struct dp_held_point *points;
	bool gone[DP_HELD_FILES];
	u64 records;
	bool kept;
	int report;
	FILE *talk;
	const struct dp_modules *coming;
};

/** dp_held_choose() - leave the points that a source does not want out of its program.
 *  Return: 0; -ENOENT none is left; -ENOMEM; with words. */
int dp_held_choose(struct dp_lang_program *program,
		   const struct dp_held_source *source, struct dp_diag *diag);

/** dp_hold_add() - make a file of a source, and its specs, behind the others. Return: 0; a negative
 *  errno with words, and nothing has changed. dp_hold_drop() - forget the last one */
int dp_hold_add(struct dp_hold *hold, const struct dp_held_source *source,
		struct dp_diag *diag);
void dp_hold_drop(struct dp_hold *hold);
/** dp_hold_note_refused() - tell of points that the engine has refused, or rules of a name with
 *  several functions. Return: how many of the specs from @first on are not armed. */
u32 dp_hold_note_refused(struct dp_session *s, size_t first);
/** dp_hold_count_waiting() - how many of the specs from @first on wait for their libraries */
u32 dp_hold_count_waiting(const struct dp_session *s, size_t first);
/** dp_hold_mark() - mark the points of a file that are armed */
void dp_hold_mark(const struct dp_session *s, size_t file, bool *which);
/** dp_hold_note_retired() - note that these points were taken out */
void dp_hold_note_retired(struct dp_session *s, const bool *which);
/** dp_hold_is() - has the hold a program of that file, and does @name mean it? "": any */
bool dp_hold_is(const struct dp_hold *hold, size_t file, const char *name);

/**
 * dp_hold_insert() - insert a program beside the others, or in the place of some
 * @reply: gets words about points that are not armed, and a line with two numbers, of
 *         struct dp_held_result; or, on an error, the line of the file where it is
 * Return: 0; -EEXIST there is one of that name; a negative errno with words.
 */
int dp_hold_insert(struct dp_session *s, const struct dp_held_source *source,
		   FILE *reply, struct dp_diag *diag);

/** dp_held_query() - print what is held. @name: of programs, or "". Return: how many programs. */
size_t dp_held_query(const struct dp_session *s, const char *name, u32 how,
		     FILE *out);
/** dp_held_variables() - print their variables, a line each: index, value, and name of the program, or
 *  nothing of one that all have */
void dp_held_variables(const struct dp_session *s, FILE *out);
/** dp_held_reset() - have variables become 0. @text: numbers of the first and the last, and a name; @reply: gets how many
 *  Return: 0; -EOPNOTSUPP they are in a process's memory; a negative errno; with words */
int dp_held_reset(const struct dp_session *s, const char *text, u32 how,
		  FILE *reply, struct dp_diag *diag);

#endif
