/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vm_window: what programs of a test may write: some bytes, and ports that are an array.
 *
 * A write of a program that has not asked for it ends the test. Everything else is as in the port:
 * see tests/unit/bounded.
 */
#ifndef VM_WINDOW_H
#define VM_WINDOW_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/vm/ops.h"
#include "port_types.h"

/** struct vm_window - @at: @size bytes that can be written; @drops: as if they were
 *  @allow: enum dp_vm_allow, of the program that runs; @writes, @ports: how many there were */
static struct vm_window {
	u8 *at;
	u64 size;
	bool drops;
	u32 allow;
	u64 writes, ports;
	u8 port[0x10000];
} vm_window;

int vm_window_write(u64 to, const void *from, size_t len);
bool vm_window_port(u16 port, void *bytes, u32 size, bool writes);

int vm_window_write(u64 to, const void *from, size_t len)
{
	u64 offset = to - (u64)vm_window.at;

	if (!(vm_window.allow & DP_ALLOW_WRITE))
		abort();
	if (offset >= vm_window.size || len > vm_window.size - offset)
		return -EFAULT;
	if (!vm_window.drops)
		memcpy(vm_window.at + offset, from, len);
	vm_window.writes++;
	return 0;
}

/* The upper half is not for the program. */
bool vm_window_port(u16 port, void *bytes, u32 size, bool writes)
{
	if (!(vm_window.allow & DP_ALLOW_IO) ||
	    size > sizeof(vm_window.port) - port)
		abort();
	if (port >= sizeof(vm_window.port) / 2)
		return false;
	if (!writes)
		memcpy(bytes, vm_window.port + port, size);
	else if (!vm_window.drops)
		memcpy(vm_window.port + port, bytes, size);
	vm_window.ports++;
	return true;
}

#endif
