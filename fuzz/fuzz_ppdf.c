// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fuzz_ppdf: any bytes as a probe program definition file; what is one, is one again when written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lang/lang.h"

#define SIZE_AT 8
#define CRC_POLYNOMIAL 0xedb88320u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static u32 crc32_of(const u8 *bytes, size_t len)
{
	u32 crc = ~0u;
	size_t i;
	int k;

	for (i = 0; i < len; i++)
		for (crc ^= bytes[i], k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	return ~crc;
}

static char *listing(const struct dp_lang_program *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	dp_lang_disassemble(p, out);
	fclose(out);
	return text;
}

static void write_again(const struct dp_lang_program *p)
{
	struct dp_lang_program *again;
	char *bytes = NULL, *one = listing(p), *two;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	if (!out || dp_lang_write_ppdf(p, out) || fclose(out) ||
	    dp_lang_read_ppdf("again", bytes, len, &again, NULL))
		abort();
	two = listing(again);
	if (strcmp(one, two))
		abort();
	dp_lang_free(again);
	free(bytes);
	free(one);
	free(two);
}

static void read_once(const u8 *bytes, size_t size)
{
	struct dp_lang_program *p;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	if (!dp_lang_read_ppdf("fuzz", bytes, size, &p, &diag)) {
		write_again(p);
		dp_lang_free(p);
	} else if (!diag.text[0] || p) {
		abort();
	}
}

/* As it is, and with a size and a sum that are right */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *bytes = malloc(size + 1);
	u32 crc, whole = (u32)size;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	read_once(bytes, size);
	if (size > SIZE_AT + 2 * sizeof(crc)) {
		memcpy(bytes + SIZE_AT, &whole, sizeof(whole));
		crc = crc32_of(bytes, size - sizeof(crc));
		memcpy(bytes + size - sizeof(crc), &crc, sizeof(crc));
		read_once(bytes, size);
	}
	free(bytes);
	return 0;
}
