// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gone: code that is unmapped or replaced under its probes, in every way of
 * arming, while knobs are turned.
 *
 * ROUNDS: of those that other threads disturb.
 */
#include "tests/self/self.h"
#include <dlfcn.h>
#include <stdatomic.h>

#define PAGE 4096
#define FAR (PAGE / 2)

/* push %rbp; mov %rsp,%rbp; lea 1(%rdi),%rax; nop; leave; ret: a jump of several
 * instructions, and a breakpoint on one byte. */
static const unsigned char code_a[] = "\x55\x48\x89\xe5\x48\x8d\x47\x01"
				      "\x90\xc9\xc3";
/* lea 2(%rdi),%rax; xchg %ax,%ax; ret */
static const unsigned char code_b[] = "\x48\x8d\x47\x02\x66\x90\xc3";

static volatile long runs;

static int just_count(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
	return 0;
}

static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static int returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static long call(const unsigned char *code, long a)
{
	return ((long (*)(long))(uintptr_t)code)(a);
}

static void fill(unsigned char *page, const unsigned char *code, size_t n)
{
	memset(page, code == code_a ? 0x90 : 0xf4, PAGE);
	memcpy(page, code, n);
	memcpy(page + FAR, code, n);
}

static unsigned char *map_at(void *at, int fd, long offset, int prot)
{
	int flags = MAP_PRIVATE | (at ? MAP_FIXED : 0) |
		    (fd < 0 ? MAP_ANONYMOUS : 0);
	void *page = mmap(at, PAGE, prot, flags, fd, offset);

	if (page == MAP_FAILED)
		abort();
	return page;
}

static unsigned char *map_code(void *at, const unsigned char *code, size_t n)
{
	unsigned char *page =
		map_at(at, -1, 0, PROT_READ | PROT_WRITE | PROT_EXEC);

	fill(page, code, n);
	return page;
}

/* --- what comes to the place --- */

enum then {
	THEN_NOTHING,
	THEN_ZEROS,
	THEN_BREAKPOINTS,
	THEN_SAME_CODE,
	THEN_OTHER_CODE,
	THEN_FILE,
	THEN_OTHER_PAGE, /* of the file that was there */
	THEN_NR,
};

static const char *const then_names[] = {
	"nothing",
	"zeros",
	"breakpoints",
	"the same code again",
	"other code",
	"a file",
	"another page of the file",
};

static int this_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

static unsigned char *map_file(void *at, long offset)
{
	int fd = this_file();
	unsigned char *page = map_at(at, fd, offset, PROT_READ | PROT_EXEC);

	close(fd);
	return page;
}

static void replace(unsigned char *page, enum then then)
{
	switch (then) {
	case THEN_NOTHING:
		munmap(page, PAGE);
		break;
	case THEN_ZEROS:
	case THEN_BREAKPOINTS:
		map_at(page, -1, 0, PROT_READ | PROT_WRITE);
		memset(page, then == THEN_ZEROS ? 0 : 0xcc, PAGE);
		break;
	case THEN_SAME_CODE:
		map_code(page, code_a, sizeof(code_a));
		break;
	case THEN_OTHER_CODE:
		map_code(page, code_b, sizeof(code_b));
		break;
	case THEN_FILE:
		map_file(page, 0);
		break;
	default:
		map_file(page, PAGE);
	}
}

/* --- what is asked for first --- */

/* Everything at a page that goes, and at one that stays. @same: the same code
 * comes to its place, so that the probe which is @off is as good as before. */
struct probes {
	bool same;
	unsigned char *goes, *stays;
	struct kprobe jump, inside, late, off, other, fresh;
	struct kretprobe ret;
};

static struct kprobe at(unsigned char *addr)
{
	return (struct kprobe){ .addr = addr, .pre_handler = just_count };
}

static int put(struct probes *p)
{
	p->jump = at(p->goes);
	p->inside = at(p->goes + FAR);
	p->late = at(p->goes + FAR + 4);
	p->late.post_handler = after;
	p->off = at(p->goes + 8);
	p->off.flags = KPROBE_FLAG_DISABLED;
	p->ret = (struct kretprobe){ .kp.addr = p->goes, .handler = returns };
	p->other = at(p->stays);
	p->fresh = at(p->stays + FAR);
	EXPECT(!register_kprobe(&p->jump) && !register_kprobe(&p->inside) &&
	       !register_kprobe(&p->late) && !register_kprobe(&p->off) &&
	       !register_kretprobe(&p->ret) && !register_kprobe(&p->other));
	runs = 0;
	EXPECT(call(p->goes, 1) == 2 && call(p->goes + FAR, 1) == 2 &&
	       call(p->stays, 1) == 2 && runs == 4);
	return 0;
}

static int turn_jumps(struct probes *p)
{
	EXPECT(dp_kprobes_optimization(0) == 0);
	EXPECT(dp_kprobes_optimization(1) == 1);
	return 0;
}

static int turn_all(struct probes *p)
{
	long had = runs;

	EXPECT(dp_kprobes_enabled(0) == 0);
	EXPECT(!p || (call(p->stays, 1) == 2 && runs == had));
	EXPECT(dp_kprobes_enabled(1) == 1);
	EXPECT(!p || (call(p->stays, 1) == 2 && runs == had + 1));
	runs = had;
	return 0;
}

static int switch_other(struct probes *p)
{
	EXPECT(!disable_kprobe(&p->other) && !enable_kprobe(&p->other));
	return 0;
}

static int put_fresh(struct probes *p)
{
	EXPECT(!register_kprobe(&p->fresh));
	EXPECT(call(p->stays + FAR, 1) == 2 && runs == 5);
	runs = 4;
	unregister_kprobe(&p->fresh);
	return 0;
}

static int switch_own(struct probes *p)
{
	EXPECT(enable_kprobe(&p->off) == (p->same ? 0 : -EINVAL));
	EXPECT(!disable_kprobe(&p->off));
	EXPECT(!disable_kprobe(&p->jump));
	EXPECT(p->jump.flags == (KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED));
	return 0;
}

static void count_gone(void *arg, const char *line)
{
	*(int *)arg += strstr(line, "[GONE]") != NULL;
}

static int list(struct probes *p)
{
	int gone = 0;

	EXPECT(dp_kprobes_list(count_gone, &gone) == 6 && gone == 5 - p->same);
	return 0;
}

static int nothing_first(struct probes *p)
{
	return 0;
}

static int (*const firsts[])(struct probes *) = {
	turn_jumps, turn_all, switch_other,  put_fresh,
	switch_own, list,     nothing_first,
};
#define FIRSTS (sizeof(firsts) / sizeof(firsts[0]))

/* Gone, and the others are as if nothing had happened. */
static int others_live(struct probes *p, bool asked)
{
	int gone = 0;

	EXPECT(call(p->stays, 1) == 2 && runs == 5);
	if (!asked)
		return 0;
	EXPECT(p->jump.flags & KPROBE_FLAG_GONE);
	EXPECT(p->ret.kp.flags & KPROBE_FLAG_GONE);
	EXPECT(p->late.flags == KPROBE_FLAG_GONE && !disable_kprobe(&p->late) &&
	       p->late.flags == (KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED));
	EXPECT(p->off.flags ==
	       (KPROBE_FLAG_DISABLED | (p->same ? 0 : KPROBE_FLAG_GONE)));
	EXPECT(!(p->other.flags & KPROBE_FLAG_GONE));
	EXPECT(dp_kprobes_list(count_gone, &gone) == 6 && gone == 5 - p->same);
	EXPECT(turn_jumps(p) == 0 && turn_all(p) == 0);
	return 0;
}

static int take(struct probes *p)
{
	unregister_kprobe(&p->jump);
	unregister_kprobe(&p->inside);
	unregister_kprobe(&p->late);
	unregister_kprobe(&p->off);
	unregister_kretprobe(&p->ret);
	unregister_kprobe(&p->other);
	EXPECT(dp_kprobes_list(count_gone, &(int){ 0 }) == 0);
	return 0;
}

static int replaced_by(unsigned char *goes, unsigned char *stays,
		       enum then then, size_t first)
{
	struct probes p = { .goes = goes,
			    .stays = stays,
			    .same = then == THEN_SAME_CODE };
	unsigned char was[PAGE], text[PAGE];

	memcpy(text, stays, PAGE);
	if (put(&p))
		return 1;
	replace(goes, then);
	if (then != THEN_NOTHING)
		memcpy(was, goes, PAGE);
	runs = 4;
	if (firsts[first](&p) ||
	    others_live(&p, firsts[first] != nothing_first))
		return 1;
	if (take(&p))
		return 1;
	EXPECT(then == THEN_NOTHING || !memcmp(was, goes, PAGE));
	EXPECT(!memcmp(text, stays, PAGE));
	EXPECT(turn_jumps(NULL) == 0 && turn_all(NULL) == 0);
	return 0;
}

static int replaced(void *arg)
{
	unsigned char *stays = map_code(NULL, code_a, sizeof(code_a));
	unsigned char *goes = map_code(NULL, code_a, sizeof(code_a));
	enum then then;
	size_t first;

	for (then = THEN_NOTHING; then < THEN_OTHER_PAGE; then++)
		for (first = 0; first < FIRSTS; first++) {
			map_code(goes, code_a, sizeof(code_a));
			if (replaced_by(goes, stays, then, first)) {
				printf("# by %s, call %zu\n", then_names[then],
				       first);
				fflush(stdout);
				return 1;
			}
		}
	return 0;
}

/* Of a file that the dynamic linker knows nothing of: another page of it that has
 * the same bytes. */
static int another_page(void *arg)
{
	unsigned char page[PAGE];
	char name[] = "/tmp/dprobes-gone-XXXXXX";
	int fd = mkstemp(name), i;
	unsigned char *code;

	fill(page, code_a, sizeof(code_a));
	EXPECT(fd >= 0 && write(fd, page, PAGE) == PAGE &&
	       write(fd, page, PAGE) == PAGE);
	unlink(name);
	code = map_at(NULL, fd, 0, PROT_READ | PROT_EXEC);
	for (i = 0; i < 4; i++) {
		struct kprobe p = at(code), q = at(code + FAR);

		q.post_handler = after;
		p.flags = i & 2 ? KPROBE_FLAG_DISABLED : 0;
		EXPECT(!register_kprobe(&p) && !register_kprobe(&q));
		map_at(code, fd, i & 1 ? 0 : PAGE, PROT_READ | PROT_EXEC);
		EXPECT(turn_jumps(NULL) == 0 && turn_all(NULL) == 0);
		EXPECT(!memcmp(code, page, PAGE));
		EXPECT(p.flags & q.flags & KPROBE_FLAG_GONE);
		unregister_kprobe(&p);
		unregister_kprobe(&q);
		EXPECT(!memcmp(code, page, PAGE) && call(code, 1) == 2);
	}
	return 0;
}

/* --- while another thread turns the knobs --- */

static atomic_bool stop_all;
static unsigned char *steady;
static volatile long turns;

static void *turns_knobs(void *arg)
{
	while (!stop_all) {
		if (dp_kprobes_optimization((int)(turns & 1)) < 0 ||
		    dp_kprobes_enabled(!(turns & 2)) < 0) {
			printf("# a knob: %s\n", dp_last_diag()->text);
			return arg;
		}
		turns++;
	}
	dp_kprobes_optimization(1);
	dp_kprobes_enabled(1);
	return NULL;
}

static long rounds(void)
{
	const char *arm = getenv("DPROBES_ARM");

	return amount("ROUNDS", !strcmp(arm, "quiesce") ? 40 : 400);
}

static int unmap_rounds(void)
{
	unsigned char *code;
	long i;

	for (i = 0; i < rounds(); i++) {
		struct probes p = { .stays = steady };
		struct kprobe *some[] = { &p.jump, &p.inside, &p.late };

		code = map_code(NULL, code_a, sizeof(code_a));
		p.jump = at(code);
		p.inside = at(code + FAR);
		p.late = at(code + FAR + 8);
		p.late.post_handler = after;
		EXPECT(!register_kprobes(some, 3));
		EXPECT(call(code, 1) == 2 && call(code + FAR, 1) == 2);
		if (i & 1)
			usleep((useconds_t)i % 300);
		munmap(code, PAGE);
		if (i & 2)
			EXPECT(!disable_kprobe(&p.jump) &&
			       (p.jump.flags & KPROBE_FLAG_GONE));
		EXPECT(call(steady, 1) == 2);
		unregister_kprobes(some, 3);
	}
	return 0;
}

static char one[600], two[600];

static int own_text(const char *name)
{
	struct text text = text_of(name);
	int k;

	for (k = 0; k < 20; k++)
		EXPECT(!text_differs(&text));
	free(text.file);
	return 0;
}

/* One library goes, and another comes to its place. Or the same: whether it has
 * gone cannot be told while all probes are switched off. */
static int load_rounds(void)
{
	void *same = NULL, *so;
	long again = 0, i, (*f)(long), (*g)(long);

	for (i = 0; i < rounds(); i++) {
		const char *name = i & 2 ? "libself_one" : "libself_two";
		struct kprobe p = { .pre_handler = just_count }, q = p;
		struct kprobe *some[] = { &p, &q };

		so = dlopen(one, RTLD_NOW);
		EXPECT(so);
		f = (long (*)(long))(uintptr_t)dlsym(so, "so_first");
		g = (long (*)(long))(uintptr_t)dlsym(so, "so_second");
		again += (void *)(uintptr_t)f == same;
		same = (void *)(uintptr_t)f;
		p.addr = (void *)(uintptr_t)f;
		q.addr = (void *)(uintptr_t)g;
		q.post_handler = i & 1 ? after : NULL;
		EXPECT(!register_kprobes(some, 2));
		EXPECT(f(1) == 4 && g(1) == 9);
		dlclose(so);
		so = dlopen(i & 2 ? one : two, RTLD_NOW);
		EXPECT(i & 2 || !own_text(name));
		EXPECT(!disable_kprobe(&p));
		EXPECT(i & 2 || p.flags & KPROBE_FLAG_GONE);
		unregister_kprobes(some, 2);
		EXPECT(!own_text(name));
		dlclose(so);
	}
	printf("# the same place %ld times\n", again);
	return 0;
}

static int disturbed(void *arg)
{
	int (*work)(void) = arg ? load_rounds : unmap_rounds;
	struct kprobe other;
	pthread_t thread;
	void *failed;
	int err;

	steady = map_code(NULL, code_a, sizeof(code_a));
	other = at(steady);
	EXPECT(!register_kprobe(&other));
	pthread_create(&thread, NULL, turns_knobs, &other);
	err = work();
	/* On a busy machine they turn slowly. */
	while (turns <= 3 && pthread_tryjoin_np(thread, &failed) == EBUSY)
		usleep(1000);
	EXPECT(turns > 3);
	stop_all = true;
	pthread_join(thread, &failed);
	EXPECT(!failed);
	runs = 0;
	EXPECT(call(steady, 1) == 2 && runs == 1);
	unregister_kprobe(&other);
	EXPECT(!memcmp(steady, code_a, sizeof(code_a)));
	return err;
}

/* --- a child that is made before anybody has noticed --- */

static int children(void *arg)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 8; i++) {
		void *so = dlopen(one, RTLD_NOW);
		struct kprobe p = { .addr = dlsym(so, "so_first"),
				    .pre_handler = just_count };
		struct kprobe q = { .addr = dlsym(so, "so_second"),
				    .pre_handler = just_count };
		struct text text;

		EXPECT(!register_kprobe(&p) && !register_kprobe(&q));
		dlclose(so);
		so = dlopen(two, RTLD_NOW);
		pid = fork();
		if (!pid) {
			text = text_of("libself_two");
			_exit(text_differs(&text) != 0);
		}
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
		unregister_kprobe(&p);
		unregister_kprobe(&q);
		dlclose(so);
	}
	return 0;
}

static void each_way(const char *arm)
{
	char what[100];

	setenv("DPROBES_ARM", arm, 1);
	snprintf(what, sizeof(what), "%s: code that is replaced", arm);
	ok_child(replaced, NULL, 120, what);
	snprintf(what, sizeof(what), "%s: another page of a file", arm);
	ok_child(another_page, NULL, 30, what);
	snprintf(what, sizeof(what), "%s: unmapped while knobs turn", arm);
	ok_child(disturbed, NULL, 200, what);
	snprintf(what, sizeof(what), "%s: unloaded while knobs turn", arm);
	ok_child(disturbed, one, 200, what);
	snprintf(what, sizeof(what), "%s: a child made meanwhile", arm);
	ok_child(children, NULL, 30, what);
}

int main(int argc, char **argv)
{
	int n = (int)(strrchr(argv[0], '/') - argv[0]);

	snprintf(one, sizeof(one), "%.*s/libself_one.so", n, argv[0]);
	snprintf(two, sizeof(two), "%.*s/libself_two.so", n, argv[0]);
	each_way("trap");
	each_way("interior");
	each_way("quiesce");
	return plan();
}
