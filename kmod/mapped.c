// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mapped: clients' probes on files, in every process that maps them. */
#include "kmod/mapped.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "kmod/client.h"
#include "kmod/inode.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "port/kernel/user.h"
#include <dprobes/device.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

/**
 * struct spot - an instruction of a probe
 * @of: whose it is; @onward: it is a jump out of the function, as @jump says, and no hit
 * @entered: the kernel calls @consumer; @fresh: since this call
 */
struct spot {
	struct list_head list;
	struct dp_kmod_mapped *of;
	struct dp_inode_place place;
	struct uprobe_consumer consumer;
	struct dp_site_entry jump;
	bool onward, entered, fresh;
};

/**
 * struct dp_kmod_mapped - a probe on a file
 * @spots: @nr of them, the first of which is a hit
 * @probe, @site: the engine's number and index, once it is planned
 * @vectors: its program reads registers of the floating-point units
 * @tried: it has been wanted before; @why: it cannot be armed, for all that, or NULL
 */
struct dp_kmod_mapped {
	struct list_head spots;
	u32 nr, probe, site;
	bool vectors, tried;
	const char *why;
};

static int hit(DP_COMPAT_UPROBE_HIT)
{
	const struct dp_kmod_mapped *f =
		container_of(self, struct spot, consumer)->of;

	dp_kernel_user_hit(f->site, regs, f->vectors);
	return 0;
}

static int go_on(DP_COMPAT_UPROBE_HIT)
{
	const struct spot *spot = container_of(self, struct spot, consumer);

	dp_kernel_user_onward(spot->of->probe, &spot->jump, regs);
	return 0;
}

static bool is_meant(DP_COMPAT_UPROBE_FILTER)
{
	const struct spot *spot = container_of(self, struct spot, consumer);

	return dp_inode_is_meant(&spot->place, mm, DP_COMPAT_UPROBE_STILL);
}

static int enter(u32 probe, struct dp_kmod_mapped *f)
{
	struct spot *spot;
	int err = 0;

	f->probe = probe;
	f->site = (u32)dp_engine_watch_tag(dp_kmod_engine(), probe) &
		  ((1u << DP_WATCH_INDEX_BITS) - 1);
	list_for_each_entry(spot, &f->spots, list)
	{
		if (spot->entered)
			continue;
		err = dp_inode_enter(&spot->place, &spot->consumer);
		if (err)
			break;
		spot->entered = spot->fresh = true;
	}
	f->why = !err ? NULL :
		 err == -ESTALE || err == -EINVAL ?
			"it cannot be armed: the file has changed" :
			"it cannot be armed: the kernel's uprobes refuse it";
	return err;
}

/* Return: has any been entered that is to go? @all: each is; else what is fresh */
static bool leave(struct dp_kmod_mapped *f, bool all, bool fresh)
{
	struct spot *spot;
	bool some = false;

	list_for_each_entry(spot, &f->spots, list)
	{
		if (spot->entered && (all || (fresh && spot->fresh))) {
			dp_inode_leave(&spot->place, &spot->consumer);
			spot->entered = false;
			some = true;
		}
		spot->fresh = false;
	}
	return some;
}

/* Return: of the next one from *@i on; NULL: no more */
static struct dp_kmod_probe *next(u32 *i)
{
	struct dp_kmod_probe *p = NULL;

	for (; *i < DP_KMOD_PROBES && (!p || !p->mapped); ++*i)
		p = dp_kmod_probe(*i);
	return p && p->mapped ? p : NULL;
}

static bool is_wanted(const struct dp_kmod_probe *p)
{
	return p->armed && p->was;
}

/* As long as one is entered, the kernel keeps its copy of the instruction, also for one that comes. */
static void leave_changed(void)
{
	struct dp_kmod_probe *p;
	struct spot *spot;
	bool some = false, gone;
	u32 i = 0;

	while ((p = next(&i))) {
		gone = false;
		list_for_each_entry(spot, &p->mapped->spots, list) gone |=
			spot->entered && !dp_inode_is_same(&spot->place);
		some |= gone && leave(p->mapped, true, false);
	}
	if (some)
		dp_compat_uprobe_sync();
}

/* What has been armed before, and is not any more, is its own loss. */
static bool is_due(const struct dp_kmod_probe *p, const struct dp_client *c)
{
	return p->client == c && !p->mapped->tried;
}

static int enter_wanted(const struct dp_client *c)
{
	struct dp_kmod_probe *p;
	u32 i = 0;
	int err = 0;

	leave_changed();
	while (!err && (p = next(&i))) {
		err = is_wanted(p) ? enter(i - 1, p->mapped) : 0;
		if (!is_due(p, c))
			err = 0;
	}
	return err;
}

int dp_mapped_apply(const struct dp_client *c, bool any)
{
	int err = any ? enter_wanted(c) : 0;
	struct dp_kmod_probe *p;
	bool some = false, wanted;
	u32 i = 0;

	while ((p = next(&i))) {
		wanted = any && is_wanted(p);
		some |= leave(p->mapped, !wanted || p->mapped->why, err);
		p->mapped->tried = wanted;
	}
	if (some)
		dp_compat_uprobe_sync();
	return err;
}

const char *dp_mapped_reason(const struct dp_kmod_mapped *f)
{
	return f->why ?:
			"it is in a file: the kernel's uprobes are breakpoints";
}

static void free_spot(struct spot *spot)
{
	dp_inode_close(&spot->place);
	kfree(spot);
}

void dp_mapped_free(struct dp_kmod_mapped *f)
{
	struct spot *spot, *more;

	if (!f)
		return;
	list_for_each_entry_safe(spot, more, &f->spots, list) free_spot(spot);
	kfree(f);
}

u32 dp_mapped_count(const struct dp_client *c)
{
	struct dp_kmod_probe *p;
	struct spot *spot;
	u32 i = 0, n = 0;

	while ((p = next(&i)))
		if (p->client == c)
			list_for_each_entry(spot, &p->mapped->spots, list)
				n += spot->entered;
	return n;
}

/* A name may have what begins a line, or ends a word. */
void dp_mapped_show(struct seq_file *m, const struct dp_kmod_mapped *f)
{
	const struct dp_inode_place *place =
		&list_first_entry(&f->spots, struct spot, list)->place;
	struct name_snapshot name;

	take_dentry_name_snapshot(&name, place->path.dentry);
	seq_escape(m, (const char *)name.name.name, " \t\n\\");
	release_dentry_name_snapshot(&name);
	seq_printf(m, "+0x%llx    ", place->at.offset);
}

int dp_mapped_take_vectors(u32 probe)
{
	int err = dp_kmod_enter(false);

	if (err)
		return err;
	dp_kmod_probe(probe)->mapped->vectors = true;
	dp_kmod_leave();
	return 0;
}

static int put(struct dp_client *c, struct dp_kmod_mapped *f, u64 offset,
	       u32 *probe)
{
	int err = dp_kmod_enter(false);

	if (err)
		return err;
	err = dp_kmod_put_mapped(c, offset, probe);
	if (!err)
		dp_kmod_probe(*probe)->mapped = f;
	dp_kmod_leave();
	return err;
}

/* Return: a spot that is no probe's yet; an error pointer */
static struct spot *make_spot(struct file *file, u64 offset, const char **why)
{
	struct spot *spot = kzalloc(sizeof(*spot), GFP_KERNEL);
	int err = spot ? dp_inode_open(&spot->place, file, offset, why) :
			 -ENOMEM;

	if (err) {
		kfree(spot);
		return ERR_PTR(err);
	}
	spot->consumer.handler = hit;
	spot->consumer.filter = is_meant;
	return spot;
}

static void add_spot(struct dp_kmod_mapped *f, struct spot *spot)
{
	spot->of = f;
	list_add_tail(&spot->list, &f->spots);
	f->nr++;
}

int dp_client_add_mapped(struct dp_client *c, struct file *file, u64 offset,
			 u32 *probe, u8 *opcode, const char **why)
{
	struct spot *spot = make_spot(file, offset, why);
	struct dp_kmod_mapped *f;
	int err;

	if (IS_ERR(spot))
		return PTR_ERR(spot);
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		free_spot(spot);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&f->spots);
	add_spot(f, spot);
	*opcode = spot->place.code[0];
	err = put(c, f, offset, probe);
	if (err)
		dp_mapped_free(f);
	return err;
}

/* --- further instructions of a probe --- */

/* A jump leads out of its function, where it is taken. */
static int make_onward(struct spot *spot, const char **why)
{
	const struct dp_inode_place *place = &spot->place;
	struct insn_facts f;
	int err = dp_insn_facts(place->code, place->size, &f);

	if (err || (f.class != DP_INSN_JMP && f.class != DP_INSN_JMP_IND &&
		    f.class != DP_INSN_JCC && f.class != DP_INSN_LOOP)) {
		*why = "no jump is there";
		return -EINVAL;
	}
	spot->jump.class = f.class;
	spot->jump.cc = f.cc;
	memcpy(spot->jump.orig, place->code, sizeof(spot->jump.orig));
	spot->onward = true;
	spot->consumer.handler = go_on;
	return 0;
}

/* With the lock held */
static int join(struct dp_client *c, u32 probe, struct spot *spot,
		const char **why)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);
	const struct spot *first;

	if (!p || p->client != c || !p->mapped || p->armed)
		return -EINVAL;
	first = list_first_entry(&p->mapped->spots, struct spot, list);
	if (first->place.at.inode != spot->place.at.inode) {
		*why = "it is another file than the probe's";
		return -EINVAL;
	}
	if (p->mapped->nr == DP_DEVICE_PLACES) {
		*why = "a probe is at 256 instructions at most";
		return -ENOSPC;
	}
	add_spot(p->mapped, spot);
	return 0;
}

int dp_client_also(struct dp_client *c, u32 probe, struct file *file,
		   u64 offset, bool onward, u8 *opcode, const char **why)
{
	struct spot *spot = make_spot(file, offset, why);
	int err;

	if (IS_ERR(spot))
		return PTR_ERR(spot);
	*opcode = spot->place.code[0];
	err = (onward ? make_onward(spot, why) : 0) ?: dp_kmod_enter(false);
	if (!err) {
		err = join(c, probe, spot, why);
		dp_kmod_leave();
	}
	if (err)
		free_spot(spot);
	return err;
}
