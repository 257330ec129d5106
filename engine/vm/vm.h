/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vm: the machine that runs verified probe programs.
 *
 * Elements are 64 bits. The RPN stack is circular: indices wrap, a push onto a full stack
 * overwrites the oldest element, a pop clears nothing. A program ends by an instruction
 * that ends it, by an unhandled exception, or at its budget. It cannot fault the target:
 * a bad address is an exception.
 *
 * Source: DProbes 5.0 semantics; design decisions where it left holes.
 */
#ifndef DP_VM_H
#define DP_VM_H

#include "port_types.h"

struct dp_regs;

#define DP_VM_STACK 1024 /* elements; a program may ask for 32 */
#define DP_VM_FRAMES 33 /* the handler's own and 32 nested calls */
#define DP_VM_LOG 1024 /* bytes, unless the program asks for more */
#define DP_VM_LOG_MOST 65536
#define DP_VM_TRACES 1024 /* bytes of stack traces, at most */
#define DP_VM_HEAP 16384 /* bytes of the heap, at most */
#define DP_VM_GLOBALS 256 /* what alloc gv gives begins behind so many */
#define DP_VM_BUDGET 65536 /* instructions a hit */
#define DP_VM_NO_HANDLER 0xffffffffu

/** enum dp_vm_exception - exception codes of DProbes; parameters in brackets */
enum dp_vm_exception {
	DP_EX_INVALID_ADDR = 0x0001, /* (address) */
	DP_EX_SEG_FAULT = 0x0002, /* (selector) */
	DP_EX_MAX_JMPS = 0x0004, /* (jmpmax); (budget, 1) */
	DP_EX_CALL_STACK_OVERFLOW = 0x0010, /* (32) too deep, (0) ret outside */
	DP_EX_DIV_BY_ZERO = 0x0020,
	DP_EX_INVALID_OPERAND = 0x0040, /* (enum dp_vm_operand_class, value) */
	DP_EX_INVALID_OPCODE = 0x0080, /* (code byte, offset) */
	DP_EX_HEAP_NOMEM = 0x0100, /* (size) */
	DP_EX_HEAP_INVALID_HANDLE = 0x0200, /* (handle, offset) */
	DP_EX_HEAP_INVALID_OFFSET = 0x0400, /* (handle, offset) */
	DP_EX_LOG_OVERFLOW = 0x1000, /* (logmax) */
	DP_EX_RPN_STACK_WRAP = 0x2000,
	DP_EX_USER = 0x8000,
};

/* Exceptions that are raised by default. Where a mask leaves one of them out, it ends the program
 * at once; others that are left out are ignored. */
#define DP_EX_MASK 0x0fff

enum dp_vm_operand_class {
	DP_VM_OPERAND_LV = 1,
	DP_VM_OPERAND_GV = 2,
	DP_VM_OPERAND_BIT = 3,
	DP_VM_OPERAND_FACILITY = 4,
	DP_VM_OPERAND_REG = 5,
	DP_VM_OPERAND_LP = 6, /* of the log, or of the stack traces */
	DP_VM_OPERAND_PORT = 7,
	DP_VM_OPERAND_CALL = 8,
};

/**
 * enum dp_vm_like - tokens of a pattern; all other bytes mean themselves
 * @DP_LIKE_OF, @DP_LIKE_NONE_OF: a number of ranges follows, then first and last byte of each
 *
 * ( pattern… address most -- truth ): the pattern's first eight bytes are uppermost, its length is
 * in the operand. The string ends at a byte of 0, or after @most bytes: with DP_LIKE_ENDS. Where
 * the end is not known and decides, it is an invalid address.
 */
enum dp_vm_like {
	DP_LIKE_ITSELF = 1, /* the next byte means itself */
	DP_LIKE_MANY,
	DP_LIKE_ANY,
	DP_LIKE_OF,
	DP_LIKE_NONE_OF,
};
#define DP_LIKE_LENGTH 0xff
#define DP_LIKE_ENDS 0x100
#define DP_LIKE_MOST 1024

/** enum dp_vm_item - tokens of the items in a log */
enum dp_vm_item {
	DP_ITEM_RANGE = 0,
	DP_ITEM_STRING = 1,
	DP_ITEM_FRAMES = 3, /* these two and variables: in stack traces */
	DP_ITEM_STACK = 4,
	DP_ITEM_LV = 5,
	DP_ITEM_GV = 6,
	DP_ITEM_ELEMENTS = 7,
	DP_ITEM_SEG_FAULT = 0xfe,
	DP_ITEM_FAULT = 0xff,
};
#define DP_ITEM_PREFIX 3 /* token, u16 length */

/** enum dp_vm_end - how a run ended */
enum dp_vm_end {
	DP_VM_RUNS,
	DP_VM_EXIT,
	DP_VM_ABORT,
	DP_VM_REMOVE,
	DP_VM_SUSPEND,
	DP_VM_EXCEPTION,
	DP_VM_LEAVE, /* the function is not executed */
};

/* Slots of a table of turns that are looked at for a key */
#define DP_VM_TURNS 64

/** enum dp_vm_range - what a frame shows in stack traces, in their order */
enum dp_vm_range {
	DP_RANGE_STACK,
	DP_RANGE_LV,
	DP_RANGE_GV,
	DP_RANGES,
};

struct dp_vm_frame {
	u32 sbp;
	u32 back; /* where the caller goes on */
	u32 handler; /* DP_VM_NO_HANDLER: none */
	u32 called;
	struct {
		u16 first, n;
	} shown[DP_RANGES];
};

/**
 * struct dp_vm_globals - global variables that programs allocate while they run
 * @state: of each: 0 it is free; 1 to DP_VM_GLOBALS a block of so many begins; or DP_GLOBAL_INSIDE
 */
struct dp_vm_globals {
	u16 state[DP_VM_GLOBALS];
	u64 value[DP_VM_GLOBALS];
};
#define DP_GLOBAL_INSIDE 0xffff

/** The most arguments of an external function */
#define DP_VM_ARGUMENTS 6

/**
 * struct dp_vm_call - a call of an external function, by call_kmod
 * @number: of the function; @nr: of arguments, which are @args, the first one first
 * @value: that it returns
 *
 * Without @make only @nr is asked for. Return: false: there is no such function, or it cannot be
 * called.
 */
struct dp_vm_call {
	u64 number, args[DP_VM_ARGUMENTS], value;
	u32 nr;
};

/* Tables in which hits are kept: an instruction's operand says which one, how many words a hit has,
 * or that it is lost. Words of a text among them, at most */
#define DP_VM_AGGREGATES 64
#define DP_AGGREGATE_TABLE 0xff
#define DP_AGGREGATE_SHIFT 8
#define DP_AGGREGATE_COUNT_MASK 0x7f
#define DP_AGGREGATE_LOSES 0x8000
#define DP_VM_TEXT_WORDS 8

/**
 * struct dp_vm - one machine: its program, the results, and its internals
 * @code: verified
 * @lv, @gv: variables, shared with other machines; @nr_lv, @nr_gv how many
 * @globals: those that are allocated, shared too; NULL: none can be
 * @stack_mask: elements of the stack, less one
 * @regs: of the probed thread; general registers may be changed
 * @tid: of the thread, in its own namespace
 * @told: what DP_OPCODE_PUSH_TOLD pushes: ticks that the call which returns has taken; of watched
 *         data the value last seen
 * @fpstate: address of the thread's saved vector registers; 0: they are in place
 * @safe_low, @safe_high: memory known to be readable
 * @external: calls a function outside: see struct dp_vm_call; or NULL
 * @aggregate: keeps a hit in a table: words from *@first downwards; @first NULL: it is lost there
 * @backtrace: the number of the thread's stack, 0: it has none
 * @entered: what has been logged at the entry of the call that returns, @entered_len bytes
 * @resume: reactivates the probe of this program with a minor code, or NULL
 * @major, @minor: of the record; set before the run
 * @log: room for @logmax bytes, of which @lp are used
 * @traces: room for @tracemax bytes, of which @stp are used
 * @heap: room for @heapmax bytes, with blocks up to @heap_used
 * @ex_mask: exceptions that are raised; @auto_trace: each leaves a stack trace
 * @exception, @parm: the last exception; @pending: its item is in the log
 * @used: elements that are on the stack; @wrapped: there were too many, or too few
 * @low: lowest element written; all below it and, between runs, all are zero
 *
 * Everything from @stack on is zero between runs.
 */
struct dp_vm {
	const u8 *code;
	u64 *lv, *gv;
	struct dp_vm_globals *globals;
	u8 *log, *traces, *heap;
	u32 nr_lv, nr_gv;
	u32 stack_mask, jmpmax, logmax, tracemax, heapmax;
	u16 ex_mask;
	bool auto_trace;
	u32 pc;
	struct dp_regs *regs;
	u64 told, fpstate;
	u64 safe_low, safe_high;
	void (*resume)(struct dp_vm *vm, u16 minor);
	bool (*external)(struct dp_vm *vm, struct dp_vm_call *call, bool make);
	void (*aggregate)(u32 table, const u64 *first);
	u32 (*backtrace)(struct dp_regs *regs);
	const u8 *entered;
	u32 entered_len;
	u32 probe, tid;

	u16 major, minor;
	u8 end, facility;
	bool truncated, pending, raised, wrapped;
	u8 taken; /* DP_RECORD_TAKEN, DP_RECORD_MISSED, or 0; see engine/hit/facility.c */
	u32 lp, plp, stp, heap_used;
	u16 exception;
	u64 parm[2];

	u32 tos, sbp, low, used;
	u32 depth, jumps, budget;
	struct dp_vm_frame frames[DP_VM_FRAMES];
	u64 stack[DP_VM_STACK];
};

/**
 * dp_vm_run() - run the program of @vm from @vm->pc
 *
 * Context: hit half; general registers only; async-signal-safe. Its only system calls are
 * those of memory accesses and of instructions such as `push pid`.
 */
void dp_vm_run(struct dp_vm *vm);

/** struct dp_vm_limits - limits for a program's operands
 *  @allow: enum dp_vm_allow, of what it may do
 *  @aggregate_words: words of a hit, of each of DP_VM_AGGREGATES tables; 0xff: there is none. NULL:
 *  there is no table */
struct dp_vm_limits {
	u32 nr_lv, nr_gv;
	u32 allow;
	const u8 *aggregate_words;
};

/**
 * dp_vm_verify() - verify a program
 * @code: of all probes of the program
 * @starts: @n offsets where handlers begin
 * @offset: on failure, where
 * @why: on failure, a static phrase
 *
 * Refuses code that could leave the program or its variables: unknown and unavailable
 * instructions, what it may not do, operands cut off, jumps that do not meet an instruction,
 * bad registers and variables, execution off the end.
 *
 * Context: control half, may sleep. Return: 0; -EINVAL; -ENOMEM.
 */
int dp_vm_verify(const u8 *code, u32 len, const struct dp_vm_limits *limits,
		 const u32 *starts, u32 n, u32 *offset, const char **why);

#endif
