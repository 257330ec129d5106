// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* thread: the offset of a thread's id in libc's data, from what libc tells debuggers. */
#include <string.h>
#include "sym/names/mod.h"

/* A field's description for libthread_db: bits, elements, offset. */
struct field {
	u32 bits, count, offset;
};

u32 dp_thread_tid_offset(struct dp_modules *mods)
{
	struct field f;
	size_t i;
	u64 addr;

	for (i = 0; i < dp_modules_count(mods); i++) {
		const struct dp_module *m = dp_modules_get(mods, i);

		if (!m->soname || strcmp(m->soname, "libc.so.6"))
			continue;
		if (!dp_module_dynsym(mods, m, "_thread_db_pthread_tid",
				      &addr) &&
		    !dp_mem_read(mods, addr, &f, sizeof(f)) && f.bits == 32 &&
		    f.count == 1)
			return f.offset;
	}
	return 0;
}
