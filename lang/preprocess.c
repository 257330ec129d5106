// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * preprocess: what is done to a file's text before it is parsed.
 *
 *   text ─► %key% ─► the C compiler's preprocessor, if a line begins with '#' ─► %key% ─► text
 *
 * The preprocessor says by line markers where each line comes from; dp_lang_complain() reads them.
 */
#include "lang/private.h"
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX (16u << 20)
#define WORDS_MAX 4096
#define FIXED_ARGS 24

extern char **environ;

static int nomem(struct dp_diag *diag)
{
	return dp_diag_set(diag, -ENOMEM, "no memory for a program's text");
}

static bool is_key(char c)
{
	return isalnum((u8)c) || c == '_' || c == '.' || c == '@' || c == '$';
}

/* The value of the key between two percent signs at @s, or NULL */
static const char *value_of(const struct dp_lang_define *v, size_t n,
			    const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(v[i].key) == len && !memcmp(v[i].key, s, len))
			return v[i].value;
	return NULL;
}

/* Bytes of "%key%" that has a value, or 0 */
static size_t at_key(const struct dp_lang_sources *from, const char *s,
		     const char *end, const char **value)
{
	const char *p = s + 1;

	if (*s != '%')
		return 0;
	while (p != end && is_key(*p))
		p++;
	if (p == end || *p != '%' || p == s + 1)
		return 0;
	*value = value_of(from->defines, from->nr_defines, s + 1,
			  (size_t)(p - s - 1));
	return *value ? (size_t)(p + 1 - s) : 0;
}

static int substitute(const struct dp_lang_sources *from, char **text,
		      size_t *len, struct dp_diag *diag)
{
	const char *s = *text, *end = s + *len, *value;
	char *out = NULL;
	size_t size = 0, n;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		return nomem(diag);
	while (s != end) {
		n = at_key(from, s, end, &value);
		if (n)
			fputs(value, f);
		else
			putc(*s, f);
		s += n ? n : 1;
		if (ftello(f) > OUTPUT_MAX)
			break;
	}
	if (fclose(f) || s != end) {
		free(out);
		return nomem(diag);
	}
	free(*text);
	*text = out;
	*len = size;
	return 0;
}

/* The number of the first line that begins with '#', or 0 */
static u32 directive(const char *text, size_t len)
{
	const char *s = text, *end = text + len;
	u32 line = 1;

	while (s != end) {
		while (s != end && (*s == ' ' || *s == '\t'))
			s++;
		if (s != end && *s == '#')
			return line;
		s = memchr(s, '\n', (size_t)(end - s));
		if (!s)
			return 0;
		s++;
		line++;
	}
	return 0;
}

/**
 * struct child - a preprocessor that runs
 * @to: its input; @from: its output; @words: what it complains of; -1: closed
 */
struct child {
	pid_t pid;
	int to, from, words;
};

static char *joined(const char *option, const char *word)
{
	char *out = NULL;

	return asprintf(&out, "%s%s", option, word) < 0 ? NULL : out;
}

static char *defined(const struct dp_lang_define *d)
{
	char *out = NULL;

	return asprintf(&out, "-D%s=%s", d->key, d->value) < 0 ? NULL : out;
}

static bool is_macro(const char *key)
{
	const char *p = key;

	while (isalnum((u8)*p) || *p == '_')
		p++;
	return !*p && !isdigit((u8)*key);
}

static char *directory_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
}

static void free_args(char **args)
{
	size_t i;

	for (i = 0; args && args[i]; i++)
		free(args[i]);
	free(args);
}

/* None of the compiler's own macros: "linux" is a name like others. */
static char **arguments(const struct dp_lang_sources *from, const char *file)
{
	static const char *const fixed[] = { "cc",
					     "-E",
					     "-x",
					     "c",
					     "-w",
					     "-undef",
					     "-std=c11",
					     "-D__x86_64__=1",
					     "-D__dprobes__=1" };
	size_t n = 0, i;
	char **args =
		calloc(FIXED_ARGS + from->nr_defines + 2 * from->nr_includes,
		       sizeof(*args));

	if (!args)
		return NULL;
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		args[n++] = strdup(fixed[i]);
	args[n++] = strdup("-iquote");
	args[n++] = directory_of(file);
	for (i = 0; i < from->nr_includes; i++)
		args[n++] = joined("-I", from->includes[i]);
	for (i = 0; i < from->nr_defines; i++)
		if (is_macro(from->defines[i].key))
			args[n++] = defined(&from->defines[i]);
	args[n++] = strdup("-");
	for (i = 0; i < n; i++)
		if (!args[i]) {
			while (++i < n)
				free(args[i]);
			free_args(args);
			return NULL;
		}
	return args;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int spawn(struct child *c, char **args, int in, int out, int err)
{
	static const char *const compilers[] = { "cc", "gcc", "clang", "c99" };
	posix_spawn_file_actions_t do_first;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	size_t i;
	int failed = ENOENT;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&do_first);
	posix_spawn_file_actions_adddup2(&do_first, in, 0);
	posix_spawn_file_actions_adddup2(&do_first, out, 1);
	posix_spawn_file_actions_adddup2(&do_first, err, 2);
	for (i = 0;
	     i < sizeof(compilers) / sizeof(compilers[0]) && failed == ENOENT;
	     i++)
		failed = posix_spawnp(&c->pid, compilers[i], &do_first, &attr,
				      args, environ);
	posix_spawn_file_actions_destroy(&do_first);
	posix_spawnattr_destroy(&attr);
	return failed;
}

/* Return: 0 or an errno: ENOENT there is no compiler. */
static int start(struct child *c, char **args)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	int failed = EMFILE;

	if (!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) &&
	    !pipe2(err, O_CLOEXEC))
		failed = spawn(c, args, in[0], out[1], err[1]);
	close_one(&in[0]);
	close_one(&out[1]);
	close_one(&err[1]);
	c->to = in[1];
	c->from = out[0];
	c->words = err[0];
	if (failed) {
		close_one(&c->to);
		close_one(&c->from);
		close_one(&c->words);
		return failed;
	}
	fcntl(c->to, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Input is written as fast as it is taken, so that neither waits for the other. */
static void feed(struct child *c, const char *text, size_t len, size_t *done)
{
	ssize_t n = write(c->to, text + *done, len - *done);

	if (n > 0)
		*done += (size_t)n;
	if (*done == len || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_one(&c->to);
}

static void drain(int *fd, FILE *to, size_t most)
{
	char buffer[65536];
	ssize_t n = read(*fd, buffer, sizeof(buffer));

	if (n < 0 && errno == EINTR)
		return;
	if (n > 0 && (size_t)ftello(to) < most)
		fwrite(buffer, 1, (size_t)n, to);
	if (n <= 0)
		close_one(fd);
}

static void converse(struct child *c, const char *text, size_t len, FILE *out,
		     FILE *words)
{
	size_t done = 0;

	while (c->from >= 0 || c->words >= 0) {
		struct pollfd p[3] = { { c->to, POLLOUT, 0 },
				       { c->from, POLLIN, 0 },
				       { c->words, POLLIN, 0 } };

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		if (c->to >= 0 && p[0].revents)
			feed(c, text, len, &done);
		if (c->from >= 0 && p[1].revents)
			drain(&c->from, out, OUTPUT_MAX);
		if (c->words >= 0 && p[2].revents)
			drain(&c->words, words, WORDS_MAX);
	}
	close_one(&c->to);
	close_one(&c->from);
	close_one(&c->words);
}

/* A write to a preprocessor that has ended is no end of the tool. */
static int run(char **args, const char *text, size_t len, FILE *out,
	       FILE *words, int *status)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was;
	struct child c;
	int failed;

	sigaction(SIGPIPE, &ignore, &was);
	failed = start(&c, args);
	if (!failed) {
		converse(&c, text, len, out, words);
		while (waitpid(c.pid, status, 0) < 0 && errno == EINTR)
			continue;
	}
	sigaction(SIGPIPE, &was, NULL);
	return failed;
}

static int missing(const char *file, u32 line, int failed, struct dp_diag *diag)
{
	if (failed != ENOENT)
		return dp_diag_set(
			diag, -EIO,
			"%s:%u: the C preprocessor cannot be started: %s", file,
			line, strerror(failed));
	return dp_diag_set(
		diag, -EIO,
		"%s:%u: this line is for the C preprocessor, and there is no cc, gcc or clang; install one, or take the line out",
		file, line);
}

/* The first complaint, which has its place: "FILE:LINE:COLUMN: error: words" */
static int complain(const char *file, char *words, struct dp_diag *diag)
{
	char *line, *rest = words, *error = NULL, *fatal;

	while (!error && (line = strsep(&rest, "\n")))
		error = strstr(line, "error: ");
	if (!error)
		return dp_diag_set(diag, -EINVAL,
				   "%s: the C preprocessor has failed", file);
	fatal = strstr(line, "fatal error: ");
	return dp_diag_set(diag, -EINVAL, "%.*s%s",
			   (int)((fatal ?: error) - line), line,
			   error + strlen("error: "));
}

/* The text with a marker in front, so that the preprocessor knows its name */
static char *marked(const char *file, const char *text, size_t len,
		    size_t *size)
{
	char *out = NULL;
	FILE *f = open_memstream(&out, size);

	if (!f)
		return NULL;
	fputs("# 1 \"", f);
	for (; *file; file++) {
		if (*file == '"' || *file == '\\')
			putc('\\', f);
		putc(*file, f);
	}
	fputs("\"\n", f);
	fwrite(text, 1, len, f);
	if (fclose(f)) {
		free(out);
		return NULL;
	}
	return out;
}

static int preprocess(const struct dp_lang_sources *from, const char *file,
		      u32 line, char **text, size_t *len, struct dp_diag *diag)
{
	char **args = arguments(from, file), *in, *out = NULL, *words = NULL;
	size_t in_len = 0, out_len = 0, words_len = 0;
	FILE *f = open_memstream(&out, &out_len);
	FILE *w = open_memstream(&words, &words_len);
	int status = 0, err;

	in = marked(file, *text, *len, &in_len);
	err = args && f && w && in ? run(args, in, in_len, f, w, &status) :
				     ENOMEM;
	if (f)
		fclose(f);
	if (w)
		fclose(w);
	if (err)
		err = missing(file, line, err, diag);
	else if (status)
		err = complain(file, words, diag);
	if (!err) {
		free(*text);
		*text = out;
		*len = out_len;
		out = NULL;
	}
	free_args(args);
	free(in);
	free(out);
	free(words);
	return err;
}

int dp_lang_preprocess(const struct dp_lang_sources *from, const char *file,
		       char **text, size_t *len, struct dp_diag *diag)
{
	int err = substitute(from, text, len, diag);
	u32 line = err ? 0 : directive(*text, *len);

	if (line && getauxval(AT_SECURE))
		return dp_diag_set(
			diag, -EPERM,
			"%s:%u: with more rights than its caller's, dprobes does not run the C preprocessor",
			file, line);
	if (line)
		err = preprocess(from, file, line, text, len, diag);
	if (!err && line)
		err = substitute(from, text, len, diag);
	return err;
}
