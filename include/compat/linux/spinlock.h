/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spin locks and read-write locks. */
#ifndef DP_LINUX_SPINLOCK_H
#define DP_LINUX_SPINLOCK_H

#include <linux/types.h>
#include <linux/preempt.h>
#include <linux/compiler.h>

/*
 * A handler that interrupts the holder of a lock in its own thread and takes it,
 * too, waits for ever, as in the kernel. Handlers do not interrupt handlers.
 */
typedef struct spinlock {
	int locked;
} spinlock_t;
typedef spinlock_t raw_spinlock_t;
/* The number of readers; -1: a writer. */
typedef struct {
	int count;
} rwlock_t;

#define __SPIN_LOCK_UNLOCKED(name) { 0 }
#define SPIN_LOCK_UNLOCKED { 0 }
#define __RW_LOCK_UNLOCKED(name) { 0 }
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name = { 0 }
#define DEFINE_RWLOCK(name) rwlock_t name = { 0 }

void spin_lock(spinlock_t *lock) DP_COMPAT(spin_lock);
int spin_trylock(spinlock_t *lock) DP_COMPAT(spin_trylock);
void spin_unlock(spinlock_t *lock) DP_COMPAT(spin_unlock);
void read_lock(rwlock_t *lock) DP_COMPAT(read_lock);
void read_unlock(rwlock_t *lock) DP_COMPAT(read_unlock);
void write_lock(rwlock_t *lock) DP_COMPAT(write_lock);
void write_unlock(rwlock_t *lock) DP_COMPAT(write_unlock);

#define spin_lock_init(lock) ((void)(*(lock) = (spinlock_t){ 0 }))
#define rwlock_init(lock) ((void)(*(lock) = (rwlock_t){ 0 }))
#define spin_is_locked(lock) (READ_ONCE((lock)->locked) != 0)
#define assert_spin_locked(lock) ((void)(lock))
#define lockdep_assert_held(lock) ((void)(lock))
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_lock_nested(lock, subclass) spin_lock(lock)
#define spin_lock_irqsave(lock, flags) \
	do {                           \
		(flags) = 0;           \
		spin_lock(lock);       \
	} while (0)
#define spin_unlock_irqrestore(lock, flags) \
	do {                                \
		(void)(flags);              \
		spin_unlock(lock);          \
	} while (0)
#define spin_trylock_irqsave(lock, flags) ((flags) = 0, spin_trylock(lock))
#define read_lock_irqsave(lock, flags) \
	do {                           \
		(flags) = 0;           \
		read_lock(lock);       \
	} while (0)
#define read_unlock_irqrestore(lock, flags) \
	do {                                \
		(void)(flags);              \
		read_unlock(lock);          \
	} while (0)
#define write_lock_irqsave(lock, flags) \
	do {                            \
		(flags) = 0;            \
		write_lock(lock);       \
	} while (0)
#define write_unlock_irqrestore(lock, flags) \
	do {                                 \
		(void)(flags);               \
		write_unlock(lock);          \
	} while (0)
#define read_lock_bh read_lock
#define read_unlock_bh read_unlock
#define write_lock_bh write_lock
#define write_unlock_bh write_unlock
#define raw_spin_lock spin_lock
#define raw_spin_unlock spin_unlock
#define raw_spin_trylock spin_trylock
#define raw_spin_lock_init spin_lock_init
#define raw_spin_lock_irqsave spin_lock_irqsave
#define raw_spin_unlock_irqrestore spin_unlock_irqrestore
#define cpu_relax() __builtin_ia32_pause()

#endif
