// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * step-out DPROBES VERB STRIDE SPEC…: a tool leaves while a thread is at a given instruction of a
 * detour, for one instruction after the other.
 *
 * A child calls a function for ever and checks all registers. The tool probes it; the child is
 * stepped so far into the detour, stopped there, and the tool is ended. Then the child has to go
 * on as if there had been nothing, with the original text. A sequence's descriptor is cleared at
 * each step, or the kernel would restart it for ever.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/tools/stepping.h"

/* The function that is probed: a prologue, a branch, a call, a loop, and a ret that branches lead to */
extern char stepped[], stepped_end[];
/* Calls it, with a value in each register; returns 0, or which one was lost */
long stepped_check(long arg);
__asm__(".text\n.balign 16\n.globl stepped, stepped_end, stepped_check\n"
	".type stepped, @function\nstepped:\n"
	".cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\nmov %rsp, %rbp\n"
	"push %rbx\n.cfi_def_cfa_offset 24\n.cfi_offset 3, -24\n"
	"mov %rdi, %rbx\nmov %rdi, -64(%rsp)\ntest %edi, %edi\nje 2f\n"
	"call 3f\n1: add -64(%rsp), %rbx\nmov %rbx, %rdi\n"
	"2: lea 1(%rdi), %rax\npop %rbx\n.cfi_def_cfa_offset 16\n"
	"pop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n"
	"3: lea (%rdi,%rdi), %rax\nret\n"
	".size stepped, .-stepped\nstepped_end:\n"
	".type stepped_check, @function\nstepped_check:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov $0x11, %ebx\nmov $0x12, %ebp\nmov $0x13, %r12d\n"
	"mov $0x14, %r13d\nmov $0x15, %r14d\nmov %rsp, %r15\n"
	"mov $0x17, %r8d\nmov $0x18, %r9d\nmov $0x19, %r10d\n"
	"mov $0x1a, %r11d\nmov $0x1b, %edx\nmov $0x1c, %ecx\nmov $0x1d, %esi\n"
	"call stepped\n"
	"xor $0x11, %rbx\nxor $0x12, %rbp\nxor $0x13, %r12\n"
	"xor $0x14, %r13\nxor $0x15, %r14\nxor %rsp, %r15\n"
	"xor $0x17, %r8\nxor $0x18, %r9\nxor $0x19, %r10\n"
	"xor $0x1a, %r11\nxor $0x1b, %rdx\nxor $0x1c, %rcx\nxor $0x1d, %rsi\n"
	"or %rbx, %rbp\nor %r12, %rbp\nor %r13, %rbp\nor %r14, %rbp\n"
	"or %r15, %rbp\nor %r8, %rbp\nor %r9, %rbp\nor %r10, %rbp\n"
	"or %r11, %rbp\nor %rdx, %rbp\nor %rcx, %rbp\nor %rsi, %rbp\n"
	"sub $7, %rax\nor %rbp, %rax\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"
	".size stepped_check, .-stepped_check\n");

static volatile unsigned long *rounds;

static void victim(void)
{
	for (;;) {
		if (stepped_check(3))
			_exit(1);
		++*rounds;
	}
}

/* In the code that the tool has mapped: the pools, not the agent */
static struct {
	unsigned long start, end;
} pool[16];
static int pools;

static void find_pools(pid_t pid)
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	pools = 0;
	while (f && pools < 16 && fgets(line, sizeof(line), f))
		if (strstr(line, "r-xp") && strstr(line, "memfd:dprobes") &&
		    sscanf(line, "%lx-%lx", &pool[pools].start,
			   &pool[pools].end) == 2)
			pools++;
	if (f)
		fclose(f);
}

static bool in_pool(unsigned long pc)
{
	unsigned long near = (unsigned long)stepped;
	int i;

	for (i = 0; i < pools; i++)
		if (pc >= pool[i].start && pc < pool[i].end)
			return pc - near + (1ul << 31) < 1ul << 32;
	return false;
}

/* Return: the thread is at the first instruction of the function. */
static bool begin_pass(pid_t pid)
{
	int i;

	for (i = 0; i < 10000; i++) {
		if (pc_of(pid) == (unsigned long)stepped)
			return true;
		if (!step(pid))
			return false;
	}
	return false;
}

/* Return: the address where it is stopped, after @n steps in the detour; 0: it has left it; -1: it
 * could not be stepped */
static long step_in(pid_t pid, int n)
{
	unsigned long pc = 0;
	int status, i = 0;
	bool there;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return -1;
	there = !ptrace(PTRACE_INTERRUPT, pid, 0, 0) &&
		waitpid(pid, &status, __WALL) == pid && go_on(pid) &&
		begin_pass(pid);
	while (there && i++ < 10 && !in_pool(pc))
		there = step(pid) && (pc = pc_of(pid));
	there = there && in_pool(pc);
	for (i = 0; there && i < n && in_pool(pc); i++)
		there = step(pid) && (pc = pc_of(pid));
	ptrace(PTRACE_DETACH, pid, 0, there && in_pool(pc) ? SIGSTOP : 0);
	return !there ? -1 : in_pool(pc) ? (long)pc : 0;
}

/* @args: the command, its verb, the stride, what it probes */
static pid_t tool(char **args, pid_t pid)
{
	char *argv[32] = { args[0], args[1], "-q" }, text[16];
	char **specs = args + 3;
	int n = 3;
	pid_t child;

	snprintf(text, sizeof(text), "%d", pid);
	argv[n++] = "-p";
	argv[n++] = text;
	while (*specs && n < 31)
		argv[n++] = *specs++;
	child = fork();
	if (!child) {
		if (!freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(1);
		execv(args[0], argv);
		_exit(1);
	}
	return child;
}

static void read_text(pid_t pid, char *to)
{
	size_t n = (size_t)(stepped_end - stepped);
	struct iovec here = { to, n }, there = { stepped, n };

	process_vm_readv(pid, &here, 1, &there, 1, 0);
}

static bool is_original(pid_t pid)
{
	char now[256];

	read_text(pid, now);
	return !memcmp(now, stepped, (size_t)(stepped_end - stepped));
}

static bool wait_for(pid_t pid, bool original)
{
	int i;

	for (i = 0; i < 2000 && is_original(pid) != original; i++)
		usleep(5000);
	usleep(original ? 0 : 20000);
	return is_original(pid) == original;
}

static bool goes_on(pid_t pid)
{
	unsigned long from = *rounds;
	int i, status;

	for (i = 0; i < 2000 && *rounds < from + 1000; i++) {
		kill(pid, SIGCONT);
		usleep(1000);
	}
	return *rounds >= from + 1000 && !waitpid(pid, &status, WNOHANG);
}

/* The child may come to its stop only after it has been told to go on. */
static bool ends(pid_t tool, pid_t pid)
{
	int status, i;

	for (i = 0; i < 1000; i++) {
		usleep(20000);
		kill(pid, SIGCONT);
		if (waitpid(tool, &status, WNOHANG) == tool)
			return WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return false;
}

/* Return: 1 it has left the detour before; 0; -1 something was wrong */
static int leave_at(char **args, pid_t pid, int n)
{
	pid_t child = tool(args, pid);
	int tries = 0;
	long pc;

	if (!wait_for(pid, false))
		return -1;
	find_pools(pid);
	do
		pc = step_in(pid, n);
	while (pc < 0 && tries++ < 200 && !usleep(1000));
	kill(child, SIGINT);
	if (!ends(child, pid) || !wait_for(pid, true) || !goes_on(pid)) {
		printf("# step %d, pc %#lx: text %s\n", n, pc,
		       is_original(pid) ? "original" : "changed");
		return -1;
	}
	find_pools(pid);
	if (pools)
		printf("# step %d, pc %#lx: %d mappings stay\n", n, pc, pools);
	return pools || pc < 0 ? -1 : !pc;
}

int main(int argc, char **argv)
{
	int n, ret = 0, done = 0, stride;
	pid_t pid;

	if (argc < 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		victim();
	stride = atoi(argv[3]);
	for (n = 0; n < 400 && !ret; n += stride) {
		ret = leave_at(argv + 1, pid, n);
		done += !ret;
	}
	kill(pid, SIGKILL);
	printf("%d places, %s\n", done, ret > 0 ? "to the end" : "wrong");
	return ret < 0 || !done;
}
