// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * output: print the tool's text.
 *
 * Each call prints a line, or part of one. Only the caller's format ends a line: a newline
 * in quoted text does not. See lib/escape.h.
 */
#include "tracer/output.h"
#include "lib/escape.h"
#include "tracer/tracer.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define MOST 1024 /* most lines are shorter */
#define DIGITS 24
/* Of a pipe's atomic write, less what a record takes */
#define PIECE (PIPE_BUF - MOST)
#define EACH(byte) (0x0101010101010101ull * (byte))

/* A command that the tool has started writes to the tool's terminal, if it has one. */
static bool shared;

/* From the space to the tilde? Eight bytes at a time; what is not so at once is looked at again. */
static bool is_plain(const char *text, size_t len)
{
	u64 odd = 0, word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		odd |= (word - EACH(' ')) | (word + EACH(1));
	}
	for (; len; text++, len--)
		odd |= (u64)(*text < ' ' || *text > '~') << 7;
	return !(odd & EACH(0x80));
}

void dp_output_write(FILE *out, const char *text, size_t len)
{
	char shown[MOST];
	size_t n;

	if (is_plain(text, len)) {
		fwrite_unlocked(text, 1, len, out);
		return;
	}
	for (; len; text += n, len -= n) {
		n = dp_escape(shown, sizeof(shown), text, len);
		fputs(shown, out);
	}
}

/* Talk is not buffered: in one piece, a line stays whole where a process beside the tool writes another. */
static void write_line(FILE *out, const char *text, size_t len, bool ends)
{
	if (is_plain(text, len)) {
		fwrite_unlocked(text, 1, len + ends, out);
		return;
	}
	dp_output_write(out, text, len);
	if (ends)
		putc('\n', out);
}

void dp_output_vprint(FILE *out, const char *fmt, va_list ap)
{
	size_t last = strlen(fmt);
	bool ends = last && fmt[last - 1] == '\n';
	char some[MOST], *all = NULL;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(some, sizeof(some), fmt, ap);
	if (n >= (int)sizeof(some))
		n = vasprintf(&all, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	write_line(out, all ? all : some, (size_t)n - ends, ends);
	free(all);
}

void dp_output_print(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dp_output_vprint(out, fmt, ap);
	va_end(ap);
}

static void write_digits(FILE *out, u64 value, u32 base)
{
	char digits[DIGITS], *at = digits + DIGITS;

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	fwrite_unlocked(at, 1, (size_t)(digits + DIGITS - at), out);
}

void dp_output_decimal(FILE *out, u64 value)
{
	write_digits(out, value, 10);
}

void dp_output_hex(FILE *out, u64 value)
{
	fwrite_unlocked("0x", 1, 2, out);
	write_digits(out, value, 16);
}

void dp_output_share(void)
{
	shared = true;
}

static bool is_dumb(void)
{
	const char *term = secure_getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

void dp_output_begin(FILE *out)
{
	struct winsize size = { 0 };
	int err = errno, is_none;

	if (!shared || __fpending(out) || is_dumb())
		return;
	is_none = ioctl(fileno(out), TIOCGWINSZ, &size);
	/* Why an earlier write has failed is told later. */
	errno = err;
	if (is_none)
		return;
	if (size.ws_col)
		dp_output_print(out, "%*s", size.ws_col, "");
	putc('\r', out);
}

void dp_output_whole(FILE *out)
{
	if (__fpending(out) > PIECE)
		fflush_unlocked(out);
}

void dp_output_say(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	dp_output_begin(stderr);
	dp_output_print(stderr, "dprobes: %s\n", text);
	free(text);
}

static size_t line_len(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) : len;
}

int dp_output_quote(struct dp_diag *diag, int err, const struct dp_diag *theirs)
{
	const char *text = theirs->text;
	size_t len = strnlen(text, sizeof(theirs->text)), n;
	bool first = true;

	err = err < 0 && err > -4096 ? err : -EIO;
	/* The other process's lines become lines of ours that look like nothing else. */
	for (; len || first; first = false) {
		n = line_len(text, len);
		if (first)
			dp_diag_set(diag, err, "%.*s", (int)n, text);
		else
			dp_diag_add(diag, "\n  %.*s", (int)n, text);
		n += n < len;
		text += n;
		len -= n;
	}
	return err;
}

bool dp_output_left(FILE *out)
{
	struct pollfd p = { .fd = fileno(out), .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLHUP);
}
