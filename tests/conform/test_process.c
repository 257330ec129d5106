// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* process: fork, exec, exit, libraries that go, and probes as modules. */
#include "conform.h"
#include "victims.h"
#include <dlfcn.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

extern char **environ;

/* --- children --- */

static int child_status(pid_t pid)
{
	int status = -1;

	check_eq(waitpid(pid, &status, 0), pid);
	check_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
	return WEXITSTATUS(status);
}

/* In the child: 0 if no probe is hit and the text is as it was. */
static int child(const struct conform_text *text)
{
	unsigned long pre = counts.pre;
	int i;

	for (i = 0; i < 10; i++)
		if (c_plain(i, 1) != 3 * i + 1 || c_recurse(3) != 6)
			return 1;
	if (counts.pre != pre || counts.ret || counts.post)
		return 2;
	return text_same(text) ? 0 : 3;
}

TEST(row_162_a_fork_child_has_no_probes_and_clean_text)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);
	struct kretprobe rp = retprobe_at(c_recurse);
	pid_t pid;
	int i;

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	for (i = 0; i < 5; i++) {
		pid = fork();
		if (!pid)
			_exit(child(&text));
		check_eq(child_status(pid), 0);
	}
	check_eq(dp_kprobe_hits(&kp), 0);
	c_plain(1, 1);
	c_recurse(1);
	check_eq(dp_kprobe_hits(&kp), 1);
	check_eq(counts.ret, 2);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
}

TEST(row_162_with_trap_probes_too)
{
	struct conform_text text = text_of(c_plain);
	struct kprobe kp = probe_at(c_plain);
	pid_t pid;

	kp.post_handler = count_post;
	must(register_kprobe(&kp));
	pid = fork();
	if (!pid)
		_exit(child(&text));
	check_eq(child_status(pid), 0);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

static pid_t forked;

static void fork_inside(long arg)
{
	forked = fork();
}

/* A call that is tracked, and that the child returns from. */
TEST(row_162_a_fork_inside_a_followed_call)
{
	struct kretprobe rp = retprobe_at(c_call_back);
	int i;

	must(register_kretprobe(&rp));
	for (i = 0; i < 5; i++) {
		check_eq(c_call_back(fork_inside, 5), 6);
		if (!forked)
			_exit(counts.ret == (unsigned long)i ? 0 : 1);
		check_eq(child_status(forked), 0);
	}
	check_eq(counts.ret, 5);
	unregister_kretprobe(&rp);
}

TEST(row_162_fork_vfork_and_exec_are_no_problem)
{
	static const char *const names[] = { "fork", "vfork", "execve",
					     "posix_spawn", "waitpid" };
	char *argv[] = { "sh", "-c", "exit 4", NULL };
	struct kprobe kp[COUNT(names)];
	unsigned int i;
	pid_t pid;

	for (i = 0; i < COUNT(names); i++) {
		kp[i] = (struct kprobe){ .symbol_name = names[i],
					 .pre_handler = count_pre };
		must(register_kprobe(&kp[i]));
	}
	pid = fork();
	if (!pid) {
		execve("/bin/sh", argv, environ);
		_exit(1);
	}
	check_eq(child_status(pid), 4);
	pid = vfork();
	if (!pid) {
		execve("/bin/sh", argv, environ);
		_exit(1);
	}
	check_eq(child_status(pid), 4);
	check(!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ));
	check_eq(child_status(pid), 4);
	check_eq(system("exit 5"), 5 << 8);
	check_eq(dp_kprobe_hits(&kp[0]), 1);
	check_eq(dp_kprobe_hits(&kp[1]), 1);
	check(dp_kprobe_hits(&kp[3]) >= 1); /* system() calls it, too */
	for (i = 0; i < COUNT(names); i++)
		unregister_kprobe(&kp[i]);
}

/* A child may do what it likes with the library: an errno, and no damage. */
TEST(row_162_a_fork_child_that_calls_the_library)
{
	struct kprobe kp = probe_at(c_plain), own = probe_at(c_other);
	pid_t pid;

	must(register_kprobe(&kp));
	pid = fork();
	if (!pid) {
		int rc = register_kprobe(&own);

		if (c_other(1, 1) != 6 || c_plain(1, 1) != 4)
			_exit(1);
		if (!rc)
			unregister_kprobe(&own);
		unregister_kprobe(&kp);
		_exit(c_other(1, 1) == 6 && c_plain(1, 1) == 4 ? 0 : 2);
	}
	check_eq(child_status(pid), 0);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}

HELPER(exit_with_probes)
{
	static struct kprobe kp, post;
	static struct kretprobe rp;

	kp = probe_at(c_plain);
	post = (struct kprobe){ .symbol_name = "exit",
				.post_handler = count_post };
	rp = retprobe_at(c_recurse);
	must(register_kprobe(&kp));
	must(register_kprobe(&post));
	must(register_kretprobe(&rp));
	c_recurse(3);
	exit(c_plain(1, 1));
}

TEST(row_162_a_program_may_end_with_its_probes)
{
	check_eq(in_process("exit_with_probes"), 4 << 8);
}

HELPER(exec_with_probes)
{
	static struct kprobe kp;

	kp = probe_at(c_plain);
	must(register_kprobe(&kp));
	execl("/bin/sh", "sh", "-c", "exit 6", NULL);
}

TEST(row_162_a_program_may_become_another_one)
{
	check_eq(in_process("exec_with_probes"), 6 << 8);
}

/* --- libraries --- */

static int (*plugin_function)(int n);

static void *load_plugin(void)
{
	void *plugin = dlopen(getenv("CONFORM_PLUGIN"), RTLD_NOW);

	check(plugin);
	plugin_function = (int (*)(int))dlsym(plugin, "plugin_function");
	check(plugin_function);
	return plugin;
}

TEST(row_187_probes_in_an_unloaded_library_are_gone)
{
	struct kprobe kp = { .symbol_name = "plugin_function",
			     .pre_handler = count_pre };
	struct kprobe again = kp;
	void *plugin = load_plugin(), *addr;

	must(register_kprobe(&kp));
	addr = kp.addr;
	check_eq(plugin_function(1), 31);
	check(strstr(list_line(addr, 'k'), "libconform-plugin.so"));
	check(!dlclose(plugin));
	check(listed(addr, "[GONE]"));
	check(kp.flags & KPROBE_FLAG_GONE);
	check_eq(enable_kprobe(&kp), -EINVAL);
	/* Loaded again it is another library. */
	load_plugin();
	check_eq(plugin_function(1), 31);
	check_eq(counts.pre, 1);
	must(register_kprobe(&again));
	check_eq(plugin_function(1), 31);
	check_eq(counts.pre, 2);
	unregister_kprobe(&kp);
	check_eq(plugin_function(1), 31);
	check_eq(counts.pre, 3);
	unregister_kprobe(&again);
	check_eq(plugin_function(1), 31);
	check_eq(counts.pre, 3);
}

/* The line about @addr that another process gets. */
static const char *line_outside(const void *addr)
{
	static char line[512];
	char command[512], start[32];
	const char *plugin = getenv("CONFORM_PLUGIN"), *found = NULL;
	FILE *out;

	snprintf(command, sizeof(command), "%.*s/../../dprobes list -p %d",
		 (int)(strrchr(plugin, '/') - plugin), plugin, getpid());
	snprintf(start, sizeof(start), "%016lx ", (unsigned long)addr);
	out = popen(command, "r");
	check(out);
	while (fgets(line, sizeof(line), out) && !found)
		if (!strncmp(line, start, strlen(start)))
			found = line;
	while (getc(out) != EOF)
		continue;
	check(!pclose(out));
	return found;
}

TEST(row_188_others_see_it_before_the_library_does)
{
	struct kprobe kp = { .symbol_name = "plugin_function",
			     .pre_handler = count_pre };
	void *plugin = load_plugin(), *addr;
	char gone[64];

	must(register_kprobe(&kp));
	addr = kp.addr;
	snprintf(gone, sizeof(gone), "%016lx  k  0x%lx [GONE]\n",
		 (unsigned long)addr, (unsigned long)addr);
	check(strstr(line_outside(addr), "plugin_function+0x0"));
	check(!dlclose(plugin));
	check(!strcmp(line_outside(addr), gone));
	/* The library does now, and the line stays; also if another comes there. */
	check(!strncmp(list_line(addr, 'k'), gone, strlen(gone) - 1));
	check(!strcmp(line_outside(addr), gone));
	load_plugin();
	check(!strcmp(line_outside(addr), gone));
	check(!strncmp(list_line(addr, 'k'), gone, strlen(gone) - 1));
	unregister_kprobe(&kp);
	check(!line_outside(addr));
	check_eq(list_length(), 0);
}

TEST(row_188_probes_in_memory_that_is_unmapped)
{
	unsigned char *code = mmap(NULL, 4096,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kprobe kp = { .addr = code };
	int rc;

	check(code != MAP_FAILED);
	/* lea 1(%rdi),%eax; ret */
	memcpy(code, "\x8d\x47\x01\xc3", 4);
	rc = register_kprobe(&kp);
	if (rc)
		conform_skip("code that is in no file is refused");
	check_eq(((int (*)(int))code)(1), 2);
	check_eq(dp_kprobe_hits(&kp), 1);
	munmap(code, 4096);
	check(listed(code, "[GONE]"));
	check(kp.flags & KPROBE_FLAG_GONE);
	check(dp_kprobes_optimization(0) >= 0);
	check(dp_kprobes_optimization(1) >= 0);
	unregister_kprobe(&kp);
	check_eq(list_length(), 0);
}

/* --- modules --- */

/* Constructor and destructor of a library are what init and exit are to the
 * kernel's modules. */
TEST(row_006_a_module_registers_when_loaded_and_unregisters_when_unloaded)
{
	void *module = dlopen(getenv("CONFORM_MODULE"), RTLD_NOW);
	unsigned long *hits;

	check(module);
	hits = dlsym(module, "module_hits");
	check(hits);
	check_eq(getppid() > 0, 1);
	check_eq(*hits, 1);
	check(list_length() == 1);
	check(!dlclose(module));
	check_eq(list_length(), 0);
	check(getppid() > 0);
}
