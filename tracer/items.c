// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* items: print what a program has logged, as text and as JSON. */
#include "tracer/session.h"
#include "tracer/output.h"
#include "engine/layout/ring.h"
#include "engine/vm/vm.h"
#include <string.h>

#define ROW 16
#define ELEMENT 8

/* Items of 64-bit numbers. */
static const char *const numbers[] = {
	[DP_ITEM_STACK] = "stack",
	[DP_ITEM_ELEMENTS] = "elements",
	[DP_ITEM_LV] = "local variables",
	[DP_ITEM_GV] = "global variables",
};

static const char *numbers_of(const struct dp_item *item)
{
	return item->token < sizeof(numbers) / sizeof(*numbers) ?
		       numbers[item->token] :
		       NULL;
}

static bool take_item(const u8 *data, u32 len, u32 *at, struct dp_item *item)
{
	const u8 *p = data + *at;
	u32 left = len - *at;

	if (left < DP_ITEM_PREFIX)
		return false;
	item->token = p[0];
	item->count = p[1] | (u32)p[2] << 8;
	item->size = item->count;
	if (numbers_of(item))
		item->size *= ELEMENT;
	item->payload = p + DP_ITEM_PREFIX;
	if (item->size > left - DP_ITEM_PREFIX)
		return false;
	*at += DP_ITEM_PREFIX + item->size;
	return true;
}

bool dp_item_next(const struct dp_record_copy *record, u32 *at,
		  struct dp_item *item)
{
	return take_item(record->data, record->head.len - record->head.traces,
			 at, item);
}

static u64 element(const struct dp_item *item, u32 i)
{
	u64 value;

	memcpy(&value, item->payload + 8 * i, 8);
	return value;
}

static const char *exception_name(u16 code)
{
#define EX(name)                 \
	{                        \
		DP_##name, #name \
	}
	static const struct {
		u16 code;
		const char *name;
	} names[] = { EX(EX_INVALID_ADDR),
		      EX(EX_SEG_FAULT),
		      EX(EX_MAX_JMPS),
		      EX(EX_CALL_STACK_OVERFLOW),
		      EX(EX_DIV_BY_ZERO),
		      EX(EX_INVALID_OPERAND),
		      EX(EX_INVALID_OPCODE),
		      EX(EX_HEAP_NOMEM),
		      EX(EX_HEAP_INVALID_HANDLE),
		      EX(EX_HEAP_INVALID_OFFSET),
		      EX(EX_LOG_OVERFLOW),
		      EX(EX_RPN_STACK_WRAP),
		      EX(EX_USER) };
#undef EX
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].name;
	return "an exception of its own";
}

/* 00000000  68 65 6c 6c 6f …  |hello| */
static void dump(FILE *out, const u8 *bytes, u32 len)
{
	u32 row, i;

	for (row = 0; row < len; row += ROW) {
		dp_output_print(out, "    %08x ", row);
		for (i = row; i < row + ROW; i++)
			if (i < len)
				dp_output_print(out, " %02x", bytes[i]);
			else
				fputs("   ", out);
		fputs("  |", out);
		for (i = row; i < row + ROW && i < len; i++)
			putc(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] :
								   '.',
			     out);
		fputs("|\n", out);
	}
}

static void elements_text(FILE *out, const char *what,
			  const struct dp_item *item)
{
	u32 i;

	dp_output_print(out, "  %s", what);
	for (i = 0; i < item->count; i++)
		dp_output_print(out, " 0x%lx", element(item, i));
	putc('\n', out);
}

static void item_text(FILE *out, const struct dp_item *item)
{
	if (numbers_of(item)) {
		elements_text(out, numbers_of(item), item);
	} else if (item->token >= DP_ITEM_SEG_FAULT) {
		dp_output_print(out, "  bad %s 0x%lx\n",
				item->token == DP_ITEM_FAULT ? "address" :
							       "segment",
				item->size == 8 ? element(item, 0) : (u64)0);
	} else {
		dp_output_print(out, "  %s, %u bytes\n",
				item->token == DP_ITEM_STRING ? "string" :
								"memory",
				item->count);
		dump(out, item->payload, item->size);
	}
}

static bool two_parms(const struct dp_record *r)
{
	return r->exception == DP_EX_INVALID_OPERAND ||
	       r->exception == DP_EX_INVALID_OPCODE ||
	       r->exception == DP_EX_HEAP_INVALID_HANDLE ||
	       r->exception == DP_EX_HEAP_INVALID_OFFSET || r->parm[1];
}

/* Print an exception, a full log, or an exit's facility. */
static void notes_text(FILE *out, const struct dp_record *r,
		       const struct dp_diag *outcome)
{
	if (r->exception)
		dp_output_print(out, "  ended by %s (0x%lx",
				exception_name(r->exception), r->parm[0]);
	if (r->exception && two_parms(r))
		dp_output_print(out, ", 0x%lx", r->parm[1]);
	if (r->exception)
		fputs(")\n", out);
	if (r->flags & DP_RECORD_TRUNCATED)
		fputs("  cut: the log is full (logmax)\n", out);
	if (r->facility)
		dp_output_print(out, "  exit %u: %s\n", r->facility,
				outcome->text);
}

static void rest_text(FILE *out, const u8 *bytes, u32 n)
{
	if (!n)
		return;
	dp_output_print(out, "  %u bytes\n", n);
	dump(out, bytes, n);
}

/* Called, return, and the items of what the frame shows */
static bool frame_text(FILE *out, const u8 *data, u32 len, u32 *at, u32 n)
{
	struct dp_item item;
	u64 called, back;
	int i;

	if (len - *at < 2 * ELEMENT)
		return false;
	memcpy(&called, data + *at, ELEMENT);
	memcpy(&back, data + *at + ELEMENT, ELEMENT);
	*at += 2 * ELEMENT;
	dp_output_print(out, "    #%u in the call of %lu, returns to %lu\n", n,
			called, back);
	for (i = 0; i < DP_RANGES; i++) {
		if (!take_item(data, len, at, &item) || !numbers_of(&item))
			return false;
		if (item.count) {
			fputs("    ", out);
			elements_text(out, numbers_of(&item), &item);
		}
	}
	return true;
}

/* See engine/vm/trace.c. */
static bool trace_text(FILE *out, const u8 *data, u32 len, u32 *at)
{
	u64 head[4];
	u32 frames, i;

	if (len - *at < sizeof(head) + DP_ITEM_PREFIX ||
	    data[*at + sizeof(head)] != DP_ITEM_FRAMES)
		return false;
	memcpy(head, data + *at, sizeof(head));
	*at += sizeof(head);
	frames = data[*at + 1] | (u32)data[*at + 2] << 8;
	*at += DP_ITEM_PREFIX;
	dp_output_print(out, "  stack trace");
	if (head[0])
		dp_output_print(out, ", %s (0x%lx, 0x%lx)",
				exception_name((u16)head[0]), head[2], head[3]);
	if (head[1] != ~0ull)
		dp_output_print(out, ", handler at %lu", head[1]);
	putc('\n', out);
	for (i = 0; i < frames; i++)
		if (!frame_text(out, data, len, at, i))
			return false;
	return true;
}

/* What pop stp has cut is bytes. */
static void traces_text(FILE *out, const u8 *data, u32 len)
{
	u32 at = 0, begin = 0;

	while (at < len && trace_text(out, data, len, &at))
		begin = at;
	rest_text(out, data + begin, len - begin);
}

void dp_items_text(FILE *out, const struct dp_stamp *stamp, const char *probe,
		   const struct dp_record_copy *record,
		   const struct dp_diag *outcome)
{
	u32 at = 0, len = record->head.len - record->head.traces;
	struct dp_item item;

	dp_output_print(out, "%s %u %u %s %s major=%u minor=%u\n", stamp->time,
			stamp->pid, stamp->tid, stamp->comm, probe,
			record->head.major, record->head.minor);
	while (dp_item_next(record, &at, &item))
		item_text(out, &item);
	rest_text(out, record->data + at, len - at);
	traces_text(out, record->data + len, record->head.traces);
	notes_text(out, &record->head, outcome);
}

void dp_items_json(FILE *out, const struct dp_stamp *stamp, const char *probe,
		   const struct dp_record_copy *record,
		   const struct dp_diag *outcome)
{
	const struct dp_record *r = &record->head;

	putc('{', out);
	dp_json_stamp(out, stamp, probe);
	dp_output_print(out, ",\"minor\":%u,\"major\":%u,\"cpu\":%u,\"data\":",
			r->minor, r->major, r->cpu);
	dp_json_bytes(out, record->data, r->len - r->traces);
	if (r->traces) {
		fputs(",\"traces\":", out);
		dp_json_bytes(out, record->data + r->len - r->traces,
			      r->traces);
	}
	if (r->exception)
		dp_output_print(
			out,
			",\"exception\":\"%s\",\"parm\":\"0x%lx\",\"parm2\":\"0x%lx\"",
			exception_name(r->exception), r->parm[0], r->parm[1]);
	if (r->facility)
		dp_output_print(out, ",\"facility\":%u", r->facility);
	if (r->facility && outcome) {
		fputs(",\"outcome\":", out);
		dp_json_string(out, outcome->text);
	}
	dp_output_print(out, ",\"truncated\":%s}\n",
			r->flags & DP_RECORD_TRUNCATED ? "true" : "false");
}
