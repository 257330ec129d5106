// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * chart: modules of ours that reserve addresses near code.
 *
 * A chart's file is made in memory, for the address where it is to be: the dynamic linker
 * takes the address of a library's first segment as a hint. It has no code, no symbol, and
 * nothing that the linker would have to change.
 *
 * In a fork child charts, tables and notes are there as before, for the child's own engine.
 */
#include "lib/chart.h"
#include "engine/insn/unwind.h"
#include "engine/layout/base.h"
#include "lib/self.h"
#include "port.h"
#include "proc/attach_other.h"
#include "proc/facts.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHARTS 2
/* All of a chart is in reach of the code that it is near to. */
#define REACH (DP_REACH - (64ull << 20))
/* What is tried one after the other: there may be no hole so large. */
static const u64 sizes[] = { 1536ull << 20, 256ull << 20, 32ull << 20 };
/* 64 MB of code */
#define PIECES 1024u
#define NOTES (4 * DP_SELF_SITES)
/* Descriptors that a debugger does not have: it tries to open the file by the same name. */
#define HIGH_DESCRIPTOR 1000

static struct dp_chart charts[CHARTS];
static u32 nr_charts, nr_pieces, nr_notes;
static struct dp_chart_tables tables;
static bool opened;

/** struct head - the first page of a chart's file */
struct head {
	Elf64_Ehdr elf;
	Elf64_Phdr segment[6];
	u32 hash[6];
	Elf64_Sym symbol[1];
	char names[16];
	struct {
		u8 version, frames_how, count_how, table_how;
		s32 frames;
		u32 count;
		s32 start, fde;
	} search; /* .eh_frame_hdr */
	u8 frames[DP_CHART_FRAMES] __attribute__((aligned(8)));
};

_Static_assert(sizeof(struct head) <= DP_PAGE, "a page");

/** struct file - all of it: @dynamic is where the chart ends */
struct file {
	union {
		struct head head;
		u8 page[DP_PAGE];
	};
	union {
		Elf64_Dyn dynamic[6];
		u8 last[DP_PAGE];
	};
};

static void *reserve(u64 size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	munlock(mem, size);
	madvise(mem, size, MADV_DONTDUMP);
	/* It is used here and there: huge pages would be mostly empty. */
	madvise(mem, size, MADV_NOHUGEPAGE);
	return mem;
}

/* The first piece and the first note stay empty. */
static bool make_tables(void)
{
	u32 state;

	tables.pieces = reserve(PIECES * sizeof(*tables.pieces));
	tables.notes = reserve(NOTES * sizeof(*tables.notes));
	if (!tables.pieces || !tables.notes)
		return false;
	nr_pieces = nr_notes = 1;
	memset(tables.notes[0].slot, DP_CHART_NEVER,
	       sizeof(tables.notes[0].slot));
	for (state = 0; state < 256; state++) {
		tables.sp[state] = (u16)dp_unwind_sp((u8)state);
		tables.saved[state] = (u8)dp_unwind_saved((u8)state);
		tables.inner[state] = dp_unwind_insn((u8)state) != 0;
	}
	tables.sp[DP_CHART_CALLED] = 8;
	tables.saved[DP_CHART_CALLED] = 0;
	return true;
}

static void put_head(struct head *h)
{
	static const u8 ident[] = { 0x7f,	'E',	     'L',	'F',
				    ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	memcpy(h->elf.e_ident, ident, sizeof(ident));
	h->elf.e_type = ET_DYN;
	h->elf.e_machine = EM_X86_64;
	h->elf.e_version = EV_CURRENT;
	h->elf.e_phoff = offsetof(struct head, segment);
	h->elf.e_ehsize = sizeof(h->elf);
	h->elf.e_phentsize = sizeof(h->segment[0]);
	h->elf.e_phnum = sizeof(h->segment) / sizeof(h->segment[0]);
	h->elf.e_shentsize = sizeof(Elf64_Shdr);
}

static Elf64_Phdr segment(u32 type, u32 flags, u64 offset, u64 addr, u64 size)
{
	return (Elf64_Phdr){ .p_type = type,
			     .p_flags = flags,
			     .p_offset = offset,
			     .p_vaddr = addr,
			     .p_paddr = addr,
			     .p_filesz = size,
			     .p_memsz = size,
			     .p_align = type == PT_LOAD ? DP_PAGE : 8 };
}

/* Unwinders look for code among the segments. Only the last page is ever written: older linkers put
 * addresses there. */
static void put_segments(struct head *h, u64 start, u64 end)
{
	Elf64_Phdr *s = h->segment;
	u64 search = offsetof(struct head, search);

	s[0] = segment(PT_LOAD, PF_R, 0, start, DP_PAGE);
	s[1] = segment(PT_LOAD, 0, DP_PAGE, start + DP_PAGE, 0);
	s[1].p_memsz = end - start - DP_PAGE;
	s[2] = segment(PT_LOAD, PF_R | PF_W, DP_PAGE, end, DP_PAGE);
	s[3] = segment(PT_DYNAMIC, PF_R | PF_W, DP_PAGE, end,
		       sizeof(((struct file *)0)->dynamic));
	s[4] = segment(PT_GNU_EH_FRAME, PF_R, search, start + search,
		       sizeof(h->search));
	s[5] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0);
}

static void put_dynamic(Elf64_Dyn *d, u64 start)
{
	*d++ = (Elf64_Dyn){ DT_HASH, { start + offsetof(struct head, hash) } };
	*d++ = (Elf64_Dyn){ DT_SYMTAB,
			    { start + offsetof(struct head, symbol) } };
	*d++ = (Elf64_Dyn){ DT_STRTAB,
			    { start + offsetof(struct head, names) } };
	*d++ = (Elf64_Dyn){ DT_STRSZ, { sizeof(((struct head *)0)->names) } };
	*d++ = (Elf64_Dyn){ DT_SYMENT, { sizeof(Elf64_Sym) } };
	*d = (Elf64_Dyn){ DT_NULL, { 0 } };
}

/* One entry of the table: relative to it, as all unwinders expect. */
static void put_search(struct head *h, u32 fde)
{
	s32 frames = (s32)(offsetof(struct head, frames) -
			   offsetof(struct head, search));

	h->search.version = 1;
	h->search.frames_how = 0x1b; /* relative to itself, four bytes */
	h->search.count_how = 0x03;
	h->search.table_how = 0x3b;
	h->search.frames = frames - 4;
	h->search.count = 1;
	h->search.start = (s32)(DP_PAGE - offsetof(struct head, search));
	h->search.fde = frames + (s32)fde;
}

/* Where the file begins, and where its last page does */
static u32 put_file(struct file *f, const struct dp_chart *c)
{
	u64 start = c->start - DP_PAGE;
	u32 fde, len;

	*f = (struct file){ 0 };
	put_head(&f->head);
	put_segments(&f->head, start, c->end);
	f->head.hash[0] = f->head.hash[1] = 1;
	put_dynamic(f->dynamic, start);
	len = dp_chart_describe(c, &tables, f->head.frames, &fde);
	put_search(&f->head, fde);
	return len;
}

static int high_descriptor(int fd)
{
	struct rlimit l;
	int high = -1;

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur > 1)
		high = fcntl(fd, F_DUPFD_CLOEXEC,
			     l.rlim_cur > HIGH_DESCRIPTOR ?
				     HIGH_DESCRIPTOR :
				     (int)l.rlim_cur - 1);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int write_file(const struct file *f)
{
	int fd = dp_limits_file("probe chart", sizeof(*f));

	if (fd < 0)
		return fd;
	if (pwrite(fd, f, sizeof(*f), 0) == sizeof(*f))
		return high_descriptor(fd);
	close(fd);
	return -ENOMEM;
}

/* The linker takes a name that it knows for the library that it has. */
static void *load(int fd)
{
	static int nr_loaded;
	char path[64];

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%.*s%d",
		 2 * nr_loaded++, "./././././././", fd);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Is it where it was to be? Another thread may have mapped something there. */
static bool is_there(void *module, const struct dp_chart *c)
{
	struct link_map *map;

	return !dlinfo(module, RTLD_DI_LINKMAP, &map) &&
	       (u64)map->l_ld == c->end &&
	       !mprotect((void *)c->start, c->end - c->start, PROT_NONE);
}

static bool open_chart(struct dp_chart *c)
{
	u64 pieces = ((c->end - c->start) >> DP_CHART_SHIFT) + 2;
	struct file f;
	void *module;
	u32 len;
	int fd;

	c->index = reserve(pieces * sizeof(*c->index));
	if (!c->index)
		return false;
	len = put_file(&f, c);
	fd = write_file(&f);
	module = fd < 0 ? NULL : load(fd);
	if (fd >= 0)
		close(fd);
	if (module && is_there(module, c)) {
		munlock((void *)c->start, c->end - c->start);
		dp_jit_tell(c, f.head.frames, len);
		return true;
	}
	if (module)
		dlclose(module);
	munmap(c->index, pieces * sizeof(*c->index));
	return false;
}

/* The part of a hole that is in reach of @near: the end that is nearest, of @size bytes */
static struct dp_chart part_of(const struct dp_hole *h, u64 near, u64 size)
{
	u64 low = near > REACH ? near - REACH : 0, high = near + REACH;
	struct dp_chart c = { .start = h->start > low ? h->start : low,
			      .end = h->end < high ? h->end : high };

	c.start = (c.start + DP_CHART_PIECE - 1) & ~(u64)(DP_CHART_PIECE - 1);
	c.end &= ~(u64)(DP_CHART_PIECE - 1);
	if (c.end <= c.start || c.end - c.start < size)
		return (struct dp_chart){ 0 };
	if (c.end <= near)
		c.start = c.end - size;
	else
		c.end = c.start + size;
	/* The head and the last page are around what is for code. */
	c.start += DP_PAGE;
	c.end -= DP_PAGE;
	return c;
}

static u64 distance(const struct dp_chart *c, u64 near)
{
	return c->start > near ? c->start - near : near - c->end;
}

static struct dp_chart place(u64 near, u64 size, const struct dp_hole *holes,
			     size_t n)
{
	struct dp_chart best = { 0 }, c;
	size_t i;

	for (i = 0; i < n; i++) {
		c = part_of(&holes[i], near, size);
		if (c.end &&
		    (!best.end || distance(&c, near) < distance(&best, near)))
			best = c;
	}
	return best;
}

static bool open_near(u64 near)
{
	struct dp_hole *holes;
	size_t n, i;
	bool done = false;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !done; i++) {
		struct dp_chart *c = &charts[nr_charts];

		if (dp_holes_find(0, 0, &holes, &n))
			return false;
		*c = place(near, sizes[i], holes, n);
		dp_port_free(holes);
		done = c->end && open_chart(c);
	}
	if (done)
		__atomic_store_n(&nr_charts, nr_charts + 1, __ATOMIC_RELEASE);
	return done;
}

static bool is_near(u64 addr)
{
	return nr_charts && addr - charts[0].start + REACH < 2 * REACH;
}

/* Under a limit of address space, probes come first. */
static bool is_limited(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_AS, &l) || l.rlim_cur != RLIM_INFINITY;
}

/* The program has its headers, and libraries are near the dynamic linker. */
static void open_all(void)
{
	u64 program = getauxval(AT_PHDR), linker = getauxval(AT_BASE);

	if (!program || !linker || is_limited() || !make_tables())
		return;
	open_near(program);
	if (!is_near(linker))
		open_near(linker);
}

/* The first thread that comes does it; no other waits, because it may have the linker's
 * lock. Later, nothing may be called here: that would be a hit of the program's. */
void dp_charts_open(void)
{
	int cancel, error;
	u64 mask;

	if (__atomic_exchange_n(&opened, true, __ATOMIC_ACQ_REL))
		return;
	error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	dp_self_enter(&mask);
	open_all();
	dp_self_leave(mask);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
}

static struct dp_chart *chart_of(u64 addr, u64 size)
{
	u32 i, n = __atomic_load_n(&nr_charts, __ATOMIC_ACQUIRE);

	for (i = 0; i < n; i++)
		if (addr >= charts[i].start && addr < charts[i].end &&
		    size <= charts[i].end - addr)
			return &charts[i];
	return NULL;
}

bool dp_chart_has(u64 addr, u64 size)
{
	return chart_of(addr, size);
}

int dp_charts_holes(struct dp_hole *holes, size_t *n, size_t room)
{
	struct dp_maps maps;
	size_t i;
	int err;

	if (!__atomic_load_n(&nr_charts, __ATOMIC_ACQUIRE))
		return 0;
	err = dp_maps_read(0, &maps);
	for (i = 0; !err && i < maps.n && room; i++) {
		const struct dp_map *m = &maps.v[i];

		if (m->perms[0] != '-' ||
		    !dp_chart_has(m->start, m->end - m->start))
			continue;
		holes[(*n)++] = (struct dp_hole){ .start = m->start,
						  .end = m->end,
						  .is = DP_HOLE_CHARTED };
		room--;
	}
	if (!err)
		dp_maps_free(&maps);
	return err;
}

/* --- notes --- */

static struct dp_chart_piece *piece_of(const struct dp_chart *c, u64 addr)
{
	u64 first = c->start & ~(u64)(DP_CHART_PIECE - 1);
	u32 *index = &c->index[(addr - first) >> DP_CHART_SHIFT];

	if (!*index && nr_pieces < PIECES)
		*index = nr_pieces++;
	return *index ? &tables.pieces[*index] : NULL;
}

/* [@at, @end) has the state */
static void set_state(const struct dp_chart *c, u64 at, u64 end, u8 state)
{
	struct dp_chart_piece *p;
	u64 next;

	for (; at < end; at = next) {
		next = (at | (DP_CHART_PIECE - 1)) + 1;
		next = next < end ? next : end;
		p = piece_of(c, at);
		if (p)
			memset(&p->state[at % DP_CHART_PIECE], state,
			       next - at);
	}
}

static u32 *note_at(const struct dp_chart *c, u64 at)
{
	struct dp_chart_piece *p = piece_of(c, at);

	return p ? &p->note[at % DP_CHART_PIECE / DP_CHART_GRAIN] : NULL;
}

/* Code that is made anew at the same place has the same note. */
static u32 take_note(const struct dp_chart *c, u64 at)
{
	const u32 *there = note_at(c, at);

	if (there && *there && tables.notes[*there].at == at)
		return *there;
	return nr_notes < NOTES ? nr_notes++ : 0;
}

static void fill_note(struct dp_chart_note *n, const struct dp_charted *code)
{
	static const u8 number[DP_CHART_REGS] = { 0, 1, 2, 6, 7, 8, 9, 10, 11 };
	u32 i;

	n->at = code->at;
	n->addr = code->addr;
	n->duplicate = code->duplicate;
	memcpy(n->offset, code->offset, sizeof(code->offset));
	for (i = 0; i < DP_CHART_REGS; i++) {
		u8 slot = code->states->slot[number[i]];

		n->slot[i] = slot ? slot : DP_CHART_NEVER;
	}
}

static void note_states(const struct dp_chart *c, const struct dp_charted *code)
{
	const struct dp_unwind_states *s = code->states;
	u64 end = code->at + code->len;
	u32 i;

	for (i = 0; i < s->nr; i++)
		set_state(c, code->at + s->v[i].at,
			  i + 1 < s->nr ? code->at + s->v[i + 1].at : end,
			  s->v[i].state);
}

void dp_chart_note(const struct dp_charted *code)
{
	const struct dp_chart *c = chart_of(code->at, code->len);
	u64 at, end = code->at + code->len;
	u32 note, *to;

	if (!c)
		return;
	if (!code->states) {
		set_state(c, code->at, end,
			  code->addr ? DP_UNWIND_ISLAND : DP_CHART_CALLED);
		return;
	}
	note = take_note(c, code->at);
	if (note)
		fill_note(&tables.notes[note], code);
	for (at = code->at; at < end; at += DP_CHART_GRAIN) {
		to = note_at(c, at);
		if (to)
			*to = note;
	}
	note_states(c, code);
}
