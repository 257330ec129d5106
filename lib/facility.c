// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facility: functions of this process that programs call as they end.
 *
 * Hits look at the table of entries. An entry is filled in before its function is, and emptied
 * before the library waits for handlers, so a thread that has seen the function is waited for.
 *
 * Lock: the library's. A fork child begins anew: @owner tells.
 */
#include <dprobes/facility.h>
#include "lib/self.h"
#include "engine/layout/facility.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME 32

/** struct facility - what a number has registered; freed when no thread can be in it */
struct facility {
	dp_facility_fn *fn;
	void *ctx;
	char name[NAME];
};

static struct dp_facility_entry entries[DP_FACILITIES - DP_FACILITY_REGISTERED];
static struct facility *facilities[DP_FACILITIES];
static pid_t owner;

static int call(struct facility *f, const struct dp_facility_log *log)
{
	f->fn(f->ctx, log->bytes, log->len);
	return 0;
}

static bool is_name(const char *name)
{
	const char *p;

	if (!name || !*name || strlen(name) >= NAME)
		return false;
	for (p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

static int check(unsigned int number, const char *name, dp_facility_fn *fn,
		 enum dp_facility_when when)
{
	if (number < DP_FACILITY_FIRST || number > DP_FACILITY_LAST)
		return dp_fail(-EINVAL, "facility %u: numbers are %u to %u",
			       number, DP_FACILITY_FIRST, DP_FACILITY_LAST);
	if (!fn || !is_name(name))
		return dp_fail(-EINVAL, "facility %u has no %s", number,
			       fn ? "name, of 31 bytes at most" : "function");
	if (when != DP_FACILITY_AT_COMMIT && when != DP_FACILITY_AT_ONCE)
		return dp_fail(-EINVAL,
			       "facility %u is called at commit, or at once",
			       number);
	return 0;
}

/* A parent's are not this process's; its copies are lost with the parent's engine. */
static void begin_anew(void)
{
	if (owner == getpid())
		return;
	owner = getpid();
	memset(facilities, 0, sizeof(facilities));
	memset(entries, 0, sizeof(entries));
}

static void put(unsigned int number, struct facility *f,
		enum dp_facility_when when)
{
	struct dp_facility_entry *entry =
		&entries[number - DP_FACILITY_REGISTERED];

	facilities[number] = f;
	entry->user = (u64)f;
	entry->when = when == DP_FACILITY_AT_ONCE ? DP_FACILITY_ENDS :
						    DP_FACILITY_COMMITS;
	__atomic_store_n(&entry->function, (u64)call, __ATOMIC_RELEASE);
	__atomic_store_n(&dp_self.arena->control.facilities, (u64)entries,
			 __ATOMIC_RELEASE);
}

static int add(unsigned int number, const char *name, dp_facility_fn *fn,
	       void *ctx, enum dp_facility_when when)
{
	struct facility *f;

	begin_anew();
	f = facilities[number];
	if (f)
		return dp_fail(-EBUSY, "facility %u is taken: %s", number,
			       f->name);
	f = calloc(1, sizeof(*f));
	if (!f)
		return dp_fail(-ENOMEM, "out of memory");
	f->fn = fn;
	f->ctx = ctx;
	strcpy(f->name, name);
	put(number, f, when);
	return 0;
}

int dp_facility_register(unsigned int number, const char *name,
			 dp_facility_fn *fn, void *ctx,
			 enum dp_facility_when when)
{
	int err = check(number, name, fn, when);

	if (!err)
		err = dp_self_begin(true);
	if (err)
		return err;
	err = add(number, name, fn, ctx, when);
	dp_self_end();
	return err;
}

static int drop(unsigned int number)
{
	struct facility *f;

	begin_anew();
	f = number < DP_FACILITIES ? facilities[number] : NULL;
	if (!f)
		return dp_fail(-ENOENT, "facility %u is not registered",
			       number);
	facilities[number] = NULL;
	__atomic_store_n(&entries[number - DP_FACILITY_REGISTERED].function, 0,
			 __ATOMIC_RELEASE);
	dp_self_settle();
	free(f);
	return 0;
}

int dp_facility_unregister(unsigned int number)
{
	int err = dp_self_begin(false);

	if (err == -ESRCH)
		return dp_fail(-ENOENT, "facility %u is not registered",
			       number);
	if (err)
		return err;
	err = drop(number);
	dp_self_end();
	return err;
}
