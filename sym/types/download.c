// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * download: debug information from a server, by libdebuginfod.
 *
 *   tool ─► fork ─► child: libdebuginfod ─► network, the user's cache
 *    ├── bytes so far ◄──┤
 *    ├── a descriptor ◄──┘
 *    └─► build-id is compared
 *
 * A cache of another user's is not used: as root by sudo the tool would leave files in it that
 * their owner cannot replace, and believe what he has put there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/types/download.h"
#include "sym/types/foreground.h"
#include "sym/types/note.h"
#include "sym/types/pass.h"

#define KNOWN_MAX 64

/* Builds that have been asked for. @fd: -1, no server has it, as far as is known */
static struct known {
	u8 id[DP_BUILD_ID_MAX];
	size_t len;
	int fd;
} known[KNOWN_MAX];
static size_t nr_known;
static bool given_up;
static volatile sig_atomic_t interrupted;

/* What a child sends: @bytes so far; or, at the end, @err, and a descriptor if that is 0 */
struct news {
	u64 bytes;
	int err, is_end;
};

/* libdebuginfod.so.1, of which only a program is needed, no header */
struct client;
typedef int progress_fn(struct client *client, long so_far, long of);

struct library {
	struct client *(*begin)(void);
	void (*set_progressfn)(struct client *client, progress_fn *fn);
	int (*find)(struct client *client, const unsigned char *id, int len,
		    char **path);
};

static int own_line;

static bool load(struct library *l)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return false;
	*(void **)&l->begin = dlsym(lib, "debuginfod_begin");
	*(void **)&l->set_progressfn = dlsym(lib, "debuginfod_set_progressfn");
	*(void **)&l->find = dlsym(lib, "debuginfod_find_debuginfo");
	return l->begin && l->set_progressfn && l->find;
}

/* Without a length, what comes is the number of questions about it. */
static int on_progress(struct client *client, long so_far, long of)
{
	struct news news = { .bytes = so_far > 0 ? (u64)so_far : 0 };

	return send(own_line, &news, sizeof(news), MSG_NOSIGNAL) < 0;
}

/* Where libdebuginfod keeps files. Return: false: that is not said */
static bool find_cache(char *path, size_t len)
{
	const char *said = secure_getenv("DEBUGINFOD_CACHE_PATH"),
		   *data = secure_getenv("XDG_CACHE_HOME"),
		   *home = secure_getenv("HOME");

	if (said && *said)
		snprintf(path, len, "%s", said);
	else if (data && *data)
		snprintf(path, len, "%s/debuginfod_client", data);
	else if (home && *home)
		snprintf(path, len, "%s/.cache/debuginfod_client", home);
	else
		return false;
	return true;
}

/* The directory, or the one that it will be made in, is the user's. */
static bool is_own(const char *path)
{
	char dir[4096];
	struct stat st;
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	while (stat(dir, &st)) {
		slash = strrchr(dir, '/');
		if (errno != ENOENT || !slash || slash == dir)
			return false;
		*slash = '\0';
	}
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static void be_child(int line, const char *cache, const u8 *id, size_t len)
{
	struct news news = { .err = EOPNOTSUPP, .is_end = true };
	struct client *client;
	struct library l;
	sigset_t none;
	int fd = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	own_line = dp_pass_keep(&line, 1, 3);
	dp_aside_alone(NULL);
	setenv("DEBUGINFOD_CACHE_PATH", cache, true);
	client = load(&l) ? l.begin() : NULL;
	if (client) {
		l.set_progressfn(client, on_progress);
		fd = l.find(client, id, (int)len, NULL);
		news.err = fd < 0 ? -fd : 0;
	}
	dp_pass_send(own_line, &news, sizeof(news), fd);
	_exit(0);
}

static void on_interrupt(int sig)
{
	interrupted = 1;
}

/* Return: whether the child has said something within a second or so */
static bool wait_for_news(int line)
{
	struct pollfd p = { .fd = line, .events = POLLIN };

	return poll(&p, 1, 250) > 0;
}

/* Return: a descriptor, or a negative errno */
static int listen_to(int line, const char *module)
{
	struct news news = { .bytes = 0 };
	int fd;

	while (!interrupted) {
		dp_note_progress(module, news.bytes, false);
		if (!wait_for_news(line))
			continue;
		if (!dp_pass_receive(line, &news, sizeof(news), &fd))
			break;
		if (fd >= 0)
			return fd;
		if (news.is_end)
			return news.err > 0 ? -news.err : -EIO;
	}
	return interrupted ? -EINTR : -EIO;
}

static bool end_child(pid_t child)
{
	int status = 0;

	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
}

/* Its child has ended when it returns. */
static int fetch(const char *cache, const u8 *id, size_t len,
		 const char *module)
{
	int pair[2], fd, terminal;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child = fork();
	if (!child)
		be_child(pair[1], cache, id, len);
	close(pair[1]);
	fd = -EAGAIN;
	if (child > 0) {
		terminal = dp_foreground_give(child);
		fd = listen_to(pair[0], module);
		if (end_child(child) && fd == -EIO)
			fd = -EINTR;
		dp_foreground_back(terminal);
	}
	close(pair[0]);
	dp_note_progress(module, 0, true);
	return fd;
}

/* Keys that would end the tool end the download. */
static int fetch_until_interrupted(const char *cache, const u8 *id, size_t len,
				   const char *module)
{
	struct sigaction sa = { .sa_handler = on_interrupt }, before;
	int fd;

	interrupted = 0;
	sigaction(SIGINT, &sa, &before);
	fd = fetch(cache, id, len, module);
	sigaction(SIGINT, &before, NULL);
	return fd;
}

static void note_failure(int err, const char *module, const char *cache)
{
	given_up = err != -ENOENT && err != -ESTALE;
	if (err == -EINTR)
		dp_note("the download of debug information of %s was interrupted; nothing more is downloaded",
			module);
	else if (err == -EOPNOTSUPP)
		dp_note("DEBUGINFOD_URLS is set, but libdebuginfod (package libdebuginfod1) is not installed");
	else if (err == -EPERM)
		dp_note("no debug information is downloaded, as %s, where it would be kept, is another user's: set DEBUGINFOD_CACHE_PATH",
			cache);
	else if (err == -ENOENT)
		dp_note("no server of DEBUGINFOD_URLS has debug information of %s",
			module);
	else if (err == -ESTALE)
		dp_note("debug information of %s that a server of DEBUGINFOD_URLS has sent is not used, as it is of another build",
			module);
	else
		dp_note("debug information of %s cannot be downloaded: %s; nothing more is",
			module, strerror(-err));
}

static struct known *find_known(const u8 *id, size_t len)
{
	size_t i;

	for (i = 0; i < nr_known; i++)
		if (known[i].len == len && !memcmp(known[i].id, id, len))
			return &known[i];
	return NULL;
}

static void remember(const u8 *id, size_t len, int fd)
{
	struct known *k = &known[nr_known];

	if (nr_known == KNOWN_MAX)
		return;
	memcpy(k->id, id, len);
	k->len = len;
	k->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	nr_known++;
}

/* What has been found is found again. */
static int reopen(const struct known *k, struct dp_elf *elf)
{
	int fd = k->fd < 0 ? -1 : fcntl(k->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 || dp_elf_open_debug(elf, fd) ? -ENOENT : 0;
}

static int take(int fd, const u8 *id, size_t len, struct dp_elf *elf)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ESTALE;
	}
	if (dp_elf_open_debug(elf, fd))
		return -ESTALE;
	if (dp_debugfile_is(elf, id, len))
		return 0;
	dp_elf_close(elf);
	return -ESTALE;
}

int dp_download(const u8 *id, size_t len, const char *module,
		struct dp_elf *elf)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	const struct known *k = find_known(id, len);
	char cache[4096] = "";
	int fd, err;

	if (k)
		return reopen(k, elf);
	if (!urls || !urls[strspn(urls, " \t")] || given_up)
		return -ENOENT;
	if (find_cache(cache, sizeof(cache)) && is_own(cache))
		fd = fetch_until_interrupted(cache, id, len, module);
	else
		fd = -EPERM;
	err = fd < 0 ? fd : take(fd, id, len, elf);
	remember(id, len, err ? -1 : elf->fd);
	if (!err)
		return 0;
	note_failure(err, module, cache);
	return -ENOENT;
}
