// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* machine: what the kernel offers, and what rights the caller has, as far as probing
 * needs it. */
#include "proc/facts.h"
#include "proc/ptrace/debug.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/remote.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

static void see_kernel(struct dp_facts *facts)
{
	struct utsname u;

	if (!uname(&u))
		dp_fact_add(facts, "kernel",
			    strcmp(u.machine, "x86_64") ? DP_FACT_NO :
							  DP_FACT_OK,
			    "use a 64-bit x86 machine", "%s %s on %s",
			    u.sysname, u.release, u.machine);
}

static void see_us(struct dp_facts *facts, const struct dp_status *us)
{
	bool may = us->cap_effective >> DP_CAP_SYS_PTRACE & 1;

	dp_fact_add(facts, "you", DP_FACT_OK, NULL,
		    "uid %u, %s CAP_SYS_PTRACE: %s", us->uids[1],
		    may ? "with" : "without",
		    may ? "any process can be probed" :
			  "your own processes can be probed");
}

static bool has_opened(long fd)
{
	return fd >= 0 && !close((int)fd);
}

static bool asks_pidfd(void)
{
	return has_opened(syscall(SYS_pidfd_open, getpid(), 0));
}

static bool asks_membarrier(void)
{
	long is = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return is > 0 && is & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;
}

static bool asks_memfd(void)
{
	return has_opened(syscall(SYS_memfd_create, "dprobes-doctor", 0));
}

static bool asks_vm_readv(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

static void *one_page(int prot)
{
	void *page =
		mmap(NULL, DP_PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static bool asks_wipe(void)
{
	void *page = one_page(PROT_READ | PROT_WRITE);
	bool ok = page && !madvise(page, DP_PAGE, MADV_WIPEONFORK);

	if (page)
		munmap(page, DP_PAGE);
	return ok;
}

/* Text is written through /proc/PID/mem although its mapping is not writable. */
static bool asks_force(void)
{
	void *page = one_page(PROT_READ);
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool ok = page && fd >= 0 &&
		  pwrite(fd, "x", 1, (off_t)(unsigned long)page) == 1;

	if (fd >= 0)
		close(fd);
	if (page)
		munmap(page, DP_PAGE);
	return ok;
}

static bool child_asks_dispatch(pid_t child)
{
	return !ptrace(PTRACE_SEIZE, child, 0, 0) &&
	       !ptrace(PTRACE_INTERRUPT, child, 0, 0) &&
	       dp_stop_wait(child, NULL) == child && !dp_dispatch_asks(child);
}

static bool asks_dispatch(void)
{
	return dp_child_try(child_asks_dispatch);
}

static bool asks_rseq(void)
{
	return syscall(SYS_rseq, NULL, 0, 0, 0) == 0 || errno != ENOSYS;
}

static const struct feature {
	const char *name;
	bool (*asks)(void);
	bool needed;
	const char *missing, *remedy;
} features[] = {
	{ "pidfd", asks_pidfd, true, "pidfd_open(2) does not work",
	  "use Linux 5.3 or later, and a sandbox that permits it" },
	{ "memfd", asks_memfd, true, "memfd_create(2) does not work",
	  "use a sandbox that permits it" },
	{ "process_vm_readv", asks_vm_readv, true,
	  "process_vm_readv(2) does not work",
	  "use a kernel with CONFIG_CROSS_MEMORY_ATTACH, and a sandbox that permits it" },
	{ "wipe-on-fork", asks_wipe, true,
	  "madvise(2) knows no MADV_WIPEONFORK", "use Linux 4.14 or later" },
	{ "write-to-text", asks_force, true,
	  "/proc/PID/mem does not write to text (FOLL_FORCE is restricted)",
	  "boot with proc_mem.force_override=always" },
	{ "rseq", asks_rseq, false,
	  "there is no rseq(2): hits are counted with a locked instruction",
	  "" },
	{ "membarrier", asks_membarrier, false,
	  "membarrier(2) cannot synchronise instruction fetches: no process can probe itself",
	  "" },
	{ "dispatch", asks_dispatch, false,
	  "ptrace(2) does not tell which programs dispatch system calls to a handler of their own (prctl PR_SET_SYSCALL_USER_DISPATCH): those must not be probed",
	  "use Linux 6.4 or later for such programs" },
	{ "watchpoints", dp_debug_works, false,
	  "debug registers do not trap, as in some virtual machines: nothing can be watched",
	  "use another machine for watchpoints" },
};

static void see_features(struct dp_facts *facts)
{
	const struct feature *x;
	size_t i;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		x = &features[i];
		if (x->asks())
			dp_fact_add(facts, x->name, DP_FACT_OK, NULL, "works");
		else
			dp_fact_add(facts, x->name,
				    x->needed ? DP_FACT_NO : DP_FACT_NOTE,
				    x->remedy, "%s", x->missing);
	}
}

/* Other tools need this setting; their users may look for it. */
static void see_perf(struct dp_facts *facts)
{
	char line[16] = "";

	if (dp_line_read("/proc/sys/kernel/perf_event_paranoid", line,
			 sizeof(line)))
		dp_fact_add(
			facts, "perf_event", DP_FACT_OK, NULL,
			"kernel.perf_event_paranoid is %s, which does not matter to dprobes",
			line);
}

static void see_selinux(struct dp_facts *facts)
{
	char line[16] = "";

	if (dp_line_read("/sys/fs/selinux/booleans/deny_ptrace", line,
			 sizeof(line)))
		dp_fact_add(facts, "selinux",
			    *line == '1' ? DP_FACT_NO : DP_FACT_OK,
			    "run \"setsebool deny_ptrace 0\" as root",
			    "SELinux's deny_ptrace is %s",
			    *line == '1' ? "on" : "off");
}

void dp_facts_machine(struct dp_facts *facts, bool alone)
{
	struct dp_status us;

	see_kernel(facts);
	if (!dp_status_read(getpid(), getpid(), &us)) {
		see_us(facts, &us);
		if (alone)
			dp_fact_yama(facts, &us, 0);
	}
	see_selinux(facts);
	see_features(facts);
	see_perf(facts);
}
