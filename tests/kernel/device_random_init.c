// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_random_init: /dev/dprobes is asked all kinds of things.
 *
 * Numbers, sizes and addresses are random, or those that it knows, with structs that make sense but
 * for a few bytes. What takes long, a name that is looked for and probes that are armed, is rare.
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 10
#define REOPENED 4000
#define LOOKUPS 10
#define COMMITS 300

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
	unsigned char bytes[256];
};

static __thread uint64_t seed;
static unsigned int times;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 11;
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(draw() % n);
}

static const unsigned long known[] = {
	DP_DEVICE_INFO,	   DP_DEVICE_BEGIN, DP_DEVICE_ADD,
	DP_DEVICE_COMMIT,  DP_DEVICE_TURN,  DP_DEVICE_COUNTS,
	DP_DEVICE_PROGRAM, DP_DEVICE_BIND,  DP_DEVICE_VARIABLE,
	DP_DEVICE_CALLS,   DP_DEVICE_WATCH, DP_DEVICE_FILE,
	DP_DEVICE_REMOVE,  DP_DEVICE_ZERO,  DP_DEVICE_STACK,
	DP_DEVICE_TABLE,   DP_DEVICE_ROWS,
};

#define KNOWN (sizeof(known) / sizeof(*known))

/* Of a thread: one page, and behind it nothing */
static __thread unsigned char *page;

/* Two threads ask by it; this program's file */
static int device = -1, own_file = -1;

static uint64_t some_pointer(void)
{
	switch (below(6)) {
	case 0:
		return 0;
	case 1:
		return draw();
	case 2:
		return 0xffffffff81000000 + draw() % 0x1000000;
	case 3:
		return (uint64_t)page + 4096 - below(300);
	default:
		return (uint64_t)page + below(2048);
	}
}

static void fill_add(union request *r)
{
	static const char *const names[] = {
		DP_GETSID,     DP_UMASK "+0x0", DP_GETPGID, "no_such", "gcd+3",
		"x:" DP_UMASK, "schedule",	"+",	    ":",       "a:b:c+1"
	};
	const char *name = names[below(sizeof(names) / sizeof(*names))];

	r->add.name = (uint64_t)page;
	r->add.name_size = (unsigned int)strlen(name) + 1;
	strcpy((char *)page, name);
	r->add.words = some_pointer();
	r->add.words_size = below(3) ? below(140) : 0;
	if (!below(8))
		r->add.addr = draw();
	if (below(2))
		r->add.flags = below(2) ? DP_DEVICE_RETURNS : below(16);
	/* Who sleeps for ever would keep the module. */
	if (!strcmp(name, "schedule"))
		r->add.flags &= ~(unsigned int)DP_DEVICE_RETURNS;
	if (!below(LOOKUPS))
		return;
	/* A text that ends elsewhere is not looked for. */
	memset(page, 'a', 512);
	r->add.name_size = below(2) ? below(400) : 0;
}

static void fill_file(union request *r)
{
	r->file = (struct dp_device_file){
		.fd = (unsigned int)(below(4) ? own_file : (int)below(40)),
		.offset =
			below(LOOKUPS) ?
				draw() :
				dp_user_offset((void *)dp_user_step) + below(2),
		.words = some_pointer(),
		.words_size = below(3) ? below(140) : 0,
	};
}

static void fill_program(union request *r)
{
	unsigned int i;

	r->program = (struct dp_device_program){
		.code = (uint64_t)page,
		.code_size = below(24),
		.words = some_pointer(),
		.words_size = below(3) ? below(140) : 0,
		.variables = below(300),
		.jumps = below(5000),
		.log = below(1100),
		.starts = (uint64_t)page + 32,
		.nr_starts = below(6) ? 1 : below(300),
		.globals = below(300),
		.heap = below(5000),
		.stack = below(8) ? 1024 : below(64),
		.flags = below(2) ? 0 : below(4),
		.shares = below(4) ? 0 : below(4),
	};
	memset(page + 32, 0, 8);
	for (i = 0; i < 24; i++)
		page[i] = (unsigned char)(below(3) ? below(0x46) : draw());
	/* exit */
	if (r->program.code_size)
		page[r->program.code_size - 1] = 0x0d;
}

/* A variable that is written when a process sets it, the kernel's text, and what is nothing */
static void fill_watch(union request *r)
{
	static uint64_t at;

	if (!at)
		at = dp_watch_address();
	r->watch = (struct dp_device_watch){
		.addr = below(3) ? at : some_pointer(),
		.len = below(6) ? 1u << below(4) : below(10),
		.access = below(3),
		.words = some_pointer(),
		.words_size = below(3) ? below(140) : 0,
	};
}

/* What it takes is small, as it takes memory. */
static void fill_table(union request *r)
{
	struct dp_device_field *f = (void *)page;
	unsigned int i;

	r->table = (struct dp_device_table){
		.fields = (uint64_t)page,
		.words = some_pointer(),
		.words_size = below(3) ? below(140) : 0,
		.keys = below(22),
		.most = below(8) ? below(100) : (unsigned int)draw(),
		.nr = below(9),
	};
	for (i = 0; i < r->table.nr; i++) {
		f[i] = (struct dp_device_field){ .kind = below(8),
						 .sign = below(2) };
		if (f[i].kind == DP_DEVICE_LHIST)
			f[i].step = f[i].high = 1 + below(1000);
	}
}

static void fill(unsigned long request, union request *r)
{
	memset(r, 0, sizeof(*r));
	if (request == DP_DEVICE_BEGIN)
		r->begin =
			(struct dp_device_begin){ .arming = below(4),
						  .most = below(2) ? 0 :
							  below(3) ? below(4) :
								     draw() };
	else if (request == DP_DEVICE_ADD)
		fill_add(r);
	else if (request == DP_DEVICE_COMMIT)
		r->commit = (struct dp_device_commit){
			.reserved = below(COMMITS) != 0,
			.flags = below(3) ? 0 : below(4)
		};
	else if (request == DP_DEVICE_TURN)
		r->turn = (struct dp_device_turn){ .probe = below(6),
						   .on = below(3) };
	else if (request == DP_DEVICE_PROGRAM)
		fill_program(r);
	else if (request == DP_DEVICE_BIND)
		r->bind = (struct dp_device_bind){
			.probe = below(6),
			.program = below(6),
			.maxhits = below(9),
			.heap = below(300),
			.leaves = below(3) ? 0 : below(3),
			.start = below(4) ? 0 : DP_DEVICE_NOWHERE,
			.flags = !below(6)
		};
	else if (request == DP_DEVICE_WATCH)
		fill_watch(r);
	else if (request == DP_DEVICE_FILE)
		fill_file(r);
	else if (request == DP_DEVICE_REMOVE)
		r->remove.probe = below(6);
	else if (request == DP_DEVICE_ZERO)
		r->zero = (struct dp_device_zero){
			.program = below(4) ? below(6) : DP_DEVICE_GLOBAL,
			.first = below(4),
			.nr = below(3)
		};
	else if (request == DP_DEVICE_TABLE)
		fill_table(r);
	else if (request == DP_DEVICE_ROWS)
		r->rows = (struct dp_device_rows){
			.rows = some_pointer(),
			.next = below(2) ? 0 : draw(),
			.table = below(6),
			.nr = below(3) ? below(9) : (unsigned int)draw(),
		};
	else if (request == DP_DEVICE_STACK)
		r->stack = (struct dp_device_stack){
			.frames = some_pointer(),
			.number = (unsigned int)draw(),
			.nr = below(140),
		};
	else if (request == DP_DEVICE_CALLS)
		r->calls.probe = below(6);
	else if (request == DP_DEVICE_VARIABLE)
		r->variable =
			(struct dp_device_variable){ .program = below(6),
						     .index = below(300) };
	else if (request == DP_DEVICE_COUNTS)
		r->counts = (struct dp_device_counts){
			.counts = some_pointer(),
			.first = below(8),
			.nr = below(70),
		};
}

static unsigned long some_request(void)
{
	switch (below(8)) {
	case 0:
		return (unsigned int)draw();
	case 1:
		return _IOC(below(4), DP_DEVICE_MAGIC, below(18), below(300));
	default:
		return known[below(KNOWN)];
	}
}

static void reopen(int session)
{
	close(device);
	device = dp_device_open(0);
	fcntl(device, F_SETFL, O_NONBLOCK);
	if (session && below(2))
		dp_device_start(device, below(3));
}

/* The number of a request that the device has carried out; -1: it has not */
static int ask(int session)
{
	unsigned long request = some_request();
	union request r;
	unsigned int i;
	void *at;

	if (!session && request == DP_DEVICE_BEGIN)
		request = DP_DEVICE_ADD;
	fill(request, &r);
	while (!below(4))
		r.bytes[below(_IOC_SIZE(request) % 200 + 1)] =
			(unsigned char)draw();
	/* What writes at random ends the guest. */
	if (request == DP_DEVICE_PROGRAM)
		r.program.allow &= ~7u;
	at = below(10) ? (void *)&r : (void *)some_pointer();
	if (!below(20))
		read(device, (void *)some_pointer(), below(5000));
	if (ioctl(device, request, at))
		return -1;
	for (i = 0; i < KNOWN && known[i] != request; i++)
		continue;
	return (int)i;
}

/* @done: by request, how many were carried out; the last one: of those that there are not */
static void ask_all(int session, int reopens, unsigned int done[KNOWN + 1])
{
	unsigned int i;
	int which;

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		return;
	for (i = 0; i < times; i++) {
		if (reopens && i % REOPENED == 0)
			reopen(session);
		which = ask(session);
		if (which >= 0)
			done[which]++;
		if (!(i % 64))
			dp_user_step(getsid(0), "random", NULL);
	}
	munmap(page, 4096);
}

static void *ask_beside(void *done)
{
	seed = 362436069;
	ask_all(1, 0, done);
	return NULL;
}

static void tell(const unsigned int *done, const char *of)
{
	static const char *const names[KNOWN] = {
		"info",	   "begin", "add",	"commit", "turn",  "counts",
		"program", "bind",  "variable", "calls",  "watch", "file",
		"remove",  "zero",  "stack",	"table",  "rows"
	};
	unsigned int i;

	printf("# %s, of %u random requests were carried out:", of, times);
	for (i = 0; i < KNOWN; i++)
		printf(" %s %u", names[i], done[i]);
	printf("\n");
}

/* A kernel may have no uprobes. */
static int can(unsigned long request)
{
	return request != DP_DEVICE_FILE || dp_user_can();
}

/* Has any request of each kind been carried out, and none that there is not? */
static int is_all(const unsigned int *done)
{
	unsigned int i;

	for (i = 0; i < KNOWN && (done[i] || !can(known[i])); i++)
		continue;
	return i == KNOWN && !done[KNOWN];
}

void dp_device_random(unsigned int each)
{
	unsigned int alone[KNOWN + 1] = { 0 }, with[KNOWN + 1] = { 0 },
				   beside[KNOWN + 1] = { 0 }, i;
	const char *of = "device, at random: ";
	pthread_t thread;

	times = each;
	own_file = open(DP_USER_FILE, O_RDONLY | O_CLOEXEC);
	seed = 88172645463325252;
	ask_all(0, 1, alone);
	tell(alone, "without a session");
	dp_init_check(alone[0] && !alone[2] && !alone[3] && !alone[4] &&
			      !alone[KNOWN],
		      "without a session there are no probes", of);
	if (pthread_create(&thread, NULL, ask_beside, beside))
		return;
	/* Some take a session that has got far. */
	for (i = 0; i < ROUNDS && !is_all(with); i++)
		ask_all(1, 1, with);
	pthread_join(thread, NULL);
	tell(with, "with a session");
	tell(beside, "beside");
	close(device);
	close(own_file);
	dp_init_check(is_all(with) && !beside[KNOWN],
		      "with one, all kinds are carried out, and no others", of);
	device = dp_device_open(0);
	dp_init_check(device >= 0, "and it can be had again", of);
	close(device);
}
