/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * safe: may an instruction of the kernel be probed?
 *
 * Much of a kernel's text belongs to others, who rewrite it or know it by its address, and some of it
 * runs on the way to our own code.
 */
#ifndef DP_KMOD_SAFE_H
#define DP_KMOD_SAFE_H

#include "port_types.h"

/**
 * struct dp_function - the function around an instruction
 * @start, @size: as the kernel's symbols have it
 * @room: bytes from the instruction on that a jump may displace
 * @module: whose it is, or NULL: the kernel's own
 */
struct cred;
struct module;
struct dp_engine;
struct dp_function {
	u64 start, size;
	u32 room;
	struct module *module;
};

/** dp_safe_begin() - find what the kernel does not export, by its kallsyms_lookup_name() at @lookup
 *  Return: 0; -ENOENT: that is another function, or something has another name in this kernel */
int dp_safe_begin(u64 lookup);

/** dp_safe_symbol() - address of a symbol of the kernel, or 0 */
u64 dp_safe_symbol(const char *name);
/** dp_safe_trampoline() - where functions return to whose return addresses are in lists of the kernel's. Return: 0: it has none */
u64 dp_safe_trampoline(void);

/**
 * dp_safe_probe() - may the instruction at *@addr be probed?
 * @engine: whose patches are not the kernel's bytes
 * @addr: at a function's entry it is moved behind what the kernel keeps there for itself
 * @why: on failure, a static phrase
 *
 * Context: task. Return: 0, and @function->module has one more user, for module_put(); -ENOENT no function is there; -EILSEQ no instruction begins there;
 * -EINVAL it may not be.
 */
int dp_safe_probe(const struct dp_engine *engine, u64 *addr,
		  struct dp_function *function, const char **why);

/** dp_safe_shows() - may somebody see the kernel's addresses, as /proc/kallsyms decides? */
bool dp_safe_shows(const struct cred *cred);
/** dp_safe_range() - the @i-th range in which no probe may be, besides what the kernel says.
 *  @start == @end: this kernel has not that one. Return: false: no more */
bool dp_safe_range(u32 i, u64 *start, u64 *end);
/** dp_safe_each() - the ranges that the kernel forbids to its own probes. Context: may sleep */
void dp_safe_each(void (*tell)(void *arg, u64 start, u64 end), void *arg);
/** dp_safe_is_loaded() - is there a module of that name, whose code can be called or is about to be? */
bool dp_safe_is_loaded(const char *name);

/** dp_safe_is_inside() - is it in a function, but neither where that begins nor where a probe on its entry is? */
bool dp_safe_is_inside(u64 addr);

/** dp_safe_kprobe() - is one of the kernel's own probes at one of @len bytes? Context: task */
bool dp_safe_kprobe(u64 addr, u32 len);
/** dp_safe_kprobe_writes() - will one of these write what it has found there? Not if its module is going */
bool dp_safe_kprobe_writes(u64 addr, u32 len);
/** dp_safe_kprobe_before() - is one so near in front of an instruction that the kernel may make it a jump over that? It looks
 *  at the bytes when its probe is registered, not when it writes the jump. Context: task */
bool dp_safe_kprobe_before(u64 addr);

/** dp_safe_hold() - keep those out who write text, too: ftrace, jump labels, static calls, other probes;
 *  dp_safe_release() - no more */
void dp_safe_hold(void);
void dp_safe_release(void);

/** dp_safe_stop() - stop_machine(), while they are kept out */
int dp_safe_stop(int (*fn)(void *arg), void *arg);

#endif
