// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* settle: wait until the handlers that run now have ended. */
#include "lib/self.h"
#include "lib/helper/helper.h"
#include "proc/inspect.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAP_US 50
#define NAPS_BEFORE_LOOK 200
/* A stack pointer at most this far above a jprobe handler's has left the handler */
#define JPROBE_AWAY (8u << 20)

/* By handler stack: see wait_for() */
static u64 left_at[DP_STACKS];
static u64 settled;

static struct dp_stack *stack_at(u32 i)
{
	return (void *)(dp_self.arena->control.stack_base +
			(u64)(i + 1) * DP_STACK_SIZE - sizeof(struct dp_stack));
}

/* Read where a sleeping thread is. Return: false if the thread does not sleep. */
static bool ask_kernel(u32 tid, u64 *sp, u64 *pc)
{
	char text[256], *field;

	if (dp_text_read(dp_path("/proc/self/task/%u/syscall", tid).s, text,
			 sizeof(text)) <= 0)
		return false;
	field = strrchr(text, ' ');
	if (!field)
		return false;
	*pc = strtoull(field + 1, NULL, 16);
	*field = '\0';
	field = strrchr(text, ' ');
	*sp = field ? strtoull(field + 1, NULL, 16) : 0;
	return *sp;
}

/* Read where any thread is; the helper stops the thread for that. */
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

bool dp_self_where(u32 tid, u64 *sp, u64 *pc)
{
	return ask_kernel(tid, sp, pc) || ask_helper(tid, sp, pc);
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

/* Has the thread left its handler by siglongjmp, or ended in it? Such a thread does not
 * clear its busy flag. A thread in the engine may be on its way into a handler. */
static bool has_left(const struct dp_stack *s)
{
	u64 sp, pc;

	if (syscall(SYS_tgkill, getpid(), s->tid, 0))
		return true;
	if (!dp_self_where(s->tid, &sp, &pc) || in_engine(pc))
		return false;
	if (s->jumped)
		return sp - s->sp - 1 < JPROBE_AWAY;
	return sp - ((u64)s + sizeof(*s) - DP_STACK_SIZE) >= DP_STACK_SIZE &&
	       sp - s->alt_sp >= s->alt_size;
}

/* A thread in the library is in no handler, and may be waiting for our lock. */
static bool is_in_handler(const struct dp_stack *s)
{
	u32 busy = dp_stack_busy(s);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return busy && busy != DP_BUSY_SELF;
}

/* Of a handler that was given up nothing but its stack knows. A jprobe's runs elsewhere. */
bool dp_self_handler_over(u64 at, bool look)
{
	u64 base = dp_self.arena ? dp_self.arena->control.stack_base : 0;
	u64 i = (at - base) / DP_STACK_SIZE;

	if (!base || i >= dp_self.arena->control.nr_stacks)
		return false;
	return !is_in_handler(stack_at((u32)i)) ||
	       (look && has_left(stack_at((u32)i)));
}

/* What grows with each use of the stack; never 0 */
static u64 turn_of(const struct dp_stack *s)
{
	return __atomic_load_n(&s->busy, __ATOMIC_ACQUIRE) | DP_BUSY_KINDS;
}

/* A look is costly, and finds nothing if the handler is only slow, so looks become rarer.
 * A thread that has left its handler is not waited for until its next hit: @left_at is
 * its turn at that time. */
static void wait_for(const struct dp_stack *s, u64 *left_at)
{
	u64 turn = turn_of(s);
	u32 naps, look = 1;

	if (*left_at == turn)
		return;
	for (naps = 1; is_in_handler(s) && turn_of(s) == turn; naps++) {
		if (naps == look) {
			if (syscall(SYS_tgkill, getpid(), s->tid, 0) ||
			    (look > 1 && has_left(s))) {
				*left_at = turn;
				return;
			}
			look = look > 1 ? look * 2 : NAPS_BEFORE_LOOK;
		}
		usleep(NAP_US);
	}
}

static bool is_taken(u32 by)
{
	return by && !(by & DP_OWNER_COMES);
}

/* Return: the first stack from @i on that a thread owns, or NULL. */
static struct dp_stack *taken_from(u32 *i)
{
	const u32 *owners = (void *)((char *)dp_self.arena +
				     dp_self.arena->control.owner_off);
	u32 n = __atomic_load_n(&dp_self.arena->hit.stacks, __ATOMIC_ACQUIRE);

	for (; *i < n && *i < dp_self.arena->control.nr_stacks; ++*i)
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

void dp_self_settle_anew(void)
{
	memset(left_at, 0, sizeof(left_at));
}

u64 dp_self_settled(void)
{
	return settled;
}

void dp_self_settle(void)
{
	struct dp_stack *s;
	u32 i;

	/* A thread may note instances of pools that are about to be freed until it has been waited for. */
	for (i = 0; (s = taken_from(&i)); i++)
		dp_stack_forget_turns(s);
	/* After this, a thread that has not seen our change is seen as busy. */
	dp_self.text.target.ops->sync(&dp_self.text.target);
	for (i = 0; (s = taken_from(&i)); i++)
		if (s != dp_self_stack())
			wait_for(s, &left_at[i]);
	settled++;
}
