// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* device: what the tool asks of /dev/dprobes. */
#include "tracer/system/system.h"
#include "engine/vm/ops.h"
#include "engine/vm/program.h"
#include "resolve/points.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int ask(const struct dp_system_device *d, unsigned long request,
	       void *arg)
{
	return ioctl(d->fd, request, arg) ? -errno : 0;
}

static int say_closed(int err, struct dp_diag *diag)
{
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return dp_diag_set(
			diag, -ENODEV,
			"there is no " DP_DEVICE_PATH
			": load dprobes.ko, built for this kernel by kmod/build: insmod dprobes.ko lookup=0x$(sudo awk '$3 == \"kallsyms_lookup_name\" { print $1 }' /proc/kallsyms); see dprobes(4)");
	case -EACCES:
	case -EPERM:
		return dp_diag_set(
			diag, -EPERM,
			"the kernel is probed by those who administer it (CAP_SYS_ADMIN): use sudo; one that is locked down (/sys/kernel/security/lockdown) is probed by nobody");
	case -EBUSY:
		return dp_diag_set(
			diag, err,
			"sixteen programs probe the kernel, and there are no more at a time (fuser " DP_DEVICE_PATH
			" tells which)");
	default:
		return dp_diag_set(diag, err, "cannot open %s: %s",
				   DP_DEVICE_PATH, strerror(-err));
	}
}

/* In a kernel, jumps with breakpoints inside find few addresses. */
static int read_arming(u32 *arming, struct dp_diag *diag)
{
	static const char *const names[] = {
		[DP_DEVICE_TRAP] = "trap",
		[DP_DEVICE_JUMP] = "quiesce",
		[DP_DEVICE_INTERIOR] = "interior",
	};
	const char *name = secure_getenv("DPROBES_ARM");

	*arming = DP_DEVICE_JUMP;
	if (!name || !*name)
		return 0;
	for (*arming = 0; *arming < sizeof(names) / sizeof(*names); ++*arming)
		if (!strcmp(name, names[*arming]))
			return 0;
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_ARM is \"%s\"; it can be interior, quiesce or trap",
		name);
}

/* As for a process: 0, 1 or leave:N. The first instruction is interpreted, the N-th one, or none. */
static int read_native(u32 *interpret, struct dp_diag *diag)
{
	static const char leave[] = "leave:";
	const char *text = secure_getenv("DPROBES_NATIVE");
	char *end;

	*interpret = 0;
	if (!text || !*text || !strcmp(text, "1"))
		return 0;
	*interpret = 1;
	if (!strcmp(text, "0"))
		return 0;
	if (!strncmp(text, leave, strlen(leave))) {
		text += strlen(leave);
		*interpret = (u32)strtoul(text, &end, 10);
		if (*text >= '1' && *text <= '9' && !*end)
			return 0;
		text -= strlen(leave);
	}
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_NATIVE is \"%s\"; it can be 0, 1 or leave:N", text);
}

static int begin(struct dp_system_device *d, u32 most, struct dp_diag *diag)
{
	struct dp_device_begin begin = { .most = most };
	int err = ask(d, DP_DEVICE_INFO, &d->info);

	if (err == -ENOTTY || (!err && d->info.version != DP_DEVICE_VERSION))
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"the loaded dprobes.ko is of another version than this dprobes: build it anew, rmmod dprobes, and load that");
	if (!err)
		err = read_arming(&begin.arming, diag) ?:
			      read_native(&begin.interpret, diag);
	if (err)
		return err;
	err = ask(d, DP_DEVICE_BEGIN, &begin);
	if (err == -EBUSY)
		return dp_diag_set(
			diag, err,
			"others probe the kernel, and are armed or run in another way: DPROBES_ARM and DPROBES_NATIVE are to be as theirs (fuser " DP_DEVICE_PATH
			" tells who they are)");
	return err ? dp_diag_set(diag, err, "%s: %s", DP_DEVICE_PATH,
				 strerror(-err)) :
		     0;
}

int dp_system_device_open(struct dp_system_device *d, u32 most,
			  struct dp_diag *diag)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->fd = open(DP_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	err = d->fd < 0 ? say_closed(-errno, diag) : begin(d, most, diag);
	if (err)
		dp_system_device_close(d);
	/* What one has left is waited for; records are not. */
	else
		fcntl(d->fd, F_SETFL, O_NONBLOCK);
	return err;
}

int dp_system_device_add(const struct dp_system_device *d, const char *name,
			 u32 flags, struct dp_system_added *added, char *words)
{
	struct dp_device_add add = {
		.name = (u64)name,
		.name_size = (u32)strlen(name) + 1,
		.words = (u64)words,
		.words_size = DP_DEVICE_WORDS,
		.flags = flags,
		.addr = d->info.flags & DP_DEVICE_ADDRESSES ? added->addr : 0,
	};
	int err;

	*words = '\0';
	err = ask(d, DP_DEVICE_ADD, &add);
	if (err && !*words)
		strncat(words, strerror(-err), DP_DEVICE_WORDS - 1);
	*added = (struct dp_system_added){ .addr = add.addr,
					   .probe = add.probe,
					   .opcode = (u8)add.opcode };
	return err;
}

int dp_system_device_watch(const struct dp_system_device *d,
			   const struct dp_spec *spec, u64 addr, u32 *probe,
			   char *words)
{
	struct dp_device_watch watch = {
		.addr = addr,
		.len = (u32)spec->len,
		.access = spec->access == DP_WATCH_ACCESS ? DP_DEVICE_ACCESSED :
							    DP_DEVICE_WRITTEN,
		.words = (u64)words,
		.words_size = DP_DEVICE_WORDS,
	};
	int err;

	*words = '\0';
	err = ask(d, DP_DEVICE_WATCH, &watch);
	if (err && !*words)
		strncat(words, strerror(-err), DP_DEVICE_WORDS - 1);
	*probe = watch.probe;
	return err;
}

static int ask_file(const struct dp_system_device *d, int fd, u64 offset,
		    u32 flags, struct dp_system_added *added, char *words)
{
	struct dp_device_file want = { .fd = (u32)fd,
				       .offset = offset,
				       .words = (u64)words,
				       .words_size = DP_DEVICE_WORDS,
				       .probe = flags ? added->probe : 0,
				       .flags = flags };
	int err;

	*words = '\0';
	err = ask(d, DP_DEVICE_FILE, &want);
	if (err && !*words)
		strncat(words, strerror(-err), DP_DEVICE_WORDS - 1);
	*added = (struct dp_system_added){ .probe = want.probe,
					   .opcode = (u8)want.opcode };
	return err;
}

int dp_system_device_file(const struct dp_system_device *d, int fd, u64 offset,
			  struct dp_system_added *added, char *words)
{
	return ask_file(d, fd, offset, 0, added, words);
}

int dp_system_device_also(const struct dp_system_device *d, int fd, u64 offset,
			  u32 flags, struct dp_system_added *added, char *words)
{
	return ask_file(d, fd, offset, flags | DP_DEVICE_ALSO, added, words);
}

int dp_system_device_commit(const struct dp_system_device *d, u32 flags,
			    u64 *bad)
{
	struct dp_device_commit commit = { .flags = flags };
	int err = ask(d, DP_DEVICE_COMMIT, &commit);

	*bad = commit.bad;
	return err;
}

int dp_system_device_program(const struct dp_system_device *d,
			     const struct dp_program_spec *spec, bool user,
			     u32 *program, u32 *offset, char *words)
{
	struct dp_device_program want = {
		.code = (u64)spec->code,
		.code_size = spec->code_len,
		.starts = (u64)spec->starts,
		.nr_starts = spec->nr_starts,
		.words = (u64)words,
		.words_size = DP_DEVICE_WORDS,
		.variables = spec->nr_lv,
		.globals = spec->nr_gv,
		.jumps = spec->jmpmax < DP_DEVICE_JUMPS ? spec->jmpmax :
							  DP_DEVICE_JUMPS,
		.log = spec->logmax,
		.heap = spec->heapmax,
		.stack = spec->stack,
		.allow = spec->allow,
		.flags = (user ? DP_DEVICE_USER : 0) |
			 (spec->room_lv ? DP_DEVICE_ROOM : 0),
		.shares = spec->shares,
	};
	int err;

	*words = '\0';
	err = ask(d, DP_DEVICE_PROGRAM, &want);
	*program = want.program;
	*offset = want.offset;
	if (err == -EPERM)
		strcpy(words,
		       "what reads the kernel's memory takes CAP_SYSLOG, and kernel.kptr_restrict below 2");
	else if (err == -ENOSPC)
		strcpy(words,
		       "there are too many programs: name fewer functions");
	else if (err && !*words)
		strncat(words, strerror(-err), DP_DEVICE_WORDS - 1);
	return err;
}

int dp_system_device_bind(const struct dp_system_device *d, u32 probe,
			  const struct dp_binding *b)
{
	struct dp_device_bind bind = {
		.probe = probe,
		.program = b->program,
		.start = b->start,
		.passcount = b->passcount,
		.maxhits = b->maxhits,
		.heap = b->heap,
		.major = b->major,
		.minor = b->minor,
		.exceptions = b->ex_mask,
		.leaves = b->leaves,
		.flags = (b->judged ? DP_DEVICE_JUDGED : 0) |
			 (b->tells ? DP_DEVICE_TOLD : 0),
	};

	return ask(d, DP_DEVICE_BIND, &bind);
}

size_t dp_system_device_read(const struct dp_system_device *d, void *to,
			     size_t size)
{
	ssize_t n = read(d->fd, to, size);

	return n > 0 ? (size_t)n : 0;
}

u64 dp_system_device_variable(const struct dp_system_device *d, u32 program,
			      u32 index)
{
	struct dp_device_variable variable = { .program = program,
					       .index = index };

	return ask(d, DP_DEVICE_VARIABLE, &variable) ? 0 : variable.value;
}

struct dp_device_calls dp_system_device_calls(const struct dp_system_device *d,
					      u32 probe)
{
	struct dp_device_calls calls = { .probe = probe };

	return ask(d, DP_DEVICE_CALLS, &calls) ? (struct dp_device_calls){ 0 } :
						 calls;
}

int dp_system_device_zero(const struct dp_system_device *d, u32 program,
			  u32 first, u32 n)
{
	struct dp_device_zero zero = { .program = program,
				       .first = first,
				       .nr = n };

	return ask(d, DP_DEVICE_ZERO, &zero);
}

int dp_system_device_remove(const struct dp_system_device *d, u32 probe)
{
	struct dp_device_remove remove = { .probe = probe };

	return ask(d, DP_DEVICE_REMOVE, &remove);
}

int dp_system_device_stack(const struct dp_system_device *d,
			   struct dp_device_stack *stack)
{
	int err = ask(d, DP_DEVICE_STACK, stack);

	return err ?: stack->nr > DP_DEVICE_FRAMES ? -EBADMSG : 0;
}

int dp_system_device_table(const struct dp_system_device *d,
			   struct dp_device_table *want)
{
	return ask(d, DP_DEVICE_TABLE, want);
}

int dp_system_device_rows(const struct dp_system_device *d,
			  struct dp_device_rows *want)
{
	return ask(d, DP_DEVICE_ROWS, want);
}

int dp_system_device_turn(const struct dp_system_device *d, u32 probe, bool on)
{
	struct dp_device_turn turn = { .probe = probe, .on = on };

	return ask(d, DP_DEVICE_TURN, &turn);
}

static void read_counts(struct dp_system_device *d, u32 first)
{
	struct dp_device_counts counts = { .counts = (u64)d->counts,
					   .first = first,
					   .nr = sizeof(d->counts) /
						 sizeof(*d->counts) };

	if (counts.nr > d->info.counts)
		counts.nr = d->info.counts;
	memset(d->counts, 0, sizeof(d->counts));
	d->nr = ask(d, DP_DEVICE_COUNTS, &counts) ? 0 : counts.nr;
	d->first = d->next = first;
}

const struct dp_device_count *dp_system_device_count(struct dp_system_device *d,
						     u32 probe)
{
	if (probe < d->next || probe >= d->first + d->nr)
		read_counts(d, probe);
	d->next = probe + 1;
	return &d->counts[probe - d->first];
}

void dp_system_device_renew(struct dp_system_device *d)
{
	d->nr = 0;
}

struct dp_device_counts dp_system_device_sum(const struct dp_system_device *d)
{
	struct dp_device_counts counts = { .counts = 0 };

	ask(d, DP_DEVICE_COUNTS, &counts);
	return counts;
}

void dp_system_device_close(struct dp_system_device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
