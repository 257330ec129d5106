// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch-steps: what a watchpoint would tell, found by stepping through a program.
 *
 * watch-steps [-r] MAIN ADDR CMD ARGS…: from its function at MAIN on, CMD goes one instruction at a time,
 * until it ends. Each that changes the eight bytes at ADDR makes a line "OLD NEW OFFSET": their
 * values, and where the instruction is, from MAIN; with -r also where the thread goes on, and its rax,
 * rdi and rsp. Addresses are those in the file.
 */
#include "tests/tools/stepping.h"
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long bias_of(pid_t pid, const char *command)
{
	char path[64];
	unsigned long start = 0;
	Elf64_Ehdr header = { 0 };
	FILE *f = fopen(command, "r");

	if (!f || fread(&header, sizeof(header), 1, f) != 1)
		exit(2);
	fclose(f);
	if (header.e_type != ET_DYN)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lx", &start) != 1)
		exit(2);
	fclose(f);
	return start;
}

static void run_to(pid_t pid, unsigned long addr)
{
	struct user_regs_struct regs;
	long code = ptrace(PTRACE_PEEKTEXT, pid, addr, 0);
	int status;

	ptrace(PTRACE_POKETEXT, pid, addr, (code & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, 0, 0);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		exit(2);
	ptrace(PTRACE_POKETEXT, pid, addr, code);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	regs.rip = addr;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

static void print_registers(pid_t pid, unsigned long from)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	printf(" %llu 0x%llx 0x%llx 0x%llx", regs.rip - from, regs.rax,
	       regs.rdi, regs.rsp);
}

/* Until the program ends */
static void watch(pid_t pid, unsigned long from, unsigned long addr,
		  bool registers)
{
	unsigned long pc = pc_of(pid);
	long now, before = ptrace(PTRACE_PEEKDATA, pid, addr, 0);

	while (step(pid)) {
		now = ptrace(PTRACE_PEEKDATA, pid, addr, 0);
		if (now != before)
			printf("0x%lx 0x%lx %lu", before, now, pc - from);
		if (now != before && registers)
			print_registers(pid, from);
		if (now != before)
			putchar('\n');
		before = now;
		pc = pc_of(pid);
	}
}

int main(int argc, char **argv)
{
	bool registers = argc > 1 && !strcmp(argv[1], "-r");
	unsigned long bias;
	int status;
	pid_t pid;

	argv += registers;
	argc -= registers;
	if (argc < 4)
		return 2;
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 2;
	bias = bias_of(pid, argv[3]);
	run_to(pid, strtoul(argv[1], NULL, 16) + bias);
	watch(pid, strtoul(argv[1], NULL, 16) + bias,
	      strtoul(argv[2], NULL, 16) + bias, registers);
	return 0;
}
