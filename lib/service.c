// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * service: orders of the tool to this process, carried out by one of its threads.
 *
 * The thread was asleep in a system call. Its own stack may have little room, so it works
 * on a stack of the service.
 */
#include "lib/self.h"
#include "lib/hook.h"
#include "lib/modules.h"
#include "lib/service.h"
#include "proc/facts.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct dp_service *service;
static bool in_handler; /* the thread that carries out the order */

/*
 * dp_service_entry(number): called on the program's stack, which is not aligned. No
 * register has to be preserved. dp_service_done() frees the service's stack for the next
 * order, so it is called on the program's stack.
 */
__asm__(".text\n"
	".globl dp_service_entry\n"
	".hidden dp_service_entry\n"
	".type dp_service_entry, @function\n"
	"dp_service_entry:\n"
	"	mov %rsp, %rbx\n"
	"	mov %rdi, %r12\n"
	"	and $-16, %rsp\n"
	"	call dp_service_claim\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	mov %rsp, %r13\n"
	"	mov %rax, %rsp\n"
	"	call dp_service_work\n"
	"	mov %r13, %rsp\n"
	"	mov %r12, %rdi\n"
	"	call dp_service_done\n"
	"1:	mov %rbx, %rsp\n"
	"	ret\n"
	".size dp_service_entry, . - dp_service_entry\n");

void dp_service_entry(u64 number) __attribute__((visibility("hidden")));
u64 dp_service_claim(u64 number) __attribute__((visibility("hidden")));
void dp_service_work(void) __attribute__((visibility("hidden")));
void dp_service_done(u64 number) __attribute__((visibility("hidden")));

/* Return: the stack to work on; 0: the order has another number. */
u64 dp_service_claim(u64 number)
{
	u64 asked = number << 32 | DP_SERVICE_ASKED;

	if (!__atomic_compare_exchange_n(&service->state, &asked,
					 number << 32 | DP_SERVICE_RUNS, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	/* dp_self_in_handler() looks at the stack, so not on the service's. */
	in_handler = dp_self_in_handler();
	return (u64)service->stack + DP_SERVICE_STACK;
}

void dp_service_done(u64 number)
{
	__atomic_store_n(&service->state, number << 32 | DP_SERVICE_DONE,
			 __ATOMIC_RELEASE);
}

static int load(void)
{
	struct dp_module_order o;
	struct dp_compat_loaded *loaded;
	int err = dp_module_order_parse(&o, service->order);

	if (err)
		return dp_diag_set(&service->diag, err, "the order is damaged");
	dp_module_log();
	return dp_compat_load(o.module, o.params, o.nr_params, o.aliases,
			      o.nr_aliases, &loaded, &service->diag);
}

static int unload(void)
{
	struct dp_compat_loaded *loaded = dp_compat_find(service->order);

	if (!loaded)
		return dp_diag_set(&service->diag, -ENOENT,
				   "no module %.64s is loaded in it",
				   service->order);
	return dp_compat_unload(loaded, &service->diag);
}

static int turn(void)
{
	unsigned int knob = DP_KNOBS;
	int on = 0;

	if (sscanf(service->order, "%u %d", &knob, &on) != 2 ||
	    knob >= DP_KNOBS)
		return dp_diag_set(&service->diag, -EINVAL,
				   "the order is damaged");
	on = knob == DP_KNOB_ENABLED ? dp_kprobes_enabled(on) :
				       dp_kprobes_optimization(on);
	return on < 0 ? dp_diag_set(&service->diag, on, "%s",
				    dp_last_diag()->text) :
			0;
}

static int about_guests(u32 verb)
{
	u32 n = service->nr_guests;

	if (verb != DP_SERVICE_PROGRAM && n > DP_SERVICE_GUESTS)
		return dp_fail(-EINVAL, "the order is damaged");
	switch (verb) {
	case DP_SERVICE_BEGIN:
		return dp_guests_begin();
	case DP_SERVICE_PROGRAM:
		return dp_guests_program(service->order, DP_SERVICE_ORDER, n);
	case DP_SERVICE_PROBE:
		return dp_guests_add(service->guests, n);
	case DP_SERVICE_SWITCH:
		return dp_guests_switch(service->guests, n);
	case DP_SERVICE_UNPROBE:
		return dp_guests_remove(service->guests, n);
	case DP_SERVICE_CLEAN:
		return dp_guests_clean();
	case DP_SERVICE_SETTLE:
		return dp_guests_settle();
	default:
		return dp_fail(-EOPNOTSUPP, "there is no such order");
	}
}

static int host(u32 verb)
{
	int err = about_guests(verb);

	service->hosted = dp_self.nr_guests;
	if (err)
		service->diag = *dp_last_diag();
	return err;
}

static int of_hooks(int err)
{
	if (err)
		service->diag = *dp_last_diag();
	return err;
}

/* Words are lines: a name may have spaces. */
static int switch_exit(void)
{
	char *hook, *exit = NULL;

	service->order[DP_SERVICE_ORDER - 1] = '\0';
	hook = strchr(service->order, '\n');
	if (hook)
		exit = strchr(++hook, '\n');
	if (!exit)
		return dp_diag_set(&service->diag, -EINVAL,
				   "the order is damaged");
	*exit++ = '\0';
	return of_hooks(dp_hook_switch(hook, exit, *service->order == '1'));
}

static int carry_out(u32 verb)
{
	switch (verb) {
	case DP_SERVICE_HOOKS:
		return of_hooks(
			dp_hooks_print(service->order, DP_SERVICE_ORDER));
	case DP_SERVICE_EXIT:
		return switch_exit();
	case DP_SERVICE_LOAD:
		return load();
	case DP_SERVICE_UNLOAD:
		return unload();
	case DP_SERVICE_TURN:
		return turn();
	default:
		return host(verb);
	}
}

/* The thread may hold our locks itself, so it must not wait for them. */
static bool is_busy(void)
{
	return in_handler || dp_self_busy() || dp_compat_busy() ||
	       dp_hook_is_running();
}

void dp_service_work(void)
{
	int error = errno, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (service->verb <= DP_SERVICE_TURN)
		service->order[DP_SERVICE_ORDER - 1] = '\0';
	dp_diag_clear(&service->diag);
	service->refused = is_busy();
	if (service->refused)
		service->err = -EAGAIN;
	else
		service->err = carry_out(service->verb);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
}

/* Called in any handler: no libc, no lock. The oldest line is overwritten. */
void dp_service_log(int level, const char *text, size_t len)
{
	u64 n, seq;
	struct dp_service_line *line;

	if (!service)
		return;
	n = __atomic_fetch_add(&service->next, 1, __ATOMIC_RELAXED);
	line = &service->lines[n % DP_SERVICE_LINES];
	seq = __atomic_load_n(&line->seq, __ATOMIC_RELAXED);
	/* Another thread has been writing it for a whole round, or has overtaken us. */
	if (seq & 1 || seq > 2 * n ||
	    !__atomic_compare_exchange_n(&line->seq, &seq, 2 * n + 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&service->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	line->level = (u8)level;
	line->len = dp_line_copy(line->text, DP_SERVICE_TEXT, text, len);
	__atomic_store_n(&line->seq, 2 * n + 2, __ATOMIC_RELEASE);
}

void dp_service_modules(const struct dp_compat_loaded *list)
{
	u32 n = 0;

	if (!service)
		return;
	__atomic_store_n(&service->changes, service->changes + 1,
			 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; list && n < DP_SERVICE_MODULES; list = list->next) {
		struct dp_service_module *m = &service->modules[n++];

		snprintf(m->name, sizeof(m->name), "%s", list->name);
		snprintf(m->path, sizeof(m->path), "%s", list->path);
		m->size = list->size;
		m->refs = dp_compat_refs(list);
		m->forked = list->forked;
	}
	service->nr_modules = n;
	__atomic_store_n(&service->changes, service->changes + 1,
			 __ATOMIC_RELEASE);
}

void dp_service_knobs(bool enabled, bool optimization)
{
	if (!service)
		return;
	service->knobs[DP_KNOB_ENABLED] = enabled;
	service->knobs[DP_KNOB_OPTIMIZATION] = optimization;
}

/* The fork child's copy: it has no order yet, and no probes. */
static void in_child(void)
{
	service->owner = (u32)getpid();
	service->state = DP_SERVICE_IDLE;
	service->hosted = service->guests_of = 0;
	dp_service_knobs(true, true);
	dp_compat_forked();
}

void dp_service_open(void)
{
	int fd = dp_limits_file("libdprobes", sizeof(*service));
	void *mem;

	if (fd < 0)
		return;
	mem = mmap(NULL, sizeof(*service), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	close(fd);
	if (mem == MAP_FAILED)
		return;
	service = mem;
	mprotect(service->guard, sizeof(service->guard), PROT_NONE);
	dp_service_knobs(true, true);
	service->version = DP_SERVICE_VERSION;
	service->owner = (u32)getpid();
	service->entry = (u64)dp_service_entry;
	pthread_atfork(NULL, NULL, in_child);
	__atomic_store_n(&service->magic, DP_SERVICE_MAGIC, __ATOMIC_RELEASE);
}
