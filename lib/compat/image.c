// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* image: the ELF files that are mapped in this process. */
#include "lib/compat/compat.h"
#include "lib/compat/image.h"

/* --- lines of /proc/self/maps --- */

struct reader {
	long fd;
	size_t at, n;
	char buf[512];
};

static int next_char(struct reader *reader)
{
	long n;

	if (reader->at == reader->n) {
		do {
			n = dp_sys3(__NR_read, reader->fd, reader->buf,
				    sizeof(reader->buf));
		} while (n == -EINTR);
		if (n <= 0)
			return -1;
		reader->n = (size_t)n;
		reader->at = 0;
	}
	return (u8)reader->buf[reader->at++];
}

static bool next_line(struct reader *reader, char *line, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = next_char(reader)) >= 0 && c != '\n')
		if (n + 1 < size)
			line[n++] = (char)c;
	line[n] = '\0';
	return c >= 0;
}

/* "start-end perms offset major:minor inode   path" */
static void parse_line(const char *line, struct dp_mapping *m)
{
	unsigned long major;
	char *s;

	m->start = simple_strtoul(line, &s, 16);
	m->end = simple_strtoul(s + 1, &s, 16);
	s = skip_spaces(s);
	m->exec = strnlen(s, 3) == 3 && s[2] == 'x';
	s += strcspn(s, " ");
	m->offset = simple_strtoul(skip_spaces(s), &s, 16);
	major = simple_strtoul(skip_spaces(s), &s, 16);
	m->dev = major << 20 | simple_strtoul(s + (*s == ':'), &s, 16);
	m->ino = simple_strtoul(skip_spaces(s), &s, 10);
	strscpy(m->path, skip_spaces(s), sizeof(m->path));
}

bool dp_mapping_at(unsigned long addr, struct dp_mapping *m)
{
	struct reader reader = { 0 };
	char line[384];
	bool found = false;

	reader.fd = dp_sys6(__NR_openat, -100, (long)"/proc/self/maps", 0x80000,
			    0, 0, 0);
	if (reader.fd < 0)
		return false;
	while (!found && next_line(&reader, line, sizeof(line))) {
		parse_line(line, m);
		found = addr >= m->start && addr < m->end;
	}
	dp_sys3(__NR_close, reader.fd, 0, 0);
	return found;
}

/* --- files --- */

enum { FREE, BUSY, READY, BAD };

#define DP_IMAGES 256

static struct dp_image images[DP_IMAGES];

/* The fields of struct stat that are read. */
struct status {
	unsigned long dev, ino;
	unsigned long skip[4];
	long size;
	unsigned long rest[20];
};

static unsigned long short_dev(unsigned long dev)
{
	unsigned long major = (dev >> 8 & 0xfff) | (dev >> 32 & ~0xffful);
	unsigned long minor = (dev & 0xff) | (dev >> 12 & 0xffffff00);

	return major << 20 | minor;
}

static bool load(struct dp_image *image, const struct dp_mapping *m)
{
	long fd = dp_sys6(__NR_openat, -100, (long)m->path, 0x80000, 0, 0, 0);
	struct status status;
	long p = -1;

	if (fd < 0)
		return false;
	/* Some file systems show another device in /proc/self/maps than in fstat(). */
	if (!dp_sys3(__NR_fstat, fd, &status, 0) && status.ino == m->ino &&
	    (short_dev(status.dev) == m->dev || m->dev >> 20 == 0) &&
	    status.size > (long)sizeof(Elf64_Ehdr))
		/* PROT_READ, MAP_PRIVATE */
		p = dp_sys6(__NR_mmap, 0, status.size, 1, 2, fd, 0);
	dp_sys3(__NR_close, fd, 0, 0);
	return !DP_SYS_ERROR(p) &&
	       dp_elf_view(&image->elf, (void *)p, (size_t)status.size);
}

static const struct dp_image *find_image(const struct dp_mapping *m)
{
	struct dp_image *image = images;
	int state, free = FREE;

	if (m->path[0] != '/')
		return NULL;
	for (; image < images + DP_IMAGES; image++) {
		state = smp_load_acquire(&image->state);
		if (state == FREE && try_cmpxchg(&image->state, &free, BUSY))
			break;
		free = FREE;
		/* A file that another thread, or this thread in an outer handler, is
		 * loading now is loaded twice. */
		if (state >= READY && image->dev == m->dev &&
		    image->ino == m->ino)
			return state == READY ? image : NULL;
	}
	if (image == images + DP_IMAGES)
		return NULL;
	image->dev = m->dev;
	image->ino = m->ino;
	state = load(image, m) ? READY : BAD;
	smp_store_release(&image->state, state);
	return state == READY ? image : NULL;
}

const struct dp_image *dp_image_get(const struct dp_mapping *m,
				    unsigned long *bias)
{
	const struct dp_image *image = find_image(m);

	return image && dp_elf_bias(&image->elf, m->start, m->offset, m->exec,
				    bias) ?
		       image :
		       NULL;
}

/* --- symbols --- */

static bool names_code_or_data(const Elf64_Sym *symbol)
{
	int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx < SHN_LORESERVE &&
	       (type == STT_FUNC || type == STT_OBJECT ||
		type == STT_GNU_IFUNC);
}

/* Among symbols with the same address: global before weak before local. */
static int rank(const Elf64_Sym *symbol)
{
	int bind = ELF64_ST_BIND(symbol->st_info);

	return bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;
}

static const Elf64_Sym *covering(const struct dp_elf_table *table,
				 unsigned long addr)
{
	const Elf64_Sym *symbol = table->v, *best = NULL;

	for (; symbol < table->v + table->n; symbol++) {
		if (addr < symbol->st_value ||
		    addr - symbol->st_value >= symbol->st_size ||
		    !names_code_or_data(symbol))
			continue;
		if (!best || symbol->st_value > best->st_value ||
		    (symbol->st_value == best->st_value &&
		     rank(symbol) > rank(best)))
			best = symbol;
	}
	return best;
}

static void fill_symbol(const struct dp_image *image, unsigned long addr,
			struct dp_symbol *symbol)
{
	static const u32 types[] = { SHT_SYMTAB, SHT_DYNSYM };
	const Elf64_Sym *found;
	struct dp_elf_table table;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!dp_elf_table(&image->elf, types[i], &table))
			continue;
		found = covering(&table, addr);
		if (!found)
			continue;
		symbol->offset = addr - found->st_value;
		symbol->size = found->st_size;
		strscpy(symbol->name, dp_elf_name(&table, found),
			sizeof(symbol->name));
		return;
	}
}

/* Is this a mapping of the main program? */
static bool is_main(const struct dp_mapping *m)
{
	struct status own;

	return !dp_sys3(__NR_stat, "/proc/self/exe", &own, 0) &&
	       own.ino == m->ino;
}

bool dp_image_symbol(unsigned long addr, struct dp_symbol *symbol)
{
	const struct dp_image *image;
	struct dp_mapping m;
	unsigned long bias;

	if (!dp_mapping_at(addr, &m))
		return false;
	symbol->name[0] = '\0';
	symbol->offset = symbol->size = 0;
	strscpy(symbol->object, is_main(&m) ? "" : kbasename(m.path),
		sizeof(symbol->object));
	image = dp_image_get(&m, &bias);
	if (image)
		fill_symbol(image, addr - bias, symbol);
	return true;
}
