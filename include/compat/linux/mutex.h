/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mutexes and semaphores: those who wait sleep. Not for handlers. */
#ifndef DP_LINUX_MUTEX_H
#define DP_LINUX_MUTEX_H

#include <linux/types.h>
#include <linux/compiler.h>

/* 0 free, 1 taken, 2 taken and somebody waits. */
struct mutex {
	int state;
};

#define DEFINE_MUTEX(name) struct mutex name = { 0 }
#define __MUTEX_INITIALIZER(name) { 0 }
void mutex_lock(struct mutex *lock) DP_COMPAT(mutex_lock);
int mutex_trylock(struct mutex *lock) DP_COMPAT(mutex_trylock);
void mutex_unlock(struct mutex *lock) DP_COMPAT(mutex_unlock);
#define mutex_init(lock) ((void)(*(lock) = (struct mutex){ 0 }))
#define mutex_destroy(lock) ((void)(lock))
#define mutex_is_locked(lock) (READ_ONCE((lock)->state) != 0)
#define mutex_lock_interruptible(lock) (mutex_lock(lock), 0)
#define mutex_lock_killable(lock) (mutex_lock(lock), 0)
#define mutex_lock_nested(lock, subclass) mutex_lock(lock)

#endif
