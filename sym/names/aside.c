// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aside: a child that reads hostile input gives up what it does not need. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "sym/aside.h"

#define FILES_MOST 64 /* that come by the line: it can open none */

static int lent = -1;

static void limit(int what, rlim_t most)
{
	struct rlimit limit = { most, most };

	setrlimit(what, &limit);
}

static u64 memory_now(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

int dp_aside_lend(int fd)
{
	int before = lent;

	lent = fd;
	return before;
}

/* A call to open a file has been made, and has not reached the kernel. */
static void on_open(int sig, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	int fd = dp_aside_lend(-1);

	at->uc_mcontext.gregs[REG_RAX] = fd < 0 ? -ENOENT : fd;
}

static void answer_opens(void)
{
	struct sigaction sa = { .sa_sigaction = on_open,
				.sa_flags = SA_SIGINFO };
	sigset_t set;

	sigaction(SIGSYS, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void dp_aside_alone(const void *kept)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], shared;

	/* The rest of a long line is read as a line that is none. */
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*3c%c", &start, &end, &shared) ==
			    3 &&
		    shared == 's' && start != (unsigned long)kept)
			munmap((void *)start, end - start);
	if (f)
		fclose(f);
}

/* Where memory is short, this process is the one to end. */
static void go_first(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	if (!f)
		return;
	fputs("1000", f);
	fclose(f);
}

/* What reading a file into memory needs, returns from handlers, and answers: all other calls
 * fail. */
static bool forbid_calls(int answers)
{
#define TRAP(nr)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define MAY(nr)                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		MAY(SYS_read),
		MAY(SYS_pread64),
		MAY(SYS_fstat),
		MAY(SYS_lseek),
		MAY(SYS_newfstatat),
		MAY(SYS_mmap),
		MAY(SYS_munmap),
		MAY(SYS_mremap),
		MAY(SYS_mprotect),
		MAY(SYS_brk),
		MAY(SYS_madvise),
		MAY(SYS_futex),
		MAY(SYS_close),
		MAY(SYS_exit_group),
		MAY(SYS_rt_sigreturn),
		MAY(SYS_sigaltstack), /* what sanitizers ask at a longjmp() */
		MAY(SYS_recvmsg),
		TRAP(SYS_open),
		TRAP(SYS_openat),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		MAY((u32)answers),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]),
					   code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

bool dp_aside_confine(u64 memory, int answers)
{
	go_first();
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_AS, memory_now() + memory);
	limit(RLIMIT_NOFILE, FILES_MOST);
	answer_opens();
	return forbid_calls(answers);
}
