/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* returned: values that tracked functions return, printed by type. */
#ifndef DP_TRACER_RETURNED_H
#define DP_TRACER_RETURNED_H

#include "tracer/session.h"

/** dp_returned_find() - set the return types of all points: from their specs or, where
 *  these give none, from debug information. @mods: modules of the points */
void dp_returned_find(struct dp_session *s, struct dp_modules *mods);

/**
 * dp_returned_text() - " = -1"; " = rax=0x2a" for an unknown type; nothing for void
 * dp_returned_json() - ",\"ret\":-1"; ",\"rax\":\"0x2a\"" if unknown; nothing for void
 * @value: of rax, or of xmm0 for DP_TYPE_FLOAT
 */
void dp_returned_text(FILE *out, struct dp_type type, u64 value);
void dp_returned_json(FILE *out, struct dp_type type, u64 value);

#endif
