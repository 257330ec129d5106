// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * injected: copy the object of an injected handler into another process.
 *
 * The shared object that holds the handler is copied with the present values of its
 * variables, and relocated to its new address. Other objects are not copied: a handler
 * that needs their code or data is refused. The tool maps the copy's memory, too.
 */
#include "lib/foreign.h"
#include "lib/leads.h"
#include "lib/self.h"
#include "engine/site/engine.h"
#include "port_hit.h"
#include "proc/attach_other.h"
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ull
#define SIZE_MAX_ (64ull << 20)
#define TAIL 65536 /* behind the object: copies of uprobes outside it */
#define NAP_US 50
#define RELR 36 /* DT_RELR; the last of the tags that are read */

/**
 * struct dp_object - an object that has been copied into a process
 * @base, @size: of the original
 * @ours: address of the copy in the tool; @there: in the process
 * @users: number of uprobes that have been copied behind the object
 */
struct dp_object {
	struct dp_object *next;
	u64 base, size;
	u8 *ours;
	u64 there;
	u32 users;
};

/** struct source - the original object */
struct source {
	u64 addr; /* of the handler */
	u64 bias, base, end;
	const char *name;
	const ElfW(Phdr) * phdr;
	int nr_phdr;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * rela[2];
	size_t nr_rela[2];
	bool relr;
	bool found;
};

/* --- the object --- */

static void measure(struct source *s)
{
	int i;

	s->base = ~0ull;
	for (i = 0; i < s->nr_phdr; i++) {
		const ElfW(Phdr) *p = &s->phdr[i];
		u64 start = s->bias + p->p_vaddr, end = start + p->p_memsz;

		if (p->p_type != PT_LOAD)
			continue;
		s->base = start < s->base ? start & ~(PAGE - 1) : s->base;
		s->end = end > s->end ? end : s->end;
	}
	s->end = (s->end + PAGE - 1) & ~(PAGE - 1);
}

/* glibc's dynamic linker has relocated these values to addresses. */
static void read_dynamic(struct source *s, const ElfW(Dyn) * d)
{
	u64 value[RELR + 1] = { 0 };

	for (; d->d_tag != DT_NULL; d++)
		if ((u64)d->d_tag <= RELR)
			value[d->d_tag] = d->d_un.d_val;
	s->symbols = (void *)value[DT_SYMTAB];
	s->strings = (void *)value[DT_STRTAB];
	s->rela[0] = (void *)value[DT_RELA];
	s->nr_rela[0] = value[DT_RELASZ] / sizeof(ElfW(Rela));
	s->rela[1] = (void *)value[DT_JMPREL];
	s->nr_rela[1] = value[DT_PLTRELSZ] / sizeof(ElfW(Rela));
	s->relr = value[RELR];
}

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct source *s = arg;
	int i;

	s->bias = info->dlpi_addr;
	s->phdr = info->dlpi_phdr;
	s->nr_phdr = info->dlpi_phnum;
	measure(s);
	if (s->addr - s->base >= s->end - s->base) {
		*s = (struct source){ .addr = s->addr };
		return 0;
	}
	s->found = true;
	s->name = info->dlpi_name[0] ? info->dlpi_name : "the program";
	for (i = 0; i < s->nr_phdr; i++)
		if (s->phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(s, (void *)(s->bias + s->phdr[i].p_vaddr));
	return 1;
}

static int refuse(const char *why, const char *name)
{
	return dp_fail(
		-EOPNOTSUPP,
		"the handler cannot run in another process (handler_in_interrupt): %s%s%s",
		why, name ? " " : "", name ? name : "");
}

static int find(struct source *s)
{
	dl_iterate_phdr(find_object, s);
	if (!s->found || !s->symbols || !s->strings)
		return refuse("it belongs to no shared object", NULL);
	if (!s->bias)
		return refuse(
			"it is in a program with fixed addresses (link that with -pie)",
			NULL);
	if (s->relr)
		return refuse("its object has packed relocations", NULL);
	if (s->end - s->base > SIZE_MAX_)
		return refuse("its object is too large", NULL);
	return 0;
}

/* --- what the handler leads to --- */

struct walk {
	const struct source *s;
	struct dp_trail trail;
	u8 needs;
	int err;
};

static bool is_code(const struct source *s, u64 addr)
{
	int i;

	for (i = 0; i < s->nr_phdr; i++)
		if (s->phdr[i].p_type == PT_LOAD && s->phdr[i].p_flags & PF_X &&
		    addr - s->bias - s->phdr[i].p_vaddr < s->phdr[i].p_memsz)
			return true;
	return false;
}

static const char *name_of(const struct source *s, const ElfW(Rela) * r)
{
	const ElfW(Sym) *sym = &s->symbols[ELF64_R_SYM(r->r_info)];

	return s->strings + sym->st_name;
}

static bool is_absent(const struct source *s, const ElfW(Rela) * r)
{
	const ElfW(Sym) *sym = &s->symbols[ELF64_R_SYM(r->r_info)];

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_64:
		return !sym->st_shndx ||
		       ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC;
	case R_X86_64_RELATIVE:
		return false;
	default:
		return true;
	}
}

/* Return: name of the absent symbol whose address @slot would hold, or NULL.
 * __stack_chk_fail is allowed: it only ends the program. */
static const char *missing_at(const struct source *s, u64 slot)
{
	size_t i;
	int k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < s->nr_rela[k]; i++) {
			const ElfW(Rela) *r = &s->rela[k][i];

			if (s->bias + r->r_offset != slot || !is_absent(s, r))
				continue;
			if (!strcmp(name_of(s, r), "__stack_chk_fail"))
				return NULL;
			return *name_of(s, r) ? name_of(s, r) :
						"thread-local storage";
		}
	return NULL;
}

static void want(struct walk *w, u64 addr)
{
	if (w->err)
		return;
	if (!is_code(w->s, addr))
		w->err = refuse("it leads to code outside its object", NULL);
	else if (!dp_trail_add(&w->trail, addr))
		w->err = refuse("it is too long", NULL);
}

static void note_state(struct walk *w, const u8 *code, u8 len)
{
	u8 xmms = 0, state = (u8)dp_insn_state(code, len, &xmms);

	/* All sixteen xmm registers, if any. */
	if (state != DP_STATE_GENERAL && state != DP_STATE_ALL)
		state |= DP_STATE_XMM16;
	if (w->needs == DP_STATE_ALL || state == DP_STATE_ALL)
		w->needs = DP_STATE_ALL;
	else if (state > w->needs)
		w->needs = state;
}

static void check_operand(struct walk *w, u64 next, const struct insn_facts *f)
{
	const char *name;

	if (!f->rip_relative)
		return;
	name = missing_at(w->s, next + (u64)f->target);
	if (name)
		w->err = refuse("it needs what is not there:", name);
}

/* At the thread pointer, only the stack canary has the same place in every process. */
static void check_segment(struct walk *w, const u8 *code,
			  const struct insn_facts *f)
{
	u32 disp = 0;
	u8 i;

	for (i = 0; i < f->opcode_off; i++)
		if (code[i] == 0x64)
			break;
	if (i == f->opcode_off)
		return;
	if (f->disp_size == sizeof(disp))
		memcpy(&disp, code + f->disp_off, sizeof(disp));
	if (disp != 0x28)
		w->err = refuse("it uses thread-local storage", NULL);
}

static void follow(struct walk *w, u64 addr, const struct insn_facts *f)
{
	u64 next = addr + f->len, to[2];
	u32 n = dp_leads(next, f, to), i;

	check_operand(w, next, f);
	if (f->class == DP_INSN_CALL_IND || f->class == DP_INSN_JMP_IND)
		w->needs = DP_STATE_ALL;
	for (i = 0; i < n; i++)
		want(w, to[i]);
}

static void step(struct walk *w, u64 addr)
{
	u8 code[DP_INSN_MAX];
	struct insn_facts f;

	memcpy(code, (const void *)addr, sizeof(code));
	if (dp_self.engine)
		dp_engine_originals(dp_self.engine, addr, code, sizeof(code));
	if (dp_insn_facts(code, sizeof(code), &f)) {
		w->err = refuse("it leads to what is no code", NULL);
		return;
	}
	note_state(w, code, f.len);
	check_segment(w, code, &f);
	follow(w, addr, &f);
}

static int examine(const struct source *s, u8 *needs)
{
	struct walk *w = calloc(1, sizeof(*w));
	u64 addr;
	int err;

	if (!w)
		return dp_fail(-ENOMEM, "out of memory");
	w->s = s;
	dp_trail_begin(&w->trail, DP_TRAIL_MAX);
	want(w, s->addr);
	while (!w->err && dp_trail_next(&w->trail, &addr))
		step(w, addr);
	*needs = w->needs;
	err = w->err;
	free(w);
	return err;
}

/* --- the copy --- */

static int copy_segments(const struct source *s, u8 *to)
{
	int i, err = 0;

	for (i = 0; i < s->nr_phdr && !err; i++) {
		const ElfW(Phdr) *p = &s->phdr[i];
		u64 start = s->bias + p->p_vaddr;

		/* Bytes between the variables may be forbidden to loads. */
		if (p->p_type == PT_LOAD && p->p_flags & PF_R)
			err = dp_port_copy_in(to + (start - s->base), start,
					      p->p_memsz);
	}
	if (dp_self.engine)
		dp_engine_originals(dp_self.engine, s->base, to,
				    s->end - s->base);
	return err;
}

/* Words in packed structures need not be aligned. */
static void relocate(const struct source *s, u8 *to, u64 there)
{
	u64 bias = there + s->bias - s->base, word;
	size_t i;
	int k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < s->nr_rela[k]; i++) {
			const ElfW(Rela) *r = &s->rela[k][i];
			const ElfW(Sym) *sym =
				&s->symbols[ELF64_R_SYM(r->r_info)];

			if (is_absent(s, r))
				word = 0;
			else if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE)
				word = bias + (u64)r->r_addend;
			else
				word = bias + sym->st_value + (u64)r->r_addend;
			memcpy(to + (s->bias + r->r_offset - s->base), &word,
			       sizeof(word));
		}
}

static int protect(const struct source *s, struct dp_process *proc,
		   const struct dp_object *o)
{
	int i, err = 0;

	for (i = 0; i < s->nr_phdr && !err; i++) {
		const ElfW(Phdr) *p = &s->phdr[i];
		u64 start = (s->bias + p->p_vaddr) & ~(PAGE - 1);
		u64 end = (s->bias + p->p_vaddr + p->p_memsz + PAGE - 1) &
			  ~(PAGE - 1);

		if (p->p_type != PT_LOAD || p->p_flags & PF_W)
			continue;
		err = dp_attach_other_protect(
			proc, o->there + (start - s->base), end - start,
			PROT_READ | (p->p_flags & PF_X ? PROT_EXEC : 0),
			o->ours + (start - s->base));
	}
	return err;
}

static int map_stacks(struct dp_foreign *f)
{
	struct dp_arena_control *c = &dp_engine_arena(f->engine)->control;
	u64 there;
	int err;

	if (f->injected)
		return 0;
	err = dp_attach_other_map(f->proc, DP_INJECTED_MAX * DP_INJECTED_SIZE,
				  &f->injected, &there);
	if (err)
		return err;
	c->vectors = dp_self_vectors();
	__atomic_store_n(&c->injected_base, there, __ATOMIC_RELEASE);
	return 0;
}

static struct dp_object *find_copy(const struct dp_foreign *f, u64 addr)
{
	struct dp_object *o = f->objects;

	while (o && addr - o->base >= o->size)
		o = o->next;
	return o;
}

static struct dp_object *put(struct dp_foreign *f, const struct source *s)
{
	struct dp_object *o = calloc(1, sizeof(*o));
	u64 size = s->end - s->base;
	int err = o ? dp_attach_other_map(f->proc, size + TAIL, &o->ours,
					  &o->there) :
		      -ENOMEM;

	if (!err) {
		err = copy_segments(s, o->ours);
		relocate(s, o->ours, o->there);
	}
	if (!err)
		err = protect(s, f->proc, o);
	if (!err)
		err = dp_live_own(f->engine, o->there, size);
	if (err) {
		free(o);
		return NULL;
	}
	o->base = s->base;
	o->size = size;
	o->next = f->objects;
	f->objects = o;
	return o;
}

/* Return: the uprobe in the copy, or, if the object does not hold it, behind the copy. */
static u64 user_of(struct dp_object *o, const struct dp_client *c)
{
	u64 u = (u64)c->u;
	u32 room = TAIL / sizeof(struct uprobe);

	if (u - o->base < o->size)
		return o->there + (u - o->base);
	u = o->size + o->users++ % room * sizeof(struct uprobe);
	memcpy(o->ours + u, c->u, sizeof(*c->u));
	return o->there + u;
}

int dp_injected_put(struct dp_client *c, u64 *handler, u64 *user, u8 *needs)
{
	struct source s = { .addr = (u64)c->handler };
	struct dp_object *o;
	int err = find(&s);

	if (!err)
		err = examine(&s, needs);
	if (err)
		return err;
	err = map_stacks(c->at);
	o = err ? NULL : find_copy(c->at, s.addr);
	if (!err && !o)
		o = put(c->at, &s);
	if (!o)
		return dp_fail(-ENOMEM, "process %d has no memory for %s",
			       c->at->pid, s.name);
	*handler = o->there + (s.addr - o->base);
	*user = user_of(o, c);
	return 0;
}

static bool runs(const struct dp_client *c)
{
	u32 i;

	for (i = 0; i < DP_INJECTED_MAX; i++) {
		const struct dp_injected *t =
			(void *)(c->at->injected + (u64)i * DP_INJECTED_SIZE);

		if (__atomic_load_n(&t->probe, __ATOMIC_SEQ_CST) ==
		    c->index + 1)
			return true;
	}
	return false;
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

/* The process itself says whether the handler runs, so the wait has a limit. */
bool dp_injected_settle(const struct dp_client *c)
{
	u64 until = now_ms() + c->deadline;
	bool still = runs(c);

	while (still && !__atomic_load_n(&c->at->gone, __ATOMIC_ACQUIRE) &&
	       now_ms() < until) {
		usleep(NAP_US);
		still = runs(c);
	}
	return !still;
}

void *dp_injected_see(const struct dp_foreign *f, const void *variable)
{
	const struct dp_object *o = find_copy(f, (u64)variable);

	return o ? o->ours + ((u64)variable - o->base) : NULL;
}

void dp_injected_free(struct dp_foreign *f)
{
	struct dp_object *o, *next;

	for (o = f->objects; o; o = next) {
		next = o->next;
		free(o);
	}
}
