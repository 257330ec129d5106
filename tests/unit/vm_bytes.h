/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vm_bytes: programs written as bytes. */
#ifndef VM_BYTES_H
#define VM_BYTES_H

#define OP(name) DP_OPCODE_##name
#define WORD(v)                                             \
	(u8)(v), (u8)((u64)(v) >> 8), (u8)((u64)(v) >> 16), \
		(u8)((u64)(v) >> 24), (u8)((u64)(v) >> 32), \
		(u8)((u64)(v) >> 40), (u8)((u64)(v) >> 48), \
		(u8)((u64)(v) >> 56)
#define PUSH(v) OP(PUSH), WORD(v)

#endif
