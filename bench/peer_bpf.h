/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peer_bpf: a BPF program that does nothing, on one place of a file. */
#ifndef BENCH_PEER_BPF_H
#define BENCH_PEER_BPF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * peer_bpf_uprobe() - links the program by uprobe_multi (kernel 6.6)
 * @pid: the only process to probe
 * @offset: in the file
 * @on_return: of the function, instead of at its entry
 * Return: a descriptor that is the link, to be closed; -1 with errno set
 */
int peer_bpf_uprobe(pid_t pid, const char *path, uint64_t offset,
		    bool on_return);

#endif
