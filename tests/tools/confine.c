// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * confine: run a program under a seccomp filter that permits nearly all:
 * confine CALL… -- CMD [ARG…]. The CALLs, by their numbers, fail.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MOST 16

int main(int argc, char **argv)
{
	struct sock_filter code[2 * MOST + 2] = { BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog prog = { 1, code };
	int i;

	for (i = 1; i < argc && i <= MOST && strcmp(argv[i], "--"); i++) {
		code[prog.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)atoi(argv[i]),
			0, 1);
		code[prog.len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							SECCOMP_RET_ALLOW);
	if (i + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 2;
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
