// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* places: what a child writes of variables, honest and hostile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sym/places.h"
#include "sym/types/frame.h"
#include "sym/types/tree.h"

enum { LONG = 1, PAIR, TYPES };
#define RBP 6
#define RSP 7

static struct dp_tree *forged;

static u32 step(u8 op, u64 n)
{
	struct dp_tree_scope *s = &forged->scope;

	s->step[s->steps] = (struct dp_step){ op, n };
	return s->steps++;
}

static struct dp_tree_piece *piece(u8 kind, u32 offset, u32 size, u32 first)
{
	struct dp_tree_scope *s = &forged->scope;
	struct dp_tree_piece *p = &s->piece[s->pieces++];

	*p = (struct dp_tree_piece){ .kind = kind,
				     .offset = offset,
				     .size = size,
				     .first = first,
				     .n = s->steps - first };
	return p;
}

static void variable(u32 type, u32 pieces)
{
	struct dp_tree_scope *s = &forged->scope;

	s->variable[s->variables++] =
		(struct dp_tree_variable){ .name = 3,
					   .type = type,
					   .first = s->pieces - pieces,
					   .n = pieces };
}

/* f() has v, a long at the address that is 16 below the caller's stack pointer */
static void forge(void)
{
	static const char text[] = "\0f\0v\0a\0b";
	struct dp_tree *t = forged;
	u32 first;

	memset(t, 0, sizeof(*t));
	memcpy(t->bytes, text, sizeof(text));
	t->text = sizeof(text);
	t->name = 1;
	t->types = TYPES;
	t->type[LONG].kind = DP_PROTOTYPE_INT;
	t->type[LONG].bits = 64;
	t->type[PAIR] = (struct dp_tree_type){ .kind = DP_PROTOTYPE_STRUCT,
					       .n = 2,
					       .size = 16 };
	t->fields = 2;
	t->field[0] = (struct dp_tree_field){ .name = 5, .type = LONG };
	t->field[1] =
		(struct dp_tree_field){ .name = 7, .type = LONG, .offset = 8 };
	t->scope.wanted = 1;
	first = step(DP_STEP_CFA, 0);
	step(DP_STEP_NUMBER, (u64)-16);
	step(DP_STEP_ADD, 0);
	piece(DP_PIECE_MEMORY, 0, 0, first);
	variable(LONG, 1);
}

static const struct dp_variable *built(const struct dp_frame *frame,
				       struct dp_prototype **p)
{
	assert_int_equal(dp_tree_build(forged, frame, p), 0);
	assert_non_null((*p)->scope);
	return &(*p)->scope->variables[forged->scope.variables - 1];
}

static void assert_bad(void)
{
	struct dp_prototype *p;

	assert_int_equal(dp_tree_build(forged, NULL, &p), -EBADMSG);
}

/* A frame of which @v are the rows */
static struct dp_frame frame_of(struct dp_row *v, size_t n, u64 pc)
{
	return (struct dp_frame){ pc, { v, n, n } };
}

static void assert_nowhere(const struct dp_frame *frame, u8 why)
{
	struct dp_prototype *p;
	const struct dp_variable *v = built(frame, &p);

	assert_int_equal(v->pieces->kind, DP_PIECE_NOWHERE);
	assert_int_equal(v->pieces->why, why);
	free(p);
}

static void test_frame(void **state)
{
	struct dp_row rows[] = { { 0x10, 8, RSP, true },
				 { 0x20, 16, RBP, true },
				 { 0x30, 8, RSP, true },
				 { 0x40, 0, DP_ROW_NO_REG, true } };
	struct dp_frame at = frame_of(rows, 4, 0x20);
	struct dp_prototype *p;
	const struct dp_variable *v;

	forge();
	v = built(&at, &p);
	assert_int_equal(v->n, 1);
	assert_int_equal(v->pieces->kind, DP_PIECE_MEMORY);
	assert_int_equal(v->pieces->size, 8);
	/* rbp + 16 - 16, in one sum */
	assert_int_equal(v->pieces->n, 3);
	assert_int_equal(v->pieces->steps[0].op, DP_STEP_REGISTER);
	assert_int_equal(v->pieces->steps[0].n, RBP);
	assert_int_equal(v->pieces->steps[1].n, 0);
	free(p);
	/* By rsp: 8 below it, which is in the red zone; then farther */
	at.pc = 0x12;
	v = built(&at, &p);
	assert_int_equal((s64)v->pieces->steps[1].n, -8);
	free(p);
	forged->scope.step[1].n = (u64)-200;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	at.pc = 0x20;
	free((built(&at, &p), p));
	/* Nothing is known of it. */
	at.pc = 0x40;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	at.pc = 0x8;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	assert_nowhere(NULL, DP_PLACE_NO_FRAME);
}

/* What is said to be near rbp is so while rbp has what the frame is found by. */
static void test_frame_register(void **state)
{
	struct dp_row rows[] = { { 0x10, 8, RSP, true },
				 { 0x20, 16, RBP, true },
				 { 0x30, 8, RSP, true },
				 { 0x40, 24, RSP, true },
				 { 0x50, 8, RSP, true } };
	struct dp_frame at = frame_of(rows, 5, 0x24);
	struct dp_prototype *p;

	forge();
	forged->scope.step[0] = (struct dp_step){ DP_STEP_FRAME, RBP };
	assert_int_equal(built(&at, &p)->pieces->kind, DP_PIECE_MEMORY);
	free(p);
	at.pc = 0x12;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	at.pc = 0x34;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	/* rsp, as deep as where the body begins */
	forged->scope.step[0] = (struct dp_step){ DP_STEP_FRAME, RSP };
	forged->scope.prologue_end = 0x40;
	at.pc = 0x44;
	assert_int_equal(built(&at, &p)->pieces->kind, DP_PIECE_MEMORY);
	free(p);
	at.pc = 0x54;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
	at.pc = 0x34;
	assert_nowhere(&at, DP_PLACE_NO_FRAME);
}

static void test_pieces(void **state)
{
	struct dp_prototype *p;
	const struct dp_variable *v;

	forge();
	piece(DP_PIECE_VALUE, 0, 8, step(DP_STEP_REGISTER, 3));
	piece(DP_PIECE_NOWHERE, 8, 8, 0)->why = DP_PLACE_OPTIMISED_OUT;
	variable(PAIR, 2);
	v = built(NULL, &p);
	assert_int_equal(v->n, 2);
	assert_int_equal(v->pieces[0].kind, DP_PIECE_VALUE);
	assert_int_equal(v->pieces[1].why, DP_PLACE_OPTIMISED_OUT);
	free(p);
	/* One that begins elsewhere, or is too large for a register */
	forged->scope.piece[2].offset = 4;
	assert_nowhere(NULL, DP_PLACE_COMPUTED);
	forged->scope.piece[2].offset = 8;
	forged->scope.piece[2].size = 12;
	assert_nowhere(NULL, DP_PLACE_COMPUTED);
	forged->scope.piece[1].size = 16;
	assert_nowhere(NULL, DP_PLACE_COMPUTED);
}

/* One piece may be of a part; without a size it is of all. */
static void test_one_piece(void **state)
{
	static const u32 sizes[][2] = { { 0, 16 }, { 8, 8 }, { 16, 16 } };
	struct dp_prototype *p;
	const struct dp_variable *v;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		forge();
		piece(DP_PIECE_MEMORY, 0, sizes[i][0],
		      step(DP_STEP_REGISTER, RSP));
		variable(PAIR, 1);
		v = built(NULL, &p);
		assert_int_equal(v->n, 1);
		assert_int_equal(v->pieces->kind, DP_PIECE_MEMORY);
		assert_int_equal(v->pieces->size, sizes[i][1]);
		free(p);
	}
	forged->scope.piece[1].size = 17;
	assert_nowhere(NULL, DP_PLACE_COMPUTED);
}

static void with_step(u8 op, u64 n)
{
	forge();
	forged->scope.step[0] = (struct dp_step){ op, n };
	assert_bad();
}

static void test_steps(void **state)
{
	u32 i;

	with_step(DP_STEP_OPS, 0);
	with_step(0xff, 0);
	with_step(DP_STEP_REGISTER, DP_PLACE_REGISTERS);
	with_step(DP_STEP_VECTOR, DP_PLACE_REGISTERS);
	with_step(DP_STEP_FRAME, ~0ull);
	with_step(DP_STEP_LOAD, 8); /* of nothing */
	with_step(DP_STEP_ADD, 0);
	forge();
	forged->scope.step[2] = (struct dp_step){ DP_STEP_LOAD, 3 };
	assert_bad();
	forged->scope.step[2] = (struct dp_step){ DP_STEP_SHL, 64 };
	assert_bad();
	/* Two numbers are left; none. */
	forged->scope.step[2] = (struct dp_step){ DP_STEP_NOT, 0 };
	assert_bad();
	forge();
	forged->scope.piece[0].n = 0;
	assert_bad();
	/* Too deep */
	forge();
	forged->scope.piece[0].first = forged->scope.steps;
	for (i = 0; i <= DP_PLACE_DEEPEST; i++)
		step(DP_STEP_NUMBER, 1);
	for (i = 0; i < DP_PLACE_DEEPEST; i++)
		step(DP_STEP_ADD, 0);
	forged->scope.piece[0].n = 2 * DP_PLACE_DEEPEST + 1;
	assert_bad();
}

/* Each of these numbers leads out of its table. */
static void test_numbers_out_of_range(void **state)
{
	static const size_t at[] = {
		offsetof(struct dp_tree_scope, variables),
		offsetof(struct dp_tree_scope, pieces),
		offsetof(struct dp_tree_scope, steps),
		offsetof(struct dp_tree_scope, known),
		offsetof(struct dp_tree_scope, named),
		offsetof(struct dp_tree_scope, variable[0].name),
		offsetof(struct dp_tree_scope, variable[0].type),
		offsetof(struct dp_tree_scope, variable[0].first),
		offsetof(struct dp_tree_scope, variable[0].n),
		offsetof(struct dp_tree_scope, variable[0].first_known),
		offsetof(struct dp_tree_scope, variable[0].nr_known),
		offsetof(struct dp_tree_scope, piece[0].first),
		offsetof(struct dp_tree_scope, piece[0].n),
	};
	static const u32 with[] = { ~0u, 0x80000000, 100000 };
	size_t i, k;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (k = 0; k < sizeof(with) / sizeof(with[0]); k++) {
			forge();
			memcpy((char *)&forged->scope + at[i], &with[k],
			       sizeof(with[k]));
			assert_bad();
		}
	forge();
	forged->scope.variable[0].type = 0; /* void */
	assert_bad();
	forge();
	forged->scope.piece[0].kind = DP_PIECE_KINDS;
	assert_bad();
	forged->scope.piece[0].kind = DP_PIECE_NOWHERE; /* without a reason */
	assert_bad();
	forged->scope.piece[0].why = DP_PLACE_WHYS;
	assert_bad();
	/* A piece is of one variable. */
	forge();
	forged->scope.variable[1] = forged->scope.variable[0];
	forged->scope.variables = 2;
	assert_bad();
	forge();
	forged->scope.named = 1;
	forged->scope.type[0] = (struct dp_tree_named){ 3, TYPES };
	assert_bad();
}

/* Whatever is in it, it is built of what it has, or not at all. */
static void test_noise(void **state)
{
	static const size_t at[] = {
		offsetof(struct dp_tree_scope, wanted),
		offsetof(struct dp_tree_scope, variable),
		offsetof(struct dp_tree_scope, piece),
		offsetof(struct dp_tree_scope, step),
		offsetof(struct dp_tree_scope, type),
	};
	struct dp_row rows[] = { { 0, 8, RSP, true } };
	struct dp_frame frame = frame_of(rows, 1, 0x12);
	u64 seed = 1;
	size_t i, k;

	for (i = 0; i < 20000; i++) {
		struct dp_prototype *p = NULL;

		forge();
		piece(DP_PIECE_VALUE, 0, 8, step(DP_STEP_REGISTER, 3));
		piece(DP_PIECE_VALUE, 8, 8, step(DP_STEP_CFA, 0));
		variable(PAIR, 2);
		forged->scope.named = 1;
		forged->scope.type[0] = (struct dp_tree_named){ 3, PAIR };
		for (k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005ull + 1;
			((u8 *)&forged->scope)[at[(seed >> 40) % 5] +
					       (seed >> 33) % 100] =
				(u8)(seed >> 24);
		}
		if (!dp_tree_build(forged, &frame, &p))
			free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_frame_register),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_one_piece),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_noise),
	};
	int failed;

	forged = malloc(sizeof(*forged));
	assert_non_null(forged);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("places", tests, NULL, NULL);
	free(forged);
	return failed;
}
