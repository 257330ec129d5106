/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facts: what follows from the parts of an instruction, for the ports, whose decoders find these.
 * This header chooses the processor.
 */
#ifndef DP_ARCH_FACTS_H
#define DP_ARCH_FACTS_H

#include "arch/x86/facts.h"

#endif
