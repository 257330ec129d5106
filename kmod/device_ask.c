// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_ask: the requests of /dev/dprobes.
 *
 * Each has a struct of one size, which is part of its number. It is copied once, before anything is
 * looked at, and what is reserved has to be 0.
 */
#include "kmod/device.h"
#include "kmod/session.h"
#include "kmod/watches.h"
#include "engine/layout/instance.h"
#include "port/kernel/compat.h"
#include <dprobes/device.h>
#include <linux/file.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Probes of one COUNTS, at most */
#define COUNTS 64

union request {
	struct dp_device_info info;
	struct dp_device_begin begin;
	struct dp_device_add add;
	struct dp_device_commit commit;
	struct dp_device_turn turn;
	struct dp_device_counts counts;
	struct dp_device_program program;
	struct dp_device_bind bind;
	struct dp_device_variable variable;
	struct dp_device_calls calls;
	struct dp_device_watch watch;
	struct dp_device_file file;
	struct dp_device_remove remove;
	struct dp_device_zero zero;
	struct dp_device_stack stack;
	struct dp_device_table table;
	struct dp_device_rows rows;
};

/* They are the same for callers of 32 bits, and for ever. */
static_assert(sizeof(struct dp_device_info) == 48);
static_assert(sizeof(struct dp_device_begin) == 16);
static_assert(sizeof(struct dp_device_add) == 48);
static_assert(sizeof(struct dp_device_commit) == 16);
static_assert(sizeof(struct dp_device_turn) == 16);
static_assert(sizeof(struct dp_device_count) == 208);
static_assert(sizeof(struct dp_device_counts) == 48);
static_assert(sizeof(struct dp_device_program) == 80);
static_assert(sizeof(struct dp_device_bind) == 40);
static_assert(sizeof(struct dp_device_variable) == 16);
static_assert(sizeof(struct dp_device_record) == 72);
static_assert(sizeof(struct dp_device_calls) == 72);
static_assert(sizeof(struct dp_device_return) == 16);
static_assert(sizeof(struct dp_device_watch) == 40);
static_assert(sizeof(struct dp_device_file) == 40);
static_assert(sizeof(struct dp_device_remove) == 16);
static_assert(sizeof(struct dp_device_zero) == 16);
static_assert(sizeof(struct dp_device_stack) == 48);
static_assert(sizeof(struct dp_device_field) == 32);
static_assert(sizeof(struct dp_device_table) == 80);
static_assert(sizeof(struct dp_device_rows) == 48);
static_assert(DP_DEVICE_PENDING == (int)DP_KMOD_WAITS);
static_assert(DP_DEVICE_RETURNS == (int)DP_KMOD_RETURNS);
static_assert(DP_DEVICE_RECORDS == (int)DP_KMOD_LOGS);

static bool is_clear(const u32 *reserved, size_t size)
{
	return !memchr_inv(reserved, 0, size);
}

static void __user *pointer(u64 user)
{
	return u64_to_user_ptr(user);
}

static u64 shown(const struct dp_owner *o, u64 addr)
{
	return o->client.shows ? addr : 0;
}

static int info(struct dp_owner *o, union request *r)
{
	if (!is_clear((u32 *)r, sizeof(r->info)))
		return -EINVAL;
	r->info = (struct dp_device_info){
		.version = DP_DEVICE_VERSION,
		.arming = BIT(DP_DEVICE_TRAP) | BIT(DP_DEVICE_JUMP) |
			  BIT(DP_DEVICE_INTERIOR),
		.flags = (o->client.shows ? DP_DEVICE_ADDRESSES : 0) |
			 (DP_KERNEL_HAS_UPROBES ? DP_DEVICE_FILES : 0),
		.probes = DP_KMOD_PROBES,
		.counts = COUNTS,
		.programs = DP_DEVICE_PROGRAMS,
		.log = DP_KMOD_LOG,
		.heap = DP_KMOD_HEAP,
		.allow = dp_device_allowed(),
	};
	return 0;
}

static int begin(struct dp_owner *o, union request *r)
{
	static const enum dp_kmod_arming how[] = {
		[DP_DEVICE_TRAP] = DP_KMOD_TRAP,
		[DP_DEVICE_JUMP] = DP_KMOD_JUMP,
		[DP_DEVICE_INTERIOR] = DP_KMOD_INTERIOR,
	};
	int err;

	if (r->begin.reserved || r->begin.arming >= ARRAY_SIZE(how) || o->begun)
		return -EINVAL;
	err = dp_client_begin(&o->client, how[r->begin.arming], r->begin.most);
	if (err)
		return err;
	err = dp_client_interpret(&o->client, r->begin.interpret);
	/* What is refused has not begun, unless it cannot be ended: then it is tried again at the close. */
	o->begun = !err || dp_client_end(&o->client);
	return err;
}

/* Return: the text, for kfree(), or an error as a pointer */
static char *copy_name(const struct dp_device_add *add)
{
	char *name;

	if (add->name_size < 2 || add->name_size > DP_DEVICE_NAME)
		return ERR_PTR(-EINVAL);
	name = memdup_user(pointer(add->name), add->name_size);
	if (IS_ERR(name) || strnlen(name, add->name_size) + 1 == add->name_size)
		return name;
	kfree(name);
	return ERR_PTR(-EINVAL);
}

int dp_device_answer(u64 user, u32 size, const char *words)
{
	char text[DP_DEVICE_WORDS];
	ssize_t n;

	if (!size)
		return 0;
	n = strscpy(text, words ?: "", size);
	n = n < 0 ? size : n + 1;
	return copy_to_user(pointer(user), text, n) ? -EFAULT : 0;
}

int dp_device_refuse(int err, u64 user, u32 size, const char *why)
{
	if (err)
		dp_device_answer(user, size, why);
	return err;
}

static int full(int err, const char **why)
{
	if (err == -ENOSPC && !*why)
		*why = "there are no more probes";
	return err;
}

/* Return: the owner's number for it */
static u32 own(struct dp_owner *o, u32 number)
{
	u32 probe = o->probes++;

	o->number[probe] = 1 + number;
	o->local[number] = probe;
	set_bit(probe, o->fresh);
	return probe;
}

/* Numbers are given out once. */
static int check_number(const struct dp_owner *o, const char **why)
{
	return o->probes == DP_KMOD_PROBES ? full(-ENOSPC, why) : 0;
}

static int add_named(struct dp_owner *o, struct dp_device_add *add,
		     const char **why)
{
	char *name = copy_name(add);
	u64 addr = add->addr, start;
	u32 number;
	int err;

	if (IS_ERR(name))
		return PTR_ERR(name);
	err = check_number(o, why) ?:
		      dp_client_add_named(&o->client, name, add->flags, &addr,
					  &start, &number, why);
	kfree(name);
	if (err)
		return full(err, why);
	add->probe = own(o, number);
	add->opcode = dp_kmod_opcode(addr);
	if (add->flags & DP_DEVICE_RETURNS)
		set_bit(add->probe, o->returns);
	o->logs |= add->flags & DP_DEVICE_RECORDS;
	add->offset = (u32)(addr - start);
	add->addr = shown(o, addr);
	return 0;
}

static bool are_sound(u32 flags)
{
	return !(flags & ~(DP_DEVICE_PENDING | DP_DEVICE_RETURNS |
			   DP_DEVICE_RECORDS)) &&
	       (!(flags & DP_DEVICE_RECORDS) || flags & DP_DEVICE_RETURNS);
}

static int add(struct dp_owner *o, union request *r)
{
	struct dp_device_add *add = &r->add;
	const char *why = NULL;
	int err;

	if (!are_sound(add->flags) || add->opcode || add->probe ||
	    add->offset || add->words_size > DP_DEVICE_WORDS ||
	    !dp_device_may_add(o))
		return -EINVAL;
	/* What a function returns may be an address. */
	if ((add->addr || add->flags & DP_DEVICE_RECORDS) && !o->client.shows)
		return -EPERM;
	err = dp_device_answer(add->words, add->words_size, "");
	if (err)
		return err;
	err = add_named(o, add, &why);
	return dp_device_refuse(err, add->words, add->words_size, why);
}

static int add_data(struct dp_owner *o, struct dp_device_watch *want,
		    const char **why)
{
	const struct dp_data data = { .addr = want->addr,
				      .len = want->len,
				      .reads = want->access ==
					       DP_DEVICE_ACCESSED };
	u32 number;
	int err = check_number(o, why) ?:
			  dp_client_watch(&o->client, &data, &number, why);

	if (err)
		return full(err, why);
	want->probe = own(o, number);
	return 0;
}

static int watch(struct dp_owner *o, union request *r)
{
	struct dp_device_watch *want = &r->watch;
	const char *why = NULL;
	int err;

	if (want->access > DP_DEVICE_ACCESSED || want->probe ||
	    !is_clear(want->reserved, sizeof(want->reserved)) ||
	    want->words_size > DP_DEVICE_WORDS || !dp_device_may_add(o))
		return -EINVAL;
	if (!o->client.shows)
		return -EPERM;
	err = dp_device_answer(want->words, want->words_size, "");
	if (err)
		return err;
	err = add_data(o, want, &why);
	return dp_device_refuse(err, want->words, want->words_size, why);
}

static int add_new(struct dp_owner *o, struct dp_device_file *want,
		   struct file *file, u8 *opcode, const char **why)
{
	u32 number;
	int err = check_number(o, why) ?:
			  dp_client_add_mapped(&o->client, file, want->offset,
					       &number, opcode, why);

	if (err)
		return full(err, why);
	want->probe = own(o, number);
	set_bit(want->probe, o->files);
	return 0;
}

static int add_file(struct dp_owner *o, struct dp_device_file *want,
		    const char **why)
{
	struct file *file = fget(want->fd);
	u8 opcode = 0;
	int err;

	if (!file)
		return -EBADF;
	err = want->flags ? dp_client_also(&o->client,
					   dp_device_number(o, want->probe),
					   file, want->offset,
					   want->flags & DP_DEVICE_ONWARD,
					   &opcode, why) :
			    add_new(o, want, file, &opcode, why);
	fput(file);
	if (!err)
		want->opcode = opcode;
	return err;
}

/* One that came since the last commit may have more instructions. */
static bool is_file_sound(const struct dp_owner *o,
			  const struct dp_device_file *want)
{
	bool also = want->flags & DP_DEVICE_ALSO;

	if (want->reserved || want->opcode ||
	    want->flags & ~(DP_DEVICE_ALSO | DP_DEVICE_ONWARD) ||
	    (want->flags && !also))
		return false;
	return also ? dp_device_owns(o, want->probe) &&
			       test_bit(want->probe, o->files) &&
			       test_bit(want->probe, o->fresh) :
		      !want->probe;
}

static int file(struct dp_owner *o, union request *r)
{
	struct dp_device_file *want = &r->file;
	const char *why = NULL;
	int err;

	if (!is_file_sound(o, want) || want->words_size > DP_DEVICE_WORDS ||
	    !dp_device_may_add(o))
		return -EINVAL;
	err = dp_device_answer(want->words, want->words_size, "");
	if (err)
		return err;
	err = add_file(o, want, &why);
	return dp_device_refuse(err, want->words, want->words_size, why);
}

/* What has gone has no number any more: with @which, or what came since the last commit */
static void forget(struct dp_owner *o, const unsigned long *which)
{
	u32 i;

	for_each_set_bit(i, which, DP_KMOD_PROBES) o->number[i] = 0;
	bitmap_zero(o->fresh, DP_KMOD_PROBES);
	bitmap_zero(o->going, DP_KMOD_PROBES);
}

static int undo(struct dp_owner *o)
{
	dp_client_undo(&o->client);
	forget(o, o->fresh);
	dp_device_programs_left(o, true);
	o->planned = false;
	return 0;
}

/* Threads that had come to a breakpoint are counted when it returns. */
static int commit_now(struct dp_owner *o, u64 *bad)
{
	int err = dp_device_room(o);

	if (err)
		return err;
	err = dp_client_commit(&o->client, bad);
	forget(o, err ? o->fresh : o->going);
	dp_device_programs_left(o, err);
	o->committed |= !err;
	o->planned = false;
	synchronize_rcu();
	return err;
}

static int commit(struct dp_owner *o, union request *r)
{
	u64 bad = 0;
	int err;

	if (r->commit.reserved || r->commit.bad || !o->begun ||
	    (!o->probes && r->commit.flags != DP_DEVICE_UNDO))
		return -EINVAL;
	switch (r->commit.flags) {
	case DP_DEVICE_PLAN:
		o->planned = true;
		return dp_client_plan(&o->client);
	case DP_DEVICE_UNDO:
		return undo(o);
	case 0:
		err = commit_now(o, &bad);
		r->commit.bad = shown(o, bad);
		return err;
	default:
		return -EINVAL;
	}
}

static int turn(struct dp_owner *o, union request *r)
{
	if (!is_clear(r->turn.reserved, sizeof(r->turn.reserved)) ||
	    r->turn.on > 1 || !dp_device_owns(o, r->turn.probe) ||
	    !o->committed)
		return -EINVAL;
	dp_client_turn(&o->client, dp_device_number(o, r->turn.probe),
		       r->turn.on);
	return 0;
}

static int remove(struct dp_owner *o, union request *r)
{
	u32 probe = r->remove.probe;

	if (!is_clear(r->remove.reserved, sizeof(r->remove.reserved)) ||
	    !dp_device_owns(o, probe))
		return -EINVAL;
	set_bit(probe, o->going);
	return dp_client_remove(&o->client, dp_device_number(o, probe));
}

static void count(u32 probe, struct dp_device_count *c)
{
	static const u32 states[] = {
		[DP_KMOD_THERE] = DP_DEVICE_IS_THERE,
		[DP_KMOD_PENDING] = DP_DEVICE_IS_PENDING,
		[DP_KMOD_GONE] = DP_DEVICE_IS_GONE,
	};
	const char *mode = dp_kmod_mode(probe), *reason = dp_kmod_reason(probe);

	memset(c, 0, sizeof(*c));
	c->hits = dp_kmod_hits(probe);
	c->missed = dp_kmod_missed_of(probe);
	c->lost = dp_kmod_tally(probe, DP_TALLY_LOST);
	c->passed = dp_kmod_tally(probe, DP_TALLY_PASSED);
	c->disabled = dp_kmod_tally(probe, DP_TALLY_DISABLED);
	c->context = dp_kmod_tally(probe, DP_TALLY_CONTEXT);
	c->onward = dp_kmod_tally(probe, DP_TALLY_TAIL_CALLED);
	c->status = dp_kmod_status(probe, &c->count);
	c->mode = mode && !strcmp(mode, "jump")	 ? DP_DEVICE_BY_JUMP :
		  mode && !strcmp(mode, "watch") ? DP_DEVICE_BY_WATCH :
						   DP_DEVICE_BY_TRAP;
	c->state = states[dp_kmod_state(probe)];
	strscpy(c->reason, reason ?: "", sizeof(c->reason));
}

static int counts(struct dp_owner *o, union request *r)
{
	struct dp_device_counts *want = &r->counts;
	struct dp_device_count *v;
	u32 i;
	int err;

	if (want->within || want->lost || want->arrivals || want->sites ||
	    want->jumps || want->nr > COUNTS || want->first > o->probes)
		return -EINVAL;
	want->nr = min(want->nr, o->probes - want->first);
	v = kcalloc(want->nr + 1, sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	for (i = 0; i < want->nr; i++)
		if (dp_device_owns(o, want->first + i))
			count(dp_device_number(o, want->first + i), &v[i]);
	err = copy_to_user(pointer(want->counts), v, want->nr * sizeof(*v)) ?
		      -EFAULT :
		      0;
	kfree(v);
	want->lost = READ_ONCE(o->lost);
	want->within = dp_client_within(&o->client);
	want->arrivals = dp_client_arrivals(&o->client);
	want->sites = dp_client_sites(&o->client, &want->jumps);
	return err;
}

static int program(struct dp_owner *o, union request *r)
{
	return dp_device_program(o, &r->program);
}

static int bind(struct dp_owner *o, union request *r)
{
	return dp_device_bind(o, &r->bind);
}

static int variable(struct dp_owner *o, union request *r)
{
	return dp_device_variable(o, &r->variable);
}

static int zero(struct dp_owner *o, union request *r)
{
	return dp_device_zero(o, &r->zero);
}

static int stack(struct dp_owner *o, union request *r)
{
	return dp_device_stack(o, &r->stack);
}

static int table(struct dp_owner *o, union request *r)
{
	return dp_device_table(o, &r->table);
}

static int rows(struct dp_owner *o, union request *r)
{
	return dp_device_rows(o, &r->rows);
}

static int calls(struct dp_owner *o, union request *r)
{
	u32 probe = r->calls.probe, number;
	struct dp_account a;
	int err;

	if (memchr_inv(r, 0, offsetof(struct dp_device_calls, probe)) ||
	    r->calls.reserved || !dp_device_owns(o, probe) ||
	    !test_bit(probe, o->returns))
		return -EINVAL;
	number = dp_device_number(o, probe);
	err = dp_kmod_calls(number, &a);
	if (err)
		return err;
	r->calls = (struct dp_device_calls){
		.entered = a.entered,
		.returned = a.returned,
		.ended = a.abandoned,
		.inside = a.inside,
		.missed = a.missed,
		.full = dp_kmod_tally(number, DP_TALLY_INSTANCES),
		.unmet = a.unmet,
		.unjudged = dp_kmod_tally(number, DP_TALLY_UNJUDGED),
		.probe = probe,
	};
	return 0;
}

static const struct {
	unsigned int number;
	int (*run)(struct dp_owner *o, union request *r);
	bool always; /* its struct is copied back on failure, too */
} requests[] = {
	{ DP_DEVICE_INFO, info },
	{ DP_DEVICE_BEGIN, begin },
	{ DP_DEVICE_ADD, add },
	{ DP_DEVICE_COMMIT, commit, true },
	{ DP_DEVICE_PROGRAM, program, true },
	{ DP_DEVICE_BIND, bind },
	{ DP_DEVICE_VARIABLE, variable },
	{ DP_DEVICE_TURN, turn },
	{ DP_DEVICE_COUNTS, counts },
	{ DP_DEVICE_CALLS, calls },
	{ DP_DEVICE_WATCH, watch },
	{ DP_DEVICE_FILE, file },
	{ DP_DEVICE_REMOVE, remove },
	{ DP_DEVICE_ZERO, zero },
	{ DP_DEVICE_STACK, stack },
	{ DP_DEVICE_TABLE, table },
	{ DP_DEVICE_ROWS, rows },
};

int dp_device_ask(struct dp_owner *o, unsigned int request, void __user *user)
{
	size_t size = _IOC_SIZE(request), i;
	union request r;
	int err;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].number == request)
			break;
	if (i == ARRAY_SIZE(requests))
		return -ENOTTY;
	if (copy_from_user(&r, user, size))
		return -EFAULT;
	/* Who cannot be answered has asked for nothing. */
	if (_IOC_DIR(request) & _IOC_READ && copy_to_user(user, &r, size))
		return -EFAULT;
	err = requests[i].run(o, &r);
	if ((err && !requests[i].always) || !(_IOC_DIR(request) & _IOC_READ))
		return err;
	return copy_to_user(user, &r, size) ? -EFAULT : err;
}
