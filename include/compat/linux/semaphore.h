/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Semaphores that are used as mutexes. */
#ifndef DP_LINUX_SEMAPHORE_H
#define DP_LINUX_SEMAPHORE_H

#include <linux/mutex.h>

#define semaphore mutex
#define DEFINE_SEMAPHORE(name, ...) DEFINE_MUTEX(name)
#define sema_init(sem, n) mutex_init(sem)
#define down(sem) mutex_lock(sem)
#define down_interruptible(sem) (mutex_lock(sem), 0)
#define down_trylock(sem) (!mutex_trylock(sem))
#define up(sem) mutex_unlock(sem)

#endif
