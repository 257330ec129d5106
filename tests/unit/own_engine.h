/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own_engine: this process as its probes find it, with an engine that has no memory yet. */
#ifndef DP_TEST_OWN_ENGINE_H
#define DP_TEST_OWN_ENGINE_H

#include <string.h>
#include "engine/site/engine.h"
#include "lib/self.h"
#include "lib/text.h"
#include "resolve/symbol.h"

/* Return: 0; -1. */
static inline int own_engine_begin(void)
{
	struct dp_diag diag;

	memset(&dp_self, 0, sizeof(dp_self));
	if (dp_text_open(&dp_self.text) || dp_engine_create(&dp_self.engine))
		return -1;
	return dp_symbol_map_open(&dp_self.symbols, &diag);
}

static inline void own_engine_end(void)
{
	dp_symbol_map_close(dp_self.symbols);
	dp_engine_destroy(dp_self.engine);
	dp_text_close(&dp_self.text);
	memset(&dp_self, 0, sizeof(dp_self));
}

#endif
