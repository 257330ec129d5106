// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stubs: calls that are tracked by the port's stubs. A test returns by them. */
#include "port/fake/hit/world.h"
#include "port.h"
#include <string.h>

static struct dp_fake_stub stubs[DP_FAKE_TRACKED];

u64 dp_fake_stubs(void)
{
	memset(stubs, 0, sizeof(stubs));
	return (u64)stubs;
}

struct dp_fake_stub *dp_fake_stub(u32 i)
{
	return &stubs[i];
}

static struct dp_fake_stub *stub_of(struct dp_exit_instance *v)
{
	return (void *)((char *)v - offsetof(struct dp_fake_stub, instance));
}

struct dp_exit_instance *dp_port_stub_take(u64 pool)
{
	struct dp_fake_stub *s = (void *)pool;
	u32 i;

	for (i = 0; i < DP_FAKE_TRACKED; i++) {
		if (s[i].taken)
			continue;
		s[i].taken = true;
		return &s[i].instance;
	}
	return NULL;
}

u32 dp_port_stub_room(u64 pool)
{
	return sizeof(stubs->instance) + sizeof(stubs->logged);
}

void dp_port_stub_begin(struct dp_exit_instance *v, u64 slot)
{
	stub_of(v)->slot = slot;
}

void dp_port_stub_give(struct dp_exit_instance *v)
{
	stub_of(v)->taken = false;
	stub_of(v)->slot = 0;
}
