// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * source: probes in the kernel, which dprobes.ko has, from opening its device to closing it.
 *
 * The kernel takes the probes out when the file is closed, however the tool ends. So there is
 * nothing to recover. A probe is added as its point is found, for only the module knows whether
 * it may be.
 */
#include "tracer/output.h"
#include "tracer/source.h"
#include "tracer/system.h"
#include "tracer/system/kept.h"
#include "tracer/system/system.h"
#include "tracer/tracer.h"
#include "engine/vm/ops.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_MS 100
/* Probes whose opcode is remembered: as many as dprobes.ko has */
#define MOST 4096
#define ROOM 64
/* Programs whose tables are remembered: as many as dprobes.ko has */
#define PROGRAMS 64
/* Bytes of records that are read at a time */
#define BUFFER 65536
/* More of them than all rings fill */
#define BATCHES 256

/** struct hitter - who made the record that is taken; @pid: 0: that is not told */
struct hitter {
	u32 tid, pid;
	char comm[16];
};

/**
 * struct dp_system_session - @probes: in the device; @globals: variables that all programs have
 * @opcodes: by probe, the first byte of its instruction
 * @pending: modules that are not loaded are waited for
 * @users: the program that is added is for probes on files
 * @unbound: a probe has not got its program; @words: why the last one was refused
 * @last: the program that was added last, if it has no variables; @start: its last one
 * @kept: tables, if @keeps; @keeping: what each program keeps; @keeper: 1 + number of a probe's program, if it keeps
 *        anything; @returns: by probe, is it on returns? @files: is it on a file? @told: do its records say how the
 *        program has ended?
 * @was, @sites: how they were armed, when they are not any more; NULL: they are
 */
struct dp_system_session {
	struct dp_source source;
	struct dp_system_device device;
	struct dp_system_command command;
	struct dp_system_symbols symbols;
	u32 probes;
	u32 globals;
	u8 opcodes[MOST];
	bool quiet, pending, armed, unbound, users;
	char words[DP_DEVICE_WORDS];
	struct {
		u8 *code;
		u32 size, log, jumps, stack, start, table, program;
	} last;
	struct hitter hitter;
	struct dp_system_kept kept;
	struct dp_system_keeping keeping[PROGRAMS];
	u8 keeper[MOST];
	bool returns[MOST], files[MOST], told[MOST], keeps;
	struct dp_device_count *was;
	struct dp_device_counts sites;
};

static struct dp_system_session *of(const struct dp_source *source)
{
	return (struct dp_system_session *)source;
}

/* Who has given neither a process nor a command may have meant one. */
static int open_device(struct dp_system_session *s,
		       const struct dp_tracer_options *opt,
		       struct dp_diag *diag)
{
	int err = dp_system_device_open(&s->device, opt->maxactive, diag);
	struct dp_diag words = *diag;

	if (!err || !opt->everybody || opt->argv)
		return err;
	return dp_diag_set(
		diag, err,
		"without -p PID or -- CMD a program is for all processes, by the kernel: %s",
		words.text);
}

static int open_system(const struct dp_tracer_options *opt, bool timed,
		       struct dp_source **source, struct dp_diag *diag)
{
	struct dp_system_session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	s->source = (struct dp_source){ .ops = &dp_system_source,
					.exe = opt->argv ? opt->argv[0] :
							   "the kernel" };
	s->device.fd = s->command.watch = s->command.start = -1;
	s->quiet = opt->quiet;
	s->pending = opt->pending;
	*source = &s->source;
	err = open_device(s, opt, diag) ?:
		      dp_system_command_open(&s->command, opt->argv, diag);
	s->source.pid = s->command.pid;
	s->source.launched = s->command.pid > 0;
	return err;
}

static bool ended(const struct dp_source *source)
{
	return false;
}

static bool outdated(const struct dp_source *source, bool failed)
{
	return false;
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_diag_set(diag, -EAGAIN, "the kernel is not probed any more");
}

static int modules(const struct dp_source *source, struct dp_modules **mods,
		   struct dp_diag *diag)
{
	*mods = NULL;
	return 0;
}

static struct dp_point *new_point(struct dp_points *points)
{
	size_t cap = points->n ? 2 * points->cap : ROOM;
	struct dp_point *more;

	if (points->n >= points->cap) {
		more = realloc(points->v, cap * sizeof(*more));
		if (!more)
			return NULL;
		points->v = more;
		points->cap = cap;
	}
	memset(&points->v[points->n], 0, sizeof(*more));
	return &points->v[points->n++];
}

/* "module:name+0x10", as it is told and as the kernel is asked for it */
static char *full_name(const struct dp_system_function *f, u64 offset,
		       const char *before)
{
	char plus[32] = "", *text;

	if (offset)
		snprintf(plus, sizeof(plus), "+0x%lx", offset);
	return asprintf(&text, "%s%s%s%s%s", before, f->module,
			*f->module ? ":" : "", f->name, plus) < 0 ?
		       NULL :
		       text;
}

static int out_of_memory(struct dp_diag *diag)
{
	return dp_diag_set(diag, -ENOMEM, "out of memory");
}

static u32 flags_of(const struct dp_system_session *s,
		    const struct dp_spec *spec,
		    const struct dp_system_function *f)
{
	u32 flags = s->pending && *f->module ? DP_DEVICE_PENDING : 0;

	if (spec->kind == DP_SPEC_RETURN)
		flags |= DP_DEVICE_RETURNS |
			 (spec->records || spec->aggs ? DP_DEVICE_RECORDS : 0);
	return flags;
}

/* @module, @symbol: "" where it has none */
static struct dp_point *begin_point(struct dp_system_session *s,
				    const struct dp_spec *spec,
				    struct dp_points *points, char *name,
				    const char *module, const char *symbol)
{
	struct dp_point *p = new_point(points);

	if (!p) {
		free(name);
		return NULL;
	}
	p->spec = spec;
	p->name = name;
	p->symbol = strdup(symbol);
	p->module = strdup(*module ? module : "kernel");
	p->offset = spec->offset;
	p->program = DP_NO_PROGRAM;
	p->probe = s->probes ? s->probes - 1 : 0;
	return p->name && p->symbol && p->module ? p : NULL;
}

static void take_point(struct dp_system_session *s, struct dp_point *p,
		       const struct dp_system_added *added)
{
	p->addr = added->addr;
	p->probe = added->probe;
	s->returns[p->probe % MOST] = p->spec->kind == DP_SPEC_RETURN;
	s->source.tracks |= p->spec->kind == DP_SPEC_RETURN;
	s->probes = p->probe + 1;
	s->opcodes[p->probe % MOST] = added->opcode;
}

static int add_point(struct dp_system_session *s, const struct dp_spec *spec,
		     const struct dp_system_function *f,
		     struct dp_points *points, struct dp_diag *diag)
{
	struct dp_point *p = begin_point(s, spec, points,
					 full_name(f, spec->offset, "kernel:"),
					 f->module, f->name);
	struct dp_system_added added = { .addr = f->addr };
	char words[DP_DEVICE_WORDS], *name;
	int err;

	name = p ? full_name(f, spec->offset, "") : NULL;
	if (!name)
		return out_of_memory(diag);
	p->addr = f->addr;
	err = dp_system_device_add(&s->device, name, flags_of(s, spec, f),
				   &added, words);
	free(name);
	if (err)
		dp_point_refuse(p, err, "%s", words);
	else
		take_point(s, p, &added);
	return 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file that the path names now */
static int add_in_file(struct dp_system_session *s, const struct dp_spec *spec,
		       struct dp_point *p)
{
	struct dp_system_added added;
	char words[DP_DEVICE_WORDS];
	int fd = open(spec->module, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0) {
		err = -errno;
		dp_point_refuse(p, err, "%s", strerror(-err));
		return err;
	}
	err = dp_system_device_file(&s->device, fd, spec->value, &added, words);
	close(fd);
	if (err) {
		dp_point_refuse(p, err, "%s", words);
		return err;
	}
	take_point(s, p, &added);
	s->files[p->probe % MOST] = true;
	return 0;
}

static int say(const struct dp_spec *spec, struct dp_diag *diag, int err,
	       const char *what, const char *why)
{
	dp_diag_set(diag, err, "%s: %s", what, why);
	dp_diag_caret(diag, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ({"));
	return err;
}

static int check_number(const struct dp_system_session *s,
			const struct dp_spec *spec,
			const struct dp_system_functions *found,
			struct dp_diag *diag)
{
	char words[128];

	if (!found->n)
		return say(
			spec, diag, -ENOENT, spec->text,
			"neither the kernel nor a loaded module has such a function (/proc/kallsyms)");
	if (found->n > 1 && !dp_spec_is_glob(spec) && !found->v[0].addr)
		return say(
			spec, diag, -ENOTUNIQ, spec->text,
			"several functions have that name, and the kernel does not show where they are (kernel.kptr_restrict)");
	if (s->probes + found->n <= s->device.info.probes)
		return 0;
	snprintf(words, sizeof(words),
		 "these are %zu functions, and %u can be probed at a time",
		 s->probes + found->n, s->device.info.probes);
	return say(spec, diag, -ENOSPC, spec->text, words);
}

static int add_points(struct dp_system_session *s, const struct dp_spec *spec,
		      const struct dp_system_functions *found,
		      struct dp_points *points, struct dp_diag *diag)
{
	size_t first = points->n, i;
	int err = check_number(s, spec, found, diag);

	for (i = 0; i < found->n && !err; i++) {
		err = add_point(s, spec, &found->v[i], points, diag);
		if (!err)
			points->v[points->n - 1].several = found->n > 1;
	}
	if (err || found->n > 1 || !points->v[first].refused)
		return err;
	return say(spec, diag, points->v[first].refused, points->v[first].name,
		   points->v[first].reason);
}

/* Of a module that is not loaded, which names a function. Return: false: it is not waited for. */
static bool take_absent(const struct dp_system_session *s,
			const struct dp_spec *spec,
			struct dp_system_functions *found)
{
	const char *colon = strchr(spec->name, ':');

	if (!s->pending || found->n || !colon || colon == spec->name ||
	    dp_spec_is_glob(spec))
		return false;
	found->v = calloc(1, sizeof(*found->v));
	if (!found->v)
		return false;
	found->n = found->cap = 1;
	found->v->module = strndup(spec->name, (size_t)(colon - spec->name));
	found->v->name = strdup(colon + 1);
	return found->v->module && found->v->name;
}

static int find(struct dp_system_session *s, const struct dp_spec *spec,
		struct dp_system_functions *found, struct dp_diag *diag)
{
	int err = dp_system_find(&s->symbols, spec->name, found, diag);

	if (err || found->n || take_absent(s, spec, found))
		return err;
	return found->n ? out_of_memory(diag) : 0;
}

/* "kernel:jiffies/8", or with an address in the name's place */
static char *data_name(const struct dp_spec *spec)
{
	const char *access = spec->access == DP_WATCH_ACCESS ? ":rw" : "",
		   *name = spec->name;
	char *text;
	int n;

	if (name &&
	    !strncmp(name, DP_SYSTEM_IMAGE ":", sizeof(DP_SYSTEM_IMAGE)))
		name += sizeof(DP_SYSTEM_IMAGE);
	if (spec->form == DP_POINT_ADDRESS)
		n = asprintf(&text, "kernel:0x%lx/%lu%s", spec->value,
			     spec->len, access);
	else if (spec->offset)
		n = asprintf(&text, "kernel:%s+0x%lx/%lu%s", name, spec->offset,
			     spec->len, access);
	else
		n = asprintf(&text, "kernel:%s/%lu%s", name, spec->len, access);
	return n < 0 ? NULL : text;
}

static int symbol(const struct dp_source *source, const char *name, u64 *addr,
		  struct dp_diag *diag);

static int find_data(const struct dp_source *source, const struct dp_spec *spec,
		     u64 *addr, struct dp_diag *diag)
{
	int err;

	*addr = spec->value;
	if (!(of(source)->device.info.flags & DP_DEVICE_ADDRESSES))
		return say(
			spec, diag, -EPERM, spec->text,
			"what is watched in the kernel takes CAP_SYSLOG, and kernel.kptr_restrict below 2");
	if (spec->form == DP_POINT_ADDRESS)
		return 0;
	err = symbol(source, spec->name, addr, diag);
	*addr += err ? 0 : spec->offset;
	return err;
}

static int resolve_data(struct dp_source *source, const struct dp_spec *spec,
			struct dp_points *points, struct dp_diag *diag)
{
	struct dp_system_session *s = of(source);
	struct dp_system_added added = { 0 };
	char words[DP_DEVICE_WORDS];
	struct dp_point *p;
	int err = find_data(source, spec, &added.addr, diag);

	if (err)
		return err;
	p = begin_point(s, spec, points, data_name(spec), "",
			spec->name ? spec->name : "");
	if (!p)
		return out_of_memory(diag);
	p->addr = added.addr;
	p->len = (u8)spec->len;
	err = dp_system_device_watch(&s->device, spec, added.addr, &added.probe,
				     words);
	if (!err) {
		take_point(s, p, &added);
		return 0;
	}
	dp_point_refuse(p, err, "%s", words);
	return say(spec, diag, err, p->name, words);
}

/* Of a program for all processes, whose points have been found in its file */
static int resolve_file(struct dp_system_session *s, const struct dp_spec *spec,
			struct dp_points *points, struct dp_diag *diag)
{
	struct dp_point *p;
	char *name;
	int err;

	if (asprintf(&name, "%s:+0x%lx", base_of(spec->module), spec->value) <
	    0)
		return out_of_memory(diag);
	p = begin_point(s, spec, points, name, base_of(spec->module), "");
	if (!p)
		return out_of_memory(diag);
	p->offset = p->addr = spec->value;
	err = add_in_file(s, spec, p);
	return err ? say(spec, diag, err, p->name, p->reason) : 0;
}

static int resolve(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	struct dp_system_functions found = { 0 };
	int err;

	if (spec->kind == DP_SPEC_WATCH)
		return resolve_data(source, spec, points, diag);
	if (!dp_system_is(spec))
		return resolve_file(of(source), spec, points, diag);
	err = find(of(source), spec, &found, diag) ?:
		      add_points(of(source), spec, &found, points, diag);

	dp_system_functions_free(&found);
	return err;
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return false;
}

static int bind_all(struct dp_system_session *s,
		    const struct dp_source_request *want, struct dp_diag *diag)
{
	size_t i;
	int err = want->prepare ? want->prepare(want->arg, diag) : 0;

	for (i = 0; want->bind && i < want->points->n && !err; i++) {
		if (want->points->v[i].refused)
			continue;
		s->users = s->files[want->points->v[i].probe % MOST];
		err = want->bind(want->arg, i, diag);
	}
	return err;
}

/* They have been added. */
static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct dp_system_session *s = of(source);
	u64 bad;
	int err;

	if (!s->probes)
		return dp_diag_set(
			diag, -ENOENT,
			"none of these functions can be probed (-v says why)");
	err = bind_all(s, want, diag);
	if (err || !want->listed)
		return err;
	err = dp_system_device_commit(&s->device, DP_DEVICE_PLAN, &bad);
	return err ? dp_diag_set(diag, err, "probes cannot be planned: %s",
				 strerror(-err)) :
		     0;
}

/* Programs of files are added once. */
static bool may_be_shared(const struct dp_program_spec *spec)
{
	return !spec->nr_lv && !spec->nr_gv && !spec->allow && !spec->heapmax &&
	       spec->nr_starts <= 2 && !spec->starts[0];
}

/* The points of a spec run one program, unless that counts in a variable. */
static bool is_last(const struct dp_system_session *s,
		    const struct dp_program_spec *spec, u32 table)
{
	return s->last.code && s->last.table == table && may_be_shared(spec) &&
	       s->last.log == spec->logmax && s->last.jumps == spec->jmpmax &&
	       s->last.stack == spec->stack && s->last.size == spec->code_len &&
	       s->last.start == spec->starts[spec->nr_starts - 1] &&
	       !memcmp(s->last.code, spec->code, spec->code_len);
}

static void remember_last(struct dp_system_session *s,
			  const struct dp_program_spec *spec, u32 program)
{
	free(s->last.code);
	s->last.code = may_be_shared(spec) ? malloc(spec->code_len + 1) : NULL;
	if (!s->last.code)
		return;
	memcpy(s->last.code, spec->code, spec->code_len);
	s->last.size = spec->code_len;
	s->last.log = spec->logmax;
	s->last.jumps = spec->jmpmax;
	s->last.stack = spec->stack;
	s->last.start = spec->starts[spec->nr_starts - 1];
	s->last.program = program;
}

/* What the kernel cannot give any program. Return: NULL: there is nothing of that */
static const char *exceeds(struct dp_system_session *s,
			   const struct dp_program_spec *spec)
{
	const struct dp_device_info *info = &s->device.info;

	if (spec->logmax > info->log) {
		snprintf(
			s->words, sizeof(s->words),
			"a record of the kernel has %u bytes at most: write logmax = %u, or show fewer values",
			info->log, info->log);
		return s->words;
	}
	if (spec->heapmax > info->heap) {
		snprintf(
			s->words, sizeof(s->words),
			"a heap in the kernel has %u bytes at most: write heapmax = %u",
			info->heap, info->heap);
		return s->words;
	}
	if (spec->allow & ~info->allow & ~DP_ALLOW_CALL)
		return "this kernel is locked down (/sys/kernel/security/lockdown): programs that write, change registers or use ports are not taken";
	return spec->nr_starts > DP_DEVICE_STARTS ?
		       "it has more probes than the kernel takes of a file, 256" :
	       spec->code_len > DP_DEVICE_CODE ?
		       "its code is longer than the kernel takes, 32,768 bytes" :
		       NULL;
}

/* @table: 1 + that which it is for, or 0 */
static int add_logging(struct dp_system_session *s,
		       const struct dp_program_spec *spec, u32 table,
		       u32 *program, u32 *offset, const char **why)
{
	int err;

	if (is_last(s, spec, table)) {
		*program = s->last.program;
		return 0;
	}
	*why = exceeds(s, spec);
	if (*why)
		return -EINVAL;
	*why = s->words;
	err = dp_system_device_program(&s->device, spec, s->users, program,
				       offset, s->words);
	if (err)
		return err;
	remember_last(s, spec, *program);
	s->last.table = table;
	if (s->globals < spec->nr_gv)
		s->globals = spec->nr_gv;
	return 0;
}

/* What it keeps is logged. Programs for other tables may be the same then, and are others. */
static int add_keeping(struct dp_system_session *s,
		       const struct dp_program_spec *spec,
		       const struct dp_system_keeping *keeping, u32 *program,
		       u32 *offset, const char **why)
{
	struct dp_program_spec logs = *spec;
	u8 *code = malloc(spec->code_len + 1);
	int err;

	if (!code)
		return -ENOMEM;
	memcpy(code, spec->code, spec->code_len);
	dp_system_kept_rewrite(spec, code);
	logs.code = code;
	logs.logmax += dp_system_kept_bytes(keeping);
	err = add_logging(s, &logs, 1 + keeping->table, program, offset, why);
	free(code);
	if (err)
		return err;
	s->keeping[*program % PROGRAMS] = *keeping;
	s->keeps = true;
	return 0;
}

static int add_program(struct dp_source *source,
		       const struct dp_program_spec *spec, u32 *program,
		       u32 *offset, const char **why)
{
	struct dp_system_session *s = of(source);
	struct dp_system_keeping keeping;

	*offset = 0;
	*why = "there is no memory for the program";
	if (dp_system_kept_find(spec, &keeping))
		return add_keeping(s, spec, &keeping, program, offset, why);
	return add_logging(s, spec, 0, program, offset, why);
}

static void bind(struct dp_source *source, const struct dp_point *point,
		 const struct dp_binding *binding)
{
	struct dp_system_session *s = of(source);
	struct dp_binding own = *binding;

	if (s->keeping[binding->program % PROGRAMS].used) {
		s->keeper[point->probe % MOST] = (u8)(1 + binding->program);
		own.judged = binding->leaves;
	}
	s->told[point->probe % MOST] = own.tells;
	s->unbound |= dp_system_device_bind(&s->device, point->probe, &own) !=
		      0;
}

static int say_unarmed(int err, u64 bad, bool returns, struct dp_diag *diag)
{
	const char *why =
		err == -EINVAL && returns ?
			"a program at returns does not end by exit 1 or exit 2" :
		err == -EBUSY ?
			"a probe of the kernel's own is there (kprobe)" :
		err == -ENOMEM && returns ?
			"dprobes.ko follows 8192 calls at a time, of all functions: name fewer, or a smaller --maxactive" :
		err == -ENOSPC || err == -ENOMEM ?
			"dprobes.ko has no room for so many probes, or so long programs" :
			strerror(-err);

	return bad ? dp_diag_set(diag, err,
				 "the kernel cannot be probed at 0x%lx: %s",
				 bad, why) :
		     dp_diag_set(diag, err, "the kernel cannot be probed: %s",
				 why);
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_system_session *s = of(source);
	u64 bad = 0;
	int err = s->unbound ? -EINVAL :
			       dp_system_device_commit(&s->device, 0, &bad);

	s->armed = !err;
	return err ? say_unarmed(err, bad, s->source.tracks, diag) : 0;
}

static void go(struct dp_source *source)
{
	dp_system_command_go(&of(source)->command);
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	struct dp_system_session *s = of(source);

	return dp_system_command_wait(&s->command, ms) ? DP_SOURCE_EXITED :
							 DP_SOURCE_RUNS;
}

static void look(const struct dp_source *source);

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	*news = (struct dp_source_news){ .most = IDLE_MS };
	dp_system_device_renew(&of(source)->device);
	look(source);
}

/* As programs at returns of a process have it behind their logs */
static bool add_ending(struct dp_record_copy *copy)
{
	const struct dp_program_ending ending = {
		.major = copy->head.major,
		.minor = copy->head.minor,
		.exception = copy->head.exception,
		.facility = copy->head.facility,
		.flags = copy->head.flags,
		.parm = { copy->head.parm[0], copy->head.parm[1] },
	};

	if (copy->head.len > sizeof(copy->data) - sizeof(ending))
		return false;
	memcpy(copy->data + copy->head.len, &ending, sizeof(ending));
	copy->head.len += (u32)sizeof(ending);
	return true;
}

/* @told: see struct dp_system_session. Return: false: it makes no sense. */
static bool take_log(struct dp_record_copy *copy,
		     const struct dp_device_record *r, bool told)
{
	struct dp_device_return head;
	struct dp_leaving leaving = { .how = DP_CALL_RETURNED };
	u32 len = r->log - (u32)sizeof(head);

	if (!(r->flags & DP_DEVICE_RETURNED)) {
		copy->head.len = r->log;
		memcpy(copy->data, r + 1, r->log);
		return true;
	}
	if (r->log < sizeof(head) || len > sizeof(copy->data) - sizeof(leaving))
		return false;
	memcpy(&head, r + 1, sizeof(head));
	leaving.entered = head.entered;
	leaving.value = head.value;
	copy->head.len = (u32)sizeof(leaving) + len;
	memcpy(copy->data, &leaving, sizeof(leaving));
	memcpy(copy->data + sizeof(leaving),
	       (const char *)(r + 1) + sizeof(head), len);
	return !told || add_ending(copy);
}

/* The parts of a record are checked as those of any. */
static size_t take_record(struct dp_system_session *s,
			  const struct dp_device_record *r, size_t left,
			  dp_source_take take, void *arg)
{
	struct dp_record_copy copy;

	if (r->size > left || r->size < sizeof(*r) ||
	    r->log > r->size - sizeof(*r) || r->log > sizeof(copy.data))
		return 0;
	memset(&copy.head, 0, sizeof(copy.head));
	copy.head.ticks = r->ticks;
	copy.head.probe = r->probe;
	copy.head.tid = r->tid | (u32)r->context << DP_SYSTEM_CONTEXT;
	copy.head.cpu = r->cpu;
	copy.head.exception = r->exception;
	copy.head.major = r->major;
	copy.head.minor = r->minor;
	copy.head.facility = r->facility;
	memcpy(copy.head.parm, r->parm, sizeof(copy.head.parm));
	copy.head.flags =
		(r->flags & DP_DEVICE_TRUNCATED ? DP_RECORD_TRUNCATED : 0) |
		(r->flags & DP_DEVICE_TAKEN ? DP_RECORD_TAKEN : 0) |
		(r->flags & DP_DEVICE_DENIED ? DP_RECORD_MISSED : 0);
	if (!take_log(&copy, r, s->told[r->probe % MOST]))
		return 0;
	s->hitter = (struct hitter){ .tid = copy.head.tid, .pid = r->pid };
	memcpy(s->hitter.comm, r->comm, sizeof(s->hitter.comm) - 1);
	take(arg, &copy);
	return r->size;
}

static size_t take_batch(struct dp_system_session *s, const char *at,
			 size_t left, dp_source_take take, void *arg)
{
	size_t size, n = 0;

	for (; left >= sizeof(struct dp_device_record);
	     at += size, left -= size) {
		size = take_record(s, (const void *)at, left, take, arg);
		if (!size)
			break;
		n++;
	}
	return n;
}

/* Taking records makes others, where what reads is probed. So it ends when few are left, and in any case. */
static size_t records(struct dp_source *source, dp_source_take take, void *arg,
		      bool ended_now)
{
	struct dp_system_session *s = of(source);
	u64 buffer[BUFFER / sizeof(u64)];
	size_t left, all = 0;
	u32 i;

	for (i = 0; i < BATCHES; i++) {
		left = dp_system_device_read(&s->device, buffer, BUFFER);
		all += take_batch(s, (const char *)buffer, left, take, arg);
		if (left < (ended_now ? 1 : BUFFER / 2))
			break;
	}
	return all;
}

static void keep(void *arg, const struct dp_record_copy *r)
{
	struct dp_system_session *s = arg;
	u32 keeper = s->keeper[r->head.probe % MOST];

	if (keeper)
		dp_system_kept_take(&s->kept,
				    &s->keeping[(keeper - 1) % PROGRAMS], r,
				    s->returns[r->head.probe % MOST] ?
					    sizeof(struct dp_leaving) :
					    0);
}

/* Nobody else reads the records of such a session. */
static void look(const struct dp_source *source)
{
	struct dp_system_session *s = of(source);

	if (s->keeps)
		records(&s->source, keep, s, s->was != NULL);
}

static int add_aggregate(struct dp_source *source,
			 const struct dp_aggregate_shape *shape, u32 *table,
			 const char **why)
{
	return dp_system_kept_add(&of(source)->kept, shape, table, why);
}

static const struct dp_aggregate_entry *
aggregate(const struct dp_source *source, u32 table)
{
	return dp_system_kept_table(&of(source)->kept, table);
}

static int read_aggregate(const struct dp_source *source, u32 table,
			  void (*take)(void *arg, const u64 *key,
				       const u64 *row),
			  void *arg)
{
	look(source);
	return dp_system_kept_read(&of(source)->kept, table, take, arg);
}

static void aggregate_lost(const struct dp_source *source, u32 table,
			   u64 lost[DP_LOST_NR])
{
	dp_system_kept_lost(&of(source)->kept, table, lost);
}

/* As the module stamps records */
static u64 ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return tid;
}

static void task(const struct dp_source *source, struct dp_source_task *t)
{
	const struct hitter *h = &of(source)->hitter;

	if (h->pid && h->tid == t->tid) {
		t->pid = h->pid;
		snprintf(t->name, t->size, "%s", h->comm);
	} else {
		dp_system_task(t);
	}
}

static int symbol(const struct dp_source *source, const char *name, u64 *addr,
		  struct dp_diag *diag)
{
	struct dp_system_functions found = { 0 };
	int err = dp_system_find_any(&of(source)->symbols, name, &found, diag);

	if (!err && found.n != 1)
		err = dp_diag_set(
			diag, found.n ? -ENOTUNIQ : -ENOENT, "%s: %s", name,
			found.n ?
				"several symbols of the kernel have that name: write MODULE:NAME, or vmlinux:NAME" :
				"neither the kernel nor a loaded module has such a symbol (/proc/kallsyms)");
	if (!err && !found.v[0].addr)
		err = dp_diag_set(
			diag, -EPERM,
			"%s: the kernel does not show where that is (kernel.kptr_restrict)",
			name);
	if (!err)
		*addr = found.v[0].addr;
	dp_system_functions_free(&found);
	return err;
}

static bool opcode(const struct dp_source *source, const struct dp_point *point,
		   u8 *byte)
{
	*byte = of(source)->opcodes[point->probe % MOST];
	return true;
}

/* How a probe is armed, or was */
static const struct dp_device_count *armed(const struct dp_source *source,
					   const struct dp_point *point)
{
	struct dp_system_session *s = of(source);

	return s->was ? &s->was[point->probe] :
			dp_system_device_count(&s->device, point->probe);
}

static void tally_calls(struct dp_system_session *s,
			const struct dp_point *point, struct dp_source_count *c)
{
	struct dp_device_calls calls;

	if (point->spec->kind != DP_SPEC_RETURN)
		return;
	calls = dp_system_device_calls(&s->device, point->probe);
	c->tally[DP_TALLY_INSTANCES] = calls.full;
	c->tally[DP_TALLY_UNJUDGED] = calls.unjudged;
}

static void count(const struct dp_source *source, const struct dp_point *point,
		  struct dp_source_count *c)
{
	const struct dp_device_count *n =
		dp_system_device_count(&of(source)->device, point->probe);

	*c = (struct dp_source_count){ .hits = n->hits,
				       .missed = n->missed,
				       .status = n->status,
				       .count = n->count };
	c->tally[DP_TALLY_LOST] = n->lost;
	c->tally[DP_TALLY_PASSED] = n->passed;
	c->tally[DP_TALLY_DISABLED] = n->disabled;
	c->tally[DP_TALLY_CONTEXT] = n->context;
	tally_calls(of(source), point, c);
	n = armed(source, point);
	c->mode = n->mode == DP_DEVICE_BY_JUMP	? "jump" :
		  n->mode == DP_DEVICE_BY_WATCH ? "watch" :
						  "trap";
}

static const char *reason(const struct dp_source *source,
			  const struct dp_point *point, size_t exit)
{
	if (point->refused)
		return point->reason;
	return armed(source, point)->reason;
}

static void totals(const struct dp_source *source, struct dp_source_totals *all)
{
	const struct dp_system_session *s = of(source);
	const struct dp_device_counts now = dp_system_device_sum(&s->device),
				      *sites = s->was ? &s->sites : &now;

	*all = (struct dp_source_totals){ .sites = sites->sites,
					  .jumps = sites->jumps,
					  .globals = s->globals,
					  .interior = now.arrivals };
}

static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	return dp_system_device_variable(&of(source)->device, program, index);
}

static void calls(const struct dp_source *source, const struct dp_point *point,
		  struct dp_account *counts)
{
	const struct dp_device_calls n =
		dp_system_device_calls(&of(source)->device, point->probe);

	*counts = (struct dp_account){
		.entered = n.entered,
		.returned = n.returned,
		.abandoned = n.ended,
		.inside = n.inside,
		.missed = n.missed,
		.unmet = n.unmet,
		.lost = (s64)(n.entered - n.returned - n.ended - n.inside -
			      n.missed - n.unmet),
	};
}

static void remember(struct dp_system_session *s)
{
	u32 i;

	if (s->was)
		return;
	s->sites = dp_system_device_sum(&s->device);
	dp_system_device_renew(&s->device);
	s->was = calloc(s->probes + 1, sizeof(*s->was));
	for (i = 0; s->was && i < s->probes; i++)
		s->was[i] = *dp_system_device_count(&s->device, i);
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	struct dp_system_session *s = of(source);
	u64 bad;
	u32 i;
	int err = 0;

	remember(s);
	for (i = 0; i < s->probes && s->armed && !err; i++)
		err = dp_system_device_turn(&s->device, i, false);
	if (s->armed && !err)
		err = dp_system_device_commit(&s->device, 0, &bad);
	s->armed = false;
	dp_system_device_renew(&s->device);
	return err ? dp_diag_set(
			     diag, err,
			     "probes stay in the kernel, where somebody has written over one; dprobes.ko takes them out when it can: %s",
			     strerror(-err)) :
		     0;
}

static void say_absent(const struct dp_system_session *s, u32 state,
		       const char *what)
{
	u32 i, n = 0;

	for (i = 0; s->was && i < s->probes; i++)
		n += s->was[i].state == state;
	if (n)
		dp_output_say("%u probe%s %s", n, n == 1 ? "" : "s", what);
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
	struct dp_system_session *s = of(source);
	u64 within = dp_system_device_sum(&s->device).within;

	look(source);
	if (!s->quiet) {
		say_absent(s, DP_DEVICE_IS_PENDING,
			   "waited for a module in vain, or for its function");
		say_absent(s, DP_DEVICE_IS_GONE, "went with the module");
	}
	if (within && !s->quiet)
		dp_output_say(
			"%lu hit%s came while the same CPU was in another hit, and %s not counted",
			within, within == 1 ? "" : "s",
			within == 1 ? "is" : "are");
}

static void end(const struct dp_source *source, struct dp_source_end *e)
{
	*e = (struct dp_source_end){ .known = of(source)->command.ended,
				     .status = of(source)->command.status,
				     .execed = "" };
}

static void kill_launched(struct dp_source *source)
{
	dp_system_command_close(&of(source)->command);
}

static void close_system(struct dp_source *source)
{
	struct dp_system_session *s = of(source);

	if (!s)
		return;
	dp_system_device_close(&s->device);
	dp_system_command_close(&s->command);
	dp_system_symbols_free(&s->symbols);
	dp_system_kept_free(&s->kept);
	free(s->was);
	free(s->last.code);
	free(s);
}

const struct dp_source_ops dp_system_source = {
	.name = "the kernel",
	.slow = "ten",
	.everybody = true,
	.open = open_system,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = resolve,
	.read = read_memory,
	.add = add,
	.add_program = add_program,
	.add_aggregate = add_aggregate,
	.aggregate = aggregate,
	.read_aggregate = read_aggregate,
	.aggregate_lost = aggregate_lost,
	.bind = bind,
	.arm = arm,
	.go = go,
	.wait = wait_for,
	.tend = tend,
	.records = records,
	.ticks = ticks,
	.thread = thread,
	.task = task,
	.symbol = symbol,
	.opcode = opcode,
	.count = count,
	.reason = reason,
	.totals = totals,
	.variable = variable,
	.calls = calls,
	.disarm = disarm,
	.settle = settle,
	.end = end,
	.kill = kill_launched,
	.close = close_system,
};
