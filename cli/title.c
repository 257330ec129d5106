// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* title: the words by which listings show a process of the tool's. */
#include "cli/command.h"
#include <string.h>

/* The arguments, which lie side by side */
static char *area;
static size_t room;

void dp_title_begin(int argc, char **argv)
{
	int i;

	area = argv[0];
	for (i = 0; i < argc && argv[i] == area + room; i++)
		room += strlen(argv[i]) + 1;
}

void dp_title_set(const char *name)
{
	size_t n = strlen(name);

	if (!room)
		return;
	memset(area, 0, room);
	memcpy(area, name, n < room ? n : room - 1);
}
