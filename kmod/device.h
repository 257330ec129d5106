/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device: /dev/dprobes, by which programs of user space have probes: each open file is a client of its own.
 *
 *     open ──► OWNED ── close ──► ENDING ── all is out ──► freed
 *                │                   └─ others have written over a probe ─► STUCK ─► freed
 *                └── close, where nothing has begun ──► freed
 *
 * Numbers of probes and programs are the owner's here: what others have does not show. No probe's is given out twice.
 */
#ifndef DP_KMOD_DEVICE_H
#define DP_KMOD_DEVICE_H

#include "kmod/client.h"
#include "port_types.h"
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct dp_device_bind;
struct dp_device_program;
struct dp_device_rows;
struct dp_device_stack;
struct dp_device_table;
struct dp_device_variable;
struct dp_device_zero;

/** Owners at most; programs that each has in all its life */
#define DP_DEVICE_OWNERS 16
#define DP_DEVICE_PROGRAMS 64

/** struct dp_owned_program - what the owner has said of a program
 *  @number: the engine's; @gone: it is another's now
 *  @acts: it may ask the kernel for a debugger or a dump; @user: it is for probes on files;
 *  @vectors: it reads registers of the floating-point units there */
struct dp_owned_program {
	u32 number, variables, globals, heap;
	bool acts, user, vectors, gone;
};

/** enum dp_device_life - of an owner */
enum dp_device_life { DP_DEVICE_OWNED, DP_DEVICE_ENDING, DP_DEVICE_STUCK };

/**
 * struct dp_owner - what one who has the device open has done
 * @list, @life: with the lock of device.c; @finishing: ends it; @seeking: looks for records, for those in @came
 * @asking: held by a request, and by who reads records; above the engine's lock
 * @begun: there is a client; @committed: probes have been armed; @planned: have been planned, and none are added
 * @probes: how many there have been; @number: by probe, 1 + the engine's; 0: it has gone; @local: the other way round
 * @logs: it has what makes records; @filling: guards @records: @filled bytes of struct dp_device_record, of which @taken
 *        have been read; @lost: for which there was no room. Below the engine's lock
 * @bound: by probe, does it run a program? @returns: is it on returns? @files: is it on a file? @told: do records of
 *         its calls say how the program has ended? @fresh: it came since the last commit; @going: the next takes it away
 * @programs: how many, which are @program; @had: of these, at the last commit
 */
struct dp_owner {
	struct dp_client client;
	struct list_head list;
	enum dp_device_life life;
	struct delayed_work finishing, seeking;
	wait_queue_head_t came;
	struct mutex asking, filling;
	bool begun, committed, planned, logs;
	u32 probes, *number, *local, lost;
	u8 *records;
	size_t filled, taken;
	DECLARE_BITMAP(bound, DP_KMOD_PROBES);
	DECLARE_BITMAP(returns, DP_KMOD_PROBES);
	DECLARE_BITMAP(files, DP_KMOD_PROBES);
	DECLARE_BITMAP(told, DP_KMOD_PROBES);
	DECLARE_BITMAP(fresh, DP_KMOD_PROBES);
	DECLARE_BITMAP(going, DP_KMOD_PROBES);
	u32 programs, had;
	struct dp_owned_program program[DP_DEVICE_PROGRAMS];
};

/** dp_device_begin() - make the device. Return: 0 or a negative errno */
int dp_device_begin(void);
/** dp_device_end() - take it away. Nobody has it open, and no client is left. */
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
/** dp_device_refuse() - the same, on failure, for who has been answered "" beforehand. Return: @err */
int dp_device_refuse(int err, u64 user, u32 size, const char *why);

/** dp_device_owns() - has the owner a probe of that number, still? */
static inline bool dp_device_owns(const struct dp_owner *owner, u32 probe)
{
	return probe < owner->probes && owner->number[probe];
}

/** dp_device_number() - the engine's number of a probe that the owner has */
static inline u32 dp_device_number(const struct dp_owner *owner, u32 probe)
{
	return owner->number[probe] - 1;
}

/** dp_device_may_add() - is it the time for it? */
static inline bool dp_device_may_add(const struct dp_owner *owner)
{
	return owner->begun && !owner->planned;
}

/** dp_device_allowed() - what programs may do that ask for it: enum dp_device_allow */
u32 dp_device_allowed(void);

/** Requests, whose structs are copies: as dp_device_ask() */
int dp_device_program(struct dp_owner *owner, struct dp_device_program *want);
int dp_device_bind(struct dp_owner *owner, const struct dp_device_bind *want);
int dp_device_variable(const struct dp_owner *owner,
		       struct dp_device_variable *want);
int dp_device_zero(struct dp_owner *owner, const struct dp_device_zero *want);
/** dp_device_programs_left() - after a commit, or if that is undone: which are still there? */
void dp_device_programs_left(struct dp_owner *owner, bool undone);
int dp_device_table(struct dp_owner *owner, struct dp_device_table *want);
int dp_device_rows(const struct dp_owner *owner, struct dp_device_rows *want);
int dp_device_stack(const struct dp_owner *owner, struct dp_device_stack *want);

/** dp_device_room() - let there be room for records. Return: 0; -ENOMEM */
int dp_device_room(struct dp_owner *owner);
/** dp_device_take() - a record of the client's; for struct dp_client */
void dp_device_take(void *owner, const struct dp_record_copy *record);
/** dp_device_look() - are there records? */
bool dp_device_look(struct dp_owner *owner);
/** dp_device_read() - those that there are: whole ones. Return: bytes; 0: none; -EINVAL: there is no room for one; -EFAULT;
 *  -ENOMEM */
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
