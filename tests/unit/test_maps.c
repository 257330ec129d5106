// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_maps: reading the mappings of this process and of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "proc/attach/attach.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "sym/sym.h"

static void own_maps_are_ascending(void **state)
{
	struct dp_maps maps;
	size_t i;

	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	assert_true(maps.n > 5);
	for (i = 0; i < maps.n; i++) {
		assert_true(maps.v[i].start < maps.v[i].end);
		if (i)
			assert_true(maps.v[i - 1].end <= maps.v[i].start);
		assert_int_equal(strlen(maps.v[i].perms), 4);
		assert_non_null(maps.v[i].path);
	}
	dp_maps_free(&maps);
	assert_int_equal(maps.n, 0);
}

static void find_is_exact_at_the_edges(void **state)
{
	struct dp_maps maps;
	const struct dp_map *map;
	size_t i;

	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	for (i = 0; i < maps.n; i++) {
		map = dp_maps_find(&maps, maps.v[i].start);
		assert_ptr_equal(map, &maps.v[i]);
		map = dp_maps_find(&maps, maps.v[i].end - 1);
		assert_ptr_equal(map, &maps.v[i]);
		map = dp_maps_find(&maps, maps.v[i].end);
		assert_ptr_not_equal(map, &maps.v[i]);
	}
	assert_null(dp_maps_find(&maps, 0));
	assert_null(dp_maps_find(&maps, -1ull));
	dp_maps_free(&maps);
}

static void *map_file(char *path, bool delete)
{
	int fd = mkstemp(path);
	void *p;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	assert_ptr_not_equal(p, MAP_FAILED);
	close(fd);
	if (delete)
		unlink(path);
	return p;
}

static void a_file_has_its_path_and_offset(void **state)
{
	char path[] = "/tmp/dp map \303\274.XXXXXX";
	void *p = map_file(path, false);
	const struct dp_map *map;
	struct dp_maps maps;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	map = dp_maps_find(&maps, (u64)p);
	assert_non_null(map);
	assert_string_equal(map->path, path);
	assert_int_equal(map->offset, 4096);
	assert_int_equal(map->inode, st.st_ino);
	assert_string_equal(map->perms, "r--p");
	dp_maps_free(&maps);
	munmap(p, 4096);
	unlink(path);
}

static void a_deleted_file_keeps_its_name(void **state)
{
	char path[] = "/tmp/dp-gone\nline.XXXXXX";
	void *p = map_file(path, true);
	const struct dp_map *map;
	struct dp_maps maps;

	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	map = dp_maps_find(&maps, (u64)p);
	assert_non_null(map);
	assert_string_equal(map->path, path);
	dp_maps_free(&maps);
	munmap(p, 4096);
}

static void many_mappings_are_all_read(void **state)
{
	enum { PAGES = 2000 };
	char *p = mmap(NULL, PAGES * 4096, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct dp_map *map;
	struct dp_maps maps;
	size_t i;

	assert_ptr_not_equal(p, MAP_FAILED);
	for (i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(p + i * 4096, 4096, PROT_NONE), 0);
	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	assert_true(maps.n > PAGES - 2);
	for (i = 1; i + 1 < PAGES; i++) {
		map = dp_maps_find(&maps, (u64)p + i * 4096);
		assert_non_null(map);
		assert_string_equal(map->perms, i & 1 ? "r--p" : "---p");
	}
	dp_maps_free(&maps);
	munmap(p, PAGES * 4096);
}

/* A path that the kernel writes four times as long, in as many lines as it takes. */
static void text_is_not_of_any_size(void **state)
{
	enum { PAGES = 20000 };
	char dir[] = "/tmp/dp-maps.XXXXXX", name[256];
	int deep = 0, fd, here = open(".", O_PATH | O_DIRECTORY);
	struct dp_diag diag;
	struct dp_maps maps;
	char *p;
	size_t i;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	memset(name, '\n', 255);
	name[255] = '\0';
	for (deep = 0; deep < 14; deep++) {
		assert_int_equal(mkdir(name, 0700), 0);
		assert_int_equal(chdir(name), 0);
	}
	fd = open("file", O_RDWR | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, PAGES * 4096), 0);
	p = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	dp_maps_free(&maps);
	for (i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(p + i * 4096, 4096, PROT_NONE), 0);
	assert_int_equal(dp_maps_read(getpid(), &maps), -EFBIG);
	assert_int_equal(maps.n, 0);
	assert_int_equal(dp_maps_too_many(getpid(), &diag), -EFBIG);
	assert_non_null(strstr(
		diag.text,
		" has more mappings than dprobes reads, 128 MB of /proc/"));
	munmap(p, PAGES * 4096);
	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	dp_maps_free(&maps);
	close(fd);
	unlink("file");
	while (deep--) {
		assert_int_equal(chdir(".."), 0);
		rmdir(name);
	}
	assert_int_equal(fchdir(here), 0);
	rmdir(dir);
	close(here);
}

static void no_such_process(void **state)
{
	struct dp_maps maps;

	assert_int_equal(dp_maps_read(0x3ffffff, &maps), -ESRCH);
}

static void a_zombie_is_no_process(void **state)
{
	struct dp_process *proc = dp_process_new();
	pid_t pid = fork();
	struct dp_maps maps;
	siginfo_t si;

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(dp_maps_read(pid, &maps), -ESRCH);
	proc->pid = pid;
	assert_int_equal(dp_check_process(proc, NULL), -ESRCH);
	dp_process_close(proc);
	waitpid(pid, NULL, 0);
}

static const struct dp_map library = { .start = 0x7000,
				       .end = 0x9000,
				       .offset = 0x3000,
				       .inode = 17,
				       .dev_major = 8,
				       .dev_minor = 1,
				       .path = (char *)"/lib/a.so" };

static struct dp_map but(size_t field, u64 value, size_t size)
{
	struct dp_map m = library;

	memcpy((char *)&m + field, &value, size);
	return m;
}

#define BUT(field, value)                          \
	but(offsetof(struct dp_map, field), value, \
	    sizeof(((struct dp_map *)0)->field))

static void tells_mappings_apart(void **state)
{
	const struct dp_map others[] = {
		BUT(start, 0x6000), BUT(end, 0xa000),  BUT(offset, 0x4000),
		BUT(inode, 18),	    BUT(dev_major, 9), BUT(dev_minor, 2),
		BUT(inode, 0),
	};
	const struct dp_map again = library;
	size_t i;

	assert_true(dp_map_same(&library, &again));
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(dp_map_same(&library, &others[i]));
	assert_false(dp_map_same(&library, NULL));
	assert_false(dp_map_same(NULL, NULL));
}

/* The mapping around a place may have grown or shrunk meanwhile. */
static void finds_the_same_place(void **state)
{
	const struct dp_map rest = { .start = 0x8000,
				     .end = 0x9000,
				     .offset = 0x4000,
				     .inode = 17,
				     .dev_major = 8,
				     .dev_minor = 1 };
	const struct dp_map moved = BUT(offset, 0x4000);
	const struct dp_map none = BUT(inode, 0), nothing = { .end = 0x9000 };
	const struct dp_origin at = dp_map_origin(&library, 0x8123);

	assert_int_equal(at.offset, 0x4123);
	assert_true(dp_origin_same(at, dp_map_origin(&rest, 0x8123)));
	assert_false(dp_origin_same(at, dp_map_origin(&rest, 0x8124)));
	assert_false(dp_origin_same(at, dp_map_origin(&moved, 0x8123)));
	assert_false(dp_origin_same(at, dp_map_origin(&none, 0x8123)));
	assert_false(dp_origin_same(at, dp_map_origin(NULL, 0x8123)));
	/* Of no file there is one place only. */
	assert_true(dp_origin_same(dp_map_origin(&nothing, 0x10),
				   dp_map_origin(&nothing, 0x20)));
}

static void tells_files_apart(void **state)
{
	struct dp_map other = library;
	struct stat st = { .st_ino = 17, .st_dev = makedev(8, 1) };

	other.start = 0x1000;
	assert_true(dp_map_same_file(&library, &other));
	assert_true(dp_map_is_file(&library, &st));
	other.path = (char *)"/lib/b.so";
	assert_false(dp_map_same_file(&library, &other));
	st.st_dev = makedev(8, 2);
	assert_false(dp_map_is_file(&library, &st));
}

/* Where text is to be patched there is no mapping any more. */
static void gone_text_is_not_noted(void **state)
{
	struct dp_arena_control *c = calloc(1, sizeof(*c));
	size_t before = 0;
	int i;

	for (i = 0; i < 100; i++) {
		c->revertible = 1;
		dp_patched_add(c, getpid(), 4096);
		assert_int_equal(c->revertible, 0);
		/* What malloc keeps for itself counts as used. */
		if (i == 10)
			before = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 1024);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_maps_are_ascending),
		cmocka_unit_test(find_is_exact_at_the_edges),
		cmocka_unit_test(a_file_has_its_path_and_offset),
		cmocka_unit_test(a_deleted_file_keeps_its_name),
		cmocka_unit_test(many_mappings_are_all_read),
		cmocka_unit_test(text_is_not_of_any_size),
		cmocka_unit_test(no_such_process),
		cmocka_unit_test(a_zombie_is_no_process),
		cmocka_unit_test(tells_mappings_apart),
		cmocka_unit_test(finds_the_same_place),
		cmocka_unit_test(tells_files_apart),
		cmocka_unit_test(gone_text_is_not_noted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
