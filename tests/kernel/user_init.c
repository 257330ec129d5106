// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user_init: probes on files by /dev/dprobes: every process that executes the code is counted, and no other; and
 * what is refused.
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user: "
#define EARLY 300
#define LATE 700
#define STATUS 4
#define COPY "/copy"
#define BREAKPOINT 0xcc
#define EVENTS "/tracing/uprobe_events"
#define PROFILE "/tracing/uprobe_profile"
#define ENABLE "/tracing/events/uprobes/enable"

__asm__(".globl dp_user_step, dp_user_lea, dp_user_breakpoint\n"
	".globl dp_user_locked, dp_user_invalid, dp_user_near\n"
	".type dp_user_step, @function\n"
	"dp_user_step:\n"
	"nop\n"
	"dp_user_lea:\n"
	"lea 1(%rdi), %rax\n"
	"ret\n"
	".size dp_user_step, . - dp_user_step\n"
	"dp_user_near:\n"
	"lea dp_user_near(%rip), %rax\n"
	"ret\n"
	"dp_user_breakpoint:\n"
	"int3\n"
	"dp_user_locked:\n"
	"lock incl (%rdi)\n"
	"dp_user_invalid:\n"
	".byte 0x06, 0x06, 0x06\n");

unsigned long dp_user_offset(const void *code)
{
	unsigned long from, to, at, offset = 0, addr = (unsigned long)code;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[256];

	while (f && !offset && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &at) == 3 &&
		    addr >= from && addr < to)
			offset = addr - from + at;
	if (f)
		fclose(f);
	return offset;
}

unsigned long dp_user_words[2];

int dp_user_steps(int n)
{
	/* On the stack, which is in memory: programs fetch nothing. */
	const char text[] = "stepping";
	unsigned long to;
	int i, bad = 0;

	dp_user_words[0] = (unsigned long)getpid();
	dp_user_words[1] = DP_USER_WORD;
	for (i = 0; i < n; i++)
		bad |= dp_user_step(i, text, &to) != i + 1ul ||
		       dp_user_near() != (unsigned long)dp_user_near;
	return bad ? 1 : STATUS;
}

int dp_user_run(int n)
{
	char words[16];
	pid_t child = fork();

	if (child)
		return child;
	snprintf(words, sizeof(words), "%d", n);
	execl(DP_USER_FILE, "init", "steps", words, NULL);
	_exit(127);
}

int dp_user_ended(int pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == STATUS;
}

/* It steps when a byte comes. */
static pid_t wait_and_step(int from, int n)
{
	pid_t child = fork();
	char byte;

	if (child)
		return child;
	_exit(read(from, &byte, 1) == 1 ? dp_user_steps(n) : 1);
}

/* Return: 0 or a negative errno */
static int add_file(int fd, int file, unsigned long offset, unsigned int *probe,
		    char *words)
{
	struct dp_device_file want = { .fd = (unsigned int)file,
				       .offset = offset,
				       .words = (unsigned long)words,
				       .words_size = DP_DEVICE_WORDS };

	*words = '\0';
	if (ioctl(fd, DP_DEVICE_FILE, &want))
		return -errno;
	*probe = want.probe;
	return want.opcode ? 0 : -ENODATA;
}

int dp_user_add_file(int fd, const char *path, unsigned long offset,
		     unsigned int *probe)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), err;
	char words[DP_DEVICE_WORDS];

	err = add_file(fd, file, offset, probe, words);
	if (err)
		printf("# %d: %s\n", err, words);
	close(file);
	return err;
}

int dp_user_add(int fd, const void *code, unsigned int *probe)
{
	return dp_user_add_file(fd, DP_USER_FILE, dp_user_offset(code), probe);
}

unsigned long long dp_user_hits(int fd, unsigned int probe)
{
	struct dp_device_count v = { .hits = ~0ull };

	return dp_device_counts(fd, &v, probe, 1) == 1 ? v.hits : ~0ull;
}

static void turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn want = { .probe = probe, .on = on };

	dp_init_check(
		!ioctl(fd, DP_DEVICE_TURN, &want) && !dp_device_commit(fd, 0),
		on ? "a probe is turned on" : "a probe is turned off", OF);
}

static int first_byte(const char *path, unsigned long offset)
{
	int fd = open(path, O_RDONLY), byte = -1;
	const unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				       MAP_PRIVATE, fd,
				       (off_t)(offset & ~4095ul));

	if (at != MAP_FAILED) {
		byte = at[offset & 4095];
		munmap((void *)at, 4096);
	}
	close(fd);
	return byte;
}

int dp_user_byte(const void *code)
{
	return first_byte(DP_USER_FILE, dp_user_offset(code));
}

/* --- counts, beside those of the kernel's own events --- */

static void events_begin(void)
{
	char text[96];

	snprintf(text, sizeof(text), "p:uprobes/dpstep " DP_USER_FILE ":0x%lx",
		 dp_user_offset((void *)dp_user_step));
	dp_init_put(EVENTS, text);
	dp_init_put(ENABLE, "1");
}

static long events_end(void)
{
	FILE *f = fopen(PROFILE, "r");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "dpstep"))
			n = atol(strstr(line, "dpstep") + strlen("dpstep"));
	if (f)
		fclose(f);
	dp_init_put(ENABLE, "0");
	dp_init_put(EVENTS, "-:uprobes/dpstep");
	return n;
}

/* One process is there before, another one comes later, and a third one is the other's child. */
static void step_in_all(void)
{
	int pipes[2];
	pid_t early, late;

	if (pipe(pipes))
		return;
	early = wait_and_step(pipes[0], EARLY);
	late = dp_user_run(LATE);
	dp_init_check(write(pipes[1], "", 1) == 1 && dp_user_ended(early) &&
			      dp_user_ended(late),
		      "processes do what they do without probes", OF);
	close(pipes[0]);
	close(pipes[1]);
}

static void counts(void)
{
	bool differs = !access(EVENTS, F_OK);
	unsigned long offset = dp_user_offset((void *)dp_user_step);
	unsigned int probe = 0, second = 0, inner = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1);

	err = err ?: dp_user_add(fd, (void *)dp_user_step, &probe);
	err = err ?: dp_user_add(fd, (void *)dp_user_step, &second);
	err = err ?: dp_user_add(fd, dp_user_lea, &inner);
	dp_init_check(!err && first_byte(DP_USER_FILE, offset) == 0x90,
		      "probes are added, and not armed yet", OF);
	dp_init_check(!dp_device_commit(fd, 0) &&
			      first_byte(DP_USER_FILE, offset) == BREAKPOINT,
		      "they are armed in what is mapped now", OF);
	if (differs)
		events_begin();
	step_in_all();
	dp_init_check(dp_user_hits(fd, probe) == EARLY + LATE &&
			      dp_user_hits(fd, second) == EARLY + LATE &&
			      dp_user_hits(fd, inner) == EARLY + LATE,
		      "every hit is counted, by each probe", OF);
	if (differs)
		dp_init_check(events_end() == EARLY + LATE,
			      "the kernel's own events count as many", OF);
	turn(fd, probe, 0);
	step_in_all();
	dp_init_check(dp_user_hits(fd, probe) == EARLY + LATE &&
			      dp_user_hits(fd, second) == 2 * (EARLY + LATE),
		      "one that is off counts no more", OF);
	turn(fd, probe, 1);
	step_in_all();
	dp_init_check(dp_user_hits(fd, probe) == 2 * (EARLY + LATE) &&
			      dp_user_hits(fd, second) == 3 * (EARLY + LATE),
		      "and goes on where it has been", OF);
	close(fd);
	dp_init_check(first_byte(DP_USER_FILE, offset) == 0x90,
		      "nothing is left when the device is closed", OF);
}

static void knob(void)
{
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1), off;

	err = err ?: dp_user_add(fd, dp_user_lea, &probe);
	err = err ?: dp_device_commit(fd, 0);
	off = dp_files_put("enabled", "0");
	dp_init_check(!err && !off && dp_user_byte(dp_user_lea) != BREAKPOINT &&
			      dp_user_steps(5) == STATUS &&
			      !dp_user_hits(fd, probe),
		      "no probe is armed where none is enabled", OF);
	off = dp_files_put("enabled", "1");
	dp_init_check(!off && dp_user_byte(dp_user_lea) == BREAKPOINT &&
			      dp_user_steps(6) == STATUS &&
			      dp_user_hits(fd, probe) == 6,
		      "and each as it was when they are again", OF);
	close(fd);
}

/* Of a file whose name looks like more than one line */
static void names(void)
{
	static const char name[] = "/a\n"
				   "ffffffff81000000  k  b";
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1),
	    bad = link(DP_USER_FILE, name);

	err = err   ?:
		      dp_user_add_file(fd, name, dp_user_offset(dp_user_lea),
				       &probe);
	err = err ?: dp_device_commit(fd, 0);
	dp_init_check(!err && !bad &&
			      strstr(dp_files_list(),
				     "  u  a\\012ffffffff81000000\\040\\040k"
				     "\\040\\040b+0x") &&
			      !strstr(dp_files_list(), "\nffff"),
		      "a file's name makes no line of the list", OF);
	close(fd);
	unlink(name);
}

/* The device is closed while tasks come by, and some are killed there. */
static void fire(void)
{
	unsigned int probe = 0, i;
	int fd, err, rounds = 6, ended = 0;
	pid_t child[4];

	while (rounds--) {
		for (i = 0; i < 4; i++)
			child[i] = dp_user_run(i < 2 ? 1 << 28 : 20000);
		fd = dp_device_open(0);
		err = dp_device_start(fd, 1);
		err = err ?: dp_user_add(fd, dp_user_lea, &probe);
		err = err ?: dp_device_commit(fd, 0);
		usleep(20000);
		kill(child[0], SIGKILL);
		close(fd);
		kill(child[1], SIGKILL);
		waitpid(child[0], NULL, 0);
		waitpid(child[1], NULL, 0);
		ended += !err && dp_user_ended(child[2]) &&
			 dp_user_ended(child[3]);
	}
	dp_init_check(ended == 6, "sessions end while tasks are inside", OF);
}

static volatile int signals;

static void caught(int number)
{
	signals++;
}

/* The kernel steps the instruction out of line while signals come. */
static void signals_come(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1), right;

	err = err ?: dp_user_add(fd, dp_user_lea, &probe);
	err = err ?: dp_device_commit(fd, 0);
	signal(SIGALRM, caught);
	setitimer(ITIMER_REAL, &often, NULL);
	right = dp_user_steps(5000) == STATUS;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	dp_init_check(!err && right && signals &&
			      dp_user_hits(fd, probe) == 5000,
		      "counts are exact while signals come", OF);
	close(fd);
}

/* --- files that change --- */

/* A process that executes a file that has no name any more */
static pid_t run_descriptor(int file, const char *n)
{
	char *argv[] = { "copy", "steps", (char *)n, NULL };
	pid_t child = fork();

	if (child)
		return child;
	fexecve(file, argv, environ);
	_exit(127);
}

static void deleted(void)
{
	unsigned long offset = dp_user_offset((void *)dp_user_step);
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1),
	    bad = dp_user_copy(COPY), file = open(COPY, O_RDONLY);

	err = err ?: add_file(fd, file, offset, &probe, words);
	err = err ?: dp_device_commit(fd, 0);
	unlink(COPY);
	bad |= dp_user_copy(COPY);
	dp_init_check(!err && !bad && dp_user_ended(dp_user_run(9)) &&
			      dp_user_ended(run_descriptor(file, "50")) &&
			      dp_user_hits(fd, probe) == 50,
		      "it is the file that is probed, not its name", OF);
	dp_init_check(first_byte(COPY, offset) == 0x90,
		      "another file that gets the name is not", OF);
	close(file);
	close(fd);
}

static void truncated(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1),
	    bad = dp_user_copy(COPY), file = open(COPY, O_RDONLY);

	err = err   ?:
		      add_file(fd, file, dp_user_offset(dp_user_lea), &probe,
			       words);
	err = err ?: dp_device_commit(fd, 0);
	dp_init_check(!err && !bad && !truncate(COPY, 0) &&
			      !dp_user_hits(fd, probe),
		      "a file may lose the code that is probed", OF);
	close(file);
	close(fd);
	unlink(COPY);
}

/* --- what is refused --- */

/* The second one cannot be armed any more. */
static void all_or_none(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0, second = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1),
	    bad = dp_user_copy(COPY), file = open(COPY, O_RDONLY);

	err = err ?: dp_user_add(fd, dp_user_lea, &probe);
	err = err   ?:
		      add_file(fd, file, dp_user_offset(dp_user_lea), &second,
			       words);
	bad |= truncate(COPY, 0);
	dp_init_check(!err && !bad && dp_device_commit(fd, 0) == -EINVAL &&
			      dp_user_byte(dp_user_lea) != BREAKPOINT,
		      "all probes on files are armed, or none", OF);
	close(file);
	close(fd);
	unlink(COPY);
}

static void refuse(int file, unsigned long offset, int as, const char *why,
		   const char *what)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe;
	int fd = dp_device_open(0), err = dp_device_start(fd, 1), got;

	got = add_file(fd, file, offset, &probe, words);
	dp_init_check(!err && got == as && strstr(words, why), what, OF);
	if (got != as || !strstr(words, why))
		printf("# %d: %s\n", got, words);
	close(fd);
	if (file >= 0)
		close(file);
}

static int file_for(int flags)
{
	return open(DP_USER_FILE, flags | O_CLOEXEC);
}

static void refusals(void)
{
	unsigned long step = dp_user_offset((void *)dp_user_step);

	refuse(-1, step, -EBADF, "", "refused: no file");
	refuse(open("/", O_RDONLY), step, -EINVAL, "regular",
	       "refused: a directory");
	refuse(open("/dev/zero", O_RDONLY), step, -EINVAL, "regular",
	       "refused: a device");
	refuse(file_for(O_PATH), step, -EBADF, "",
	       "refused: a file that is not open");
	if (!dp_user_copy(COPY))
		refuse(open(COPY, O_WRONLY), step, -EACCES, "reading",
		       "refused: one that is not open for reading");
	unlink(COPY);
	refuse(file_for(O_RDONLY), 0, -EINVAL, "offset",
	       "refused: the file's beginning");
	refuse(file_for(O_RDONLY), 1ul << 40, -EINVAL, "offset",
	       "refused: behind its end");
	refuse(file_for(O_RDONLY), ~0ul, -EINVAL, "offset",
	       "refused: a negative offset");
	refuse(file_for(O_RDONLY), dp_user_offset(dp_user_breakpoint), -EINVAL,
	       "breakpoint", "refused: a breakpoint");
	refuse(file_for(O_RDONLY), dp_user_offset(dp_user_locked), -EINVAL,
	       "not take", "refused: an instruction with a lock");
	refuse(file_for(O_RDONLY), dp_user_offset(dp_user_invalid), -EINVAL,
	       "not take", "refused: an instruction that there is not");
	refuse(open("/proc/version", O_RDONLY), step, -EINVAL, "offset",
	       "refused: a file of proc");
}

int dp_user_can(void)
{
	struct dp_device_info info = { 0 };
	int fd = dp_device_open(0);
	bool is = !ioctl(fd, DP_DEVICE_INFO, &info) &&
		  info.flags & DP_DEVICE_FILES;

	close(fd);
	return is;
}

/* Where the kernel has no uprobes */
static void impossible(void)
{
	refuse(file_for(O_RDONLY), dp_user_offset((void *)dp_user_step),
	       -EOPNOTSUPP, "CONFIG_UPROBES", "refused: without uprobes");
}

void dp_user_try(void)
{
	if (!dp_user_can()) {
		impossible();
		return;
	}
	counts();
	if (dp_init_debugfs()) {
		knob();
		names();
	}
	fire();
	signals_come();
	deleted();
	truncated();
	all_or_none();
	refusals();
	dp_user_programs();
	dp_user_tool();
	dp_user_modules();
	dp_user_others();
}
