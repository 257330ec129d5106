// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* printk: messages become lines, and lines go to the sink. */
#include "lib/compat/compat.h"

#define DP_LINE_MAX 1024
#define DP_LEVEL_DEFAULT 4

struct sink {
	void (*line)(int level, const char *text, size_t len, void *arg);
	void *arg;
};

static struct sink *sink;

int dp_printk_set(void (*line)(int level, const char *text, size_t len,
			       void *arg),
		  void *arg)
{
	struct sink *fresh = NULL;

	if (line) {
		fresh = kmalloc(sizeof(*fresh), GFP_KERNEL);
		if (!fresh)
			return -ENOMEM;
		fresh->line = line;
		fresh->arg = arg;
	}
	/* The old sink is never freed: a handler may have just read the pointer. */
	smp_store_release(&sink, fresh);
	return 0;
}

/* @text[@len] may be written to. */
static void emit(int level, char *text, size_t len)
{
	struct sink *to = smp_load_acquire(&sink);

	if (to) {
		text[len] = '\0';
		to->line(level, text, len, to->arg);
		return;
	}
	text[len] = '\n';
	while (dp_sys3(__NR_write, 2, text, len + 1) == -EINTR)
		continue;
}

/* A backspace removes the character before it: see KBUILD_MODNAME. */
static size_t take_back(char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (text[i] != '\b')
			text[n++] = text[i];
		else if (n)
			n--;
	}
	return n;
}

static void emit_lines(int level, char *text, size_t len)
{
	char *end = text + len, *newline;

	do {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			newline = end;
		emit(level, text, take_back(text, (size_t)(newline - text)));
		text = newline + 1;
	} while (text < end);
}

int vprintk(const char *fmt, va_list args)
{
	char text[DP_LINE_MAX];
	int n, level = DP_LEVEL_DEFAULT;
	bool more = false;

	/* One byte is for a newline or NUL behind the last line. */
	n = vscnprintf(text, sizeof(text) - 1, fmt, args);
	fmt = text;
	while (fmt[0] == '\001' && fmt[1]) {
		if (fmt[1] >= '0' && fmt[1] <= '7')
			level = fmt[1] - '0';
		more = fmt[1] == 'c';
		fmt += 2;
		n -= 2;
	}
	/* A KERN_CONT newline prints nothing: each piece was printed as a line. */
	if (n > 0 && !(more && n == 1 && *fmt == '\n'))
		emit_lines(level, (char *)fmt, (size_t)n);
	return n;
}

int printk(const char *fmt, ...)
{
	return DP_VARIADIC(vprintk(fmt, args));
}

int __ratelimit(struct ratelimit_state *rs)
{
	unsigned long now = jiffies;
	unsigned long begin = READ_ONCE(rs->begin);
	int missed;

	if (!begin || now - begin > (unsigned long)rs->interval) {
		/* One of the threads that see the interval's end begins the next. */
		if (try_cmpxchg(&rs->begin, &begin, now ? now : 1)) {
			missed = xchg(&rs->missed, 0);
			WRITE_ONCE(rs->printed, 0);
			if (missed)
				printk(KERN_WARNING "%d messages suppressed\n",
				       missed);
		}
	}
	if (__atomic_fetch_add(&rs->printed, 1, __ATOMIC_RELAXED) < rs->burst)
		return 1;
	__atomic_fetch_add(&rs->missed, 1, __ATOMIC_RELAXED);
	return 0;
}

static int hex_line(char *line, size_t size, const u8 *p, size_t n, int rowsize,
		    bool ascii)
{
	int i, at = 0;

	for (i = 0; i < rowsize; i++)
		at += i < (int)n ?
			      scnprintf(line + at, size - (size_t)at, "%02x ",
					p[i]) :
			      scnprintf(line + at, size - (size_t)at, "   ");
	if (!ascii)
		n = 0;
	for (i = 0; i < (int)n; i++)
		at += scnprintf(line + at, size - (size_t)at, "%s%c",
				i ? "" : " ", isprint(p[i]) ? p[i] : '.');
	while (at && line[at - 1] == ' ')
		line[--at] = '\0';
	return at;
}

int hex_dump_to_buffer(const void *buf, size_t len, int rowsize, int groupsize,
		       char *line, size_t size, bool ascii)
{
	char whole[160];
	int n;

	if (rowsize != 32)
		rowsize = 16;
	n = hex_line(whole, sizeof(whole), buf,
		     min_t(size_t, len, (size_t)rowsize), rowsize, ascii);
	if (size)
		strscpy(line, whole, size);
	return n;
}

void print_hex_dump(const char *level, const char *prefix, int prefix_type,
		    int rowsize, int groupsize, const void *buf, size_t len,
		    bool ascii)
{
	const u8 *p = buf;
	char line[160];
	size_t at;

	if (rowsize != 32)
		rowsize = 16;
	for (at = 0; at < len; at += (size_t)rowsize) {
		hex_dump_to_buffer(p + at, len - at, rowsize, groupsize, line,
				   sizeof(line), ascii);
		if (prefix_type == DUMP_PREFIX_ADDRESS)
			printk("%s%s%p: %s\n", level, prefix, p + at, line);
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			printk("%s%s%.8x: %s\n", level, prefix,
			       (unsigned int)at, line);
		else
			printk("%s%s%s\n", level, prefix, line);
	}
}
