// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * module: orders to load modules, what becomes of the environment that has one, and what
 * modules ask of the library. The library's objects are in the program; no module is loaded.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define DP_NO_CURRENT
#include <dprobes/uprobes.h>
#include "engine/layout/handler.h"
#include "lib/frames.h"
#include "lib/insmod.h"
#include "lib/modules.h"
#include "lib/self.h"

#define MANY 70 /* more than are found at once */
#define IS "is"
#define ASAN "ASAN_OPTIONS" /* of a program with that, it has to be told */

/* --- orders --- */

static void orders_are_lines(void **state)
{
	char text[] = "a/b.so\nx=1\n@one=two\n\ny=a b\n@three=four\n";
	char none[] = "", no_name[] = "\nx=1", plain[] = "only.so";
	struct dp_module_order o;

	assert_int_equal(dp_module_order_parse(&o, text), 0);
	assert_string_equal(o.module, "a/b.so");
	assert_int_equal(o.nr_params, 2);
	assert_string_equal(o.params[0], "x=1");
	assert_string_equal(o.params[1], "y=a b");
	assert_int_equal(o.nr_aliases, 2);
	assert_string_equal(o.aliases[0], "one=two");
	assert_string_equal(o.aliases[1], "three=four");
	assert_int_equal(dp_module_order_parse(&o, plain), 0);
	assert_string_equal(o.module, "only.so");
	assert_int_equal(o.nr_params + o.nr_aliases, 0);
	assert_int_equal(dp_module_order_parse(&o, none), -EINVAL);
	assert_int_equal(dp_module_order_parse(&o, no_name), -EINVAL);
}

/* What is more is left out; nothing is written behind. */
static void words_are_limited(void **state)
{
	static char text[16 * DP_MODULE_WORDS];
	struct dp_module_order o;
	u32 i, n = 0;

	n += (u32)sprintf(text, "m.so\n");
	for (i = 0; i < DP_MODULE_WORDS + 2; i++)
		n += (u32)sprintf(text + n, "p%u\n@a%u\n", i, i);
	assert_int_equal(dp_module_order_parse(&o, text), 0);
	assert_int_equal(o.nr_params, DP_MODULE_WORDS);
	assert_int_equal(o.nr_aliases, DP_MODULE_WORDS);
	for (i = 0; i < DP_MODULE_WORDS; i++) {
		assert_int_equal(atoi(o.params[i] + 1), i);
		assert_int_equal(atoi(o.aliases[i] + 1), i);
	}
}

/* --- an order in the environment --- */

/* Run the program again with an order. Return: its status; see is_as_said(). */
static int run_again(const char *order, const char *preload)
{
	char *const argv[] = { (char *)"again", (char *)IS, (char *)preload,
			       NULL };
	char env[4096];
	int status;
	pid_t child = fork();

	if (!child) {
		snprintf(env, sizeof(env), DP_INSMOD_ENV "=%s", order);
		execve("/proc/self/exe", argv,
		       (char *[]){ (char *)ASAN "=verify_asan_link_order=0",
				   (char *)"LD_PRELOAD=libutil.so.1", env,
				   (char *)"B=2", NULL });
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Is the environment what the user has made it? */
static int is_as_said(const char *preload)
{
	const char *is = getenv("LD_PRELOAD");

	if (getenv(DP_INSMOD_ENV))
		return 1;
	if (*preload ? !is || strcmp(is, preload) : !!is)
		return 2;
	if (!getenv(ASAN) || !getenv("B"))
		return 3;
	return environ[2 + !!*preload] ? 4 : 0;
}

static void the_environment_is_the_users(void **state)
{
	assert_int_equal(run_again("/nowhere\n\nm.so", ""), 0);
	assert_int_equal(run_again("/nowhere\nlibm.so.6\nm.so", "libm.so.6"),
			 0);
	/* An order that cannot be read is not obeyed, and nobody's. */
	assert_int_equal(run_again("/nowhere", "libutil.so.1"), 1);
}

static void a_module_that_is_refused_ends_the_program(void **state)
{
	struct dp_insmod *told;
	char order[256];
	int fd = memfd_create("told", 0);

	assert_int_equal(ftruncate(fd, sizeof(*told)), 0);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	assert_ptr_not_equal(told, MAP_FAILED);
	snprintf(order, sizeof(order), "/proc/%d/fd/%d\n\n/nowhere/m.so",
		 getpid(), fd);
	assert_int_equal(run_again(order, ""), DP_INSMOD_REFUSED);
	assert_int_equal(told->state, DP_INSMOD_FAILED);
	assert_int_equal(told->err, -ENOENT);
	assert_non_null(strstr(told->diag.text, "/nowhere/m.so"));
	assert_non_null(strstr(told->exe, "test_module"));
	assert_int_equal(told->lines[0].turn, 0);
	munmap(told, sizeof(*told));
	close(fd);
}

/* --- what modules ask --- */

extern const char dp_compat_printk[] __attribute__((visibility("hidden")));

static void functions_are_looked_up(void **state)
{
	assert_int_equal(dp_compat_hooks.lookup("getppid"),
			 (u64)dlsym(RTLD_DEFAULT, "getppid"));
	assert_int_equal(dp_compat_hooks.lookup("printk"),
			 (u64)dp_compat_printk);
	assert_int_equal(dp_compat_hooks.lookup("there_is_no_such_function"),
			 0);
	assert_false(dp_self_busy());
}

/* Without an engine there is nothing to wait for. */
static void nothing_is_made_for_a_look(void **state)
{
	dp_compat_hooks.settle();
	dp_compat_hooks.closed();
	assert_null(dp_self.engine);
	assert_false(dp_self_busy());
}

static void registers_are_of_the_hit(void **state)
{
	static struct dp_stack stack;

	dp_self_stack_addr = 0;
	assert_null(dp_compat_hooks.hit_regs());
	dp_self_stack_addr = (u64)&stack;
	stack.regs = 0x1000;
	assert_null(dp_compat_hooks.hit_regs());
	stack.busy = DP_BUSY_HANDLER;
	assert_int_equal((u64)dp_compat_hooks.hit_regs(), 0x1000);
	stack.jumped = 1;
	assert_int_equal((u64)dp_compat_hooks.hit_regs(), (u64)stack.saved);
	dp_self_stack_addr = 0;
}

static void traces_leave_stubs(void **state)
{
	struct dp_pair_facts facts;
	unsigned long ip, sp = 5;
	struct dp_frame *f;

	assert_int_equal(dp_frames_reserve(1, 0, &facts), 0);
	f = (struct dp_frame *)dp_frames()->table + 3;
	f->ret_addr = 0x1234;
	ip = dp_frames()->stubs + 3 * DP_STUB_SIZE + DP_STUB_BACK;
	assert_true(dp_compat_hooks.leave(&ip, &sp));
	assert_int_equal(ip, 0x1234);
	assert_int_equal(sp, 5);
	assert_false(dp_compat_hooks.leave(&ip, &sp));
	assert_int_equal(ip, 0x1234);
	f->ret_addr = 0;
}

/* --- probes that a module leaves behind --- */

#define VICTIM(name)                                    \
	static long __attribute__((noipa)) name(long x) \
	{                                               \
		return x * 3 + 1;                       \
	}
VICTIM(victim)
VICTIM(jumped)

/* Handlers, each at an address of its own */
extern const char handlers[];
__asm__(".text\n"
	".balign 16\n"
	"handlers:\n"
	".rept 8\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"	.balign 16\n"
	".endr\n");

enum { PRE, POST, FAULT, RETURN, ENTRY, JUMP, OTHER };

static void *handler(int which)
{
	return (void *)(handlers + 16 * which);
}

static struct kprobe kp[3];
static struct kretprobe rp[2];
static struct jprobe jp;

static void enter_all(void)
{
	u32 i;

	memset(kp, 0, sizeof(kp));
	for (i = 0; i < 3; i++)
		kp[i].addr = (void *)victim;
	kp[0].pre_handler = handler(PRE);
	kp[1].post_handler = handler(POST);
	kp[2].pre_handler = handler(OTHER);
	kp[2].fault_handler = handler(FAULT);
	memset(rp, 0, sizeof(rp));
	for (i = 0; i < 2; i++) {
		rp[i].kp.addr = (void *)victim;
		rp[i].handler = handler(OTHER);
	}
	rp[0].handler = handler(RETURN);
	rp[1].entry_handler = handler(ENTRY);
	jp = (struct jprobe){ .kp.addr = (void *)jumped,
			      .entry = handler(JUMP) };
	for (i = 0; i < 3; i++)
		assert_int_equal(register_kprobe(&kp[i]), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(register_kretprobe(&rp[i]), 0);
	assert_int_equal(register_jprobe(&jp), 0);
}

static bool is_there(const void *p)
{
	u32 index;

	return dp_probe_index(p, &index);
}

static unsigned int sweep(const void *at, size_t size)
{
	return dp_compat_hooks.sweep(at, size);
}

/* By the handler's first byte alone, whatever the handler does. */
static void probes_go_with_their_handlers(void **state)
{
	const void *of[] = {
		[PRE] = &kp[0],	   [POST] = &kp[1],  [FAULT] = &kp[2],
		[RETURN] = &rp[0], [ENTRY] = &rp[1], [JUMP] = &jp
	};
	int i;

	enter_all();
	for (i = PRE; i <= JUMP; i++) {
		assert_int_equal(sweep(handler(i) + 1, 15), 0);
		assert_true(is_there(of[i]));
		assert_int_equal(sweep(handler(i), 1), 1);
		assert_false(is_there(of[i]));
	}
	assert_int_equal(sweep(handlers, 8 * 16), 0);
}

static void probes_go_with_their_memory(void **state)
{
	enter_all();
	assert_int_equal(sweep((char *)&kp[1] + 1, sizeof(kp[1])), 1);
	assert_true(is_there(&kp[1]));
	assert_false(is_there(&kp[2]));
	assert_int_equal(sweep(kp, sizeof(kp)), 2);
	assert_int_equal(sweep(rp, sizeof(rp)), 2);
	assert_int_equal(sweep(&jp, 1), 1);
	assert_int_equal(sweep(kp, sizeof(kp)), 0);
}

static void on_hit(struct uprobe *u, struct pt_regs *regs)
{
}

static void all_of_many_go(void **state)
{
	struct kprobe *many = calloc(MANY, sizeof(*many));
	struct uprobe u = { .pid = getpid(),
			    .vaddr = (unsigned long)victim,
			    .handler = on_hit };
	u32 i;

	for (i = 0; i < MANY; i++) {
		many[i].addr = (void *)victim;
		many[i].pre_handler = handler(PRE);
		assert_int_equal(register_kprobe(&many[i]), 0);
	}
	assert_int_equal(sweep(many, MANY * sizeof(*many)), MANY);
	for (i = 0; i < MANY; i++)
		assert_false(is_there(&many[i]));
	assert_int_equal(register_uprobe(&u), 0);
	assert_int_equal(sweep(&u, sizeof(u)), 1);
	assert_int_equal(sweep(&u, sizeof(u)), 0);
	free(many);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_lines),
		cmocka_unit_test(words_are_limited),
		cmocka_unit_test(the_environment_is_the_users),
		cmocka_unit_test(a_module_that_is_refused_ends_the_program),
		cmocka_unit_test(functions_are_looked_up),
		cmocka_unit_test(nothing_is_made_for_a_look),
		cmocka_unit_test(registers_are_of_the_hit),
		cmocka_unit_test(traces_leave_stubs),
		cmocka_unit_test(probes_go_with_their_handlers),
		cmocka_unit_test(probes_go_with_their_memory),
		cmocka_unit_test(all_of_many_go),
	};

	if (argc == 3 && !strcmp(argv[1], IS))
		return is_as_said(argv[2]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
