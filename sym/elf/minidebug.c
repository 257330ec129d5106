// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * minidebug: the compressed symbol table in section .gnu_debugdata.
 *
 * Few systems have such sections. So the command loads liblzma only on demand: otherwise
 * each of its starts would wait. The library has liblzma loaded already.
 */
#include <dlfcn.h>
#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"

/** struct unpacker - the functions of liblzma */
struct unpacker {
	void *lib;
	lzma_ret (*begin)(lzma_stream *lz, uint64_t memory, uint32_t flags);
	lzma_ret (*code)(lzma_stream *lz, lzma_action action);
	void (*end)(lzma_stream *lz);
};

/* Return: 0; -EOPNOTSUPP liblzma is not installed. */
static int find_unpacker(struct unpacker *u)
{
	u->lib = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!u->lib)
		return -EOPNOTSUPP;
	*(void **)&u->begin = dlsym(u->lib, "lzma_stream_decoder");
	*(void **)&u->code = dlsym(u->lib, "lzma_code");
	*(void **)&u->end = dlsym(u->lib, "lzma_end");
	if (u->begin && u->code && u->end)
		return 0;
	dlclose(u->lib);
	return -EOPNOTSUPP;
}

/* Unpacks into a block that grows up to DP_UNPACKED_MAX. */
static int unpack(const struct unpacker *u, lzma_stream *lz, u8 **out,
		  size_t *len)
{
	size_t room = 1 << 16;
	u8 *buf = malloc(room), *bigger;
	lzma_ret ret = LZMA_OK;
	bool full = false;

	lz->next_out = buf;
	lz->avail_out = room;
	while (buf && ret == LZMA_OK) {
		ret = u->code(lz, LZMA_FINISH);
		if (ret != LZMA_OK || lz->avail_out)
			continue;
		full = room >= DP_UNPACKED_MAX;
		if (full)
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
		if (full || ret == LZMA_MEMLIMIT_ERROR)
			return -EFBIG;
		return buf && ret != LZMA_OK ? -ENOEXEC : -ENOMEM;
	}
	*len = lz->total_out;
	*out = buf;
	return 0;
}

static int decompress(const void *data, size_t len, u8 **out, size_t *out_len)
{
	lzma_stream lz = LZMA_STREAM_INIT;
	struct unpacker u;
	int err = find_unpacker(&u);

	if (err)
		return err;
	if (u.begin(&lz, DP_UNPACKER_MEMORY, 0) == LZMA_OK) {
		lz.next_in = data;
		lz.avail_in = len;
		err = unpack(&u, &lz, out, out_len);
		u.end(&lz);
	} else {
		err = -ENOMEM;
	}
	dlclose(u.lib);
	return err;
}

int dp_minidebug_open(const struct dp_elf *elf, struct dp_elf *mini)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, ".gnu_debugdata");
	void *data;
	u8 *plain;
	size_t len;
	int err;

	if (!sh)
		return -ENOENT;
	if (sh->sh_size > DP_UNPACKED_MAX)
		return -EFBIG;
	err = dp_elf_load_section(elf, sh, &data);
	if (err)
		return err;
	err = decompress(data, sh->sh_size, &plain, &len);
	free(data);
	return err ? err : dp_elf_open_image(mini, plain, len);
}
