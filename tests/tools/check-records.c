// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * check-records: the records of the victim logger, as JSON lines.
 *
 * check-records RECORDS SUMMARY [EXPECTED]: each record is whole, and those of a
 * thread are in order, none twice. With EXPECTED the number of records and that
 * of lost ones in the summary add up to it, and gaps to the lost ones. Says
 * "good".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long last[64];

static unsigned long long element(const char *hex)
{
	unsigned long long value = 0;
	unsigned int byte, i;

	for (i = 0; i < 8; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return ~0ull;
		value |= (unsigned long long)byte << (8 * i);
	}
	return value;
}

/* Return: records that are missing before this one, or -1. */
static long check(const char *line)
{
	const char *data = strstr(line, "\"data\":\"070200");
	unsigned long long thread, n;
	long gap;

	if (!data || strlen(data) < 14 + 32 + 1 || !strchr(line, '}'))
		return -1;
	thread = element(data + 14);
	n = element(data + 14 + 16);
	if (thread >= 64 || (long)n <= last[thread] - 1)
		return -1;
	gap = (long)n - last[thread];
	last[thread] = (long)n + 1;
	return gap;
}

static long number_before(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	if (!p)
		return 0;
	while (p > text && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return atol(p);
}

int main(int argc, char **argv)
{
	static char line[8192], summary[8192];
	FILE *f = fopen(argv[1], "r"), *s = fopen(argv[2], "r");
	long records = 0, gaps = 0, lost, gap;

	if (!f || !s)
		return 2;
	summary[fread(summary, 1, sizeof(summary) - 1, s)] = '\0';
	lost = number_before(summary, " records lost");
	while (fgets(line, sizeof(line), f)) {
		if (line[0] != '{')
			continue;
		gap = check(line);
		if (gap < 0) {
			printf("record %ld: %s", records, line);
			return 1;
		}
		gaps += gap;
		records++;
	}
	if (argc > 3 && records + lost != atol(argv[3])) {
		printf("%ld records and %ld lost\n", records, lost);
		return 1;
	}
	if (argc > 3 && gaps > lost) {
		printf("%ld gaps, %ld lost\n", gaps, lost);
		return 1;
	}
	puts("good");
	return 0;
}
