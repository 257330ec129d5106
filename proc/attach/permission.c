// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* permission: may a process be traced, and if not, why not. */
#include "proc/facts.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define STAT_PARENT 4 /* of /proc/PID/stat */

static const char to_root[] = "become root, or get CAP_SYS_PTRACE";

struct dp_fact *dp_fact_add(struct dp_facts *facts, const char *name,
			    enum dp_fact_state state, const char *remedy,
			    const char *fmt, ...)
{
	struct dp_fact *f = &facts->v[facts->n];
	va_list args;

	/* There is room for all facts that are ever added. */
	if (facts->n < DP_FACTS_MAX - 1)
		facts->n++;
	*f = (struct dp_fact){ .name = name, .state = state };
	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
	dp_fact_remedy(f, "%s", remedy ?: "");
	return f;
}

void dp_fact_remedy(struct dp_fact *f, const char *fmt, ...)
{
	va_list args;

	if (f->state == DP_FACT_OK)
		return;
	va_start(args, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, args);
	va_end(args);
}

static bool has_cap(const struct dp_status *st)
{
	return st->cap_effective >> DP_CAP_SYS_PTRACE & 1;
}

/* the caller, and the process in question */
struct asked {
	pid_t pid;
	struct dp_status us, them;
	bool same_ns; /* are both in one user namespace? */
};

static bool same_namespace(pid_t pid, const char *which)
{
	char ours[64] = "", theirs[64] = "";

	/* A namespace that cannot be read counts as the same. */
	return readlink(dp_path("/proc/self/ns/%s", which).s, ours,
			sizeof(ours) - 1) <= 0 ||
	       readlink(dp_path("/proc/%d/ns/%s", pid, which).s, theirs,
			sizeof(theirs) - 1) <= 0 ||
	       !strcmp(ours, theirs);
}

static bool ask(struct asked *a, pid_t pid)
{
	a->pid = pid;
	a->same_ns = same_namespace(pid, "user");
	return !dp_status_read(getpid(), getpid(), &a->us) &&
	       !dp_status_read(pid, pid, &a->them);
}

/* The kernel's own answer, to a question that changes nothing. */
static bool kernel_permits(pid_t pid)
{
	char byte;
	struct iovec ours = { &byte, 1 }, theirs = { NULL, 1 };
	int fd;

	if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) < 0 &&
	    errno == EPERM)
		return false;
	fd = open(dp_path("/proc/%d/mem", pid).s, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void see_users(struct dp_facts *facts, const struct asked *a)
{
	const struct passwd *who = getpwuid(a->them.uids[0]);
	enum dp_fact_state state = has_cap(&a->us) ? DP_FACT_OK : DP_FACT_NO;
	bool same = true;
	int i;

	for (i = 0; i < 3; i++)
		same &= a->them.uids[i] == a->us.uids[1] &&
			a->them.gids[i] == a->us.gids[1];
	if (same)
		dp_fact_add(facts, "user", DP_FACT_OK, NULL,
			    "it belongs to uid %u, as whom you are running",
			    a->them.uids[0]);
	else if (a->them.uids[0] == a->us.uids[1])
		dp_fact_add(
			facts, "user", state, to_root,
			"it belongs to uid %u and so do you, but it has changed its ids (set-user-ID or set-group-ID)",
			a->them.uids[0]);
	else
		dp_fact_remedy(
			dp_fact_add(facts, "user", state, NULL,
				    "it belongs to uid %u and you are uid %u",
				    a->them.uids[0], a->us.uids[1]),
			"become that user (sudo -u %s) or root, or get CAP_SYS_PTRACE",
			who ? who->pw_name : "USER");
}

static void see_dumpable(struct dp_facts *facts, const struct asked *a)
{
	bool may = has_cap(&a->us);
	struct stat st;

	/* Files of a process that is not dumpable belong to root there. */
	if (stat(dp_path("/proc/%d/mem", a->pid).s, &st) ||
	    st.st_uid == a->them.uids[1])
		return;
	dp_fact_add(
		facts, "dumpable", may ? DP_FACT_NOTE : DP_FACT_NO,
		may ? NULL : to_root,
		"it is not dumpable (prctl PR_SET_DUMPABLE, or a program that it may not read)");
}

static void see_capabilities(struct dp_facts *facts, const struct asked *a)
{
	u64 more = a->them.cap_permitted & ~a->us.cap_permitted;

	if (has_cap(&a->us))
		dp_fact_add(facts, "capabilities", DP_FACT_OK, NULL,
			    "you have CAP_SYS_PTRACE");
	else if (more && a->same_ns)
		dp_fact_add(facts, "capabilities", DP_FACT_NO, to_root,
			    "it has capabilities that you have not (0x%llx)",
			    (unsigned long long)more);
	else
		dp_fact_add(facts, "capabilities", DP_FACT_OK, NULL,
			    "it has none that you have not");
}

static bool is_ancestor(pid_t pid)
{
	pid_t up = pid;

	while (up > 1 && up != getpid())
		up = (pid_t)dp_stat_number(up, STAT_PARENT);
	return up == getpid();
}

void dp_fact_yama(struct dp_facts *facts, const struct dp_status *us, pid_t pid)
{
	static const char path[] = "/proc/sys/kernel/yama/ptrace_scope";
	char line[16];
	int scope;
	bool may;

	if (!dp_line_read(path, line, sizeof(line))) {
		dp_fact_add(facts, "yama", DP_FACT_OK, NULL,
			    "there is no Yama here");
		return;
	}
	scope = atoi(line);
	may = !scope || (scope < 3 && has_cap(us)) ||
	      (scope == 1 && pid && is_ancestor(pid));
	dp_fact_add(
		facts, "yama",
		may ? DP_FACT_OK :
		pid ? DP_FACT_NO :
		      DP_FACT_NOTE,
		scope == 3 ?
			"reboot with another value: this one cannot be lowered" :
			"set it to 0, start the program with -- CMD, or get CAP_SYS_PTRACE",
		"Yama's kernel.yama.ptrace_scope is %d", scope);
}

static void see_namespaces(struct dp_facts *facts, const struct asked *a)
{
	static const char *const kinds[] = { "user", "pid", "mnt", "net" };
	char text[64] = "";
	struct dp_fact *f;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!same_namespace(a->pid, kinds[i])) {
			strcat(text, *text ? ", " : "");
			strcat(text, kinds[i]);
		}
	if (!*text) {
		dp_fact_add(facts, "namespaces", DP_FACT_OK, NULL,
			    "those that you are in");
		return;
	}
	f = dp_fact_add(facts, "namespaces", DP_FACT_NOTE, NULL,
			"it has its own: %s", text);
	if (!a->same_ns)
		dp_fact_remedy(
			f,
			"if it may not be traced from here, run dprobes inside (nsenter -t %d -U -p -m), or as root outside",
			a->pid);
}

static void see_lsm(struct dp_facts *facts, const struct asked *a)
{
	char ours[128] = "", theirs[128] = "", list[128] = "";

	dp_line_read("/sys/kernel/security/lsm", list, sizeof(list));
	dp_line_read("/proc/self/attr/current", ours, sizeof(ours));
	dp_line_read(dp_path("/proc/%d/attr/current", a->pid).s, theirs,
		     sizeof(theirs));
	if (!*theirs) {
		dp_fact_add(facts, "lsm", DP_FACT_OK, NULL,
			    "no security module labels it%s%s",
			    *list ? "; there are: " : "", list);
		return;
	}
	dp_fact_add(facts, "lsm",
		    strcmp(ours, theirs) ? DP_FACT_NOTE : DP_FACT_OK, NULL,
		    "it runs as \"%s\", you as \"%s\"", theirs, ours);
}

static bool see_end(struct dp_facts *facts, const struct asked *a)
{
	if (a->them.state == 'Z' || a->them.state == 'X')
		dp_fact_add(
			facts, "process", DP_FACT_NO,
			"nothing is left to be probed",
			"it has ended, and its parent has not waited for it");
	else if (dp_status_kernel(a->pid))
		dp_fact_add(facts, "process", DP_FACT_NO,
			    "the kernel's own code cannot be probed yet",
			    "it is a kernel thread");
	else if (a->pid == getpid())
		dp_fact_add(facts, "process", DP_FACT_NO, "name another one",
			    "it is this dprobes itself");
	else
		return false;
	return true;
}

bool dp_facts_forbid(const struct dp_facts *facts, size_t from)
{
	for (; from < facts->n; from++)
		if (facts->v[from].state == DP_FACT_NO)
			return true;
	return false;
}

/* The kernel's decision, or an attach's, overrides the reasons. */
void dp_facts_overrule(struct dp_facts *facts, size_t from)
{
	for (; from < facts->n; from++)
		if (facts->v[from].state == DP_FACT_NO) {
			facts->v[from].state = DP_FACT_NOTE;
			facts->v[from].remedy[0] = '\0';
		}
}

void dp_facts_permission(struct dp_facts *facts, pid_t pid)
{
	size_t from = facts->n;
	struct asked a;
	struct dp_fact *f;

	if (!ask(&a, pid)) {
		dp_fact_add(
			facts, "process", DP_FACT_NO,
			"see \"ps -e\" for those there are; /proc may hide others' (hidepid)",
			"there is no process %d", pid);
		return;
	}
	if (see_end(facts, &a))
		return;
	see_users(facts, &a);
	see_dumpable(facts, &a);
	see_capabilities(facts, &a);
	dp_fact_yama(facts, &a.us, pid);
	see_namespaces(facts, &a);
	see_lsm(facts, &a);
	if (kernel_permits(pid)) {
		dp_facts_overrule(facts, from);
		dp_fact_add(facts, "ptrace", DP_FACT_OK, NULL,
			    "the kernel permits it");
		return;
	}
	f = dp_fact_add(facts, "ptrace", DP_FACT_NO, NULL,
			"the kernel does not permit it");
	if (!dp_facts_forbid(facts, from) || facts->n - from < 2)
		return;
	facts->n--;
	if (dp_facts_forbid(facts, from))
		f->state = DP_FACT_NOTE;
	else
		dp_fact_remedy(
			f,
			"become root in its user namespace, or see what its security module says");
	facts->n++;
}
