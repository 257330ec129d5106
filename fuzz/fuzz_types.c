// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_types: any bytes as a file with debug information, read as the child does, in this process.
 * What the child writes is a prototype that can be walked, or is refused.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sym/list.h"
#include "sym/types/reader.h"
#include "sym/types/tree.h"
#include "fuzz/walk.h"

#define FUNCTIONS_MAX 6

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int __wrap_dp_reader_read(struct dp_reader *r, struct dp_modules *mods,
			  const struct dp_module *m);
const char *__asan_default_options(void);

/* libdw hands out texts without an end where a section of them has a wrong type. What is behind is
 * the child's own memory, as is what libdw does not free. */
const char *__asan_default_options(void)
{
	return "intercept_strlen=0:intercept_strcmp=0:intercept_strstr=0:replace_intrin=0:detect_leaks=0";
}

static struct dp_libdw dw;
static int (*end)(Dwarf *dwarf);
static Dwarf *dwarf;
static u64 entry[FUNCTIONS_MAX];
static size_t n;

int __wrap_dp_reader_read(struct dp_reader *r, struct dp_modules *mods,
			  const struct dp_module *m)
{
	r->out = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(r->out != MAP_FAILED);
	r->dw = dw;
	r->dwarf = dwarf;
	r->line = -1;
	dp_reader_walk(r);
	return 0;
}

static int note(Dwarf_Die *function, void *arg)
{
	Dwarf_Addr pc;

	if (!dw.dwarf_entrypc(function, &pc) && n < FUNCTIONS_MAX)
		entry[n++] = pc;
	return n == FUNCTIONS_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void find_functions(void)
{
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t head;

	for (n = 0; n < FUNCTIONS_MAX &&
		    !dw.dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL);
	     at = next)
		if (dw.dwarf_offdie(dwarf, at + head, &unit))
			dw.dwarf_getfuncs(&unit, note, NULL, 0);
	qsort(entry, n, sizeof(*entry), dp_list_order);
}

static void ask(u64 addr)
{
	struct dp_prototype *p = NULL;
	u32 i, parts = 0;

	if (dp_types_prototype(NULL, NULL, addr, &p))
		return;
	must(p->n <= DP_PROTOTYPE_PARAMETERS && p->name);
	walk(p->returns, 2, 0, &parts);
	for (i = 0; i < p->n; i++) {
		parts = 0;
		must(p->parameters[i].type->kind != DP_PROTOTYPE_VOID);
		walk(p->parameters[i].type, 2, 0, &parts);
	}
	free(p);
}

static void read_types(void)
{
	struct dp_type type[FUNCTIONS_MAX];
	size_t i;

	find_functions();
	dp_types_returned(NULL, NULL, entry, type, n);
	for (i = 0; i < n; i++) {
		must(type[i].kind <= DP_TYPE_FLOAT);
		ask(entry[i]);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (!end) {
		must(dp_reader_libdw(&dw));
		*(void **)&end =
			dlsym(dlopen("libdw.so.1", RTLD_NOW), "dwarf_end");
	}
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	dwarf = dw.dwarf_begin(fd, DWARF_C_READ);
	if (dwarf) {
		read_types();
		end(dwarf);
	}
	close(fd);
	return 0;
}
