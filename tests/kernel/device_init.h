/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* device_init: /dev/dprobes, as the guest's first program asks it. */
#ifndef DP_KERNEL_DEVICE_INIT_H
#define DP_KERNEL_DEVICE_INIT_H

#include <dprobes/device.h>

/** What is probed: nothing else in the guest makes these calls. */
#define DP_GETSID "__x64_sys_getsid"
#define DP_UMASK "__x64_sys_umask"
#define DP_GETPGID "__x64_sys_getpgid"

/** dp_device_changed() - how many of them have not the bytes that they had; -1: it is not known */
int dp_device_changed(void);
/** dp_device_open() - Return: a descriptor, or a negative errno */
int dp_device_open(int flags);
int dp_device_start(int fd, unsigned int arming);
/** dp_device_start_by() - the same; @interpret: of struct dp_device_begin */
int dp_device_start_by(int fd, unsigned int arming, unsigned int interpret);
/** dp_device_add() - @words: DP_DEVICE_WORDS bytes. Return: 0 or a negative errno */
int dp_device_add(int fd, const char *name, char *words,
		  struct dp_device_add *add);
int dp_device_program(int fd, const unsigned char *code, unsigned int size,
		      struct dp_device_program *program, char *words);
int dp_device_bind(int fd, unsigned int probe, unsigned int program,
		   unsigned int heap);
/** dp_device_may_write() - a session has a program. Return: could one write? -1: it has none */
int dp_device_may_write(int fd);
/** dp_device_variable() - Return: its value; -1: it cannot be read */
long dp_device_variable(int fd, unsigned int program, unsigned int index);
int dp_device_commit(int fd, unsigned int flags);
int dp_device_counts(int fd, struct dp_device_count *v, unsigned int first,
		     unsigned int n);
/** dp_device_put() - write a file: a test. dp_device_of_child() - Return: of @run, in a child; -1: none */
void dp_device_put(const char *path, const char *text);
int dp_device_of_child(int (*run)(void));
/** dp_device_write_over() - a probe of the kernel's own is so many bytes behind where a function begins; where one of ours is,
 *  what it has saved is our jump */
void dp_device_write_over(const char *function, unsigned int offset);
void dp_device_write_over_no_more(void);
/** dp_facilities_ask() - a session with a probe whose program ends by exit @n. Return: a descriptor, or a negative errno */
int dp_facilities_ask(const char *function, unsigned int arming,
		      unsigned char n, char *words);
/** dp_device_blind() - by who may see no addresses. Return: 0; what was not refused, or was told
 *  dp_device_sees() - what others are told */
int dp_device_blind(void);
void dp_device_sees(void);
/** dp_device_made() - code that the kernel has made, or copies */
void dp_device_made(void);

#endif
