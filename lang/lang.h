/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lang: probe programs, from text to an image and back.
 *
 * The language is that of IBM's Dynamic Probes: a header of KEY = VALUE lines,
 * then probes, each with keywords and the instructions of its handler. An image
 * holds the code of a file in one array; each probe has a part of it.
 *
 * Context of every function: tool process, may allocate, thread-safe on
 * different objects. Nothing is printed.
 */
#ifndef DP_LANG_H
#define DP_LANG_H

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <dprobes/diag.h>
#include "port_types.h"

/** enum dp_modtype - what kind of module a program probes; DProbes' values */
enum dp_modtype {
	DP_MODTYPE_USER = 1,
	DP_MODTYPE_KERNEL = 2,
	DP_MODTYPE_KMOD = 4,
};

#define DP_VARS_MAX 256
#define DP_LOG_MAX 65536
#define DP_LOG_DEFAULT 1024
#define DP_EX_LOG_MAX 1024
#define DP_HEAP_MAX 16384
#define DP_EX_MASK_DEFAULT 0x0fff
#define DP_JMP_MAX 65535
#define DP_CODE_MAX 65535
#define DP_MAXHITS_DEFAULT 0x7fffffffu
#define DP_STACK_DEFAULT 1024
#define DP_STACK_SMALL 32
#define DP_LANG_BYTES 16
#define DP_LANG_ID 64

/** enum dp_lang_watch - on what a watchpoint probe fires */
enum dp_lang_watch {
	DP_LANG_WATCH_NONE, /* it is no watchpoint: its place is an instruction */
	DP_LANG_WATCH_WRITE, /* w */
	DP_LANG_WATCH_ACCESS, /* rw */
	DP_LANG_WATCH_EXECUTE, /* x: as a probe of that instruction */
};

/** struct dp_source_place - a place in the text */
struct dp_source_place {
	u32 line; /* from 1 */
	u32 column, span; /* bytes, column from 0 */
};

/** struct dp_lang_exit - an instruction by which a function is left: @offset, @addr: in the module's file; @opcode: its
 *  first byte; @onward: it jumps to another function */
struct dp_lang_exit {
	u64 offset, addr;
	u8 opcode;
	bool onward;
};

/**
 * struct dp_lang_point - one probe of a file
 * @symbol: name in "offset = name + 4", or NULL for a plain number; @line: it is FILE:LINE;
 *          @usdt: it is PROVIDER:NAME of a tracepoint; @hook: it is the name of a hook
 * @value: the number, or what is added to the symbol
 * @absolute: "address =" rather than "offset ="
 * @opcode: expected first byte, -1 if the file does not say
 * @heap: bytes that it may allocate at a hit; @ex_mask: exceptions that are raised
 * @retprobe: its handler runs when the function returns
 * @watch: enum dp_lang_watch; @len: bytes that are watched, 0: those of the symbol; @watch_at,
 *         @len_at: their values in the text
 * @passcount: hits to let pass; @maxhits: executions after which the probe is disabled
 * @label: its name, of a point that is placed; @bytes: @nr_bytes that are expected there; @addr: as in the module's
 *         file, 0: that offset is none of its code
 * @exits: with @retprobe, of a point that is placed for all processes: @nr_exits, the first of which returns
 * @start, @end: its code is [start, end) of the image's
 * @at: place of the value of offset or address, for diagnostics; @opcode_at: of opcode
 */
struct dp_lang_point {
	char *symbol;
	s64 value;
	bool absolute;
	s32 opcode;
	u16 major, minor;
	u32 passcount, maxhits;
	u16 group, type;
	bool line, usdt, hook, logonfault, retprobe;
	u8 watch, len;
	u32 heap, ex_mask;
	char *label;
	u8 bytes[DP_LANG_BYTES], nr_bytes;
	u64 addr;
	struct dp_lang_exit *exits;
	size_t nr_exits;
	u32 start, end;
	struct dp_source_place at, opcode_at, watch_at, len_at;
};

/** dp_lang_is_data() - is data watched there? What is watched for its execution is an instruction, and a probe there
 *  needs no register. */
static inline bool dp_lang_is_data(const struct dp_lang_point *pt)
{
	return pt->watch == DP_LANG_WATCH_WRITE ||
	       pt->watch == DP_LANG_WATCH_ACCESS;
}

/**
 * struct dp_lang_symbol - a literal that is an address
 * @code: offset in the code of the literal, which has what is added to the address
 * @placed: it is known where it is in its module: @addr, as in the module's file
 */
struct dp_lang_symbol {
	char *name;
	u32 code;
	bool placed;
	u64 addr;
	struct dp_source_place at;
};

/**
 * struct dp_lang_value - a value of the probed program, as specs have it: push v,"len + 1"
 * @code: offset of the distance of a call, of what computes it
 * @point: index of the probe in whose code it stands
 */
struct dp_lang_value {
	char *text;
	u32 code;
	u32 point;
	struct dp_source_place at;
};

/**
 * struct dp_lang_filter - in which processes a program runs; NULL and -1: in any
 * @comm, @cgroup: patterns for the name of the process and the path of its group
 * @user: name or number; @pid: as the tool sees it
 */
struct dp_lang_filter {
	s64 pid;
	char *comm, *cgroup, *user;
};

/**
 * struct dp_lang_program - one file, assembled
 * @file: name for messages
 * @text: the source text, to show places in it
 * @name: of the module, without quotes
 * @word: bytes of an element: 8, or 4 for images as DProbes made on the i386
 * @ex_logmax: bytes of stack traces; @heapmax: bytes of a probe's heap
 * @allow: enum dp_vm_allow; @allow_at: its value in the text
 * @autostacktrace: each exception leaves a stack trace
 * @traces, @heaps: some instruction makes stack traces, or uses the heap
 * @calls: some instruction calls a function of the process, the first one at @calls_at
 * @symbols: @nr_symbols literals to be filled in; @values: @nr_values calls to be led to code
 * @build: the build-id, of @build_len bytes, of the module that is meant; 0: any; @build_at: where it stands in the text
 * @stack: elements of the RPN stack, DP_STACK_DEFAULT or DP_STACK_SMALL
 * @seen: of a program for all processes, what fstat(2) told of its file when that was read
 */
struct dp_lang_program {
	char *file;
	char *text;
	char *name;
	struct dp_source_place name_at;
	enum dp_modtype modtype;
	u16 major;
	u16 id;
	u32 jmpmax, logmax, vars, gvars, stack;
	u32 ex_logmax, heapmax, allow;
	struct dp_source_place allow_at;
	bool autostacktrace, traces, heaps, calls;
	struct dp_source_place calls_at;
	u8 word;
	u8 build[DP_LANG_ID];
	u32 build_len;
	struct dp_source_place build_at;
	struct stat seen;
	struct dp_lang_filter filter;
	struct dp_lang_symbol *symbols;
	size_t nr_symbols;
	struct dp_lang_value *values;
	size_t nr_values;
	struct dp_lang_point *points;
	size_t nr_points;
	u8 *code;
	u32 code_len;
};

/** struct dp_lang_define - "-D key=value" */
struct dp_lang_define {
	const char *key, *value;
};

/** struct dp_lang_sources - what a file's text may refer to; @includes: directories */
struct dp_lang_sources {
	const struct dp_lang_define *defines;
	size_t nr_defines;
	const char *const *includes;
	size_t nr_includes;
};

/**
 * dp_lang_preprocess() - put in values for %key%, and run the C preprocessor if a line begins with '#'
 * @file: where the text is from; what it includes in quotes is looked for beside it
 * @text: malloc()ed, @len bytes; replaced. It may have line markers, which dp_lang_assemble()
 *        understands.
 *
 * Runs a program, cc, gcc or clang. Ignores SIGPIPE meanwhile.
 * Return: 0; -EPERM the tool has more rights than its caller; -EINVAL the preprocessor complains; -EIO there is none; -ENOMEM; with words.
 */
int dp_lang_preprocess(const struct dp_lang_sources *from, const char *file,
		       char **text, size_t *len, struct dp_diag *diag);

/**
 * dp_lang_assemble() - make a program of its text
 * @file: name for messages
 * @text: @len bytes, need not end in NUL
 * @word: 8; 4 encodes literals and jumps as on the i386
 * @program: the result; free with dp_lang_free()
 * @line: on an error that has a place, a malloc()ed copy of that source line
 *        with tabs made spaces, to be shown over the caret of @diag; else NULL
 * @diag: "FILE:LINE:COLUMN: sentence", columns from 1
 *
 * Return: 0; -EINVAL the text is wrong; -EOPNOTSUPP it uses what is not supported
 * yet, which the words name; -ENOMEM.
 */
int dp_lang_assemble(const char *file, const char *text, size_t len, u8 word,
		     struct dp_lang_program **program, char **line,
		     struct dp_diag *diag);

/**
 * dp_lang_complain() - point at a place of an assembled program
 *
 * For errors that are found later: a symbol that does not exist, an opcode that does
 * not match. Sets @diag to "FILE:LINE:COLUMN: " and @fmt. Sets @line as
 * dp_lang_assemble() does. Return: @err.
 */
int dp_lang_complain(const struct dp_lang_program *program,
		     struct dp_source_place at, int err, char **line,
		     struct dp_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/**
 * dp_lang_disassemble() - write a program as text that assembles to the same image
 * @out: written only
 */
void dp_lang_disassemble(const struct dp_lang_program *program, FILE *out);

/**
 * dp_lang_write_ppdf() - write a program as a probe program definition file
 * @out: written only
 *
 * All its points and symbols are placed: offsets in the module's file, without symbols; and it has no
 * values. Return: 0; -EINVAL something is not placed; -EIO.
 */
int dp_lang_write_ppdf(const struct dp_lang_program *program, FILE *out);
/**
 * dp_lang_read_ppdf() - make a program of such a file
 * @file: name for messages; @bytes: @len of them, which may be anything
 *
 * The file is verified whole, but for what the instructions do, which the machine's verifier knows.
 * Return: 0; -EBADMSG it is damaged, or no such file; -EOPNOTSUPP of another version; -ENOMEM;
 * with words.
 */
int dp_lang_read_ppdf(const char *file, const void *bytes, size_t len,
		      struct dp_lang_program **program, struct dp_diag *diag);

/** dp_lang_free() - free a program; NULL is fine */
void dp_lang_free(struct dp_lang_program *program);

#endif
