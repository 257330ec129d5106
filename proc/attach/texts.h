/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* texts: mappings whose patched pages can go back to the page cache, and code that has gone. */
#ifndef DP_PROC_ATTACH_TEXTS_H
#define DP_PROC_ATTACH_TEXTS_H

#include "port_types.h"
#include "proc/ptrace/scan.h"

struct dp_map;
struct dp_mapped;
struct dp_process;
struct dp_view;

void dp_texts_note(struct dp_process *proc);
bool dp_texts_clean(const struct dp_process *proc,
		    const struct dp_mapped *text);
/** dp_texts_file() - the file of a mapping none of whose pages has been written to; its
 *  descriptor is to be closed */
struct dp_text_file dp_texts_file(const struct dp_process *proc,
				  const struct dp_map *map);
/** dp_texts_gone() - sites whose code is not mapped any more become DP_SITE_GONE:
 *  whatever is there now is not touched. Return: are there any new ones? */
bool dp_texts_gone(const struct dp_process *proc, struct dp_view *view);
/** dp_texts_compare() - dp_texts_gone() of what is to be armed, and has anything changed since
 *  it was found? While the linker is held. */
void dp_texts_compare(struct dp_process *proc);
/** dp_process_note_gone() - dp_texts_gone() of our own probes */
void dp_process_note_gone(struct dp_process *proc);
/** dp_texts_mark() - and so do those that are not armed any more though their code is
 *  there: the same library has been unmapped and mapped again */
void dp_texts_mark(const struct dp_process *proc, struct dp_view *view);
/** dp_texts_mark_live() - in a process that probes itself: those whose code has gone, which it
 *  need not have noticed. @arena: its address there; it goes on changing. */
void dp_texts_mark_live(const struct dp_process *proc, struct dp_view *view,
			u64 arena);

#endif
