// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_made: code that the kernel has made, or copies, or writes in its own ways, which is not probed.
 *
 * A program of BPF's may go at any time, and nothing tells. Of the tracer's two entries the kernel makes copies. What
 * chooses among BPF's programs is rewritten, and looked at first.
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct made {
	char name[128];
	unsigned long long addr;
};

/* return 0 */
static int load(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (unsigned long)code,
		.insn_cnt = sizeof(code) / sizeof(code[0]),
		.license = (unsigned long)"GPL",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* The first symbol that begins so. @of: "[bpf]", or "" of the kernel. Return: is there one? */
static int find(const char *start, const char *of, struct made *made)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], owner[64];
	int found = 0, n;

	while (f && !found && fgets(line, sizeof(line), f)) {
		n = sscanf(line, "%llx %*c %127s %63s", &made->addr, made->name,
			   owner);
		found = n == (*of ? 3 : 2) && (!*of || !strcmp(owner, of)) &&
			!strncmp(made->name, start, strlen(start));
	}
	if (f)
		fclose(f);
	return found;
}

static void refused(const char *start, const char *of, const char *words,
		    const char *what)
{
	struct dp_device_add add = { 0 };
	char said[DP_DEVICE_WORDS] = "";
	struct made made;
	int fd, err;

	if (!find(start, of, &made)) {
		dp_init_skip(what, "this kernel has none");
		return;
	}
	add.addr = made.addr;
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	err = err ? err : dp_device_add(fd, made.name, said, &add);
	close(fd);
	dp_init_check(err == -EINVAL && strstr(said, words), what, "device: ");
	if (err != -EINVAL || !strstr(said, words))
		printf("# %s: %s: %s\n", made.name, strerror(-err), said);
}

void dp_device_made(void)
{
	int program = load();

	refused("bpf_prog_", "[bpf]", "made it while it ran",
		"a program of BPF's");
	close(program);
	refused("bpf_dispatcher_xdp_func", "", "the kernel rewrites it",
		"what calls such programs");
	refused("ftrace_caller", "", "copies", "the tracer's entry");
	refused("ftrace_regs_caller_op_ptr", "", "copies",
		"and the one with registers");
}
