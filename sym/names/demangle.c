// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangle: linkage names of C++ and Rust as their sources write them.
 *
 *   tool ─► fork ─► child: limits ─► libiberty ─► texts in shared memory ─┐
 *     ├── "n" names on the board ──►                                      │
 *     ◄── they have been read ────────────────────────────────────────────┘
 *
 * A file's names may be hostile. What they do to libiberty happens in a child that can read
 * questions, write answers, and nothing else. It lives from dp_demangle_begin() to
 * dp_demangle_end(). A name that ends it stays as it is, and the next question has a new
 * child. Texts are the child's, and believed as little as the names.
 */
#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/names/demangler.h"

#define BATCH 64
#define DEATHS_MAX 16
#define LATE_MAX \
	16 /* names that took too long: a hostile file may have millions */
#define PATIENCE_MS 10000 /* for a batch: each name of it takes 60 ms at most */
#define MEMORY_MOST (256ul << 20)

/* What tool and child share. @at: the name that is being read; @late: names that took too
 * long, in all */
struct board {
	u32 at, late;
	char name[BATCH][DP_MANGLED_MAX + 1];
	char text[BATCH][DP_DEMANGLE_FORMS][DP_DEMANGLED_MAX + 1];
};

static const struct dp_demangler *readers;
static size_t nr_readers;
static unsigned int depth, deaths;
static struct board *board;
static pid_t child;
static int line = -1;
/* The names on the board, as long as it is asked for them */
static const char *asked[BATCH];
static size_t nr_asked;

bool dp_demangle_ready(void)
{
	return nr_readers;
}

/* Forms after one that cannot be read are not tried. */
static bool read_forms(const struct dp_demangler *d, u32 i)
{
	enum dp_demangle_form form;

	for (form = 0; form < DP_DEMANGLE_FORMS; form++) {
		if (dp_demangler_read(d, board->name[i], form,
				      board->text[i][form]))
			continue;
		*board->text[i][form] = '\0';
		break;
	}
	return form;
}

static void read_name(u32 i)
{
	u32 before = dp_demangler_late();
	size_t k;

	for (k = 0; k < nr_readers && board->late < LATE_MAX; k++)
		if (read_forms(&readers[k], i))
			break;
	board->late += dp_demangler_late() - before;
}

static void serve(int fd)
{
	u32 n, i;

	while (read(fd, &n, sizeof(n)) == sizeof(n) && n <= BATCH) {
		for (i = 0; i < n; i++) {
			__atomic_store_n(&board->at, i, __ATOMIC_RELAXED);
			read_name(i);
		}
		if (write(fd, &n, sizeof(n)) != sizeof(n))
			break;
	}
}

/* Keys that end the tool end it by the line; it has to be able to say so. */
static void be_child(int fd)
{
	static const int kept[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t none;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		signal(kept[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(fd, STDIN_FILENO);
	close_range(STDIN_FILENO + 1, ~0u, 0);
	dp_aside_alone(board);
	dp_demangler_begin();
	if (dp_aside_confine(MEMORY_MOST, STDIN_FILENO))
		serve(STDIN_FILENO);
	_exit(0);
}

static bool start(void)
{
	int pair[2];

	if (child)
		return true;
	if (!board)
		board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		board = NULL;
	if (!board || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	child = fork();
	if (!child)
		be_child(pair[1]);
	close(pair[1]);
	line = pair[0];
	if (child > 0)
		return true;
	child = 0;
	close(line);
	return false;
}

static void stop(void)
{
	if (!child)
		return;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	close(line);
	child = 0;
}

void dp_demangle_use(const struct dp_demangler *list, size_t n)
{
	stop();
	readers = list;
	nr_readers = list ? n : 0;
	nr_asked = 0;
	deaths = 0;
	if (board)
		board->late = 0;
}

void dp_demangle_begin(void)
{
	depth++;
}

void dp_demangle_end(void)
{
	if (!--depth)
		stop();
}

static bool answered(void)
{
	struct pollfd p = { .fd = line, .events = POLLIN };
	u32 n = (u32)nr_asked;
	int got;

	if (send(line, &n, sizeof(n), MSG_NOSIGNAL) != sizeof(n))
		return false;
	do
		got = poll(&p, 1, PATIENCE_MS);
	while (got < 0 && errno == EINTR);
	return got == 1 && read(line, &n, sizeof(n)) == sizeof(n);
}

/* Have the names on the board read, or only some of them, if one ends the child. */
static void ask(void)
{
	u32 at;

	if (!nr_asked || deaths >= DEATHS_MAX || !start()) {
		nr_asked = 0;
		return;
	}
	if (answered())
		return;
	stop();
	deaths++;
	at = __atomic_load_n(&board->at, __ATOMIC_RELAXED);
	if (at >= nr_asked)
		at = 0;
	memset(board->text[at], 0, sizeof(board->text[at]));
	nr_asked = at + 1;
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	       strnlen(name, DP_MANGLED_MAX + 1) <= DP_MANGLED_MAX;
}

static void put(const char *name)
{
	enum dp_demangle_form form;

	for (form = 0; form < DP_DEMANGLE_FORMS; form++)
		*board->text[nr_asked][form] = '\0';
	strcpy(board->name[nr_asked], name);
	asked[nr_asked++] = name;
}

size_t dp_demangle_ahead(const char *const *name, size_t stride, size_t n)
{
	const char *s;
	size_t i;

	nr_asked = 0;
	if (!nr_readers || deaths >= DEATHS_MAX)
		return n;
	dp_demangle_begin();
	for (i = 0; i < n && nr_asked < BATCH; i++) {
		s = *(const char *const *)((const char *)name + i * stride);
		if (is_mangled(s) && start())
			put(s);
	}
	ask();
	dp_demangle_end();
	return i;
}

/* Where on the board? The last one first: it is asked for all forms of a name in turn. */
static bool find(const char *name, size_t *i)
{
	static size_t last;
	size_t k;

	for (k = 0; k < nr_asked; k++) {
		last = last < nr_asked ? last : 0;
		if (asked[last] == name && !strcmp(board->name[last], name)) {
			*i = last;
			return true;
		}
		last++;
	}
	return false;
}

bool dp_demangle(const char *name, enum dp_demangle_form form, char *text)
{
	size_t i, n;

	if (!nr_readers || !is_mangled(name))
		return false;
	if (!find(name, &i)) {
		dp_demangle_ahead(&name, sizeof(name), 1);
		if (!find(name, &i))
			return false;
	}
	n = strnlen(board->text[i][form], DP_DEMANGLED_MAX);
	memcpy(text, board->text[i][form], n);
	text[n] = '\0';
	return n;
}

bool dp_demangle_match(const char *name, const char *want, bool glob)
{
	enum dp_demangle_form form;
	char text[DP_DEMANGLED_MAX + 1];

	for (form = 0; form < DP_DEMANGLE_FORMS; form++) {
		if (!dp_demangle(name, form, text))
			return false;
		if (glob ? !fnmatch(want, text, 0) : !strcmp(text, want))
			return true;
	}
	return false;
}
