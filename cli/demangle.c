// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* demangle: libiberty's readers of linkage names, which only the command is linked with. */
#include "cli/command.h"
#include "sym/demangle.h"
#include <libiberty/demangle.h>

typedef void emit_fn(const char *piece, size_t len, void *arg);

static int options_of(enum dp_demangle_form form)
{
	return form == DP_DEMANGLE_BRIEF      ? DMGL_NO_OPTS :
	       form == DP_DEMANGLE_PARAMETERS ? DMGL_PARAMS | DMGL_ANSI |
							DMGL_RET_DROP :
						DMGL_PARAMS | DMGL_ANSI;
}

static bool read_rust(const char *name, enum dp_demangle_form form,
		      emit_fn *emit, void *arg)
{
	return rust_demangle_callback(name, options_of(form), emit, arg);
}

static bool read_cxx(const char *name, enum dp_demangle_form form,
		     emit_fn *emit, void *arg)
{
	return cplus_demangle_v3_callback(name, options_of(form), emit, arg);
}

void dp_demangle_names(void)
{
	/* Rust's older names are valid names of C++. */
	static const struct dp_demangler readers[] = {
		{ .read = read_rust },
		{ .read = read_cxx, .no_heap = true },
	};

	dp_demangle_use(readers, sizeof(readers) / sizeof(readers[0]));
}
