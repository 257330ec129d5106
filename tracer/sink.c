// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sink: see sink.h. */
#include "tracer/sink.h"
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* As the other outputs of the command. */
#define BUFFER 65536

/* Behind what is there already of a line */
static bool keep_part(struct dp_sink *s, const char *text, size_t len)
{
	size_t room = s->n + len;
	char *more;

	if (room > s->room) {
		more = realloc(s->part, room);
		if (!more)
			return false;
		s->part = more;
		s->room = room;
	}
	if (len)
		memcpy(s->part + s->n, text, len);
	s->n += len;
	return true;
}

static bool take_line(struct dp_sink *s, const char *text, size_t len)
{
	size_t n;

	if (!s->n)
		return s->line(s->arg, text, len);
	if (!keep_part(s, text, len))
		return false;
	n = s->n;
	s->n = 0;
	return s->line(s->arg, s->part, n);
}

static ssize_t take(void *cookie, const char *text, size_t size)
{
	struct dp_sink *s = cookie;
	const char *from = text, *end = text + size, *newline;
	bool good = true;

	while (good && (newline = memchr(from, '\n', (size_t)(end - from)))) {
		good = take_line(s, from, (size_t)(newline + 1 - from));
		from = newline + 1;
	}
	good = good && keep_part(s, from, (size_t)(end - from));
	good = good && (!s->written || s->written(s->arg));
	return good ? (ssize_t)size : 0;
}

static int end(void *cookie)
{
	struct dp_sink *s = cookie;

	free(s->part);
	s->part = NULL;
	s->n = s->room = 0;
	return 0;
}

FILE *dp_sink_open(struct dp_sink *sink)
{
	const cookie_io_functions_t io = { .write = take, .close = end };
	FILE *out = fopencookie(sink, "w", io);

	if (out)
		setvbuf(out, NULL, _IOFBF, BUFFER);
	return out;
}
