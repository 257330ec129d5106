// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rules: those of a module of a process, from its file. */
#include "sym/names/mod.h"
#include "sym/rules.h"

int dp_module_rules(const struct dp_modules *mods, const struct dp_module *m,
		    struct dp_rules *rules)
{
	struct dp_elf elf;
	int err = dp_file_open_elf(mods, dp_mod_of(m), &elf);

	if (err)
		return err;
	err = dp_rules_read(rules, &elf);
	dp_elf_close(&elf);
	return err;
}
