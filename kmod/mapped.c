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
#include <linux/dcache.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

/**
 * struct dp_kmod_mapped - a probe on a file
 * @site: index of the engine's, once it is planned; @entered: the kernel calls @consumer; @fresh: since this call
 * @vectors: its program reads registers of the floating-point units
 */
struct dp_kmod_mapped {
	struct dp_inode_place place;
	struct uprobe_consumer consumer;
	u32 site;
	bool entered, fresh, vectors;
};

static int hit(DP_COMPAT_UPROBE_HIT)
{
	const struct dp_kmod_mapped *f =
		container_of(self, struct dp_kmod_mapped, consumer);

	dp_kernel_user_hit(f->site, regs, f->vectors);
	return 0;
}

static int enter(u32 probe, struct dp_kmod_mapped *f)
{
	int err;

	f->site = (u32)dp_engine_watch_tag(dp_kmod_engine(), probe) &
		  ((1u << DP_WATCH_INDEX_BITS) - 1);
	err = dp_inode_enter(&f->place, &f->consumer);
	f->entered = f->fresh = !err;
	return err;
}

static void leave(struct dp_kmod_mapped *f)
{
	dp_inode_leave(&f->place, &f->consumer);
	f->entered = f->fresh = false;
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

static int enter_wanted(void)
{
	struct dp_kmod_probe *p;
	u32 i = 0;
	int err = 0;

	while (!err && (p = next(&i)))
		if (is_wanted(p) && !p->mapped->entered)
			err = enter(i - 1, p->mapped);
	return err;
}

int dp_mapped_apply(bool any)
{
	int err = any ? enter_wanted() : 0;
	struct dp_kmod_probe *p;
	bool some = false;
	u32 i = 0;

	while ((p = next(&i))) {
		if (p->mapped->entered &&
		    (!any || !is_wanted(p) || (err && p->mapped->fresh))) {
			leave(p->mapped);
			some = true;
		}
		p->mapped->fresh = false;
	}
	if (some)
		dp_compat_uprobe_sync();
	return err;
}

void dp_mapped_free(struct dp_kmod_mapped *f)
{
	if (f)
		dp_inode_close(&f->place);
	kfree(f);
}

u32 dp_mapped_count(const struct dp_client *c)
{
	struct dp_kmod_probe *p;
	u32 i = 0, n = 0;

	while ((p = next(&i)))
		n += p->client == c && p->mapped->entered;
	return n;
}

void dp_mapped_show(struct seq_file *m, const struct dp_kmod_mapped *f)
{
	seq_printf(m, "%pd+0x%llx    ", f->place.path.dentry,
		   f->place.at.offset);
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

static int put(struct dp_client *c, struct dp_kmod_mapped *f, u32 *probe)
{
	int err = dp_kmod_enter(false);

	if (err)
		return err;
	err = dp_kmod_put_mapped(c, (u64)f->place.at.offset, probe);
	if (!err)
		dp_kmod_probe(*probe)->mapped = f;
	dp_kmod_leave();
	return err;
}

int dp_client_add_mapped(struct dp_client *c, struct file *file, u64 offset,
			 u32 *probe, u8 *opcode, const char **why)
{
	struct dp_kmod_mapped *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int err = f ? dp_inode_open(&f->place, file, offset, why) : -ENOMEM;

	if (err) {
		kfree(f);
		return err;
	}
	f->consumer.handler = hit;
	*opcode = f->place.opcode;
	err = put(c, f, probe);
	if (err)
		dp_mapped_free(f);
	return err;
}
