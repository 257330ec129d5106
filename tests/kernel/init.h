/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* init: the parts of the guest's first program. */
#ifndef DP_KERNEL_INIT_H
#define DP_KERNEL_INIT_H

/** dp_facts_write() - leave facts about the kernel's instructions for the test module. Return: how many */
unsigned int dp_facts_write(void);

/** dp_init_check() - a test: @of, and behind it @what */
void dp_init_check(int is, const char *what, const char *of);
/** dp_init_skip() - a test that this kernel has nothing for */
void dp_init_skip(const char *what, const char *why);
/** dp_init_todo() - a test that is known to fail */
void dp_init_todo(const char *of, const char *what, const char *why);
/** dp_init_is_named() - does the kernel's command line name it, as in only=many,returns?
 *  dp_init_is_wanted() - or does it name none, and not that as in except=tool? */
int dp_init_is_named(const char *name);
int dp_init_is_wanted(const char *name);
/** dp_init_log() - what the kernel has said since the last call; for as long as the next one
 *  dp_init_is_quiet() - are there no complaints?
 *  dp_init_tell() - tell what a test module has said there, which is taken apart. Return: its end was reached */
char *dp_init_log(void);
int dp_init_is_quiet(const char *log);
int dp_init_tell(char *log);
/** dp_init_put() - write a file; dp_init_number() - read a number of one: ~0: there is none */
void dp_init_put(const char *path, const char *text);
unsigned int dp_init_number(const char *path);
/** dp_init_run_twice() - as dp_init_run(), without parameters; then the module comes and goes once more */
void dp_init_run_twice(const char *name);
/** dp_init_try_to_load() - dprobes.ko loads with the right address only */
void dp_init_try_to_load(void);
/**
 * struct dp_init_part - tests that only= and except= name
 * @module: a test module that is run twice; else @run is called
 * @of: the kernel has to be quiet meanwhile, which is a test of that name; NULL: @run sees to that
 * @named: only where only= names it
 * @has: does the kernel have what it takes? NULL: it does; @why: it does not
 */
struct dp_init_part {
	const char *name, *module, *of, *why;
	void (*run)(void);
	int (*has)(void);
	int named;
};
/** dp_init_run_parts() - those that are wanted, up to the one without a name */
void dp_init_run_parts(const struct dp_init_part *part);
/** dp_handlers_parts[] - probes of other modules */
extern const struct dp_init_part dp_handlers_parts[];
/** dp_init_kprobes() - has the kernel probes of its own? */
int dp_init_kprobes(void);
#define DP_INIT_NO_KPROBES "this kernel has no probes of its own"
/** dp_init_address() - of a symbol of the kernel's, in /proc/kallsyms; 0: there is none, or it is not shown */
unsigned long dp_init_address(const char *name);
/** dp_init_lists() - does dprobes.ko, which is there, put return addresses into the lists of tasks? */
int dp_init_lists(void);
/** dp_init_debugfs() - has it debugfs? dp_init_events() - can files of the kernel's have probes of its own? */
int dp_init_debugfs(void);
#define DP_INIT_NO_DEBUGFS "this kernel has no debugfs"
int dp_init_events(void);
#define DP_INIT_NO_EVENTS "this kernel has no kprobe_events"
/** dp_init_load() - load a module. Return: is it there? */
int dp_init_load(const char *name, const char *parameters);
int dp_init_unload(const char *name);
/** dp_init_run() - a module whose tests run as it is loaded */
void dp_init_run(const char *name, const char *parameters);
/** dp_init_load_probes() - load dprobes.ko */
int dp_init_load_probes(void);

/** dp_device_try() - have probes by /dev/dprobes; dp_device_random() - ask it all kinds of things, so
 *  often by each of three threads;
 *  dp_device_locked() - in a kernel that is locked down, which it stays */
void dp_device_try(void);
void dp_device_random(unsigned int times);
#define DP_DEVICE_RANDOM 100000
/** dp_clients_try() - several have the device at a time, and their probes come and go */
void dp_clients_try(void);
/** dp_failed_try() - requests that fail, or are undone */
void dp_failed_try(void);
/** dp_external_try() - have programs call functions of a module */
void dp_external_try(void);
/** dp_device_programs() - have its probes run programs */
void dp_device_programs(void);
void dp_device_locked(void);
/** dp_returns_try() - its probes on returns */
void dp_returns_try(void);
/** dp_hotplug_try() - a CPU goes and comes back meanwhile */
void dp_hotplug_try(void);
/** dp_hooks_try() - hooks of modules */
void dp_hooks_try(void);
/** dp_facilities_try() - what programs ask for as they end; dp_facilities_dump() - the last one, which ends the guest */
void dp_facilities_try(void);
void dp_facilities_dump(void);
/** dp_debugger_try() - the kernel's debugger is called, and gdb is there: tests/kernel/debugger */
void dp_debugger_try(void);
/** dp_watch_try() - its probes on data, and the command's; dp_watch_write() - what it writes,
 *  at dp_watch_address() */
void dp_watch_try(void);
void dp_watch_write(unsigned int times);
unsigned long dp_watch_address(void);
/** dp_user_try() - its probes on files */
void dp_user_try(void);
/** dp_user_returns() - returns in all processes */
void dp_user_returns(void);
/** dp_user_files() - files that change, and who maps them */
void dp_user_files(void);
/** dp_modules_try() - probes of modules that come and go */
void dp_modules_try(void);

/** Where debugfs is mounted */
#define DP_DEBUG "/sys/kernel/debug"
/** dp_files_try() - what its files in debugfs show and do */
void dp_files_try(void);
/** dp_files_list() - all probes, as listed there; dp_files_put() - write to one. Return: 0 or an errno */
const char *dp_files_list(void);
int dp_files_put(const char *file, const char *text);
int dp_files_there(void);

/** dp_tool_try() - dprobes(1) on the kernel; dp_tool_absent() - where dprobes.ko is not loaded */
void dp_tool_try(void);
void dp_tool_absent(void);
/** dp_stacks_try() - stacks of hits */
void dp_stacks_try(void);
/** dp_tables_try() - tables of values */
void dp_tables_try(void);
/** dp_run_try() - programs from files in the kernel */
void dp_run_try(void);
/** dp_tool_work() - what it counts: so many calls of getsid(2), umask(2), readings of a parameter of
 *  dpbytes.ko, of getsid(2) with 5, forks with a kill(2) each, dp_watch_write(). Return: exit status */
int dp_tool_work(char *const *argv);

#endif
