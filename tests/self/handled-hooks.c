// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handled-hooks: hooks and the handlers of probes. A thread in an exit comes to a probe, and its
 * handler, which has a stack of its own, runs through a hook: the thread is still in the exit. When a
 * handler that is in an exit faults, it is given up, and the thread is not in the exit any more.
 * Functions that programs call are exits of a hook of the library's.
 */
#include "tap.h"
#include <dprobes/facility.h>
#include <dprobes/hooks.h>
#include <dprobes/kprobes.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

DECLARE_HOOK(outer, int);
DECLARE_HOOK(inner, int);

static volatile long outers, inners, sink;
static volatile bool is_in, may_go, handled, is_over;

static __attribute__((noipa)) void probed(void)
{
	sink++;
}

static int on_outer(struct gkh_hook *h, struct gkh_args *a, int n)
{
	outers++;
	probed();
	is_in = true;
	while (!may_go)
		usleep(1000);
	return GKH_CONTINUE;
}
GKH_EXIT(outer_exit, outer, on_outer);

static int *volatile nowhere;

static int on_inner(struct gkh_hook *h, struct gkh_args *a, int n)
{
	inners++;
	if (!n)
		*nowhere = 1;
	return GKH_CONTINUE;
}
GKH_EXIT(inner_exit, inner, on_inner);

static struct gkh_rec at_outer = { .hook = GKH_HOOK(outer),
				   .exit = outer_exit },
		      at_inner = { .hook = GKH_HOOK(inner),
				   .exit = inner_exit };

/* @waits: the handler is where the thread is while others look for it */
static bool waits;

static int runs_through(struct kprobe *p, struct pt_regs *regs)
{
	HOOK(inner, 1);
	handled = true;
	while (waits && !may_go)
		usleep(1000);
	return 0;
}

static void *run_outer(void *unused)
{
	HOOK(outer, 1);
	return NULL;
}

static void *deregister_outer(void *unused)
{
	is(gkh_deregister(&at_outer), 0, "the exit is deregistered");
	is_over = true;
	return NULL;
}

/* A thread's stack may lie right below those of the handlers. */
static void in_an_exit(const char *what)
{
	struct kprobe p = { .addr = (void *)probed,
			    .pre_handler = runs_through };
	pthread_t in, out;

	outers = inners = 0;
	is_in = may_go = handled = is_over = false;
	is(gkh_register(&at_outer) || gkh_arm(&at_outer), 0, "an exit");
	is(register_kprobe(&p), 0, "a probe in it");
	pthread_create(&in, NULL, run_outer, NULL);
	while (waits ? !handled : !is_in)
		usleep(1000);
	pthread_create(&out, NULL, deregister_outer, NULL);
	usleep(300000);
	ok(!is_over, "%s: it is waited for", what);
	may_go = true;
	pthread_join(in, NULL);
	pthread_join(out, NULL);
	is(outers, 1, "the exit was called");
	is(inners, 1, "and the handler's hook called its own");
	unregister_kprobe(&p);
}

static int faults(struct kprobe *p, struct pt_regs *regs)
{
	HOOK(inner, 0);
	return 0;
}

static void *run_and_sleep(void *unused)
{
	probed();
	is_in = true;
	while (!may_go)
		usleep(1000);
	return NULL;
}

/* @mine: it is this thread that was in the exit; else one that sleeps since. */
static void given_up(bool mine)
{
	struct kprobe p = { .addr = (void *)probed, .pre_handler = faults };
	pthread_t t;

	is_in = may_go = false;
	is(register_kprobe(&p), 0, "a handler whose hook's exit faults");
	if (mine) {
		may_go = true;
		run_and_sleep(NULL);
	} else {
		pthread_create(&t, NULL, run_and_sleep, NULL);
	}
	while (!is_in)
		usleep(1000);
	is(inners, 1, "the exit was called");
	is(gkh_deregister(&at_inner), 0, "the exit is deregistered");
	may_go = true;
	if (!mine)
		pthread_join(t, NULL);
	unregister_kprobe(&p);
	is(gkh_register(&at_inner) || gkh_arm(&at_inner), 0, "and back");
	HOOK(inner, 1);
	is(inners, 2, "the hook is as before");
}

/* --- functions that programs call --- */

static void take(void *ctx, const void *log, size_t len)
{
}

static int add_facility(const char *name)
{
	return dp_facility_register(20, name, take, NULL,
				    DP_FACILITY_AT_COMMIT);
}

/* The names of its exits, in order */
static char listed[256];
static bool is_listed;

static void list_line(void *arg, const char *line)
{
	char name[64];

	if (*line != ' ')
		is_listed = !strncmp(line, "dprobes_facility ", 17);
	else if (is_listed && sscanf(line, " %*u %63s", name) == 1)
		strcat(strcat(listed, name), " ");
}

static bool exits_are(const char *names)
{
	*listed = '\0';
	is_listed = false;
	return gkh_list(list_line, NULL) >= 0 && !strcmp(listed, names);
}

static int child(void)
{
	return add_facility("child") || !exits_are("child ") ||
	       dp_facility_unregister(20) || !exits_are("") ||
	       dp_facility_unregister(20) != -ENOENT;
}

static void functions_of_a_child(void)
{
	int status = -1;
	pid_t pid;

	is(add_facility("parent"), 0, "a function that programs call");
	ok(exits_are("parent "), "is an exit of a hook");
	pid = fork();
	if (!pid)
		_exit(child());
	waitpid(pid, &status, 0);
	is(status, 0, "a fork child has none, but may have others");
	ok(exits_are("parent "), "and the parent has its own");
	is(dp_facility_unregister(20), 0, "it goes");
	ok(exits_are(""), "and with it the exit");
}

static int in_exit[3];

static int changes_functions(struct gkh_hook *h, struct gkh_args *a, int n)
{
	in_exit[0] = dp_facility_unregister(20);
	in_exit[1] = add_facility("second");
	in_exit[2] = exits_are("second ");
	return GKH_CONTINUE;
}
GKH_EXIT(changing_exit, outer, changes_functions);

/* There nobody is waited for, so the exit of the first stays for a while; it is not called. */
static void functions_in_an_exit(void)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(outer), .exit = changing_exit };

	is(add_facility("first"), 0, "another");
	is(gkh_register(&rec) || gkh_arm(&rec), 0, "an exit changes functions");
	HOOK(outer, 1);
	ok(!in_exit[0] && !in_exit[1] && in_exit[2], "that can be: %d %d %d",
	   in_exit[0], in_exit[1], in_exit[2]);
	is(gkh_deregister(&rec), 0, "the exit goes");
	ok(exits_are("second "), "the second function is there");
	is(dp_facility_unregister(20), 0, "and goes");
	ok(exits_are(""), "nothing is left");
}

static struct gkh_rec stops = { .hook_name = "dprobes_facility",
				.exit = inner_exit,
				.flags = GKH_STOP_CPUS };

/* Without its hook a function is not called; the next one makes the hook anew. */
static void without_the_hook(void)
{
	is(add_facility("first"), 0, "a function whose hook is deleted");
	is(gkh_delete(gkh_find("dprobes_facility"), true), 0, "by force");
	is(add_facility("second"), -EBUSY, "the function is registered still");
	is(dp_facility_unregister(20), 0, "and goes");
	is(add_facility("second"), 0, "another one");
	ok(exits_are("second "), "has the hook");
	is(gkh_register(&stops), -EINVAL, "where nobody can be stopped");
	is(dp_facility_unregister(20), 0, "and goes");
}

int main(void)
{
	is(gkh_register(&at_inner) || gkh_arm(&at_inner), 0,
	   "the handler's hook has an exit");
	in_an_exit("a thread that has been in a handler");
	waits = true;
	in_an_exit("a thread that is in a handler");
	inners = 0;
	given_up(true);
	inners = 0;
	given_up(false);
	is(gkh_deregister(&at_inner), 0, "the handler's exit is deregistered");
	functions_of_a_child();
	functions_in_an_exit();
	without_the_hook();
	return plan();
}
