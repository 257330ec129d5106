// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * like: does a string match a pattern?
 *
 * The pattern is on the stack, eight bytes an element: bytes that mean themselves, and tokens of
 * enum dp_vm_like. The string is read in aligned words, so never across the end of a page. Behind
 * a '*' the shortest match is tried first, and only the last '*' is ever extended: that suffices.
 */
#include "engine/vm/machine.h"

/** struct like - @pattern: its place on the stack; @len: its bytes
 *  @string: an address; @most: bytes of it that are looked at; @ends: it ends there
 *  @word: what is at @word_at
 *  @bad: an address that cannot be read; @steps: what has been compared */
struct like {
	struct dp_vm *vm;
	u64 pattern, len;
	u64 string, most;
	u64 word_at, word;
	u64 bad;
	bool ends, fails;
	u32 steps;
};

#define STEPS_A_BUDGET 16 /* steps that cost as much as an instruction */

static bool fails(struct like *l, u64 addr)
{
	l->bad = addr;
	l->fails = true;
	return true;
}

/* Return: 0 at the end of the string, and where that cannot be told */
static u8 byte_at(struct like *l, u64 i)
{
	u64 addr = l->string + i, at = addr & ~7ull;

	if (i >= l->most && (l->ends || fails(l, addr)))
		return 0;
	if (at != l->word_at &&
	    dp_vm_fetch(l->vm, &l->word, at, sizeof(l->word)) <
		    sizeof(l->word) &&
	    fails(l, addr))
		return 0;
	l->word_at = at;
	return (u8)(l->word >> 8 * (addr & 7));
}

/* Return: 0 behind the pattern's end */
static u8 token_at(const struct like *l, u64 p)
{
	if (p >= l->len)
		return 0;
	return (u8)(dp_vm_peek(l->vm, l->pattern + p / 8) >> 8 * (p & 7));
}

/* Is @c in one of the ranges behind the token at @p? @p is moved behind them. */
static bool in_ranges(const struct like *l, u64 *p, u8 c)
{
	u8 n = token_at(l, *p + 1);
	bool is = false;

	*p += 2;
	for (; n && *p < l->len; n--, *p += 2)
		is |= c >= token_at(l, *p) && c <= token_at(l, *p + 1);
	return is;
}

/* Does the token at @p mean @c, which is not the string's end? @p is moved behind it. */
static bool takes(const struct like *l, u64 *p, u8 c)
{
	u8 token = token_at(l, *p);

	switch (token) {
	case DP_LIKE_ANY:
		++*p;
		return true;
	case DP_LIKE_OF:
		return in_ranges(l, p, c);
	case DP_LIKE_NONE_OF:
		return !in_ranges(l, p, c);
	case DP_LIKE_ITSELF:
		token = token_at(l, ++*p);
		break;
	default:
		break;
	}
	++*p;
	return token == c;
}

static bool matches(struct like *l)
{
	u64 p = 0, i = 0, star = 0, from = 0, next;
	u8 c;

	while (!l->fails) {
		l->steps++;
		if (token_at(l, p) == DP_LIKE_MANY) {
			star = ++p;
			from = i;
			/* Whatever follows, and where it ends, is all the same. */
			if (p >= l->len)
				return true;
			continue;
		}
		c = byte_at(l, i);
		next = p;
		if (!c && p >= l->len)
			return true;
		if (c && p < l->len && takes(l, &next, c)) {
			p = next;
			i++;
		} else if (c && star) {
			p = star;
			i = ++from;
		} else {
			return false;
		}
	}
	return false;
}

void dp_vm_like(struct dp_vm *vm, u64 arg)
{
	struct like l = { .vm = vm,
			  .len = arg & DP_LIKE_LENGTH,
			  .ends = arg & DP_LIKE_ENDS,
			  .word_at = 1 };
	u64 most = dp_vm_pop(vm);
	bool is;

	l.most = most < DP_LIKE_MOST ? most : DP_LIKE_MOST;
	l.ends &= l.most == most;
	l.string = dp_vm_pop(vm);
	l.pattern = vm->tos;
	is = matches(&l);
	vm->tos = (u32)(vm->tos + (l.len + 7) / 8) & vm->stack_mask;
	l.steps /= STEPS_A_BUDGET;
	vm->budget -= l.steps < vm->budget ? l.steps : vm->budget;
	if (l.fails)
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, l.bad, 0);
	else
		dp_vm_push(vm, is);
}
