// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * peer_bpf: a BPF program that does nothing, linked by uprobe_multi. What the
 * headers of an older kernel do not know is spelled out here.
 */
#include "bench/peer_bpf.h"
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACE_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1

/* The kernel's union bpf_attr, as far as BPF_LINK_CREATE reads it here. */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static int load(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, /* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = TRACE_UPROBE_MULTI;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uint64_t)(uintptr_t) "Dual BSD/GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int peer_bpf_uprobe(pid_t pid, const char *path, uint64_t offset,
		    bool on_return)
{
	struct link_create create = {
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)&offset,
		.cnt = 1,
		.multi_flags = on_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};
	int prog = load(), link, err;

	if (prog < 0)
		return -1;
	create.prog_fd = (uint32_t)prog;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));
	err = errno;
	close(prog);
	errno = err;
	return link;
}
