// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* unwinds: where unwinders leave a part of the stack for good. */
#include "arch/calls.h"
#include "sym/unwinds.h"
#include <string.h>

#define FUNCTION_MAX 4096
#define SHORT_FUNCTION 64

static const char *const raisers[] = {
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_Unwind_ForcedUnwind",
};

static const u8 moved[] = DP_CODE_MOVES_STACK;
static const u8 jumped[] = DP_CODE_GOES_ON;
static const u8 outward[] = DP_CODE_OUTWARD;

/* The first bytes of a function's code. */
struct code {
	u64 start;
	u8 bytes[FUNCTION_MAX + DP_INSN_MAX];
	size_t size;
};

static bool read_code(struct dp_modules *mods, u64 addr, size_t most,
		      struct code *c)
{
	u64 start, end;
	ssize_t n;

	if (dp_function_bounds(mods, addr, &start, &end) || start != addr)
		return false;
	c->start = start;
	c->size = end - start < most ? end - start : most;
	memset(c->bytes, 0, sizeof(c->bytes));
	n = dp_modules_read(mods, start, c->bytes, c->size);
	return n == (ssize_t)c->size;
}

static bool leaves(const u8 *code)
{
	return !memcmp(code, moved, sizeof(moved)) &&
	       (code[sizeof(moved)] == DP_CODE_RET ||
		!memcmp(code + sizeof(moved), jumped, sizeof(jumped)));
}

static size_t find_leaving(const struct code *c, struct dp_unwind *list,
			   size_t n)
{
	struct insn_facts f;
	size_t at;

	for (at = 0; at < c->size && n < DP_UNWINDS_MAX; at += f.len) {
		if (dp_insn_facts(c->bytes + at, sizeof(c->bytes) - at, &f))
			break;
		if (f.len == sizeof(moved) && leaves(c->bytes + at))
			list[n++] = (struct dp_unwind){ c->start + at,
							DP_UNWIND_CX };
	}
	return n;
}

static bool find_raiser(struct dp_modules *mods, const struct dp_module *m,
			const char *name, u64 *addr)
{
	struct dp_symbol sym;

	if (!m->is_main)
		return !dp_module_dynsym(mods, m, name, addr);
	if (dp_module_function(mods, m, name, false, &sym, NULL))
		return false;
	*addr = sym.addr;
	return true;
}

/* The target of the call behind the code @before, or of the first call that goes to @to. */
static u64 find_call(const struct code *c, const u8 *before, size_t len, u64 to)
{
	struct insn_facts f;
	bool here = !len;
	size_t at;
	u64 goes;

	for (at = 0; at < c->size; at += f.len) {
		if (dp_insn_facts(c->bytes + at, sizeof(c->bytes) - at, &f))
			return 0;
		goes = c->start + at + f.len + (u64)f.target;
		if (f.class == DP_INSN_CALL && here && (!to || goes == to))
			return goes;
		if (len)
			here = f.len == len &&
			       !memcmp(c->bytes + at, before, len);
	}
	return 0;
}

/* glibc begins to end a thread in a function without a name. Its argument is the address
 * of a buffer in the frame where the thread goes on. */
static size_t find_thread_end(struct dp_modules *mods,
			      const struct dp_module *m, struct dp_unwind *list,
			      size_t n)
{
	struct code c;
	u64 addr, to;

	if (n == DP_UNWINDS_MAX ||
	    dp_module_dynsym(mods, m, "__pthread_unwind_next", &addr) ||
	    !read_code(mods, addr, SHORT_FUNCTION, &c))
		return n;
	to = find_call(&c, outward, sizeof(outward), 0);
	if (!to || dp_module_dynsym(mods, m, "pthread_exit", &addr) ||
	    !read_code(mods, addr, 4 * SHORT_FUNCTION, &c) ||
	    find_call(&c, NULL, 0, to) != to)
		return n;
	list[n] = (struct dp_unwind){ to, DP_UNWIND_DI };
	return n + 1;
}

size_t dp_unwinds_find(struct dp_modules *mods, struct dp_unwind *list)
{
	struct code c;
	size_t i, k, n = 0;
	u64 addr;

	for (i = 0; i < dp_modules_count(mods); i++) {
		const struct dp_module *m = dp_modules_get(mods, i);

		for (k = 0; k < sizeof(raisers) / sizeof(raisers[0]); k++)
			if (find_raiser(mods, m, raisers[k], &addr) &&
			    read_code(mods, addr, FUNCTION_MAX, &c))
				n = find_leaving(&c, list, n);
		n = find_thread_end(mods, m, list, n);
	}
	return n;
}
