// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* never: functions whose return cannot be probed, by name. */
#include <string.h>
#include "sym/never.h"

static const struct dp_never list[] = {
	{ DP_RETURN_SITE,
	  "it begins a process or a thread, and there is nobody to return to",
	  { "_start", "_dl_start_user", "start_thread", "__start_context" } },
	{ DP_RETURN_SITE,
	  "it ends a signal's handler, and there is nobody to return to",
	  { "__restore_rt", "__restore" } },
	{ DP_RETURN_SITE,
	  "it returns more than once",
	  { "setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp",
	    "__sigsetjmp_cancel", "__sigjmp_save", "getcontext",
	    "__getcontext" } },
	{ DP_RETURN_SITE,
	  "the process that it makes returns from it on the same stack",
	  { "vfork", "__vfork", "__libc_vfork", "clone", "__clone", "clone3",
	    "__clone3" } },
	{ DP_RETURN_SITE,
	  "it returns on another stack than it is called on",
	  { "setcontext", "__setcontext", "swapcontext", "__swapcontext",
	    "jump_fcontext", "ontop_fcontext" } },
	{ DP_RETURN_SITE,
	  "it is entered with more on the stack than the return address",
	  { "_dl_runtime_resolve", "_dl_runtime_resolve_fxsave",
	    "_dl_runtime_resolve_xsave", "_dl_runtime_resolve_xsavec",
	    "_dl_runtime_profile_sse", "_dl_runtime_profile_avx",
	    "_dl_runtime_profile_avx512" } },
	{ DP_RETURN_STUB,
	  "it asks its return address who calls it",
	  { "dlopen", "dlmopen", "dlsym", "dlvsym", "dl_iterate_phdr",
	    "__libc_dlopen_mode", "mcount", "_mcount", "__fentry__",
	    "_dl_mcount_wrapper", "_dl_mcount_wrapper_check" } },
	{ DP_RETURN_STUB,
	  "its callers expect even those registers unchanged that calls may change",
	  { "_dl_tlsdesc_return", "_dl_tlsdesc_undefweak",
	    "_dl_tlsdesc_dynamic", "_dl_tlsdesc_dynamic_fxsave",
	    "_dl_tlsdesc_dynamic_xsave", "_dl_tlsdesc_dynamic_xsavec" } },
	{ DP_RETURN_STUB,
	  "it begins to walk the stack at its own return address",
	  { "_Unwind_RaiseException", "_Unwind_ForcedUnwind", "_Unwind_Resume",
	    "_Unwind_Resume_or_Rethrow", "_Unwind_Backtrace",
	    "uw_init_context_1", "unw_getcontext", "__unw_getcontext",
	    "_Ux86_64_getcontext" } },
};

const struct dp_never *dp_never_list(size_t *n)
{
	*n = sizeof(list) / sizeof(list[0]);
	return list;
}

#define V8_BUILTIN "Builtins_"

const char *dp_never_tracked(const char *name, enum dp_return_way way)
{
	size_t i, k, n = sizeof(list) / sizeof(list[0]);

	/* V8 generates these functions, like those of scripts. */
	if (name && way == DP_RETURN_STUB &&
	    !strncmp(name, V8_BUILTIN, sizeof(V8_BUILTIN) - 1))
		return "it is V8's own code, which moves its return address";
	for (i = 0; name && i < n; i++)
		for (k = 0; list[i].way >= way && list[i].names[k]; k++)
			if (!strcmp(list[i].names[k], name))
				return list[i].why;
	return NULL;
}
