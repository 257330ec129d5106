/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file system of debugging: there is none. */
#ifndef DP_LINUX_DEBUGFS_H
#define DP_LINUX_DEBUGFS_H

#include <linux/fs.h>

struct dentry *dp_absent_debugfs_create_dir(void)
	DP_ABSENT(debugfs_create_dir, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_dir(...) dp_absent_debugfs_create_dir()
struct dentry *dp_absent_debugfs_create_file(void)
	DP_ABSENT(debugfs_create_file, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_file(...) dp_absent_debugfs_create_file()
struct dentry *dp_absent_debugfs_create_u32_file(void)
	DP_ABSENT(debugfs_create_u32_file, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_u32_file(...) dp_absent_debugfs_create_u32_file()
struct dentry *dp_absent_debugfs_create_blob(void)
	DP_ABSENT(debugfs_create_blob, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_blob(...) dp_absent_debugfs_create_blob()
struct dentry *dp_absent_debugfs_lookup(void)
	DP_ABSENT(debugfs_lookup, "no file system shows what a module has; use printk() or parameters");
#define debugfs_lookup(...) dp_absent_debugfs_lookup()
void dp_absent_debugfs_remove(void)
	DP_ABSENT(debugfs_remove, "no file system shows what a module has; use printk() or parameters");
#define debugfs_remove(...) dp_absent_debugfs_remove()
void dp_absent_debugfs_remove_recursive(void)
	DP_ABSENT(debugfs_remove_recursive, "no file system shows what a module has; use printk() or parameters");
#define debugfs_remove_recursive(...) dp_absent_debugfs_remove_recursive()
void dp_absent_debugfs_create_u8(void)
	DP_ABSENT(debugfs_create_u8, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_u8(...) dp_absent_debugfs_create_u8()
void dp_absent_debugfs_create_u16(void)
	DP_ABSENT(debugfs_create_u16, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_u16(...) dp_absent_debugfs_create_u16()
void dp_absent_debugfs_create_u32(void)
	DP_ABSENT(debugfs_create_u32, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_u32(...) dp_absent_debugfs_create_u32()
void dp_absent_debugfs_create_u64(void)
	DP_ABSENT(debugfs_create_u64, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_u64(...) dp_absent_debugfs_create_u64()
void dp_absent_debugfs_create_x32(void)
	DP_ABSENT(debugfs_create_x32, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_x32(...) dp_absent_debugfs_create_x32()
void dp_absent_debugfs_create_x64(void)
	DP_ABSENT(debugfs_create_x64, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_x64(...) dp_absent_debugfs_create_x64()
void dp_absent_debugfs_create_bool(void)
	DP_ABSENT(debugfs_create_bool, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_bool(...) dp_absent_debugfs_create_bool()
void dp_absent_debugfs_create_atomic_t(void)
	DP_ABSENT(debugfs_create_atomic_t, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_atomic_t(...) dp_absent_debugfs_create_atomic_t()
void dp_absent_debugfs_create_ulong(void)
	DP_ABSENT(debugfs_create_ulong, "no file system shows what a module has; use printk() or parameters");
#define debugfs_create_ulong(...) dp_absent_debugfs_create_ulong()

#endif
