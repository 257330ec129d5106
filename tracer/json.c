// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* json: print strings as JSON. */
#include "tracer/session.h"
#include "lib/escape.h"
#include "tracer/output.h"
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

void dp_json_string(FILE *out, const char *text)
{
	enum dp_escape_kind kind;
	size_t left, n;

	putc('"', out);
	for (left = strlen(text); left; text += n, left -= n) {
		kind = dp_escape_next(text, left, &n);
		put(out, text, kind, n);
	}
	putc('"', out);
}

void dp_json_bytes(FILE *out, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	putc('"', out);
	while (len--)
		dp_output_print(out, "%02x", *p++);
	putc('"', out);
}

void dp_json_stamp(FILE *out, const struct dp_stamp *stamp, const char *probe)
{
	dp_output_print(out, "\"time\":%.6f,\"pid\":%u,\"tid\":%u,\"comm\":",
			stamp->seconds, stamp->pid, stamp->tid);
	dp_json_string(out, stamp->comm);
	fputs(",\"probe\":", out);
	dp_json_string(out, probe);
}
