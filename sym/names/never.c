// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* never: functions whose return cannot be probed, by name. */
#include <string.h>
#include "sym/never.h"

#define BEGINS \
	"it begins a process or a thread, and there is nobody to return to"
#define SIGNAL "it ends a signal's handler, and there is nobody to return to"
#define TWICE "it returns more than once"
#define SHARES "the process that it makes returns from it on the same stack"
#define STACK "it returns on another stack than it is called on"
#define BINDS "it is entered with more on the stack than the return address"
#define CALLER "it asks its return address who calls it"
#define FRAMES "it begins to walk the stack at its own return address"
#define REGISTERS \
	"its callers expect even those registers unchanged that calls may change"

static const struct dp_never list[] = {
	{ "_start", DP_RETURN_SITE, BEGINS },
	{ "_dl_start_user", DP_RETURN_SITE, BEGINS },
	{ "start_thread", DP_RETURN_SITE, BEGINS },
	{ "__start_context", DP_RETURN_SITE, BEGINS },
	{ "__restore_rt", DP_RETURN_SITE, SIGNAL },
	{ "__restore", DP_RETURN_SITE, SIGNAL },

	{ "setjmp", DP_RETURN_SITE, TWICE },
	{ "_setjmp", DP_RETURN_SITE, TWICE },
	{ "__setjmp", DP_RETURN_SITE, TWICE },
	{ "sigsetjmp", DP_RETURN_SITE, TWICE },
	{ "__sigsetjmp", DP_RETURN_SITE, TWICE },
	{ "__sigsetjmp_cancel", DP_RETURN_SITE, TWICE },
	{ "__sigjmp_save", DP_RETURN_SITE, TWICE },
	{ "getcontext", DP_RETURN_SITE, TWICE },
	{ "__getcontext", DP_RETURN_SITE, TWICE },
	{ "vfork", DP_RETURN_SITE, SHARES },
	{ "__vfork", DP_RETURN_SITE, SHARES },
	{ "__libc_vfork", DP_RETURN_SITE, SHARES },
	{ "clone", DP_RETURN_SITE, SHARES },
	{ "__clone", DP_RETURN_SITE, SHARES },
	{ "clone3", DP_RETURN_SITE, SHARES },
	{ "__clone3", DP_RETURN_SITE, SHARES },
	{ "setcontext", DP_RETURN_SITE, STACK },
	{ "__setcontext", DP_RETURN_SITE, STACK },
	{ "swapcontext", DP_RETURN_SITE, STACK },
	{ "__swapcontext", DP_RETURN_SITE, STACK },
	{ "jump_fcontext", DP_RETURN_SITE, STACK },
	{ "ontop_fcontext", DP_RETURN_SITE, STACK },

	{ "_dl_runtime_resolve", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_resolve_fxsave", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_resolve_xsave", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_resolve_xsavec", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_profile_sse", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_profile_avx", DP_RETURN_SITE, BINDS },
	{ "_dl_runtime_profile_avx512", DP_RETURN_SITE, BINDS },

	{ "dlopen", DP_RETURN_STUB, CALLER },
	{ "dlmopen", DP_RETURN_STUB, CALLER },
	{ "dlsym", DP_RETURN_STUB, CALLER },
	{ "dlvsym", DP_RETURN_STUB, CALLER },
	{ "dl_iterate_phdr", DP_RETURN_STUB, CALLER },
	{ "__libc_dlopen_mode", DP_RETURN_STUB, CALLER },
	{ "mcount", DP_RETURN_STUB, CALLER },
	{ "_mcount", DP_RETURN_STUB, CALLER },
	{ "__fentry__", DP_RETURN_STUB, CALLER },
	{ "_dl_mcount_wrapper", DP_RETURN_STUB, CALLER },
	{ "_dl_mcount_wrapper_check", DP_RETURN_STUB, CALLER },

	{ "_dl_tlsdesc_return", DP_RETURN_STUB, REGISTERS },
	{ "_dl_tlsdesc_undefweak", DP_RETURN_STUB, REGISTERS },
	{ "_dl_tlsdesc_dynamic", DP_RETURN_STUB, REGISTERS },
	{ "_dl_tlsdesc_dynamic_fxsave", DP_RETURN_STUB, REGISTERS },
	{ "_dl_tlsdesc_dynamic_xsave", DP_RETURN_STUB, REGISTERS },
	{ "_dl_tlsdesc_dynamic_xsavec", DP_RETURN_STUB, REGISTERS },

	{ "_Unwind_RaiseException", DP_RETURN_STUB, FRAMES },
	{ "_Unwind_ForcedUnwind", DP_RETURN_STUB, FRAMES },
	{ "_Unwind_Resume", DP_RETURN_STUB, FRAMES },
	{ "_Unwind_Resume_or_Rethrow", DP_RETURN_STUB, FRAMES },
	{ "_Unwind_Backtrace", DP_RETURN_STUB, FRAMES },
	{ "uw_init_context_1", DP_RETURN_STUB, FRAMES },
	{ "unw_getcontext", DP_RETURN_STUB, FRAMES },
	{ "__unw_getcontext", DP_RETURN_STUB, FRAMES },
	{ "_Ux86_64_getcontext", DP_RETURN_STUB, FRAMES },
};

const struct dp_never *dp_never_list(size_t *n)
{
	*n = sizeof(list) / sizeof(list[0]);
	return list;
}

#define V8_BUILTIN "Builtins_"

const char *dp_never_followed(const char *name, enum dp_return_way way)
{
	size_t i, n = sizeof(list) / sizeof(list[0]);

	/* Generated, like those of scripts. */
	if (name && way == DP_RETURN_STUB &&
	    !strncmp(name, V8_BUILTIN, sizeof(V8_BUILTIN) - 1))
		return "it is V8's own code, which moves its return address";
	for (i = 0; name && i < n; i++)
		if (list[i].way >= way && !strcmp(list[i].name, name))
			return list[i].why;
	return NULL;
}
