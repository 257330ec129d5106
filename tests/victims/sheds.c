// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sheds: a program that executes another one, while a vfork child still runs in its old
 * memory: sheds COMMAND...
 *
 * Says where a word of it is. Executes the command on SIGUSR1; the child ends with its input.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned long word;

static void *divide(void *arg)
{
	char byte;

	if (!vfork()) {
		while (read(0, &byte, 1) > 0)
			continue;
		_exit(0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, divide, NULL);
	printf("%p\n", (void *)&word);
	fflush(stdout);
	sigwait(&set, &sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	execvp(argv[1], argv + 1);
	return 127;
}
