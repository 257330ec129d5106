// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* init: the guest's first program: mounts the host's files below a layer of its own, and runs a script of theirs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define HOST "trans=virtio,version=9p2000.L,cache=loose,msize=512000"
#define LAYERS "lowerdir=/host,upperdir=/layer/files,workdir=/layer/work"

/* What the tool reads as the status: see tools/in-guest. */
#define STATUS_PORT "/dev/ttyS2"

static void end(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void fail(const char *what)
{
	printf("in-guest: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	end();
}

static void load_modules(void)
{
	char name[64];
	unsigned int i;
	int fd;

	for (i = 0; snprintf(name, sizeof(name), "/modules/%02u.ko", i),
	    (fd = open(name, O_RDONLY | O_CLOEXEC)) >= 0;
	     i++) {
		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			fail(name);
		close(fd);
	}
}

static void mount_at(const char *what, const char *at, const char *type,
		     unsigned long flags, const char *options)
{
	if (mkdir(at, 0755) && errno != EEXIST)
		fail(at);
	if (mount(what, at, type, flags, options))
		fail(at);
}

static void make_root(void)
{
	mount_at("host", "/host", "9p", MS_RDONLY, HOST);
	mount_at("layer", "/layer", "tmpfs", 0, "mode=755,size=75%");
	if (mkdir("/layer/files", 0755) || mkdir("/layer/work", 0755))
		fail("/layer");
	mount_at("root", "/root", "overlay", 0, LAYERS);
	mount_at("proc", "/root/proc", "proc", 0, NULL);
	mount_at("sys", "/root/sys", "sysfs", 0, NULL);
	mount_at("dev", "/root/dev", "devtmpfs", 0, NULL);
	mount_at("shm", "/root/dev/shm", "tmpfs", 0, "mode=1777");
	mount_at("pts", "/root/dev/pts", "devpts", 0, "mode=600,ptmxmode=666");
	if (symlink("/proc/self/fd", "/root/dev/fd") ||
	    symlink("/proc/self/fd/0", "/root/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/root/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/root/dev/stderr"))
		fail("/dev/fd");
	if (chroot("/root") || chdir("/"))
		fail("chroot");
}

/* Bytes are to come out of a port as they go in. */
static void take_port(const char *path, int fd)
{
	struct termios raw;
	int port = open(path, O_RDWR | O_NOCTTY);

	if (port < 0 || tcgetattr(port, &raw))
		fail(path);
	cfmakeraw(&raw);
	cfsetspeed(&raw, B115200);
	tcsetattr(port, TCSANOW, &raw);
	dup2(port, fd);
	close(port);
}

static void execute(const char *script, const int *out)
{
	setsid();
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	dup2(out[1], 1);
	dup2(out[1], 2);
	close(out[0]);
	close(out[1]);
	execl("/bin/sh", "sh", script, NULL);
	_exit(127);
}

/* Return: whether there was something to hand on. */
static int hand_on(int from)
{
	struct pollfd wait = { .fd = from, .events = POLLIN };
	char bytes[4096];
	ssize_t n = 0;

	if (poll(&wait, 1, 50) == 1)
		n = read(from, bytes, sizeof(bytes));
	return n > 0 && write(1, bytes, (size_t)n) == n;
}

/* All that end are waited for; what others leave in the pipe when the script has ended is handed on, too. */
static int run(const char *script)
{
	int out[2], status = 0, over = 0;
	pid_t pid, ended;

	if (pipe(out))
		fail("pipe");
	pid = fork();
	if (!pid)
		execute(script, out);
	while (hand_on(out[0]) || !over)
		while (!over && (ended = waitpid(-1, &status, WNOHANG)) > 0)
			over = ended == pid;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	const char *script = getenv("script");
	int status;

	mount_at("dev", "/dev", "devtmpfs", 0, NULL);
	if (!freopen("/dev/console", "w", stdout) || !script)
		end();
	load_modules();
	make_root();
	take_port("/dev/ttyS1", 1);
	status = run(script);
	tcdrain(1);
	take_port(STATUS_PORT, 1);
	printf("%d\n", status);
	fflush(stdout);
	tcdrain(1);
	end();
	return 1;
}
