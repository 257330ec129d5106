// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tables_init: tables of values that hits keep, by /dev/dprobes: what is in them is what two processes, on a CPU each, have
 * written.
 */
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "tables: "
/* So many interrupts are waited for. */
#define TICKS 20
#define RESTRICT "/proc/sys/kernel/kptr_restrict"
#define WRITE "vfs_write"
#define TICK "update_process_times"
#define CPUS 2
/* Calls of each process, which write 1 to SIZES bytes */
#define CALLS 20000
#define SIZES 64
#define RDX 0x63
#define RDI 0x64
#define RSI 0x65
/* "stepping", as a word */
#define STEPPING 0x676e697070657473
#define ROWS 64
/* Of a row: a key, how many, and what is below */
#define SUM 2
#define MAX 3
#define MIN 4
#define HIST 5
#define WORDS (HIST + DP_DEVICE_BUCKETS)

struct row {
	uint64_t v[WORDS];
};

static struct row rows[ROWS];

static int add_table(int fd, struct dp_device_table *want,
		     const struct dp_device_field *fields, char *words)
{
	want->fields = (uint64_t)fields;
	want->words = (uint64_t)words;
	want->words_size = words ? DP_DEVICE_WORDS : 0;
	want->most = want->most ? want->most : 100;
	return ioctl(fd, DP_DEVICE_TABLE, want) ? -errno : 0;
}

/* A key, and as many times the size: @key: of the task, or none */
static int add_program(int fd, unsigned int table, int key, unsigned int values,
		       unsigned int *program)
{
	unsigned int operand = table | (values + (unsigned int)key)
					       << DP_AGGREGATE_SHIFT;
	struct dp_device_program want = { .jumps = 10 };
	unsigned char code[32], n = 0;
	char words[DP_DEVICE_WORDS] = "";
	int err;

	if (key)
		code[n++] = DP_OPCODE_PUSH_PID;
	while (values--) {
		code[n++] = DP_OPCODE_PUSH_R;
		code[n++] = RDX;
		code[n++] = 0;
	}
	code[n++] = DP_OPCODE_AGGREGATE;
	code[n++] = (unsigned char)operand;
	code[n++] = (unsigned char)(operand >> 8);
	code[n++] = DP_OPCODE_EXIT;
	err = dp_device_program(fd, code, n, &want, words);
	if (err)
		printf("# %d at %u: %s\n", err, want.offset, words);
	*program = want.program;
	return err;
}

static int add_probe(int fd, const char *name, unsigned int program)
{
	struct dp_device_add add = { 0 };
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_device_add(fd, name, words, &add);

	return err ?: dp_device_bind(fd, add.probe, program, 0);
}

/* On one CPU, when @go can be read */
static pid_t start(int cpu, int go)
{
	char bytes[SIZES] = "";
	cpu_set_t set;
	pid_t child = fork();
	int fd, i;

	if (child)
		return child;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	fd = open("/dev/null", O_WRONLY);
	i = read(go, bytes, 1) == 1 ? 0 : CALLS;
	for (; i < CALLS; i++)
		if (write(fd, bytes, (size_t)(1 + i % SIZES)) < 0)
			_exit(1);
	_exit(0);
}

/* Both at one time. @pids: theirs */
static void write_all(pid_t pids[CPUS])
{
	int go[2], i, status;

	if (pipe(go))
		return;
	for (i = 0; i < CPUS; i++)
		pids[i] = start(i, go[0]);
	usleep(50000);
	if (write(go[1], "xx", CPUS) != CPUS)
		printf("# %d\n", errno);
	for (i = 0; i < CPUS; i++)
		waitpid(pids[i], &status, 0);
	close(go[0]);
	close(go[1]);
}

/* Rows of @words, @each at a time. Return: how many; -1: it fails */
static int read_rows(int fd, unsigned int table, unsigned int words,
		     unsigned int each, struct dp_device_rows *last)
{
	static uint64_t buffer[ROWS * WORDS];
	struct dp_device_rows want = { .more = 1 };
	unsigned int i, n = 0;

	memset(rows, 0, sizeof(rows));
	while (want.more) {
		want = (struct dp_device_rows){ .rows = (uint64_t)buffer,
						.next = want.next,
						.table = table,
						.nr = each };
		if (ioctl(fd, DP_DEVICE_ROWS, &want))
			return -1;
		for (i = 0; i < want.nr && n < ROWS; i++)
			memcpy(rows[n++].v, buffer + i * words,
			       words * sizeof(*buffer));
	}
	*last = want;
	return (int)n;
}

static const struct row *row_of(int n, uint64_t key)
{
	int i;

	for (i = 0; i < n; i++)
		if (rows[i].v[0] == key)
			return &rows[i];
	return NULL;
}

static uint64_t expected_sum(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CALLS; i++)
		sum += (uint64_t)(1 + i % SIZES);
	return sum;
}

/* Of sizes from 2^k to 2^(k+1) - 1 */
static uint64_t expected_in(unsigned int bucket)
{
	uint64_t n = 0, size;
	int i;

	for (i = 0; i < CALLS; i++) {
		size = (uint64_t)(1 + i % SIZES);
		n += size >> (bucket - 1) == 1;
	}
	return n;
}

static int is_right(const struct row *r)
{
	unsigned int i;

	if (!r || r->v[1] != CALLS || r->v[SUM] != expected_sum() ||
	    r->v[MAX] != SIZES || r->v[MIN] != 1 || r->v[HIST])
		return 0;
	for (i = 1; i < DP_DEVICE_BUCKETS; i++)
		if (r->v[HIST + i] != (i < 8 ? expected_in(i) : 0))
			return 0;
	return 1;
}

static void show(const struct row *r)
{
	if (r)
		printf("# %lu: %lu, sum %lu, %lu to %lu, %lu %lu\n",
		       (unsigned long)r->v[0], (unsigned long)r->v[1],
		       (unsigned long)r->v[SUM], (unsigned long)r->v[MIN],
		       (unsigned long)r->v[MAX], (unsigned long)r->v[HIST + 1],
		       (unsigned long)r->v[HIST + 2]);
}

static const struct dp_device_field all[] = { { .kind = DP_DEVICE_SUM },
					      { .kind = DP_DEVICE_MAX },
					      { .kind = DP_DEVICE_MIN },
					      { .kind = DP_DEVICE_HIST } };

/* By process, whose rows have one CPU each; and of all, which both CPUs change. */
static void counts(unsigned int arming, const char *how)
{
	struct dp_device_table by = { .keys = 1, .nr = 4 }, one = { 0 },
			       sizes = { .nr = 1 };
	static const struct dp_device_field distinct[] = {
		{ .kind = DP_DEVICE_DISTINCT }
	};
	struct dp_device_rows last = { 0 };
	unsigned int program[3] = { 0 };
	int fd = dp_device_open(0), err = dp_device_start(fd, arming), n, i;
	pid_t pids[CPUS];

	err = err ?: add_table(fd, &by, all, NULL);
	err = err ?: add_table(fd, &one, NULL, NULL);
	err = err ?: add_table(fd, &sizes, distinct, NULL);
	err = err ?: add_program(fd, by.table, 1, 4, &program[0]);
	err = err ?: add_program(fd, one.table, 0, 0, &program[1]);
	err = err ?: add_program(fd, sizes.table, 0, 1, &program[2]);
	for (i = 0; i < 3 && !err; i++)
		err = add_probe(fd, WRITE, program[i]);
	err = err ?: dp_device_commit(fd, 0);
	write_all(pids);
	n = err ? -1 : read_rows(fd, by.table, by.row, ROWS, &last);
	dp_init_check(by.row == WORDS && n >= CPUS &&
			      is_right(row_of(n, (uint64_t)pids[0])) &&
			      is_right(row_of(n, (uint64_t)pids[1])) &&
			      !last.full && !last.unreadable,
		      how, OF "what each process has written, ");
	printf("# %d, %d rows of %u\n", err, n, by.row);
	show(row_of(n, (uint64_t)pids[0]));
	show(row_of(n, (uint64_t)pids[1]));
	for (i = 0; i < n; i++)
		rows[0].v[2] = i ? rows[0].v[2] + rows[i].v[1] : rows[0].v[1];
	by.most = (unsigned int)(n > 0 ? rows[0].v[2] : 0);
	n = read_rows(fd, one.table, one.row, ROWS, &last);
	dp_init_check(n == 1 && rows[0].v[0] >= CPUS * CALLS &&
			      rows[0].v[0] - by.most < 10,
		      how, OF "and both, ");
	printf("# %d rows, %lu of all, %u by process\n", n,
	       (unsigned long)rows[0].v[0], by.most);
	n = read_rows(fd, sizes.distinct[0], 1, 7, &last);
	dp_init_check(n >= SIZES && sizes.distinct[0] != sizes.table, how,
		      OF "and how many sizes there are, ");
	close(fd);
}

/* Interrupts on both CPUs, and hits within hits: no hit is in two rows, or in none. */
static void interrupts(void)
{
	struct dp_device_table one = { 0 };
	struct dp_device_rows last = { 0 };
	struct dp_device_count c = { 0 };
	struct dp_device_turn turn = { 0 };
	unsigned int program = 0;
	pid_t pids[CPUS];
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP),
	    n;

	err = err ?: add_table(fd, &one, NULL, NULL);
	err = err ?: add_program(fd, one.table, 0, 0, &program);
	err = err ?: add_probe(fd, TICK, program);
	err = err ?: dp_device_commit(fd, 0);
	for (n = 0; n < 100 && c.hits <= TICKS && !err; n++) {
		write_all(pids);
		err = dp_device_counts(fd, &c, 0, 1) != 1;
	}
	err = err ?: ioctl(fd, DP_DEVICE_TURN, &turn);
	err = err ?: dp_device_commit(fd, 0);
	n = read_rows(fd, one.table, one.row, ROWS, &last);
	err = dp_device_counts(fd, &c, 0, 1);
	dp_init_check(err == 1 && n == 1 && c.hits > TICKS &&
			      rows[0].v[0] == c.hits - c.missed,
		      "as many as hits", OF);
	printf("# %lu of %llu, %llu missed\n", (unsigned long)rows[0].v[0],
	       c.hits, c.missed);
	close(fd);
}

/* What has no room, or cannot be read, is counted. */
static void losses(void)
{
	struct dp_device_table small = { .keys = 1, .most = 1 };
	struct dp_device_rows last = { 0 };
	unsigned int program = 0;
	pid_t pids[CPUS];
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP),
	    n;

	err = err ?: add_table(fd, &small, NULL, NULL);
	err = err ?: add_program(fd, small.table, 1, 0, &program);
	err = err ?: add_probe(fd, WRITE, program);
	err = err ?: dp_device_commit(fd, 0);
	write_all(pids);
	n = err ? -1 : read_rows(fd, small.table, small.row, ROWS, &last);
	dp_init_check(n == 1 && last.full >= CALLS &&
			      rows[0].v[1] + last.full >= CPUS * CALLS,
		      "hits whose key has no room are counted", OF);
	printf("# %d rows, %lu in it, %llu lost\n", n,
	       (unsigned long)rows[0].v[1], last.full);
	close(fd);
}

static int refused(int fd, struct dp_device_table want,
		   const struct dp_device_field *fields)
{
	return add_table(fd, &want, fields, NULL);
}

/* A session beside one whose table 0 has a row. Return: has it nothing of that, and neither the other one of its? */
static int is_apart(int others)
{
	struct dp_device_add add = { 0 };
	struct dp_device_table own = { .keys = 1 };
	struct dp_device_rows last;
	char words[DP_DEVICE_WORDS] = "";
	unsigned int program;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP),
	    is;

	err = err ?: dp_device_add(fd, DP_UMASK, words, &add);
	err = err ?: dp_device_commit(fd, 0);
	puts("# the next one is refused");
	is = !err && read_rows(fd, 0, 2, ROWS, &last) == -1 &&
	     add_program(fd, 0, 1, 0, &program) == -EINVAL &&
	     !add_table(fd, &own, NULL, NULL) && !own.table &&
	     !add_program(fd, own.table, 1, 0, &program) &&
	     !add_probe(fd, DP_GETPGID, program) && !dp_device_commit(fd, 0) &&
	     !read_rows(fd, own.table, 2, ROWS, &last);
	syscall(SYS_getpgid, 0);
	syscall(SYS_getpgid, 0);
	is = is && read_rows(fd, own.table, 2, ROWS, &last) == 1 &&
	     rows[0].v[1] == 2;
	close(fd);
	return is && read_rows(others, 0, 2, ROWS, &last) == 1 &&
	       rows[0].v[1] == 1;
}

static void asks(void)
{
	static const struct dp_device_field
		bad[] = { { .kind = DP_DEVICE_DISTINCT + 1 },
			  { .kind = DP_DEVICE_LHIST, .high = 10 },
			  { .kind = DP_DEVICE_LHIST, .high = 5000, .step = 1 },
			  { .kind = DP_DEVICE_SUM, .low = 1 },
			  { .kind = DP_DEVICE_SUM, .sign = 2 } },
		hist = { .kind = DP_DEVICE_HIST };
	struct dp_device_table big = { .keys = 1, .most = 1 << 16, .nr = 1 },
			       one = { .keys = 1 };
	struct dp_device_rows last;
	char words[DP_DEVICE_WORDS] = "";
	unsigned int i, wrong = 0, program;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP),
	    full, unknown, wide, n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		wrong += refused(fd, (struct dp_device_table){ .nr = 1 },
				 &bad[i]) != -EINVAL;
	wrong += refused(fd, (struct dp_device_table){ .nr = 9 }, bad) !=
		 -EINVAL;
	wrong += refused(fd, (struct dp_device_table){ .keys = 21 }, bad) !=
		 -EINVAL;
	wrong += refused(fd, (struct dp_device_table){ .nr = 1 }, NULL) !=
		 -EFAULT;
	dp_init_check(!err && !wrong, "what makes no sense is refused", OF);
	full = add_table(fd, &big, &hist, words);
	dp_init_check(full == -ENOSPC && strstr(words, "64 MB"),
		      "one that is too large is, with words", OF);
	puts("# the next one is refused");
	unknown = add_program(fd, 0, 1, 0, &program);
	err = add_table(fd, &one, NULL, NULL);
	puts("# and the next one");
	wide = add_program(fd, one.table, 1, 1, &program);
	dp_init_check(unknown == -EINVAL && !err && wide == -EINVAL,
		      "programs have the tables that there are", OF);
	while (n < 100 && !refused(fd, (struct dp_device_table){ 0 }, NULL))
		n++;
	dp_init_check(n == DP_DEVICE_TABLES - 1, "64 tables", OF);
	close(fd);
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	err = err   ?:
		      add_table(fd, &(struct dp_device_table){ .keys = 1 },
				NULL, NULL);
	err = err ?: add_program(fd, 0, 1, 0, &program);
	err = err ?: add_probe(fd, DP_GETSID, program);
	err = err ?: dp_device_commit(fd, 0);
	n = read_rows(fd, 0, 2, ROWS, &last);
	unknown = read_rows(fd, 1, 2, ROWS, &last);
	dp_init_check(!err && !n && unknown == -1 &&
			      !refused(fd, (struct dp_device_table){ 0 }, NULL),
		      "the next session has its own, and more of them later",
		      OF);
	syscall(SYS_getsid, 0);
	dp_init_check(is_apart(fd), "another session has other tables", OF);
	close(fd);
	dp_init_put(RESTRICT, "2");
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	dp_init_check(!err && refused(fd, (struct dp_device_table){ 0 },
				      NULL) == -EPERM,
		      "where addresses are shown to nobody, there are none",
		      OF);
	close(fd);
	dp_init_put(RESTRICT, "0");
}

/* By process, and by what is in its memory: a value of each hit, twice */
static int add_user_program(int fd, const struct dp_device_table *by,
			    unsigned int *program)
{
	unsigned int operand = by->table | 4u << DP_AGGREGATE_SHIFT;
	const unsigned char code[] = { DP_OPCODE_PUSH_PID,
				       DP_OPCODE_PUSH_R,
				       RSI,
				       0,
				       DP_OPCODE_PUSH_MEM_U64,
				       DP_OPCODE_PUSH_R,
				       RDI,
				       0,
				       DP_OPCODE_PUSH_R,
				       RDI,
				       0,
				       DP_OPCODE_AGGREGATE,
				       (unsigned char)operand,
				       (unsigned char)(operand >> 8),
				       DP_OPCODE_EXIT };
	struct dp_device_program want = { .jumps = 10,
					  .flags = DP_DEVICE_USER };
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_device_program(fd, code, sizeof(code), &want, words);

	if (err)
		printf("# %d at %u: %s\n", err, want.offset, words);
	*program = want.program;
	return err;
}

static int has_stepped(int n, int pid, uint64_t times)
{
	const struct row *r = row_of(n, (uint64_t)pid);

	return r && r->v[1] == STEPPING && r->v[2] == times &&
	       r->v[3] == times * (times - 1) / 2 && r->v[4] == times - 1;
}

/* Of a file, in processes that are killed, too: a hit is in a row, wholly. */
static void everywhere(void)
{
	struct dp_device_table by = { .keys = 2, .nr = 2 };
	struct dp_device_rows last = { 0 };
	struct dp_device_count c = { 0 };
	unsigned int probe = 0, program = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);
	int i, n, first, second, killed, ended;
	uint64_t hits = 0;

	err = err ?: add_table(fd, &by, all, NULL);
	err = err ?: dp_user_add(fd, (void *)dp_user_step, &probe);
	err = err ?: add_user_program(fd, &by, &program);
	err = err ?: dp_device_bind(fd, probe, program, 0);
	err = err ?: dp_device_commit(fd, 0);
	first = dp_user_run(3000);
	second = dp_user_run(5000);
	killed = dp_user_run(1 << 28);
	ended = dp_user_ended(first);
	ended &= dp_user_ended(second);
	kill(killed, SIGKILL);
	waitpid(killed, NULL, 0);
	n = err ? -1 : read_rows(fd, by.table, by.row, ROWS, &last);
	err = err ?: dp_device_counts(fd, &c, probe, 1) != 1;
	for (i = 0; i < n; i++)
		hits += rows[i].v[2];
	dp_init_check(!err && ended && n == 3 && has_stepped(n, first, 3000) &&
			      has_stepped(n, second, 5000),
		      "of a file, what each process has done", OF);
	dp_init_check(!err && hits == c.hits && hits > 8000 && !c.missed &&
			      !last.unreadable && !last.full,
		      "of a file, as many as hits", OF);
	printf("# %d, %d rows, %lu of %llu hits\n", err, n, (unsigned long)hits,
	       c.hits);
	close(fd);
}

void dp_tables_try(void)
{
	counts(DP_DEVICE_JUMP, "by a jump");
	counts(DP_DEVICE_TRAP, "by a breakpoint");
	interrupts();
	losses();
	asks();
	if (dp_user_can())
		everywhere();
	else
		dp_init_skip(OF "of a file", "the kernel has no uprobes");
}
