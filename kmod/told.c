// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* told: what files tell of the kernel's text: names of places, and where no probe may be. */
#include "kmod/files.h"
#include "kmod/safe.h"
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

/* "name+0x10/0x40 [module]" */
char *dp_told_label(u64 addr)
{
	char symbol[KSYM_SYMBOL_LEN], *slash, *bracket;

	sprint_symbol(symbol, (unsigned long)addr);
	slash = strrchr(symbol, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	bracket = strchr(slash + 1, '[');
	return kasprintf(GFP_KERNEL, "%s  %.*s", symbol,
			 bracket ? (int)strcspn(bracket + 1, "] ") : 1,
			 bracket ? bracket + 1 : " ");
}

static void tell(void *arg, u64 start, u64 end)
{
	struct seq_file *m = arg;
	bool shows = dp_safe_shows(m->file->f_cred);

	if (start != end)
		seq_printf(m, "0x%016llx-0x%016llx\t%ps\n", shows ? start : 0,
			   shows ? end : 0, (void *)start);
}

void dp_told_blacklist(struct seq_file *m)
{
	u64 start, end;
	u32 i;

	for (i = 0; dp_safe_range(i, &start, &end); i++)
		tell(m, start, end);
	dp_safe_each(tell, m);
}
