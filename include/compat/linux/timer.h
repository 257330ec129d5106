/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers, which modules include for a type: of the functions there is none yet. */
#ifndef DP_LINUX_TIMER_H
#define DP_LINUX_TIMER_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>

struct timer_list {
	unsigned long expires;
	void (*function)(struct timer_list *timer);
	u32 flags;
};

#define DEFINE_TIMER(name, handler) struct timer_list name = { .function = handler }
#define from_timer(var, timer, field) container_of(timer, __typeof__(*var), field)

int dp_absent_timer_setup(void)
	DP_ABSENT(timer_setup, "timers are not there yet");
#define timer_setup(...) dp_absent_timer_setup()
int dp_absent_add_timer(void)
	DP_ABSENT(add_timer, "timers are not there yet");
#define add_timer(...) dp_absent_add_timer()
int dp_absent_mod_timer(void)
	DP_ABSENT(mod_timer, "timers are not there yet");
#define mod_timer(...) dp_absent_mod_timer()
int dp_absent_del_timer(void)
	DP_ABSENT(del_timer, "timers are not there yet");
#define del_timer(...) dp_absent_del_timer()
int dp_absent_del_timer_sync(void)
	DP_ABSENT(del_timer_sync, "timers are not there yet");
#define del_timer_sync(...) dp_absent_del_timer_sync()
int dp_absent_timer_delete(void)
	DP_ABSENT(timer_delete, "timers are not there yet");
#define timer_delete(...) dp_absent_timer_delete()
int dp_absent_timer_delete_sync(void)
	DP_ABSENT(timer_delete_sync, "timers are not there yet");
#define timer_delete_sync(...) dp_absent_timer_delete_sync()
int dp_absent_timer_shutdown_sync(void)
	DP_ABSENT(timer_shutdown_sync, "timers are not there yet");
#define timer_shutdown_sync(...) dp_absent_timer_shutdown_sync()
int dp_absent_timer_pending(void)
	DP_ABSENT(timer_pending, "timers are not there yet");
#define timer_pending(...) dp_absent_timer_pending()
int dp_absent_init_timer(void)
	DP_ABSENT(init_timer, "timers are not there yet");
#define init_timer(...) dp_absent_init_timer()
int dp_absent_setup_timer(void)
	DP_ABSENT(setup_timer, "timers are not there yet");
#define setup_timer(...) dp_absent_setup_timer()

#endif
