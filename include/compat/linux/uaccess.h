/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies that fail cleanly when the address is bad. */
#ifndef DP_LINUX_UACCESS_H
#define DP_LINUX_UACCESS_H

#include <linux/types.h>
#include <linux/errno.h>
#include <linux/compiler.h>
#include <dprobes/task.h>

/*
 * Memory of the program is read and written through the kernel, so a bad
 * address is an error, never a fault. Context: any; one system call each.
 */

/** clear_user() - Return: how many bytes are not 0 now */
unsigned long clear_user(void __user *to, unsigned long n) DP_COMPAT(clear_user);
/** strncpy_from_user() - Return: the length; @n if there was no NUL in them;
 *  -EFAULT */
long strncpy_from_user(char *to, const char __user *from, long n)
	DP_COMPAT(strncpy_from_user);
/** strnlen_user() - Return: the length with the NUL; more than @n if there is
 *  none in them; 0: a bad address */
long strnlen_user(const char __user *s, long n) DP_COMPAT(strnlen_user);
/** copy_from_kernel_nofault() - Return: 0; -EFAULT */
long copy_from_kernel_nofault(void *to, const void *from, size_t n)
	DP_COMPAT(copy_from_nofault);
long copy_to_kernel_nofault(void *to, const void *from, size_t n)
	DP_COMPAT(copy_to_nofault);
/** strncpy_from_kernel_nofault() - Return: the length with the NUL; -EFAULT */
long strncpy_from_kernel_nofault(char *to, const void *from, long n)
	DP_COMPAT(strncpy_from_nofault);

#define __copy_from_user copy_from_user
#define __copy_to_user copy_to_user
#define copy_from_user_inatomic copy_from_user
#define __copy_from_user_inatomic copy_from_user
#define __copy_to_user_inatomic copy_to_user
#define copy_from_user_nofault(to, from, n) \
	(copy_from_user(to, from, n) ? -EFAULT : 0)
#define copy_to_user_nofault(to, from, n) \
	(copy_to_user(to, from, n) ? -EFAULT : 0)
#define probe_kernel_read copy_from_kernel_nofault
#define probe_kernel_write copy_to_kernel_nofault
#define probe_user_read copy_from_user_nofault
#define strncpy_from_user_nofault strncpy_from_kernel_nofault
#define strncpy_from_unsafe strncpy_from_kernel_nofault
#define strlen_user(s) strnlen_user(s, 0x7fffffff)
#define __strncpy_from_user strncpy_from_user

#define get_user(x, ptr)                                                \
	({                                                              \
		__typeof__(*(ptr)) dp_value = (__typeof__(*(ptr)))0;    \
		int dp_err = copy_from_user_nofault(                    \
			&dp_value, (const void *)(ptr), sizeof(dp_value)); \
		(x) = dp_value;                                         \
		dp_err;                                                 \
	})
#define put_user(x, ptr)                                                \
	({                                                              \
		__typeof__(*(ptr)) dp_value = (x);                      \
		copy_to_user_nofault((void *)(ptr), &dp_value,          \
				     sizeof(dp_value));                 \
	})
#define get_kernel_nofault(x, ptr)                                      \
	({                                                              \
		__typeof__(*(ptr)) dp_value = (__typeof__(*(ptr)))0;    \
		int dp_err = (int)copy_from_kernel_nofault(             \
			&dp_value, (const void *)(ptr), sizeof(dp_value)); \
		(x) = dp_value;                                         \
		dp_err;                                                 \
	})
#define __get_user get_user
#define __put_user put_user

/* With a direction in front, or without. */
#define access_ok(...) 1
#define VERIFY_READ 0
#define VERIFY_WRITE 1
typedef int mm_segment_t;
#define KERNEL_DS 0
#define USER_DS 0
#define get_fs() 0
#define set_fs(x) ((void)(x))
#define pagefault_disable() barrier()
#define pagefault_enable() barrier()

#endif
