/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* frame: return addresses that are those of stubs. */
#ifndef DP_LAYOUT_FRAME_H
#define DP_LAYOUT_FRAME_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/page.h"

/*
 * A followed call returns to a stub, and only from the stub's address is it known
 * which call it was: by us, and by those who unwind the stack. What a stub does, and
 * DP_STUB_SIZE and DP_STUB_BACK, are the processor's: arch/.
 *
 * The first word of each page of them says how far its frames are from there. See
 * lib/x86/stubs.S for what unwinders are told.
 */
#define DP_STUBS_A_PAGE (DP_PAGE / DP_STUB_SIZE) /* the first is none */

/** enum dp_frame_state */
enum dp_frame_state {
	DP_FRAME_FREE,
	DP_FRAME_LIVE,
	DP_FRAME_OVER, /* another thread than the one that has it returned */
	DP_FRAME_LEFT, /* its call was left; a return all the same goes home */
};

/**
 * struct dp_frame - a return address that is a stub's; in the library's memory
 * @ret_addr: the program's own. Unwinders find it here: it is the first.
 * @cont: where the stub's call goes
 * @slot: address of the return address on the stack
 * @next: address of the thread's next frame, the one of an outer call
 * @instances: address of the innermost one that waits for the return
 * @stack: address of the struct dp_stack in whose list it is
 * @user: of one of its probes, for reports
 * @state: enum dp_frame_state; @next_free: number of another one
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
 * struct dp_frames - all of them; in the library's memory
 * @stubs: address of the first; @table: of the first frame. Number n of one
 *         belongs to number n of the other.
 * @nr: how many there are by now; @fresh: number of the first that nobody has had
 * @free, @left, @orphans: number of the first such one, and above it a stamp
 * @late: returns of calls that had been taken for left; @late_user, @late_addr: of
 *        the last one
 */
struct dp_frames {
	u64 stubs, table;
	u64 nr, fresh;
	u64 free, left, orphans;
	u64 late;
	u64 late_user, late_addr;
};

#endif
