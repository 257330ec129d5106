// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_program_init: programs at probes on files: what they may read and write, and which are refused. */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, programs: "
#define EFLAGS 0x0c
#define PORTS (3ul << 12)
#define FS_BASE 0x72
#define GS_BASE 0x73
#define SOME_BASE 0x12345000ul
#define XMM 0x80
#define INVALID_ADDR 1
#define LOCALS 4
#define PANIC "/proc/sys/kernel/panic"

/* Return: a session with a program at dp_user_step(), armed; a negative errno. @words: why it is refused */
static int run(const struct dp_asm *c, unsigned int allow, unsigned int flags,
	       char *words)
{
	struct dp_device_program want = { .variables = LOCALS,
					  .jumps = 10,
					  .log = 64,
					  .allow = allow,
					  .flags = flags };
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1);

	err = err ?: dp_user_add(fd, (void *)dp_user_step, &probe);
	err = err ?: dp_device_program(fd, c->bytes, c->n, &want, words);
	err = err ?: dp_device_bind(fd, probe, want.program, 0);
	err = err ?: dp_device_commit(fd, 0);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/** struct record - one that a program has made of this thread */
struct record {
	struct dp_device_record head;
	unsigned char log[128];
};

/* Return: is there one, and no other? */
static int take(int fd, struct record *r)
{
	ssize_t size;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	size = read(fd, r, sizeof(*r));
	return size >= (ssize_t)sizeof(r->head) && size == r->head.size &&
	       r->head.tid == (unsigned int)getpid() && !r->head.context &&
	       r->head.pid == r->head.tid && !strcmp(r->head.comm, "init");
}

/* Return: has it logged @n values, behind their token? */
static int logged(int fd, const uint64_t *values, unsigned int n)
{
	struct record r;
	int is = take(fd, &r) && !r.head.exception && r.head.log == 3 + 8 * n &&
		 !memcmp(r.log + 3, values, 8 * n);

	if (!is)
		printf("# %u bytes, exception %#x at %#llx\n", r.head.log,
		       r.head.exception, r.head.parm[0]);
	return is;
}

/* Return: has it ended at a bad address, and logged no more than that? */
static int failed(int fd, uint64_t addr)
{
	struct record r;
	int is = take(fd, &r) && r.head.exception == INVALID_ADDR &&
		 r.head.parm[0] == addr && r.head.log == 3 + 8 &&
		 !memcmp(r.log + 3, &addr, 8);

	if (!is)
		printf("# %u bytes, exception %#x at %#llx\n", r.head.log,
		       r.head.exception, r.head.parm[0]);
	return is;
}

static void reads(void)
{
	static const char text[8] = "stepped";
	unsigned long to = 1;
	struct dp_asm c = { .n = 0 };
	uint64_t want[4];
	int fd;

	dp_asm_op16(&c, DP_OPCODE_PUSH_R, GS_BASE);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, FS_BASE);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, DP_ASM_RSI);
	dp_asm_op(&c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op16(&c, DP_OPCODE_LOG_I, 4);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	fd = run(&c, 0, DP_DEVICE_USER, NULL);
	syscall(SYS_arch_prctl, ARCH_SET_GS, SOME_BASE);
	want[0] = 41;
	memcpy(&want[1], text, sizeof(text));
	want[2] = (uint64_t)__builtin_thread_pointer();
	want[3] = SOME_BASE;
	dp_init_check(fd >= 0 && dp_user_step(41, text, &to) == 42 &&
			      logged(fd, want, 4),
		      "a program has the task's registers and memory", OF);
	syscall(SYS_arch_prctl, ARCH_SET_GS, 0ul);
	close(fd);
}

static void reads_no_kernel(void)
{
	uint64_t banner = dp_init_address("linux_banner");
	struct dp_asm c = { .n = 0 };
	int fd;

	dp_asm_op64(&c, DP_OPCODE_PUSH, banner);
	dp_asm_op(&c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op16(&c, DP_OPCODE_LOG_I, 1);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	fd = run(&c, 0, DP_DEVICE_USER, NULL);
	dp_init_check(banner && fd >= 0 && dp_user_step(1, "", NULL) == 2 &&
			      failed(fd, banner),
		      "a program reads no memory of the kernel's", OF);
	close(fd);
	c.n = 0;
	dp_asm_op64(&c, DP_OPCODE_PUSH, banner);
	dp_asm_op64(&c, DP_OPCODE_PUSH, 8);
	dp_asm_op(&c, DP_OPCODE_XCHG);
	dp_asm_op(&c, DP_OPCODE_LOG_STR);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	fd = run(&c, 0, DP_DEVICE_USER, NULL);
	dp_init_check(fd >= 0 && dp_user_step(1, "", NULL) == 2 &&
			      failed(fd, banner),
		      "nor logs it", OF);
	close(fd);
}

static void writes(void)
{
	char words[DP_DEVICE_WORDS] = "";
	/* What may be written there, to write it would be seen. */
	uint64_t variable = dp_init_address("panic_timeout");
	unsigned int was = dp_init_number(PANIC);
	unsigned long to = 1;
	struct dp_asm c = { .n = 0 };
	int fd;

	dp_asm_op16(&c, DP_OPCODE_PUSH_R, DP_ASM_RDX);
	dp_asm_op64(&c, DP_OPCODE_PUSH, 77);
	dp_asm_op(&c, DP_OPCODE_POP_MEM_U64);
	dp_asm_op64(&c, DP_OPCODE_PUSH, 100);
	dp_asm_op16(&c, DP_OPCODE_POP_R, DP_ASM_RDI);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	fd = run(&c, 0, DP_DEVICE_USER, words);
	dp_init_check(fd == -EINVAL && *words,
		      "a program writes only what it has asked for", OF);
	fd = run(&c, DP_DEVICE_WRITE | DP_DEVICE_REGISTERS, DP_DEVICE_USER,
		 words);
	dp_init_check(fd >= 0 && dp_user_step(1, "", &to) == 101 && to == 77,
		      "then it does, to memory and registers", OF);
	dp_init_check(fd >= 0 && variable &&
			      dp_user_step(1, "", (void *)variable) == 2 &&
			      failed(fd, variable) &&
			      dp_init_number(PANIC) == was,
		      "and to none of the kernel's", OF);
	close(fd);
}

/* "pop u" and "pop r" are of the same registers. Flags would give a task rights. */
static void writes_users(void)
{
	char words[DP_DEVICE_WORDS] = "";
	unsigned long to = 1;
	struct dp_asm c = { .n = 0 };
	int fd;

	dp_asm_op16(&c, DP_OPCODE_PUSH_U, DP_ASM_RDI);
	dp_asm_op16(&c, DP_OPCODE_POP_R, DP_ASM_RSI);
	dp_asm_op64(&c, DP_OPCODE_PUSH, 100);
	dp_asm_op16(&c, DP_OPCODE_POP_U, DP_ASM_RDI);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	fd = run(&c, DP_DEVICE_REGISTERS, DP_DEVICE_USER, words);
	dp_init_check(fd >= 0 && dp_user_step(1, "", &to) == 101,
		      "as registers of user space, too", OF);
	close(fd);
	c.n = 0;
	dp_asm_op64(&c, DP_OPCODE_PUSH, PORTS);
	dp_asm_op16(&c, DP_OPCODE_POP_U, EFLAGS);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	dp_init_check(run(&c, DP_DEVICE_REGISTERS, DP_DEVICE_USER, words) ==
			      -EINVAL,
		      "and no flags", OF);
}

/* --- registers of the floating-point units --- */

#define FCW 0x46
#define WHOLE_XMM1 0x4e
#define MXCSR 0x55
#define VECTORS 5
#define ROUND_UP 0x5f80
#define SLEEPS 7779
#define STEPPED 4

typedef unsigned long pair __attribute__((vector_size(16)));

static unsigned long step_with(unsigned long n, double first, pair second)
{
	unsigned long (*step)(unsigned long, const char *, unsigned long *,
			      double, pair) = (void *)dp_user_step;

	return step(n, "stepping", NULL, first, second);
}

static int run_vectors(void)
{
	struct dp_asm c = { .n = 0 };

	dp_asm_op16(&c, DP_OPCODE_PUSH_R, MXCSR);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, FCW);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, WHOLE_XMM1);
	dp_asm_op16(&c, DP_OPCODE_PUSH_U, XMM);
	dp_asm_op16(&c, DP_OPCODE_LOG_I, VECTORS);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	return run(&c, 0, DP_DEVICE_USER, NULL);
}

static void expect(uint64_t *want, double first, pair second)
{
	uint16_t control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	memcpy(&want[0], &first, sizeof(first));
	want[1] = second[0];
	want[2] = second[1];
	want[3] = control;
	want[4] = ROUND_UP;
}

static void vectors(void)
{
	const pair second = { 0x1122334455667788, 0x99aabbccddeeff00 };
	unsigned int was = __builtin_ia32_stmxcsr();
	int fd = run_vectors(), is;
	uint64_t want[VECTORS];

	expect(want, 2.5, second);
	__builtin_ia32_ldmxcsr(ROUND_UP);
	is = fd >= 0 && step_with(41, 2.5, second) == 42;
	__builtin_ia32_ldmxcsr(was);
	dp_init_check(is && logged(fd, want, VECTORS),
		      "a program has the task's vector registers", OF);
	close(fd);
}

/* A module's handler at the same place, which is called before the program, sleeps. Meanwhile this process uses the
 * registers of the only CPU that both may have. */
static pid_t sleep_with(const uint64_t *want)
{
	const pair second = { want[1], want[2] };
	double first;
	pid_t child = fork();

	if (child)
		return child;
	memcpy(&first, &want[0], sizeof(first));
	__builtin_ia32_ldmxcsr(ROUND_UP);
	_exit(step_with(SLEEPS, first, second) == SLEEPS + 1 ? STEPPED : 1);
}

/* Return: has it ended as it should? */
static int use_vectors(pid_t child)
{
	const pair other = { ~0ul, ~0ul };
	int status;

	while (!waitpid(child, &status, WNOHANG))
		__asm__ volatile("movaps %0, %%xmm0\n\tmovaps %0, %%xmm1"
				 :
				 : "m"(other)
				 : "xmm0", "xmm1");
	return WIFEXITED(status) && WEXITSTATUS(status) == STEPPED;
}

static void put_away(void)
{
	const pair second = { 0x0102030405060708, 0x1112131415161718 };
	cpu_set_t first, was;
	uint64_t want[VECTORS];
	struct record r;
	int fd = run_vectors(), is;
	pid_t child;

	sched_getaffinity(0, sizeof(was), &was);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	expect(want, -0.75, second);
	is = fd >= 0 && dp_user_load_handlers();
	child = sleep_with(want);
	is &= use_vectors(child);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	is = is && read(fd, &r, sizeof(r)) == (ssize_t)r.head.size &&
	     r.head.tid == (unsigned int)child &&
	     r.head.log == 3 + sizeof(want) &&
	     !memcmp(r.log + 3, want, sizeof(want));
	dp_init_check(is, "also where others have used the CPU since", OF);
	dp_user_unload_handlers();
	sched_setaffinity(0, sizeof(was), &was);
	close(fd);
}

static void refused_programs(void)
{
	char words[DP_DEVICE_WORDS] = "";
	struct dp_asm c = { .n = 0 };

	dp_asm_op(&c, DP_OPCODE_EXIT);
	dp_init_check(run(&c, DP_DEVICE_PORTS, DP_DEVICE_USER, words) ==
				      -EINVAL &&
			      strstr(words, "ports"),
		      "refused: ports", OF);
	dp_init_check(run(&c, 0, 0, words) == -EINVAL,
		      "refused: a program for the kernel, on a file", OF);
	c.n = 0;
	dp_asm_op(&c, DP_OPCODE_EXIT_N);
	dp_asm_op(&c, 3);
	dp_init_check(run(&c, 0, DP_DEVICE_USER, words) == -EINVAL &&
			      strstr(words,
				     "exit 3: a task would have to wait"),
		      "refused: a core file", OF);
	c.n = 0;
	dp_asm_op(&c, DP_OPCODE_EXIT_N);
	dp_asm_op(&c, 2);
	dp_init_check(run(&c, 0, DP_DEVICE_USER, words) == -EINVAL &&
			      strstr(words, "write modtype = kernel"),
		      "refused: a dump of the kernel", OF);
}

static void refused_bindings(void)
{
	struct dp_device_program want = { .flags = DP_DEVICE_USER };
	struct dp_device_add at = { 0 };
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err = dp_device_start(fd, 1);

	err = err ?: dp_device_add(fd, DP_GETSID, words, &at);
	err = err ?: dp_device_program(fd, code, 1, &want, words);
	dp_init_check(!err && dp_device_bind(fd, at.probe, want.program, 0) ==
				      -EINVAL,
		      "refused: a program for files, in the kernel", OF);
	close(fd);
}

/* --- memory that comes and goes --- */

static char *volatile page;
static volatile bool over;

static void *map_and_unmap(void *unused)
{
	while (!over) {
		mmap(page, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1,
		     0);
		usleep(1);
		munmap(page, 4096);
		usleep(1);
	}
	return NULL;
}

static void unmapped(void)
{
	struct dp_asm c = { .n = 0 };
	pthread_t thread;
	int fd, i, good;

	dp_asm_op16(&c, DP_OPCODE_INC_LV_I, 0);
	dp_asm_op16(&c, DP_OPCODE_PUSH_R, DP_ASM_RSI);
	dp_asm_op(&c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op16(&c, DP_OPCODE_INC_LV_I, 1);
	dp_asm_op(&c, DP_OPCODE_ABORT);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = run(&c, 0, DP_DEVICE_USER, NULL);
	if (pthread_create(&thread, NULL, map_and_unmap, NULL))
		return;
	for (i = 0, good = fd >= 0; i < 3000; i++)
		good &= dp_user_step(i, page, NULL) == i + 1ul;
	over = true;
	pthread_join(thread, NULL);
	dp_init_check(good && dp_device_variable(fd, 0, 0) == 3000 &&
			      dp_device_variable(fd, 0, 1) > 0 &&
			      dp_device_variable(fd, 0, 1) < 3000,
		      "memory may go while a program reads it", OF);
	printf("# %ld of 3000 found it\n", dp_device_variable(fd, 0, 1));
	close(fd);
}

void dp_user_programs(void)
{
	reads();
	reads_no_kernel();
	writes();
	writes_users();
	vectors();
	put_away();
	refused_programs();
	refused_bindings();
	unmapped();
}
