// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * text: the running kernel's code, written through a second mapping of its pages.
 *
 *   0xffffffff81000000  the image    r-x  --+
 *   0xffffffffc0000000  modules      r-x  --+-- the same pages
 *   somewhere in vmalloc's area      rw-  --+   as long as a write lasts
 *
 * The read-only mapping is never made writable, so a stray write elsewhere still faults.
 */
#include "port/kernel/text.h"
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/page.h>
#include <asm/sync_core.h>

static int read(struct dp_target *target, u64 addr, void *to, size_t len)
{
	if (copy_from_kernel_nofault(to, (void *)addr, len))
		return -EFAULT;
	return 0;
}

/* Return: NULL: there is nothing at @addr that this target is made of. */
static struct page *page_of(unsigned long addr)
{
	char byte;

	/* Of a hole in the image, the arithmetic would give pages of somebody else's. */
	if (addr < __START_KERNEL_map || addr >= MODULES_END ||
	    copy_from_kernel_nofault(&byte, (void *)addr, 1))
		return NULL;
	if (addr >= MODULES_VADDR)
		return vmalloc_to_page((void *)addr);
	return pfn_to_page(__pa_symbol(addr) >> PAGE_SHIFT);
}

static int find_pages(struct page **pages, unsigned long first, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pages[i] = page_of(first + i * PAGE_SIZE);
		if (!pages[i])
			return -EFAULT;
	}
	return 0;
}

static int map_pages(struct page **pages, unsigned int n, u64 addr,
		     struct dp_text_alias *alias)
{
	int err;

	err = find_pages(pages, addr & PAGE_MASK, n);
	if (err)
		return err;
	alias->mapping = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!alias->mapping)
		return -ENOMEM;
	alias->at = (u8 *)alias->mapping + offset_in_page(addr);
	return 0;
}

int dp_kernel_text_map(struct dp_text_alias *alias, u64 addr, size_t len)
{
	struct page **pages;
	unsigned int n;
	int err;

	/* Before the end is computed, which must not wrap. */
	if (len > MODULES_END - __START_KERNEL_map)
		return -EFAULT;
	n = DIV_ROUND_UP(offset_in_page(addr) + len, PAGE_SIZE);
	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	err = map_pages(pages, n, addr, alias);
	kvfree(pages);
	return err;
}

void dp_kernel_text_unmap(struct dp_text_alias *alias)
{
	vunmap(alias->mapping);
}

static bool (*breaks)(u64 addr);

void dp_kernel_text_cede_to(bool (*has_break)(u64 addr))
{
	breaks = has_break;
}

static bool is_broken(u64 addr, size_t len)
{
	size_t i;

	for (i = 0; breaks && i < len; i++)
		if (breaks(addr + i))
			return true;
	return false;
}

static int write(struct dp_target *target, u64 addr, const void *from,
		 size_t len)
{
	struct dp_text_alias alias;
	int err;

	/* The debugger would put back the byte that it has found, which may be of ours. */
	if (is_broken(addr, len))
		return -EBUSY;
	err = len ? dp_kernel_text_map(&alias, addr, len) : 0;

	if (err || !len)
		return err;
	memcpy(alias.at, from, len);
	dp_kernel_text_unmap(&alias);
	return 0;
}

static void refetch(void *unused)
{
	sync_core();
}

static int sync(struct dp_target *target)
{
	on_each_cpu(refetch, NULL, 1);
	return 0;
}

static const struct dp_target_ops ops = {
	.read = read,
	.write = write,
	.sync = sync,
};

struct dp_target *dp_kernel_text(void)
{
	static struct dp_target target = { &ops };

	return &target;
}
