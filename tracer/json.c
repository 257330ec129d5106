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
