/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classes of ASCII characters. */
#ifndef DP_LINUX_CTYPE_H
#define DP_LINUX_CTYPE_H

#include <linux/compiler.h>

int isdigit(int c) DP_COMPAT(isdigit);
int isxdigit(int c) DP_COMPAT(isxdigit);
int isalpha(int c) DP_COMPAT(isalpha);
int isalnum(int c) DP_COMPAT(isalnum);
int isspace(int c) DP_COMPAT(isspace);
int isupper(int c) DP_COMPAT(isupper);
int islower(int c) DP_COMPAT(islower);
int isprint(int c) DP_COMPAT(isprint);
int ispunct(int c) DP_COMPAT(ispunct);
int tolower(int c) DP_COMPAT(tolower);
int toupper(int c) DP_COMPAT(toupper);

#endif
