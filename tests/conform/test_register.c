// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* register: what may be registered, what is refused, and what is left behind. */
#include "conform.h"
#include "victims.h"
#ifndef __KERNEL__
#include "twins.h"
#include <dlfcn.h>
#include <sys/mman.h>
#endif

#define NOWHERE "no_such_function_anywhere"

#ifndef __KERNEL__
int c_shared_name(int n);

__attribute__((noinline, noclone)) int c_shared_name(int n)
{
	__asm__ volatile("");
	return n + 4;
}

static __attribute__((noinline, noclone)) int c_twin(int n)
{
	__asm__ volatile("");
	return n + 1;
}
#endif

/* refused() - registering @p fails so, says why, and changes no text */
#ifndef __KERNEL__
static char said[DP_DIAG_MAX];

static void remember_why(void)
{
	check(dp_last_diag());
	strcpy(said, dp_last_diag()->text);
	check(said[0]);
}
#else
/* A kernel has a number only. */
static const char said[] = NOWHERE;

static void remember_why(void)
{
}
#endif

static void refused(struct kprobe *p, int rc)
{
	struct conform_text text = text_of(c_plain);

	check_eq(register_kprobe(p), rc);
	remember_why();
	check(text_same(&text));
	check_eq(list_length(), 0);
}

TEST(row_001_probe_at_any_code_address_runs_its_handler)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	check_eq(c_plain(2, 1), 7);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	check_eq(c_plain(2, 1), 7);
	check_eq(counts.pre, 1);
}

TEST(row_007_registering_says_where_and_which_handler)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_other);

	b.pre_handler = NULL;
	must(register_kprobe(&a));
	must(register_kprobe(&b));
	c_plain(1, 1);
	c_other(1, 1);
	check_eq(counts.pre, 1);
	check_eq(dp_kprobe_hits(&a), 1);
	check_eq(dp_kprobe_hits(&b), 1);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
}

TEST(row_008_batches_register_and_unregister)
{
	struct kprobe kp[3] = { probe_at(c_plain), probe_at(c_other),
				probe_at(c_third) };
	struct kprobe *kps[3] = { &kp[0], &kp[1], &kp[2] };
	struct conform_text text = text_of(c_other);

	must(register_kprobes(kps, 3));
	check_eq(list_length(), 3);
	c_plain(1, 1);
	c_other(1, 1);
	c_third(1, 1);
	check_eq(counts.pre, 3);
	unregister_kprobes(kps, 3);
	check_eq(list_length(), 0);
	check(text_same(&text));
	c_other(1, 1);
	check_eq(counts.pre, 3);
}

#ifndef __KERNEL__
TEST(row_083_the_library_itself_is_refused)
{
	struct kprobe kp = { .symbol_name = "register_kprobe" };
	struct kprobe at = { .addr = (void *)unregister_kprobe };

	check_eq(register_kprobe(&kp), -EINVAL);
	check(dp_last_diag()->text[0]);
	refused(&at, -EINVAL);
}
#endif

TEST(row_105_addr_is_where_the_handlers_are_called)
{
	struct kprobe kp = probe_at(c_plain);

	kp.post_handler = count_post;
	must(register_kprobe(&kp));
	check(kp.addr == (void *)c_plain);
	check_eq(c_plain(1, 2), 5);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 1);
	unregister_kprobe(&kp);
}

TEST(row_107_all_handlers_may_be_missing)
{
	struct kprobe kp = { .addr = (void *)c_plain };
	int i;

	must(register_kprobe(&kp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
	check_eq(dp_kprobe_hits(&kp), ROUNDS);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
}

TEST(row_108_flag_disabled_registers_without_arming)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);

	kp.flags = KPROBE_FLAG_DISABLED;
	must(register_kprobe(&kp));
	check(text_same(&text));
	check(listed(c_plain, "[DISABLED]"));
	c_plain(1, 1);
	check_eq(counts.pre, 0);
	must(enable_kprobe(&kp));
	check(!listed(c_plain, "[DISABLED]"));
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	check(text_same(&text));
}

TEST(row_099_109_symbol_name_is_resolved)
{
	struct kprobe kp = { .symbol_name = "c_plain",
			     .pre_handler = count_pre };

	must(register_kprobe(&kp));
	check(kp.addr == (void *)c_plain);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	check(kp.addr == (void *)c_plain);
}

TEST(row_109_static_functions_are_found_by_name)
{
	struct kprobe kp = { .symbol_name = "c_static_function",
			     .pre_handler = count_pre };

	must(register_kprobe(&kp));
	check_eq(c_static_caller(1), 1002);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

#ifndef __KERNEL__
TEST(row_109_functions_of_libraries_are_found_by_name)
{
	struct kprobe kp = { .symbol_name = "getppid",
			     .pre_handler = count_pre };

	must(register_kprobe(&kp));
	check(kp.addr == dlsym(RTLD_DEFAULT, "getppid"));
	check(getppid() > 0);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}
#endif

#ifndef __KERNEL__
/* A name that stands for a choice of functions means the one chosen. */
TEST(row_109_an_indirect_function_is_the_one_in_use)
{
	struct kprobe kp = { .symbol_name = "strlen" };
	size_t (*volatile length)(const char *) = strlen;
	int i;

	must(register_kprobe(&kp));
	check(kp.addr == (void *)length);
	for (i = 0; i < 10; i++)
		check_eq(length("twelve chars"), 12);
	check(dp_kprobe_hits(&kp) >= 10);
	unregister_kprobe(&kp);
}
#endif

#ifndef __KERNEL__
TEST(row_109_the_main_program_comes_first)
{
	struct kprobe kp = { .symbol_name = "c_shared_name" };
	void *plugin = dlopen(getenv("CONFORM_PLUGIN"), RTLD_NOW);

	check(plugin);
	check(dlsym(plugin, "c_shared_name") != (void *)c_shared_name);
	must(register_kprobe(&kp));
	check(kp.addr == (void *)c_shared_name);
	unregister_kprobe(&kp);
}
#endif

#ifndef __KERNEL__
TEST(row_109_a_module_narrows_the_search)
{
	struct kprobe kp = { .symbol_name =
				     "libconform-plugin.so:c_shared_name" };
	struct kprobe wrong = { .symbol_name = "libconform-plugin.so:c_plain" };
	struct kprobe none = { .symbol_name = "no-such-module.so:c_plain" };
	void *plugin = dlopen(getenv("CONFORM_PLUGIN"), RTLD_NOW);

	check(plugin);
	must(register_kprobe(&kp));
	check(kp.addr == dlsym(plugin, "c_shared_name"));
	unregister_kprobe(&kp);
	refused(&wrong, -ENOENT);
	refused(&none, -ENOENT);
}
#endif

#ifndef __KERNEL__
TEST(row_109_a_name_with_several_meanings_is_refused_with_candidates)
{
	struct kprobe kp = { .symbol_name = "c_twin" };
	const char *text;

	check_eq(c_twin(1) + c_other_twin(1), 8);
	check_eq(register_kprobe(&kp), -EINVAL);
	text = dp_last_diag()->text;
	check(strstr(text, "c_twin"));
	check(strstr(text, "0x"));
	check(strstr(strstr(text, "0x") + 2, "0x"));
}
#endif

TEST(row_109_an_unknown_name_is_enoent)
{
	struct kprobe kp = { .symbol_name = NOWHERE };

	refused(&kp, -ENOENT);
	check(strstr(said, NOWHERE));
}

#ifndef __KERNEL__
TEST(row_109_names_that_are_no_names)
{
	static const char *const names[] = {
		"", ":", "libc.so.6:", ":c_plain:", "c_plain+", " "
	};
	unsigned int i;

	for (i = 0; i < COUNT(names); i++) {
		struct kprobe kp = { .symbol_name = names[i] };
		int rc = register_kprobe(&kp);

		check(rc == -ENOENT || rc == -EINVAL);
	}
}
#endif

TEST(row_110_offset_is_added_to_the_symbol)
{
	unsigned int offset = (char *)v_push_next - (char *)v_push;
	struct kprobe kp = { .symbol_name = "v_push",
			     .offset = offset,
			     .pre_handler = count_pre };

	must(register_kprobe(&kp));
	check(kp.addr == v_push_next);
	check_eq(v_push(3, 0), 3);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

TEST(row_110_offset_is_added_to_an_address)
{
	struct kprobe kp = probe_at(v_push);

	kp.offset = (char *)v_push_next - (char *)v_push;
	must(register_kprobe(&kp));
	check(kp.addr == v_push_next);
	check_eq(v_push(3, 0), 3);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

#ifndef __KERNEL__
TEST(row_110_offset_may_lead_out_of_the_function)
{
	struct kprobe kp = { .symbol_name = "c_plain", .offset = 1 << 30 };

	check(register_kprobe(&kp) < 0);
	check(dp_last_diag()->text[0]);
}
#endif

TEST(row_111_symbol_and_address_together_are_refused)
{
	struct kprobe kp = { .symbol_name = "c_plain",
			     .addr = (void *)c_plain };

	refused(&kp, -EINVAL);
}

TEST(row_111_neither_symbol_nor_address_is_refused)
{
	struct kprobe kp = { .pre_handler = count_pre };

	refused(&kp, -EINVAL);
	check_eq(register_kprobe(NULL), -EINVAL);
}

/* The manual does not promise it; doc/differences.md does. */
TEST(row_112_the_middle_of_an_instruction_is_eilseq)
{
	struct kprobe kp = { .addr = (kprobe_opcode_t *)v_mov_at + 1 };
	struct kprobe named = { .symbol_name = "v_mov", .offset = 2 };

	refused(&kp, -EILSEQ);
	refused(&named, -EILSEQ);
	check_eq(v_mov(0, 0), 7);
}

#ifndef __KERNEL__
#define HALF_HOLE (3ul << 29)

TEST(row_113_bad_addresses_are_refused)
{
	/* Other threads map memory, too, which goes to the ends of a hole. */
	void *hole = mmap(NULL, 2 * HALF_HOLE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct kprobe unmapped = { .addr = (void *)((char *)hole + HALF_HOLE) };
	struct kprobe wild[] = {
		{ .addr = (void *)1 },
		{ .addr = (void *)0x10 },
		{ .addr = (void *)-1 },
		{ .addr = (void *)0x8000000000000000 },
		{ .addr = (void *)0xffffffffff600000 },
		{ .addr = (void *)&counts },
		{ .addr = (void *)wild },
		{ .addr = (void *)&v_data },
	};
	unsigned int i;

	check(hole != MAP_FAILED);
	munmap(hole, 2 * HALF_HOLE);
	refused(&unmapped, -EFAULT);
	for (i = 0; i < COUNT(wild); i++) {
		check(register_kprobe(&wild[i]) < 0);
		check(dp_last_diag()->text[0]);
	}
	check_eq(list_length(), 0);
}
#endif

#ifndef __KERNEL__
TEST(row_113_somebody_elses_breakpoint_is_ebusy)
{
	unsigned char *code = mmap(NULL, 4096,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kprobe kp = { .addr = code };

	check(code != MAP_FAILED);
	memset(code, 0x90, 64);
	code[0] = 0xcc;
	code[63] = 0xc3;
	check_eq(register_kprobe(&kp), -EBUSY);
	check_eq(code[0], 0xcc);
}
#endif

TEST(row_113_registering_twice_is_refused)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	check_eq(register_kprobe(&kp), -EINVAL);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	check_eq(list_length(), 1);
	unregister_kprobe(&kp);
	check_eq(list_length(), 0);
}

TEST(row_113_a_probe_can_be_registered_again)
{
	struct kprobe kp = probe_at(c_plain);
	int i;

	for (i = 0; i < 20; i++) {
		must(register_kprobe(&kp));
		c_plain(1, 1);
		unregister_kprobe(&kp);
		c_plain(1, 1);
	}
	check_eq(counts.pre, 20);
}

TEST(row_113_a_probe_begins_with_no_hits)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_plain),
		      c = probe_at(c_other);

	must(register_kprobe(&a));
	c_plain(1, 1);
	unregister_kprobe(&a);
	must(register_kprobe(&b));
	must(register_kprobe(&c));
	check_eq(dp_kprobe_hits(&b), 0);
	check_eq(dp_kprobe_hits(&c), 0);
	c_plain(1, 1);
	check_eq(dp_kprobe_hits(&b), 1);
	unregister_kprobe(&b);
	unregister_kprobe(&c);
}

TEST(row_113_opcode_is_the_first_byte_of_the_instruction)
{
	unsigned char first = *(unsigned char *)c_plain;
	struct kprobe a = probe_at(c_plain), b = probe_at(c_plain);

	must(register_kprobe(&a));
	must(register_kprobe(&b));
	check_eq(a.opcode, first);
	check_eq(b.opcode, first);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
}

TEST(row_132_unregister_takes_the_probe_away)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	check(!text_same(&text));
	unregister_kprobe(&kp);
	check(text_same(&text));
	check(!list_line(c_plain, 0));
}

TEST(row_133_unregister_clears_addr_of_a_wrong_probe_only)
{
	struct kprobe kp = probe_at(c_plain), never = probe_at(c_plain);

	unregister_kprobe(&never);
	check(!never.addr);
	must(register_kprobe(&kp));
	never.addr = (void *)c_plain;
	unregister_kprobe(&never);
	check(!never.addr);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	check(kp.addr == (void *)c_plain);
	unregister_kprobe(&kp);
	check(!kp.addr);
}

TEST(row_133_the_same_for_return_probes_and_jprobes)
{
	struct kretprobe rp = retprobe_at(c_plain);
	struct jprobe jp = { .kp.addr = (void *)c_plain,
			     .entry = (void *)c_other };

	unregister_kretprobe(&rp);
	check(!rp.kp.addr);
	unregister_jprobe(&jp);
	check(!jp.kp.addr);
	rp.kp.addr = (void *)c_plain;
	must(register_kretprobe(&rp));
	unregister_kretprobe(&rp);
	check(rp.kp.addr == (void *)c_plain);
	unregister_kretprobe(&rp);
	check(!rp.kp.addr);
}

TEST(row_134_arrays_need_a_number_and_entries)
{
	struct kprobe kp = probe_at(c_plain);
	struct kprobe *kps[2] = { &kp, NULL };
	struct kretprobe *rps[1] = { NULL };
	struct jprobe *jps[1] = { NULL };

	check_eq(register_kprobes(kps, 0), -EINVAL);
	check_eq(register_kprobes(kps, -1), -EINVAL);
	check_eq(register_kprobes(NULL, 1), -EINVAL);
	check_eq(register_kprobes(kps, 2), -EINVAL);
	check_eq(list_length(), 0);
	check_eq(register_kretprobes(rps, 1), -EINVAL);
	check_eq(register_kretprobes(rps, 0), -EINVAL);
	check_eq(register_jprobes(jps, 1), -EINVAL);
	check_eq(register_jprobes(jps, -5), -EINVAL);
	check_eq(register_kretprobe(NULL), -EINVAL);
	check_eq(enable_kprobe(NULL), -EINVAL);
	check_eq(dp_kprobe_hits(NULL), 0);
	unregister_kprobe(NULL);
	unregister_kretprobe(NULL);
	unregister_jprobe(NULL);
	unregister_kprobes(NULL, 1);
	unregister_kprobes(kps, 0);
	unregister_kprobes(kps, -1);
	check(kp.addr == (void *)c_plain);
}

TEST(row_135_an_error_takes_back_all_up_to_the_bad_probe)
{
	struct kprobe kp[4] = { probe_at(c_plain),
				probe_at(c_other),
				{ .symbol_name = NOWHERE },
				probe_at(c_third) };
	struct kprobe *kps[4] = { &kp[0], &kp[1], &kp[2], &kp[3] };
	struct conform_text text[3] = { text_of(c_plain), text_of(c_other),
					text_of(c_third) };
	int i;

	check_eq(register_kprobes(kps, 4), -ENOENT);
	remember_why();
	check(strstr(said, NOWHERE));
	for (i = 0; i < 3; i++)
		check(text_same(&text[i]));
	check_eq(list_length(), 0);
	check_eq(c_plain(1, 1) + c_other(1, 1) + c_third(1, 1), 18);
	check_eq(counts.pre, 0);
	kps[2] = &kp[3];
	must(register_kprobes(kps, 3));
	c_third(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobes(kps, 3);
}

TEST(row_135_a_bad_first_and_a_bad_last_probe)
{
	struct kprobe bad = { .addr = (kprobe_opcode_t *)v_mov_at + 1 };
	struct kprobe a = probe_at(c_plain), b = probe_at(c_other);
	struct kprobe *first[3] = { &bad, &a, &b }, *last[3] = { &a, &b, &bad };

	check_eq(register_kprobes(first, 3), -EILSEQ);
	check_eq(list_length(), 0);
	bad.addr = (kprobe_opcode_t *)v_mov_at + 1;
	check_eq(register_kprobes(last, 3), -EILSEQ);
	check_eq(list_length(), 0);
	must(register_kprobe(&a));
	unregister_kprobe(&a);
}

TEST(row_135_the_same_probe_twice_in_an_array)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_other);
	struct kprobe *kps[3] = { &a, &b, &a };

	check_eq(register_kprobes(kps, 3), -EINVAL);
	check_eq(list_length(), 0);
	c_plain(1, 1);
	check_eq(counts.pre, 0);
}

TEST(row_135_a_registered_probe_survives_a_bad_batch)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_other);
	struct kprobe *kps[2] = { &b, &a };

	must(register_kprobe(&a));
	check_eq(register_kprobes(kps, 2), -EINVAL);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	check_eq(list_length(), 1);
	unregister_kprobe(&a);
	check(a.addr);
}

TEST(row_136_every_entry_of_an_array_counts)
{
	static struct kprobe kp[100];
	struct kprobe *kps[100];
	int i;

	for (i = 0; i < 100; i++) {
		kp[i] = probe_at(c_plain);
		kps[i] = &kp[i];
	}
	must(register_kprobes(kps, 100));
	c_plain(1, 1);
	check_eq(counts.pre, 100);
	for (i = 0; i < 100; i++)
		check_eq(dp_kprobe_hits(&kp[i]), 1);
	unregister_kprobes(kps, 100);
	check_eq(list_length(), 0);
}

TEST(row_137_unregistering_an_array_removes_all)
{
	struct kretprobe rp[2] = { retprobe_at(c_plain), retprobe_at(c_other) };
	struct kretprobe *rps[2] = { &rp[0], &rp[1] };
	struct conform_text text = text_of(c_other);

	must(register_kretprobes(rps, 2));
	check_eq(c_plain(1, 1) + c_other(1, 1), 10);
	check_eq(counts.ret, 2);
	unregister_kretprobes(rps, 2);
	check(text_same(&text));
	check_eq(list_length(), 0);
}

TEST(row_138_wrong_entries_are_cleared_and_the_others_unregistered)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_other),
		      c = probe_at(c_third);
	struct kprobe *kps[4] = { &a, &b, NULL, &c };

	must(register_kprobe(&a));
	must(register_kprobe(&c));
	unregister_kprobes(kps, 4);
	check(a.addr == (void *)c_plain);
	check(!b.addr);
	check(c.addr == (void *)c_third);
	check_eq(list_length(), 0);
}

TEST(row_139_disable_stops_the_handlers_for_a_time)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);

	kp.post_handler = count_post;
	must(register_kprobe(&kp));
	c_plain(1, 1);
	must(disable_kprobe(&kp));
	check(kp.flags & KPROBE_FLAG_DISABLED);
	check(text_same(&text));
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 1);
	check_eq(kp.nmissed, 0);
	must(disable_kprobe(&kp));
	must(enable_kprobe(&kp));
	check(!(kp.flags & KPROBE_FLAG_DISABLED));
	c_plain(1, 1);
	check_eq(counts.pre, 2);
	unregister_kprobe(&kp);
}

TEST(row_139_disabling_one_leaves_the_other_at_the_address)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_plain);

	must(register_kprobe(&a));
	must(register_kprobe(&b));
	must(disable_kprobe(&a));
	c_plain(1, 1);
	check_eq(dp_kprobe_hits(&a), 0);
	check_eq(dp_kprobe_hits(&b), 1);
	check_eq(counts.pre, 1);
	must(disable_kprobe(&b));
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	must(enable_kprobe(&a));
	c_plain(1, 1);
	check_eq(counts.pre, 2);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
}

TEST(row_139_return_probes_can_be_disabled)
{
	struct kretprobe rp = retprobe_at(c_plain);

	must(register_kretprobe(&rp));
	must(disable_kretprobe(&rp));
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, 0);
	must(enable_kretprobe(&rp));
	check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
}

TEST(row_140_enabling_what_is_enabled_changes_nothing)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	must(enable_kprobe(&kp));
	must(enable_kprobe(&kp));
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

TEST(row_141_enable_and_disable_demand_a_registered_probe)
{
	struct kprobe kp = probe_at(c_plain);
	struct kretprobe rp = retprobe_at(c_plain);
	struct jprobe jp = { .kp.addr = (void *)c_plain };

	check_eq(enable_kprobe(&kp), -EINVAL);
	check_eq(disable_kprobe(&kp), -EINVAL);
	check_eq(enable_kretprobe(&rp), -EINVAL);
	check_eq(disable_kretprobe(&rp), -EINVAL);
	check_eq(enable_jprobe(&jp), -EINVAL);
	check_eq(disable_jprobe(&jp), -EINVAL);
	must(register_kprobe(&kp));
	unregister_kprobe(&kp);
	check_eq(enable_kprobe(&kp), -EINVAL);
	check_eq(disable_kprobe(&kp), -EINVAL);
}

#ifndef __KERNEL__
TEST(row_142_get_kprobe_finds_the_first_at_an_address)
{
	struct kprobe a = probe_at(c_plain), b = probe_at(c_plain);
	struct jprobe jp = { .kp.addr = (void *)c_plain,
			     .entry = (void *)c_other };

	check(!get_kprobe((void *)c_plain));
	must(register_kprobe(&a));
	must(register_kprobe(&b));
	check(get_kprobe((void *)c_plain) == &a);
	check(!get_kprobe((void *)c_other));
	must(register_jprobe(&jp));
	check(get_kprobe((void *)c_plain) == &a);
	unregister_kprobe(&a);
	check(get_kprobe((void *)c_plain) == &b);
	unregister_kprobe(&b);
	check(get_kprobe((void *)c_plain) == &jp.kp);
	unregister_jprobe(&jp);
	check(!get_kprobe((void *)c_plain));
}
#endif
