/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: for all code of a module, how a walk goes from a frame to its caller's.
 *
 *   start   0x1000   0x1001   0x1010   0x1052 …   ascending, in addresses of the file
 *   which   2        5        2        0      …   of the rules in @rule; from there to the next one
 *
 * Told by .eh_frame. Code that it does not describe has rule 0, which is DP_RULE_NONE.
 */
#ifndef DP_RULES_H
#define DP_RULES_H

#include "arch/arch.h"

struct dp_elf;
struct dp_module;
struct dp_modules;

/* Different rules of a module, at most: libraries of 100 MB have a tenth. */
#define DP_RULES_MOST 16384
/* Ranges with one rule: of the largest programs a fifth. */
#define DP_RULES_RANGES (32u << 20)

/** struct dp_rule_range - from @start on, rule @which */
struct dp_rule_range {
	u64 start;
	u32 which;
};

/** struct dp_rules - @v: ranges, ascending; @rule: all that they name, each one once */
struct dp_rules {
	struct dp_rule_range *v;
	size_t n, room;
	struct dp_rule *rule;
	size_t nr_rules, rules_room;
	u32 *hash; /* 1 + index of a rule, 0: free; DP_RULES_MOST * 2 */
};

/**
 * dp_rules_read() - read the rules of a file
 * Context: tool process; may sleep and allocate. The file is hostile.
 * Return: 0; -ENOENT it has no .eh_frame; -EFBIG; -ENOMEM; -ENOEXEC.
 */
int dp_rules_read(struct dp_rules *rules, const struct dp_elf *elf);
/** dp_rules_of() - the same of an .eh_frame in memory, whose address would be @vaddr */
int dp_rules_of(struct dp_rules *rules, const void *frames, u64 len, u64 vaddr);
/** dp_module_rules() - the same of the file that a module has been mapped from. Return: also as open(2) */
int dp_module_rules(const struct dp_modules *mods, const struct dp_module *m,
		    struct dp_rules *rules);
/** dp_rules_at() - the rule of the code at @addr */
const struct dp_rule *dp_rules_at(const struct dp_rules *rules, u64 addr);
void dp_rules_free(struct dp_rules *rules);

#endif
