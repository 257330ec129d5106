// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * backtraces: who called, as unwinders see it from inside nested functions. Frames
 * are printed as OBJECT+OFFSET NAME, so that they are the same in every run; those
 * that belong to no file, or to the probes' library, are left out.
 */
#include "torture.h"
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

#define MOST 200

/* Exported, for dladdr(). */
int look(const char *const *wanted);
int third(const char *const *wanted);
int second(const char *const *wanted);
int first(const char *const *wanted);
int straight_on(void);
int again(int depth);
int recurse(void);
int compare(const void *a, const void *b);
void sort(void);
void on_signal(int sig);
int raising(int depth);
void *thread(void *arg);

static void *frames[MOST];
static int n;
static void (*walk)(void);
static const char *title;

static void by_backtrace(void)
{
	n = backtrace(frames, MOST);
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
	if (n < MOST)
		frames[n++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void by_unwind(void)
{
	n = 0;
	_Unwind_Backtrace(step, NULL);
}

static void by_libunwind(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;

	n = 0;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		frames[n++] = (void *)ip;
	} while (n < MOST && unw_step(&cursor) > 0);
}

static bool of_a_file(const void *at, Dl_info *info)
{
	if (!dladdr((const char *)at - 1, info) || !info->dli_fname)
		return false;
	return *info->dli_fname && !strstr(info->dli_fname, "dprobes") &&
	       !strstr(info->dli_fname, "follow");
}

/* Frames of the way to look, which differ, end with this function's. */
static int first_frame(const char *function)
{
	Dl_info info;
	int i;

	for (i = 0; i < n; i++)
		if (of_a_file(frames[i], &info) && info.dli_sname &&
		    !strcmp(info.dli_sname, function))
			return i;
	return 0;
}

static void print(int from)
{
	const char *base;
	Dl_info info;

	printf("%s:\n", title);
	for (int i = from; i < n; i++) {
		if (!of_a_file(frames[i], &info))
			continue;
		base = strrchr(info.dli_fname, '/');
		printf("  %s+0x%lx %s\n", base ? base + 1 : info.dli_fname,
		       (long)((char *)frames[i] - (char *)info.dli_fbase),
		       info.dli_sname ? info.dli_sname : "?");
	}
}

/* @wanted: names, the innermost first, that follow upon one another. */
static bool are(int from, const char *const *wanted)
{
	Dl_info info;

	for (int i = from; i < n && *wanted; i++) {
		if (!of_a_file(frames[i], &info))
			continue;
		if (!info.dli_sname || strcmp(info.dli_sname, *wanted))
			return false;
		wanted++;
	}
	return !*wanted;
}

APART int look(const char *const *wanted)
{
	int from;

	walk();
	from = first_frame("look");
	print(from);
	check("is as called", are(from, wanted));
	return n;
}

static const char *const straight[] = { "look",	 "third",	"second",
					"first", "straight_on", "main",
					NULL };

APART int third(const char *const *wanted)
{
	int result = look(wanted);

	STAY();
	return result;
}

APART int second(const char *const *wanted)
{
	int result = third(wanted);

	STAY();
	return result;
}

APART int first(const char *const *wanted)
{
	int result = second(wanted);

	STAY();
	return result;
}

APART int straight_on(void)
{
	int result = first(straight);

	STAY();
	return result;
}

static const char *const recursive[] = { "look",    "again", "again",
					 "again",   "again", "again",
					 "recurse", "main",  NULL };

APART int again(int depth)
{
	int result = depth ? again(depth - 1) : look(recursive);

	STAY();
	return result;
}

APART int recurse(void)
{
	int result = again(4);

	STAY();
	return result;
}

static const char *const from_qsort[] = { "look", "compare", NULL };
static int looked;

APART int compare(const void *a, const void *b)
{
	if (!looked++)
		look(from_qsort);
	STAY();
	return *(const int *)a - *(const int *)b;
}

APART void sort(void)
{
	int array[3] = { 3, 2, 1 };

	looked = 0;
	qsort(array, 3, sizeof(*array), compare);
	STAY();
}

static const char *const from_signal[] = { "look", "on_signal", NULL };

APART void on_signal(int sig)
{
	look(from_signal);
	STAY();
}

APART int raising(int depth)
{
	int result = depth ? raising(depth - 1) : raise(SIGUSR1);

	STAY();
	return result;
}

static const char *const from_thread[] = { "look",  "third",  "second",
					   "first", "thread", NULL };

APART void *thread(void *arg)
{
	long result = first(from_thread);

	STAY();
	return (void *)result;
}

static void in_a_thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
}

int main(void)
{
	static void (*const ways[])(void) = { by_backtrace, by_unwind,
					      by_libunwind };
	static const char *const names[] = { "backtrace", "_Unwind_Backtrace",
					     "libunwind" };

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++) {
		walk = ways[i];
		title = names[i];
		straight_on();
		recurse();
		sort();
		raising(5);
		in_a_thread();
	}
	return verdict();
}
