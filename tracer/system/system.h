/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* system: the parts of the source whose probes are in the kernel. */
#ifndef DP_TRACER_SYSTEM_SYSTEM_H
#define DP_TRACER_SYSTEM_SYSTEM_H

#include "port_types.h"
#include <dprobes/device.h>
#include <sys/types.h>

struct dp_diag;
struct dp_spec;

/* symbols: what /proc/kallsyms has. */

/**
 * struct dp_system_function - a function of the kernel, or of a module of it
 * @addr: 0: the kernel does not show it
 * @module: "": it is the kernel's own
 */
struct dp_system_function {
	u64 addr;
	char *name, *module;
};

struct dp_system_functions {
	struct dp_system_function *v;
	size_t n, cap;
};

/**
 * struct dp_system_symbols - what /proc/kallsyms had when it was first looked at
 * @v: @n functions and variables, in its order, whose names are in @text; @sorted: their numbers, by name
 * @ascending: numbers of the @nr_functions functions, by address; NULL: nobody has asked
 */
struct dp_system_symbols {
	char *text;
	struct dp_system_symbol *v;
	u32 *sorted, *ascending, n, nr_functions;
};

/**
 * dp_system_find() - functions whose name is @pattern
 * @symbols: zeros at first; for dp_system_symbols_free()
 * @pattern: NAME or MODULE:NAME, also globs. MODULE DP_SYSTEM_IMAGE: the kernel's own
 * Return: 0, also if there is none; -ENOMEM; the errno of reading, with words.
 */
int dp_system_find(struct dp_system_symbols *symbols, const char *pattern,
		   struct dp_system_functions *found, struct dp_diag *diag);
/** dp_system_find_any() - the same of what is a function or a variable */
int dp_system_find_any(struct dp_system_symbols *symbols, const char *pattern,
		       struct dp_system_functions *found, struct dp_diag *diag);
/** struct dp_system_place - @offset of a function; @module: "": it is the kernel's own */
struct dp_system_place {
	const char *name, *module;
	u64 offset;
};
/** dp_system_symbol_at() - the function that an address is in. Return: false: it is not known */
bool dp_system_symbol_at(struct dp_system_symbols *symbols, u64 addr,
			 struct dp_system_place *place);
void dp_system_symbols_free(struct dp_system_symbols *symbols);
void dp_system_functions_free(struct dp_system_functions *functions);

/* device: /dev/dprobes. */

/**
 * struct dp_system_device - the device, once it has been opened
 * @counts: what it has told of probes, from @first on, @nr of them. Each is believed once, in
 *          the order of numbers: from @next on
 */
struct dp_system_device {
	int fd;
	struct dp_device_info info;
	struct dp_device_count counts[64];
	u32 first, nr, next;
};

/** dp_system_device_open() - have the device, and a session. @most: of struct dp_device_begin
 *  Return: 0; a negative errno with words. */
int dp_system_device_open(struct dp_system_device *d, u32 most,
			  struct dp_diag *diag);
/** dp_system_device_calls() - of a probe on returns; zeros if it cannot be told */
struct dp_device_calls dp_system_device_calls(const struct dp_system_device *d,
					      u32 probe);

/** struct dp_system_added - a probe that the device has
 *  @addr: in: of the function, out: of the instruction; 0: it is not shown
 *  @opcode: the first byte of the instruction */
struct dp_system_added {
	u64 addr;
	u32 probe;
	u8 opcode;
};

/**
 * dp_system_device_add() - a probe on a function
 * @flags: see struct dp_device_add; @words: DP_DEVICE_WORDS bytes: why not
 * Return: 0; a negative errno.
 */
int dp_system_device_add(const struct dp_system_device *d, const char *name,
			 u32 flags, struct dp_system_added *added, char *words);
/** dp_system_device_watch() - a probe on data. @words: as above. Return: 0; a negative errno */
int dp_system_device_watch(const struct dp_system_device *d,
			   const struct dp_spec *spec, u64 addr, u32 *probe,
			   char *words);
/** dp_system_device_file() - a probe at an offset of an open file, in all processes; as dp_system_device_add() */
int dp_system_device_file(const struct dp_system_device *d, int fd, u64 offset,
			  struct dp_system_added *added, char *words);
/** dp_system_device_also() - the probe of @added is there, too; @flags: besides DP_DEVICE_ALSO */
int dp_system_device_also(const struct dp_system_device *d, int fd, u64 offset,
			  u32 flags, struct dp_system_added *added,
			  char *words);
/** dp_system_device_commit() - @flags: see struct dp_device_commit. @bad: the address concerned, or 0 */
int dp_system_device_commit(const struct dp_system_device *d, u32 flags,
			    u64 *bad);
struct dp_program_spec;
/** dp_system_device_program() - @user: for probes on files; @offset, @words: DP_DEVICE_WORDS bytes: where it is refused, and why
 *  Return: 0; a negative errno */
int dp_system_device_program(const struct dp_system_device *d,
			     const struct dp_program_spec *spec, bool user,
			     u32 *program, u32 *offset, char *words);
struct dp_binding;
int dp_system_device_bind(const struct dp_system_device *d, u32 probe,
			  const struct dp_binding *binding);
/** dp_system_device_read() - whole records, as many as are there and as @size bytes hold. Return: bytes, or 0 */
size_t dp_system_device_read(const struct dp_system_device *d, void *to,
			     size_t size);
u64 dp_system_device_variable(const struct dp_system_device *d, u32 program,
			      u32 index);
/** dp_system_device_zero() - variables become 0. Return: 0; a negative errno */
int dp_system_device_zero(const struct dp_system_device *d, u32 program,
			  u32 first, u32 n);
/** dp_system_device_remove() - the next commit takes a probe away. Return: 0; -EINVAL there is none */
int dp_system_device_remove(const struct dp_system_device *d, u32 probe);
/** dp_system_device_stack() - a stack by its number. Return: 0; a negative errno */
int dp_system_device_stack(const struct dp_system_device *d,
			   struct dp_device_stack *stack);
/** dp_system_device_table() - add a table; dp_system_device_rows() - rows of one. Return: 0; a negative errno */
int dp_system_device_table(const struct dp_system_device *d,
			   struct dp_device_table *want);
int dp_system_device_rows(const struct dp_system_device *d,
			  struct dp_device_rows *want);
int dp_system_device_turn(const struct dp_system_device *d, u32 probe, bool on);
/** dp_system_device_count() - of a probe; dp_system_device_renew() - what has been told is old */
const struct dp_device_count *dp_system_device_count(struct dp_system_device *d,
						     u32 probe);
void dp_system_device_renew(struct dp_system_device *d);
/** dp_system_device_sum() - what is told of all probes: all but @first and @nr */
struct dp_device_counts dp_system_device_sum(const struct dp_system_device *d);
void dp_system_device_close(struct dp_system_device *d);

/* command: a program that runs while the kernel is probed. */

/**
 * struct dp_system_command - @pid: 0: there is none, or no more
 * @watch: a descriptor that can be read when it has ended; @start: it waits for a byte from there
 * @ended, @status: as wait(2) has it
 */
struct dp_system_command {
	pid_t pid;
	int watch, start, status;
	bool ended;
};

/** dp_system_command_open() - make the process, which waits. Return: 0; a negative errno with words:
 *  -ENOENT, -EACCES no such program */
int dp_system_command_open(struct dp_system_command *c, char *const *argv,
			   struct dp_diag *diag);
/** dp_system_command_go() - let it execute its program */
void dp_system_command_go(struct dp_system_command *c);
/** dp_system_command_wait() - until it has ended, @ms at most, or a signal's handler has run. Without a
 *  command, as long. Return: has it ended? */
bool dp_system_command_wait(struct dp_system_command *c, int ms);
/** dp_system_command_close() - end it, if it still waits */
void dp_system_command_close(struct dp_system_command *c);

#endif
