// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_tracepoints: any bytes as the notes of tracepoints, and any text as their arguments. What is told
 * of a note is in its module; and an argument is steps that a program can take, or none.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include "sym/tracepoints.h"
#include "tracer/expr.h"
#include "resolve/points.h"
#include "vm_programs.h"

#define TEXT 0x1000
#define DATA 0x8000
#define SIZE 0x1000

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_note(const struct dp_tracepoint *t)
{
	must(*t->provider && *t->name && strlen(t->arguments) < 1u << 20);
	must(t->addr - TEXT < SIZE);
	must(!t->semaphore || t->semaphore - DATA <= SIZE - 2);
}

static void read_notes(const u8 *data, size_t size, u64 base)
{
	static char names[] = "\0.note.stapsdt\0.stapsdt.base";
	Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = TEXT,
		  .p_memsz = SIZE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_vaddr = DATA,
		  .p_memsz = SIZE },
	};
	Elf64_Shdr sh[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_NOTE, .sh_size = size },
		{ .sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = base },
	};
	struct dp_elf elf = { .fd = -1,
			      .image = malloc(size + 1),
			      .size = size,
			      .ph = ph,
			      .n_ph = 2,
			      .sh = sh,
			      .n_sh = base ? 3 : 2,
			      .names = names,
			      .names_len = sizeof(names) };
	struct dp_tracepoints list = { 0 };
	size_t i;

	must(elf.image);
	memcpy(elf.image, data, size);
	must(!dp_tracepoints_read(&list, &elf));
	for (i = 0; i < list.n; i++)
		check_note(&list.v[i]);
	dp_tracepoints_free(&list);
	free(elf.image);
}

/* Elements of the stack that a step adds */
static int change_of(const struct dp_step *s)
{
	if (s->op <= DP_STEP_FRAME)
		return 1;
	return s->op == DP_STEP_LOAD || s->op == DP_STEP_NEGATE ||
			       s->op == DP_STEP_NOT || s->op >= DP_STEP_SHL ?
		       0 :
		       -1;
}

static void check_argument(const struct dp_variable *v)
{
	const struct dp_piece *p = v->pieces;
	int depth = 0;
	u32 i;

	must(v->n == 1 && v->written && v->type && v->type->size);
	must((p->kind == DP_PIECE_NOWHERE) == (p->why != DP_PLACE_KNOWN));
	if (p->kind == DP_PIECE_NOWHERE)
		return;
	must(p->n && p->size == v->type->size && !p->offset);
	for (i = 0; i < p->n; i++) {
		must(p->steps[i].op < DP_STEP_OPS &&
		     (p->steps[i].op != DP_STEP_REGISTER ||
		      p->steps[i].n < DP_PLACE_REGISTERS));
		depth += change_of(&p->steps[i]);
		must(depth > 0 && depth <= DP_PLACE_DEEPEST);
	}
	must(depth == 1);
}

/* What compiles is a program that the verifier accepts. */
static void compile(const struct dp_prototype *f, const char *text)
{
	struct dp_vm_limits limits = { VM_VARS, 0, DP_ALLOW_ALL };
	struct dp_trace_program p;
	struct dp_spec spec;
	struct dp_diag diag;
	u32 start = 0, offset;
	const char *why;

	dp_diag_clear(&diag);
	must(!dp_spec_parse(text, &spec, &diag));
	spec.prototype = f;
	if (!dp_expr_trace(&spec, &p, &diag)) {
		must(!dp_vm_verify(p.code, p.len, &limits, &start, 1, &offset,
				   &why));
		dp_expr_free(&p);
	} else {
		must(diag.text[0]);
	}
	dp_spec_free(&spec);
}

static void read_arguments(const u8 *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct dp_prototype *f;
	u32 i;

	must(text && !dp_tracepoint_arguments(NULL, NULL, "a:b", text, &f));
	must(f->scope->n <= DP_PROTOTYPE_PARAMETERS);
	for (i = 0; i < f->scope->n; i++)
		check_argument(&f->scope->variables[i]);
	compile(f, "usdt:a:b");
	compile(f, "usdt:a:b(arg1, arg0:s) if arg0 > 3");
	free(f);
	free(text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	if (*data & 1)
		read_notes(data + 1, size - 1, *data & 2 ? TEXT + 0x10 : 0);
	else
		read_arguments(data + 1, size - 1);
	return 0;
}
