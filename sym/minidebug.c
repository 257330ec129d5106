// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* minidebug: the compressed symbol table in section .gnu_debugdata. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include "sym/private.h"

#define PLAIN_MAX (64u << 20) /* a few KB can unpack to any amount */
#define LZMA_MEMORY (256ull << 20)

/* Unpacks into a block that grows up to PLAIN_MAX. */
static int unpack(lzma_stream *lz, u8 **out, size_t *len)
{
	size_t room = 1 << 16;
	u8 *buf = malloc(room), *bigger;
	lzma_ret ret = LZMA_OK;

	lz->next_out = buf;
	lz->avail_out = room;
	while (buf && ret == LZMA_OK) {
		ret = lzma_code(lz, LZMA_FINISH);
		if (ret != LZMA_OK || lz->avail_out)
			continue;
		if (room >= PLAIN_MAX)
			break;
		bigger = realloc(buf, 2 * room);
		if (!bigger)
			break;
		buf = bigger;
		lz->next_out = buf + room;
		lz->avail_out = room;
		room *= 2;
	}
	if (!buf || ret != LZMA_STREAM_END) {
		free(buf);
		return buf ? -ENOEXEC : -ENOMEM;
	}
	*len = lz->total_out;
	*out = buf;
	return 0;
}

static int decompress(const void *data, size_t len, u8 **out, size_t *out_len)
{
	lzma_stream lz = LZMA_STREAM_INIT;
	int err;

	if (lzma_stream_decoder(&lz, LZMA_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	lz.next_in = data;
	lz.avail_in = len;
	err = unpack(&lz, out, out_len);
	lzma_end(&lz);
	return err;
}

int dp_minidebug_open(const struct dp_elf *elf, struct dp_elf *mini)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, ".gnu_debugdata");
	void *data;
	u8 *plain;
	size_t len;
	int err;

	if (!sh || sh->sh_size > PLAIN_MAX)
		return -ENOENT;
	err = dp_elf_load_section(elf, sh, &data);
	if (err)
		return err;
	err = decompress(data, sh->sh_size, &plain, &len);
	free(data);
	return err ? err : dp_elf_open_image(mini, plain, len);
}
