/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of addresses and addresses of names. */
#ifndef DP_LINUX_KALLSYMS_H
#define DP_LINUX_KALLSYMS_H

#include <linux/types.h>
#include <linux/compiler.h>

#define KSYM_NAME_LEN 128
#define MODULE_NAME_LEN 56
#define KSYM_SYMBOL_LEN (KSYM_NAME_LEN + MODULE_NAME_LEN + 50)

struct module;

/**
 * kallsyms_lookup_name() - the address of a function, static or not, or 0
 * @name: NAME, or MODULE:NAME; looked up as register_kprobe() does
 * Context: any, but it may take milliseconds.
 */
unsigned long kallsyms_lookup_name(const char *name)
	DP_COMPAT(kallsyms_lookup_name);

/** sprint_symbol() - "name+0xoffset/0xsize [object]" or "0xaddress" into
 *  KSYM_SYMBOL_LEN bytes. The main program has no [object]. Context: any.
 *  Return: its length. */
int sprint_symbol(char *buffer, unsigned long addr) DP_COMPAT(sprint_symbol);
/** sprint_symbol_no_offset() - "name [object]" */
int sprint_symbol_no_offset(char *buffer, unsigned long addr)
	DP_COMPAT(sprint_symbol_no_offset);
/** sprint_backtrace() - sprint_symbol() of a return address: the function is that of the call
 *  before it */
int sprint_backtrace(char *buffer, unsigned long addr)
	DP_COMPAT(sprint_backtrace);

/**
 * kallsyms_lookup() - the function that an address lies in
 * @modname: becomes the object's name, or NULL in the main program
 * @namebuf: KSYM_NAME_LEN bytes
 * Return: @namebuf, or NULL. What is not wanted may be NULL.
 */
const char *kallsyms_lookup(unsigned long addr, unsigned long *size,
			    unsigned long *offset, char **modname,
			    char *namebuf) DP_COMPAT(kallsyms_lookup);
/** kernel_text_address() - is that code? Context: any, but it reads what is mapped. */
int kernel_text_address(unsigned long addr) DP_COMPAT(kernel_text_address);
#define __kernel_text_address(addr) kernel_text_address(addr)
#define core_kernel_text(addr) kernel_text_address(addr)

/** lookup_symbol_name() - Return: 0; -ERANGE */
int lookup_symbol_name(unsigned long addr, char *name)
	DP_COMPAT(lookup_symbol_name);

#define print_symbol(fmt, addr)                         \
	do {                                            \
		char dp_name[KSYM_SYMBOL_LEN];          \
		sprint_symbol(dp_name, addr);           \
		printk(fmt, dp_name);                   \
	} while (0)
#define print_ip_sym(ip) printk("[<%p>] %pS\n", (void *)(ip), (void *)(ip))
#define dereference_function_descriptor(p) ((void *)(p))

#endif
