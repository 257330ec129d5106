/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* landing: probes where unwinders leave a part of the stack. */
#ifndef DP_LANDING_H
#define DP_LANDING_H

#include "port_types.h"

/** dp_landings_add() - put them on all unwinders that are loaded, where that is possible
 *  Context: library lock held; there is an engine. */
void dp_landings_add(void);
/** dp_landings_rest() - switch them off. Context: library lock held. */
void dp_landings_rest(void);
/** dp_landings_anew() - there are none in a fork child */
void dp_landings_anew(void);
/** dp_landings_there() - are there any? Context: any. */
bool dp_landings_there(void);

#endif
