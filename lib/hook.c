// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook: the hooks of this process.
 *
 * They come with modules: a constructor in each announces its own, and a destructor withdraws them.
 * Those of modules that were there before the library are found by a note in the module.
 */
#include "lib/hook.h"
#include "lib/enter.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTENERS 16
#define EVENTS 64
#define NAP_US 50

static int nobody(struct gkh_hook *h, struct gkh_args *a)
{
	return GKH_CONTINUE;
}

struct dp_hook_info *dp_hooks;
static struct dp_hook_module **modules;
static u32 nr_modules;
/* Modules that were left out: what they share with the library is of another version. */
static u32 nr_strange;
static bool exits;

/* "hooks" (DESIGN.md, Locks), and what its holder restores */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u64 saved_mask;
static int saved_errno, saved_cancel;

static gkh_event_fn listeners[LISTENERS];
/* Told at the end of the call that they are of */
static struct event {
	enum gkh_event event;
	struct gkh_hook *hook;
} events[EVENTS];
static u32 nr_events;

static void take_lock(void)
{
	u64 mask;

	dp_self_enter(&mask);
	pthread_mutex_lock(&lock);
	saved_mask = mask;
}

static void drop_lock(void)
{
	u64 mask = saved_mask;

	pthread_mutex_unlock(&lock);
	dp_self_leave(mask);
}

static int not_now(void)
{
	if (dp_self_in_handler())
		return dp_fail(-EAGAIN,
			       "hooks cannot be changed from a handler");
	if (dp_self_is_borrowed())
		return dp_fail(
			-EAGAIN,
			"a vfork child cannot change the hooks of its parent");
	if (!dp_hook_inside_any())
		return 0;
	/* Another thread may wait for this one, or stand still. */
	if (pthread_mutex_trylock(&lock))
		return dp_fail(-EAGAIN, "another thread changes hooks");
	pthread_mutex_unlock(&lock);
	return 0;
}

static int enter(void)
{
	int err = not_now(), error = errno, cancel;
	struct dp_hook_reader *r;

	if (err)
		return err;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	take_lock();
	saved_errno = error;
	saved_cancel = cancel;
	dp_diag_clear(dp_last());
	r = dp_hook_reader();
	if (r)
		dp_hook_quiet(r, true);
	return 0;
}

static void go(void)
{
	struct dp_hook_reader *r = dp_hook_reader();
	int cancel = saved_cancel;

	if (r)
		dp_hook_quiet(r, false);
	dp_hook_text_close();
	errno = saved_errno;
	drop_lock();
	pthread_setcancelstate(cancel, NULL);
}

int dp_hooks_begin(void)
{
	int err = enter();

	if (!err)
		dp_hooks_sweep();
	return err;
}

void dp_hooks_end(void)
{
	struct event told[EVENTS];
	u32 n = nr_events, i, j;

	memcpy(told, events, n * sizeof(*told));
	nr_events = 0;
	go();
	for (i = 0; i < n; i++)
		for (j = 0; j < LISTENERS; j++)
			if (listeners[j])
				listeners[j](told[i].event, told[i].hook);
}

void dp_hooks_pause(void)
{
	go();
}

void dp_hooks_resume(void)
{
	while (enter())
		continue;
}

void dp_hook_tell(enum gkh_event event, struct gkh_hook *h)
{
	if (nr_events < EVENTS)
		events[nr_events++] = (struct event){ event, h };
}

void dp_hook_idle(struct gkh_hook *h)
{
	struct dp_hook_info *info = dp_hook_info(h);

	if (!info || enter())
		return;
	if (h->active)
		dp_hook_tell(GKH_DEACTIVATE, h);
	dp_hook_deactivate(info);
	/* Those who listen are told by the next call: this may be a signal handler. */
	go();
}

const char *dp_hooks_missing(void)
{
	if (nr_strange)
		return "there is no such hook; a module was built with another version of <dprobes/hooks.h>, and its hooks are left out: build it anew";
	return "there is no such hook, or it has not been identified";
}

struct dp_hook_info *dp_hook_named(const char *name)
{
	struct dp_hook_info *info, *found = NULL;

	for (info = dp_hooks; info; info = info->next)
		if (!strcmp(info->hook->name, name))
			found = info;
	return found;
}

static u32 free_number(void)
{
	const struct dp_hook_info *info;
	u32 n = 0;

	for (info = dp_hooks; info;)
		if (info->hook->number == n) {
			n++;
			info = dp_hooks;
		} else {
			info = info->next;
		}
	return n;
}

static struct dp_hook_info *add(struct gkh_hook *h)
{
	struct dp_hook_info *info = calloc(1, sizeof(*info));

	if (!info) {
		dp_fail(-ENOMEM, "out of memory");
		return NULL;
	}
	info->hook = h;
	h->number = free_number();
	info->hits = dp_hook_count(h->number);
	h->priv[0] = info;
	h->priv[1] = NULL;
	h->list = NULL;
	h->active = 0;
	if (h->number < DP_HOOK_COUNTED)
		__atomic_store_n(&h->fast, dp_hook_fast_at(), __ATOMIC_RELEASE);
	__atomic_store_n(&h->dispatch, dp_hook_dispatch, __ATOMIC_RELEASE);
	info->next = dp_hooks;
	dp_hooks = info;
	dp_hook_tell(GKH_IDENTIFY, h);
	return info;
}

static void add_points(const struct dp_hook_module *m, struct gkh_hook *h)
{
	const struct gkh_point *p;
	struct dp_hook_info *info;

	for (p = m->points; p && p < m->points_end; p++) {
		info = dp_hook_info(p->hook);
		if (info && (!h || p->hook == h))
			dp_hook_place_add(info, (u64)&p->at + (u64)(s64)p->at,
					  (u64)&p->to + (u64)(s64)p->to);
	}
}

int gkh_identify(struct gkh_hook *h)
{
	struct dp_hook_info *info = NULL;
	int err;
	u32 i;

	if (!h || !h->name || !*h->name)
		return dp_fail(-EINVAL, "the hook has no name");
	err = dp_hooks_begin();
	if (err)
		return err;
	if (dp_hook_named(h->name))
		err = dp_fail(-EEXIST, "there is a hook %s", h->name);
	else
		info = add(h);
	if (!err && !info)
		err = -ENOMEM;
	for (i = 0; info && i < nr_modules; i++)
		add_points(modules[i], h);
	dp_hooks_end();
	return err;
}

/* Its text is as it was, and no thread is in its exits, unless this is an exit. */
static int drop(struct dp_hook_info *info)
{
	struct dp_hook_info **at;
	int err = dp_hook_orphan(info, 0, ~0ull, true);
	u32 i;

	if (err < 0)
		return err;
	dp_hook_tell(GKH_DELETE, info->hook);
	info->hook->dispatch = nobody;
	info->hook->fast = 0;
	info->hook->priv[0] = NULL;
	for (at = &dp_hooks; *at != info; at = &(*at)->next)
		continue;
	*at = info->next;
	for (i = 0; i < info->nr_places; i++)
		if (info->places[i].probe)
			dp_hook_probe_drop(info->places[i].probe);
	free(info->places);
	free(info);
	return err;
}

int gkh_delete(struct gkh_hook *h, bool force)
{
	struct dp_hook_info *info;
	int err = dp_hooks_begin();

	if (err)
		return err;
	info = dp_hook_info(h);
	if (!info)
		err = dp_fail(-ENOENT, "there is no such hook");
	else if (info->first && !force)
		err = dp_fail(-EBUSY, "hook %s has exits", h->name);
	else
		err = drop(info);
	dp_hooks_end();
	if (!err)
		dp_hook_probes_go();
	return err;
}

int gkh_notify(gkh_event_fn fn)
{
	int err = dp_hooks_begin(), i, room = -1;

	if (err)
		return err;
	for (i = LISTENERS; i--;) {
		if (listeners[i] == fn)
			err = -EEXIST;
		if (!listeners[i])
			room = i;
	}
	if (!err && room < 0)
		err = dp_fail(-ENOSPC, "%d functions are told already",
			      LISTENERS);
	if (!err)
		listeners[room] = fn;
	dp_hooks_end();
	return err;
}

int gkh_notify_end(gkh_event_fn fn)
{
	int err = dp_hooks_begin(), i;

	if (err)
		return err;
	err = dp_fail(-ENOENT, "it is not told of events");
	for (i = 0; i < LISTENERS; i++)
		if (listeners[i] == fn) {
			listeners[i] = NULL;
			err = 0;
		}
	dp_hooks_end();
	return err;
}

struct gkh_hook *gkh_find(const char *name)
{
	struct dp_hook_info *info;
	struct gkh_hook *h = NULL;

	if (dp_hooks_begin())
		return NULL;
	info = dp_hook_named(name);
	if (info)
		h = info->hook;
	dp_hooks_end();
	return h;
}

static u64 hits_of(const struct dp_hook_info *info)
{
	return dp_hook_count(info->hook->number) - info->hits +
	       (u64)info->hook->priv[1];
}

unsigned long gkh_hits(const struct gkh_hook *h)
{
	u64 hits;

	if (dp_hooks_begin())
		return 0;
	hits = dp_hook_info(h) ? hits_of(dp_hook_info(h)) : 0;
	dp_hooks_end();
	return hits;
}

static void say_exit(FILE *f, const struct gkh_rec *rec)
{
	fprintf(f, "  %u ", rec->index);
	if (rec->exit_name)
		fprintf(f, "%s", rec->exit_name);
	else
		fprintf(f, "%p", (const void *)rec);
	fprintf(f, " %d%s\n", dp_hook_is_armed(rec),
		rec->proc_writable ? " writable" : "");
}

/* The text of all lines: the program is told of them when the lock is free. */
static char *say_all(int *n)
{
	const struct dp_hook_info *info;
	const struct gkh_rec *rec;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (*n = 0, info = dp_hooks; info; info = info->next, ++*n) {
		fprintf(f, "%s %s %llu%s\n", info->hook->name,
			info->hook->active ? "active" : "idle",
			(unsigned long long)hits_of(info),
			info->hook->flags & GKH_HOOK_EXCLUSIVE ? " exclusive" :
								 "");
		for (rec = info->first; rec; rec = dp_hook_order_next(rec))
			say_exit(f, rec);
	}
	fclose(f);
	return text;
}

int gkh_list(void (*line)(void *arg, const char *text), void *arg)
{
	int n = 0, err = dp_hooks_begin();
	char *text, *at, *end;

	if (err)
		return err;
	text = say_all(&n);
	dp_hooks_end();
	for (at = text; at && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		line(arg, at);
	}
	free(text);
	return text ? n : -ENOMEM;
}

struct printing {
	char *text;
	size_t size, used;
	unsigned int more;
};

#define MORE_ROOM 32

static void print_line(void *arg, const char *line)
{
	struct printing *p = arg;
	size_t n = strlen(line) + 1;

	if (p->more || p->size - p->used < n + MORE_ROOM) {
		p->more++;
		return;
	}
	memcpy(p->text + p->used, line, n);
	p->used += n;
	p->text[p->used - 1] = '\n';
}

int dp_hooks_print(char *text, size_t size)
{
	struct printing p = { .text = text, .size = size };
	int n = gkh_list(print_line, &p);

	if (p.more)
		p.used += (size_t)snprintf(text + p.used, MORE_ROOM,
					   "... %u more\n", p.more);
	text[p.used] = '\0';
	return n < 0 ? n : 0;
}

struct range {
	u64 inside, start, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *r = arg;
	u64 start = ~0ull, end = 0, at;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		start = at < start ? at : start;
		if (at + info->dlpi_phdr[i].p_memsz > end)
			end = at + info->dlpi_phdr[i].p_memsz;
	}
	if (r->inside - start >= end - start)
		return 0;
	r->start = start;
	r->end = end;
	return 1;
}

/* While exits are waited for, the table of hooks may change. Return: false: nothing is left */
static bool withdraw_one(const struct range *r)
{
	struct dp_hook_info *info;

	for (info = dp_hooks; info; info = info->next) {
		if ((u64)info->hook - r->start < r->end - r->start)
			return drop(info) >= 0;
		if (dp_hook_has_exit(info, r->start, r->end))
			return dp_hook_orphan(info, r->start, r->end, false) >=
			       0;
		dp_hook_places_remove(info, r->start, r->end);
	}
	return false;
}

/* A module goes: with its hooks, with its exits of other hooks, and with places of other hooks in it. */
static void withdraw(struct dp_hook_module *m)
{
	struct range r = { .inside = (u64)m };

	dl_iterate_phdr(find_range, &r);
	while (withdraw_one(&r))
		continue;
}

static void note_exit(void)
{
	exits = true;
}

/* At the end of the process nobody needs what goes, and records may be on stacks that have been left.
 * The dynamic linker's destructors run before what has been registered in constructors, so once more. */
void dp_hooks_watch_exit(void)
{
	static u32 times;

	if (times < 2 && __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) < 2)
		atexit(note_exit);
}

static void gone(struct dp_hook_module *m)
{
	u32 i;

	m->gone = NULL;
	if (exits)
		return;
	/* In an exit, and another thread is at work: it does not wait for this one. */
	while (dp_hooks_begin())
		usleep(NAP_US);
	withdraw(m);
	for (i = 0; i < nr_modules; i++)
		if (modules[i] == m)
			modules[i] = modules[--nr_modules];
	dp_hooks_end();
}

static bool is_known(const struct dp_hook_module *m)
{
	u32 i;

	for (i = 0; i < nr_modules; i++)
		if (modules[i] == m)
			return true;
	return false;
}

static void take_in(struct dp_hook_module *m)
{
	struct dp_hook_module **more;
	struct gkh_hook *const *h;
	u32 i;

	if (m->abi != DP_HOOK_MODULE_ABI) {
		nr_strange++;
		return;
	}
	if (is_known(m))
		return;
	more = realloc(modules, (nr_modules + 1) * sizeof(*modules));
	if (!more)
		return;
	modules = more;
	modules[nr_modules++] = m;
	m->gone = gone;
	for (h = m->hooks; h && h < m->hooks_end; h++)
		if (add(*h))
			for (i = 0; i + 1 < nr_modules; i++)
				add_points(modules[i], *h);
	add_points(m, NULL);
}

void dp_hook_module_note(struct dp_hook_module *m)
{
	if (dp_hooks_begin())
		return;
	take_in(m);
	dp_hooks_end();
}

#define NOTE_NAME "dprobes"

static void read_notes(const char *at, size_t size)
{
	const Elf64_Nhdr *n;
	const char *desc;
	size_t len;

	for (; size >= sizeof(*n); at += len, size -= len) {
		n = (const void *)at;
		desc = at + sizeof(*n) + ((n->n_namesz + 3) & ~3u);
		len = (size_t)(desc - at) + ((n->n_descsz + 3) & ~3u);
		if (len > size)
			return;
		if (n->n_namesz == sizeof(NOTE_NAME) && n->n_type == 1 &&
		    n->n_descsz == 8 &&
		    !memcmp(n + 1, NOTE_NAME, sizeof(NOTE_NAME)))
			take_in((void *)(desc + *(const s32 *)desc));
	}
}

static int find_notes(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes((const char *)info->dlpi_addr +
					   info->dlpi_phdr[i].p_vaddr,
				   info->dlpi_phdr[i].p_filesz);
	return 0;
}

static void in_child(void)
{
	dp_hook_readers_anew();
	dp_hook_hold_anew();
	drop_lock();
}

/* Modules that have been relocated before the library was there have not found it. */
static void __attribute__((constructor(102))) find_modules(void)
{
	pthread_atfork(take_lock, drop_lock, in_child);
	if (dp_hooks_begin())
		return;
	dl_iterate_phdr(find_notes, NULL);
	dp_hooks_end();
}
