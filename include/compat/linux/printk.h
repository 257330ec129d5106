/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* printk and its relatives. All of them may be used in any handler. */
#ifndef DP_LINUX_PRINTK_H
#define DP_LINUX_PRINTK_H

#include <stdarg.h>
#include <linux/types.h>

#define KERN_SOH "\001"
#define KERN_EMERG KERN_SOH "0"
#define KERN_ALERT KERN_SOH "1"
#define KERN_CRIT KERN_SOH "2"
#define KERN_ERR KERN_SOH "3"
#define KERN_WARNING KERN_SOH "4"
#define KERN_NOTICE KERN_SOH "5"
#define KERN_INFO KERN_SOH "6"
#define KERN_DEBUG KERN_SOH "7"
#define KERN_DEFAULT ""
#define KERN_CONT KERN_SOH "c"

/*
 * The name of the module in strings. The build does not know it, so it is that
 * of the source file, and the backspaces take the suffix back when printk makes
 * its lines. -DKBUILD_MODNAME='"name"' says it outright.
 */
#ifndef KBUILD_MODNAME
#ifdef __FILE_NAME__
#define KBUILD_MODNAME __FILE_NAME__ "\b\b"
#else
#define KBUILD_MODNAME __BASE_FILE__ "\b\b"
#endif
#endif
#ifndef KBUILD_BASENAME
#define KBUILD_BASENAME KBUILD_MODNAME
#endif

/**
 * printk() - print a message
 * @fmt: printf's conversions without floating point, and %pS %ps %pF %pf %pB
 *       (symbols), %p %px %pK (the plain address), %pV, %ph, %pM, %pI4, %pe.
 *       May begin with a level.
 *
 * The text goes where the tool that has loaded the module reads it, or else to standard
 * error, one line at a time; what has no newline at its end is a line, too. A message is
 * cut at 1000 bytes.
 * Context: any; async-signal-safe. Return: the length of the text.
 */
int printk(const char *fmt, ...) DP_COMPAT(printk) __printf(1, 2) __cold;
int vprintk(const char *fmt, va_list args) DP_COMPAT(vprintk) __printf(1, 0);
#define _printk printk
#define early_printk printk
#define printk_deferred printk

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif
#define pr_emerg(fmt, ...) printk(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert(fmt, ...) printk(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit(fmt, ...) printk(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...) printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...) printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warning pr_warn
#define pr_notice(fmt, ...) printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...) printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_cont(fmt, ...) printk(KERN_CONT fmt, ##__VA_ARGS__)
#define no_printk(fmt, ...)                          \
	({                                           \
		if (0)                               \
			printk(fmt, ##__VA_ARGS__);  \
		0;                                   \
	})
#ifdef DEBUG
#define pr_debug(fmt, ...) printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#else
#define pr_debug(fmt, ...) no_printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#endif
#define pr_devel pr_debug
#define trace_printk(fmt, ...) printk(KERN_DEBUG fmt, ##__VA_ARGS__)

#define printk_once(fmt, ...)                                             \
	({                                                                \
		static char dp_once;                                      \
		if (!__atomic_exchange_n(&dp_once, 1, __ATOMIC_RELAXED))  \
			printk(fmt, ##__VA_ARGS__);                       \
	})
#define pr_emerg_once(fmt, ...) printk_once(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert_once(fmt, ...) printk_once(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit_once(fmt, ...) printk_once(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err_once(fmt, ...) printk_once(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_once(fmt, ...) printk_once(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice_once(fmt, ...) printk_once(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_once(fmt, ...) printk_once(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)

#define DEFAULT_RATELIMIT_INTERVAL (5 * 1000)
#define DEFAULT_RATELIMIT_BURST 10

/**
 * struct ratelimit_state - at most @burst messages in @interval milliseconds
 * @begin: when the interval began, in ms; @printed, @missed: since then
 */
struct ratelimit_state {
	int interval;
	int burst;
	unsigned long begin;
	int printed;
	int missed;
};

#define RATELIMIT_STATE_INIT(name, interval_init, burst_init) \
	{ .interval = (interval_init), .burst = (burst_init) }
#define DEFINE_RATELIMIT_STATE(name, interval_init, burst_init) \
	struct ratelimit_state name =                           \
		RATELIMIT_STATE_INIT(name, interval_init, burst_init)

/** __ratelimit() - Return: 1, go on; 0, it would be too much. What was left out
 *  is told with the next message. Context: any. */
int __ratelimit(struct ratelimit_state *rs) DP_COMPAT(ratelimit);

#define printk_ratelimited(fmt, ...)                                      \
	({                                                                \
		static DEFINE_RATELIMIT_STATE(dp_rs,                      \
					      DEFAULT_RATELIMIT_INTERVAL, \
					      DEFAULT_RATELIMIT_BURST);   \
		if (__ratelimit(&dp_rs))                                  \
			printk(fmt, ##__VA_ARGS__);                       \
	})
#define printk_ratelimit()                                                \
	({                                                                \
		static DEFINE_RATELIMIT_STATE(dp_rs,                      \
					      DEFAULT_RATELIMIT_INTERVAL, \
					      DEFAULT_RATELIMIT_BURST);   \
		__ratelimit(&dp_rs);                                      \
	})
#define pr_emerg_ratelimited(fmt, ...) printk_ratelimited(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert_ratelimited(fmt, ...) printk_ratelimited(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit_ratelimited(fmt, ...) printk_ratelimited(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err_ratelimited(fmt, ...) printk_ratelimited(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...) printk_ratelimited(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice_ratelimited(fmt, ...) printk_ratelimited(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_ratelimited(fmt, ...) printk_ratelimited(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_debug_ratelimited pr_debug

struct va_format {
	const char *fmt;
	va_list *va;
};

enum { DUMP_PREFIX_NONE, DUMP_PREFIX_ADDRESS, DUMP_PREFIX_OFFSET };

/** print_hex_dump() - bytes, 16 or 32 a line. @groupsize is taken as 1.
 *  Context: any. */
void print_hex_dump(const char *level, const char *prefix, int prefix_type,
		    int rowsize, int groupsize, const void *buf, size_t len,
		    bool ascii) DP_COMPAT(print_hex_dump);
/** hex_dump_to_buffer() - one such line. Return: the length that it has, or would have
 *  if @size were large enough. Context: any. */
int hex_dump_to_buffer(const void *buf, size_t len, int rowsize, int groupsize,
		       char *line, size_t size, bool ascii)
	DP_COMPAT(hex_dump_to_buffer);
#define print_hex_dump_bytes(prefix, type, buf, len) \
	print_hex_dump(KERN_DEBUG, prefix, type, 16, 1, buf, len, true)

/** dump_stack() - the stack of the program at the probe, or of the caller outside
 *  of handlers, by printk. Context: any. */
void dump_stack(void) DP_COMPAT(dump_stack);

#endif
