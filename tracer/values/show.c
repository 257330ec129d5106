// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* show: print values of a record, as text and as JSON. */
#include "tracer/values/show.h"
#include "tracer/values/code.h"
#include "tracer/values/whole.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "engine/vm/vm.h"
#include "sym/prototypes.h"
#include "sym/sym.h"
#include "sym/variable.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAULT_ELEMENTS 3 /* of an exception: its code, an address, 0 */

/* What dp_output_write() says as it is, or as the byte that it is. */
static u32 plain(const u8 *text, u32 len)
{
	u32 n = 0;

	while (n < len && !memchr("\"\\\n\t", text[n], 4))
		n++;
	return n;
}

static void quote(FILE *out, const u8 *text, u32 len, bool cut)
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
	if (cut)
		fputs("...", out);
}

bool dp_show_text(FILE *out, const u8 *bytes, u32 len, bool cut, bool json)
{
	if (len > DP_TRACE_STRING) {
		len = DP_TRACE_STRING;
		cut = true;
	}
	if (json)
		dp_json_text(out, (const char *)bytes, len);
	else
		quote(out, bytes, len, cut);
	return cut;
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

/* " <function>" */
static void show_function(FILE *out, struct dp_modules *mods, u64 addr)
{
	struct dp_symbol sym;

	if (!mods || dp_symbol_at(mods, addr, &sym) ||
	    addr - sym.addr >= (sym.size ?: 1))
		return;
	dp_output_print(out, " <%s", sym.name);
	if (addr != sym.addr)
		dp_output_print(out, "+0x%lx", addr - sym.addr);
	putc_unlocked('>', out);
}

/* " <variable+0x8>" */
static void show_variable(FILE *out, struct dp_modules *mods, u64 addr)
{
	const char *name;
	u64 offset;

	if (!mods || dp_variable_at(mods, addr, &name, &offset, NULL))
		return;
	dp_output_print(out, " <%s", name);
	if (offset)
		dp_output_print(out, "+0x%lx", offset);
	putc_unlocked('>', out);
}

/* Where a pointer of a known type leads, if that has a name */
static void show_target(FILE *out, struct dp_modules *mods,
			struct dp_value_type type, u64 value)
{
	if (type.stars == 1 && type.known &&
	    type.known->lens == DP_PROTOTYPE_FUNCTION)
		show_function(out, mods, value);
	else if (type.stars && value)
		show_variable(out, mods, value);
}

void dp_show_scalar(FILE *out, struct dp_modules *mods,
		    struct dp_value_type type, u64 value, bool json)
{
	if (json || !show_names(out, type, value))
		show_number(out, type, value, json);
	if (!json)
		show_target(out, mods, type, value);
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

bool dp_value_take(const struct dp_trace_item *shown,
		   const struct dp_record_copy *r, u32 *at,
		   struct dp_logged *logged)
{
	logged->follows = 0;
	if (!dp_item_next(r, at, &logged->item))
		return false;
	while (logged->follows < shown->follows &&
	       dp_item_next(r, at, &logged->follow[logged->follows]))
		logged->follows++;
	return true;
}

static bool show_whole(FILE *out, const struct dp_trace_item *shown,
		       const struct dp_logged *logged, struct dp_modules *mods,
		       bool json)
{
	struct dp_whole w = { .out = out,
			      .mods = mods,
			      .json = json,
			      .bytes = logged->item.payload,
			      .size = logged->item.size,
			      .follow = shown->follow,
			      .item = logged->follow,
			      .follows = logged->follows };

	dp_whole_show(&w, shown->type);
	return w.cut || logged->follows < shown->follows;
}

bool dp_value_show(FILE *out, const struct dp_trace_item *shown,
		   const struct dp_logged *logged, struct dp_modules *mods,
		   bool json)
{
	const struct dp_item *item = &logged->item;
	u64 value[2] = { 0 };
	bool many = item->token == DP_ITEM_ELEMENTS &&
		    item->count == FAULT_ELEMENTS;
	bool whole =
		shown->type.count || dp_code_is_wide(shown->type) ||
		(shown->type.kind == DP_VALUE_STRUCT && !shown->type.stars);

	if (item->token == DP_ITEM_STRING)
		return dp_show_text(out, item->payload, item->size,
				    item->size >= DP_TRACE_STRING, json);
	if (item->token == DP_ITEM_RANGE ||
	    (item->token == DP_ITEM_ELEMENTS && whole && !many))
		return show_whole(out, shown, logged, mods, json);
	memcpy(value, item->payload,
	       item->size < sizeof(value) ? item->size : sizeof(value));
	if (many || item->token == DP_ITEM_FAULT)
		show_fault(out, shown->type, value[many], json);
	else if (shown->type.kind != DP_VALUE_SYMBOL ||
		 !show_symbol(out, mods, value[0], json))
		dp_show_scalar(out, mods, shown->type, value[0], json);
	return false;
}
