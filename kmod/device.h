/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device: /dev/dprobes, by which a program of user space has the session.
 *
 *     FREE ── open ──► OWNED ── close ──► ENDING ── all is out ──► FREE
 *                        │                   └─ others have written over a probe ─► STUCK ─► FREE
 *                        └── close, where nothing has begun ──► FREE
 */
#ifndef DP_KMOD_DEVICE_H
#define DP_KMOD_DEVICE_H

#include "kmod/session.h"
#include "port_types.h"
#include <linux/bitops.h>
#include <linux/types.h>

struct dp_device_bind;
struct dp_device_program;
struct dp_device_variable;

/** struct dp_owned_program - what the owner has said of a program
 *  @acts: it may ask the kernel for a debugger or a dump; @user: it is for probes on files;
 *  @vectors: it reads registers of the floating-point units there */
struct dp_owned_program {
	u32 variables, heap;
	bool acts, user, vectors;
};

/**
 * struct dp_owner - what the one who has the device has done
 * @shows: it may see the kernel's addresses
 * @begun: there is a session; @committed: probes have been armed, and none are added any more
 * @probes: how many; @at: by probe, address of its instruction
 * @records: @filled bytes of struct dp_device_record, of which @taken have been read; @lost: for which
 *           there was no room
 * @owned: by probe, has the owner added it? @bound: does it run a program? @returns: is it on returns?
 *         @files: is it on a file? @told: do records of its calls say how the program has ended?
 * @programs: how many, which are @program; @globals: variables that all of them have
 */
struct dp_owner {
	bool shows, begun, committed;
	u32 probes;
	u64 *at, lost;
	u8 *records;
	size_t filled, taken;
	DECLARE_BITMAP(owned, DP_KMOD_PROBES);
	DECLARE_BITMAP(bound, DP_KMOD_PROBES);
	DECLARE_BITMAP(returns, DP_KMOD_PROBES);
	DECLARE_BITMAP(files, DP_KMOD_PROBES);
	DECLARE_BITMAP(told, DP_KMOD_PROBES);
	u32 programs, globals;
	struct dp_owned_program program[DP_KMOD_PROGRAMS];
};

/** dp_device_begin() - make the device. Return: 0 or a negative errno */
int dp_device_begin(void);
/** dp_device_end() - take it away. Nobody has it open, and there is no session. */
void dp_device_end(void);

/**
 * dp_device_ask() - do what an ioctl asks; @user: its argument
 * Context: task, may sleep; one at a time for an owner.
 * Return: 0; -ENOTTY no such request; -EFAULT; -EINVAL something reserved is set, or it is not the
 * time; as the session's functions.
 */
int dp_device_ask(struct dp_owner *owner, unsigned int request,
		  void __user *user);

/** dp_device_answer() - words for the user, of @size bytes, at most DP_DEVICE_WORDS; 0: none are
 *  wanted. Return: 0; -EFAULT */
int dp_device_answer(u64 user, u32 size, const char *words);

/** dp_device_owns() - is a probe one that the owner has added? Others have handlers. */
static inline bool dp_device_owns(const struct dp_owner *owner, u32 probe)
{
	return probe < DP_KMOD_PROBES && test_bit(probe, owner->owned);
}

/** dp_device_allowed() - what programs may do that ask for it: enum dp_device_allow */
u32 dp_device_allowed(void);

/** Requests, whose structs are copies: as dp_device_ask() */
int dp_device_program(struct dp_owner *owner, struct dp_device_program *want);
int dp_device_bind(struct dp_owner *owner, const struct dp_device_bind *want);
int dp_device_variable(const struct dp_owner *owner,
		       struct dp_device_variable *want);

/** dp_device_look() - are there records? Return: 1; 0; -ENOMEM */
int dp_device_look(struct dp_owner *owner);
/** dp_device_read() - those that dp_device_look() has found: whole ones. Return: bytes; -EINVAL: there
 *  is no room for one; -EFAULT */
ssize_t dp_device_read(struct dp_owner *owner, void __user *to, size_t size);

/**
 * dp_device_find() - address of "[MODULE:]FUNCTION[+OFFSET]"
 * @addr: in: of FUNCTION, or 0; out: with OFFSET
 * @start: of FUNCTION
 * @name: is written to
 * @why: on failure, a static phrase
 * Return: 0; -ENOENT; -EINVAL
 */
int dp_device_find(char *name, u64 *addr, u64 *start, const char **why);

/** dp_device_find_offset() - as dp_device_find(), of a function that is not there. Return: 0; -EINVAL */
int dp_device_find_offset(char *name, const char **why);

#endif
