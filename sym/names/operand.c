// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * operand: see operand.h.
 *
 *     ARGUMENT := [[-]SIZE[f]@]OPERAND                  SIZE := 1 | 2 | 4 | 8; -: it is signed
 *     OPERAND  := $SUM | %REGISTER | [%fs:][SUM][ADDRESS]
 *     ADDRESS  := ([%BASE][,%INDEX[,SCALE]]) | (%rip)
 *     SUM      := [+|-]TERM …                            TERM := NUMBER | SYMBOL, at most one
 *
 * Source: SystemTap's wiki, UserSpaceProbeImplementation; its sys/sdt.h; the manual of GNU as, 9.16.
 */
#include "sym/names/operand.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RSP 7
#define WORD 8
#define VECTORS 16
#define SIZE_MOST 4 /* characters of a size: "-8f@" */

/* struct reader - what is left of the text */
struct reader {
	const char *at, *end;
};

struct named {
	u8 number, width, shift;
};

/* Registers with names of their own, by DWARF's numbers */
static const struct {
	const char *wide, *half, *word, *low, *high;
} registers[] = {
	{ "rax", "eax", "ax", "al", "ah" },
	{ "rdx", "edx", "dx", "dl", "dh" },
	{ "rcx", "ecx", "cx", "cl", "ch" },
	{ "rbx", "ebx", "bx", "bl", "bh" },
	{ "rsi", "esi", "si", "sil", NULL },
	{ "rdi", "edi", "di", "dil", NULL },
	{ "rbp", "ebp", "bp", "bpl", NULL },
	{ "rsp", "esp", "sp", "spl", NULL },
};

#define NR_NAMED (sizeof(registers) / sizeof(registers[0]))
#define NR_GENERAL 16

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->at++;
}

static bool take(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool take_word(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len))
		return false;
	r->at += len;
	return true;
}

static bool is_name(const char *text, size_t len, const char *name)
{
	return name && strlen(name) == len && !memcmp(text, name, len);
}

static bool find_named(const char *text, size_t len, struct named *n)
{
	u8 i;

	for (i = 0; i < NR_NAMED; i++) {
		*n = (struct named){ .number = i };
		n->width = is_name(text, len, registers[i].wide) ? 8 :
			   is_name(text, len, registers[i].half) ? 4 :
			   is_name(text, len, registers[i].word) ? 2 :
			   is_name(text, len, registers[i].low)	 ? 1 :
								   0;
		if (!n->width && is_name(text, len, registers[i].high)) {
			n->width = 1;
			n->shift = 8;
		}
		if (n->width)
			return true;
	}
	return false;
}

/* One or two digits, without a 0 before them. Return: their number and how many; 0: there are none */
static size_t number_of(const char *text, size_t len, unsigned int *value)
{
	size_t n = 0;

	*value = 0;
	while (n < len && n < 2 && isdigit((unsigned char)text[n]))
		*value = 10 * *value + (unsigned int)(text[n++] - '0');
	return n == 2 && text[0] == '0' ? 0 : n;
}

/* r8 to r15, and parts of them */
static bool find_numbered(const char *text, size_t len, struct named *n)
{
	unsigned int value;
	size_t digits;

	if (!len || *text != 'r')
		return false;
	digits = number_of(text + 1, len - 1, &value);
	if (!digits || value < NR_NAMED || value >= NR_GENERAL)
		return false;
	text += 1 + digits;
	len -= 1 + digits;
	*n = (struct named){ .number = (u8)value };
	n->width = !len						      ? 8 :
		   is_name(text, len, "d")			      ? 4 :
		   is_name(text, len, "w")			      ? 2 :
		   is_name(text, len, "b") || is_name(text, len, "l") ? 1 :
									0;
	return n->width;
}

static bool find_vector(const char *text, size_t len, struct named *n)
{
	unsigned int value;
	size_t digits;

	if (len < 4 || memcmp(text, "xmm", 3))
		return false;
	digits = number_of(text + 3, len - 3, &value);
	*n = (struct named){ .number = (u8)value, .width = WORD };
	return digits && digits == len - 3 && value < VECTORS;
}

static size_t span_of_word(const struct reader *r)
{
	const char *s = r->at;

	while (s < r->end && (isalnum((unsigned char)*s) || *s == '_' ||
			      *s == '.' || *s == '$' || *s == '@'))
		s++;
	return (size_t)(s - r->at);
}

/* Sums */

static bool take_number(struct reader *r, u64 *value)
{
	char text[32], *rest;
	size_t len = span_of_word(r);

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, r->at, len);
	text[len] = '\0';
	errno = 0;
	*value = strtoull(text, &rest, 0);
	r->at += len;
	return !*rest && !errno;
}

/* "var", or "var@tpoff" */
static bool take_symbol(struct reader *r, struct dp_operand *o)
{
	static const char of_thread[] = "@tpoff";
	size_t len = span_of_word(r);
	char *at;

	if (!len || len >= sizeof(o->symbol) || *o->symbol)
		return false;
	memcpy(o->symbol, r->at, len);
	o->symbol[len] = '\0';
	r->at += len;
	at = strchr(o->symbol, '@');
	if (at && !strcmp(at, of_thread)) {
		memset(at, 0, strlen(at));
		o->kind = DP_OPERAND_THREAD_LOCAL;
		return true;
	}
	return !at;
}

static bool take_term(struct reader *r, struct dp_operand *o, bool negative)
{
	u64 value;

	if (r->at < r->end && isdigit((unsigned char)*r->at)) {
		if (!take_number(r, &value))
			return false;
		o->number += negative ? 0 - value : value;
		return true;
	}
	return !negative && take_symbol(r, o);
}

/* Return: false: it is none. @any: there is a term */
static bool take_sum(struct reader *r, struct dp_operand *o, bool *any)
{
	bool negative;

	*any = false;
	while (r->at < r->end && *r->at != '(') {
		negative = take(r, '-');
		if (!negative && !take(r, '+') && *any)
			return false;
		if (!take_term(r, o, negative))
			return false;
		*any = true;
	}
	return true;
}

/* Operands */

static bool take_register(struct reader *r, struct named *n, bool vectors,
			  bool *is_vector)
{
	size_t len;

	if (!take(r, '%'))
		return false;
	len = span_of_word(r);
	*is_vector = vectors && find_vector(r->at, len, n);
	if (!*is_vector && !find_named(r->at, len, n) &&
	    !find_numbered(r->at, len, n))
		return false;
	r->at += len;
	return true;
}

/* A register of an address, all of it */
static bool take_wide(struct reader *r, u8 *number)
{
	bool is_vector;
	struct named n;

	skip_blanks(r);
	if (!take_register(r, &n, false, &is_vector) || n.width != WORD)
		return false;
	*number = n.number;
	skip_blanks(r);
	return true;
}

static bool take_index(struct reader *r, struct dp_operand *o)
{
	u64 scale = 1;

	if (!take_wide(r, &o->index) || o->index == RSP)
		return false;
	if (take(r, ',')) {
		skip_blanks(r);
		if (!take_number(r, &scale))
			return false;
		skip_blanks(r);
	}
	o->scale = (u8)scale;
	return scale == 1 || scale == 2 || scale == 4 || scale == 8;
}

static bool take_address(struct reader *r, struct dp_operand *o)
{
	if (!take(r, '('))
		return false;
	skip_blanks(r);
	/* Relative to which instruction a mere number is, nothing says. */
	if (take_word(r, "%rip"))
		return *o->symbol && !o->of_thread &&
		       o->kind == DP_OPERAND_MEMORY && take(r, ')');
	if (r->at < r->end && *r->at != ',' && !take_wide(r, &o->base))
		return false;
	if (take(r, ',') && !take_index(r, o))
		return false;
	return (o->base != DP_OPERAND_NONE || o->index != DP_OPERAND_NONE) &&
	       take(r, ')');
}

static bool take_memory(struct reader *r, struct dp_operand *o)
{
	bool any;

	o->kind = DP_OPERAND_MEMORY;
	if (!take_sum(r, o, &any))
		return false;
	if (r->at == r->end)
		return any && (o->kind == DP_OPERAND_MEMORY || o->of_thread);
	return take_address(r, o);
}

static bool take_number_operand(struct reader *r, struct dp_operand *o)
{
	bool any;

	o->kind = DP_OPERAND_NUMBER;
	return take_sum(r, o, &any) && any && o->kind == DP_OPERAND_NUMBER;
}

static bool take_register_operand(struct reader *r, struct dp_operand *o)
{
	struct named n;
	bool is_vector;

	if (!take_register(r, &n, true, &is_vector))
		return false;
	o->kind = is_vector ? DP_OPERAND_VECTOR : DP_OPERAND_GENERAL;
	o->base = n.number;
	o->width = n.width;
	o->shift = n.shift;
	return true;
}

static bool take_operand(struct reader *r, struct dp_operand *o)
{
	o->base = o->index = DP_OPERAND_NONE;
	o->scale = 1;
	if (take(r, '$'))
		return take_number_operand(r, o);
	o->of_thread = take_word(r, "%fs:");
	if (!o->of_thread && r->at < r->end && *r->at == '%')
		return take_register_operand(r, o);
	return take_memory(r, o);
}

/* [-]SIZE[f]@. Return: false: the text does not begin so, and *@r is where it was */
static bool take_size(struct reader *r, struct dp_operand *o)
{
	struct reader was = *r;

	o->is_signed = take(r, '-');
	o->size = take(r, '1') ? 1 :
		  take(r, '2') ? 2 :
		  take(r, '4') ? 4 :
		  take(r, '8') ? 8 :
				 0;
	o->is_float = o->size && take(r, 'f');
	if (o->size && take(r, '@'))
		return true;
	*r = was;
	o->size = 0;
	o->is_signed = o->is_float = false;
	return false;
}

bool dp_operand_parse(const char *text, size_t len, struct dp_operand *o)
{
	struct reader r = { text, text + len };
	bool sized;

	memset(o, 0, sizeof(*o));
	sized = take_size(&r, o);
	if (!take_operand(&r, o) || r.at != r.end)
		return false;
	if (!sized)
		o->size = o->kind == DP_OPERAND_GENERAL ? o->width : WORD;
	if (o->is_float)
		o->is_signed = false;
	return !o->is_float || o->size >= 4;
}

/* Does an argument begin here, or is this a part of the one before, which has a blank in it? */
static bool begins(const char *text)
{
	struct dp_operand o = { 0 };
	struct reader r = { text, text + strnlen(text, SIZE_MOST) };

	return take_size(&r, &o);
}

const char *dp_operand_next(const char **text, size_t *len)
{
	const char *s = *text + strspn(*text, " \t"), *end = s;
	bool sized = begins(s);
	size_t gap;

	if (!*s)
		return NULL;
	do {
		end += strcspn(end, " \t");
		gap = strspn(end, " \t");
		*len = (size_t)(end - s);
		end += gap;
	} while (*end && sized && !begins(end));
	*text = end;
	return s;
}
