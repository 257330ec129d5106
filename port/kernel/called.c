// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * called: what arch/x86 has in assembly for a process, as a kernel does it.
 *
 * A kernel's stacks have room for what runs at a hit, so no other is called on. There are no
 * restartable sequences: rows and records go where all CPUs may write. Bad memory is told by the
 * kernel's own functions, and no handler in C is given up.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "port.h"
#include "port/kernel/compat.h"

/* Where threads of a process go on after a fault, and where its handlers end */
const char dp_guard_up[1], dp_call_fast_up[1], dp_jprobe_return[1];
const u8 dp_load_end[1], dp_load_bad[1];

void dp_call_on(void *arg, void (*function)(void *arg), void *top)
{
	function(arg);
}

struct dp_given dp_guard(u64 handler, u64 a, u64 b, u64 c, u64 *guard, u64 via)
{
	u64 (*call)(u64, u64, u64) = (void *)handler;

	return (struct dp_given){ .value = call(a, b, c) };
}

/* Vector registers are the current task's: nothing here touches them. */
void dp_vectors_save(u8 *area, u64 level, u64 x87)
{
}

void dp_vectors_restore(const u8 *area, u64 level, u64 x87)
{
}

struct dp_load dp_load_word(u64 address)
{
	struct dp_load load = { 0 };

	load.ok = !dp_port_copy_in(&load.value, address, sizeof(load.value));
	return load;
}

bool dp_load_byte(u64 address, u64 *to)
{
	*to = 0;
	return !dp_port_copy_in(to, address, 1);
}

bool dp_row_put(const struct dp_row_put *p)
{
	return false;
}

void dp_row_pair(u64 *pair, u64 order, u64 value)
{
	u64 was[2] = { READ_ONCE(pair[0]), READ_ONCE(pair[1]) };

	while (order > was[0] && !dp_compat_exchange(pair, was, order, value)) {
		was[0] = READ_ONCE(pair[0]);
		was[1] = READ_ONCE(pair[1]);
	}
}

enum dp_stream_put_result dp_stream_put(struct dp_stream_put *p)
{
	return DP_STREAM_UNUSABLE;
}
