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
/* Where they may be, and for which generation of the symbols */
static struct dp_unwind known[DP_UNWINDS_MAX];
static u32 nr_known;
static u64 known_at;
static u32 looks;
static bool rest; /* they are switched off: there is no return probe */

static void set_nr(u32 n)
{
	nr = n;
	rest = false;
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

static void drop(void)
{
	struct kprobe *v[DP_UNWINDS_MAX];
	u32 i, n = nr;

	dp_frames_let_pass(NULL, 0);
	for (i = 0; i < n; i++)
		v[i] = &landings[i];
	set_nr(0);
	if (n)
		dp_probes_unregister(v, n);
}

static bool has_gone(void)
{
	u32 i, index;

	for (i = 0; i < nr; i++)
		if (!dp_probe_index(&landings[i], &index) ||
		    dp_self.users[index].gone)
			return true;
	return false;
}

/* To look through all modules takes long. So an unwinder that comes with a library has no landings, where there
 * was one before, or where libraries have come and gone often. */
#define LOOKS 16
static void look(u64 generation)
{
	if (known_at == generation || looks == LOOKS ||
	    (nr_known && !has_gone()))
		return;
	nr_known = find(known);
	known_at = generation;
	looks++;
}

/* Those that rest stay where they are planned, but leave no byte in the text. */
static void turn(bool on)
{
	u32 indexes[DP_UNWINDS_MAX], i, n = 0;

	for (i = 0; i < nr; i++)
		n += dp_probe_index(&landings[i], &indexes[n]);
	if (n)
		dp_live_enable(dp_self.engine, &dp_self.text.target, indexes, n,
			       on);
	rest = !on;
	__atomic_store_n(&there, on && nr, __ATOMIC_RELAXED);
	if (on)
		return;
	dp_self_settle();
}

/* Those of before stay where they are all: an exception may be on its way. */
void dp_landings_add(void)
{
	look(dp_symbol_map_generation(dp_self.symbols));
	if (are_there(known, nr_known)) {
		if (!rest)
			return;
		turn(true);
	} else {
		drop();
		if (!add(known, nr_known))
			return;
	}
	if (are_jumps())
		let_pass();
	else
		dp_landings_rest();
}

void dp_landings_rest(void)
{
	dp_frames_let_pass(NULL, 0);
	turn(false);
}

void dp_landings_anew(void)
{
	set_nr(0);
	known_at = looks = 0;
	dp_frames_let_pass(NULL, 0);
}

bool dp_landings_there(void)
{
	return __atomic_load_n(&there, __ATOMIC_RELAXED);
}
