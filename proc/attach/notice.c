// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * notice: where a dynamic linker tells debuggers of libraries.
 *
 * It calls an empty function, with the state of the list in a record (link.h). glibc
 * has a name for the record, musl for a pointer to it.
 */
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "sym/sym.h"

static const struct dp_module *linker_of(struct dp_modules *mods)
{
	size_t i;

	for (i = 0; i < dp_modules_count(mods); i++)
		if (dp_modules_get(mods, i)->is_linker)
			return dp_modules_get(mods, i);
	return NULL;
}

bool dp_notice_find(struct dp_modules *mods, struct dp_notice *notice)
{
	const struct dp_module *linker = linker_of(mods);

	if (!linker || dp_module_dynsym(mods, linker, "_dl_debug_state",
					&notice->function))
		return false;
	notice->pointer = dp_module_dynsym(mods, linker, "_r_debug",
					   &notice->record) != 0;
	return !notice->pointer ||
	       !dp_module_dynsym(mods, linker, "_dl_debug_addr",
				 &notice->record);
}

int dp_notice_record(const struct dp_process *proc,
		     const struct dp_notice *notice, u64 *record)
{
	*record = notice->record;
	return notice->pointer ? dp_process_read(proc, notice->record, record,
						 sizeof(*record)) :
				 0;
}
