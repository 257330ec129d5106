// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * places: places in code in one block of memory, of numbers from a child that may be hostile.
 *
 *   struct dp_line_place … | struct dp_line_file … | text, with a zero byte behind
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "sym/sym.h"
#include "sym/types/places.h"

#define RECENT (sizeof(((struct dp_found *)0)->recent) / sizeof(u32))

u32 dp_found_text(struct dp_found *f, const char *text)
{
	size_t len, i;
	u32 at;

	if (!text || !*text)
		return 0;
	for (i = 0; i < RECENT; i++)
		if (f->recent[i] && !strcmp(f->bytes + f->recent[i], text))
			return f->recent[i];
	len = strlen(text) + 1;
	at = f->text ? f->text : 1;
	if (len > DP_FOUND_TEXT - at)
		return 0;
	memcpy(f->bytes + at, text, len);
	f->text = at + (u32)len;
	f->recent[f->turn++ % RECENT] = at;
	return at;
}

void dp_found_add(struct dp_found *found, const struct dp_found_place *place)
{
	if (found->places == DP_LINE_PLACES)
		found->full = 1;
	else
		found->place[found->places++] = *place;
}

static bool counts_are_sane(const struct dp_found *f)
{
	return f->places <= DP_LINE_PLACES && f->files <= DP_LINE_FILES &&
	       f->text <= DP_FOUND_TEXT;
}

/* What a terminal would obey is no name. */
static void take_text(char *to, const struct dp_found *f)
{
	u32 i;

	memcpy(to, f->bytes, f->text);
	to[f->text] = '\0';
	for (i = 0; i < f->text; i++)
		if (to[i] && ((u8)to[i] < ' ' || to[i] == 0x7f))
			to[i] = '?';
}

static const char *text_at(const char *text, u32 at)
{
	return at ? text + at : NULL;
}

static int take_place(struct dp_line_place *to, const struct dp_found *f,
		      const struct dp_found_place *from, const char *text,
		      u64 bias)
{
	if ((from->function && from->function >= f->text) ||
	    (from->caller && from->caller >= f->text) ||
	    (from->file && from->file >= f->text) ||
	    (from->source && from->source >= f->files))
		return -EBADMSG;
	*to = (struct dp_line_place){
		.addr = from->addr + bias,
		.function = text_at(text, from->function),
		.caller = text_at(text, from->caller),
		.file = text_at(text, from->file),
		.line = from->line,
		.source = from->source,
		.inlined = from->inlined,
		.nowhere = from->nowhere,
	};
	return 0;
}

static int take_file(struct dp_line_file *to, const struct dp_found *f,
		     const struct dp_found_file *from, const char *text)
{
	if (!from->path || from->path >= f->text)
		return -EBADMSG;
	*to = (struct dp_line_file){ text + from->path, from->next, from->last,
				     from->exact };
	return 0;
}

static int take(const struct dp_found *f, u64 bias,
		struct dp_line_places *places)
{
	size_t size = f->places * sizeof(*places->v), i;
	size_t files = f->files * sizeof(*places->files);
	char *text;
	int err = 0;

	places->v = calloc(1, size + files + f->text + 1);
	if (!places->v)
		return -ENOMEM;
	places->files = (void *)((char *)places->v + size);
	text = (char *)places->files + files;
	take_text(text, f);
	places->n = f->places;
	places->nr_files = f->files;
	for (i = 0; i < places->n && !err; i++)
		err = take_place(&places->v[i], f, &f->place[i], text, bias);
	for (i = 0; i < places->nr_files && !err; i++)
		err = take_file(&places->files[i], f, &f->file[i], text);
	return err;
}

int dp_places_read(struct dp_reader *r, struct dp_modules *mods,
		   const struct dp_module *m, struct dp_line_places *places)
{
	const struct dp_found *f;
	int err;

	memset(places, 0, sizeof(*places));
	r->size = sizeof(*f);
	err = dp_reader_read(r, mods, m);
	f = r->out;
	if (!err && !counts_are_sane(f))
		err = -EBADMSG;
	if (!err && f->full)
		err = -E2BIG;
	if (!err && f->split)
		err = -EXDEV;
	if (!err)
		err = take(f, m->bias, places);
	if (r->out)
		munmap(r->out, r->size);
	if (err)
		dp_lines_free(places);
	return err;
}

void dp_lines_free(struct dp_line_places *places)
{
	free(places->v);
	*places = (struct dp_line_places){ 0 };
}
