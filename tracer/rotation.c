// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rotation: see rotation.h. */
#include "tracer/rotation.h"
#include "tracer/sink.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING 65536

/**
 * struct dp_rotation
 * @written: bytes of FILE, with the @n of @pending, which are to be written
 * @lines: of each file, FILE first
 */
struct dp_rotation {
	struct dp_sink sink;
	char *path;
	u64 size, written, dropped, *lines;
	u32 files;
	int fd;
	size_t n;
	char pending[PENDING];
};

/* FILE, or FILE.@i; malloc()ed */
static char *name_of(const struct dp_rotation *r, u32 i)
{
	char *name = NULL;

	if (!i)
		return strdup(r->path);
	return asprintf(&name, "%s.%u", r->path, i) < 0 ? NULL : name;
}

/* Nothing of anybody else's is removed or renamed: devices, directories, pipes. */
static int check(const struct dp_rotation *r, u32 i)
{
	char *name = name_of(r, i);
	struct stat st;
	int err = name ? 0 : -ENOMEM;

	if (!err && !stat(name, &st) && !S_ISREG(st.st_mode))
		err = -EEXIST;
	free(name);
	return err;
}

static int remove_old(const struct dp_rotation *r, u32 i)
{
	char *name = name_of(r, i);
	int err = !name ? -ENOMEM : unlink(name) ? -errno : 0;

	free(name);
	return err == -ENOENT ? 0 : err;
}

static bool put(struct dp_rotation *r, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(r->fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static bool put_pending(void *arg)
{
	struct dp_rotation *r = arg;
	size_t n = r->n;

	r->n = 0;
	return put(r, r->pending, n);
}

/* FILE.@i becomes FILE.(@i + 1). The user may have taken it away. */
static bool move_on(struct dp_rotation *r, u32 i)
{
	char *from = name_of(r, i), *to = name_of(r, i + 1);
	bool good = from && to && (!rename(from, to) || errno == ENOENT);

	free(from);
	free(to);
	return good;
}

/* @how: O_EXCL: what somebody else puts there meanwhile is not written to */
static bool begin_file(struct dp_rotation *r, int how)
{
	r->fd = open(r->path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
	r->written = r->lines[0] = 0;
	return r->fd >= 0;
}

static bool rotate(struct dp_rotation *r)
{
	u32 last = r->files - 1, i;

	if (!put_pending(r))
		return false;
	close(r->fd);
	r->fd = -1;
	r->dropped += r->lines[last];
	if (!last)
		return begin_file(r, O_TRUNC);
	for (i = last; i > 0; i--) {
		if (!move_on(r, i - 1))
			return false;
		r->lines[i] = r->lines[i - 1];
	}
	return begin_file(r, O_EXCL);
}

static bool take_line(void *arg, const char *text, size_t len)
{
	struct dp_rotation *r = arg;

	if (r->written && r->written + len > r->size && !rotate(r))
		return false;
	r->written += len;
	r->lines[0]++;
	if (r->n + len > PENDING && !put_pending(r))
		return false;
	if (len > PENDING)
		return put(r, text, len);
	memcpy(r->pending + r->n, text, len);
	r->n += len;
	return true;
}

u64 dp_rotation_dropped(const struct dp_rotation *r)
{
	return r->dropped;
}

static int begin(struct dp_rotation *r)
{
	int err = 0;
	u32 i;

	for (i = 0; i < r->files && !err; i++)
		err = check(r, i);
	for (i = 1; i < r->files && !err; i++)
		err = remove_old(r, i);
	if (!err && !begin_file(r, O_TRUNC))
		err = -errno;
	return err;
}

void dp_rotation_close(struct dp_rotation *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	free(r->lines);
	free(r);
}

int dp_rotation_open(struct dp_rotation **rotation, const char *path, u64 size,
		     u32 files, FILE **out)
{
	struct dp_rotation *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->sink = (struct dp_sink){ .line = take_line,
				    .written = put_pending,
				    .arg = r };
	r->size = size;
	r->files = files;
	r->fd = -1;
	r->path = strdup(path);
	r->lines = calloc(files, sizeof(*r->lines));
	if (r->path && r->lines)
		err = begin(r);
	*out = err ? NULL : dp_sink_open(&r->sink);
	if (!err && !*out)
		err = -ENOMEM;
	if (err)
		dp_rotation_close(r);
	else
		*rotation = r;
	return err;
}
