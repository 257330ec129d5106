// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stress_init: stress-ng, where the image has it, goes through more of the kernel than the work whose results are looked at. */
#include "tests/kernel/init.h"
#include "tests/kernel/work_init.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "/usr/bin/stress-ng"
#define JOB "/stress.job"
#define WHERE "/stress"

static pid_t runner;

/* Once through the job, and again */
static void run(void)
{
	int status, null = open("/dev/null", O_RDWR);

	setsid();
	mkdir(WHERE, 0700);
	while (!chdir(WHERE)) {
		pid_t child = fork();

		if (!child) {
			dup2(null, STDIN_FILENO);
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
			execl(PROGRAM, "stress-ng", "--quiet", "--job", JOB,
			      "--temp-path", WHERE, (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child ||
		    (WIFEXITED(status) && WEXITSTATUS(status) == 127))
			break;
	}
	_exit(1);
}

int dp_stress_begin(void)
{
	if (!getenv("stress") || access(PROGRAM, X_OK) || access(JOB, R_OK))
		return 0;
	fflush(stdout);
	runner = fork();
	if (!runner)
		run();
	return runner > 0;
}

/* What it has left behind is the first program's, which is what calls this, and kills all others. */
int dp_stress_end(void)
{
	int status, ran = runner > 0 && !waitpid(runner, &status, WNOHANG);

	kill(-1, SIGKILL);
	while (waitpid(-1, &status, 0) > 0)
		continue;
	runner = 0;
	return ran;
}
