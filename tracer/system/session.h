/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: what the source of the kernel's probes knows of them; shared by the files that find points, add programs, and
 * take records. */
#ifndef DP_TRACER_SYSTEM_SESSION_H
#define DP_TRACER_SYSTEM_SESSION_H

#include "tracer/source.h"
#include "tracer/system/kept.h"
#include "tracer/system/system.h"

/** As many probes, and programs, as dprobes.ko has */
#define DP_SYSTEM_PROBES 4096
#define DP_SYSTEM_PROGRAMS 64

/** struct dp_system_hitter - who made the record that is taken; @pid: 0: that is not told */
struct dp_system_hitter {
	u32 tid, pid;
	char comm[16];
};

/**
 * struct dp_system_session - @probes: in the device; @globals: variables that all programs have
 * @opcodes: by probe, the first byte of its instruction
 * @pending: modules that are not loaded are waited for
 * @users: the program that is added is for probes on files
 * @unbound: a probe has not got its program; @words: why the last one was refused
 * @last: the program that was added last, if it has no variables; @start: its last one
 * @kept: tables; @files: by probe, is it on a file? @told: do its records say how the program has ended?
 * @seen: by probe, of one on a file, what fstat(2) has told of that since the probe was added
 * @had: how many points have had their programs; @gone: by probe, it has been taken away
 * @was, @sites: how they were armed, when they are not any more; NULL: they are
 */
struct dp_system_session {
	struct dp_source source;
	struct dp_system_device device;
	struct dp_system_command command;
	struct dp_system_symbols symbols;
	u32 probes;
	u32 globals;
	u8 opcodes[DP_SYSTEM_PROBES];
	bool quiet, pending, armed, unbound, users;
	char words[DP_DEVICE_WORDS];
	struct {
		u8 *code;
		u32 size, log, jumps, stack, start, program;
	} last;
	struct dp_system_hitter hitter;
	struct dp_system_kept kept;
	bool files[DP_SYSTEM_PROBES], told[DP_SYSTEM_PROBES],
		gone[DP_SYSTEM_PROBES];
	size_t had;
	struct stat *seen;
	struct dp_device_count *was;
	struct dp_device_counts sites;
};

static inline struct dp_system_session *
dp_system_of(const struct dp_source *source)
{
	return (struct dp_system_session *)source;
}

/* These are of struct dp_source_ops. */

/** dp_system_resolve() - resolve() (points.c); dp_system_symbol() - symbol(); dp_system_also() - also() */
int dp_system_also(struct dp_source *source, const struct dp_point *point,
		   u64 offset, bool onward, u8 *opcode, struct dp_diag *diag);
/** dp_system_unchanged() - unchanged() */
bool dp_system_unchanged(const struct dp_source *source,
			 const struct dp_point *point,
			 const struct stat *since);
int dp_system_resolve(struct dp_source *source, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag);
int dp_system_symbol(const struct dp_source *source, const char *name,
		     u64 *addr, struct dp_diag *diag);

/** dp_system_add_program() - add_program() (programs.c); dp_system_bind() - bind() */
int dp_system_add_program(struct dp_source *source,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why);
void dp_system_bind(struct dp_source *source, const struct dp_point *point,
		    const struct dp_binding *binding);

/** dp_system_bind_all() - let the points that have come have their programs; as struct dp_source_request has it
 *  dp_system_say_unarmed() - words for an error of the commit */
int dp_system_bind_all(struct dp_system_session *s,
		       const struct dp_source_request *want,
		       struct dp_diag *diag);
int dp_system_say_unarmed(int err, u64 bad, bool returns, struct dp_diag *diag);
/** dp_system_exchange() - exchange() (exchange.c); dp_system_retire() - retire(); dp_system_begin_anew() - what has not been
 *  armed is forgotten, and the kernel's symbols are looked at again */
int dp_system_exchange(struct dp_source *source, struct dp_modules *mods,
		       const struct dp_source_request *want, const bool *retire,
		       struct dp_diag *diag);
int dp_system_retire(struct dp_source *source, const struct dp_points *points,
		     const bool *which, struct dp_diag *diag);
void dp_system_begin_anew(struct dp_system_session *s);

/** dp_system_records() - records() (records.c) */
size_t dp_system_records(struct dp_source *source, dp_source_take take,
			 void *arg, bool ended_now);
#endif
