// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_modules: which modules are loaded and why others are not, and what is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include "lib/compat/hooks.h"
#include "lib/compat/module.h"
#include <dprobes-module.h>
#include "compat_probes.h"

#define ODD DP_MODULES "odd.so"
#define MOST (256 << 10) /* bytes of a module's file */

static char seen[4096];
static struct dp_diag diag;

static void sink(int level, const char *text, size_t len, void *arg)
{
	strlcat(seen, text, sizeof(seen));
	strlcat(seen, "|", sizeof(seen));
}

static int begin(void **state)
{
	seen[0] = '\0';
	dp_compat_hooks = (struct dp_compat_hooks){ 0 };
	return dp_printk_set(sink, NULL);
}

static int load_with(const char *file, const char *param,
		     struct dp_compat_loaded **loaded)
{
	char path[200];

	snprintf(path, sizeof(path), "%s%s", DP_MODULES, file);
	dp_diag_clear(&diag);
	return dp_compat_load(path, &param, !!param, NULL, 0, loaded, &diag);
}

static struct dp_compat_loaded *load(const char *file)
{
	struct dp_compat_loaded *loaded = NULL;

	if (load_with(file, NULL, &loaded))
		fail_msg("%s", diag.text);
	assert_non_null(loaded);
	return loaded;
}

static void unload(struct dp_compat_loaded *loaded)
{
	if (dp_compat_unload(loaded, &diag))
		fail_msg("%s", diag.text);
}

static int refused(const char *file, const char *param)
{
	struct dp_compat_loaded *loaded = NULL;
	int err = load_with(file, param, &loaded);

	assert_int_not_equal(err, 0);
	assert_null(loaded);
	return err;
}

/* --- modules that use others --- */

static void a_module_stays_as_long_as_its_users(void **state)
{
	struct dp_compat_loaded *gives = load("gives.so"), *takes, *odd;

	assert_int_equal(dp_compat_refs(gives), 0);
	takes = load("takes.so");
	assert_int_equal(dp_compat_refs(gives), 1);
	assert_int_equal(dp_compat_refs(takes), 0);
	/* One that uses none. */
	odd = load("odd.so");
	assert_int_equal(dp_compat_refs(gives), 1);
	unload(odd);
	assert_int_equal(dp_compat_refs(gives), 1);
	assert_int_equal(dp_compat_unload(gives, &diag), -EBUSY);
	assert_string_equal(diag.text, "gives is in use by takes");
	unload(takes);
	assert_int_equal(dp_compat_refs(gives), 0);
	/* One whose init fails. */
	assert_int_equal(refused("takes.so", "fails=1"), -EIO);
	assert_string_equal(diag.text,
			    "the init of " DP_MODULES
			    "takes.so returned -5 (Input/output error)");
	assert_int_equal(dp_compat_refs(gives), 0);
	unload(gives);
	/* That others have used it does not keep it: the next load is another one. */
	assert_null(dlopen(DP_MODULES "gives.so", RTLD_NOW | RTLD_NOLOAD));
}

static void only_the_gpl_gets_what_is_exported_to_it(void **state)
{
	struct dp_compat_loaded *gives = load("gives.so"), *odd;

	assert_int_equal(refused("greedy.so", NULL), -ENXIO);
	assert_string_equal(
		diag.text, DP_MODULES
		"greedy.so needs gives_sum, which is exported to modules under the GPL only; its licence is Proprietary");
	assert_int_equal(dp_compat_refs(gives), 0);
	/* Other modules need nothing of that. */
	odd = load("odd.so");
	unload(odd);
	unload(load("follows.so"));
	unload(load("takes.so"));
	unload(gives);
}

/* The process has another function of that name, which would be called. */
static void names_that_the_process_has_are_not_given(void **state)
{
	struct dp_compat_loaded *gives = load("gives.so");

	assert_int_equal(refused("twin.so", NULL), -ENXIO);
	assert_non_null(strstr(diag.text, "getppid"));
	assert_int_equal(dp_compat_refs(gives), 0);
	unload(gives);
	assert_int_equal(refused("takes.so", NULL), -ENXIO);
	assert_non_null(strstr(diag.text, "gives_"));
}

/* --- what is told --- */

static void parameters_that_there_are_not_are_told(void **state)
{
	static const char words[] =
		"the module has no parameter nummer: it has ";
	u32 n = 1;
	char *at;

	assert_int_equal(refused("params.so", "nummer=1"), -ENOENT);
	assert_memory_equal(diag.text, words, sizeof(words) - 1);
	at = diag.text + sizeof(words) - 1;
	assert_int_not_equal(*at, ',');
	for (; (at = strstr(at, ", ")); at += 2)
		n++;
	assert_int_equal(n, 11);
	assert_int_equal(refused("params.so", "xumber=1"), -ENOENT);
	assert_int_equal(refused("params.so", "=1"), -ENOENT);
	assert_int_equal(refused("gives.so", "base=1"), -ENOENT);
	assert_string_equal(diag.text,
			    "the module has no parameter base: it has none");
}

static void aliases_are_all_noted(void **state)
{
	static const char *const good[] = { "one_alias=first_function",
					    "two_alias=second_function" };
	static const char *const bad[] = { "three_alias=third", "=x" };
	struct dp_compat_loaded *loaded;

	assert_int_equal(dp_compat_load(ODD, NULL, 0, good, 2, &loaded, &diag),
			 0);
	unload(loaded);
	assert_string_equal(dp_compat_alias("one_alias"), "first_function");
	assert_string_equal(dp_compat_alias("two_alias"), "second_function");
	assert_int_equal(dp_compat_load(ODD, NULL, 0, bad, 2, &loaded, &diag),
			 -EINVAL);
	assert_string_equal(diag.text,
			    "\"=x\" is not an alias: write NAME=FUNCTION");
	assert_null(dp_compat_find("odd"));
}

static void a_module_has_the_name_of_its_file(void **state)
{
	struct dp_compat_loaded *loaded, *again = NULL;
	int here = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(chdir(DP_MODULES), 0);
	assert_int_equal(
		dp_compat_load("odd.so", NULL, 0, NULL, 0, &loaded, &diag), 0);
	assert_int_equal(fchdir(here), 0);
	close(here);
	assert_string_equal(loaded->name, "odd");
	assert_string_equal(loaded->module->module->name, "odd");
	assert_string_equal(loaded->path, "./odd.so");
	assert_int_equal(load_with("odd.so", NULL, &again), -EEXIST);
	assert_string_equal(diag.text, "a module odd is loaded already");
	dp_compat_forked();
	assert_int_equal(load_with("odd.so", NULL, &again), -EEXIST);
	assert_string_equal(
		diag.text,
		"a module odd was loaded when this process was forked; unload that first");
	assert_null(again);
	unload(loaded);
}

/* --- what others see of it --- */

/* @arg: a module. Where do its segments end? */
static int end_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct dp_compat_loaded *loaded = arg;
	size_t end = 0, i;

	if ((const char *)info->dlpi_addr != loaded->start)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_phdr[i].p_vaddr +
			      info->dlpi_phdr[i].p_memsz;
	assert_int_equal(loaded->size, end);
	return 1;
}

static void the_image_of_a_module_is_known(void **state)
{
	struct dp_compat_loaded *loaded = load("odd.so");
	Dl_info at;

	assert_int_not_equal(dladdr(loaded->module, &at), 0);
	assert_ptr_equal(loaded->start, at.dli_fbase);
	assert_in_range((const char *)loaded->module - loaded->start, 1,
			loaded->size - 1);
	assert_int_equal(dl_iterate_phdr(end_of, loaded), 1);
	unload(loaded);
}

static int state_then, sweeps;
static unsigned int left_probes;
static const struct dp_compat_loaded *unloading;

static unsigned int note_sweep(const char *start, size_t size)
{
	if (unloading) {
		assert_ptr_equal(start, unloading->start);
		assert_int_equal(size, unloading->size);
		state_then = unloading->module->module->state;
	}
	sweeps++;
	return left_probes;
}

static void probes_that_are_left_are_swept_and_told(void **state)
{
	struct dp_compat_loaded *loaded = load("params.so");

	dp_compat_hooks.sweep = note_sweep;
	unloading = loaded;
	left_probes = 3;
	seen[0] = '\0';
	unload(loaded);
	assert_int_equal(state_then, MODULE_STATE_GOING);
	assert_string_equal(
		seen,
		"gone|params: left 3 probes registered; they are gone now|");
	/* Nothing is left, and nothing is told. */
	unloading = NULL;
	left_probes = 0;
	loaded = load("params.so");
	unloading = loaded;
	seen[0] = '\0';
	unload(loaded);
	assert_string_equal(seen, "gone|");
	assert_int_equal(sweeps, 2);
	/* There is nobody who could. */
	dp_compat_hooks.sweep = NULL;
	loaded = load("params.so");
	seen[0] = '\0';
	unload(loaded);
	assert_string_equal(seen, "gone|");
	unloading = NULL;
}

/* The module's own state while its init speaks. */
static void look_at_state(int level, const char *text, size_t len, void *arg)
{
	void *handle = dlopen(ODD, RTLD_NOW | RTLD_NOLOAD);
	const struct dp_compat_module *m;

	assert_non_null(handle);
	m = dlsym(handle, "dp_compat_module");
	state_then = m->module->state;
	dlclose(handle);
}

static void a_module_is_live_when_its_init_has_returned(void **state)
{
	struct dp_compat_loaded *loaded;

	dp_printk_set(look_at_state, NULL);
	state_then = -1;
	loaded = load("odd.so");
	assert_int_equal(state_then, MODULE_STATE_COMING);
	assert_int_equal(loaded->module->module->state, MODULE_STATE_LIVE);
	unload(loaded);
	assert_int_equal(state_then, MODULE_STATE_GOING);
}

static const struct dp_compat_loaded *told[8];
static unsigned int nr_told;

static void note_list(const struct dp_compat_loaded *list)
{
	for (nr_told = 0; list && nr_told < 8; list = list->next)
		told[nr_told++] = list;
}

static void all_modules_are_told_the_newest_first(void **state)
{
	struct dp_compat_loaded *gives, *odd, *takes;

	dp_compat_hooks.changed = note_list;
	gives = load("gives.so");
	odd = load("odd.so");
	assert_int_equal(nr_told, 2);
	assert_ptr_equal(told[0], odd);
	assert_ptr_equal(told[1], gives);
	takes = load("takes.so");
	assert_int_equal(nr_told, 3);
	unload(odd);
	assert_int_equal(nr_told, 2);
	assert_ptr_equal(told[0], takes);
	assert_ptr_equal(told[1], gives);
	/* The newest go first, or their users would keep the others. */
	dp_compat_unload_all();
	assert_int_equal(nr_told, 0);
	assert_null(dp_compat_find("gives"));
}

/* --- files that are like a module's --- */

static u8 bytes[MOST];
static size_t nr_bytes;
static char copy_path[] = "/tmp/dprobes-test-module-XXXXXX";

static void read_file(const char *path)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	nr_bytes = (size_t)read(fd, bytes, MOST);
	assert_in_range(nr_bytes, 1, MOST - 1);
	close(fd);
}

/* Return: the error of loading what is in @bytes. */
static int load_copy(struct dp_compat_loaded **loaded)
{
	int fd, err;

	strscpy(copy_path, "/tmp/dprobes-test-module-XXXXXX",
		sizeof(copy_path));
	fd = mkstemp(copy_path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, nr_bytes), nr_bytes);
	close(fd);
	*loaded = NULL;
	dp_diag_clear(&diag);
	err = dp_compat_load(copy_path, NULL, 0, NULL, 0, loaded, &diag);
	unlink(copy_path);
	return err;
}

/* Put another text of the same length wherever the file has @text. */
static void replace(const char *text, const char *by)
{
	size_t n = strlen(text) + 1, i;

	assert_int_equal(strlen(by) + 1, n);
	for (i = 1; i + n <= nr_bytes; i++)
		if (!memcmp(bytes + i, text, n) && !bytes[i - 1])
			memcpy(bytes + i, by, n);
}

static void licences_matter_to_those_that_need_them(void **state)
{
	struct dp_compat_loaded *gives = load("gives.so"), *loaded;

	/* One that needs nothing of that kind, after one that did. */
	assert_int_equal(refused("greedy.so", NULL), -ENXIO);
	read_file(ODD);
	replace("GPL", "Own");
	assert_int_equal(load_copy(&loaded), 0);
	unload(loaded);
	/* One that does not say what it has. */
	read_file(DP_MODULES "greedy.so");
	replace("license", "licence");
	assert_int_equal(load_copy(&loaded), -ENXIO);
	assert_non_null(strstr(diag.text, "; its licence is none"));
	/* One that is as good, and one that is not known. */
	read_file(DP_MODULES "takes.so");
	replace("Dual MIT/GPL", "Dual BSD/GPL");
	assert_int_equal(load_copy(&loaded), 0);
	unload(loaded);
	replace("Dual BSD/GPL", "Dual ISC/GPL");
	assert_int_equal(load_copy(&loaded), -ENXIO);
	assert_non_null(strstr(diag.text, "; its licence is Dual ISC/GPL"));
	unload(gives);
}

/* Where the file has the descriptor's first two fields, number and size. */
static u32 *descriptor(void)
{
	struct dp_compat_loaded *loaded = load("odd.so");
	u64 at = (u64)loaded->module - (u64)loaded->start;
	const ElfW(Ehdr) *eh = (void *)bytes;
	const ElfW(Phdr) * ph;
	u32 *found = NULL, i;

	unload(loaded);
	read_file(ODD);
	ph = (void *)(bytes + eh->e_phoff);
	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    at - ph[i].p_vaddr < ph[i].p_filesz)
			found = (void *)(bytes + ph[i].p_offset +
					 (at - ph[i].p_vaddr));
	assert_non_null(found);
	assert_int_equal(found[0], DP_COMPAT_ABI);
	assert_int_equal(found[1], sizeof(struct dp_compat_module));
	return found;
}

static void modules_of_another_interface_are_refused(void **state)
{
	u32 least = offsetof(struct dp_compat_module, exports);
	u32 *d = descriptor();
	struct dp_compat_loaded *loaded;
	char expected[300];

	assert_int_equal(load_copy(&loaded), 0);
	assert_string_equal(loaded->name, kbasename(copy_path));
	unload(loaded);
	/* A larger one has fields that are not known here. */
	d[1] += 8;
	assert_int_equal(load_copy(&loaded), 0);
	unload(loaded);
	d[1] = least;
	assert_int_equal(load_copy(&loaded), 0);
	unload(loaded);
	d[1] = least - 1;
	assert_int_equal(load_copy(&loaded), -ENOEXEC);
	assert_null(loaded);
	d[1] = sizeof(struct dp_compat_module);
	d[0] = DP_COMPAT_ABI + 1;
	assert_int_equal(load_copy(&loaded), -ENOEXEC);
	snprintf(
		expected, sizeof(expected),
		"%s was built for version %u of the module interface, this is %u: build it again",
		copy_path, DP_COMPAT_ABI + 1, DP_COMPAT_ABI);
	assert_string_equal(diag.text, expected);
	assert_null(loaded);
}

static void objects_that_are_no_modules_are_refused(void **state)
{
	struct dp_compat_loaded *loaded;

	read_file(ODD);
	replace("dp_compat_module", "xp_compat_module");
	assert_int_equal(load_copy(&loaded), -ENOEXEC);
	assert_non_null(strstr(
		diag.text,
		" is not a probe module: it does not include <linux/module.h>"));
	assert_null(loaded);
	assert_string_equal(seen, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_module_stays_as_long_as_its_users,
				       begin),
		cmocka_unit_test_setup(only_the_gpl_gets_what_is_exported_to_it,
				       begin),
		cmocka_unit_test_setup(names_that_the_process_has_are_not_given,
				       begin),
		cmocka_unit_test_setup(parameters_that_there_are_not_are_told,
				       begin),
		cmocka_unit_test_setup(aliases_are_all_noted, begin),
		cmocka_unit_test_setup(a_module_has_the_name_of_its_file,
				       begin),
		cmocka_unit_test_setup(the_image_of_a_module_is_known, begin),
		cmocka_unit_test_setup(probes_that_are_left_are_swept_and_told,
				       begin),
		cmocka_unit_test_setup(
			a_module_is_live_when_its_init_has_returned, begin),
		cmocka_unit_test_setup(all_modules_are_told_the_newest_first,
				       begin),
		cmocka_unit_test_setup(licences_matter_to_those_that_need_them,
				       begin),
		cmocka_unit_test_setup(modules_of_another_interface_are_refused,
				       begin),
		cmocka_unit_test_setup(objects_that_are_no_modules_are_refused,
				       begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
