/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* twins: calls the other c_twin(). */
#ifndef TWINS_H
#define TWINS_H

int c_other_twin(int n);

#endif
