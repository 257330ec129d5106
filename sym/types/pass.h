/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pass: messages with a descriptor, between the tool and its children. */
#ifndef DP_TYPES_PASS_H
#define DP_TYPES_PASS_H

#include "port_types.h"
#include <stddef.h>

/** dp_pass_send() - send @len bytes and, if it is one, descriptor @fd. Return: false: not sent */
bool dp_pass_send(int line, const void *bytes, size_t len, int fd);
/** dp_pass_receive() - receive just @len bytes; *@fd: the descriptor that came with them, or -1.
 *  Return: false: the other side has ended, or says something else, or a signal has come */
bool dp_pass_receive(int line, void *bytes, size_t len, int *fd);
/** dp_pass_keep() - in a child: have no descriptors but the @n of @fd, eight at most, of which -1
 *  is none, and those below @first. They are numbered from @first on. Return: @first */
int dp_pass_keep(const int *fd, size_t n, int first);

#endif
