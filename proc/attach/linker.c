// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * linker: loader events of a process (engine/hit/linker.c).
 *
 * A library's text can be unmapped while the tool writes to it, and other text can take its
 * place. So the probe at the linker's own function is armed before all others, and taken
 * out after them. A thread about to change the list of libraries calls that function, under
 * the linker's lock, before it unmaps anything. There it waits as long as the tool writes.
 * Only one thread can have passed that point before: it gets time to finish.
 *
 * That function is empty, and the state of the list is in a record (link.h). glibc has a symbol
 * for the record, musl for a pointer to the record.
 */
#include "engine/layout/arena.h"
#include "proc/attach/attach.h"
#include "proc/tree.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "sym/sym.h"
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* how long an unmapping may take, and how often the tool looks */
#define HOLD_NS 1000000000
#define HOLD_NAP_NS 20000

static u32 number(const struct dp_arena *a)
{
	return __atomic_load_n(&a->hit.linker_asked, __ATOMIC_ACQUIRE);
}

static bool waits(const struct dp_arena *a)
{
	return number(a) != a->control.linker_answered;
}

bool dp_process_asked(const struct dp_process *proc)
{
	const struct dp_arena *a = dp_process_probed(proc);

	return a && a->control.linker_state && (proc->missed || waits(a));
}

u32 dp_process_hear(struct dp_process *proc)
{
	const struct dp_arena *a = dp_process_probed(proc);

	proc->missed = false;
	return a ? number(a) : 0;
}

void dp_process_answer_heard(struct dp_process *proc, u32 heard)
{
	struct dp_arena *a = dp_process_probed(proc);

	if (!a)
		return;
	__atomic_store_n(&a->control.linker_answered, heard, __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->control.linker_answered, FUTEX_WAKE, INT_MAX,
		NULL, NULL, 0);
}

void dp_process_answer(struct dp_process *proc)
{
	dp_process_answer_heard(proc, dp_process_hear(proc));
}

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

/* Return: NULL: the linker is not watched, so no thread would wait. */
static struct dp_arena *watched(const struct dp_process *proc)
{
	struct dp_arena *a = dp_process_arena(proc);

	return a && a->control.linker_state ? a : NULL;
}

/* No thread runs, or none is to run before the tool has finished. */
static bool stands_still(const struct dp_process *proc)
{
	return proc->held || proc->halted;
}

static bool is_unloading(const struct dp_process *proc,
			 const struct dp_arena *a)
{
	s32 state;

	return !dp_process_read(proc, a->control.linker_state, &state,
				sizeof(state)) &&
	       state == RT_DELETE;
}

void dp_linker_hold(struct dp_process *proc)
{
	s64 deadline = dp_now_ns() + HOLD_NS;
	struct dp_arena *a = watched(proc);

	if (!a)
		return;
	__atomic_store_n(&a->control.linker_hold, 1, __ATOMIC_SEQ_CST);
	while (!stands_still(proc) && is_unloading(proc, a) && !waits(a) &&
	       dp_now_ns() < deadline) {
		if (proc->tree)
			dp_tree_pass(proc->tree);
		dp_nap(HOLD_NAP_NS);
	}
	dp_kill_point("linker: held");
}

void dp_linker_release(const struct dp_process *proc)
{
	struct dp_arena *a = watched(proc);

	if (a)
		__atomic_store_n(&a->control.linker_hold, 0, __ATOMIC_SEQ_CST);
}

bool dp_process_wait_asked(const struct dp_process *proc, int timeout_ms)
{
	struct timespec t = { timeout_ms / 1000, timeout_ms % 1000 * 1000000l };
	const struct dp_arena *a = dp_process_probed(proc);

	if (!a || !a->control.linker_state)
		return false;
	if (!dp_process_asked(proc))
		syscall(SYS_futex, &a->hit.linker_asked, FUTEX_WAIT,
			a->control.linker_answered, &t, NULL, 0);
	return true;
}
