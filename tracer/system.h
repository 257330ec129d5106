/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * system: specs of the kernel, kernel:FUNCTION, which is no process: whoever comes by there hits.
 *
 * Their source asks /dev/dprobes, which dprobes.ko makes.
 */
#ifndef DP_TRACER_SYSTEM_H
#define DP_TRACER_SYSTEM_H

#include "port_types.h"
#include <stddef.h>
#include <stdio.h>

struct dp_diag;
struct dp_lang_point;
struct dp_lang_program;
struct dp_session;
struct dp_source_place;
struct dp_source_ops;
struct dp_spec;
struct dp_tracer_options;

extern const struct dp_source_ops dp_system_source;

/** dp_system_wanted() - is the first spec one of the kernel? Then neither process nor command is needed. */
bool dp_system_wanted(const struct dp_tracer_options *opt);
/** dp_system_is() - is a spec, which has been parsed, one of the kernel? */
bool dp_system_is(const struct dp_spec *spec);

/**
 * dp_system_check() - can a spec, which comes behind the others of the session, be probed as these are?
 * Return: 0; -EOPNOTSUPP or -EINVAL with words and a caret, about specs of the kernel only.
 */
int dp_system_check(const struct dp_session *s, const struct dp_spec *spec,
		    struct dp_diag *diag);

#define DP_SYSTEM_NAME 256

/**
 * struct dp_system_listed - a probe in the kernel, also of other programs and of modules
 * @addr: 0: it is not shown, or not known yet
 * @kind: as in the kernel's kprobes/list; @flags: as there: "[DISABLED]", …; @module: "": the kernel's own
 */
struct dp_system_listed {
	u64 addr, offset;
	char kind, symbol[DP_SYSTEM_NAME], module[64], flags[64];
};

/** dp_system_list() - all that there are. Return: 0; a negative errno: they cannot be read, see
 *  dp_system_say_unlisted() */
int dp_system_list(void (*tell)(void *arg, const struct dp_system_listed *l),
		   void *arg);
/** dp_system_say_unlisted() - say so, if dprobes.ko is there, and to root, who could change it */
void dp_system_say_unlisted(int err);
/** dp_system_knob() - as dp_tracer_knob(), of all probes in the kernel */
int dp_system_knob(FILE *out, bool optimization, int value, const char *name,
		   struct dp_diag *diag);

/** dp_system_say_off() - say that no probe is armed, if the knob says so and can be read */
void dp_system_say_off(void);

/** dp_system_hooks() - as dp_tracer_hooks(), of modules' hooks */
int dp_system_hooks(const struct dp_tracer_options *opt, struct dp_diag *diag);

/** Of a thread's id in records of the kernel: where the number of what has interrupted it begins, as
 *  enum dp_device_context has it */
#define DP_SYSTEM_CONTEXT 28

struct dp_source_task;
/** dp_system_task() - see task() of struct dp_source_ops */
void dp_system_task(struct dp_source_task *task);

/* system/program.c: programs from files, with probes in the kernel. */

/** Stands for a module's name: the kernel's own functions */
#define DP_SYSTEM_IMAGE "vmlinux"

/** dp_system_program() - can the kernel have a program from a file?
 *  Return: 0; -EOPNOTSUPP with words, and *@at, where in its text */
int dp_system_program(const struct dp_lang_program *program,
		      const struct dp_source_place **at, struct dp_diag *diag);
/** dp_system_spec() - the spec of one of its points. Return: malloc()ed, or NULL */
char *dp_system_spec(const struct dp_lang_program *program,
		     const struct dp_lang_point *point);

#endif
