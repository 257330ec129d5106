// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * orders: an asker that does not do as dprobes enable and disable do.
 *
 *	orders TOOL state                print the state of the tool's order
 *	orders TOOL leave PID ADDR       order that the probe at ADDR be disabled, and die
 *	orders TOOL half PID ADDR        die before the last write
 *	orders TOOL withdrawn PID ADDR   order, and withdraw
 *	orders TOOL huge PID ADDR        more points than there can be
 *	orders TOOL verb PID ADDR        an order of an unknown kind
 *	orders TOOL answer               print the last answer
 */
#include "sym/sym.h"
#include "tracer/order.h"
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int mem;
static u64 addr;

static void find(pid_t tool)
{
	struct dp_maps maps;
	char path[64];
	size_t i;

	if (dp_maps_read(tool, &maps))
		exit(2);
	for (i = 0; i < maps.n && !addr; i++)
		if (!strncmp(maps.v[i].path, DP_ORDER_PATH,
			     strlen(DP_ORDER_PATH)))
			addr = maps.v[i].start;
	dp_maps_free(&maps);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tool);
	mem = open(path, O_RDWR);
	if (!addr || mem < 0)
		exit(2);
}

static void get(size_t offset, void *to, size_t n)
{
	if (pread(mem, to, n, (off_t)(addr + offset)) != (ssize_t)n)
		exit(2);
}

static void put(size_t offset, const void *from, size_t n)
{
	if (pwrite(mem, from, n, (off_t)(addr + offset)) != (ssize_t)n)
		exit(2);
}

#define GET(field, to) get(offsetof(struct dp_orders, field), to, sizeof(*(to)))
#define PUT(field, from) \
	put(offsetof(struct dp_orders, field), from, sizeof(*(from)))

static int print_state(void)
{
	static const char *const names[] = { "idle", "asked", "taken", "done" };
	u64 state;

	GET(state, &state);
	printf("%s\n", (u32)state < 4 ? names[(u32)state] : "?");
	return 0;
}

static int print_answer(void)
{
	struct dp_diag diag;
	s32 err;

	GET(err, &err);
	GET(diag, &diag);
	printf("%d %.*s\n", err, DP_DIAG_MAX, diag.text);
	return 0;
}

static int order(const char *how, u32 pid, u64 at)
{
	struct dp_order_point point = { .addr = at };
	u32 verb = strcmp(how, "verb") ? DP_ORDER_DISABLE : 77;
	u32 nr = strcmp(how, "huge") ? 1 : ~0u;
	u64 state, number;

	GET(state, &state);
	number = (state >> 32) + 1;
	state = number << 32 | DP_ORDER_IDLE;
	PUT(state, &state);
	PUT(verb, &verb);
	PUT(pid, &pid);
	PUT(nr, &nr);
	put(offsetof(struct dp_orders, points), &point, sizeof(point));
	if (!strcmp(how, "half"))
		return 0;
	if (!strcmp(how, "withdrawn"))
		PUT(withdrawn, &number);
	state = number << 32 | DP_ORDER_ASKED;
	PUT(state, &state);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	find(atoi(argv[1]));
	if (!strcmp(argv[2], "state"))
		return print_state();
	if (!strcmp(argv[2], "answer"))
		return print_answer();
	return argc < 5 ? 2 :
			  order(argv[2], (u32)atoi(argv[3]),
				strtoull(argv[4], NULL, 16));
}
