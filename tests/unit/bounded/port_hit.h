/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_hit: the port as it is, but for what a program writes: that goes to a window of the test's, where the test has one. */
#ifndef BOUNDED_PORT_HIT_H
#define BOUNDED_PORT_HIT_H

#include "port/user/port_hit.h"

int vm_window_write(u64 to, const void *from, size_t len) __attribute__((weak));
bool vm_window_port(u16 port, void *bytes, u32 size, bool writes)
	__attribute__((weak));

static inline int vm_bounded_out(u64 to, const void *from, size_t len)
{
	return vm_window_write ? vm_window_write(to, from, len) :
				 dp_port_copy_out(to, from, len);
}

static inline bool vm_bounded_read(u16 port, void *to, u32 size)
{
	return vm_window_port ? vm_window_port(port, to, size, false) :
				dp_port_io_read(port, to, size);
}

static inline bool vm_bounded_write(u16 port, const void *from, u32 size)
{
	return vm_window_port ? vm_window_port(port, (void *)from, size, true) :
				dp_port_io_write(port, from, size);
}

#define dp_port_copy_out vm_bounded_out
#define dp_port_io_read vm_bounded_read
#define dp_port_io_write vm_bounded_write

#endif
