// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * loader_event: where a dynamic linker tells debuggers of libraries.
 *
 * The linker calls an empty function, and the state of the list is in a record (link.h).
 * glibc has a symbol for the record, musl for a pointer to the record.
 */
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"

bool dp_loader_event_find(struct dp_modules *mods,
			  struct dp_loader_event *loader_event)
{
	const struct dp_module *linker = dp_modules_linker(mods);

	if (!linker || dp_module_dynsym(mods, linker, "_dl_debug_state",
					&loader_event->function))
		return false;
	loader_event->pointer = dp_module_dynsym(mods, linker, "_r_debug",
						 &loader_event->record) != 0;
	return !loader_event->pointer ||
	       !dp_module_dynsym(mods, linker, "_dl_debug_addr",
				 &loader_event->record);
}

int dp_loader_event_record(const struct dp_process *proc,
			   const struct dp_loader_event *loader_event,
			   u64 *record)
{
	*record = loader_event->record;
	return loader_event->pointer ?
		       dp_process_read(proc, loader_event->record, record,
				       sizeof(*record)) :
		       0;
}
