// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* show: print values of a record, as text and as JSON. */
#include "tracer/values/show.h"
#include "tracer/values/code.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "engine/vm/vm.h"
#include "sym/prototypes.h"
#include "sym/sym.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 2
#define FAULT_ELEMENTS 3 /* of an exception: its code, an address, 0 */

/* What dp_output_write() says as it is, or as the byte that it is. */
static u32 plain(const u8 *text, u32 len)
{
	u32 n = 0;

	while (n < len && !memchr("\"\\\n\t", text[n], 4))
		n++;
	return n;
}

static void quote(FILE *out, const u8 *text, u32 len)
{
	u32 i, n;

	putc('"', out);
	for (i = 0; i < len; i += n) {
		n = plain(text + i, len - i);
		dp_output_write(out, (const char *)text + i, n);
		if (n)
			continue;
		n = 1;
		if (text[i] == '\n')
			fputs("\\n", out);
		else if (text[i] == '\t')
			fputs("\\t", out);
		else
			dp_output_print(out, "\\%c", text[i]);
	}
	putc('"', out);
	if (len == DP_TRACE_STRING)
		fputs("...", out);
}

static void show_characters(FILE *out, const u8 *bytes, u32 size, bool json)
{
	char text[DP_TRACE_STRING + 1] = "";
	u32 len = (u32)strnlen((const char *)bytes, size);

	if (len > DP_TRACE_STRING)
		len = DP_TRACE_STRING;
	memcpy(text, bytes, len);
	if (json)
		dp_json_string(out, text);
	else
		quote(out, bytes, len);
}

static double real(u32 bits, u64 value)
{
	float narrow;
	double wide;

	memcpy(&narrow, &value, sizeof(narrow));
	memcpy(&wide, &value, sizeof(wide));
	return bits == 32 ? narrow : wide;
}

void dp_show_real(FILE *out, u32 bits, u64 value, bool json)
{
	bool narrow = bits == 32;
	double is = real(bits, value), again;
	int digits = narrow ? 6 : 15, most = narrow ? 9 : 17;
	bool quoted = json && !isfinite(is);
	char text[40];

	do {
		snprintf(text, sizeof(text), "%.*g", digits, is);
		again = narrow ? strtof(text, NULL) : strtod(text, NULL);
	} while (again != is && digits++ < most);
	dp_output_print(out, quoted ? "\"%s\"" : "%s", text);
	/* A whole number still looks like floating point. */
	if (isfinite(is) && !strpbrk(text, ".e"))
		fputs(".0", out);
}

/* A character of the program's, which may be of any kind: 'a', or its number */
static void show_character(FILE *out, s64 value, bool json)
{
	char text[2] = { (char)value, '\0' };

	if (value < 0x20 || value > 0x7e)
		dp_output_print(out, "%ld", value);
	else if (json)
		dp_json_string(out, text);
	else
		dp_output_print(out, "'%s'", text);
}

/* Digits that are no number of JSON */
static void show_digits(FILE *out, bool octal, u64 value, bool json)
{
	if (json)
		putc_unlocked('"', out);
	if (octal)
		dp_output_print(out, "%#lo", value);
	else
		dp_output_hex(out, value);
	if (json)
		putc_unlocked('"', out);
}

static void show_number(FILE *out, struct dp_value_type type, u64 value,
			bool json)
{
	switch (type.stars ? DP_VALUE_HEX : type.kind) {
	case DP_VALUE_UNSIGNED:
		dp_output_decimal(out, value);
		break;
	case DP_VALUE_SIGNED:
		dp_output_print(out, "%ld", value);
		break;
	case DP_VALUE_OCTAL:
		show_digits(out, true, value, json);
		break;
	case DP_VALUE_CHAR:
		show_character(out, (s64)value, json);
		break;
	case DP_VALUE_BOOL:
		dp_output_print(out, value ? "true" : "false");
		break;
	case DP_VALUE_FLOAT:
		dp_show_real(out, type.bits, value, json);
		break;
	default:
		show_digits(out, false, value, json);
	}
}

/* "O_WRONLY|O_CREAT"; JSON has the number. */
static bool show_names(FILE *out, struct dp_value_type type, u64 value)
{
	char text[200];

	if (!type.known || type.stars || type.known->kind != DP_PROTOTYPE_INT ||
	    type.known->lens == DP_PROTOTYPE_PLAIN ||
	    type.known->lens == DP_PROTOTYPE_CHAR ||
	    dp_prototypes_show(text, sizeof(text), type.known, value) < 0)
		return false;
	dp_output_print(out, "%s", text);
	return true;
}

static void show_scalar(FILE *out, struct dp_value_type type, u64 value,
			bool json)
{
	if (json || !show_names(out, type, value))
		show_number(out, type, value, json);
}

/* @bytes: of one value, in memory */
static u64 element(struct dp_value_type type, const u8 *bytes)
{
	u32 size = dp_value_size(type), unused = 64 - 8 * size;
	u64 value = 0;

	memcpy(&value, bytes, size);
	return dp_value_has_sign(type) ?
		       (u64)((s64)(value << unused) >> unused) :
		       value;
}

static void show_in_memory(FILE *out, struct dp_value_type type,
			   const u8 *bytes, u32 size, bool json, int level);

/* {1,2,3}; [1,2,3] in JSON */
static void show_array(FILE *out, struct dp_value_type type, const u8 *bytes,
		       u32 size, bool json, int level)
{
	u32 each = dp_code_size(type), n = type.count, i;

	type.count = 0;
	putc(json ? '[' : '{', out);
	for (i = 0; i < n && each && (i + 1) * each <= size; i++) {
		if (i)
			putc(',', out);
		show_in_memory(out, type, bytes + i * each, each, json, level);
	}
	putc(json ? ']' : '}', out);
}

static void show_field(FILE *out, const struct dp_prototype_field *f,
		       const u8 *bytes, u32 size, bool json, int level)
{
	const char *name = f->name ? f->name : "_";

	if (json)
		dp_json_string(out, name);
	else
		dp_output_print(out, "%s", name);
	putc(json ? ':' : '=', out);
	show_in_memory(out, dp_code_known(f->type), bytes + f->offset,
		       size - f->offset, json, level);
}

/* {x=3,y=1}; of a struct in a struct in a struct there are no members */
static void show_struct(FILE *out, const struct dp_prototype_type *t,
			const u8 *bytes, u32 size, bool json, int level)
{
	u32 i, n = 0;

	putc('{', out);
	for (i = 0; i < t->n && level < LEVELS; i++) {
		const struct dp_prototype_field *f = &t->fields[i];

		if (f->offset > size || f->type->size > size - f->offset)
			continue;
		if (n++)
			putc(',', out);
		show_field(out, f, bytes, size, json, level + 1);
	}
	if (level >= LEVELS && !json)
		fputs("...", out);
	putc('}', out);
}

static void show_in_memory(FILE *out, struct dp_value_type type,
			   const u8 *bytes, u32 size, bool json, int level)
{
	if (type.count && !type.stars && type.kind == DP_VALUE_CHAR)
		show_characters(out, bytes,
				size < type.count ? size : type.count, json);
	else if (type.count)
		show_array(out, type, bytes, size, json, level);
	else if (!type.stars && type.kind == DP_VALUE_STRUCT)
		show_struct(out, type.known, bytes, size, json, level);
	else if (!dp_value_size(type) || dp_value_size(type) > size)
		dp_output_print(out, json ? "null" : "?");
	else
		show_scalar(out, type, element(type, bytes), json);
}

/* What should be a string, and is none, is a pointer. */
static void show_fault(FILE *out, struct dp_value_type type, u64 address,
		       bool json)
{
	if (json)
		dp_output_print(out, "{\"bad_address\":\"0x%lx\"}", address);
	else if (type.kind == DP_VALUE_STRING)
		dp_output_hex(out, address);
	else
		dp_output_print(out, "<bad address 0x%lx>", address);
}

/* "lib.so:function+0x1c" */
static bool show_symbol(FILE *out, struct dp_modules *mods, u64 addr, bool json)
{
	struct dp_symbol sym;
	char *text;
	int n;

	if (!mods || dp_symbol_at(mods, addr, &sym))
		return false;
	n = asprintf(&text, "%s:%s+0x%lx", sym.module->base, sym.name,
		     addr - sym.addr);
	if (n < 0)
		return false;
	if (json)
		dp_json_string(out, text);
	else
		dp_output_print(out, "%s", text);
	free(text);
	return true;
}

void dp_value_show(FILE *out, const struct dp_trace_item *shown,
		   const struct dp_item *item, struct dp_modules *mods,
		   bool json)
{
	u64 value[2] = { 0 };
	bool many = item->token == DP_ITEM_ELEMENTS &&
		    item->count == FAULT_ELEMENTS;
	bool whole =
		shown->type.count ||
		(shown->type.kind == DP_VALUE_STRUCT && !shown->type.stars);

	if (item->token == DP_ITEM_STRING) {
		show_characters(out, item->payload, item->size, json);
		return;
	}
	if (item->token == DP_ITEM_RANGE ||
	    (item->token == DP_ITEM_ELEMENTS && whole && !many)) {
		show_in_memory(out, shown->type, item->payload, item->size,
			       json, 0);
		return;
	}
	memcpy(value, item->payload,
	       item->size < sizeof(value) ? item->size : sizeof(value));
	if (many || item->token == DP_ITEM_FAULT)
		show_fault(out, shown->type, value[many], json);
	else if (shown->type.kind == DP_VALUE_SYMBOL &&
		 show_symbol(out, mods, value[0], json))
		return;
	else
		show_scalar(out, shown->type, value[0], json);
}
