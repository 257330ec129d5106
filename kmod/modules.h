/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* modules: modules that come and go, with their code and their handlers. */
#ifndef DP_KMOD_MODULES_H
#define DP_KMOD_MODULES_H

/** dp_modules_begin() - watch them. Return: 0 or a negative errno */
int dp_modules_begin(void);
void dp_modules_end(void);

#endif
