// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* json: strings as JSON spells them. */
#include "tracer/session.h"

void dp_json_string(FILE *out, const char *text)
{
	const unsigned char *p;

	putc('"', out);
	for (p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p < 0x20)
			fprintf(out, "\\u%04x", *p);
		else
			putc(*p, out);
	}
	putc('"', out);
}

void dp_json_bytes(FILE *out, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	putc('"', out);
	while (len--)
		fprintf(out, "%02x", *p++);
	putc('"', out);
}

void dp_json_stamp(FILE *out, const struct dp_stamp *stamp, const char *probe)
{
	fprintf(out,
		"\"time\":%.6f,\"pid\":%u,\"tid\":%u,\"comm\":", stamp->seconds,
		stamp->pid, stamp->tid);
	dp_json_string(out, stamp->comm);
	fputs(",\"probe\":", out);
	dp_json_string(out, probe);
}
