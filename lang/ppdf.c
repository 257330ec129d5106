// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ppdf: programs as probe program definition files, which need no symbols where they are applied.
 *
 *   ┌──────┬────────┬────────┬─────────┬──────┬──────────┬─────────┐
 *   │ head │ points │ places │ strings │ code │ build-id │ CRC-32  │   little endian
 *   └──────┴────────┴────────┴─────────┴──────┴──────────┴─────────┘
 *
 * The parts follow one another without gaps; the head has how long each is. Strings end in NUL, and
 * are named by their offset; NO_STRING: there is none. A file is hostile input: each number is
 * checked before anything is made of it.
 */
#include "lang/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x46445050u /* "PPDF" */
#define VERSION 1
#define FLAGS 0x0801 /* little endian; bytes of a word */
#define NO_STRING 0xffffffffu
#define MOST_POINTS 65535
#define MOST_STRINGS (16u << 20)
#define MOST_ALLOW 15
#define CRC_POLYNOMIAL 0xedb88320u

/* Of @marks of a head, and of @marks of a point */
enum { AUTOSTACKTRACE = 1, TRACES = 2, HEAPS = 4, CALLS = 8, MARKS = 15 };
enum { LOGONFAULT = 1, RETPROBE = 2, POINT_MARKS = 3 };

struct head {
	u32 magic;
	u16 version, flags;
	u32 size; /* of the file */
	u32 nr_points, nr_places, strings, code, id; /* of parts */
	u32 name, file, comm, cgroup, user; /* strings */
	u16 modtype, major, program_id, marks;
	u32 jmpmax, logmax, vars, gvars, stack, ex_logmax, heapmax, allow;
	u32 pad;
	s64 pid;
};

struct point {
	u64 offset;
	u32 label, line;
	u16 major, minor, group, type;
	u32 passcount, maxhits, heap, ex_mask, start, end;
	u16 marks;
	u8 nr_bytes, pad;
	u8 bytes[DP_LANG_BYTES];
	u8 rest[4];
};

/* An address in the code, relative to the module */
struct place {
	u64 addr;
	u32 code, name;
};

_Static_assert(sizeof(struct head) == 104 && sizeof(struct point) == 72 &&
		       sizeof(struct place) == 16,
	       "the layout of a file");

static u32 crc32(const u8 *bytes, size_t len)
{
	u32 crc = ~0u;
	size_t i;
	int k;

	for (i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	}
	return ~crc;
}

/** struct strings - a part that grows; @out: it is written there */
struct strings {
	FILE *out;
	u32 len;
};

static u32 put_string(struct strings *s, const char *text)
{
	u32 at = s->len;

	if (!text)
		return NO_STRING;
	fwrite(text, 1, strlen(text) + 1, s->out);
	s->len += (u32)strlen(text) + 1;
	return at;
}

static struct head head_of(const struct dp_lang_program *p, struct strings *s)
{
	return (struct head){
		.magic = MAGIC,
		.version = VERSION,
		.flags = FLAGS,
		.nr_points = (u32)p->nr_points,
		.nr_places = (u32)p->nr_symbols,
		.code = p->code_len,
		.id = p->build_len,
		.name = put_string(s, p->name),
		.file = put_string(s, p->file),
		.comm = put_string(s, p->filter.comm),
		.cgroup = put_string(s, p->filter.cgroup),
		.user = put_string(s, p->filter.user),
		.modtype = (u16)p->modtype,
		.major = p->major,
		.program_id = p->id,
		.marks = (u16)((p->autostacktrace ? AUTOSTACKTRACE : 0) |
			       (p->traces ? TRACES : 0) |
			       (p->heaps ? HEAPS : 0) | (p->calls ? CALLS : 0)),
		.jmpmax = p->jmpmax,
		.logmax = p->logmax,
		.vars = p->vars,
		.gvars = p->gvars,
		.stack = p->stack,
		.ex_logmax = p->ex_logmax,
		.heapmax = p->heapmax,
		.allow = p->allow,
		.pid = p->filter.pid,
	};
}

static struct point point_of(const struct dp_lang_point *pt, struct strings *s)
{
	struct point to = {
		.offset = (u64)pt->value,
		.label = put_string(s, pt->label),
		.line = pt->at.line,
		.major = pt->major,
		.minor = pt->minor,
		.group = pt->group,
		.type = pt->type,
		.passcount = pt->passcount,
		.maxhits = pt->maxhits,
		.heap = pt->heap,
		.ex_mask = pt->ex_mask,
		.start = pt->start,
		.end = pt->end,
		.marks = (u16)((pt->logonfault ? LOGONFAULT : 0) |
			       (pt->retprobe ? RETPROBE : 0)),
		.nr_bytes = pt->nr_bytes,
	};

	memcpy(to.bytes, pt->bytes, sizeof(to.bytes));
	return to;
}

static bool is_placed(const struct dp_lang_program *p)
{
	size_t i;

	for (i = 0; i < p->nr_points; i++)
		if (p->points[i].symbol || p->points[i].absolute)
			return false;
	for (i = 0; i < p->nr_symbols; i++)
		if (!p->symbols[i].placed)
			return false;
	return !p->nr_values;
}

/* The parts between the head and the CRC. @head: gets the strings' length */
static void put_parts(const struct dp_lang_program *p, struct head *head,
		      FILE *out)
{
	char *text = NULL;
	size_t len = 0, i;
	struct strings s = { .out = open_memstream(&text, &len) };
	struct point point;
	struct place place;

	if (!s.out)
		return;
	*head = head_of(p, &s);
	fwrite(head, sizeof(*head), 1, out);
	for (i = 0; i < p->nr_points; i++) {
		point = point_of(&p->points[i], &s);
		fwrite(&point, sizeof(point), 1, out);
	}
	for (i = 0; i < p->nr_symbols; i++) {
		place = (struct place){ .addr = p->symbols[i].addr,
					.code = p->symbols[i].code,
					.name = put_string(
						&s, p->symbols[i].name) };
		fwrite(&place, sizeof(place), 1, out);
	}
	fclose(s.out);
	fwrite(text, 1, len, out);
	fwrite(p->code, 1, p->code_len, out);
	fwrite(p->build, 1, p->build_len, out);
	head->strings = (u32)len;
	free(text);
}

int dp_lang_write_ppdf(const struct dp_lang_program *p, FILE *out)
{
	struct head head = { 0 };
	char *all = NULL;
	size_t len = 0;
	FILE *f;
	u32 crc;
	int err;

	if (!is_placed(p))
		return -EINVAL;
	f = open_memstream(&all, &len);
	if (!f)
		return -EIO;
	put_parts(p, &head, f);
	err = fclose(f) || len < sizeof(head) ? -EIO : 0;
	if (!err) {
		head.size = (u32)(len + sizeof(crc));
		memcpy(all, &head, sizeof(head));
		crc = crc32((u8 *)all, len);
		if (fwrite(all, 1, len, out) != len ||
		    fwrite(&crc, sizeof(crc), 1, out) != 1)
			err = -EIO;
	}
	free(all);
	return err;
}

/** struct reading - a file that is read; the parts' sizes have been checked */
struct reading {
	struct head head;
	const u8 *points, *places, *code, *id;
	const char *strings;
	struct dp_lang_program *p;
};

static bool lay_out(struct reading *r, const u8 *bytes, size_t len)
{
	const struct head *h = &r->head;
	u64 at = sizeof(*h);

	if (h->nr_points > MOST_POINTS || h->nr_places > MOST_POINTS ||
	    h->strings > MOST_STRINGS || h->code > DP_CODE_MAX ||
	    h->id > DP_LANG_ID)
		return false;
	r->points = bytes + at;
	at += (u64)h->nr_points * sizeof(struct point);
	r->places = bytes + at;
	at += (u64)h->nr_places * sizeof(struct place);
	r->strings = (const char *)bytes + at;
	at += h->strings;
	r->code = bytes + at;
	at += h->code;
	r->id = bytes + at;
	at += h->id;
	return at + sizeof(u32) == len && h->strings &&
	       (at == 0 || r->strings[h->strings - 1] == '\0');
}

/* Return: NULL: it is not among the strings. */
static const char *string_at(const struct reading *r, u32 at)
{
	return at < r->head.strings ? r->strings + at : NULL;
}

/* @to: stays NULL where there is none. Return: false: it is damaged, or there is no memory. */
static bool take_string(const struct reading *r, u32 at, char **to)
{
	const char *text = string_at(r, at);

	if (at == NO_STRING)
		return true;
	*to = text ? strdup(text) : NULL;
	return *to;
}

/* Names stand in messages, and in a spec in quotes. */
static bool is_name(const char *text)
{
	return text && *text && !text[strcspn(text, "\"\n")];
}

static bool head_sane(const struct head *h)
{
	return h->modtype == DP_MODTYPE_USER && h->major && h->nr_points &&
	       h->code && !(h->marks & ~MARKS) && h->jmpmax <= DP_JMP_MAX &&
	       h->logmax <= DP_LOG_MAX && h->vars <= DP_VARS_MAX &&
	       h->gvars <= DP_VARS_MAX && h->ex_logmax <= DP_EX_LOG_MAX &&
	       h->heapmax <= DP_HEAP_MAX && h->allow <= MOST_ALLOW &&
	       (h->stack == DP_STACK_DEFAULT || h->stack == DP_STACK_SMALL) &&
	       h->pid >= -1 && h->pid <= 0x7fffffff;
}

static bool take_head(struct reading *r)
{
	const struct head *h = &r->head;
	struct dp_lang_program *p = r->p;

	if (!head_sane(h) || !is_name(string_at(r, h->name)) ||
	    !take_string(r, h->name, &p->name) ||
	    !take_string(r, h->comm, &p->filter.comm) ||
	    !take_string(r, h->cgroup, &p->filter.cgroup) ||
	    !take_string(r, h->user, &p->filter.user))
		return false;
	p->modtype = (enum dp_modtype)h->modtype;
	p->major = h->major;
	p->id = h->program_id;
	p->autostacktrace = h->marks & AUTOSTACKTRACE;
	p->traces = h->marks & TRACES;
	p->heaps = h->marks & HEAPS;
	p->calls = h->marks & CALLS;
	p->jmpmax = h->jmpmax;
	p->logmax = h->logmax;
	p->vars = h->vars;
	p->gvars = h->gvars;
	p->stack = h->stack;
	p->ex_logmax = h->ex_logmax;
	p->heapmax = h->heapmax;
	p->allow = h->allow;
	p->filter.pid = h->pid;
	memcpy(p->code, r->code, h->code);
	p->code_len = h->code;
	memcpy(p->build, r->id, h->id);
	p->build_len = h->id;
	return true;
}

static bool point_sane(const struct head *h, const struct point *pt)
{
	return pt->start < pt->end && pt->end <= h->code && !pt->pad &&
	       pt->nr_bytes <= DP_LANG_BYTES && !(pt->marks & ~POINT_MARKS) &&
	       pt->heap <= DP_HEAP_MAX && pt->ex_mask <= 0xffff && pt->major &&
	       pt->offset <= INT64_MAX && pt->maxhits <= DP_MAXHITS_DEFAULT &&
	       pt->passcount <= DP_MAXHITS_DEFAULT;
}

static bool take_point(struct reading *r, size_t i)
{
	struct dp_lang_point *to = &r->p->points[i];
	struct point pt;

	memcpy(&pt, r->points + i * sizeof(pt), sizeof(pt));
	if (!point_sane(&r->head, &pt))
		return false;
	*to = (struct dp_lang_point){
		.value = (s64)pt.offset,
		.opcode = -1,
		.major = pt.major,
		.minor = pt.minor,
		.group = pt.group,
		.type = pt.type,
		.passcount = pt.passcount,
		.maxhits = pt.maxhits,
		.logonfault = pt.marks & LOGONFAULT,
		.retprobe = pt.marks & RETPROBE,
		.heap = pt.heap,
		.ex_mask = pt.ex_mask,
		.nr_bytes = pt.nr_bytes,
		.start = pt.start,
		.end = pt.end,
	};
	memcpy(to->bytes, pt.bytes, sizeof(to->bytes));
	r->p->nr_points++;
	return take_string(r, pt.label, &to->label) &&
	       (!to->label || is_name(to->label));
}

static bool take_place(struct reading *r, size_t i)
{
	struct dp_lang_symbol *to = &r->p->symbols[i];
	struct place place;

	memcpy(&place, r->places + i * sizeof(place), sizeof(place));
	if (place.code >= r->head.code ||
	    r->head.code - place.code < sizeof(u64) || place.name == NO_STRING)
		return false;
	*to = (struct dp_lang_symbol){ .code = place.code,
				       .placed = true,
				       .addr = place.addr };
	r->p->nr_symbols++;
	return take_string(r, place.name, &to->name) && is_name(to->name);
}

static int take(struct reading *r)
{
	const struct head *h = &r->head;
	size_t i;

	r->p->points = calloc(h->nr_points + 1, sizeof(*r->p->points));
	r->p->symbols = calloc(h->nr_places + 1, sizeof(*r->p->symbols));
	if (!r->p->points || !r->p->symbols)
		return -ENOMEM;
	if (!take_head(r))
		return -EBADMSG;
	for (i = 0; i < h->nr_points; i++)
		if (!take_point(r, i))
			return -EBADMSG;
	for (i = 0; i < h->nr_places; i++)
		if (!take_place(r, i))
			return -EBADMSG;
	return 0;
}

/* What messages point at: a line for each point, which says where it is. */
static int make_text(struct dp_lang_program *p)
{
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (i = 0; i < p->nr_points; i++) {
		struct dp_lang_point *pt = &p->points[i];
		int n = fprintf(f, "offset = 0x%llx  // %s\n",
				(unsigned long long)pt->value,
				pt->label ? pt->label : "");

		pt->at = (struct dp_source_place){
			.line = (u32)i + 1,
			.span = n > 1 ? (u32)n - 1 : 0,
		};
		pt->opcode_at = pt->at;
		if (!i)
			p->calls_at = p->build_at = pt->at;
	}
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	free(p->text);
	p->text = text;
	return 0;
}

static int refuse(const char *file, int err, const char *why,
		  struct dp_diag *diag)
{
	return dp_diag_set(diag, err, "%s %s", file, why);
}

/* Is it such a file, and as it was written? */
static int check(struct reading *r, const char *file, const u8 *bytes,
		 size_t len, struct dp_diag *diag)
{
	u32 crc;

	if (len < sizeof(r->head) + sizeof(crc))
		return refuse(file, -EBADMSG, "is no PPDF file", diag);
	memcpy(&r->head, bytes, sizeof(r->head));
	if (r->head.magic != MAGIC)
		return refuse(
			file, -EBADMSG,
			"is no PPDF file; --build-ppdf makes one of a program",
			diag);
	if (r->head.version != VERSION || r->head.flags != FLAGS)
		return refuse(file, -EOPNOTSUPP,
			      "is a PPDF file of another version, or machine",
			      diag);
	memcpy(&crc, bytes + len - sizeof(crc), sizeof(crc));
	if (r->head.size == len && crc == crc32(bytes, len - sizeof(crc)) &&
	    lay_out(r, bytes, len))
		return 0;
	return refuse(file, -EBADMSG, "is a damaged PPDF file", diag);
}

int dp_lang_read_ppdf(const char *file, const void *bytes, size_t len,
		      struct dp_lang_program **program, struct dp_diag *diag)
{
	struct reading r = { .p = NULL };
	int err = check(&r, file, bytes, len, diag);

	*program = NULL;
	if (err)
		return err;
	if (dp_lang_new(file, "", 0, sizeof(u64), &r.p)) {
		dp_lang_free(r.p);
		return dp_lang_nomem(diag);
	}
	err = take(&r);
	if (!err)
		err = make_text(r.p);
	if (!err) {
		*program = r.p;
		return 0;
	}
	dp_lang_free(r.p);
	return err == -ENOMEM ?
		       dp_lang_nomem(diag) :
		       refuse(file, err, "is a damaged PPDF file", diag);
}
