/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* returned: what tracked functions return, by its type. */
#ifndef DP_TRACER_RETURNED_H
#define DP_TRACER_RETURNED_H

#include "tracer/session.h"

/** dp_returned_find() - the types that the functions of all points return: as their specs
 *  say or, where these say nothing, as debug information
 *  does. @mods: where they are */
void dp_returned_find(struct dp_session *s, struct dp_modules *mods);

/**
 * dp_returned_text() - " = -1"; of no known type " = rax=0x2a"; of none nothing
 * dp_returned_json() - ",\"ret\":-1"; of no known type ",\"rax\":\"0x2a\""; of none nothing
 * @value: of rax, or of xmm0 for DP_TYPE_FLOAT
 */
void dp_returned_text(FILE *out, struct dp_type type, u64 value);
void dp_returned_json(FILE *out, struct dp_type type, u64 value);

#endif
