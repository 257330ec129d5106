/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dp: macros for probe programs; see dprobes.lang(7).
 *
 *   #include <dprobes/dp.h>
 *
 * Each is instructions of that language, with ';' between them. A macro that needs a label makes
 * one of the line it is in.
 */
#ifndef DPROBES_DP_H
#define DPROBES_DP_H

#ifndef __dprobes__
#error "this header is for probe programs, not for C"
#endif

#define DP_PASTE_(a, b) a##b
#define DP_PASTE(a, b) DP_PASTE_(a, b)
/* A label that no other line has */
#define DP_LABEL(name) DP_PASTE(name, __COUNTER__)

/* ( -- a ) The n-th argument of the function, from 1 on; its low 32 bits, without and with sign */
#define DP_ARG(n) push arg, n
#define DP_ARG_U32(n) \
	push arg, n;  \
	pzl 32
#define DP_ARG_S32(n) \
	push arg, n;  \
	pbl 32

/* ( -- p ) Where the function returns to: at its first instruction, or at a return */
#define DP_RETURN_ADDRESS \
	push r, rsp;      \
	push mem, u64

/* ( -- i ) A number of so many bits for this thread, an index of a variable perhaps. Threads whose
 * stacks lie side by side have different ones, others may have the same. */
#define DP_THREAD(bits) \
	push task;      \
	shr 12;         \
	pzl bits

/* Log what these push, the first one first */
#define DP_LOG1(a) \
	a;         \
	log 1
#define DP_LOG2(a, b) \
	b;            \
	a;            \
	log 2
#define DP_LOG3(a, b, c) \
	c;               \
	b;               \
	a;               \
	log 3

/* ( p -- a ) What is n bytes behind an address: so many bits */
#define DP_FIELD(n, bits) \
	push n;           \
	add;              \
	push mem, u##bits
/* ( p -- p' ) The address itself */
#define DP_OFFSET(n) \
	push n;      \
	add

/* ( p -- ) Log the string at an address, or so many bytes */
#define DP_LOG_STRING(most) \
	push most;          \
	xchg;               \
	log str
#define DP_LOG_BYTES(n) \
	push n;         \
	xchg;           \
	log mrf

/* ( a -- ) Go to a label if the top is n, or if it is not; the top is dropped either way */
#define DP_IF(n, label) DP_IF_(n, label, DP_LABEL(dp_if_))
#define DP_IF_(n, label, over) \
	push n;                \
	sub;                   \
	jnz over;              \
	pop 1;                 \
	jmp label;             \
	over:                  \
	pop 1
#define DP_UNLESS(n, label) DP_UNLESS_(n, label, DP_LABEL(dp_unless_))
#define DP_UNLESS_(n, label, over) \
	push n;                    \
	sub;                       \
	jz over;                   \
	pop 1;                     \
	jmp label;                 \
	over:                      \
	pop 1

/* ( a -- a-n ) For jlt, jle, jgt, jge, jz, jnz: how the top compares with n */
#define DP_COMPARE(n) \
	push n;       \
	rsub

/* Exceptions. Source: DProbes 5. */
#define DP_EX_INVALID_ADDR 0x0001
#define DP_EX_SEG_FAULT 0x0002
#define DP_EX_MAX_JMPS 0x0004
#define DP_EX_CALL_STACK_OVERFLOW 0x0010
#define DP_EX_DIV_BY_ZERO 0x0020
#define DP_EX_INVALID_OPERAND 0x0040
#define DP_EX_INVALID_OPCODE 0x0080
#define DP_EX_HEAP_NOMEM 0x0100
#define DP_EX_HEAP_INVALID_HANDLE 0x0200
#define DP_EX_HEAP_INVALID_OFFSET 0x0400
#define DP_EX_LOG_OVERFLOW 0x1000
#define DP_EX_RPN_STACK_WRAP 0x2000
#define DP_EX_USER 0x8000

#endif
