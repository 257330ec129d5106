// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * self: the engine of this process.
 *
 * A helper stops all threads for a moment, maps the agent and hooks what libc does
 * with signals; afterwards nobody but ourselves is needed. A fork child has
 * neither probes nor an engine, and may make one of its own.
 *
 * Lock: "the library" (DESIGN.md, Locks).
 */
#define DP_NO_MODULE_NOTE
#include "lib/self.h"
#include "lib/frames.h"
#include "lib/modules.h"
#include "port_raw.h"
#include "agent/image.h"
#include "lib/helper/helper.h"
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"
#include "proc/lodge.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "engine/site/internal.h"
#include "resolve/symbol.h"

#define NAP_NS 50000
#define NAPS_BEFORE_LOOK 200
/* Up its stack, out of a jprobe's handler */
#define JPROBE_AWAY (8u << 20)

struct dp_self dp_self;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner; /* of the lock's process: a child begins anew */
static __thread struct dp_diag last;
static __thread int saved_errno, saved_cancel;
static __thread u64 saved_mask;
/* The hit half finds it by its distance from the thread pointer. */
static __thread u64 stack __attribute__((tls_model("initial-exec")));

struct dp_diag *dp_last(void)
{
	return &last;
}

const struct dp_diag *dp_last_diag(void)
{
	return &last;
}

struct dp_stack *dp_self_stack(void)
{
	return (struct dp_stack *)stack;
}

bool dp_self_in_handler(void)
{
	const struct dp_stack *mine = dp_self_stack();
	u64 here = (u64)__builtin_frame_address(0);
	u32 busy = mine ? __atomic_load_n(&mine->busy, __ATOMIC_RELAXED) : 0;

	if (!busy || busy == DP_BUSY_SELF)
		return false;
	return mine->jumped ||
	       here - ((u64)mine + sizeof(*mine) - DP_STACK_SIZE) <
		       DP_STACK_SIZE;
}

u32 dp_self_vectors(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw"))
		return DP_SAVE_ALL_AVX512;
	return __builtin_cpu_supports("avx") ? DP_SAVE_ALL_AVX :
					       DP_SAVE_ALL_SSE;
}

static s32 from_thread_pointer(const void *variable)
{
	u64 pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return (s32)((s64)((u64)variable - pointer));
}

/* What only the process itself knows. */
static int set_up(struct dp_arena *arena)
{
	struct dp_arena_control *c = &arena->control;

	if (!c->stack_base)
		c->stack_base = dp_stacks_reserve();
	if (!c->stack_base)
		return -ENOMEM;
	c->stack_size = sizeof(struct dp_stack);
	c->self_offset = from_thread_pointer(&stack);
	c->errno_offset = from_thread_pointer(&errno);
	c->vectors = dp_self_vectors();
	c->task = (u64)dp_task_known;
	c->frames = (u64)dp_frames();
	c->handler_before = (u64)dp_handler_before;
	c->handler_after = (u64)dp_handler_after;
	return 0;
}

enum dp_arming dp_self_arming(void)
{
	const char *name = secure_getenv("DPROBES_ARM");

	if (name && !strcmp(name, "trap"))
		return DP_ARM_TRAP;
	return name && !strcmp(name, "quiesce") ? DP_ARM_QUIESCE :
						  DP_ARM_INTERIOR;
}

static int grow_map(void *arg, u64 addr, u64 size)
{
	return dp_code_map(addr, size);
}

static int grow_put(void *arg, u64 addr, const void *code, size_t len)
{
	struct dp_target *target = &dp_self.text.target;

	return target->ops->write(target, addr, code, len);
}

static int grow_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	return dp_holes_find(0, 2 * DP_MAX_POOLS, holes, n);
}

static int grow_stopped(void *arg, const u32 *which, u32 n)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_QUIESCE,
					       .n = n,
					       .arena = (u64)dp_self.arena };
	struct dp_helper_answer answer = { 0 };

	return dp_helper_run(&order, which, &answer, &last);
}

/* Whatever comes or goes until we hold them is seen first. */
static int grow_hold(void *arg, bool stray, int (*work)(void *what), void *what)
{
	int changed, ret;

	while (!dp_symbol_map_hold(dp_self.symbols, work, what, &ret)) {
		changed = dp_symbol_map_refresh(dp_self.symbols, &last);
		if (changed < 0)
			return changed;
		dp_self.changed = true;
		dp_probes_notice_gone();
	}
	return ret;
}

static const struct dp_growth_ops growth_ops = { grow_map, grow_put, grow_holes,
						 grow_stopped, grow_hold };

static int no_memory(int err)
{
	if (err == -EFBIG)
		return dp_diag_set(
			&last, err,
			"this process has no memory for probes: it may have no file large enough, not even in memory (RLIMIT_FSIZE)");
	return dp_diag_set(&last, err, "this process has no memory for probes");
}

static int adopt(u64 base)
{
	struct dp_arena *arena = (void *)(base + DP_ARENA_OFFSET);
	struct dp_live_setup setup = {
		.ops = &growth_ops,
		.arg = &dp_self,
		.call_entry = base + dp_agent_call_entry,
		.detour_entry = base + dp_agent_detour_entry,
		.follow_entry = base + dp_agent_follow_entry,
		.size = arena->control.arena_size,
		.max_sites = arena->control.max_sites,
	};
	struct dp_engine *engine;
	int err = dp_engine_create(&engine);

	if (err)
		return no_memory(err);
	dp_self.arming = dp_self_arming();
	dp_engine_set_arming(engine, dp_self.arming);
	err = dp_engine_adopt(engine, arena, &setup);
	if (!err)
		err = set_up(arena);
	if (err) {
		dp_engine_destroy(engine);
		return no_memory(err);
	}
	dp_live_set_knobs(engine, !dp_self.disarmed, !dp_self.unoptimized);
	dp_self.arena = arena;
	__atomic_store_n(&dp_self.engine, engine, __ATOMIC_RELEASE);
	dp_self_say(true);
	return 0;
}

static int make_engine(void)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_RESIDE,
					       .n = DP_SELF_SITES };
	struct dp_helper_answer answer = { 0 };
	int err = 0;

	/* What the helper has made stays, should the rest fail. */
	if (!dp_self.base) {
		err = dp_helper_run(&order, NULL, &answer, &last);
		__atomic_store_n(&dp_self.base, err ? 0 : answer.base,
				 __ATOMIC_RELEASE);
	}
	return err ? err : adopt(dp_self.base);
}

/* Of each stack: see wait_for() */
static u64 left_at[DP_STACKS];

/* In a fork child, where only this thread has come along: its calls return to where
 * they came from, and the code is the program's own. */
static void leave_parent(void)
{
	struct dp_stack *mine = dp_self_stack();
	struct dp_frame *f;

	if (!dp_self.engine || !dp_self.arena || dp_text_open(&dp_self.text))
		return;
	for (f = mine ? (void *)mine->frames : NULL; f; f = (void *)f->next) {
		if (dp_frame_is_there(f))
			*(u64 *)f->slot = f->ret_addr;
		dp_frame_leave(f);
	}
	if (mine)
		mine->frames = 0;
	dp_live_leave(dp_self.engine, &dp_self.text.target);
	dp_text_close(&dp_self.text);
}

/* What a parent had is none of ours. */
static void begin_anew(void)
{
	leave_parent();
	stack = 0;
	free(dp_self.users);
	dp_engine_destroy(dp_self.engine);
	dp_self = (struct dp_self){ .symbols = dp_self.symbols };
	memset(left_at, 0, sizeof(left_at));
	owner = getpid();
}

/* Another thread may be making one. */
static bool is_made(void)
{
	return __atomic_load_n(&dp_self.engine, __ATOMIC_ACQUIRE);
}

/* A thread that has never come to a probe has no stack yet on which it could say
 * anything. In a fork child they are its parent's. */
static struct dp_stack *claim_stack(void)
{
	struct dp_stack *(*claim)(void);

	if (!is_made() || owner != (pid_t)dp_raw(SYS_getpid, 0, 0, 0, 0, 0))
		return NULL;
	claim = (void *)(dp_self.base + dp_agent_stack_mine);
	return claim();
}

/* What the library calls itself is none of the program's hits. No handler runs
 * meanwhile, so nobody waits for one here; what a handler that was left by
 * siglongjmp has put there is over. */
void dp_self_say(bool self)
{
	struct dp_stack *mine = dp_self_stack();
	u32 from = DP_BUSY_SELF;

	if (self && !mine)
		mine = claim_stack();
	if (!mine || !is_made() || dp_self_in_handler())
		return;
	if (self)
		__atomic_store_n(&mine->busy, DP_BUSY_SELF, __ATOMIC_RELEASE);
	else
		__atomic_compare_exchange_n(&mine->busy, &from, 0, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

#define BIT_OF(sig) (1ull << ((sig)-1))
/* libc's: another thread waits until it is dealt with */
#define SIGNAL_SETXID 33
/* What the processor raises in a handler has to come. */
#define LET_THROUGH                                                           \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGFPE) | BIT_OF(SIGILL) | \
	 BIT_OF(SIGTRAP) | BIT_OF(SIGNAL_SETXID))

/* A signal handler that comes to us again, or leaves by siglongjmp, would find the
 * lock taken for ever, and its hits are the program's. libc's own function for this
 * may be probed itself. */
void dp_self_enter(u64 *mask)
{
	u64 most = ~LET_THROUGH;

	dp_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&most, (long)mask,
	       sizeof(most), 0);
	dp_self_say(true);
}

/* Only what dp_self_enter() has blocked: what an engine catches is not blocked in the
 * kernel any more, if another thread has made one meanwhile. */
void dp_self_leave(u64 mask)
{
	u64 ours = ~LET_THROUGH & ~mask;

	dp_self_say(false);
	dp_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0, sizeof(ours),
	       0);
}

/* A vfork child, whose changes would be its parent's. */
static bool is_borrowed(void)
{
	u64 base = __atomic_load_n(&dp_self.base, __ATOMIC_ACQUIRE);
	const struct dp_wipe *wipe = (void *)(base + DP_WIPE_OFFSET);

	return base && wipe->owner &&
	       wipe->owner != (u32)dp_raw(SYS_getpid, 0, 0, 0, 0, 0);
}

static int open_text(void)
{
	int err = dp_text_open(&dp_self.text);

	if (err)
		dp_diag_set(&last, err,
			    "/proc/thread-self/mem cannot be opened: %s",
			    strerror(-err));
	return err;
}

/* The lock, and names and addresses as they are now. */
int dp_self_begin_names(void)
{
	int err = 0, error, cancel, changed = 0;
	u64 mask;

	if (dp_self_in_handler())
		return dp_diag_set(&last, -EAGAIN,
				   "probes cannot be changed from a handler");
	if (is_borrowed())
		return dp_diag_set(
			&last, -EAGAIN,
			"a vfork child cannot change the probes of its parent");
	dp_self_enter(&mask);
	error = errno;
	dp_diag_clear(&last);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&lock);
	saved_mask = mask;
	saved_errno = error;
	saved_cancel = cancel;
	if (owner != getpid())
		begin_anew();
	if (!dp_self.symbols)
		err = dp_symbol_map_open(&dp_self.symbols, &last);
	else
		changed = dp_symbol_map_refresh(dp_self.symbols, &last);
	if (changed < 0)
		err = changed;
	dp_self.changed |= changed > 0;
	if (err)
		dp_self_end();
	return err;
}

/* What the engine has to know, and to do, before anything else. */
static int catch_up(void)
{
	int err = open_text();

	if (!err)
		dp_probes_notice_gone();
	if (!err &&
	    __atomic_exchange_n(&dp_self.switched_off, false, __ATOMIC_ACQ_REL))
		dp_probes_sweep();
	if (!err)
		dp_report_collect();
	return err;
}

int dp_self_begin(bool make)
{
	int err = dp_self_begin_names();

	if (err)
		return err;
	if (!dp_self.engine)
		err = make ? make_engine() : -ESRCH;
	if (!err)
		err = catch_up();
	if (err)
		dp_self_end();
	return err;
}

int dp_self_begin_look(void)
{
	int err = dp_self_begin_names();

	if (!err && !dp_self.engine) {
		dp_self_end();
		err = -ESRCH;
	}
	return err;
}

int dp_self_begin_any(void)
{
	int err = dp_self_begin_names();

	if (err || !dp_self.engine)
		return err;
	err = catch_up();
	if (err)
		dp_self_end();
	return err;
}

static void leave(void *mask)
{
	dp_self_leave(*(const u64 *)mask);
}

void dp_self_end(void)
{
	int error = saved_errno, cancel = saved_cancel;
	u64 mask = saved_mask;

	if (dp_self.text.mem > 0)
		dp_text_close(&dp_self.text);
	pthread_mutex_unlock(&lock);
	errno = error;
	/* It may end the thread at once, and that is none of ours any more. */
	pthread_cleanup_push(leave, &mask);
	pthread_setcancelstate(cancel, NULL);
	pthread_cleanup_pop(1);
	dp_report_deliver();
}

bool dp_self_busy(void)
{
	if (pthread_mutex_trylock(&lock))
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

static sigset_t fork_blocked; /* by us, of the thread that has the lock */

static void lock_before_fork(void)
{
	u64 most = ~LET_THROUGH, ours;
	sigset_t set, mask;

	sigemptyset(&set);
	memcpy(&set, &most, sizeof(most));
	pthread_sigmask(SIG_BLOCK, &set, &mask);
	dp_self_say(true);
	pthread_mutex_lock(&lock);
	dp_self_say(false);
	memcpy(&ours, &mask, sizeof(ours));
	ours = most & ~ours;
	sigemptyset(&fork_blocked);
	memcpy(&fork_blocked, &ours, sizeof(ours));
}

static void drop_lock(void)
{
	sigset_t blocked = fork_blocked;

	pthread_mutex_unlock(&lock);
	dp_self_say(false);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
}

static void unlock_after_fork(void)
{
	dp_self_say(true);
	drop_lock();
}

static void unlock_in_child(void)
{
	leave_parent();
	drop_lock();
}

static void __attribute__((constructor)) watch_forks(void)
{
	owner = getpid();
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_in_child);
}

static const struct dp_stack *stack_at(u32 i)
{
	return (void *)(dp_self.arena->control.stack_base +
			(u64)(i + 1) * DP_STACK_SIZE - sizeof(struct dp_stack));
}

/* Where a thread is that sleeps. Return: false if it does not. */
static bool ask_kernel(u32 tid, u64 *sp, u64 *pc)
{
	char path[64], text[256], *field;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return false;
	text[n] = '\0';
	field = strrchr(text, ' ');
	if (!field)
		return false;
	*pc = strtoull(field + 1, NULL, 16);
	*field = '\0';
	field = strrchr(text, ' ');
	*sp = field ? strtoull(field + 1, NULL, 16) : 0;
	return *sp;
}

/* Where any thread is: somebody has to stop it for that. */
static bool ask_helper(u32 tid, u64 *sp, u64 *pc)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_LOOK,
					       .n = tid };
	struct dp_helper_answer answer = { 0 };
	struct dp_diag diag;

	if (dp_helper_run(&order, NULL, &answer, &diag))
		return false;
	*sp = answer.base;
	*pc = answer.pc;
	return true;
}

static bool in_engine(u64 pc)
{
	const struct dp_arena_control *c = &dp_self.arena->control;
	u32 i;

	for (i = 0; i < c->nr_pools; i++)
		if (pc - c->pools[i].start < c->pools[i].size)
			return true;
	return pc - dp_self.base < DP_AGENT_TEXT;
}

/* A thread that has left its handler by siglongjmp, or has ended in one, will
 * never say so. On its way in it is not there yet. */
static bool has_left(const struct dp_stack *s)
{
	u64 sp, pc;

	if (syscall(SYS_tgkill, getpid(), s->tid, 0))
		return true;
	if ((!ask_kernel(s->tid, &sp, &pc) && !ask_helper(s->tid, &sp, &pc)) ||
	    in_engine(pc))
		return false;
	if (s->jumped)
		return sp - s->sp - 1 < JPROBE_AWAY;
	return sp - ((u64)s + sizeof(*s) - DP_STACK_SIZE) >= DP_STACK_SIZE &&
	       sp - s->alt_sp >= s->alt_size;
}

/* A thread that is in the library is in none, and may be waiting for us. */
static bool is_in_handler(const struct dp_stack *s)
{
	u32 busy = __atomic_load_n(&s->busy, __ATOMIC_ACQUIRE);

	return busy && busy != DP_BUSY_SELF;
}

/* Looking costs more each time, and finds nothing where a handler is just slow.
 * Who has left has done so until his next hit: @left_at is one more than his
 * hits then. */
static void wait_for(const struct dp_stack *s, u64 *left_at)
{
	const struct timespec nap = { 0, NAP_NS };
	u64 hits = __atomic_load_n(&s->hits, __ATOMIC_ACQUIRE);
	u32 naps, look = 1;

	if (*left_at == hits + 1)
		return;
	for (naps = 1; is_in_handler(s) &&
		       __atomic_load_n(&s->hits, __ATOMIC_ACQUIRE) == hits;
	     naps++) {
		if (naps == look) {
			if (syscall(SYS_tgkill, getpid(), s->tid, 0) ||
			    (look > 1 && has_left(s))) {
				*left_at = hits + 1;
				return;
			}
			look = look > 1 ? look * 2 : NAPS_BEFORE_LOOK;
		}
		nanosleep(&nap, NULL);
	}
}

static bool is_taken(u32 by)
{
	return by && !(by & DP_OWNER_COMES);
}

/* The first one from @i on that some thread has, or NULL. */
static const struct dp_stack *taken_from(u32 *i)
{
	const u32 *owners = (void *)((char *)dp_self.arena +
				     dp_self.arena->control.owner_off);
	u32 n = __atomic_load_n(&dp_self.arena->hit.stacks, __ATOMIC_ACQUIRE);

	for (; *i < n && *i < DP_STACKS; ++*i)
		if (is_taken(__atomic_load_n(&owners[*i], __ATOMIC_ACQUIRE)))
			return stack_at(*i);
	return NULL;
}

bool dp_self_in_hand(u64 start, u64 size)
{
	const struct dp_stack *s;
	u32 i;

	for (i = 0; (s = taken_from(&i)); i++)
		if (s->instance - start < size || s->rest - start < size)
			return true;
	return false;
}

void dp_self_settle(void)
{
	const struct dp_stack *s;
	u32 i;

	/* Who does not see what we have changed is seen to be busy. */
	dp_self.text.target.ops->sync(&dp_self.text.target);
	for (i = 0; (s = taken_from(&i)); i++)
		if (s != dp_self_stack())
			wait_for(s, &left_at[i]);
}
