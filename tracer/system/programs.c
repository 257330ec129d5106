// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* programs: what the kernel's probes run: programs from files, and those that values and conditions are compiled to. */
#include "tracer/system/session.h"
#include "engine/vm/ops.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs of files are added once. */
static bool may_be_shared(const struct dp_program_spec *spec)
{
	return !spec->nr_lv && !spec->shares && !spec->nr_gv && !spec->allow &&
	       !spec->heapmax && spec->nr_starts <= 2 && !spec->starts[0];
}

/* The points of a spec run one program, unless that counts in a variable. */
static bool is_last(const struct dp_system_session *s,
		    const struct dp_program_spec *spec)
{
	return s->last.code && may_be_shared(spec) &&
	       s->last.log == spec->logmax && s->last.jumps == spec->jmpmax &&
	       s->last.stack == spec->stack && s->last.size == spec->code_len &&
	       s->last.start == spec->starts[spec->nr_starts - 1] &&
	       !memcmp(s->last.code, spec->code, spec->code_len);
}

static void remember_last(struct dp_system_session *s,
			  const struct dp_program_spec *spec, u32 program)
{
	free(s->last.code);
	s->last.code = may_be_shared(spec) ? malloc(spec->code_len + 1) : NULL;
	if (!s->last.code)
		return;
	memcpy(s->last.code, spec->code, spec->code_len);
	s->last.size = spec->code_len;
	s->last.log = spec->logmax;
	s->last.jumps = spec->jmpmax;
	s->last.stack = spec->stack;
	s->last.start = spec->starts[spec->nr_starts - 1];
	s->last.program = program;
}

/* What the kernel cannot give any program. Return: NULL: there is nothing of that */
static const char *exceeds(struct dp_system_session *s,
			   const struct dp_program_spec *spec)
{
	const struct dp_device_info *info = &s->device.info;

	if (spec->logmax > info->log) {
		snprintf(
			s->words, sizeof(s->words),
			"a record of the kernel has %u bytes at most: write logmax = %u, or show fewer values",
			info->log, info->log);
		return s->words;
	}
	if (spec->heapmax > info->heap) {
		snprintf(
			s->words, sizeof(s->words),
			"a heap in the kernel has %u bytes at most: write heapmax = %u",
			info->heap, info->heap);
		return s->words;
	}
	if (spec->allow & ~info->allow)
		return "this kernel is locked down (/sys/kernel/security/lockdown): programs that write, change registers, use ports or call functions are not taken";
	return spec->nr_starts > DP_DEVICE_STARTS ?
		       "it has more probes than the kernel takes of a file, 256" :
	       spec->code_len > DP_DEVICE_CODE ?
		       "its code is longer than the kernel takes, 32,768 bytes" :
		       NULL;
}

/* What is kept is in the program: others for other tables differ. */
int dp_system_add_program(struct dp_source *source,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why)
{
	struct dp_system_session *s = dp_system_of(source);
	int err;

	*offset = 0;
	if (is_last(s, spec)) {
		*program = s->last.program;
		return 0;
	}
	*why = exceeds(s, spec);
	if (*why)
		return -EINVAL;
	*why = s->words;
	err = dp_system_device_program(&s->device, spec, s->users, program,
				       offset, s->words);
	if (err)
		return err;
	remember_last(s, spec, *program);
	if (s->globals < spec->nr_gv)
		s->globals = spec->nr_gv;
	return 0;
}

void dp_system_bind(struct dp_source *source, const struct dp_point *point,
		    const struct dp_binding *binding)
{
	struct dp_system_session *s = dp_system_of(source);

	s->told[point->probe % DP_SYSTEM_PROBES] = binding->tells;
	s->unbound |=
		dp_system_device_bind(&s->device, point->probe, binding) != 0;
}
