// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * scope: the names that hold at an address of a function.
 *
 *   unit ─► function ─► block ─► inlined function ─► block ─► the address
 *
 * Variables are written from the innermost of these outwards, then globals: of the function's
 * unit, or of any. What a copy of a function lacks of what it is a copy of is optimised out.
 * Types are looked for in the unit first, too.
 */
#include <string.h>
#include "sym/types/split.h"
#include "sym/types/writer.h"

#define BLOCKS_MAX 64 /* in one another */
#define SPACES_MAX 4 /* namespaces, too */
#define UNITS_MAX 100000

struct walk {
	struct writer *w;
	struct dp_locating l;
	Dwarf_Die block[BLOCKS_MAX];
	u32 blocks;
	u8 got[DP_TREE_NAMED]; /* of each word: a variable, a type */
};

#define GOT_VARIABLE 1
#define GOT_TYPE 2

static const struct dp_libdw *libdw(const struct walk *k)
{
	return &k->w->r->dw;
}

/* Return: its number among the words; -1: none of them */
static int wanted(const struct walk *k, const char *name)
{
	const struct dp_wanted *wanted = k->w->r->wanted;
	size_t i;

	for (i = 0; name && i < wanted->n && i < DP_TREE_NAMED; i++)
		if (!strcmp(wanted->words[i], name))
			return (int)i;
	return -1;
}

static bool is_wanted(const struct walk *k, const char *name)
{
	return name && *name && (k->w->r->wanted->all || wanted(k, name) >= 0);
}

static bool is_variable(int tag)
{
	return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
}

/* Return: NULL: there is no room */
static struct dp_tree_variable *add(struct walk *k, Dwarf_Die *die,
				    const char *name)
{
	struct dp_tree_scope *s = &k->w->t->scope;
	u32 text, type;

	if (s->variables == DP_TREE_VARIABLES || s->pieces == DP_TREE_PIECES)
		return NULL;
	text = dp_writer_text(k->w, name);
	type = text == DP_TREE_TEXT ? DP_TREE_NONE : dp_writer_type(k->w, die);
	if (type == DP_TREE_NONE)
		return NULL;
	s->variable[s->variables] = (struct dp_tree_variable){
		.name = text,
		.type = type,
		.is_parameter = libdw(k)->dwarf_tag(die) ==
				DW_TAG_formal_parameter,
	};
	return &s->variable[s->variables++];
}

static bool is_declared(const struct walk *k, Dwarf_Die *die)
{
	return libdw(k)->dwarf_hasattr(die, DW_AT_declaration);
}

/* Return: false: there is no room for more */
static bool put_variable(struct walk *k, Dwarf_Die *die)
{
	const char *name = dp_writer_name(k->w, die);
	struct dp_tree_variable *v;

	if (!is_wanted(k, name) || is_declared(k, die))
		return true;
	v = add(k, die, name);
	if (!v)
		return false;
	dp_location_put(&k->l, die, v);
	if (wanted(k, name) >= 0)
		k->got[wanted(k, name)] |= GOT_VARIABLE;
	return true;
}

/* A block without addresses has all of the block around it. */
static bool is_everywhere(const struct walk *k, Dwarf_Die *die)
{
	return libdw(k)->dwarf_tag(die) == DW_TAG_lexical_block &&
	       !libdw(k)->dwarf_hasattr(die, DW_AT_low_pc) &&
	       !libdw(k)->dwarf_hasattr(die, DW_AT_ranges);
}

/* The variables of @block itself */
static bool put_variables(struct walk *k, Dwarf_Die *block, int depth)
{
	Dwarf_Die die;
	int more;

	for (more = libdw(k)->dwarf_child(block, &die); !more;
	     more = libdw(k)->dwarf_siblingof(&die, &die)) {
		if (is_variable(libdw(k)->dwarf_tag(&die)) &&
		    !put_variable(k, &die))
			return false;
		if (is_everywhere(k, &die) && depth < BLOCKS_MAX &&
		    !put_variables(k, &die, depth + 1))
			return false;
	}
	return true;
}

/* Is @of the original of a child of @block? */
static bool has_copy(struct walk *k, Dwarf_Die *block, const Dwarf_Die *of)
{
	Dwarf_Die die, origin;
	int more;

	for (more = libdw(k)->dwarf_child(block, &die); !more;
	     more = libdw(k)->dwarf_siblingof(&die, &die)) {
		origin = dp_writer_origin(k->w, &die);
		if (origin.addr == of->addr)
			return true;
	}
	return false;
}

/* What @block lacks of @origin; a block without a copy is all absent. */
static bool put_lacking(struct walk *k, Dwarf_Die *block, Dwarf_Die *origin,
			int depth)
{
	Dwarf_Die die;
	int more, tag;

	for (more = libdw(k)->dwarf_child(origin, &die); !more;
	     more = libdw(k)->dwarf_siblingof(&die, &die)) {
		tag = libdw(k)->dwarf_tag(&die);
		if ((!is_variable(tag) && tag != DW_TAG_lexical_block) ||
		    (block && has_copy(k, block, &die)))
			continue;
		if (tag == DW_TAG_lexical_block ?
			    depth < BLOCKS_MAX &&
				    !put_lacking(k, NULL, &die, depth + 1) :
			    !put_variable(k, &die))
			return false;
	}
	return true;
}

static bool put_absent(struct walk *k, Dwarf_Die *block)
{
	Dwarf_Die origin = dp_writer_origin(k->w, block);

	return origin.addr == block->addr || put_lacking(k, block, &origin, 0);
}

/* The first instruction of an inlined function can be one of the function around it. */
static bool begins_here(const struct walk *k, Dwarf_Die *die, int tag)
{
	Dwarf_Addr pc;

	return k->w->r->wanted->begins && tag == DW_TAG_inlined_subroutine &&
	       !libdw(k)->dwarf_entrypc(die, &pc) && pc == k->l.pc;
}

static bool leads_in(const struct walk *k, Dwarf_Die *die)
{
	int tag = libdw(k)->dwarf_tag(die);

	if (begins_here(k, die, tag))
		return true;
	return (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		tag == DW_TAG_catch_block ||
		tag == DW_TAG_inlined_subroutine) &&
	       libdw(k)->dwarf_haspc(die, k->l.pc) > 0;
}

static void find_blocks(struct walk *k, Dwarf_Die *function)
{
	Dwarf_Die die;
	int more;

	k->block[k->blocks++] = *function;
	more = libdw(k)->dwarf_child(function, &die);
	while (!more && k->blocks < BLOCKS_MAX) {
		if (leads_in(k, &die)) {
			k->block[k->blocks++] = die;
			more = libdw(k)->dwarf_child(&die, &die);
		} else {
			more = libdw(k)->dwarf_siblingof(&die, &die);
		}
	}
}

/* Where the frame is built: where the compiler says so; otherwise at the second address that has
 * a line. */
static u64 find_built(struct walk *k, u64 entry)
{
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	Dwarf_Die unit;
	Dwarf_Addr addr;
	size_t n, i;
	u64 second = 0;
	bool end;

	if (!libdw(k)->dwarf_diecu(&k->block[0], &unit, NULL, NULL) ||
	    libdw(k)->dwarf_getsrclines(&unit, &lines, &n))
		return 0;
	for (i = 0; i < n; i++) {
		line = libdw(k)->dwarf_onesrcline(lines, i);
		if (libdw(k)->dwarf_lineaddr(line, &addr) || addr < entry ||
		    libdw(k)->dwarf_haspc(&k->block[0], addr) <= 0)
			continue;
		if (!libdw(k)->dwarf_lineprologueend(line, &end) && end &&
		    addr > entry)
			return addr;
		if (addr > entry && (!second || addr < second))
			second = addr;
	}
	return second;
}

static bool find_entry(struct walk *k, Dwarf_Die *function, Dwarf_Addr *entry)
{
	Dwarf_Addr unit, end;

	return !libdw(k)->dwarf_entrypc(function, entry) ||
	       libdw(k)->dwarf_ranges(function, 0, &unit, entry, &end) > 0;
}

/* Functions in other pieces have no prologue there. */
static void begin(struct walk *k, Dwarf_Die *function)
{
	Dwarf_Addr entry = 0;

	k->l.function = &k->block[0];
	k->l.pc = k->w->r->addr[0] - k->w->r->bias;
	find_blocks(k, function);
	if (!find_entry(k, function, &entry))
		return;
	k->l.entry = entry;
	k->w->t->scope.entry = entry + k->w->r->bias;
	k->l.built = find_built(k, entry);
	k->w->t->scope.prologue_end = k->l.built;
}

/* Globals and types */

static bool names_type(const struct walk *k, int tag, const char *word,
		       const char *name)
{
	static const struct {
		const char *prefix;
		int tag;
	} tagged[] = { { "struct ", DW_TAG_structure_type },
		       { "union ", DW_TAG_union_type },
		       { "enum ", DW_TAG_enumeration_type },
		       { "struct ", DW_TAG_class_type },
		       { "", DW_TAG_typedef },
		       { "", DW_TAG_base_type } };
	size_t i, len;

	for (i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++) {
		len = strlen(tagged[i].prefix);
		if (tag == tagged[i].tag &&
		    !strncmp(word, tagged[i].prefix, len) &&
		    !strcmp(word + len, name))
			return true;
	}
	return false;
}

/* In C++ and Rust a struct has its name without "struct", too. */
static bool is_named_plainly(const struct walk *k, int tag, Dwarf_Die *die)
{
	Dwarf_Die unit;
	int lang;

	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type &&
	    tag != DW_TAG_enumeration_type && tag != DW_TAG_union_type)
		return false;
	if (!libdw(k)->dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	lang = libdw(k)->dwarf_srclang(&unit);
	return !dp_lang_is_c(lang);
}

static void put_type(struct walk *k, size_t word, Dwarf_Die *die)
{
	struct dp_tree_scope *s = &k->w->t->scope;
	Dwarf_Die type = *die;
	u32 text, n;

	if (s->named == DP_TREE_NAMED || !dp_reader_peel(k->w->r, &type))
		return;
	text = dp_writer_text(k->w, k->w->r->wanted->words[word]);
	n = text == DP_TREE_TEXT ? DP_TREE_NONE : dp_writer_enter(k->w, &type);
	if (n == DP_TREE_NONE)
		return;
	s->type[s->named++] = (struct dp_tree_named){ text, n };
	k->got[word] |= GOT_TYPE;
}

static void see_type(struct walk *k, Dwarf_Die *die, const char *name)
{
	const struct dp_wanted *wanted = k->w->r->wanted;
	int tag = libdw(k)->dwarf_tag(die);
	size_t i;

	for (i = 0; i < wanted->n && i < DP_TREE_NAMED; i++)
		if (!(k->got[i] & GOT_TYPE) &&
		    (names_type(k, tag, wanted->words[i], name) ||
		     (!strcmp(wanted->words[i], name) &&
		      is_named_plainly(k, tag, die))))
			put_type(k, i, die);
}

static void see_global(struct walk *k, Dwarf_Die *die, const char *name,
		       bool own)
{
	int word = wanted(k, name);

	if (word < 0 || k->got[word] & GOT_VARIABLE ||
	    k->w->r->wanted->local[word] ||
	    !(libdw(k)->dwarf_hasattr(die, DW_AT_location) ||
	      libdw(k)->dwarf_hasattr(die, DW_AT_const_value)))
		return;
	/* What another unit keeps for itself is no name here. */
	if (own || dp_reader_number(k->w->r, die, DW_AT_external))
		put_variable(k, die);
}

/* @own: in the unit of the function */
static void see_space(struct walk *k, Dwarf_Die *of, bool own, int depth)
{
	const char *name;
	Dwarf_Die die;
	int more, tag;

	for (more = libdw(k)->dwarf_child(of, &die); !more;
	     more = libdw(k)->dwarf_siblingof(&die, &die)) {
		tag = libdw(k)->dwarf_tag(&die);
		if (tag == DW_TAG_namespace && depth < SPACES_MAX)
			see_space(k, &die, own, depth + 1);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace)
			continue;
		name = dp_writer_name(k->w, &die);
		if (name && tag == DW_TAG_variable)
			see_global(k, &die, name, own);
		else if (name && !is_declared(k, &die))
			see_type(k, &die, name);
	}
}

/* Is there a word that is not known yet? */
static bool lacks(const struct walk *k)
{
	const struct dp_wanted *wanted = k->w->r->wanted;
	size_t i;

	for (i = 0; i < wanted->n && i < DP_TREE_NAMED; i++)
		if (!k->got[i] && !wanted->local[i])
			return true;
	return false;
}

static void see_units(struct walk *k, const Dwarf_Die *own)
{
	const struct dp_reader *r = k->w->r;
	Dwarf_Off at = 0;
	Dwarf_Die unit;
	size_t n = 0;

	while (lacks(k) && n++ < UNITS_MAX &&
	       dp_reader_next_unit(r, &at, &unit))
		if (dp_split_join(r, &unit, r->line) && unit.addr != own->addr)
			see_space(k, &unit, false, 0);
}

static void put_globals(struct walk *k)
{
	Dwarf_Die unit;

	if (!libdw(k)->dwarf_diecu(&k->block[0], &unit, NULL, NULL))
		return;
	see_space(k, &unit, true, 0);
	see_units(k, &unit);
}

void dp_scope_put(struct writer *w, Dwarf_Die *function)
{
	struct walk k = { .w = w, .l = { .w = w } };
	u32 i;

	w->t->scope.wanted = 1;
	begin(&k, function);
	for (i = k.blocks; i-- > 0;)
		if (!put_variables(&k, &k.block[i], 0) ||
		    !put_absent(&k, &k.block[i]))
			return;
	if (!w->r->wanted->all)
		put_globals(&k);
}
