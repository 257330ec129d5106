// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* task: the current thread, and the CPUs. */
#include "lib/compat/compat.h"

/*
 * A thread's task_struct and its parent's are in thread-local storage. They are filled at
 * the first use, and again in a fork child. The kernel wipes the page of the generation
 * word at a fork, so the child finds zero and writes the next generation's number.
 */
struct own {
	u32 generation; /* when this was filled; 0: never */
	struct task_struct task;
	struct task_struct parent;
	struct cred cred, parents;
};

__thread struct dp_probed *dp_probed __attribute__((tls_model("initial-exec")));
static __thread struct own own __attribute__((tls_model("initial-exec")));

/* An mm has no fields; modules only compare the pointer with NULL. */
static int mm;

#define DP_MADV_WIPEONFORK 18

/* Return: a word that becomes 0 in a fork child; NULL: there is no memory for the word,
 * and no generation is kept. */
static u32 *generation_word(void)
{
	static u32 *word;
	u32 *now = smp_load_acquire(&word);

	if (now || !(now = dp_map(4096, 0)))
		return now;
	if (!dp_sys3(__NR_madvise, now, 4096, DP_MADV_WIPEONFORK))
		return dp_map_first((void **)&word, now, 4096);
	dp_unmap(now, 4096);
	return NULL;
}

/* Return: a number that no thread of a parent process had; 0: unknown. */
static u32 generation(void)
{
	static u32 newest;
	u32 *word = generation_word(), none = 0, now;

	if (!word)
		return 0;
	now = __atomic_load_n(word, __ATOMIC_RELAXED);
	if (now)
		return now;
	now = __atomic_add_fetch(&newest, 1, __ATOMIC_RELAXED);
	if (try_cmpxchg(word, &none, now))
		return now;
	return none;
}

/* Read the beginning of a file. @size: of @buf, with one byte for a NUL. Return: how many
 * bytes, or an errno. */
static long read_file(const char *dir, const char *name, char *buf, size_t size)
{
	char path[80];
	size_t at = 0;
	long fd, n = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	/* O_RDONLY | O_CLOEXEC */
	fd = dp_sys6(__NR_openat, -100, (long)path, 0x80000, 0, 0, 0);
	if (fd < 0)
		return fd;
	while (at + 1 < size &&
	       (n = dp_sys3(__NR_read, fd, buf + at, size - 1 - at)) > 0)
		at += (size_t)n;
	dp_sys3(__NR_close, fd, 0, 0);
	buf[at] = '\0';
	return n < 0 ? n : (long)at;
}

/* Read the first four numbers of the line that begins with @key. */
static void read_ids(const char *status, const char *key, unsigned int *ids)
{
	const char *at = strstr(status, key);
	char *end;
	int i;

	for (i = 0; at && i < 4; i++) {
		at = skip_spaces(i ? end : at + strlen(key));
		ids[i] = (unsigned int)simple_strtoul(at, &end, 10);
	}
}

/* Fill in the credentials of another thread; @dir: its directory in /proc */
static void fill_cred(struct cred *cred, const char *dir)
{
	unsigned int uids[4] = { -1u, -1u, -1u, -1u };
	unsigned int gids[4] = { -1u, -1u, -1u, -1u };
	char status[1024];

	if (read_file(dir, "status", status, sizeof(status)) > 0) {
		read_ids(status, "\nUid:", uids);
		read_ids(status, "\nGid:", gids);
	}
	*cred = (struct cred){
		.uid = { uids[0] },
		.gid = { gids[0] },
		.suid = { uids[2] },
		.sgid = { gids[2] },
		.euid = { uids[1] },
		.egid = { gids[1] },
		.fsuid = { uids[3] },
		.fsgid = { gids[3] },
	};
}

#define START_FIELD 22
#define NS_A_TICK 10000000ull /* of the ticks in /proc */

/* The name in parentheses may itself contain spaces and parentheses. */
static u64 start_time(const char *dir)
{
	char stat[1024], *at;
	int field = 2;

	if (read_file(dir, "stat", stat, sizeof(stat)) <= 0)
		return 0;
	for (at = strrchr(stat, ')'); at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? simple_strtoull(at + 1, NULL, 10) * NS_A_TICK : 0;
}

static void link_task(struct task_struct *task, struct task_struct *parent,
		      struct cred *cred)
{
	task->mm = task->active_mm = (struct mm_struct *)&mm;
	task->parent = task->real_parent = parent;
	task->group_leader = task;
	task->cred = task->real_cred = cred;
}

static void fill_other(struct task_struct *task, struct cred *cred,
		       const char *dir)
{
	long n;

	link_task(task, task, cred);
	fill_cred(cred, dir);
	task->start_time = start_time(dir);
	n = read_file(dir, "comm", task->comm, sizeof(task->comm));
	if (n > 0 && task->comm[n - 1] == '\n')
		task->comm[n - 1] = '\0';
}

static void fill_parent(struct task_struct *parent, struct cred *cred)
{
	char dir[32];

	parent->pid = parent->tgid = (pid_t)dp_sys3(__NR_getppid, 0, 0, 0);
	snprintf(dir, sizeof(dir), "/proc/%d", parent->pid);
	fill_other(parent, cred, dir);
}

static void fill_own_cred(struct cred *cred)
{
	dp_sys3(__NR_getresuid, &cred->uid, &cred->euid, &cred->suid);
	dp_sys3(__NR_getresgid, &cred->gid, &cred->egid, &cred->sgid);
	/* The file system ids equal the effective ids, except in file servers. */
	cred->fsuid = cred->euid;
	cred->fsgid = cred->egid;
}

static void fill(struct own *me)
{
	struct task_struct *task = &me->task;

	task->pid = (pid_t)dp_sys3(__NR_gettid, 0, 0, 0);
	task->tgid = (pid_t)dp_sys3(__NR_getpid, 0, 0, 0);
	link_task(task, &me->parent, &me->cred);
	fill_own_cred(&me->cred);
	task->start_time = start_time("/proc/thread-self");
	fill_parent(&me->parent, &me->parents);
}

/* PR_GET_NAME */
static void fill_name(struct own *me)
{
	dp_sys3(__NR_prctl, 16, me->task.comm, 0);
}

/* If the probed thread has ended, this is the thread that has its id now. */
static struct task_struct *probed_task(struct dp_probed *p)
{
	static __thread struct cred cred
		__attribute__((tls_model("initial-exec")));
	char dir[64];

	if (p->named)
		return &p->task;
	snprintf(dir, sizeof(dir), "/proc/%d/task/%d", p->task.tgid,
		 p->task.pid);
	fill_other(&p->task, &cred, dir);
	p->named = true;
	return &p->task;
}

struct task_struct *dp_task_known(void)
{
	u32 now = generation();

	if (!now || own.generation != now) {
		fill(&own);
		fill_name(&own);
		own.generation = now;
	}
	return &own.task;
}

/* Callers treat get_current() as a pure function. */
struct task_struct *get_current(void)
{
	struct task_struct *task;

	if (dp_probed)
		return probed_task(dp_probed);
	task = dp_task_known();
	/* A thread's name can change at any time. */
	fill_name(&own);
	fill_own_cred(&own.cred);
	return task;
}

#define DP_ID(type, name)                                      \
	type dp_compat_##name(void)                            \
	{                                                      \
		return (type)dp_sys3(__NR_get##name, 0, 0, 0); \
	}

DP_ID(uid_t, uid)
DP_ID(uid_t, euid)
DP_ID(gid_t, gid)
DP_ID(gid_t, egid)

void schedule(void)
{
	dp_sys3(__NR_sched_yield, 0, 0, 0);
}

/* --- CPUs --- */

unsigned int smp_processor_id(void)
{
	unsigned int cpu = 0;

	dp_sys3(__NR_getcpu, &cpu, NULL, NULL);
	return cpu % NR_CPUS;
}

/* "0-3,8-11": Return: how many; *@last: the highest. */
static unsigned int count_list(const char *s, unsigned int *last)
{
	unsigned int n = 0, from, to;
	char *end;

	while (isdigit(*s)) {
		from = to = (unsigned int)simple_strtoul(s, &end, 10);
		if (*end == '-')
			to = (unsigned int)simple_strtoul(end + 1, &end, 10);
		n += to - from + 1;
		*last = to;
		s = *end == ',' ? end + 1 : end;
	}
	return n;
}

/* Read such a list. Return: 0: it cannot be read. */
static unsigned int count_cpus(const char *which, unsigned int *last)
{
	char list[256];

	return read_file("/sys/devices/system/cpu", which, list, sizeof(list)) >
			       0 ?
		       count_list(list, last) :
		       0;
}

unsigned int num_online_cpus(void)
{
	unsigned int last;

	return count_cpus("online", &last) ?: num_possible_cpus();
}

/* The highest CPU number plus 1, so gaps count. It does not change. */
unsigned int num_possible_cpus(void)
{
	static unsigned int known;
	unsigned int last = NR_CPUS - 1;

	if (!READ_ONCE(known)) {
		count_cpus("possible", &last);
		WRITE_ONCE(known, min_t(unsigned int, last + 1, NR_CPUS));
	}
	return known;
}

void get_random_bytes(void *buf, int n)
{
	long got, at = 0;

	while (at < n) {
		got = dp_sys3(__NR_getrandom, (char *)buf + at, n - at, 0);
		if (got > 0)
			at += got;
		else if (got != -EINTR)
			break;
	}
}
