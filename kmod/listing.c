// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listing: all probes that there are, as the kernel lists its own.
 *
 *     ADDR  KIND  FUNCTION+OFFSET  MODULE [WATCH/8:w][GONE][DISABLED][OPTIMIZED][PENDING]
 *
 * Lock: the session's, while a piece is made, and not while the reader gets it. So probes that come and go
 * meanwhile may be missing, and none is twice.
 */
#include "engine/site/live.h"
#include "kmod/files.h"
#include "kmod/kprobes.h"
#include "kmod/mapped.h"
#include "kmod/safe.h"
#include "kmod/table.h"
#include "kmod/watches.h"
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

/* What a client has added, and not asked for yet, is not there. */
static bool is_listed(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return p && (!p->client || p->armed);
}

static void *find_from(loff_t *at)
{
	while (*at < DP_KMOD_PROBES && !is_listed((u32)*at))
		++*at;
	return *at < DP_KMOD_PROBES ? at : NULL;
}

static void *start(struct seq_file *m, loff_t *at)
{
	/* Without an engine there is no lock to be released. */
	m->private = dp_kmod_enter(false) ? NULL : m;
	return m->private ? find_from(at) : NULL;
}

static void *next(struct seq_file *m, void *v, loff_t *at)
{
	++*at;
	return find_from(at);
}

static void stop(struct seq_file *m, void *v)
{
	if (m->private)
		dp_kmod_leave();
	m->private = NULL;
}

/* "MODULE:FUNCTION[+OFFSET]", as it was asked for */
static void show_pending(struct seq_file *m, const char *name)
{
	const char *colon = strchr(name, ':');

	seq_printf(m, "%s%s  %.*s ", colon + 1,
		   strchr(colon, '+') ? "" : "+0x0", (int)(colon - name), name);
}

static void show_place(struct seq_file *m, const struct dp_kmod_probe *p)
{
	char *label = p->addr && p->state == DP_KMOD_THERE ?
			      dp_told_label(p->addr) :
			      NULL;

	if (p->mapped) {
		dp_mapped_show(m, p->mapped);
		return;
	}
	if (p->state == DP_KMOD_PENDING)
		show_pending(m, p->name);
	else if (label || p->label)
		seq_printf(m, "%s ", label ?: p->label);
	else
		seq_puts(m, "?+0x0    ");
	kfree(label);
}

static void show_data(struct seq_file *m, const struct dp_kmod_probe *p)
{
	struct dp_data d;

	if (!p->watch)
		return;
	d = dp_watch_data(p->watch);
	seq_printf(m, "[WATCH/%u:%s]", d.len, d.reads ? "rw" : "w");
}

static int show(struct seq_file *m, void *v)
{
	u32 probe = (u32) * (loff_t *)v;
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);
	bool there = p->state == DP_KMOD_THERE, on = p->on;
	char kind = p->data    ? 'w' :
		    p->mapped  ? 'u' :
		    p->returns ? 'r' :
				 dp_kprobes_kind(probe, &on);

	seq_printf(m, "%016llx  %c  ",
		   dp_safe_shows(m->file->f_cred) ? p->addr : 0, kind);
	show_place(m, p);
	show_data(m, p);
	seq_printf(m, "%s%s%s%s\n", p->state == DP_KMOD_GONE ? "[GONE]" : "",
		   there && !on ? "[DISABLED]" : "",
		   there && !p->mapped &&
				   dp_live_optimized(dp_kmod_engine(), probe) ?
			   "[OPTIMIZED]" :
			   "",
		   p->state == DP_KMOD_PENDING ? "[PENDING]" : "");
	return 0;
}

static const struct seq_operations operations = {
	.start = start,
	.next = next,
	.stop = stop,
	.show = show,
};

int dp_list_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &operations);
}
