/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_hit: declares all of port.h and defines none of it. */
#ifndef DP_PORT_HIT_H
#define DP_PORT_HIT_H

#ifndef DP_AGENT
#define DP_AGENT
#endif
#include "port.h"

#endif
