// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aside: a child that reads hostile input gives up what it does not need. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sym/aside.h"

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

/* What reading a file into memory needs, returns from handlers, and answers: all other calls
 * fail. */
static bool forbid_calls(int answers)
{
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
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_AS, memory_now() + memory);
	limit(RLIMIT_NOFILE, 0);
	return forbid_calls(answers);
}
