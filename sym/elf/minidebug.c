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
#include "sym/elf/elf.h"

/* Unpack into a block of DP_UNPACKED_MAX, of which only what is used takes memory.
 * Return: 0; -EOPNOTSUPP liblzma is not installed; -EFBIG; -ENOEXEC; -ENOMEM. */
static int unpack(const void *data, size_t len, u8 **out, size_t *out_len)
{
	void *lib = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&lzma_stream_buffer_decode) decode =
		lib ? dlsym(lib, "lzma_stream_buffer_decode") : NULL;
	uint64_t memory = DP_UNPACKER_MEMORY;
	lzma_ret ret = LZMA_MEM_ERROR;
	size_t used = 0;

	*out_len = 0;
	*out = decode ? malloc(DP_UNPACKED_MAX) : NULL;
	if (*out)
		ret = decode(&memory, 0, NULL, data, &used, len, *out, out_len,
			     DP_UNPACKED_MAX);
	if (lib)
		dlclose(lib);
	if (ret == LZMA_OK)
		return 0;
	free(*out);
	if (!decode)
		return -EOPNOTSUPP;
	if (ret == LZMA_BUF_ERROR || ret == LZMA_MEMLIMIT_ERROR)
		return -EFBIG;
	return ret == LZMA_MEM_ERROR ? -ENOMEM : -ENOEXEC;
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
	err = unpack(data, sh->sh_size, &plain, &len);
	free(data);
	return err ? err : dp_elf_open_image(mini, plain, len);
}
