// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * landing: probes where unwinders leave a part of the stack, for as long as there are return probes.
 *
 * With them an exception need not stop at each stub that it passes: see engine/instance/landing.c. An unwinder
 * whose code has another form, or where a jump has no room, has none, and exceptions stop at each stub there.
 */
#include "lib/frames.h"
#include "lib/landing.h"
#include "lib/self.h"
#include "agent/image.h"
#include "sym/unwinds.h"
#include <dlfcn.h>
#include <string.h>

static struct kprobe landings[DP_UNWINDS_MAX];
static u32 nr;
static bool there; /* some are; read without the library's lock, too */
static u64 looked; /* generation of the symbols then */

static void set_nr(u32 n)
{
	nr = n;
	__atomic_store_n(&there, n != 0, __ATOMIC_RELAXED);
}

static struct dp_request request_of(u32 i)
{
	return (struct dp_request){
		.user = { .p = &landings[i], .kind = 'k', .own = true },
		.handlers = { .kind = DP_KIND_LANDING,
			      .pre = dp_self.base + dp_agent_return_landed,
			      .user = (u64)&landings[i],
			      .nmissed = (u64)&landings[i].nmissed },
	};
}

/* Slower than stopping at stubs, or not there? */
static bool are_jumps(void)
{
	u32 i, index;

	for (i = 0; i < nr; i++)
		if (!dp_probe_index(&landings[i], &index) ||
		    !dp_live_optimized(dp_self.engine, index))
			return false;
	return true;
}

static void let_pass(void)
{
	const void *bases[DP_UNWINDS_MAX];
	Dl_info info;
	u32 i, n = 0;

	for (i = 0; i < nr; i++) {
		if (!dladdr(landings[i].addr, &info))
			continue;
		if (!n || bases[n - 1] != info.dli_fbase)
			bases[n++] = info.dli_fbase;
	}
	dp_frames_let_pass(bases, n);
}

/* Return: how many there are */
static u32 find(struct dp_unwind *list)
{
	size_t n =
		dp_unwinds_find(dp_symbol_map_modules(dp_self.symbols), list);
	u32 i, kept = 0;

	for (i = 0; i < n; i++)
		if (list[i].until == DP_UNWIND_CX)
			list[kept++] = list[i];
	return kept;
}

static bool are_there(const struct dp_unwind *list, u32 n)
{
	u32 i;

	for (i = 0; i < n && i < nr; i++)
		if ((u64)landings[i].addr != list[i].addr)
			return false;
	return n == nr;
}

static bool add(const struct dp_unwind *list, u32 n)
{
	struct dp_request requests[DP_UNWINDS_MAX];
	u32 i;

	memset(landings, 0, sizeof(landings));
	for (i = 0; i < n; i++) {
		landings[i].addr = (kprobe_opcode_t *)list[i].addr;
		requests[i] = request_of(i);
	}
	set_nr(n && !dp_probes_register(requests, n) ? n : 0);
	return nr;
}

/* Those of before stay where they are all: an exception may be on its way. */
void dp_landings_add(void)
{
	u64 generation = dp_symbol_map_generation(dp_self.symbols);
	struct dp_unwind list[DP_UNWINDS_MAX];
	u32 n;

	if (looked == generation)
		return;
	looked = generation;
	n = find(list);
	if (are_there(list, n))
		return;
	dp_landings_drop();
	looked = generation;
	if (!add(list, n))
		return;
	if (are_jumps()) {
		let_pass();
		return;
	}
	dp_landings_drop();
	looked = generation;
}

void dp_landings_drop(void)
{
	struct kprobe *v[DP_UNWINDS_MAX];
	u32 i, n = nr;

	dp_frames_let_pass(NULL, 0);
	for (i = 0; i < n; i++)
		v[i] = &landings[i];
	set_nr(0);
	looked = 0;
	if (n)
		dp_probes_unregister(v, n);
}

void dp_landings_anew(void)
{
	set_nr(0);
	looked = 0;
	dp_frames_let_pass(NULL, 0);
}

bool dp_landings_there(void)
{
	return __atomic_load_n(&there, __ATOMIC_RELAXED);
}
