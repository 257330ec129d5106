// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* json: print strings as JSON. */
#include "tracer/session.h"
#include "lib/escape.h"
#include "tracer/expr.h"
#include "tracer/output.h"
#include "tracer/stacks.h"
#include <string.h>

/* JSON has no bytes that are no UTF-8: such a byte is printed as on a terminal. */
static void put(FILE *out, const char *text, enum dp_escape_kind kind, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	if (kind == DP_ESCAPE_INVALID)
		dp_output_print(out, "\\\\x%02x", *p);
	else if (kind == DP_ESCAPE_CONTROL)
		dp_output_print(out, "\\u%04x", n == 1 ? *p : p[1]);
	else if (*p == '"' || *p == '\\')
		dp_output_print(out, "\\%c", *p);
	else
		fwrite(text, 1, n, out);
}

/* How many characters from here on are themselves in JSON: ASCII, and neither control characters nor
 * what ends a string */
static size_t plain(const char *text, size_t left)
{
	size_t n = 0;

	while (n < left && text[n] >= ' ' && text[n] <= '~' && text[n] != '"' &&
	       text[n] != '\\')
		n++;
	return n;
}

void dp_json_text(FILE *out, const char *text, size_t left)
{
	enum dp_escape_kind kind;
	size_t n;

	putc_unlocked('"', out);
	for (; left; text += n, left -= n) {
		n = plain(text, left);
		if (n) {
			fwrite_unlocked(text, 1, n, out);
			continue;
		}
		kind = dp_escape_next(text, left, &n);
		put(out, text, kind, n);
	}
	putc_unlocked('"', out);
}

void dp_json_string(FILE *out, const char *text)
{
	dp_json_text(out, text, strlen(text));
}

void dp_json_bytes(FILE *out, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	putc_unlocked('"', out);
	for (; len--; p++) {
		putc_unlocked(digits[*p >> 4], out);
		putc_unlocked(digits[*p & 15], out);
	}
	putc_unlocked('"', out);
}

void dp_json_process(FILE *out, const struct dp_session *s)
{
	if (!s->opt->children)
		return;
	dp_output_print(out, ",\"pid\":%d,\"program\":", s->source->pid);
	dp_json_string(out, dp_report_program(s));
}

void dp_json_stamp(FILE *out, const struct dp_stamp *stamp, const char *probe)
{
	fputs_unlocked("\"time\":", out);
	dp_output_decimal(out, (u64)stamp->seconds);
	fputs_unlocked(strchrnul(stamp->time, '.'), out);
	fputs_unlocked(",\"pid\":", out);
	dp_output_decimal(out, stamp->pid);
	fputs_unlocked(",\"tid\":", out);
	dp_output_decimal(out, stamp->tid);
	fputs_unlocked(",\"comm\":", out);
	dp_json_string(out, stamp->comm);
	fputs_unlocked(",\"probe\":", out);
	dp_json_string(out, probe);
}

void dp_json_frames(FILE *out, const char *name, const struct dp_named_frame *v,
		    u32 n, enum dp_backtrace_end end)
{
	char behind[DP_TRACE_NAME + sizeof("_end")];
	u32 i;

	dp_json_string(out, name);
	fputs(":[", out);
	for (i = 0; i < n; i++) {
		if (i)
			putc(',', out);
		dp_json_string(out, v[i].text);
	}
	fputs("],", out);
	snprintf(behind, sizeof(behind), "%s_end", name);
	dp_json_string(out, behind);
	dp_output_print(out, ":\"%s\"", dp_stacks_end(end));
}

void dp_json_stack(FILE *out, const struct dp_session *s, u32 number)
{
	struct dp_named_frame v[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 n;

	if (dp_stacks_frames(s, number, v, &n, &end))
		return;
	putc(',', out);
	dp_json_frames(out, "stack", v, n, end);
	dp_frames_free(v, n);
}
