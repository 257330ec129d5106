/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* user_init: code of the guest's first program that is probed in all processes at once. */
#ifndef DP_KERNEL_USER_INIT_H
#define DP_KERNEL_USER_INIT_H

#define DP_USER_FILE "/init"

/** dp_user_step() - Return: @n + 1. "nop", and behind it "lea", which the kernel executes out of line
 *  @text, @to: for programs that read and write */
unsigned long dp_user_step(unsigned long n, const char *text,
			   unsigned long *to);
/** dp_user_near() - Return: its address, which it computes from where it is executed */
unsigned long dp_user_near(void);
extern const char dp_user_lea[], dp_user_breakpoint[], dp_user_locked[],
	dp_user_invalid[];

/* In a process that makes steps: its id, and the number */
extern unsigned long dp_user_words[2];
#define DP_USER_WORD 77

/** dp_user_can() - has the kernel uprobes? While the device is free */
int dp_user_can(void);
/** dp_user_offset() - where code of this program is in its file */
unsigned long dp_user_offset(const void *code);
/** dp_user_add() - a probe on code of this program. Return: 0 or a negative errno */
int dp_user_add(int fd, const void *code, unsigned int *probe);
int dp_user_add_file(int fd, const char *path, unsigned long offset,
		     unsigned int *probe);
/** dp_user_byte() - what is there in a process that maps the file now
 *  dp_user_tool() - dprobes(1) */
int dp_user_byte(const void *code);
void dp_user_tool(void);
/** dp_user_hits() - of a probe; ~0: that is not known */
unsigned long long dp_user_hits(int fd, unsigned int probe);
/** dp_user_races() - files that change while the tool looks at them */
void dp_user_races(void);
/** dp_user_others() - an overlay's files, and 32 bits */
void dp_user_others(void);
/** dp_user_modules() - handlers of a module
 *  dp_user_load_handlers() - one that may sleep at dp_user_step(), before what is there already */
void dp_user_modules(void);
int dp_user_load_handlers(void);
void dp_user_unload_handlers(void);
/** dp_user_programs() - programs at such probes */
void dp_user_programs(void);
/** dp_user_steps() - call dp_user_step() so often, and end: for a process of its own. Return: exit status */
int dp_user_steps(int n);
/** dp_user_run() - a process that executes this program does so. Return: its id */
int dp_user_run(int n);
int dp_user_ended(int pid);
/** dp_user_copy() - this program in another file, also of one that is open
 *  dp_user_execute() - such a file, with up to two arguments. Return: its exit status; 127: it cannot be; 128 and a signal */
int dp_user_copy(const char *path);
int dp_user_copy_to(int to);
int dp_user_execute(const char *path, const char *first, const char *second);

#endif
