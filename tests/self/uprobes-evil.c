// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobes-evil: programs that are probed, and write what they like to the memory that
 * they share with the one that probes them.
 */
#include "tests/self/self.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include <dprobes/uprobes.h>
#include <linux/futex.h>
#include <sys/prctl.h>

/* Nothing that a sanitizer would call is there. */
#define PLAIN __attribute__((no_sanitize_address, no_sanitize_undefined))
#define PLACES 4 /* that one attack uses */
#define DEADLINE_MS 300
#define CANARIES 64
#define HIT_NAP 500

/** struct shared - of it what the program can write, else NULL */
struct shared {
	struct dp_arena_hit *hit;
	struct dp_upcalls *upcalls;
	struct dp_probe_entry *probes;
	struct dp_site_entry *sites;
	char *injected;
};

typedef void attack_fn(const struct shared *s, unsigned int *random);

/* --- in the program that is probed --- */

__attribute__((noipa)) static long probed(long n)
{
	return n * 3 + 1;
}

static volatile unsigned long canaries[CANARIES];
static unsigned long aimed_at;

/* Return: @at, if it can be written. */
static void *writable(void *at)
{
	unsigned long start, end;
	char line[512], perms[8];
	void *found = NULL;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) == 3 &&
		    (unsigned long)at - start < end - start && perms[1] == 'w')
			found = at;
	if (f)
		fclose(f);
	return found;
}

/* The one place that knows where what is. Return: false: it is not there yet. */
static bool find_shared(struct shared *s)
{
	struct dp_arena_control *c = NULL;
	unsigned long start, end;
	char line[512], perms[8];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) == 3 &&
		    perms[0] == 'r' && perms[3] == 's' &&
		    strstr(line, "/memfd:dprobes") &&
		    *(unsigned long *)start == DP_LAYOUT_MAGIC)
			c = (void *)start;
	if (f)
		fclose(f);
	if (!c || !c->upcall_off || !c->nr_sites)
		return false;
	*s = (struct shared){
		.hit = writable(&((struct dp_arena *)c)->hit),
		.upcalls = writable((char *)c + c->upcall_off),
		.probes = writable((char *)c + c->probe_off),
		.sites = writable((char *)c + c->site_off),
		.injected = c->injected_base ?
				    writable((void *)c->injected_base) :
				    NULL,
	};
	return true;
}

static void wake(const struct shared *s)
{
	__atomic_fetch_add(&s->upcalls->calls, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->upcalls->calls, FUTEX_WAKE, 8, NULL, NULL, 0);
}

/* An address of its choice, wherever control may look for one. */
static void give_addresses(const struct shared *s, unsigned int *random)
{
	unsigned int i;

	for (i = 0; s->probes && i < 16; i++) {
		struct dp_probe_entry *p = &s->probes[i];

		p->instance_pool = p->nmissed = p->pre = p->post = aimed_at;
		p->next = p->site = draw(random);
	}
	for (i = 0; s->sites && i < 16; i++) {
		s->sites[i].fast = s->sites[i].enable_word = aimed_at;
		s->sites[i].first_probe = draw(random);
		s->sites[i].patch_len = (u8)draw(random);
	}
}

static void claim(const struct shared *s, u32 place, u32 probe, u32 tid)
{
	struct dp_upcall *upcall = &s->upcalls->v[place];
	struct pt_regs *regs = (void *)upcall->regs;

	regs->ip = (unsigned long)probed;
	regs->di = place;
	upcall->probe = probe;
	upcall->tid = tid;
	if (s->upcalls->high < PLACES)
		s->upcalls->high = PLACES;
	__atomic_store_n(&upcall->state, DP_UPCALL_REQUESTED, __ATOMIC_SEQ_CST);
	wake(s);
}

/* Hits that have not happened, of any probe and any thread of the system. */
static void claim_hits(const struct shared *s, unsigned int *random)
{
	static const u32 probes[] = { 0, 1, 2, 3, 77, 0x7fffffff, ~0u };
	const u32 tids[] = { 0,		1, ~0u, (u32)getppid(), (u32)gettid(),
			     0x7fffffff };

	s->upcalls->high = draw(random) % 3 ? DP_UPCALLS : ~0u;
	claim(s, draw(random) % PLACES, probes[draw(random) % 7],
	      tids[draw(random) % 6]);
}

/* The same place again and again, while its handler runs. */
static void claim_again(const struct shared *s, unsigned int *random)
{
	u32 i;

	for (i = 0; i < PLACES; i++)
		claim(s, i, draw(random) % 2, (u32)gettid());
}

/* As if a handler that was put there never came to its end. */
static void never_end(const struct shared *s, unsigned int *random)
{
	u32 i;

	for (i = 0; s->injected && i < DP_INJECTED_MAX; i++)
		*(volatile u32 *)(s->injected + i * DP_INJECTED_SIZE) =
			1 + i % 4;
}

/* What would tell threads to end is taken back. */
static void take_back(const struct shared *s, unsigned int *random)
{
	int i;

	for (i = 0; i < 1000; i++)
		*(volatile u32 *)&s->upcalls->calls = 7;
}

static void claim_filters(const struct shared *s, unsigned int *random)
{
	if (!s->hit)
		return;
	__atomic_store_n(&s->hit->filter_ask,
			 (u64)draw(random) << DP_FILTER_NUMBER | 8,
			 __ATOMIC_SEQ_CST);
	wake(s);
}

/* All that it can write. */
static void write_all(const struct shared *s, unsigned int *random)
{
	unsigned long start, end, at;
	char line[512], perms[8];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) != 3 ||
		    strcmp(perms, "rw-s") || !strstr(line, "dprobes"))
			continue;
		if (end - start > 1 << 20)
			end = start + (1 << 20);
		for (at = start; at < end; at += 8)
			if (draw(random) % 4 == 0)
				*(volatile u64 *)at = (u64)draw(random) << 40 ^
						      draw(random);
	}
	if (f)
		fclose(f);
}

static void *attack(void *arg)
{
	unsigned int random = (unsigned int)getpid();
	struct shared s = { 0 };
	attack_fn *act = arg;

	while (!find_shared(&s))
		usleep(200);
	for (;;) {
		/* Behind the first look another one may be there. */
		if (act == never_end || act == write_all)
			find_shared(&s);
		if (s.upcalls)
			act(&s, &random);
		if (act != take_back)
			usleep(50);
	}
	return NULL;
}

static pid_t begin_evil(attack_fn *act, bool calls)
{
	pthread_t thread;
	pid_t pid = fork();
	long i;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, attack, act);
	for (i = 0;; i++) {
		if (calls)
			probed(i);
		usleep(HIT_NAP);
	}
}

/* --- in the one that probes it --- */

static struct uprobe here, there;
static pid_t evil;
static volatile long calls, wrong;
static long inside, most;

static void note(struct uprobe *u, struct pt_regs *regs)
{
	calls++;
	if (u != &here || regs->ip != (unsigned long)probed ||
	    current->tgid != evil || syscall(SYS_tgkill, evil, current->pid, 0))
		wrong++;
}

static void dawdle(struct uprobe *u, struct pt_regs *regs)
{
	long n = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST), was = most;

	while (was < n &&
	       !__atomic_compare_exchange_n(&most, &was, n, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	usleep(20000);
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static volatile long counted;

static void PLAIN count(struct uprobe *u, struct pt_regs *regs)
{
	counted++;
}

static long threads(void)
{
	char line[256];
	long n = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Threads: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static bool unspoiled(void)
{
	int i;

	for (i = 0; i < CANARIES; i++)
		if (canaries[i] !=
		    0x1111111111111111ul * (unsigned long)(i % 8 + 1))
			return false;
	return true;
}

static void lay_canaries(void)
{
	int i;

	for (i = 0; i < CANARIES; i++)
		canaries[i] = 0x1111111111111111ul * (unsigned long)(i % 8 + 1);
}

/** struct game - one program after the other, all with one aim
 *  @interrupt: a handler is put into it, too; @spoils: it may ruin itself before it is
 *              probed */
struct game {
	const char *what;
	attack_fn *act;
	uprobe_handler_t handler;
	bool calls, interrupt, spoils;
	long ms, limit; /* threads */
};

static int set_probes(const struct game *g)
{
	int err;

	here = (struct uprobe){ .pid = evil,
				.vaddr = (unsigned long)probed,
				.deadline_ms = DEADLINE_MS,
				.handler = g->handler };
	there = here;
	there.handler = count;
	there.handler_in_interrupt = 1;
	err = register_uprobe(&here);
	if (!err && g->interrupt)
		err = register_uprobe(&there);
	return err;
}

static int play(const struct game *g)
{
	struct dp_uprobe_account account;
	long before = threads(), naps;
	int err;

	evil = begin_evil(g->act, g->calls);
	EXPECT(evil > 0);
	err = set_probes(g);
	EXPECT(!err || g->spoils);
	for (naps = 0; naps < g->ms; naps++) {
		usleep(1000);
		EXPECT(!g->limit || threads() <= before + g->limit);
	}
	dp_uprobe_account(&here, &account);
	unregister_uprobe(&there);
	unregister_uprobe(&here);
	EXPECT(unspoiled());
	EXPECT(!counted && !wrong);
	for (naps = 0; threads() > before && naps < 800; naps++)
		usleep(10000);
	EXPECT(threads() == before);
	kill(evil, SIGKILL);
	EXPECT(waitpid(evil, NULL, 0) == evil);
	return 0;
}

static long how_many(void)
{
	long n = amount("ROUNDS", 10);

	return n < 200 ? n : 200;
}

static int rounds(void *arg)
{
	const struct game *g = arg;
	long n = how_many(), i;
	int err = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lay_canaries();
	aimed_at = (unsigned long)&canaries[8];
	for (i = 0; i < n && !err; i++)
		err = play(g);
	/* No thread has more than one of these places. */
	EXPECT(most <= PLACES);
	EXPECT(g->act != claim_again || most > 1);
	EXPECT(g->act != claim_hits || calls > 0);
	return err;
}

int main(void)
{
	static const struct game games[] = {
		{ "addresses in tables are not followed", give_addresses, note,
		  true, true, true, 10, 0 },
		{ "claimed hits get no handler but the probe's own, of no thread but its own",
		  claim_hits, note, false, true, false, 20, 0 },
		{ "one place has one handler", claim_again, dawdle, false,
		  false, false, 60, 2 * PLACES + 8 },
		{ "a handler that never ends is not waited for", never_end,
		  note, true, true, false, 5, 0 },
		{ "threads end although their end is taken back", take_back,
		  note, true, false, false, 10, 0 },
		{ "claimed filters make no threads", claim_filters, note, false,
		  false, true, 20, 16 },
		{ "anything anywhere", write_all, note, true, true, true, 20,
		  2 * DP_UPCALLS },
	};
	size_t i;

	for (i = 0; i < sizeof(games) / sizeof(*games); i++)
		ok_child(rounds, (void *)&games[i], 30 + 5 * (int)how_many(),
			 games[i].what);
	return plan();
}
