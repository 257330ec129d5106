/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* modules: what the library has of its room for probe modules, lib/compat. */
#ifndef DP_LIB_MODULES_H
#define DP_LIB_MODULES_H

#include "lib/compat/hooks.h"
#include "lib/compat/module.h"

#endif
