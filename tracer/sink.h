/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sink: a stream that hands on what is written to it, a whole line at a time. */
#ifndef DP_TRACER_SINK_H
#define DP_TRACER_SINK_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct dp_sink - where the lines go
 * @line: takes a line, @len bytes, its newline the last of them. Return: false: errno says why not
 * @written: called when all of a write has been taken. Return: as of @line. Or NULL
 * @part, @n, @room: the beginning of a line that is not whole yet
 */
struct dp_sink {
	bool (*line)(void *arg, const char *text, size_t len);
	bool (*written)(void *arg);
	void *arg;
	char *part;
	size_t n, room;
};

/**
 * dp_sink_open() - a stream, fully buffered, whose lines the sink takes
 * @sink: outlives the stream, which fclose() ends
 *
 * A line that cannot be taken sets the stream's error indicator.
 * Return: NULL if there is no memory.
 */
FILE *dp_sink_open(struct dp_sink *sink);

#endif
