// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* work_init: what programs do with a kernel, and whether the results are what they always are. */
#include "tests/kernel/work_init.h"
#include "tests/kernel/work_kinds.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SIZE 65536

/* Of one process: it works in a directory of its own. */
static unsigned char page[SIZE], again[SIZE];

unsigned int dp_work_some(void)
{
	unsigned int wrong = 0;
	int pipes[2], i, fd, status;
	pid_t child;
	void *map;

	for (i = 0; i < 40; i++) {
		fd = open(i & 1 ? "/proc/self/status" : "/proc/meminfo",
			  O_RDONLY);
		while (fd >= 0 && read(fd, page, sizeof(page)) > 0)
			continue;
		close(fd);
		fd = open("/scratch", O_RDWR | O_CREAT | O_TRUNC, 0600);
		wrong += write(fd, page, sizeof(page)) < 0 || fsync(fd);
		close(fd);
		map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(map, i, 1 << 20);
		if (pipe(pipes))
			continue;
		child = fork();
		if (!child) {
			memset(map, i + 1, 1 << 19);
			_exit(write(pipes[1], page, 4096) == 4096 ? 7 : 1);
		}
		wrong += read(pipes[0], page, 4096) != 4096 ||
			 waitpid(child, &status, 0) != child ||
			 WEXITSTATUS(status) != 7;
		close(pipes[0]);
		close(pipes[1]);
		munmap(map, 1 << 20);
		unlink("/scratch");
		usleep(1000);
	}
	return wrong;
}

static void fill(unsigned char *to, size_t size)
{
	static unsigned int seed = 1;
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >>
					16);
}

/* Return: is the status that of a child which has exited so? */
static int is_exit(pid_t child, int with)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child &&
	       WIFEXITED(status) && WEXITSTATUS(status) == with;
}

static int files(void)
{
	struct stat st;
	int good, fd = open("a", O_RDWR | O_CREAT | O_TRUNC, 0640);

	fill(page, SIZE);
	good = write(fd, page, SIZE) == SIZE && !fsync(fd) &&
	       pread(fd, again, SIZE, 0) == SIZE && !memcmp(page, again, SIZE);
	good &= lseek(fd, 100, SEEK_SET) == 100 && read(fd, again, 10) == 10 &&
		!memcmp(page + 100, again, 10) && !ftruncate(fd, 1000) &&
		!fstat(fd, &st) && st.st_size == 1000 &&
		!fallocate(fd, 0, 0, 8192);
	good &= !flock(fd, LOCK_EX) && !flock(fd, LOCK_UN) &&
		!fchmod(fd, 0600) && !fchown(fd, 1, 1) && !futimens(fd, NULL);
	close(fd);
	return good;
}

static int names(void)
{
	char to[16] = "";
	struct stat st;
	struct dirent *e;
	unsigned int n = 0;
	DIR *d;
	int good = !mkdir("d", 0700) &&
		   !close(open("d/x", O_CREAT | O_WRONLY, 0600));

	good &= !link("d/x", "d/y") && !rename("d/y", "d/z") &&
		!symlink("x", "d/l") && readlink("d/l", to, sizeof(to)) == 1 &&
		*to == 'x' && !stat("d/l", &st) && st.st_nlink == 2 &&
		!access("d/z", R_OK) && access("d/none", F_OK) &&
		!mknod("d/f", S_IFIFO | 0600, 0);
	d = opendir("d");
	while (d && (e = readdir(d)))
		n += *e->d_name != '.';
	if (d)
		closedir(d);
	good &= n == 4 && !unlink("d/x") && !unlink("d/z") && !unlink("d/l") &&
		!unlink("d/f") && !rmdir("d");
	return good;
}

static int copies(void)
{
	int pipes[2], from = open("a", O_RDWR | O_CREAT, 0600), to, good;
	off_t at = 0;

	fill(page, 8192);
	to = open("b", O_RDWR | O_CREAT | O_TRUNC, 0600);
	good = pwrite(from, page, 8192, 0) == 8192 &&
	       sendfile(to, from, &at, 4096) == 4096 && !pipe(pipes);
	at = 4096;
	good = good && splice(from, &at, pipes[1], NULL, 4096, 0) == 4096 &&
	       splice(pipes[0], NULL, to, NULL, 4096, 0) == 4096 &&
	       pread(to, again, 8192, 0) == 8192 && !memcmp(page, again, 8192);
	close(pipes[0]);
	close(pipes[1]);
	close(from);
	close(to);
	return good && !unlink("b");
}

static int memory(void)
{
	int fd = memfd_create("work", MFD_CLOEXEC), good;
	unsigned char *map, resident[16];

	good = !ftruncate(fd, SIZE);
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 0;
	fill(map, SIZE);
	good &= pread(fd, page, SIZE, 0) == SIZE && !memcmp(map, page, SIZE) &&
		!msync(map, SIZE, MS_SYNC) && !mlock(map, 4096) &&
		!munlock(map, 4096) && !mincore(map, SIZE, resident) &&
		resident[0] & 1 && !mprotect(map, 4096, PROT_READ) &&
		!madvise(map, SIZE, MADV_DONTNEED) && !memcmp(map, page, SIZE);
	map = mremap(map, SIZE, SIZE / 2, 0);
	good &= map != MAP_FAILED && !munmap(map, SIZE / 2);
	close(fd);
	map = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(map, 3, 1 << 20);
	good &= !madvise(map, 2 << 20, MADV_DONTNEED) && !map[1000] &&
		!munmap(map, 4 << 20);
	return good && brk(sbrk(0)) == 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Two threads take turns. */
static void *take_turns(void *mine)
{
	int i;

	for (i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		while (turn % 2 != (mine != NULL))
			pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return mine;
}

static int threads(void)
{
	pthread_t other;
	void *result = NULL;

	turn = 0;
	if (pthread_create(&other, NULL, take_turns, &turn))
		return 0;
	take_turns(NULL);
	return !pthread_join(other, &result) && result == &turn && turn == 40;
}

static volatile sig_atomic_t caught, value;

static void catch_signal(int number, siginfo_t *info, void *context)
{
	caught++;
	value = info->si_value.sival_int;
}

static int signals(void)
{
	struct sigaction act = { .sa_sigaction = catch_signal,
				 .sa_flags = SA_SIGINFO };
	struct timespec t = { 1, 0 };
	union sigval v = { .sival_int = 42 };
	siginfo_t info;
	sigset_t set;
	int good;

	caught = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	good = !sigaction(SIGUSR1, &act, NULL) &&
	       !sigprocmask(SIG_BLOCK, &set, NULL) &&
	       !sigqueue(getpid(), SIGUSR1, v) && caught == 1 && value == 42 &&
	       !raise(SIGUSR1) && caught == 2 && !kill(getpid(), SIGUSR2) &&
	       sigtimedwait(&set, &info, &t) == SIGUSR2 &&
	       info.si_pid == getpid();
	signal(SIGUSR1, SIG_DFL);
	return good && !sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int timers(void)
{
	struct sigaction act = { .sa_sigaction = catch_signal,
				 .sa_flags = SA_SIGINFO };
	struct itimerval once = { .it_value.tv_usec = 2000 };
	struct timespec short_time = { 0, 1000000 }, before, after;
	int good, i;

	caught = 0;
	clock_gettime(CLOCK_MONOTONIC, &before);
	good = !sigaction(SIGALRM, &act, NULL) &&
	       !setitimer(ITIMER_REAL, &once, NULL);
	for (i = 0; i < 1000 && !caught; i++)
		nanosleep(&short_time, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	signal(SIGALRM, SIG_DFL);
	return good && caught == 1 &&
	       (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec -
			       before.tv_nsec >=
		       2000000;
}

static int children(void)
{
	char *const args[] = { "/init", DP_WORK_CHILD, NULL };
	struct rusage usage;
	pid_t child = fork();
	int status;

	if (!child) {
		execv(args[0], args);
		_exit(1);
	}
	if (!is_exit(child, DP_WORK_STATUS))
		return 0;
	child = vfork();
	if (!child)
		_exit(9);
	if (!is_exit(child, 9))
		return 0;
	child = fork();
	if (!child)
		while (1)
			pause();
	return !kill(child, SIGKILL) &&
	       wait4(child, &status, 0, &usage) == child &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static int traced(void)
{
	int status, stops = 0;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		syscall(SYS_getppid);
		_exit(3);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	}
	/* The stop, the two ends of getppid(2), the beginning of exit_group(2), and the C library's own */
	return stops >= 4 && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static int in_namespaces(void)
{
	struct utsname name;

	if (unshare(CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC) ||
	    sethostname("inside", 6) || uname(&name) ||
	    strcmp(name.nodename, "inside") ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mkdir("m", 0700) || mount("m", "m", "tmpfs", 0, NULL) ||
	    close(open("m/f", O_CREAT | O_WRONLY, 0600)) || umount("m") ||
	    rmdir("m"))
		return 1;
	return chroot("/proc") || chdir("/") || access("self", F_OK) ? 1 : 5;
}

static int namespaces(void)
{
	pid_t child = fork();

	if (!child)
		_exit(in_namespaces());
	return is_exit(child, 5);
}

static int system_five(void)
{
	struct sembuf up = { 0, 1, 0 }, down = { 0, -1, 0 };
	struct {
		long type;
		char text[8];
	} m = { 1, "message" }, got = { 0 };
	int shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), good;
	int sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	int msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	char *at = shmat(shm, NULL, 0);

	good = at != (void *)-1 && !semop(sem, &up, 1) &&
	       !semop(sem, &down, 1) && !msgsnd(msg, &m, sizeof(m.text), 0) &&
	       msgrcv(msg, &got, sizeof(got.text), 0, 0) == sizeof(m.text) &&
	       !memcmp(&m, &got, sizeof(m));
	if (good)
		*at = 1;
	good &= !shmdt(at);
	return !shmctl(shm, IPC_RMID, NULL) && !semctl(sem, 0, IPC_RMID) &&
	       !msgctl(msg, IPC_RMID, NULL) && good;
}

/* Files that say something, and end */
static int read_all(void)
{
	static const char *const list[] = {
		"/proc/self/status",
		"/proc/self/maps",
		"/proc/self/smaps",
		"/proc/self/stat",
		"/proc/meminfo",
		"/proc/stat",
		"/proc/vmstat",
		"/proc/zoneinfo",
		"/proc/interrupts",
		"/proc/softirqs",
		"/proc/mounts",
		"/proc/cpuinfo",
		"/proc/loadavg",
		"/proc/uptime",
		"/proc/filesystems",
		"/proc/modules",
		"/proc/self/limits",
		"/proc/self/io",
		"/proc/self/sched",
		"/proc/buddyinfo",
		"/proc/slabinfo",
		"/proc/net/dev",
		"/proc/net/unix",
		"/proc/sys/kernel/osrelease",
		"/sys/devices/system/cpu/online",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/module/printk/parameters/time",
	};
	unsigned int i, full = 0, bad = 0;
	ssize_t n, all;

	for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
		int fd = open(list[i], O_RDONLY);

		/* Some kernels do not have some. */
		for (all = 0; fd >= 0 && (n = read(fd, page, SIZE)) > 0;
		     all += n)
			continue;
		bad += fd >= 0 && n < 0;
		full += all > 0;
		if (fd >= 0)
			close(fd);
	}
	return !bad && full > 20;
}

static int about_itself(void)
{
	struct sched_param p = { 0 };
	struct rlimit limit;
	struct sysinfo info;
	char name[16], is[16] = "";
	cpu_set_t set;

	prctl(PR_GET_NAME, name);
	return !prctl(PR_SET_NAME, "worker") && !prctl(PR_GET_NAME, is) &&
	       !strcmp(is, "worker") && !prctl(PR_SET_NAME, name) &&
	       !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) &&
	       !sched_setscheduler(0, SCHED_BATCH, &p) &&
	       sched_getscheduler(0) == SCHED_BATCH &&
	       !sched_setscheduler(0, SCHED_OTHER, &p) && !sched_yield() &&
	       !getrlimit(RLIMIT_NOFILE, &limit) &&
	       !setrlimit(RLIMIT_NOFILE, &limit) && !sysinfo(&info) &&
	       info.totalram && getrandom(page, 64, 0) == 64 &&
	       syscall(SYS_getppid) == getppid() &&
	       getsid(0) == syscall(SYS_getsid, getpid());
}

static const struct {
	const char *name;
	int (*run)(void);
} kinds[] = {
	{ "files", files },
	{ "names", names },
	{ "copies", copies },
	{ "memory", memory },
	{ "threads", threads },
	{ "signals", signals },
	{ "timers", timers },
	{ "children", children },
	{ "traced", traced },
	{ "namespaces", namespaces },
	{ "System V", system_five },
	{ "proc", read_all },
	{ "itself", about_itself },
	{ "streams", dp_work_streams },
	{ "TCP", dp_work_tcp },
	{ "UDP", dp_work_udp },
	{ "netlink", dp_work_netlink },
	{ "epoll", dp_work_epoll },
	{ "poll", dp_work_poll },
	{ "inotify, signalfd", dp_work_told },
};

unsigned int dp_work_all(unsigned long round)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		errno = 0;
		if (kinds[i].run())
			continue;
		wrong++;
		printf("# the work is wrong: %s (%s, after %lu rounds)\n",
		       kinds[i].name, strerror(errno), round);
		fflush(stdout);
	}
	return wrong;
}

#define WORKERS 2
/* Seconds until a worker has to have done its round */
#define PATIENCE 120

static struct shared {
	volatile int stop;
	volatile unsigned long rounds[WORKERS], wrong[WORKERS];
} * shared;
static pid_t workers[WORKERS];

static void work(int cpu)
{
	char where[16];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	snprintf(where, sizeof(where), "/work%d", cpu);
	mkdir(where, 0700);
	if (chdir(where))
		_exit(1);
	do {
		shared->wrong[cpu] += dp_work_all(shared->rounds[cpu]);
		shared->rounds[cpu]++;
	} while (!shared->stop);
	_exit(DP_WORK_STATUS);
}

void dp_work_begin(void)
{
	int i;

	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(shared, 0, sizeof(*shared));
	dp_work_bring_up();
	fflush(stdout);
	for (i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (!workers[i])
			work(i);
	}
}

int dp_work_end(unsigned long *rounds)
{
	int i, status, good = 1, left;

	shared->stop = 1;
	*rounds = 0;
	for (i = 0; i < WORKERS; i++) {
		for (left = PATIENCE * 100;
		     left &&
		     waitpid(workers[i], &status, WNOHANG) != workers[i];
		     left--)
			usleep(10000);
		if (!left) {
			kill(workers[i], SIGKILL);
			waitpid(workers[i], &status, 0);
		}
		good &= left && WIFEXITED(status) &&
			WEXITSTATUS(status) == DP_WORK_STATUS &&
			shared->rounds[i] && !shared->wrong[i];
		*rounds += shared->rounds[i];
	}
	return good;
}
