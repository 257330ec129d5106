// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* settings: what the environment says of how probes are made. */
#include "tracer/agent/settings.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAVE "leave:"

static int read_arming(enum dp_arming *arming, struct dp_diag *diag)
{
	static const char *const names[] = { [DP_ARM_INTERIOR] = "interior",
					     [DP_ARM_QUIESCE] = "quiesce",
					     [DP_ARM_TRAP] = "trap" };
	const char *name = secure_getenv("DPROBES_ARM");
	size_t i;

	*arming = DP_ARM_DEFAULT;
	if (!name || !*name)
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i])) {
			*arming = (enum dp_arming)i;
			return 0;
		}
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_ARM is \"%s\"; it can be interior, quiesce or trap",
		name);
}

static bool read_leave(const char *text, u32 *leave)
{
	char *end;

	if (strncmp(text, LEAVE, strlen(LEAVE)) != 0)
		return false;
	text += strlen(LEAVE);
	*leave = (u32)strtoul(text, &end, 10);
	return *text >= '1' && *text <= '9' && !*end;
}

static int read_native(struct dp_settings *s, struct dp_diag *diag)
{
	const char *text = secure_getenv("DPROBES_NATIVE");

	s->native = true;
	s->leave = 0;
	if (!text || !*text || !strcmp(text, "1") ||
	    read_leave(text, &s->leave))
		return 0;
	s->native = false;
	if (!strcmp(text, "0"))
		return 0;
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_NATIVE is \"%s\"; it can be 0, 1 or leave:N", text);
}

int dp_settings_read(struct dp_settings *s, struct dp_diag *diag)
{
	int err = read_arming(&s->arming, diag), other = read_native(s, diag);

	return err ?: other;
}
