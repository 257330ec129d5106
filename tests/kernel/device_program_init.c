// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_program_init: programs at probes by /dev/dprobes: some that are known, and many that are
 * put together at random from all that the kernel takes.
 */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 300
#define OF "device, programs: "
/* Sessions of random programs, programs of each, bytes of one */
#define SESSIONS 36
#define EACH 16
#define BYTES 512
#define LOCALS 8

/* Of a record with one value */
#define SIZE 88
/* Of struct pt_regs, where the call has its first argument */
#define ARGUMENT 0x70

static uint64_t seed = 521288629;

static unsigned int below(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed >> 11) % n);
}

/* Counts in variable 0 the calls with @argument, in 1 the others. */
static void count_calls(struct dp_asm *c, uint64_t argument)
{
	dp_asm_op16(c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op64(c, DP_OPCODE_PUSH, ARGUMENT);
	dp_asm_op(c, DP_OPCODE_ADD);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op64(c, DP_OPCODE_PUSH, argument);
	dp_asm_op(c, DP_OPCODE_EQ);
	dp_asm_op64(c, DP_OPCODE_JZ, 4);
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 0);
	dp_asm_op(c, DP_OPCODE_EXIT);
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

static int add(int fd, const char *name, unsigned int *probe)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS];
	int err = dp_device_add(fd, name, words, &add);

	*probe = add.probe;
	return err;
}

static void count(unsigned int arming, unsigned int interpret, const char *of)
{
	struct dp_device_program want = { .variables = 2, .jumps = 10 };
	struct dp_asm c = { .n = 0 };
	char words[DP_DEVICE_WORDS] = "";
	unsigned int probe = 0;
	int i, fd = dp_device_open(0),
	       err = dp_device_start_by(fd, arming, interpret);

	count_calls(&c, 5);
	err = err ?: add(fd, DP_GETSID, &probe);
	err = err ?: dp_device_program(fd, c.bytes, c.n, &want, words);
	err = err ?: dp_device_bind(fd, probe, want.program, want.heap);
	dp_init_check(!err, of, OF "a program is taken, ");
	if (err)
		printf("# %d at %u: %s\n", err, want.offset, words);
	dp_init_check(dp_device_bind(fd, probe, want.program, want.heap) ==
			      -EINVAL,
		      of, OF "a probe has one, ");
	err = dp_device_commit(fd, 0);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getsid, i % 3 ? 5 : 6);
	dp_init_check(!err &&
			      dp_device_variable(fd, want.program, 0) ==
				      CALLS / 3 * 2 &&
			      dp_device_variable(fd, want.program, 1) ==
				      CALLS / 3 &&
			      dp_device_variable(fd, want.program, 2) == -1,
		      of, OF "it counts what it should, ");
	close(fd);
}

/* Logs the argument of a call. */
static void log_calls(struct dp_asm *c)
{
	dp_asm_op16(c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op64(c, DP_OPCODE_PUSH, ARGUMENT);
	dp_asm_op(c, DP_OPCODE_ADD);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

/** struct sums - of records that have been read */
struct sums {
	unsigned int n, wrong;
	uint64_t sum, ticks;
};

/* A value stands behind a prefix of three bytes. */
static void take(const struct dp_device_record *r, struct sums *sums)
{
	const char *data = (const char *)(r + 1);
	uint64_t value = 0;

	memcpy(&value, data + 3, sizeof(value));
	sums->sum += value;
	sums->n++;
	sums->wrong += r->log != 11 || r->size != SIZE || r->probe ||
		       r->tid != (unsigned int)getpid() || r->context ||
		       r->exception || r->flags || r->ticks < sums->ticks;
	sums->ticks = r->ticks;
}

static int read_some(int fd, struct sums *sums, size_t size)
{
	char buffer[4096];
	ssize_t n = read(fd, buffer, size), at;
	const struct dp_device_record *r;

	for (at = 0; at < n; at += r->size) {
		r = (const void *)(buffer + at);
		take(r, sums);
	}
	return n < 0 ? -errno : (int)n;
}

static int begin_log(int fd)
{
	struct dp_device_program want = { .variables = 0, .log = 64 };
	struct dp_asm c = { .n = 0 };
	char words[DP_DEVICE_WORDS] = "";
	unsigned int probe = 0;
	int err;

	log_calls(&c);
	err = dp_device_start(fd, DP_DEVICE_JUMP) ?: add(fd, DP_GETSID, &probe);
	err = err ?: dp_device_program(fd, c.bytes, c.n, &want, words);
	err = err ?: dp_device_bind(fd, probe, want.program, want.heap);
	return err ?: dp_device_commit(fd, 0);
}

static void records(void)
{
	struct sums sums = { 0 };
	int fd = dp_device_open(0), err = begin_log(fd), i, soon, late, status;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pid_t child;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	dp_init_check(!err && read_some(fd, &sums, 4096) == -EAGAIN &&
			      !poll(&p, 1, 0),
		      "there are none at first", OF "records: ");
	for (i = 0; i < CALLS; i++) {
		syscall(SYS_getsid, i);
		if (i % 100 == 99)
			while (read_some(fd, &sums, 1000) > 0)
				continue;
	}
	printf("# %u records, sum %llu, %u wrong\n", sums.n,
	       (unsigned long long)sums.sum, sums.wrong);
	dp_init_check(sums.n == CALLS && !sums.wrong &&
			      sums.sum == CALLS * (CALLS - 1) / 2,
		      "each call has made one", OF "records: ");
	syscall(SYS_getsid, 0);
	dp_init_check(read_some(fd, &sums, SIZE - 1) == -EINVAL &&
			      read_some(fd, &sums, SIZE) == SIZE,
		      "they are read whole", OF "records: ");
	soon = poll(&p, 1, 0);
	child = fork();
	if (!child) {
		usleep(50000);
		syscall(SYS_getsid, 0);
		_exit(0);
	}
	late = poll(&p, 1, 30000);
	dp_init_check(!soon && late == 1, "poll waits for them",
		      OF "records: ");
	waitpid(child, &status, 0);
	read_some(fd, &sums, 4096);
	fcntl(fd, F_SETFL, 0);
	child = fork();
	if (!child) {
		usleep(50000);
		syscall(SYS_getsid, 0);
		_exit(0);
	}
	dp_init_check(read_some(fd, &sums, 4096) == SIZE, "and so does read",
		      OF "records: ");
	waitpid(child, &status, 0);
	close(fd);
}

/* Logs a value so often. Return: 0 or a negative errno */
static int add_filler(int fd, const char *name, unsigned int times)
{
	struct dp_device_program want = { .log = 64 };
	struct dp_asm c = { .n = 0 };
	unsigned int probe = 0, i;
	int err;

	for (i = 0; i < times; i++)
		dp_asm_op64(&c, DP_OPCODE_PUSH, ~0ull);
	dp_asm_op16(&c, DP_OPCODE_LOG_I, times);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	err = dp_device_program(fd, c.bytes, c.n, &want, NULL);
	err = err ?: add(fd, name, &probe);
	return err ?: dp_device_bind(fd, probe, want.program, 0);
}

/* Behind the log of a record is nothing of one that was there before. */
static void padding(void)
{
	int fd = dp_device_open(O_NONBLOCK),
	    err = dp_device_start(fd, DP_DEVICE_JUMP);
	unsigned char buffer[4096];
	ssize_t first, second;
	unsigned int i, dirty = 0;

	err = err ?: add_filler(fd, DP_GETSID, 2);
	err = err ?: add_filler(fd, DP_UMASK, 1);
	err = err ?: dp_device_commit(fd, 0);
	syscall(SYS_getsid, 0);
	first = read(fd, buffer, sizeof(buffer));
	syscall(SYS_umask, 022);
	second = read(fd, buffer, sizeof(buffer));
	for (i = sizeof(struct dp_device_record) + 11; i < SIZE; i++)
		dirty += buffer[i] != 0;
	dp_init_check(!err && first > SIZE && second == SIZE && !dirty &&
			      buffer[sizeof(struct dp_device_record) + 10] ==
				      0xff,
		      "nothing is behind a log", OF "records: ");
	close(fd);
}

/* Return: bytes of records that were read before there was none */
static int drain(int fd)
{
	char buffer[4096];
	ssize_t n;
	int all = 0;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		all += (int)n;
	return errno == EAGAIN ? all : -1;
}

/* Who is told of what comes alone reads all, and does not ask in between. */
static void edges(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = dp_device_open(O_NONBLOCK), err = begin_log(fd),
	    all = epoll_create1(EPOLL_CLOEXEC), i, told = 0, had = 0;

	err = err ?: epoll_ctl(all, EPOLL_CTL_ADD, fd, &event);
	for (i = 0; i < 3; i++) {
		syscall(SYS_getsid, 0);
		told += epoll_wait(all, &event, 1, 5000);
		had += drain(fd);
	}
	dp_init_check(!err && told == 3 && had == 3 * SIZE,
		      "epoll tells of each that comes when all were read",
		      OF "records: ");
	dp_init_check(!epoll_wait(all, &event, 1, 100), "and of nothing else",
		      OF "records: ");
	close(all);
	close(fd);
}

static const unsigned char writes[] = { DP_OPCODE_POP_MEM_U8, DP_OPCODE_EXIT };

/* What it asks for, and where its probes begin */
static void refuse_asking(void)
{
	struct dp_device_program want = { .allow = 1 }, more = { .allow = 8 };
	struct dp_device_bind bind = { .exceptions = 0xfff };
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err;
	unsigned int probe;

	err = dp_device_start(fd, DP_DEVICE_TRAP) ?: add(fd, DP_GETSID, &probe);
	dp_init_check(!err && !dp_device_program(fd, writes, sizeof(writes),
						 &want, words),
		      "what asks to write may", OF);
	dp_init_check(dp_device_program(fd, writes, sizeof(writes), &more,
					words) == -EINVAL,
		      "there is nothing else to ask for", OF);
	bind.probe = probe;
	bind.program = want.program;
	bind.start = 1;
	err = ioctl(fd, DP_DEVICE_BIND, &bind);
	bind.start = 0;
	bind.probe = probe + 1;
	err = err && ioctl(fd, DP_DEVICE_BIND, &bind);
	bind.probe = probe;
	bind.heap = 1;
	err = err && ioctl(fd, DP_DEVICE_BIND, &bind);
	bind.heap = 0;
	dp_init_check(err && !ioctl(fd, DP_DEVICE_BIND, &bind),
		      "a probe runs it from where it begins, with what it has",
		      OF);
	close(fd);
}

int dp_device_may_write(int fd)
{
	struct dp_device_program want = { .allow = 1 }, plain = { .allow = 0 };
	static const unsigned char ends[] = { DP_OPCODE_EXIT };
	struct dp_device_info info = { 0 };
	int err = dp_device_start(fd, DP_DEVICE_TRAP);

	err = err ?: ioctl(fd, DP_DEVICE_INFO, &info);
	err = err ?: dp_device_program(fd, ends, 1, &plain, NULL);
	if (err)
		return -1;
	return info.allow || dp_device_program(fd, writes, sizeof(writes),
					       &want, NULL) != -EPERM;
}

static void refuse(void)
{
	static const struct {
		unsigned char code[12];
		unsigned int size;
		const char *what;
	} bad[] = {
		{ { DP_OPCODE_POP_MEM_U8, DP_OPCODE_EXIT }, 2, "memory" },
		{ { DP_OPCODE_PUSH_IO_U8, DP_OPCODE_EXIT }, 2, "ports" },
		{ { DP_OPCODE_POP_R, DP_ASM_RDI, 0, DP_OPCODE_EXIT },
		  4,
		  "registers" },
		{ { DP_OPCODE_LOG_ST, DP_OPCODE_EXIT }, 2, "stack traces" },
		{ { DP_OPCODE_EXIT_N, 2 }, 2, "a dump" },
		{ { DP_OPCODE_LEAVE, DP_OPCODE_EXIT }, 2, "leave" },
		{ { DP_OPCODE_AGGREGATE, 0, 1, DP_OPCODE_EXIT }, 4, "a table" },
		{ { DP_OPCODE_PUSH, 1 }, 2, "operand" },
		{ { DP_OPCODE_NOP }, 1, "end" },
		{ { DP_OPCODE_PUSH_LV_I, 9, 0, DP_OPCODE_EXIT }, 4, "variable" },
		{ { DP_OPCODE_JMP, 1, 0, 0, 0, 0, 0, 0, 0, DP_OPCODE_EXIT },
		  10,
		  "jump" },
	};
	struct dp_device_program want;
	char words[DP_DEVICE_WORDS];
	int fd = dp_device_open(0), err;
	unsigned int i;

	dp_device_start(fd, DP_DEVICE_TRAP);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		want = (struct dp_device_program){ .variables = 2 };
		err = dp_device_program(fd, bad[i].code, bad[i].size, &want,
					words);
		dp_init_check(err == -EINVAL && *words, bad[i].what,
			      OF "refused: ");
	}
	close(fd);
}

#define DP_OP_ROW(code, name, operand, ...) { code, DP_OPERAND_##operand },
static const struct {
	unsigned char code, operand;
} ops[] = { DP_OPS(DP_OP_ROW) };

/* An operand that is likely to be taken. @where: instructions before it begin there */
static void some_operand(struct dp_asm *c, unsigned char operand,
			 const unsigned int *where, unsigned int n)
{
	uint64_t value = below(4) ? below(64) :
				    ((uint64_t)below(~0u) << 32) | below(~0u);
	int64_t back;

	switch (operand) {
	case DP_OPERAND_U8:
		dp_asm_put(c, value, 1);
		break;
	case DP_OPERAND_LV:
	case DP_OPERAND_GV:
		value = below(LOCALS);
		dp_asm_put(c, value, 2);
		break;
	case DP_OPERAND_REG:
		value = below(6) ? 0x60 + below(16) : below(0x100);
		dp_asm_put(c, value, 2);
		break;
	case DP_OPERAND_REL:
		back = (int64_t)where[below(n)] - (int64_t)c->n - 8;
		dp_asm_put(c, back, 8);
		break;
	case DP_OPERAND_UL:
		if (!below(3))
			value = 0xffffffff81000000 + below(1 << 24);
		dp_asm_put(c, value, 8);
		break;
	case DP_OPERAND_NONE:
		break;
	default:
		dp_asm_put(c, value, 2);
	}
}

/* Indices of those that the kernel takes */
static unsigned int taken[sizeof(ops) / sizeof(*ops)], nr_taken;

/* Return: is there an operand with which it is? */
static int is_taken(int fd, unsigned int i)
{
	struct dp_device_program want;
	unsigned int tries, zero = 0;
	struct dp_asm c;

	for (tries = 0; tries < 30; tries++) {
		want = (struct dp_device_program){ .variables = LOCALS,
						   .globals = LOCALS };
		c.n = 0;
		dp_asm_op(&c, ops[i].code);
		some_operand(&c, ops[i].operand, &zero, 1);
		dp_asm_op(&c, DP_OPCODE_EXIT);
		if (!dp_device_program(fd, c.bytes, c.n, &want, NULL))
			return 1;
	}
	return 0;
}

static void find_taken(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		fd = dp_device_open(0);
		dp_device_start(fd, DP_DEVICE_TRAP);
		if (is_taken(fd, i))
			taken[nr_taken++] = i;
		close(fd);
	}
}

static void some_program(struct dp_asm *c)
{
	unsigned int where[BYTES], n = 0, which;

	c->n = 0;
	while (c->n < BYTES - 32 && (n < 4 || below(40))) {
		which = taken[below(nr_taken)];
		where[n++] = c->n;
		dp_asm_op(c, ops[which].code);
		some_operand(c, ops[which].operand, where, n);
	}
	dp_asm_op(c, DP_OPCODE_EXIT);
}

/* Return: how many of them were taken */
static int add_programs(int fd, unsigned int *added)
{
	struct dp_device_program want;
	struct dp_asm c;
	unsigned int probe, i;
	int err = 0;

	*added = 0;
	for (i = 0; i < 40 * EACH && *added < EACH && !err; i++) {
		want = (struct dp_device_program){ .variables = LOCALS,
						   .globals = LOCALS,
						   .jumps = below(200),
						   .log = below(1025),
						   .heap = below(4097) };
		some_program(&c);
		if (dp_device_program(fd, c.bytes, c.n, &want, NULL))
			continue;
		err = add(fd, *added & 1 ? DP_UMASK : DP_GETSID, &probe) ?:
			      dp_device_bind(fd, probe, want.program,
					     want.heap);
		++*added;
	}
	return err;
}

static void at_random(void)
{
	unsigned int i, n = 0, k, all = 0, wrong = 0;
	struct dp_device_count v[64];
	int fd, err;

	find_taken();
	for (i = 0; i < SESSIONS; i++) {
		fd = dp_device_open(0);
		err = dp_device_start_by(fd, i % 3, i / 3 % 4) ?:
			      add_programs(fd, &n)	       ?:
			      dp_device_commit(fd, 0);
		for (k = 0; k < 20 && !err; k++) {
			syscall(SYS_getsid, 0);
			syscall(SYS_umask, 022);
		}
		if (err || dp_device_counts(fd, v, 0, 64) != (int)n) {
			printf("# session %u: %d, %u programs\n", i, err, n);
			wrong++;
		}
		for (k = 0; k < n && !err; k++)
			if (v[k].hits != 20) {
				printf("# session %u, %u: %llu hits\n", i, k,
				       v[k].hits);
				wrong++;
			}
		all += n;
		close(fd);
	}
	printf("# %u random programs of %u instructions have run, %u did not count\n",
	       all, nr_taken, wrong);
	dp_init_check(all > EACH / 2 * SESSIONS && !wrong && nr_taken > 100,
		      "random ones run, and harm nothing", OF);
}

void dp_device_programs(void)
{
	count(DP_DEVICE_TRAP, 0, "by trap");
	count(DP_DEVICE_JUMP, 0, "by jump");
	count(DP_DEVICE_JUMP, 1, "by jump, interpreted");
	count(DP_DEVICE_JUMP, 5, "by jump, left");
	records();
	edges();
	padding();
	refuse();
	refuse_asking();
	at_random();
}
