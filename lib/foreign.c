// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign: a process that this one probes.
 *
 * What stops its threads is done aside, so that this program sees no SIGCHLD and no
 * child that it does not know.
 */
#define DP_NO_MODULE_NOTE
#include "lib/foreign.h"
#include "lib/aside.h"
#include "lib/self.h"
#include "lib/there.h"
#include "engine/insn/insn.h"
#include "engine/control/strategy.h"
#include "proc/confine.h"
#include "proc/lodge.h"
#include "proc/proc.h"
#include "proc/reside.h"
#include "proc/ground.h"
#include "sym/sym.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_MAX 32
#define MAX_SITES 16384
#define RESTORER_BACK 7
#define OURS "/memfd:dprobes"

pthread_mutex_t dp_foreign_state = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t dp_foreign_changed = PTHREAD_COND_INITIALIZER;
static struct dp_foreign *all;

/** struct change - probes that come, or go, while nothing else does
 *  @done: how many have been added; @err: what came of it */
struct change {
	struct dp_foreign *f;
	struct dp_client **clients;
	u32 *indexes;
	u32 n, done;
	int err;
	struct dp_target *target;
	struct dp_grounds grounds;
	struct dp_maps maps;
	struct dp_range *rseq; /* of module @rseq_of */
	size_t nr_rseq;
	const struct dp_module *rseq_of;
};

static int refuse(const struct change *ch, u64 addr, int err, const char *why)
{
	return dp_diag_set(dp_last(), err,
			   "0x%llx of process %d cannot be probed: %s",
			   (unsigned long long)addr, ch->f->pid, why);
}

static void mend(void *engine, u64 addr, u8 *code, size_t size)
{
	dp_live_originals(engine, addr, code, size);
}

/* As it is without our probes. Return: how many bytes. */
static size_t read_code(const struct change *ch, u64 addr, u8 *code)
{
	size_t n = CODE_MAX;

	while (n && ch->target->ops->read(ch->target, addr, code, n))
		n--;
	mend(ch->f->engine, addr, code, n);
	return n;
}

static int check_mapping(const struct change *ch, u64 addr)
{
	const struct dp_map *m = dp_maps_find(&ch->maps, addr);

	if (!m)
		return refuse(ch, addr, -EFAULT, "nothing is mapped there");
	if (m->perms[2] != 'x')
		return refuse(ch, addr, -EINVAL, "what is there is no code");
	if (!strncmp(m->path, OURS, strlen(OURS)))
		return refuse(ch, addr, -EINVAL, "it is generated code");
	return 0;
}

static int check_rseq(struct change *ch, u64 addr)
{
	const struct dp_module *m = dp_module_at(ch->grounds.mods, addr);
	size_t i;

	if (m && m != ch->rseq_of) {
		free(ch->rseq);
		ch->rseq = NULL;
		ch->rseq_of = m;
		if (dp_module_rseq(ch->grounds.mods, m, &ch->rseq,
				   &ch->nr_rseq))
			return refuse(ch, addr, -ENOMEM, "out of memory");
	}
	for (i = 0; m && i < ch->nr_rseq; i++)
		if (addr >= ch->rseq[i].start && addr < ch->rseq[i].end)
			return refuse(
				ch, addr, -EINVAL,
				"it lies in a restartable sequence (rseq), which a probe would always abort");
	return 0;
}

static int check_restorer(const struct change *ch, u64 addr)
{
	u8 code[CODE_MAX];
	u32 back;

	for (back = 0; back <= RESTORER_BACK; back += RESTORER_BACK)
		if (dp_insn_is_restorer(code, read_code(ch, addr - back, code)))
			return refuse(
				ch, addr, -EINVAL,
				"signal return code is recognised by its bytes");
	return 0;
}

static int check(struct change *ch, u64 addr)
{
	int err = check_mapping(ch, addr);

	if (!err && !dp_ground_begins(&ch->grounds, addr))
		err = refuse(ch, addr, -EILSEQ, "no instruction begins there");
	if (!err)
		err = check_rseq(ch, addr);
	if (!err)
		err = check_restorer(ch, addr);
	return err;
}

static void allow(struct change *ch, u32 probe, u64 addr)
{
	if (!dp_live_is_new(ch->f->engine, probe))
		return;
	if (ch->grounds.arming == DP_ARM_TRAP)
		dp_engine_forbid_jump(ch->f->engine, probe,
				      "breakpoints were asked for");
	else
		dp_ground_allow(&ch->grounds, ch->f->engine, probe, addr);
}

static int enter(struct dp_foreign *f, struct dp_client *c)
{
	u32 want = f->nr_clients ? f->nr_clients : 16;
	struct dp_client **bigger;

	while (want <= c->index)
		want *= 2;
	pthread_mutex_lock(&dp_foreign_state);
	bigger = want > f->nr_clients ?
			 realloc(f->clients, want * sizeof(*bigger)) :
			 f->clients;
	if (bigger) {
		memset(bigger + f->nr_clients, 0,
		       (want - f->nr_clients) * sizeof(*bigger));
		f->clients = bigger;
		f->nr_clients = want;
		f->clients[c->index] = c;
	}
	pthread_mutex_unlock(&dp_foreign_state);
	return bigger ? 0 : -ENOMEM;
}

/* What the dynamic linker has loaded for the program stays as long as the process. */
static bool may_go(const struct change *ch, u64 addr)
{
	struct dp_modules *mods = ch->grounds.mods;
	const struct dp_module *m = dp_module_at(mods, addr);

	return !m || !dp_module_stays(mods, m);
}

static int add_one(struct change *ch, struct dp_client *c)
{
	struct dp_handlers handlers = { .kind = DP_KIND_ASK,
					.deadline = c->deadline,
					.user = (u64)c };
	struct dp_found found = { .stray = may_go(ch, c->addr) };
	const char *why = "";
	u8 code[CODE_MAX];
	int err = check(ch, c->addr);

	if (!err && c->interrupt) {
		handlers.kind = DP_KIND_THERE;
		err = dp_there_put(c, &handlers.pre, &handlers.user,
				   &handlers.pre_needs);
	}
	if (err)
		return err;
	c->user = handlers.user;
	found.x87 = c->interrupt && dp_ground_x87(&ch->grounds, c->addr);
	found.code = code;
	found.size = read_code(ch, c->addr, code);
	if (!found.size)
		return refuse(ch, c->addr, -EFAULT, "it cannot be read");
	dp_texts_add(&dp_engine_arena(ch->f->engine)->control, ch->f->pid,
		     c->addr);
	err = dp_live_add(ch->f->engine, c->addr, &found, &handlers, true,
			  &c->index, &why);
	if (err)
		return refuse(ch, c->addr, err, why);
	allow(ch, c->index, c->addr);
	ch->indexes[ch->done++] = c->index;
	c->linked = true;
	err = enter(ch->f, c);
	return err ? refuse(ch, c->addr, err, "out of memory") : 0;
}

static int open_change(struct change *ch)
{
	struct dp_foreign *f = ch->f;
	int err = dp_lodge_begin(f->proc, &ch->target, dp_last());

	if (err)
		return err;
	ch->grounds = (struct dp_grounds){ .arming = dp_self_arming(),
					   .mend = mend,
					   .arg = f->engine };
	err = dp_modules_open(f->pid, dp_process_mem(f->proc),
			      &ch->grounds.mods, dp_last());
	if (!err && dp_maps_read(f->pid, &ch->maps))
		err = dp_diag_set(dp_last(), -ESRCH, "process %d has ended",
				  f->pid);
	if (err)
		dp_lodge_end(f->proc);
	return err;
}

static void close_change(struct change *ch)
{
	dp_lodge_end(ch->f->proc);
	dp_maps_free(&ch->maps);
	dp_modules_close(ch->grounds.mods);
	dp_grounds_close(&ch->grounds);
	free(ch->rseq);
}

static int commit(struct change *ch)
{
	u32 bad = 0;
	int err = dp_live_commit(ch->f->engine, ch->target, ch->indexes, ch->n,
				 &bad);

	if (!err)
		return 0;
	return refuse(ch, ch->clients[bad]->addr, err,
		      err == -EBUSY ?
			      "somebody else has changed the code there" :
		      err == -EFAULT ? "the code there has gone" :
		      err == -ENOMEM ? "there is no memory near it" :
				       "its code cannot be written to");
}

static void drop(struct dp_foreign *f, u32 index)
{
	pthread_mutex_lock(&dp_foreign_state);
	if (index < f->nr_clients)
		f->clients[index] = NULL;
	pthread_mutex_unlock(&dp_foreign_state);
}

static void undo(struct change *ch)
{
	u32 i;

	dp_live_remove(ch->f->engine, ch->target, ch->indexes, ch->done);
	for (i = 0; i < ch->done; i++) {
		drop(ch->f, ch->indexes[i]);
		dp_live_forget(ch->f->engine, ch->indexes[i]);
	}
}

static void add(void *arg)
{
	struct change *ch = arg;
	u32 i;

	ch->err = open_change(ch);
	if (ch->err)
		return;
	for (i = 0; i < ch->n && !ch->err; i++)
		ch->err = add_one(ch, ch->clients[i]);
	if (!ch->err)
		ch->err = commit(ch);
	if (ch->err)
		undo(ch);
	close_change(ch);
}

static int no_thread(int err)
{
	return dp_diag_set(dp_last(), err,
			   "no thread can be made that would do it: %s",
			   strerror(-err));
}

int dp_foreign_add(struct dp_foreign *f, struct dp_client **clients, u32 n)
{
	struct change ch = { .f = f, .clients = clients, .n = n };
	int err;

	ch.indexes = calloc(n, sizeof(*ch.indexes));
	if (!ch.indexes)
		return dp_diag_set(dp_last(), -ENOMEM, "out of memory");
	err = dp_aside(add, &ch);
	free(ch.indexes);
	if (err)
		return no_thread(err);
	if (!ch.err)
		f->live += n;
	return ch.err;
}

static void remove_all(void *arg)
{
	struct change *ch = arg;

	ch->err = dp_lodge_begin(ch->f->proc, &ch->target, dp_last());
	if (ch->err)
		return;
	dp_live_remove(ch->f->engine, ch->target, ch->indexes, ch->n);
	dp_lodge_end(ch->f->proc);
}

void dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients, u32 n)
{
	u32 indexes[n], i;
	struct change ch = { .f = f, .indexes = indexes, .n = n };

	for (i = 0; i < n; i++) {
		indexes[i] = clients[i]->index;
		dp_live_switch_off(f->engine, indexes[i], clients[i]->user);
	}
	if (f->gone || dp_aside(remove_all, &ch) || ch.err)
		return;
	for (i = 0; i < n; i++)
		clients[i]->linked = false;
}

void dp_foreign_retire(struct dp_client *c)
{
	struct dp_foreign *f = c->at;

	drop(f, c->index);
	if (!f->gone && !c->linked)
		dp_live_forget(f->engine, c->index);
	f->live--;
}

struct errand {
	pid_t pid;
	struct dp_lodging how;
	struct dp_process *proc;
	int err;
};

static void lodge(void *arg)
{
	struct errand *e = arg;

	e->err = dp_process_lodge(e->pid, &e->how, &e->proc, dp_last());
}

static void leave(void *arg)
{
	struct errand *e = arg;

	e->err = dp_process_detach(e->proc, dp_last());
}

static struct dp_foreign *make(struct errand *e)
{
	struct dp_foreign *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pid = e->pid;
	f->proc = e->proc;
	f->engine = dp_lodge_engine(e->proc);
	f->asks = dp_live_asks(f->engine, &f->nr_asks);
	f->refs = 1;
	f->stop = -1;
	f->occupied = calloc(f->nr_asks, sizeof(*f->occupied));
	if (f->occupied)
		return f;
	free(f);
	return NULL;
}

static int make_served(struct errand *e, struct dp_foreign **f)
{
	int err;

	*f = make(e);
	err = *f ? dp_serve_begin(*f) : -ENOMEM;
	if (!err)
		return 0;
	dp_aside(leave, e);
	if (*f)
		dp_foreign_put(*f);
	else
		dp_process_close(e->proc);
	return no_thread(err);
}

static struct dp_foreign **find(pid_t pid)
{
	struct dp_foreign **f = &all;

	while (*f && (*f)->pid != pid)
		f = &(*f)->next;
	return f;
}

static void unlink_from_all(struct dp_foreign *f)
{
	struct dp_foreign **at = &all;

	while (*at && *at != f)
		at = &(*at)->next;
	if (*at)
		*at = f->next;
}

int dp_foreign_get(pid_t pid, struct dp_foreign **f)
{
	struct errand e = { .pid = pid,
			    .how = { .tool = getpid(),
				     .max_sites = MAX_SITES,
				     .asks = DP_ASKS,
				     .arming = dp_self_arming() } };
	int err;

	*f = *find(pid);
	if (*f)
		dp_foreign_look(*f);
	*f = *find(pid);
	if (*f)
		return 0;
	err = dp_aside(lodge, &e);
	err = err ? no_thread(err) : e.err;
	if (!err)
		err = make_served(&e, f);
	if (err)
		return err;
	(*f)->next = all;
	all = *f;
	return 0;
}

void dp_foreign_tidy(struct dp_foreign *f)
{
	struct errand e = { .proc = f->proc };

	if (f->live || f->ending)
		return;
	unlink_from_all(f);
	dp_process_hold_asking(f->proc, true);
	dp_serve_end(f);
	if (!f->gone)
		dp_aside(leave, &e);
	dp_foreign_put(f);
}

void dp_foreign_look(struct dp_foreign *f)
{
	if (f->gone || f->ending ||
	    dp_process_poll(f->proc, 0) == DP_PROCESS_RUNS)
		return;
	f->gone = true;
	dp_clients_lose(f);
	dp_foreign_tidy(f);
}

void dp_foreign_confine(struct dp_foreign *f)
{
	struct errand e = { .proc = f->proc };

	if (f->gone || f->ending || !dp_process_confined(f->proc))
		return;
	dp_aside(leave, &e);
	f->gone = true;
	dp_clients_lose(f);
	dp_foreign_tidy(f);
}

/* Its process is left already, or not there any more. */
void dp_foreign_put(struct dp_foreign *f)
{
	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		return;
	dp_process_abandon(f->proc);
	if (f->stop >= 0)
		close(f->stop);
	dp_there_free(f);
	free(f->occupied);
	free(f->clients);
	free(f);
}

int dp_foreign_read(pid_t pid, u64 addr, u8 *code, size_t n)
{
	struct dp_foreign *f;
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -EFAULT;
	dp_foreign_lock();
	got = pread(fd, code, n, (off_t)addr);
	f = *find(pid);
	if (f && got == (ssize_t)n)
		dp_live_originals(f->engine, addr, code, n);
	dp_foreign_unlock();
	close(fd);
	return got == (ssize_t)n ? 0 : -EFAULT;
}

void dp_foreign_account(const struct dp_client *c,
			struct dp_uprobe_account *account)
{
	struct dp_engine *e = c->at->engine;

	account->late = dp_engine_tally(e, c->index, DP_TALLY_UNANSWERED);
	account->missed = dp_engine_tally(e, c->index, DP_TALLY_CONTEXT) +
			  dp_engine_tally(e, c->index, DP_TALLY_UNHEARD);
	account->hits = dp_live_hits(e, c->index) +
			dp_engine_tally(e, c->index, DP_TALLY_CONTEXT);
}

void dp_foreign_leave_all(void)
{
	while (all) {
		struct dp_foreign *f = all;
		struct errand e = { .proc = f->proc };

		all = f->next;
		dp_process_hold_asking(f->proc, true);
		dp_serve_end(f);
		if (dp_process_poll(f->proc, 0) == DP_PROCESS_RUNS)
			dp_aside(leave, &e);
	}
}

void dp_foreign_forget_all(void)
{
	while (all) {
		struct dp_foreign *f = all;

		all = f->next;
		f->refs = 1;
		dp_foreign_put(f);
	}
}
