// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * memory: every allocation of the library fails once, and once for good.
 *
 * This program's malloc() and mmap() are the library's. A call either succeeds
 * or says -ENOMEM, and then leaves nothing behind.
 */
#include "conform.h"
#include "victims.h"
#include <sys/mman.h>
#include <sys/syscall.h>

#define MOST 5000

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

/* The number of the allocation that fails, from 1; 0 for none. */
static __thread int fail_at;
static __thread int allocations;
static __thread bool for_good;

static bool fails(void)
{
	if (!fail_at)
		return false;
	allocations++;
	if (allocations != fail_at && (!for_good || allocations < fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = fails() ? NULL : __libc_memalign(align, size);
	return *p ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (fails())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

static void begin(int n, bool good)
{
	allocations = 0;
	for_good = good;
	fail_at = n;
}

/* Return: whether the allocation was reached. */
static bool end(void)
{
	bool reached = allocations >= fail_at;

	fail_at = 0;
	return reached;
}

/* --- calls that register --- */

static struct kprobe kp[10];
static struct kprobe *kps[10];
static struct kretprobe rp;
static struct jprobe jp;

static long j_plain(long a, long b)
{
	count(&counts.entry);
	jprobe_return();
	return 0;
}

static void prepare(void)
{
	static void *const at[] = { c_plain, c_other, c_third, v_mov,
				    v_call,  v_into,  v_tiny,  c_recurse };
	unsigned int i;

	for (i = 0; i < COUNT(kp); i++) {
		kps[i] = &kp[i];
		kp[i] = (struct kprobe){ .pre_handler = count_pre };
		if (i < COUNT(at))
			kp[i].addr = at[i];
	}
	kp[8].symbol_name = "c_static_function";
	kp[9].symbol_name = "getppid";
	rp = retprobe_at(c_plain);
	rp.data_size = 100;
	jp = (struct jprobe){ .kp.addr = (void *)c_plain,
			      .entry = (void *)j_plain };
}

struct call {
	int (*on)(void);
	void (*off)(void);
	int probes;
};

static int on_one(void)
{
	return register_kprobe(&kp[0]);
}

static void off_one(void)
{
	unregister_kprobe(&kp[0]);
}

static int on_many(void)
{
	return register_kprobes(kps, COUNT(kps));
}

static void off_many(void)
{
	unregister_kprobes(kps, COUNT(kps));
}

static int on_return(void)
{
	return register_kretprobe(&rp);
}

static void off_return(void)
{
	unregister_kretprobe(&rp);
}

static int on_jprobe(void)
{
	return register_jprobe(&jp);
}

static void off_jprobe(void)
{
	unregister_jprobe(&jp);
}

static const struct call one = { on_one, off_one, 1 };
static const struct call many = { on_many, off_many, COUNT(kp) };
static const struct call return_probe = { on_return, off_return, 1 };
static const struct call a_jprobe = { on_jprobe, off_jprobe, 1 };

static void register_with_failures(const struct call *c, bool good)
{
	struct conform_text text = text_of(c_plain);
	bool reached = true;
	int n, rc;

	for (n = 1; reached && n < MOST; n++) {
		prepare();
		begin(n, good);
		rc = c->on();
		reached = end();
		if (rc != 0 && rc != -ENOMEM)
			conform_fail(__FILE__, __LINE__,
				     "allocation %d%s: %s: %s", n,
				     good ? " and on" : "", strerror(-rc),
				     dp_last_diag()->text);
		check_eq(list_length(), rc ? 0 : c->probes);
		check_eq(text_same(&text), rc != 0);
		check_eq(c_plain(2, 1), 7);
		if (!rc)
			c->off();
		check(text_same(&text));
		check_eq(list_length(), 0);
	}
	check(!reached);
	check(n > 2);
}

TEST(row_155_register_kprobe_without_memory)
{
	register_with_failures(&one, false);
	register_with_failures(&one, true);
}

TEST(row_155_register_kprobe_without_memory_from_the_start)
{
	register_with_failures(&one, true);
}

TEST(row_155_register_kprobes_without_memory)
{
	register_with_failures(&many, false);
	register_with_failures(&many, true);
}

TEST(row_038_register_kretprobe_without_memory)
{
	register_with_failures(&return_probe, false);
	register_with_failures(&return_probe, true);
}

TEST(row_155_register_jprobe_without_memory)
{
	register_with_failures(&a_jprobe, false);
	register_with_failures(&a_jprobe, true);
}

/* --- calls on what is registered --- */

static void unregister_with_failures(const struct call *c, bool good)
{
	struct conform_text text = text_of(c_plain);
	bool reached = true;
	int n;

	for (n = 1; reached && n < MOST; n++) {
		prepare();
		must(c->on());
		begin(n, good);
		c->off();
		reached = end();
		check(text_same(&text));
		counts.pre = counts.ret = counts.entry = 0;
		check_eq(c_plain(2, 1), 7);
		check_eq(counts.pre + counts.ret + counts.entry, 0);
		check_eq(list_length(), 0);
	}
	check(!reached);
}

TEST(row_132_unregistering_without_memory)
{
	unregister_with_failures(&one, true);
	unregister_with_failures(&many, true);
	unregister_with_failures(&return_probe, true);
	unregister_with_failures(&a_jprobe, true);
	unregister_with_failures(&many, false);
}

/* A state that is asked for is there, or the call says that it is not. */
static void turn_with_failures(int (*turn)(bool on), bool good)
{
	bool reached, on = false;
	int n, rc;

	prepare();
	must(on_many());
	for (n = 1, reached = true; reached && n < MOST; n++, on = !on) {
		begin(n, good);
		rc = turn(on);
		reached = end();
		check(rc >= 0 || rc == -ENOMEM);
		if (rc < 0)
			must(turn(on) >= 0 ? 0 : -EIO);
		counts.pre = 0;
		check_eq(c_plain(2, 1), 7);
		check_eq(counts.pre, on ? 1 : 0);
	}
	check(!reached);
	turn(true);
	off_many();
	check_eq(list_length(), 0);
}

static int turn_one(bool on)
{
	return on ? enable_kprobe(&kp[0]) : disable_kprobe(&kp[0]);
}

static int turn_all(bool on)
{
	return dp_kprobes_enabled(on);
}

TEST(row_139_enabling_and_disabling_without_memory)
{
	turn_with_failures(turn_one, false);
	turn_with_failures(turn_one, true);
}

TEST(row_193_the_knob_without_memory)
{
	turn_with_failures(turn_all, false);
	turn_with_failures(turn_all, true);
}

static void nothing(void *arg, const char *text)
{
}

TEST(row_197_optimisation_and_lists_without_memory)
{
	bool reached = true;
	int n, rc;

	prepare();
	must(on_many());
	for (n = 1; reached && n < MOST; n++) {
		begin(n, n & 1);
		rc = dp_kprobes_optimization(n & 2 ? 1 : 0);
		if (rc >= 0)
			rc = dp_kprobes_list(nothing, NULL);
		if (rc >= 0)
			rc = dp_kprobes_blacklist(nothing, NULL);
		reached = end();
		check(rc >= 0 || rc == -ENOMEM);
		counts.pre = 0;
		check_eq(c_plain(2, 1), 7);
		check_eq(v_into(5, 0), 5);
		check_eq(counts.pre, 2);
	}
	check(!reached);
	off_many();
}

/* A hit allocates nothing. */
static void hit_without_memory(int index)
{
	int i;

	begin(1, true);
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
	check(!end());
}

TEST(row_155_hits_allocate_nothing)
{
	prepare();
	must(on_many());
	must(on_return());
	in_threads(hit_without_memory);
	check_eq(counts.ret + rp.nmissed,
		 (unsigned long)ROUNDS * conform_threads());
	off_return();
	off_many();
}
