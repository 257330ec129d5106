// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * frames: write the stubs, and take over exceptions that pass through them.
 *
 *	throw ─► unwinder ─► (stub) dp_frame_personality() ─► dp_frame_pad
 *	      ─► dp_return_unwound() in the agent ─► the unwinder's _Unwind_Resume,
 *	         as if the caller of the tracked function had called it
 *
 * A process may have several unwinders. The context of an unwinder is valid for its own
 * functions only, so the functions are looked up in the module that has called.
 */
#include "lib/frames.h"
#include "agent/image.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"
#include "port_hit.h"
#include "proc/facts.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#define STUB_BYTES 0x800000u /* as in lib/x86/stubs.S */
#define STUBS (STUB_BYTES / DP_STUB_SIZE)
#define BLOCK_PAGES 64u
#define BLOCK (BLOCK_PAGES * DP_STUBS_A_PAGE)
/* Frames that threads may keep for themselves */
#define KEPT (DP_STACKS * DP_SPARE_FRAMES)

_Static_assert(sizeof(struct dp_frame) == 64, "stubs.S shifts by six");

#pragma GCC visibility push(hidden)
extern u8 dp_stub_room[STUB_BYTES];
extern struct dp_frame dp_frame_room[STUBS];
u64 dp_stub_returned, dp_stub_unwound;
static void (*passed)(u64 number);
static void (*make_bare)(u64 sp, u64 slot, u64 exception);
_Unwind_Reason_Code dp_frame_personality(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context);
#pragma GCC visibility pop

static struct dp_frames frames;
static u64 wanted; /* instances of all return probes */

struct dp_frames *dp_frames(void)
{
	return &frames;
}

static void put32(u8 *at, u32 v)
{
	memcpy(at, &v, sizeof(v));
}

/* Write stub @i to @at, which is not the address where it will run. */
static void write_stub(u8 *at, u32 i)
{
	const u8 *there = &dp_stub_room[(u64)i * DP_STUB_SIZE];

	put32(at, 0x24a48d48); /* lea 152(%rsp), %rsp */
	put32(at + 4, DP_TRACKED_DEPTH + 8);
	at[8] = 0xff; /* call *cont(%rip) */
	at[9] = 0x15;
	put32(at + 10, (u32)((u64)&dp_frame_room[i].cont - (u64)(there + 14)));
	at[14] = 0x68; /* push $i */
	put32(at + 15, i);
	at[19] = 0xff; /* jmp *dp_stub_returned(%rip) */
	at[20] = 0x25;
	put32(at + 21, (u32)((u64)&dp_stub_returned - (u64)(there + 25)));
}

static void write_page(u8 *page, u32 first)
{
	u64 distance = (u64)&dp_frame_room[first] -
		       (u64)&dp_stub_room[(u64)first * DP_STUB_SIZE];
	u32 i;

	memcpy(page, &distance, sizeof(distance));
	for (i = 1; i < DP_STUBS_A_PAGE; i++)
		write_stub(page + i * DP_STUB_SIZE, first + i);
}

static int write_all(int fd, u32 first)
{
	u8 page[DP_PAGE] = { 0 };
	u32 i;

	for (i = 0; i < BLOCK_PAGES; i++) {
		write_page(page, first + i * DP_STUBS_A_PAGE);
		if (write(fd, page, sizeof(page)) != sizeof(page))
			return -ENOMEM;
	}
	return 0;
}

/* Map pages that have never been writable where they are executed. */
static int map_block(u32 first)
{
	void *at = &dp_stub_room[(u64)first * DP_STUB_SIZE];
	int fd = dp_limits_file("return stubs", BLOCK_PAGES * DP_PAGE), err;

	if (fd < 0)
		return fd;
	err = write_all(fd, first);
	if (!err && mmap(at, BLOCK_PAGES * DP_PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		err = -errno;
	close(fd);
	return err;
}

/*
 * V8 reads return addresses to find the code that it has compiled. It has a resolver for
 * profilers, which tells it the true place of a return address.
 */
#define V8_RESOLVER "_ZN2v82V832SetReturnAddressLocationResolverEPFmmE"

static u64 true_location(u64 slot)
{
	struct dp_frame *f = dp_frame_of(*(u64 *)slot);

	return f ? (u64)&f->ret_addr : slot;
}

static void tell_v8(void)
{
	void (*set)(u64(*)(u64)) = dlsym(RTLD_DEFAULT, V8_RESOLVER);

	if (set)
		set(true_location);
}

/* Stubs of new blocks are used after that. */
static void tell(struct dp_pair_facts *f)
{
	f->stubs = frames.stubs;
	f->table = frames.table;
	f->bias = f->stubs - f->table / 2;
	__atomic_store_n(&f->stub_bytes, frames.nr * DP_STUB_SIZE,
			 __ATOMIC_RELEASE);
}

int dp_frames_reserve(u64 n, u64 base, struct dp_pair_facts *facts)
{
	u64 most = STUBS / DP_STUBS_A_PAGE * (DP_STUBS_A_PAGE - 1), usable;
	int err = 0;

	dp_stub_returned = base + dp_agent_return_entry;
	dp_stub_unwound = base + dp_agent_unwound_entry;
	passed = (void (*)(u64))(base + dp_agent_return_passed);
	make_bare = (void (*)(u64, u64, u64))(base + dp_agent_return_bare);
	if (!frames.stubs)
		tell_v8();
	frames.stubs = (u64)dp_stub_room;
	frames.table = (u64)dp_frame_room;
	for (;;) {
		usable = frames.nr / DP_STUBS_A_PAGE * (DP_STUBS_A_PAGE - 1);
		if (usable >= most || usable >= wanted + n + KEPT)
			break;
		err = map_block((u32)frames.nr);
		if (err)
			return err;
		__atomic_store_n(&frames.nr, frames.nr + BLOCK,
				 __ATOMIC_RELEASE);
	}
	tell(facts);
	wanted += n;
	return 0;
}

void dp_frames_release(u64 n)
{
	wanted -= n;
}

struct dp_frame *dp_frame_of(u64 pc)
{
	u64 at = pc - frames.stubs - DP_STUB_BACK;

	if (at >= frames.nr * DP_STUB_SIZE || at % DP_STUB_SIZE)
		return NULL;
	return &dp_frame_room[at / DP_STUB_SIZE];
}

void dp_frame_leave(struct dp_frame *f)
{
	f->state = DP_FRAME_ABANDONED;
	f->next_free = (u32)frames.abandoned;
	frames.abandoned = (frames.abandoned & ~0xffffffffull) + (1ull << 32) +
			   (u64)(f - dp_frame_room);
}

void dp_frame_unbind(struct dp_instance *ri)
{
	struct dp_frame *f = (void *)ri->frame;
	u64 was, next;

	if (!f || f->state != DP_FRAME_BOUND || f->instances != (u64)ri)
		return;
	f->instances = 0;
	f->state = DP_FRAME_FREE;
	/* Hits take from the list meanwhile. */
	was = __atomic_load_n(&frames.free, __ATOMIC_ACQUIRE);
	do {
		f->next_free = (u32)was;
		next = (was & ~0xffffffffull) + (1ull << 32) +
		       (u64)(f - dp_frame_room);
	} while (!__atomic_compare_exchange_n(&frames.free, &was, next, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

static u64 word_at(u64 slot)
{
	u64 now;

	return dp_port_read(&now, slot, sizeof(now)) == sizeof(now) ? now : 0;
}

bool dp_frame_is_there(const struct dp_frame *f)
{
	return dp_frame_of(word_at(f->slot)) == f;
}

u64 dp_frame_home(u64 slot)
{
	u64 now = word_at(slot);
	const struct dp_frame *f = dp_frame_of(now);

	return f ? f->ret_addr : now;
}

/* --- exceptions --- */

/** struct unwinder - functions of an unwinder; @caller: return address of its call; @base: of its module */
struct unwinder {
	const void *caller, *base;
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *);
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr);
	void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word);
	void (*resume)(struct _Unwind_Exception *);
};

/* Each place is written once; a thread takes a place by its number. */
#define UNWINDERS 32
static struct unwinder unwinders[UNWINDERS];
static u32 nr_unwinders, nr_ready;
/* Where modules begin whose unwinder has landings: read by threads that unwind */
static const void *landed[UNWINDERS];
static u32 nr_landed;

static void *of_same(void *handle, const char *name, const void *base)
{
	Dl_info info;
	void *at = dlsym(handle, name);

	return at && dladdr(at, &info) && info.dli_fbase == base ? at : NULL;
}

/* Look up the functions in the calling module, which stays loaded from then on. */
static bool look_up(struct unwinder *u, const void *caller)
{
	Dl_info info;
	struct link_map *map;
	void *handle;

	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP))
		return false;
	handle = dlopen(map->l_name[0] ? map->l_name : NULL,
			RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	u->get_ip = of_same(handle, "_Unwind_GetIP", info.dli_fbase);
	u->set_ip = of_same(handle, "_Unwind_SetIP", info.dli_fbase);
	u->set_gr = of_same(handle, "_Unwind_SetGR", info.dli_fbase);
	u->resume = of_same(handle, "_Unwind_Resume", info.dli_fbase);
	u->caller = caller;
	u->base = info.dli_fbase;
	return u->get_ip && u->set_ip && u->set_gr && u->resume;
}

/* Threads that come here at the same time may each add an entry. */
static void remember(const struct unwinder *u)
{
	u32 i = __atomic_fetch_add(&nr_unwinders, 1, __ATOMIC_RELAXED),
	    ready = i;

	if (i >= UNWINDERS)
		return;
	unwinders[i] = *u;
	while (!__atomic_compare_exchange_n(&nr_ready, &ready, i + 1, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		ready = i;
}

static bool find_unwinder(struct unwinder *u, const void *caller)
{
	u32 i, n = __atomic_load_n(&nr_ready, __ATOMIC_ACQUIRE);

	for (i = 0; i < n; i++)
		if (unwinders[i].caller == caller) {
			*u = unwinders[i];
			return true;
		}
	if (!look_up(u, caller))
		return false;
	remember(u);
	return true;
}

static bool has_landings(const void *base)
{
	u32 n = __atomic_load_n(&nr_landed, __ATOMIC_ACQUIRE), i;

	for (i = 0; i < n; i++)
		if (landed[i] == base)
			return true;
	return false;
}

void dp_frames_let_pass(const void *const *bases, u32 n)
{
	__atomic_store_n(&nr_landed, 0, __ATOMIC_RELEASE);
	if (n > UNWINDERS)
		n = UNWINDERS;
	if (n)
		memcpy(landed, bases, n * sizeof(*bases));
	__atomic_store_n(&nr_landed, n, __ATOMIC_RELEASE);
}

/*
 * While an unwinder searches, the first stub makes way for it where the unwinder has landings: it meets no
 * more stubs then. In the cleanup phase the call has ended. If the unwinder's functions cannot be found, it goes on by itself, and the
 * instance is found abandoned later.
 */
_Unwind_Reason_Code dp_frame_personality(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context)
{
	const void *caller = __builtin_return_address(0);
	struct unwinder u;
	struct dp_frame *f;

	if (version != 1)
		return _URC_FATAL_PHASE1_ERROR;
	if (!find_unwinder(&u, caller))
		return _URC_CONTINUE_UNWIND;
	f = dp_frame_of(u.get_ip(context));
	if (!f)
		return _URC_CONTINUE_UNWIND;
	if (!(actions & _UA_CLEANUP_PHASE)) {
		/* @private_1: of a forced unwind, that nobody catches */
		if (!exception->private_1 && has_landings(u.base))
			make_bare((u64)__builtin_frame_address(0), f->slot,
				  (u64)exception);
		return _URC_CONTINUE_UNWIND;
	}
	/* In the frame that catches, the unwinder has to go through the landing pad: a
	 * stub and its caller look the same to it. */
	if (!(actions & _UA_HANDLER_FRAME) && !dp_frame_wants_to_hear(f)) {
		passed((u64)(f - dp_frame_room));
		return _URC_CONTINUE_UNWIND;
	}
	f->cont = (u64)u.resume;
	u.set_gr(context, __builtin_eh_return_data_regno(0), (u64)exception);
	u.set_gr(context, __builtin_eh_return_data_regno(1),
		 (u64)(f - dp_frame_room));
	u.set_ip(context, (_Unwind_Ptr)dp_frame_pad);
	return _URC_INSTALL_CONTEXT;
}
