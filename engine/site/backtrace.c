// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * backtrace: what hits need to walk stacks, and what they have found (engine/layout/backtrace.h),
 * control's side.
 *
 *   tables   head, two maps, rules, ranges and the numbers of their rules, generated code
 *   own      what is kept, the account, nodes
 */
#include "engine/layout/arena.h"
#include "engine/site/backtrace.h"
#include "engine/site/internal.h"
#include "port.h"

#define LINE 64
#define MAP_AT LINE
#define MAP_BYTES sizeof(struct dp_backtrace_map)
#define RULE_AT (MAP_AT + 2 * MAP_BYTES)
#define ROOM_AT (RULE_AT + DP_BACKTRACE_RULES * sizeof(struct dp_rule))
#define GENERATED_AT(b) ((ROOM_AT + (b)->bytes + LINE - 1) / LINE * LINE)
#define ACCOUNT_AT (DP_KEPT * sizeof(u64))
#define NODES_AT (ACCOUNT_AT + LINE)
/* Of the nodes, so many may be used: then hardly any frame is far from its home. */
#define FULL(nodes) ((nodes) / 4 * 3)
#define NODES_LEAST 1024u
#define NODES_MOST (1u << 24)
#define ROOM_MOST (256ull << 20)

_Static_assert(sizeof(struct dp_backtrace_head) <= LINE && MAP_BYTES % 8 == 0,
	       "the head has outgrown its line");

static u32 nodes_for(u32 frames)
{
	u32 nodes = NODES_LEAST;

	while (nodes < NODES_MOST && FULL(nodes) < frames)
		nodes *= 2;
	return nodes;
}

int dp_engine_walk_stacks(struct dp_engine *e, u64 bytes, u32 nodes,
			  void (*begin)(void *arg), void *arg)
{
	struct dp_backtraces *b = &e->backtraces;

	if (e->arena)
		return -EBUSY;
	b->bytes = bytes < ROOM_MOST ? bytes : ROOM_MOST;
	b->nodes = nodes_for(nodes);
	b->begin = begin;
	b->arg = arg;
	return 0;
}

int dp_engine_keep_stacks(struct dp_engine *e, u32 nodes)
{
	if (e->arena)
		return -EBUSY;
	e->backtraces.nodes = nodes_for(nodes);
	e->backtraces.given = true;
	return 0;
}

u64 dp_backtraces_bytes(const struct dp_engine *e)
{
	u64 nodes = e->backtraces.nodes;

	return nodes ? NODES_AT + nodes * sizeof(u64) : 0;
}

u64 dp_backtraces_tables(const struct dp_engine *e)
{
	return !e->backtraces.nodes ?
		       0 :
	       e->backtraces.given ?
		       LINE :
		       GENERATED_AT(&e->backtraces) + dp_generated_bytes(e);
}

static void *at(const struct dp_engine *e, u64 offset)
{
	return (char *)e->arena + offset;
}

static struct dp_backtrace_head *head_of(const struct dp_engine *e)
{
	return at(e, e->backtraces.head_off);
}

static bool keeps(const struct dp_engine *e)
{
	return e->arena && e->backtraces.nodes && e->backtraces.head_off;
}

bool dp_engine_walks(const struct dp_engine *e)
{
	return keeps(e) && !e->backtraces.given;
}

u64 dp_engine_agent(const struct dp_engine *e)
{
	return e->map.base;
}

/* Code and rules of tables that have gone are none. */
void dp_backtraces_fill(struct dp_engine *e, u32 own_off, u32 tables_off)
{
	struct dp_backtraces *b = &e->backtraces;
	struct dp_backtrace_head *head;

	if (!b->nodes)
		return;
	b->head_off = tables_off;
	b->room_off = tables_off + ROOM_AT;
	b->own_off = own_off;
	b->used = 0;
	b->nr_code = b->nr_rules = 0;
	head = head_of(e);
	*head = (struct dp_backtrace_head){
		.node = own_off + NODES_AT,
		.node_mask = b->nodes - 1,
		.most = FULL(b->nodes),
		.account = own_off + ACCOUNT_AT,
	};
	if (b->given)
		return;
	head->nr_rules = 1;
	head->map[0] = tables_off + MAP_AT;
	head->map[1] = tables_off + MAP_AT + MAP_BYTES;
	head->rule = tables_off + RULE_AT;
	head->kept = own_off;
	dp_generated_fill(e, head, tables_off + (u32)GENERATED_AT(b));
	if (b->begin)
		b->begin(b->arg);
}

void dp_backtraces_free(struct dp_engine *e)
{
	dp_port_free(e->backtraces.code);
	dp_port_free(e->backtraces.rule);
}

int dp_backtraces_copy(struct dp_engine *e, const struct dp_engine *of)
{
	struct dp_backtraces *b = &e->backtraces;

	*b = of->backtraces;
	b->begin = NULL;
	b->cap_code = b->nr_code;
	b->cap_rules = b->nr_rules;
	b->code = dp_engine_dup(b->code, b->nr_code * sizeof(*b->code));
	b->rule = dp_engine_dup(b->rule, b->nr_rules * sizeof(*b->rule));
	return b->code && b->rule ? 0 : -ENOMEM;
}

/* --- code --- */

static bool same_rule(const struct dp_rule *a, const struct dp_rule *b)
{
	return a->how == b->how && a->base == b->base &&
	       a->frame_how == b->frame_how && a->ret == b->ret &&
	       a->cfa == b->cfa && a->more == b->more && a->frame == b->frame;
}

static int append_rule(struct dp_engine *e, const struct dp_rule *rule)
{
	struct dp_backtraces *b = &e->backtraces;
	struct dp_rule *to = at(e, head_of(e)->rule);
	int err = dp_engine_reserve((void **)&b->rule, b->nr_rules,
				    &b->cap_rules, sizeof(*b->rule));

	if (err)
		return err;
	b->rule[b->nr_rules] = to[b->nr_rules] = *rule;
	b->nr_rules++;
	return 0;
}

/* The number of a rule. Rules without room are DP_RULE_NONE: walks end there. */
static int number_of(struct dp_engine *e, const struct dp_rule *rule, u16 *to)
{
	static const struct dp_rule none;
	struct dp_backtraces *b = &e->backtraces;
	u32 i = 0;
	int err;

	*to = 0;
	if (!b->nr_rules) {
		err = append_rule(e, &none);
		if (err)
			return err;
	}
	while (i < b->nr_rules && !same_rule(&b->rule[i], rule))
		i++;
	if (i == DP_BACKTRACE_RULES)
		return 0;
	*to = (u16)i;
	return i < b->nr_rules ? 0 : append_rule(e, rule);
}

/* Return: for each of the code's rules its number, the caller's; NULL: out of memory. */
static u16 *number_all(struct dp_engine *e, const struct dp_backtrace_code *c)
{
	u16 *numbers = dp_port_alloc((c->nr_rules + 1) * sizeof(*numbers));
	int err = 0;
	u32 i;

	for (i = 0; numbers && !err && i < c->nr_rules; i++)
		err = number_of(e, &c->rules[i], &numbers[i]);
	if (!err)
		return numbers;
	dp_port_free(numbers);
	return NULL;
}

static bool is_sound(const struct dp_backtrace_code *c)
{
	u32 i;

	for (i = 0; i < c->nr; i++)
		if (c->which[i] >= c->nr_rules ||
		    (i && c->ranges[i] <= c->ranges[i - 1]))
			return false;
	return true;
}

static void write_code(struct dp_engine *e, const struct dp_backtrace_code *c,
		       const struct dp_backtrace_module *m, const u16 *numbers)
{
	u32 *ranges = at(e, m->ranges), i;
	u16 *rules = at(e, m->rules);

	for (i = 0; i < c->nr; i++) {
		ranges[i] = c->ranges[i];
		rules[i] = numbers[c->which[i]];
	}
}

int dp_engine_add_code(struct dp_engine *e, const struct dp_backtrace_code *c,
		       u32 *code)
{
	struct dp_backtraces *b = &e->backtraces;
	u64 bytes = (u64)c->nr * (sizeof(u32) + sizeof(u16)) + 7;
	struct dp_backtrace_module m = { .nr = c->nr };
	u16 *numbers;

	if (!dp_engine_walks(e) || !is_sound(c))
		return -EINVAL;
	bytes &= ~7ull;
	if (bytes > b->bytes - b->used)
		return -ENOSPC;
	if (dp_engine_reserve((void **)&b->code, b->nr_code, &b->cap_code,
			      sizeof(*b->code)))
		return -ENOMEM;
	numbers = number_all(e, c);
	if (!numbers)
		return -ENOMEM;
	m.ranges = (u32)(b->room_off + b->used);
	m.rules = m.ranges + c->nr * (u32)sizeof(u32);
	write_code(e, c, &m, numbers);
	dp_port_free(numbers);
	b->used += bytes;
	*code = b->nr_code;
	b->code[b->nr_code++] = m;
	return 0;
}

static bool are_apart(const struct dp_engine *e,
		      const struct dp_backtrace_place *v, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (v[i].code >= e->backtraces.nr_code ||
		    v[i].end <= v[i].start || (i && v[i].start < v[i - 1].end))
			return false;
	return true;
}

/* What was kept when the generation had the same number before is not to be found. */
static void forget_kept(struct dp_engine *e)
{
	u64 *kept = at(e, head_of(e)->kept);
	u32 i;

	for (i = 0; i < DP_KEPT; i++)
		__atomic_store_n(&kept[i], 0, __ATOMIC_RELAXED);
}

/* The map that is not in force is written. Threads that still read it see that by the generation. */
int dp_engine_map_code(struct dp_engine *e, const struct dp_backtrace_place *v,
		       u32 nr)
{
	struct dp_backtrace_head *head;
	struct dp_backtrace_map *map;
	u32 next, i;

	if (!dp_engine_walks(e) || !are_apart(e, v, nr))
		return -EINVAL;
	if (nr > DP_BACKTRACE_MODULES)
		return -ENOSPC;
	head = head_of(e);
	next = head->generation + 1;
	next += !next; /* 0 would mean that there is none */
	map = at(e, head->map[next & 1]);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (i = 0; i < nr; i++) {
		map->v[i] = e->backtraces.code[v[i].code];
		map->v[i].start = v[i].start;
		map->v[i].end = v[i].end;
	}
	map->nr = nr;
	if (e->backtraces.nr_rules)
		head->nr_rules = e->backtraces.nr_rules;
	if (!(next % DP_KEPT_GENERATIONS))
		forget_kept(e);
	__atomic_store_n(&head->generation, next, __ATOMIC_RELEASE);
	return 0;
}

/* --- what hits have found --- */

/* Return: false: there is no such node. @frame: its pc, or its end */
static bool read_node(const struct dp_engine *e, u32 node, u64 *frame,
		      u32 *parent)
{
	const u64 *nodes = at(e, e->backtraces.own_off + NODES_AT);
	u32 mask = e->backtraces.nodes - 1;
	u64 word;

	if (!node || node > mask)
		return false;
	word = __atomic_load_n(&nodes[node], __ATOMIC_RELAXED);
	*frame = word >> DP_KNOWN_FRAME;
	*parent = dp_known_parent(node - (u32)(word >> DP_KNOWN_AWAY) %
						  DP_KNOWN_PROBES,
				  *frame, mask);
	return word & 1;
}

static void reverse(u64 *v, u32 n)
{
	u64 word;
	u32 i;

	for (i = 0; i < n / 2; i++) {
		word = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = word;
	}
}

u32 dp_engine_backtrace(const struct dp_engine *e, u32 number,
			u64 frames[DP_BACKTRACE_FRAMES],
			enum dp_backtrace_end *end)
{
	u32 node = number, n = 0;
	u64 frame;

	*end = DP_END_NONE;
	if (!keeps(e) || !read_node(e, number, &frame, &node) || !frame ||
	    frame >= DP_END_NR)
		return 0;
	*end = (enum dp_backtrace_end)frame;
	while (n < DP_BACKTRACE_FRAMES && read_node(e, node, &frame, &node))
		frames[n++] = frame;
	reverse(frames, n);
	return n;
}

u64 dp_engine_backtraces_lost(const struct dp_engine *e)
{
	const struct dp_known_account *account;

	if (!keeps(e))
		return 0;
	account = at(e, e->backtraces.own_off + ACCOUNT_AT);
	return __atomic_load_n(&account->lost, __ATOMIC_RELAXED);
}

void dp_engine_forget_stacks(struct dp_engine *e)
{
	u64 *words, n;

	if (!keeps(e) || !e->backtraces.given)
		return;
	words = at(e, e->backtraces.own_off);
	for (n = dp_backtraces_bytes(e) / sizeof(*words); n; n--)
		*words++ = 0;
}
