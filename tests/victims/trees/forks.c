// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Children of children, each with its own calls */
#include "trees.h"
#include <sys/wait.h>
#include <unistd.h>

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_work(long n)
{
	return n ? f_work(n - 1) + f_leaf(n) : f_leaf(0);
}

UNTOLD static void child(int n, int level)
{
	pid_t pid = fork();

	if (!pid) {
		f_work(n);
		if (level)
			child(n + 10, level - 1);
		f_leaf(n);
		_exit(0);
	}
	f_work(n + 3);
	waitpid(pid, 0, 0);
}

UNTOLD int main(void)
{
	f_work(1);
	child(5, 1);
	child(6, 0);
	f_work(2);
	return 0;
}
