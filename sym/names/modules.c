// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* modules: the executable ELF files of one process, found in its mappings. */
#include <dprobes/diag.h>
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/names/mod.h"

#define HEAD_LEN 4096
#define AUXV_MAX 64

/*
 * What is known of a file during the walk over the mappings in order of address, which
 * looks at each mapping once.
 *
 * @of: a mapping of the file; @head: the last mapping of offset 0, to which the mappings
 * behind it belong; @mod: the first of its modules
 */
struct file {
	const struct dp_map *of, *head;
	struct dp_mod *mod;
};

/** struct index - trees: files, and modules by bias and file; the process cannot choose
 *  what makes them slow */
struct index {
	struct file *v;
	size_t n;
	void *files, *mods;
};

static int compare_files(const struct dp_map *a, const struct dp_map *b)
{
	struct dp_origin x = dp_map_origin(a, a->start - a->offset);
	struct dp_origin y = dp_map_origin(b, b->start - b->offset);

	return memcmp(&x, &y, sizeof(x)) ?: strcmp(a->path, b->path);
}

static int by_file(const void *a, const void *b)
{
	return compare_files(((const struct file *)a)->of,
			     ((const struct file *)b)->of);
}

static int by_bias(const void *pa, const void *pb)
{
	const struct dp_mod *a = pa, *b = pb;

	if (a->pub.bias != b->pub.bias)
		return a->pub.bias < b->pub.bias ? -1 : 1;
	return compare_files(a->text, b->text);
}

static void keep(void *node)
{
}

static void index_close(struct index *x)
{
	tdestroy(x->files, keep);
	tdestroy(x->mods, keep);
	free(x->v);
}

/* NULL: out of memory. */
static struct file *file_of(struct index *x, const struct dp_map *map)
{
	struct file *new = &x->v[x->n], **file;

	*new = (struct file){ .of = map };
	file = tsearch(new, &x->files, by_file);
	if (!file)
		return NULL;
	x->n += *file == new;
	return *file;
}

/* The file cannot be read, but its headers are in memory. */
static int shape_from_memory(const struct dp_modules *mods, struct dp_mod *mod)
{
	void *page;

	if (!mod->head)
		return -ENOEXEC;
	page = malloc(HEAD_LEN);
	if (!page)
		return -ENOMEM;
	if (dp_mem_read(mods, mod->head->start, page, HEAD_LEN)) {
		free(page);
		return -ENOEXEC;
	}
	return dp_elf_open_image(&mod->shape, page, HEAD_LEN);
}

/* Only the program headers stay: modules are many, descriptors are few. */
static void shape_shrink(struct dp_elf *shape)
{
	Elf64_Phdr *ph = shape->ph;
	size_t n = shape->n_ph;

	shape->ph = NULL;
	dp_elf_close(shape);
	shape->ph = ph;
	shape->n_ph = n;
	shape->size = UINT64_MAX; /* not known any more */
}

/*
 * Is a file of @shape loaded at @bias as a program or library, with @text a part of it? A
 * piece of the file may be mapped by other means: node maps its builtins a second time.
 * @head becomes the mapping of its beginning.
 */
static bool is_loaded(const struct dp_modules *mods, const struct dp_elf *shape,
		      u64 bias, const struct dp_map *text,
		      const struct dp_map **head)
{
	const Elf64_Phdr *ph;
	const struct dp_map *map;
	size_t i;

	for (i = 0; i < shape->n_ph; i++) {
		ph = &shape->ph[i];
		if (ph->p_type != PT_LOAD || ph->p_offset >> 12)
			continue;
		map = dp_maps_find(&mods->maps, bias + ph->p_vaddr);
		if (!map || map->offset || !dp_map_same_file(map, text))
			return false;
		*head = map;
		return true;
	}
	return true;
}

static int read_shape(const struct dp_modules *mods, struct dp_mod *mod)
{
	int fd = dp_module_open(mods, &mod->pub), err;

	if (dp_is_shortage(fd))
		return fd;
	if (fd < 0) {
		mod->missing = fd;
		err = shape_from_memory(mods, mod);
	} else {
		err = dp_elf_open_fd(&mod->shape, fd);
		if (!err &&
		    dp_dynamic_soname(&mod->shape, &mod->soname) == -ENOMEM)
			err = -ENOMEM;
	}
	if (err)
		return err;
	shape_shrink(&mod->shape);
	if (!dp_elf_bias(&mod->shape, mod->text->start, mod->text->offset, true,
			 &mod->pub.bias) ||
	    !is_loaded(mods, &mod->shape, mod->pub.bias, mod->text, &mod->head))
		return -ENOEXEC;
	return 0;
}

static void mod_free(struct dp_mod *mod)
{
	if (!mod)
		return;
	dp_dynsym_free(&mod->read.dynsym);
	dp_symtab_free(&mod->read.symtab);
	dp_fdes_free(&mod->read.fdes);
	dp_relocs_free(&mod->read.relocs);
	dp_demangled_free(&mod->read.demangled);
	dp_objects_free(&mod->read.objects);
	dp_tracepoints_free(&mod->read.tracepoints);
	dp_elf_close(&mod->shape);
	free(mod->soname);
	free(mod);
}

/* -ENOEXEC: this mapping is not of a loaded ELF file. */
static int mod_new(const struct dp_modules *mods, const struct dp_map *map,
		   const struct dp_map *head, struct dp_mod **out)
{
	struct dp_mod *mod = calloc(1, sizeof(*mod));
	const char *slash = strrchr(map->path, '/');
	int err;

	if (!mod)
		return -ENOMEM;
	mod->shape.fd = -1;
	mod->text = map;
	mod->head = head;
	err = read_shape(mods, mod);
	if (err) {
		mod_free(mod);
		return err;
	}
	mod->pub.path = map->path;
	mod->pub.base = slash ? slash + 1 : map->path;
	mod->pub.soname = mod->soname;
	mod->pub.text_start = map->start;
	mod->pub.text_end = map->end;
	*out = mod;
	return 0;
}

static bool is_candidate(const struct dp_map *map)
{
	return map->perms[2] == 'x' && map->path[0] == '/' && map->inode;
}

/* The known module that @map is a further piece of, or NULL; or @stray: of none at all. */
static struct dp_mod *find_owner(const struct dp_modules *mods,
				 const struct index *x, const struct file *file,
				 const struct dp_map *map, bool *stray)
{
	struct dp_mod key = { .text = map }, **mod;
	const struct dp_map *head;

	*stray = false;
	if (!file->mod || !dp_elf_bias(&file->mod->shape, map->start,
				       map->offset, true, &key.pub.bias))
		return NULL;
	mod = tfind(&key, &x->mods, by_bias);
	if (mod)
		return *mod;
	*stray = !is_loaded(mods, &file->mod->shape, key.pub.bias, map, &head);
	return NULL;
}

static int add_map(struct dp_modules *mods, struct index *x, struct file *file,
		   size_t i)
{
	const struct dp_map *map = &mods->maps.v[i];
	bool stray;
	struct dp_mod *mod = find_owner(mods, x, file, map, &stray);
	int err;

	if (mod) {
		mod->pub.text_end = map->end;
		mods->of_map[i] = mod;
	}
	if (mod || stray)
		return 0;
	err = mod_new(mods, map, file->head, &mod);
	if (err)
		return dp_is_shortage(err) ? err : 0;
	mods->v[mods->n++] = mod;
	mods->of_map[i] = mod;
	if (!file->mod)
		file->mod = mod;
	return tsearch(mod, &x->mods, by_bias) ? 0 : -ENOMEM;
}

static u64 auxv_get(const Elf64_auxv_t *v, size_t n, u64 type)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i].a_type == type)
			return v[i].a_un.a_val;
	}
	return 0;
}

static size_t read_file(const char *name, void *to, size_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, to, size);
	close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static struct dp_mod *find_exe(const struct dp_modules *mods)
{
	struct stat st;
	char name[64];
	size_t i;

	dp_file_proc(name, sizeof(name), mods->pid, "exe");
	if (stat(name, &st))
		return NULL;
	for (i = 0; i < mods->n; i++)
		if (dp_map_is_file(mods->v[i]->text, &st))
			return mods->v[i];
	return NULL;
}

static bool looks_like_linker(const struct dp_mod *mod)
{
	return !strncmp(mod->pub.base, "ld-linux", 8) ||
	       !strncmp(mod->pub.base, "ld-musl", 7);
}

static void find_linker(struct dp_modules *mods, u64 base)
{
	const struct dp_map *map = dp_maps_find(&mods->maps, base);
	struct dp_mod *mod;
	size_t i;

	for (i = 0; i < mods->n; i++) {
		mod = mods->v[i];
		if (map)
			mod->pub.is_linker = mod->head == map ||
					     mod->pub.bias == base;
		else
			mod->pub.is_linker = looks_like_linker(mod);
	}
}

static void find_roles(struct dp_modules *mods)
{
	Elf64_auxv_t auxv[AUXV_MAX];
	const struct dp_module *m = NULL;
	char name[64];
	size_t n;

	dp_file_proc(name, sizeof(name), mods->pid, "auxv");
	n = read_file(name, auxv, sizeof(auxv)) / sizeof(*auxv);
	mods->main = find_exe(mods);
	/* On overlay and btrfs maps and stat() disagree about the inode. */
	if (!mods->main)
		m = dp_module_at(mods, auxv_get(auxv, n, AT_ENTRY));
	if (m)
		mods->main = dp_mod_of(m);
	if (mods->main)
		mods->main->pub.is_main = true;
	find_linker(mods, auxv_get(auxv, n, AT_BASE));
}

static int index_maps(struct dp_modules *mods, struct index *x)
{
	size_t i;
	int err = 0;

	for (i = 0; i < mods->maps.n && !err; i++) {
		const struct dp_map *map = &mods->maps.v[i];
		struct file *file;

		if (!map->inode || (map->offset && !is_candidate(map)))
			continue;
		file = file_of(x, map);
		if (!file)
			return -ENOMEM;
		if (!map->offset)
			file->head = map;
		if (is_candidate(map))
			err = add_map(mods, x, file, i);
	}
	return err;
}

static int find_modules(struct dp_modules *mods)
{
	size_t n = mods->maps.n + 1;
	struct index x = { .v = calloc(n, sizeof(*x.v)) };
	int err = -ENOMEM;

	mods->of_map = calloc(n, sizeof(*mods->of_map));
	mods->v = calloc(n, sizeof(*mods->v));
	if (x.v && mods->of_map && mods->v)
		err = index_maps(mods, &x);
	index_close(&x);
	return err;
}

static int say_open(int err, pid_t pid, struct dp_diag *diag)
{
	if (!pid)
		return dp_diag_set(
			diag, err == -ESRCH ? -EOPNOTSUPP : err,
			"cannot read this process's mappings in /proc: %s",
			strerror(-err));
	if (err == -ESRCH)
		return dp_diag_set(diag, err, "no process %d", (int)pid);
	if (err == -EFBIG)
		return dp_maps_too_many(pid, diag);
	return dp_diag_set(diag, err,
			   "cannot read the mappings of process %d: %s",
			   (int)pid, strerror(-err));
}

int dp_modules_open(pid_t pid, int mem, struct dp_modules **out,
		    struct dp_diag *diag)
{
	struct dp_modules *mods = calloc(1, sizeof(*mods));
	int err;

	if (!mods)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	mods->pid = pid;
	mods->mem = mem;
	err = dp_maps_read(pid, &mods->maps) ?: find_modules(mods);
	if (err) {
		dp_modules_close(mods);
		return say_open(err, pid, diag);
	}
	find_roles(mods);
	*out = mods;
	return 0;
}

void dp_modules_close(struct dp_modules *mods)
{
	size_t i;

	if (!mods)
		return;
	for (i = 0; i < mods->n; i++)
		mod_free(mods->v[i]);
	free(mods->v);
	free(mods->of_map);
	free(mods->names);
	dp_maps_free(&mods->maps);
	free(mods);
}

const struct dp_maps *dp_modules_maps(const struct dp_modules *mods)
{
	return &mods->maps;
}

size_t dp_modules_count(const struct dp_modules *mods)
{
	return mods->n;
}

const struct dp_module *dp_modules_get(const struct dp_modules *mods, size_t i)
{
	return i < mods->n ? &mods->v[i]->pub : NULL;
}

const struct dp_module *dp_modules_linker(const struct dp_modules *mods)
{
	size_t i;

	for (i = 0; i < mods->n; i++)
		if (mods->v[i]->pub.is_linker)
			return &mods->v[i]->pub;
	return NULL;
}

const struct dp_module *dp_module_at(const struct dp_modules *mods, u64 addr)
{
	const struct dp_map *map = dp_maps_find(&mods->maps, addr);
	struct dp_mod *mod = map ? mods->of_map[map - mods->maps.v] : NULL;

	return mod ? &mod->pub : NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct dp_mod_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool sort_names(struct dp_modules *mods)
{
	struct dp_mod_name *v = calloc(2 * mods->n + 1, sizeof(*v));
	size_t i, n = 0;

	for (i = 0; v && i < mods->n; i++) {
		const struct dp_mod *mod = mods->v[i];

		v[n++] = (struct dp_mod_name){ mod->pub.base, mod };
		if (mod->pub.soname)
			v[n++] = (struct dp_mod_name){ mod->pub.soname, mod };
	}
	if (v)
		qsort(v, n, sizeof(*v), by_name);
	mods->names = v;
	mods->n_names = n;
	return v;
}

bool dp_module_is_alone(struct dp_modules *mods, const struct dp_module *m)
{
	size_t lo = 0, hi, mid;

	if (!mods->names && !sort_names(mods))
		return false;
	hi = mods->n_names;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (strcmp(mods->names[mid].name, m->base) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < mods->n_names && !strcmp(mods->names[lo].name, m->base);
	     lo++)
		if (mods->names[lo].mod != dp_mod_of(m))
			return false;
	return true;
}

static bool one_matches(const char *pattern, const char *name)
{
	return name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0));
}

/* Users write /lib/x.so where maps has /usr/lib/x.so: follow the links. A relative path
 * begins in the tool's directory. */
static bool same_path(const struct dp_modules *mods, const char *path,
		      const struct dp_map *map)
{
	char full[PATH_MAX], root[32] = "";
	struct stat st;

	if (!strchr(path, '/'))
		return false;
	if (path[0] == '/')
		dp_file_root(mods, root, sizeof(root));
	if (snprintf(full, sizeof(full), "%s%s", root, path) >=
	    (int)sizeof(full))
		return false;
	if (!stat(full, &st) && dp_map_is_file(map, &st))
		return true;
	/* For file systems where stat() has other numbers than maps. */
	return path[0] != '/' && realpath(path, full) &&
	       !strcmp(full, map->path);
}

static bool matches(const struct dp_modules *mods, const struct dp_mod *mod,
		    const char *pattern)
{
	return one_matches(pattern, mod->pub.soname) ||
	       one_matches(pattern, mod->pub.base) ||
	       one_matches(pattern, mod->pub.path) ||
	       same_path(mods, pattern, mod->text);
}

/* A program started through a symbolic link goes by the link's name too: "python3". */
static bool is_command(const struct dp_modules *mods, const char *pattern)
{
	char name[64], comm[32] = "";
	size_t n;

	/* A thread may have its own name: read the first thread's. */
	if (mods->pid)
		dp_file_proc(name, sizeof(name), mods->pid, "comm");
	else
		strcpy(name, "/proc/self/comm");
	n = read_file(name, comm, sizeof(comm) - 1);
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	return comm[0] && !strcmp(comm, pattern);
}

static int say_unknown(const struct dp_modules *mods, const char *pattern,
		       struct dp_diag *diag)
{
	size_t i, shown = 0;

	dp_diag_set(diag, -ENOENT,
		    "no module \"%s\" in process %d; it has: ", pattern,
		    dp_mods_pid(mods));
	for (i = 0; i < mods->n && shown < 12; i++)
		dp_diag_add(diag, "%s%s", shown++ ? ", " : "",
			    dp_mod_name(mods->v[i]));
	if (i < mods->n)
		dp_diag_add(diag, ", ... (%zu in all)", mods->n);
	return -ENOENT;
}

int dp_modules_match(struct dp_modules *mods, const char *pattern,
		     const struct dp_module ***list, size_t *n,
		     struct dp_diag *diag)
{
	const struct dp_module **v = calloc(mods->n + 1, sizeof(*v));
	bool is_main = !pattern || !*pattern;
	size_t i;
	int err = 0;

	*n = 0;
	*list = v;
	if (!v)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; !is_main && i < mods->n; i++) {
		if (matches(mods, mods->v[i], pattern))
			v[(*n)++] = &mods->v[i]->pub;
	}
	if (*n)
		return 0;
	if (!is_main && !is_command(mods, pattern))
		err = say_unknown(mods, pattern, diag);
	else if (!mods->main)
		err = dp_diag_set(
			diag, -ENOENT,
			"cannot tell which file is the main program of process %d; name it",
			dp_mods_pid(mods));
	else
		v[(*n)++] = &mods->main->pub;
	if (err)
		free(v);
	return err;
}
