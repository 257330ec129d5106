// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: the test's own, except for the texts of files and for bad memory. */
#include "port/fake/hit/kernel.h"
#include <assert.h>
#include <string.h>

#define TEXTS 8
#define TEXT_BYTES 64
#define BAD 4

static struct text {
	u64 addr;
	u32 size;
	u8 file[TEXT_BYTES], now[TEXT_BYTES];
} texts[TEXTS];
static u32 nr_texts;

static struct {
	u64 addr, size;
} bad[BAD];
static u32 nr_bad;

void dp_kernel_forget(void)
{
	nr_texts = nr_bad = 0;
}

void dp_fake_text(u64 addr, const u8 *bytes, u32 size)
{
	struct text *t = &texts[nr_texts++];

	assert(nr_texts <= TEXTS && size <= TEXT_BYTES);
	t->addr = addr;
	t->size = size;
	memcpy(t->file, bytes, size);
	memcpy(t->now, bytes, size);
}

void dp_fake_bad(u64 addr, u64 size)
{
	assert(nr_bad < BAD);
	bad[nr_bad].addr = addr;
	bad[nr_bad++].size = size;
}

static bool is_bad(u64 addr)
{
	u32 i;

	for (i = 0; i < nr_bad; i++)
		if (addr - bad[i].addr < bad[i].size)
			return true;
	return false;
}

/* Where the test has a byte of the program. */
static u8 *place(u64 addr)
{
	u32 i;

	for (i = 0; i < nr_texts; i++)
		if (addr - texts[i].addr < texts[i].size)
			return &texts[i].now[addr - texts[i].addr];
	return (u8 *)addr;
}

u64 dp_kernel_read(void *to, u64 from, u64 len)
{
	u64 i;

	for (i = 0; i < len && !is_bad(from + i); i++)
		((u8 *)to)[i] = *place(from + i);
	return i;
}

u64 dp_kernel_write(u64 to, const void *from, u64 len)
{
	u64 i;

	for (i = 0; i < len && !is_bad(to + i); i++)
		*place(to + i) = ((const u8 *)from)[i];
	return i;
}

void dp_kernel_drop(u64 start, u64 size)
{
	u32 i;

	for (i = 0; i < nr_texts; i++)
		if (texts[i].addr - start < size)
			memcpy(texts[i].now, texts[i].file, texts[i].size);
}

void dp_fake_patch(u64 addr, const u8 *bytes, u32 size)
{
	dp_kernel_write(addr, bytes, size);
}

u8 dp_fake_byte(u64 addr)
{
	return *place(addr);
}
