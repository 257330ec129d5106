// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facts_test: facts about the kernel's instructions, by its own decoder, are those that Zydis finds. */
#include "engine/insn/insn.h"
#include "tests/kernel/facts.h"
#include "tests/kernel/test.h"
#include <linux/kernel_read_file.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

/* So many differences are told. */
#define TELL 8

static unsigned int nr, wrong, undecoded;
static unsigned int classes[DP_INSN_REFUSED + 1];

static void compare(const struct dp_fact *theirs)
{
	struct dp_fact ours = { { 0 } };
	struct insn_facts facts;

	memcpy(ours.code, theirs->code, sizeof(ours.code));
	if (dp_insn_facts(theirs->code, DP_INSN_MAX, &facts)) {
		if (undecoded++ < TELL)
			note("not decoded: %*ph\n", DP_INSN_MAX, theirs->code);
		return;
	}
	dp_fact_fill(&ours, &facts);
	classes[facts.class]++;
	if (!memcmp(&ours, theirs, sizeof(ours)))
		return;
	if (wrong++ < TELL)
		note("%*ph: %*ph, not %*ph\n", DP_INSN_MAX, theirs->code, 34,
		     (u8 *)&ours + DP_INSN_MAX, 34, (u8 *)theirs + DP_INSN_MAX);
}

static int __init begin(void)
{
	void *facts = NULL;
	ssize_t size = kernel_read_file_from_path(
		DP_FACTS_FILE, 0, &facts, INT_MAX, NULL, READING_POLICY);

	for (nr = 0; size > 0 && nr < size / sizeof(struct dp_fact); nr++) {
		compare((struct dp_fact *)facts + nr);
		cond_resched();
	}
	vfree(facts);
	check(nr > 100000 && classes[DP_INSN_PLAIN] && classes[DP_INSN_JMP] &&
		      classes[DP_INSN_JCC] && classes[DP_INSN_CALL] &&
		      classes[DP_INSN_JMP_IND] && classes[DP_INSN_CALL_IND] &&
		      classes[DP_INSN_RET] && classes[DP_INSN_REFUSED],
	      "there are instructions of all kinds (%u)\n", nr);
	check(nr && !undecoded, "all are decoded (but %u)\n", undecoded);
	check(nr && !wrong,
	      "their facts are those of another decoder (but %u)\n", wrong);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests facts about instructions");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
