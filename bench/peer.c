// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peer: a small world for another tool, thrown away after each measurement. */
#include "bench/peer.h"
#include "bench/twins.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 20000
#define NOT_THERE 127

/* Shared with the child; @why is at any time true of an end at that time. */
static struct answer {
	bool ok;
	double ns;
	char why[160];
} * answer;

int peer_fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(answer->why, sizeof(answer->why), format, ap);
	va_end(ap);
	return -1;
}

static size_t read_log(char *buf, size_t size)
{
	int fd = open(PEER_LOG, O_RDONLY | O_CLOEXEC);
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n = 0;

	if (fd >= 0) {
		n = pread(fd, buf, size - 1,
			  end < (off_t)size ? 0 : end - (off_t)size + 1);
		close(fd);
	}
	n = n < 0 ? 0 : n;
	buf[n] = '\0';
	return (size_t)n;
}

bool peer_logged(const char *text)
{
	char log[16384];

	read_log(log, sizeof(log));
	return strstr(log, text);
}

static int fail_with_log(const char *who, int status)
{
	char log[160], *line;
	size_t n = read_log(log, sizeof(log));

	while (n && log[n - 1] == '\n')
		log[--n] = '\0';
	line = strrchr(log, '\n');
	return peer_fail("%s: status %d: %.120s", who, status,
			 line ? line + 1 : log);
}

int peer_command(const char *const *argv)
{
	int status;
	pid_t pid;

	peer_fail("%s: no end within %d s", argv[0], LIMIT_MS / 1000);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], (char *const *)argv);
		_exit(NOT_THERE);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return peer_fail("%s: %s", argv[0], strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
		return peer_fail("%s is not there", argv[0]);
	if (status)
		return fail_with_log(argv[0], status);
	return 0;
}

uint64_t peer_bytes(const char *pattern)
{
	uint64_t bytes = 0;
	struct stat st;
	glob_t g;
	size_t i;

	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++)
		if (!stat(g.gl_pathv[i], &st))
			bytes += (uint64_t)st.st_size;
	globfree(&g);
	return bytes;
}

/* One's own user stays what it is in a user namespace. */
static void map_id(const char *path, unsigned int id)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	fprintf(f, "%u %u 1", id, id);
	fclose(f);
}

static int copy_victim(int from)
{
	int to = open(PEER_VICTIM, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n;

	if (to < 0)
		return -1;
	do
		n = sendfile(to, from, NULL, 1 << 20);
	while (n > 0);
	close(to);
	return n ? -1 : 0;
}

static int mount_all(const char *victim)
{
	static const char *const empty[] = { "/tmp", "/run", "/dev/shm" };
	int fd = open(victim, O_RDONLY | O_CLOEXEC);
	size_t i;

	if (fd < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		if (mount("bench", empty[i], "tmpfs", 0, "mode=1777"))
			return -1;
	if (mount("bench", "/proc", "proc", 0, NULL) || copy_victim(fd) ||
	    chdir("/tmp"))
		return -1;
	close(fd);
	return 0;
}

static int settle(void)
{
	static const char *const homes[] = { "HOME", "TMPDIR", "LTTNG_HOME" };
	int in = open("/dev/null", O_RDONLY);
	int out = open(PEER_LOG, O_WRONLY | O_CREAT | O_APPEND, 0644);
	size_t i;

	if (in < 0 || out < 0)
		return -1;
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	for (i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		setenv(homes[i], "/tmp", 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("DEBUGINFOD_URLS");
	return 0;
}

static void inside(const struct peer *peer, const char *victim)
{
	FILE *f;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount_all(victim) || settle()) {
		peer_fail("no /tmp, /run and /proc of its own: %s",
			  strerror(errno));
		return;
	}
	if (peer->steps())
		return;
	f = fopen(TWINS_ANSWER, "re");
	answer->ok = f && fscanf(f, "%lf", &answer->ns) == 1;
	if (!answer->ok)
		peer_fail("the victim has not answered");
}

static pid_t new_world(void)
{
	long flags = CLONE_NEWNS | CLONE_NEWPID | SIGCHLD;
	unsigned int uid = geteuid(), gid = getegid();
	long pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
	FILE *f;

	if (pid >= 0 || errno != EPERM)
		return (pid_t)pid;
	pid = syscall(SYS_clone, flags | CLONE_NEWUSER, 0, 0, 0, 0);
	if (pid)
		return (pid_t)pid;
	map_id("/proc/self/uid_map", uid);
	f = fopen("/proc/self/setgroups", "we");
	if (f) {
		fputs("deny", f);
		fclose(f);
	}
	map_id("/proc/self/gid_map", gid);
	return 0;
}

/* Ends process 1 of the namespace, and all others with it. */
static void wait_or_end(pid_t pid)
{
	double begin = bench_now();

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (bench_now() - begin > LIMIT_MS) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return;
		}
		usleep(1000);
	}
}

static int in_new_world(const struct peer *peer, const char *victim)
{
	pid_t pid = new_world();

	if (pid == 0) {
		inside(peer, victim);
		_exit(0);
	}
	if (pid < 0)
		return peer_fail("no namespaces of its own: %s",
				 strerror(errno));
	wait_or_end(pid);
	return answer->ok ? 0 : -1;
}

int peer_measure(struct bench_run *run, const struct peer *peer, double *ns)
{
	char victim[4096];
	int err;

	snprintf(victim, sizeof(victim), "%.*s%s", run->folder, run->victim,
		 peer->victim);
	snprintf(run->note, sizeof(run->note), "%s", peer->note);
	if (access(victim, X_OK)) {
		snprintf(run->absent, sizeof(run->absent), "%s", peer->absent);
		return -1;
	}
	answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answer == MAP_FAILED)
		exit(1);
	/* The other victim never sleeps, and this one wants its CPU. */
	kill(run->pid, SIGSTOP);
	err = in_new_world(peer, victim);
	kill(run->pid, SIGCONT);
	*ns = answer->ns;
	memcpy(run->absent, answer->why, sizeof(run->absent));
	munmap(answer, sizeof(*answer));
	return err;
}
