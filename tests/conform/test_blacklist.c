// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* blacklist: what may not be probed. */
#include "conform.h"
#include "victims.h"

/* The first instruction is as long as a jump, the last one follows it. */
static __attribute__((noinline, noclone)) long secret(long n)
{
	__asm__ volatile("");
	return n * 1000003 + 17;
}
NOKPROBE_SYMBOL(secret);

static __attribute__((noinline, noclone)) long open_one(long n)
{
	__asm__ volatile("");
	return n * 1000003 + 18;
}

static nokprobe_inline long inlined(long n)
{
	return n + 1;
}

static char said[DP_DIAG_MAX];

static void is_refused(struct kprobe *kp)
{
	struct conform_text text = text_of(secret);

	check_eq(register_kprobe(kp), -EINVAL);
	strcpy(said, dp_last_diag()->text);
	check(said[0]);
	check(text_same(&text));
	check_eq(list_length(), 0);
}

TEST(row_002_what_cannot_be_trapped_is_refused)
{
	static void *const functions[] = {
		register_kprobe, unregister_kprobes, register_kretprobe,
		register_jprobe, jprobe_return,	     dp_kprobes_list,
		dp_last_diag,
	};
	unsigned int i;

	for (i = 0; i < COUNT(functions); i++) {
		struct kprobe kp = { .addr = functions[i] };
		struct kretprobe rp = { .kp.addr = functions[i] };
		struct jprobe jp = { .kp.addr = functions[i],
				     .entry = (void *)c_plain };

		is_refused(&kp);
		check_eq(register_kretprobe(&rp), -EINVAL);
		check_eq(register_jprobe(&jp), -EINVAL);
	}
}

TEST(row_146_the_engines_own_code_is_einval)
{
	unsigned char *at = (unsigned char *)register_kprobe;
	struct kprobe kp;
	int i;

	/* At whatever boundary there is in the first bytes: none is let in. */
	for (i = 0; i < 32; i++) {
		kp = (struct kprobe){ .addr = at + i };
		check_eq(register_kprobe(&kp), -EINVAL);
	}
}

TEST(row_084_nokprobe_symbol_puts_a_function_on_the_list)
{
	struct kprobe named = { .symbol_name = "secret" };
	struct kprobe at = { .addr = (void *)secret };
	struct kretprobe rp = retprobe_at(secret);

	check_eq(secret(1), 1000020);
	is_refused(&named);
	check(strstr(said, "NOKPROBE_SYMBOL"));
	is_refused(&at);
	check_eq(register_kretprobe(&rp), -EINVAL);
	check_eq(secret(inlined(0)), 1000020);
}

TEST(row_085_any_address_in_it_is_rejected)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		struct kprobe kp = { .addr = (unsigned char *)secret + i };

		check_eq(register_kprobe(&kp), -EINVAL);
	}
	check_eq(secret(2), 2000023);
}

TEST(row_085_its_neighbour_is_not)
{
	struct kprobe kp = probe_at((void *)open_one);

	must(register_kprobe(&kp));
	check_eq(open_one(1), 1000021);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

TEST(row_085_a_batch_with_one_of_them_is_taken_back)
{
	struct kprobe good = probe_at(c_plain),
		      bad = { .addr = (void *)secret };
	struct kprobe *kps[] = { &good, &bad };

	check_eq(register_kprobes(kps, 2), -EINVAL);
	check_eq(list_length(), 0);
	c_plain(1, 1);
	check_eq(counts.pre, 0);
}

/* What the kernel enters by itself, and what the library lives on. Each of them
 * is refused, or works. */
static int print_pre(struct kprobe *p, struct pt_regs *regs)
{
	char text[32], copy[32];

	snprintf(text, sizeof(text), "%lx", regs->ip);
	memcpy(copy, text, sizeof(copy));
	count(&counts.pre);
	return copy[0] == 'x';
}

TEST(row_086_probing_what_the_library_uses_does_not_recurse)
{
	static const char *const names[] = {
		"memcpy",
		"memset",
		"strlen",
		"malloc",
		"free",
		"calloc",
		"mmap",
		"mprotect",
		"sigaction",
		"sigprocmask",
		"pthread_sigmask",
		"syscall",
		"getpid",
		"sched_yield",
		"pthread_mutex_lock",
		"pthread_mutex_unlock",
		"write",
		"snprintf",
		"vsnprintf",
		"__tls_get_addr",
		"dl_iterate_phdr",
	};
	struct kprobe kp[COUNT(names)];
	struct kprobe mine = { .addr = (void *)c_plain,
			       .pre_handler = print_pre };
	unsigned int i;
	int rc[COUNT(names)];

	for (i = 0; i < COUNT(names); i++) {
		kp[i] = (struct kprobe){ .symbol_name = names[i],
					 .pre_handler = print_pre,
					 .post_handler = i & 1 ? count_post :
								 NULL };
		rc[i] = register_kprobe(&kp[i]);
		check(rc[i] == 0 || rc[i] == -EINVAL || rc[i] == -ENOENT);
	}
	must(register_kprobe(&mine));
	for (i = 0; i < ROUNDS; i++)
		c_plain(i, 1);
	check_eq(dp_kprobe_hits(&mine), ROUNDS);
	check(getpid() > 0);
	unregister_kprobe(&mine);
	for (i = 0; i < COUNT(names); i++)
		if (!rc[i])
			unregister_kprobe(&kp[i]);
	check_eq(list_length(), 0);
}

/* --- printed --- */

static unsigned long lines, wrong;
static bool has_secret;

static void look_at(void *arg, const char *text)
{
	unsigned long start, end;
	const char *name;

	lines++;
	name = strpbrk(text, " \t");
	if (sscanf(text, "0x%lx-0x%lx ", &start, &end) != 2 || start >= end ||
	    !name || !strchr(name, ':') || strchr(text, '\n'))
		wrong++;
	else if (start <= (unsigned long)secret && (unsigned long)secret < end)
		has_secret = strstr(text, "secret") && arg == &lines;
}

TEST(row_085_the_list_can_be_printed)
{
	int n = dp_kprobes_blacklist(look_at, &lines);

	check(n > 0);
	check_eq(lines, n);
	check_eq(wrong, 0);
	check(has_secret);
}

struct ranges {
	unsigned long start[64], end[64];
	int n;
};

static void keep_range(void *arg, const char *text)
{
	struct ranges *r = arg;

	if (r->n < 64 &&
	    sscanf(text, "0x%lx-0x%lx", &r->start[r->n], &r->end[r->n]) == 2)
		r->n++;
}

/* Its own code, what it generates, and where its traps arrive. */
TEST(row_147_whatever_the_list_names_is_refused)
{
	struct kprobe armed = probe_at(c_plain);
	static struct ranges r;
	int i;

	must(register_kprobe(&armed));
	check(dp_kprobes_blacklist(keep_range, &r) > 1);
	for (i = 0; i < r.n; i++) {
		struct kprobe first = { .addr = (void *)r.start[i] };
		struct kprobe last = { .addr = (void *)(r.end[i] - 1) };

		check_eq(register_kprobe(&first), -EINVAL);
		check_eq(register_kprobe(&last), -EINVAL);
	}
	check_eq(list_length(), 1);
	unregister_kprobe(&armed);
}
