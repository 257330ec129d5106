/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* frame: stubs and the return addresses that they stand for. */
#ifndef DP_LAYOUT_FRAME_H
#define DP_LAYOUT_FRAME_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

/*
 * A tracked call returns to a stub. The stub's address alone tells which call it was:
 * to us, and to unwinders. What a stub does, and DP_STUB_SIZE and DP_STUB_BACK, belong
 * to the processor: arch/.
 *
 * The first word of each page of stubs is the distance to its frames. See
 * lib/x86/stubs.S for what unwinders are told.
 */
#define DP_STUBS_A_PAGE (DP_PAGE / DP_STUB_SIZE) /* the first is not a stub */

/** enum dp_frame_state */
enum dp_frame_state {
	DP_FRAME_FREE,
	DP_FRAME_LIVE,
	DP_FRAME_OVER, /* returned on a thread that has not listed it */
	DP_FRAME_ABANDONED, /* the call was left; a late return goes home */
	DP_FRAME_BOUND, /* free, for the next call of its instance */
};

/**
 * struct dp_frame - what a stub stands for; in the library's memory
 * @ret_addr: the program's return address. Unwinders find it here, as the first word.
 * @cont: where the stub's call goes
 * @slot: address of the return address on the stack
 * @next: address of the thread's next frame, the one of an outer call
 * @instances: address of the innermost instance that waits for the return; of a bound one: of
 *         the instance that has it, whose @frame it is
 * @stack: address of the struct dp_stack in whose list it is
 * @user: of one of its probes, for reports
 * @state: enum dp_frame_state; @next_free: number of the next frame of a list
 */
struct dp_frame {
	u64 ret_addr;
	u64 cont;
	u64 slot;
	u64 next;
	u64 instances;
	u64 stack;
	u64 user;
	u32 state, next_free;
};

/**
 * struct dp_frames - all frames; in the library's memory
 * @stubs: address of the first stub; @table: of the first frame. Stub n belongs to
 *         frame n.
 * @nr: how many there are by now; @fresh: number of the first that was never used
 * @free, @abandoned, @detached: number of the first frame of the list, and above it a
 *         stamp
 * @late: returns of calls that had been taken for left; @late_user, @late_addr: of the
 *        last one
 */
struct dp_frames {
	u64 stubs, table;
	u64 nr, fresh;
	u64 free, abandoned, detached;
	u64 late;
	u64 late_user, late_addr;
};

/**
 * struct dp_pair_facts - what pairs.S and entry.S would have to work out at each call otherwise
 * @sites: address of the first struct dp_site_entry
 * @stubs, @table: as of struct dp_frames; @stub_bytes: of all stubs
 * @bias: a stub's address, less half of its frame's
 */
struct dp_pair_facts {
	u64 sites;
	u64 stubs, stub_bytes, table, bias;
};

#endif
