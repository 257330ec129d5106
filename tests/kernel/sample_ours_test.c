// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sample_ours_test: the same module, with the probes of dprobes.ko. */
#define DP_KPROBES
#include <dprobes/kernel/instead.h>
#include "tests/kernel/sample_test.c"
