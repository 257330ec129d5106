// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat: what probe modules call: threads, locks, lists, symbols, waiting. */
#include "compat.h"

/* --- the thread --- */

static void *in_thread(void *arg)
{
	assert_int_equal(current->pid, syscall(SYS_gettid));
	assert_int_equal(current->tgid, getpid());
	assert_int_not_equal(current->pid, current->tgid);
	prctl(PR_SET_NAME, "renamed");
	assert_string_equal(current->comm, "renamed");
	return NULL;
}

static void current_is_the_thread(void **state)
{
	char comm[TASK_COMM_LEN], own[TASK_COMM_LEN];
	pthread_t thread;
	pid_t pid;
	int status;

	assert_int_equal(current->pid, getpid());
	assert_int_equal(current->real_parent->tgid, getppid());
	assert_non_null(current->mm);
	prctl(PR_GET_NAME, own);
	assert_string_equal(get_task_comm(comm, current), own);
	assert_int_equal(current_uid().val, getuid());
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	pid = fork();
	if (!pid)
		_exit(current->pid != getpid() || current->tgid != getpid() ||
		      current->real_parent->pid != getppid());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(current->pid, getpid());
	assert_in_range(smp_processor_id(), 0, NR_CPUS - 1);
	assert_int_equal(num_online_cpus(), sysconf(_SC_NPROCESSORS_ONLN));
}

/* Files are read once for a thread, and anew in a fork child. */
static void what_a_thread_is_stays_known(void **state)
{
	struct task_struct *task = dp_task_known();
	u64 start = task->start_time;
	int status;
	pid_t pid;

	task->start_time = start - 1;
	assert_ptr_equal(dp_task_known(), task);
	assert_int_equal(task->start_time, start - 1);
	pid = fork();
	if (!pid)
		_exit(dp_task_known()->start_time < start);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	task->start_time = start;
}

/* All that there may be, where the kernel does not tell. What it has told once is kept, so
 * this comes before all others. */
static void counts_processors_unseen(void **state)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setrlimit(RLIMIT_NOFILE, &none) ||
		      num_possible_cpus() != NR_CPUS ||
		      num_online_cpus() != NR_CPUS);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void clocks_are_the_kernels(void **state)
{
	struct timespec ts;
	s64 before, after;
	ktime_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	before = timespec_to_ns(&ts);
	now = ktime_get();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	after = timespec_to_ns(&ts);
	assert_in_range(now, before, after);
	assert_int_equal(ktime_us_delta(5000000, 2000000), 3000);
	now = ktime_get();
	udelay(300);
	assert_true(ktime_us_delta(ktime_get(), now) >= 300);
	msleep(2);
	assert_true(jiffies > 0);
}

static DEFINE_PER_CPU(int, counter) = 10;
static DEFINE_PER_CPU(long[3], several);

static void *count_up(void *arg)
{
	int i;

	for (i = 0; i < 20000; i++) {
		this_cpu_inc(counter);
		this_cpu_add(*(long *)arg, 2);
	}
	return NULL;
}

static void each_processor_has_its_copy(void **state)
{
	long *allocated = alloc_percpu(long), sum = 0;
	pthread_t threads[2];
	unsigned int cpu;
	void *again;
	int i;

	assert_non_null(allocated);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_up, allocated);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for_each_possible_cpu(cpu) sum += per_cpu(counter, cpu) - 10;
	assert_int_equal(sum, 40000);
	for_each_possible_cpu(cpu) sum += *per_cpu_ptr(allocated, cpu);
	assert_int_equal(sum, 120000);
	per_cpu(several, 1)[2] = 5;
	assert_int_equal(per_cpu(several, 0)[2], 0);
	free_percpu(allocated);
	again = alloc_percpu(long);
	assert_ptr_equal(again, allocated);
	assert_int_equal(*per_cpu_ptr((long *)again, 0), 0);
	free_percpu(again);
	assert_null(__alloc_percpu(1 << 20, 8));
}

/* --- time --- */

/* In a process that may make none but to end: not even the processor's counter may be read
 * there. Return: how it ends. */
static int reads_clock(bool ours)
{
	struct timespec t;
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
		if (ours)
			ktime_get();
		else
			clock_gettime(CLOCK_MONOTONIC, &t);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status & 0x7f;
}

/* Where libc's need none. */
static void clocks_need_no_system_call(void **state)
{
	assert_int_equal(reads_clock(true), reads_clock(false));
}

/* --- locks and lists --- */

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(mutex);
static DEFINE_RWLOCK(rw);
static long guarded[3];

static void *lock_and_add(void *arg)
{
	unsigned long flags;
	int i;

	for (i = 0; i < 20000; i++) {
		spin_lock_irqsave(&spin, flags);
		guarded[0]++;
		spin_unlock_irqrestore(&spin, flags);
		mutex_lock(&mutex);
		guarded[1]++;
		mutex_unlock(&mutex);
		write_lock(&rw);
		guarded[2]++;
		write_unlock(&rw);
		read_lock(&rw);
		read_unlock(&rw);
	}
	return NULL;
}

static void locks_exclude(void **state)
{
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, lock_and_add, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(guarded[i], 60000);
	assert_int_equal(mutex_trylock(&mutex), 1);
	assert_int_equal(mutex_trylock(&mutex), 0);
	mutex_unlock(&mutex);
}

static pid_t waiter;

static void *wait_for_mutex(void *arg)
{
	__atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	return NULL;
}

/* Is the thread asleep on a futex? */
static bool sleeps_on_futex(pid_t tid)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	/* "running", or the number of its system call, which is not 0. */
	return atoi(text) == SYS_futex;
}

/* Only if there is one is the kernel asked to wake it. */
static void a_mutex_wakes_its_waiter(void **state)
{
	pthread_t thread;

	mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_for_mutex, NULL);
	while (!sleeps_on_futex(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE)))
		sched_yield();
	mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	assert_int_equal(mutex_trylock(&mutex), 1);
	mutex_unlock(&mutex);
}

struct item {
	int value;
	struct list_head link;
	struct hlist_node node;
};

static void lists_keep_their_order(void **state)
{
	DEFINE_HASHTABLE(table, 4);
	struct item items[5], *item, *next;
	struct hlist_node *tmp;
	LIST_HEAD(head);
	int i, sum = 0, bucket;

	hash_init(table);
	for (i = 0; i < 5; i++) {
		items[i].value = i;
		list_add_tail(&items[i].link, &head);
		hash_add(table, &items[i].node, i);
	}
	i = 0;
	list_for_each_entry(item, &head, link)
		assert_int_equal(item->value, i++);
	list_for_each_entry_safe(item, next, &head, link) if (item->value % 2)
		list_del(&item->link);
	list_for_each_entry_reverse(item, &head, link)
		sum = sum * 10 + item->value;
	assert_int_equal(sum, 420);
	hash_for_each_possible(table, item, node, 3) if (item->value == 3)
		sum = 0;
	assert_int_equal(sum, 0);
	hash_for_each_safe(table, bucket, tmp, item, node)
	{
		sum += item->value;
		hash_del(&item->node);
	}
	assert_int_equal(sum, 10);
	hash_for_each(table, bucket, item, node) fail();
}

static void atomics_return_what_they_say(void **state)
{
	atomic_t a = ATOMIC_INIT(1);
	atomic64_t b = ATOMIC64_INIT(-1);
	u64 word = 5;

	assert_int_equal(atomic_inc_return(&a), 2);
	assert_true(atomic_add_unless(&a, 3, 9));
	assert_false(atomic_add_unless(&a, 3, 5));
	assert_int_equal(atomic_cmpxchg(&a, 5, 7), 5);
	assert_int_equal(atomic_cmpxchg(&a, 5, 8), 7);
	assert_int_equal(atomic_xchg(&a, 1), 7);
	assert_true(atomic_dec_and_test(&a));
	assert_true(atomic64_inc_and_test(&b));
	assert_int_equal(cmpxchg(&word, 5, 6), 5);
	assert_int_equal(xchg(&word, 1), 6);
	assert_int_equal(min_t(int, -1, 1u), -1);
	assert_int_equal(clamp(15, 1, 10), 10);
	assert_int_equal(abs(-5L), 5);
}

/* --- symbols and stacks --- */

static void names_and_addresses(void **state)
{
	char name[KSYM_NAME_LEN], text[KSYM_SYMBOL_LEN], *object;
	unsigned long size, offset, addr = (unsigned long)known_function;

	assert_int_equal(known_function(1), 2);
	assert_int_equal(kallsyms_lookup_name("known_function"), addr);
	assert_int_equal(kallsyms_lookup_name("no_such_function_anywhere"), 0);
	assert_ptr_equal(
		kallsyms_lookup(addr + 1, &size, &offset, &object, name), name);
	assert_string_equal(name, "known_function");
	assert_int_equal(offset, 1);
	assert_null(object);
	kallsyms_lookup((unsigned long)abort, &size, &offset, &object, name);
	assert_string_equal(name, "abort");
	assert_non_null(strstr(object, "libc"));
	sprint_symbol(text, (unsigned long)abort);
	assert_non_null(strstr(text, "abort+0x0/0x"));
	assert_non_null(strstr(text, "[libc"));
	assert_int_equal(dp_compat_alias_add("do_known=x", 8, "known_function"),
			 0);
	assert_int_equal(kallsyms_lookup_name("do_known"), addr);
	assert_string_equal(dp_compat_alias("do_known"), "known_function");
	assert_string_equal(dp_compat_alias("other"), "other");
}

static unsigned long trace[32];
static unsigned int ntrace;

static int __used noinline inner(int x)
{
	ntrace = stack_trace_save(trace, 32, 0);
	__asm__ volatile("" : "+r"(x));
	return x;
}

static int __used noinline middle(int x)
{
	x = inner(x + 1);
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

static int compare_through_libc(const void *a, const void *b)
{
	int x = middle(*(const int *)a);

	__asm__ volatile("" : "+r"(x));
	return *(const int *)a - *(const int *)b;
}

static int __used noinline outer(void)
{
	int v[2] = { 2, 1 };

	qsort(v, 2, sizeof(int), compare_through_libc);
	return v[0];
}

static bool in_trace(const char *name, unsigned int *at)
{
	char text[KSYM_SYMBOL_LEN];

	for (; *at < ntrace; (*at)++) {
		sprint_backtrace(text, trace[*at]);
		if (strstarts(text, name) && text[strlen(name)] == '+')
			return true;
	}
	return false;
}

static void stacks_go_through_libc(void **state)
{
	char text[400];
	unsigned int at = 0;

	assert_int_equal(outer(), 1);
	assert_true(in_trace("inner", &at));
	assert_int_equal(at, 0);
	assert_true(in_trace("middle", &at));
	assert_true(in_trace("compare_through_libc", &at));
	assert_true(in_trace("outer", &at));
	assert_true(in_trace("main", &at));
	assert_true(ntrace < 32);
	look();
	stack_trace_print(trace, 2, 1);
	assert_non_null(strstr(seen, "  inner+0x"));
	look();
	dump_stack();
	assert_non_null(strstr(seen, "stacks_go_through_libc+0x"));
	dp_printk_set(NULL, NULL);
	stack_trace_snprint(text, sizeof(text), trace, 2, 0);
	assert_non_null(strstr(text, "middle"));
}

static void on_trace_signal(int sig)
{
	ntrace = stack_trace_save(trace, 32, 0);
}

static int __used noinline raiser(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	return 1 + known_function(0);
}

static void stacks_go_through_signals(void **state)
{
	unsigned int at = 0;

	signal(SIGUSR1, on_trace_signal);
	raiser();
	signal(SIGUSR1, SIG_DFL);
	assert_true(in_trace("on_trace_signal", &at));
	assert_true(in_trace("raiser", &at));
	assert_true(in_trace("main", &at));
}

/* --- waiting --- */

static DECLARE_COMPLETION(told);
static DECLARE_WAIT_QUEUE_HEAD(crowd);
static int said, heard;

static void *wait_for_it(void *arg)
{
	wait_for_completion(&told);
	wait_event(crowd, __atomic_load_n(&said, __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&heard, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void wakes_who_waits(void **state)
{
	pthread_t threads[8];
	int round, i;

	for (round = 0; round < 200; round++) {
		said = heard = 0;
		for (i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&threads[i], NULL,
							wait_for_it, NULL),
					 0);
		for (i = 0; i < 7; i++)
			complete(&told);
		assert_int_equal(heard, 0);
		__atomic_store_n(&said, 1, __ATOMIC_RELEASE);
		wake_up(&crowd);
		complete(&told);
		for (i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(heard, 8);
		assert_false(completion_done(&told));
	}
	assert_false(waitqueue_active(&crowd));
}

static void waits_no_longer_than_told(void **state)
{
	u64 before = ktime_get_ns();

	assert_int_equal(wait_event_timeout(crowd, 0, 20), 0);
	assert_true(ktime_get_ns() - before >= 20000000);
	assert_true(wait_event_timeout(crowd, 1, 20) > 0);
	assert_int_equal(wait_event_timeout(crowd, 0, 0), 0);
	before = ktime_get_ns();
	assert_int_equal(schedule_timeout(3), 0);
	assert_true(ktime_get_ns() - before >= 3000000);
}

/* --- small ones --- */

struct counted {
	struct kref ref;
	struct llist_node node;
	int n;
};

static int released;

static void release(struct kref *ref)
{
	released += container_of(ref, struct counted, ref)->n;
}

static void counts_references(void **state)
{
	struct counted c = { .n = 3 };

	kref_init(&c.ref);
	kref_get(&c.ref);
	assert_int_equal(kref_read(&c.ref), 2);
	assert_int_equal(kref_put(&c.ref, release), 0);
	assert_int_equal(released, 0);
	assert_int_equal(kref_put(&c.ref, release), 1);
	assert_int_equal(released, 3);
	assert_int_equal(kref_get_unless_zero(&c.ref), 0);
}

static void lists_without_a_lock(void **state)
{
	struct counted c[3] = { { .n = 1 }, { .n = 2 }, { .n = 3 } }, *at,
		       *next;
	LLIST_HEAD(head);
	int order = 0, i;

	assert_true(llist_empty(&head));
	for (i = 0; i < 3; i++)
		assert_int_equal(llist_add(&c[i].node, &head), !i);
	llist_for_each_entry(at, head.first, node) order = order * 10 + at->n;
	assert_int_equal(order, 321);
	order = 0;
	llist_for_each_entry_safe(at, next,
				  llist_reverse_order(llist_del_all(&head)),
				  node) order = order * 10 + at->n;
	assert_int_equal(order, 123);
	assert_true(llist_empty(&head));
}

struct odd {
	unsigned char bytes[7];
};

static int by_first(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static unsigned int swaps;

static void swap_odd(void *a, void *b, int size)
{
	struct odd one = *(struct odd *)a;

	assert_int_equal(size, sizeof(one));
	*(struct odd *)a = *(struct odd *)b;
	*(struct odd *)b = one;
	swaps++;
}

static void sorts_and_finds(void **state)
{
	static struct odd v[200];
	unsigned int sum, n, i, round;
	unsigned char key;

	for (round = 0; round < 400; round++) {
		n = round % 200;
		for (i = sum = 0; i < n; i++) {
			memset(v[i].bytes, (int)(any() % 97), sizeof(v[i]));
			sum += v[i].bytes[0];
		}
		sort(v, n, sizeof(v[0]), by_first, round & 1 ? swap_odd : NULL);
		for (i = 0; i < n; i++) {
			sum -= v[i].bytes[6];
			assert_int_equal(v[i].bytes[0], v[i].bytes[6]);
			assert_true(!i || v[i - 1].bytes[0] <= v[i].bytes[0]);
			assert_non_null(bsearch(v[i].bytes, v, n, sizeof(v[0]),
						by_first));
		}
		assert_int_equal(sum, 0);
		key = 97;
		assert_null(bsearch(&key, v, n, sizeof(v[0]), by_first));
	}
	assert_true(swaps > 0);
}

static void dumps_one_line(void **state)
{
	static const u8 bytes[] = { 0x41, 0x00, 0x7f, 0x42 };
	char line[80];

	assert_int_equal(hex_dump_to_buffer(bytes, 4, 16, 1, line, sizeof(line),
					    false),
			 11);
	assert_string_equal(line, "41 00 7f 42");
	assert_int_equal(hex_dump_to_buffer(bytes, 4, 16, 1, line, 6, false),
			 11);
	assert_string_equal(line, "41 00");
	hex_dump_to_buffer(bytes, 4, 16, 1, line, sizeof(line), true);
	assert_string_equal(strrchr(line, ' '), " A..B");
}

static void knows_code(void **state)
{
	static char data[8];

	assert_true(kernel_text_address((unsigned long)knows_code));
	assert_false(kernel_text_address((unsigned long)data));
	assert_false(kernel_text_address(0));
}

static void knows_whose_rights_and_since_when(void **state)
{
	uid_t real, effective, saved;

	assert_int_equal(getresuid(&real, &effective, &saved), 0);
	assert_int_equal(current->cred->uid.val, real);
	assert_int_equal(current->cred->euid.val, effective);
	assert_int_equal(current->cred->gid.val, getgid());
	assert_true(current->start_time > 0);
	assert_true(current->start_time <= (u64)ktime_get_boottime_ns());
	assert_true(current->parent->start_time <= current->start_time);
	assert_int_equal(current->parent->cred->uid.val, real);
	assert_ptr_equal(current->real_cred, current->cred);
}

/* A thread of another process, as /proc shows it; that one has different ids if it may. */
static bool knows_rights_of_another(void)
{
	struct dp_probed there = { .task = { .pid = getpid(),
					     .tgid = getpid() } };
	uid_t uid[3];
	gid_t gid[3];
	const struct cred *cred;

	/* Those of the file system follow the effective ones, so they come behind. */
	if (!getuid() &&
	    (setresgid(11, 12, 13) || setfsgid(14) < 0 || setresuid(1, 2, 3)))
		return false;
	setfsuid(3);
	if (getresuid(&uid[0], &uid[1], &uid[2]) ||
	    getresgid(&gid[0], &gid[1], &gid[2]))
		return false;
	dp_probed = &there;
	cred = current->cred;
	dp_probed = NULL;
	return cred->uid.val == uid[0] && cred->euid.val == uid[1] &&
	       cred->suid.val == uid[2] && cred->gid.val == gid[0] &&
	       cred->egid.val == gid[1] && cred->sgid.val == gid[2] &&
	       cred->fsuid.val == (uid_t)setfsuid(-1u) &&
	       cred->fsgid.val == (gid_t)setfsgid(-1u);
}

static void knows_rights_from_outside(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!knows_rights_of_another());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_processors_unseen),
		cmocka_unit_test(wakes_who_waits),
		cmocka_unit_test(waits_no_longer_than_told),
		cmocka_unit_test(counts_references),
		cmocka_unit_test(lists_without_a_lock),
		cmocka_unit_test(sorts_and_finds),
		cmocka_unit_test(dumps_one_line),
		cmocka_unit_test(knows_code),
		cmocka_unit_test(knows_whose_rights_and_since_when),
		cmocka_unit_test(knows_rights_from_outside),
		cmocka_unit_test(current_is_the_thread),
		cmocka_unit_test(what_a_thread_is_stays_known),
		cmocka_unit_test(clocks_are_the_kernels),
		cmocka_unit_test(each_processor_has_its_copy),
		cmocka_unit_test(locks_exclude),
		cmocka_unit_test(a_mutex_wakes_its_waiter),
		cmocka_unit_test(clocks_need_no_system_call),
		cmocka_unit_test(lists_keep_their_order),
		cmocka_unit_test(atomics_return_what_they_say),
		cmocka_unit_test(names_and_addresses),
		cmocka_unit_test(stacks_go_through_libc),
		cmocka_unit_test(stacks_go_through_signals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	dp_compat_hooks.lookup = lookup;
	return cmocka_run_group_tests_name("compat", tests, NULL, NULL);
}
