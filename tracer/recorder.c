// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recorder: see recorder.h.
 *
 *     ring   │ …end\n│ free │first line\n│second line\n│ third li│
 *              used ─┘       └─ first
 *
 * Lines are kept as they are printed, for what they show is gone later: names of threads, of
 * processes and of libraries. The ring is as large as was asked for, and has no index: a line
 * ends with its newline, and has no other.
 */
#include "tracer/recorder.h"
#include "tracer/output.h"
#include "tracer/sink.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct dp_recorder {
	struct dp_sink sink;
	FILE *out, *behind;
	char *ring, *last;
	size_t size, first, used, last_len;
	u64 lines, dropped;
	bool is_last;
};

/* From @at on, up to where the ring begins anew */
static size_t to_end(const struct dp_recorder *r, size_t at, size_t len)
{
	return len < r->size - at ? len : r->size - at;
}

static size_t length_of_first(const struct dp_recorder *r)
{
	size_t piece = to_end(r, r->first, r->used);
	const char *end = memchr(r->ring + r->first, '\n', piece);

	if (end)
		return (size_t)(end + 1 - (r->ring + r->first));
	end = memchr(r->ring, '\n', r->used - piece);
	return end ? piece + (size_t)(end + 1 - r->ring) : r->used;
}

static void drop_first(struct dp_recorder *r)
{
	size_t len = length_of_first(r);

	r->first = (r->first + len) % r->size;
	r->used -= len;
	r->lines--;
	r->dropped++;
}

static void keep(struct dp_recorder *r, const char *text, size_t len)
{
	size_t at, piece;

	if (len > r->size) {
		r->dropped++;
		return;
	}
	while (r->used + len > r->size)
		drop_first(r);
	at = (r->first + r->used) % r->size;
	piece = to_end(r, at, len);
	memcpy(r->ring + at, text, piece);
	memcpy(r->ring, text + piece, len - piece);
	r->used += len;
	r->lines++;
}

static bool keep_last(struct dp_recorder *r, const char *text, size_t len)
{
	char *copy = malloc(len);

	if (!copy)
		return false;
	memcpy(copy, text, len);
	free(r->last);
	r->last = copy;
	r->last_len = len;
	return true;
}

/* Lines have been escaped where they were made. */
static bool put(FILE *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out);
	return !ferror(out);
}

static bool take_line(void *arg, const char *text, size_t len)
{
	struct dp_recorder *r = arg;

	if (r->is_last)
		return keep_last(r, text, len);
	if (!r->size) {
		dp_output_begin(r->behind);
		r->lines++;
		return put(r->behind, text, len);
	}
	keep(r, text, len);
	return true;
}

static bool was_written(void *arg)
{
	struct dp_recorder *r = arg;

	return r->size || !fflush(r->behind);
}

void dp_recorder_last(struct dp_recorder *r, bool is)
{
	fflush(r->out);
	r->is_last = is;
}

u64 dp_recorder_write(struct dp_recorder *r)
{
	size_t piece;

	fflush(r->out);
	dp_output_begin(r->behind);
	if (r->size) {
		piece = to_end(r, r->first, r->used);
		put(r->behind, r->ring + r->first, piece);
		put(r->behind, r->ring, r->used - piece);
	}
	if (r->last)
		put(r->behind, r->last, r->last_len);
	fflush(r->behind);
	return r->lines + !!r->last;
}

u64 dp_recorder_dropped(const struct dp_recorder *r)
{
	return r->dropped;
}

void dp_recorder_close(struct dp_recorder *r)
{
	if (r->out)
		fclose(r->out);
	if (r->ring)
		munmap(r->ring, r->size);
	free(r->last);
	free(r);
}

int dp_recorder_open(struct dp_recorder **recorder, size_t size, FILE *behind,
		     FILE **out)
{
	struct dp_recorder *r = calloc(1, sizeof(*r));
	void *ring = NULL;

	if (!r)
		return -ENOMEM;
	r->behind = behind;
	r->sink = (struct dp_sink){ .line = take_line,
				    .written = was_written,
				    .arg = r };
	/* Pages that no line has needed yet take no memory. */
	if (size)
		ring = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring != MAP_FAILED) {
		r->ring = ring;
		r->size = size;
		r->out = dp_sink_open(&r->sink);
	}
	*out = r->out;
	if (r->out) {
		*recorder = r;
		return 0;
	}
	dp_recorder_close(r);
	return -ENOMEM;
}
