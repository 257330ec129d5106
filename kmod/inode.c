// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inode: an instruction of a file, which every process that maps it executes.
 *
 * The kernel looks at the instruction when a process has it mapped. When that comes later, what is wrong with it is
 * told to nobody, and the probe is not there. So it is tried beforehand: the current process maps the page, and a
 * consumer that wants no other process comes and goes.
 *
 * It keeps a copy of the instruction, as long as any consumer is there, and executes that in processes that map the file
 * later, whatever has been written there since. So the file is looked at again whenever a process maps it.
 */
#include "kmod/inode.h"
#include <linux/dcache.h>
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/mmu_context.h>

#define BREAKPOINT 0xcc

static int refuse(const char **why, int err, const char *words)
{
	*why = words;
	return err;
}

/* What the kernel's uprobes say */
static int explain(int err, u8 opcode, const char **why)
{
	switch (err) {
	case -ENOTSUPP:
		return refuse(
			why, -EINVAL,
			opcode == BREAKPOINT ?
				"a breakpoint of the file's own is there" :
				"the kernel's uprobes do not take that instruction");
	case -ENOEXEC:
		return refuse(why, -EILSEQ, "no instruction begins there");
	case -EIO:
		return refuse(why, -EOPNOTSUPP,
			      "the kernel has no uprobes on that file system");
	case -ENOSYS:
		return refuse(why, -EOPNOTSUPP, DP_KERNEL_NO_UPROBES);
	default:
		return err;
	}
}

/* --- what is in the file, and who maps it --- */

/* Return: how many bytes of a page are in memory, and have been copied */
static u32 peek(const struct inode *inode, loff_t from, u8 *to, u32 size)
{
	struct page *page =
		find_get_page(inode->i_mapping, (pgoff_t)(from >> PAGE_SHIFT));
	u32 at = offset_in_page(from), n = min_t(u32, size, PAGE_SIZE - at);
	char *mem;

	if (!page)
		return 0;
	if (PageUptodate(page)) {
		mem = kmap_local_page(page);
		memcpy(to, mem + at, n);
		kunmap_local(mem);
	} else {
		n = 0;
	}
	put_page(page);
	return n;
}

/* What is not in memory is as it was, if the file has not been written. */
static bool is_unwritten(const struct dp_inode_place *place)
{
	const struct inode *inode = place->at.inode;
	const struct timespec64 now = dp_compat_mtime(inode);

	return i_size_read(inode) == place->length &&
	       timespec64_equal(&now, &place->written);
}

bool dp_inode_is_same(const struct dp_inode_place *place)
{
	u8 now[DP_INSN_MAX];
	u32 done = 0, n;

	if (place->at.offset + place->size > i_size_read(place->at.inode))
		return false;
	while (done < place->size) {
		n = peek(place->at.inode, place->at.offset + done, now + done,
			 place->size - done);
		if (!n)
			return is_unwritten(place);
		done += n;
	}
	return !memcmp(now, place->code, place->size);
}

static bool fits(const struct dp_inode_place *place, struct mm_struct *mm)
{
	return place->width == DP_INODE_ANY ||
	       is_64bit_mm(mm) == (place->width == DP_INODE_WIDE);
}

bool dp_inode_is_meant(const struct dp_inode_place *place, struct mm_struct *mm,
		       bool still)
{
	return fits(place, mm) && (still || dp_inode_is_same(place));
}

static enum dp_inode_width read_width(struct file *file)
{
	struct {
		u8 ident[EI_NIDENT];
		u16 type, machine;
	} head = { { 0 } };
	loff_t from = 0;

	if (kernel_read(file, &head, sizeof(head), &from) != sizeof(head) ||
	    memcmp(head.ident, ELFMAG, SELFMAG))
		return DP_INODE_ANY;
	return head.machine == EM_386	 ? DP_INODE_NARROW :
	       head.machine == EM_X86_64 ? DP_INODE_WIDE :
					   DP_INODE_ANY;
}

/* --- the trial --- */

/* A consumer of one process, for a moment */
struct trial {
	struct uprobe_consumer consumer;
	const struct mm_struct *mm;
};

static int pass(DP_COMPAT_UPROBE_HIT)
{
	return 0;
}

static bool is_meant(DP_COMPAT_UPROBE_FILTER)
{
	return mm == container_of(self, struct trial, consumer)->mm;
}

static int try_mapped(struct dp_inode_place *place)
{
	struct trial trial = { .consumer = { .handler = pass,
					     .filter = is_meant },
			       .mm = current->mm };
	int err = dp_compat_uprobe_register(&place->at, &trial.consumer);

	if (err)
		return err;
	dp_compat_uprobe_unregister(&place->at, &trial.consumer);
	dp_compat_uprobe_sync();
	return 0;
}

static int try_here(struct dp_inode_place *place, struct file *file,
		    const char **why)
{
	unsigned long at;
	int err;

	if (!current->mm || !fits(place, current->mm))
		return place->code[0] == BREAKPOINT ?
			       explain(-ENOTSUPP, BREAKPOINT, why) :
			       0;
	at = vm_mmap(file, 0, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
		     (unsigned long)place->at.offset & PAGE_MASK);
	if (IS_ERR_VALUE(at))
		return (int)at == -ENOMEM ?
			       -ENOMEM :
			       refuse(why, -EINVAL,
				      "the file cannot be mapped for execution");
	err = try_mapped(place);
	vm_munmap(at, PAGE_SIZE);
	return explain(err, place->code[0], why);
}

static int check(const struct dp_inode_place *place, const struct file *file,
		 u64 offset, const char **why)
{
	if (!(file->f_mode & FMODE_READ))
		return refuse(why, -EACCES, "it is not open for reading");
	if (!S_ISREG(place->at.inode->i_mode))
		return refuse(why, -EINVAL, "it is no regular file");
	if (!offset || offset >= (u64)i_size_read(place->at.inode))
		return refuse(why, -EINVAL, "the offset is not in the file");
	return 0;
}

static int look(struct dp_inode_place *place, struct file *file,
		const char **why)
{
	loff_t from = place->at.offset;
	ssize_t n;

	place->length = i_size_read(place->at.inode);
	place->written = dp_compat_mtime(place->at.inode);
	place->width = read_width(file);
	n = kernel_read(file, place->code, sizeof(place->code), &from);
	if (n <= 0)
		return refuse(why, -EINVAL, "the file cannot be read");
	place->size = (u32)n;
	return try_here(place, file, why);
}

int dp_inode_open(struct dp_inode_place *place, struct file *file, u64 offset,
		  const char **why)
{
	int err;

	*why = NULL;
	*place = (struct dp_inode_place){
		.path = file->f_path,
		/* Of a file in an overlay, that which is mapped */
		.at = { .inode = d_real_inode(file->f_path.dentry),
			.offset = (loff_t)offset },
	};
	err = check(place, file, offset, why);
	if (err)
		return err;
	path_get(&place->path);
	ihold(place->at.inode);
	err = look(place, file, why);
	if (err)
		dp_inode_close(place);
	return err;
}

void dp_inode_close(struct dp_inode_place *place)
{
	iput(place->at.inode);
	path_put(&place->path);
}

int dp_inode_enter(struct dp_inode_place *place,
		   struct uprobe_consumer *consumer)
{
	const char *unused;

	if (place->at.offset >= i_size_read(place->at.inode))
		return -EINVAL;
	if (!dp_inode_is_same(place))
		return -ESTALE;
	return explain(dp_compat_uprobe_register(&place->at, consumer),
		       place->code[0], &unused);
}

void dp_inode_leave(struct dp_inode_place *place,
		    struct uprobe_consumer *consumer)
{
	dp_compat_uprobe_unregister(&place->at, consumer);
}
