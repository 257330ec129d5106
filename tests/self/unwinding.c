// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * unwinding: a thread is unwound at each instruction of the code that probes lead it to, and
 * its frames and registers are those that it has without probes.
 *
 * Each instruction traps. The signal's handler unwinds by libgcc, and by libunwind if it is there.
 * The kernel would send the thread back to the beginning of a restartable sequence each time, so the
 * thread's area is not registered with the kernel while it is stepped.
 */
#include "tap.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100
#define FRAMES 32
#define STEPS 256
#define REGS 16

/* DWARF's numbers; rcx comes last: the copy of a loop changes it before it is done */
static const int numbers[REGS] = { 0, 1,  3,  4,  5,  6,  7,  8,
				   9, 10, 11, 12, 13, 14, 15, 2 };

/** struct view - what an unwinder says of the program's frames; @regs: in the innermost */
struct view {
	void *frame[FRAMES];
	int n;
	unsigned long regs[REGS];
};

enum { LIBGCC, LIBUNWIND, UNWINDERS };

/** struct way - a function without a probe, at each instruction */
static struct way {
	struct view at[STEPS][UNWINDERS];
	int n;
} bare;

static struct {
	const char *start, *end;
	bool probed;
	int now, steps, bad;
	unsigned long bad_pc;
} run;

static unsigned long all_steps, called_steps;
unsigned long handled;

/* --- the stepped functions --- */

#define FUNCTION(name, code)                                                \
	extern const char name[], name##_end[];                             \
	__asm__(".text\n.balign 16\n.globl " #name "\n.type " #name         \
		", @function\n" #name ":\n.cfi_startproc\n" code            \
		"\n.cfi_endproc\n" #name "_end:\n.size " #name ", .-" #name \
		"\nnop; nop; nop; nop; nop\n")

FUNCTION(inner, "lea 1(%rdi), %rax\nnopl 8(%rax)\nret");
FUNCTION(prologue, "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
		   "mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
		   "push %rbx\n.cfi_offset 3, -24\n"
		   "sub $24, %rsp\nmov %rdi, %rbx\ncall inner\n"
		   "add %rbx, %rax\nmov -8(%rbp), %rbx\n"
		   "leave\n.cfi_def_cfa 7, 8\nret");
FUNCTION(indirect, "sub $8, %rsp\n.cfi_def_cfa_offset 16\n"
		   "lea inner(%rip), %rdx\nmov %rdx, (%rsp)\n"
		   "call *%rdx\ncall *(%rsp)\nadd $8, %rsp\n"
		   ".cfi_def_cfa_offset 8\nret");
FUNCTION(branches, "test %edi, %edi\nje 1f\nlea 2(%rdi), %rax\n"
		   "cmp $5, %rax\njne 1f\nnop\n1: nopl 8(%rax)\nret");
FUNCTION(loops, "mov $3, %ecx\n1: lea (%rdi,%rcx), %rax\nloop 1b\n"
		"jrcxz 2f\nnop\n2: nopl 8(%rax)\nret");
/* The stack pointer is found by r10, as where gcc has realigned the stack. */
FUNCTION(realigned, "lea 8(%rsp), %r10\n.cfi_def_cfa 10, 0\n"
		    "and $-32, %rsp\nmov %r10, %rax\nsub $32, %rsp\n"
		    "lea (%rdi), %rax\nlea -8(%r10), %rsp\n"
		    ".cfi_def_cfa 7, 8\nret");
FUNCTION(jumps, "lea 3(%rdi), %rdi\njmp inner");

/* A handler whose code shows what it touches, and whose return address is always on top */
FUNCTION(pre, "incq handled(%rip)\nxor %eax, %eax\nret");

struct function {
	const char *name, *start, *end;
};

static const struct function functions[] = {
#define F(name)                         \
	{                               \
#name, name, name##_end \
	}
	F(inner), F(prologue),	F(indirect), F(branches),
	F(loops), F(realigned), F(jumps),
};
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* --- unwinders --- */

static struct {
	const char *start, *end;
} stubs;

static void find_stubs(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	void *start, *end;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "memfd:return stubs") ||
		    sscanf(line, "%p-%p", &start, &end) != 2)
			continue;
		if (!stubs.start)
			stubs.start = start;
		stubs.end = end;
	}
	if (f)
		fclose(f);
}

static bool in_stub(const void *pc)
{
	return (const char *)pc >= stubs.start && (const char *)pc < stubs.end;
}

static bool in_handler(const void *pc)
{
	return (const char *)pc >= pre && (const char *)pc < pre_end;
}

/* Code of ours, other than the library's functions: in a chart, or a stub; and the handler */
static bool is_ours(const void *pc)
{
	Dl_info info;

	return in_stub(pc) || in_handler(pc) ||
	       (dladdr(pc, &info) &&
		strstr(info.dli_fname, "/thread-self/fd/"));
}

static bool in_function(const void *pc)
{
	return (const char *)pc >= run.start && (const char *)pc < run.end;
}

/* Frames of the handler and of the signal come first. */
static void by_libgcc(struct view *v, const void *pc)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES), i = 0;

	while (i < n && frame[i] != pc)
		i++;
	for (v->n = 0; i < n; i++)
		if (!is_ours(frame[i]))
			v->frame[v->n++] = frame[i];
}

static struct {
	int (*init)(void *cursor, void *context, int signal);
	int (*step)(void *cursor);
	int (*get)(void *cursor, int reg, unsigned long *value);
} unw;

static bool find_libunwind(void)
{
	void *lib = dlopen("libunwind.so.8", RTLD_NOW);

	if (!lib)
		return false;
	*(void **)&unw.init = dlsym(lib, "_ULx86_64_init_local2");
	*(void **)&unw.step = dlsym(lib, "_ULx86_64_step");
	*(void **)&unw.get = dlsym(lib, "_ULx86_64_get_reg");
	return unw.init && unw.step && unw.get;
}

static void take_regs(struct view *v, void *cursor)
{
	int i;

	for (i = 0; i < REGS; i++)
		unw.get(cursor, numbers[i], &v->regs[i]);
}

static void by_libunwind(struct view *v, ucontext_t *uc)
{
	static unsigned long cursor[1024];
	unsigned long pc;

	v->n = 0;
	if (unw.init(cursor, uc, 1))
		return;
	do {
		if (unw.get(cursor, 16, &pc) || !pc)
			break;
		if (is_ours((void *)pc))
			continue;
		if (!v->n)
			take_regs(v, cursor);
		v->frame[v->n++] = (void *)pc;
	} while (v->n < FRAMES && unw.step(cursor) > 0);
}

/* --- steps --- */

static bool same_view(const struct view *v, const struct view *want, int skip)
{
	size_t compared = sizeof(v->regs);
	int i;

	if (run.start == loops)
		compared -= sizeof(v->regs[0]);
	if (v->n != want->n - skip || !v->n)
		return false;
	for (i = 0; i < v->n; i++)
		if (v->frame[i] != want->frame[i + skip])
			return false;
	return skip || !memcmp(v->regs, want->regs, compared);
}

static bool same(const struct view *v, int at, int skip)
{
	return at < bare.n && same_view(&v[0], &bare.at[at][0], skip) &&
	       (!unw.init || same_view(&v[1], &bare.at[at][1], skip));
}

static void look(struct view *v, ucontext_t *uc)
{
	memset(v, 0, UNWINDERS * sizeof(*v));
	by_libgcc(&v[LIBGCC], (void *)uc->uc_mcontext.gregs[REG_RIP]);
	if (unw.init)
		by_libunwind(&v[LIBUNWIND], uc);
}

/* Is that the handler, called from entry.S, which unwinders do not know? */
static bool is_known(const ucontext_t *uc, const void *pc)
{
	if (!in_handler(pc))
		return true;
	if (!is_ours(*(void **)uc->uc_mcontext.gregs[REG_RSP]))
		return false;
	called_steps++;
	return true;
}

static int later(const struct view *v)
{
	int i;

	for (i = run.now; i < bare.n; i++)
		if (same(v, i, 0))
			return i;
	return run.now;
}

/* What unwinders find, and what they find without probes */
static void show(const struct view *v, const struct view *want)
{
	int u, i;

	for (u = 0; u < UNWINDERS; u++)
		for (i = 0; i < 8; i++)
			printf("# %p %p\n", v[u].frame[i], want[u].frame[i]);
	for (i = 0; i < REGS; i++)
		printf("# register %d: %#lx %#lx\n", numbers[i],
		       v[LIBUNWIND].regs[i], want[LIBUNWIND].regs[i]);
}

/* The thread is where it was without probes at this step or a later one. A stub stands for no
 * instruction of the function, which has been called from its frame or has returned. */
static void check(ucontext_t *uc, const void *pc)
{
	struct view v[UNWINDERS];
	int skip = in_stub(pc);

	run.steps++;
	look(v, uc);
	if (!skip)
		run.now = later(v);
	if (same(v, run.now, skip) || run.bad++)
		return;
	run.bad_pc = (unsigned long)pc;
	if (getenv("UNWINDING_SHOW"))
		show(v, bare.at[run.now]);
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	const void *pc = (void *)uc->uc_mcontext.gregs[REG_RIP];
	int error = errno;

	if (!run.probed && in_function(pc) && bare.n < STEPS)
		look(bare.at[bare.n++], uc);
	else if (run.probed && is_ours(pc) && is_known(uc, pc))
		check(uc, pc);
	errno = error;
}

/* Called from a frame of its own, with registers that can be told apart. Those that a call may change are the
 * same each time, whatever has been called before. */
static long __attribute__((noinline)) call(const char *start, long arg)
{
	long (*f)(long) = (long (*)(long))start;
	long ret;

	__asm__ volatile("mov $1, %%eax\n mov $2, %%ecx\n mov $3, %%edx\n"
			 "mov $4, %%esi\n mov $8, %%r8d\n mov $9, %%r9d\n"
			 "mov $10, %%r10d\n mov $11, %%r11d"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			   "r11");
	ret = f(arg);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static long __attribute__((noinline)) step(const char *start, long arg)
{
	long ret;

	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() |
				       TRAP_FLAG);
	ret = call(start, arg);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() &
				       ~(unsigned long)TRAP_FLAG);
	return ret;
}

/* --- probes --- */

static kprobe_pre_handler_t const handler = (kprobe_pre_handler_t)pre;

static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	handled++;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	handled++;
	return 0;
}

enum kind { HANDLER, COUNTS, AFTER, RETURN, EXITS, EACH, KINDS };

static const char *const kinds[] = {
	"a handler",	  "a count", "an after-handler",
	"a return probe", "exits",   "a handler at each instruction"
};

#define MOST 16

/** struct set - probes of one run */
struct set {
	struct kprobe kp[MOST];
	struct kretprobe rp;
	int n;
};

static void begin_kprobe(struct set *s, const char *at, enum kind kind)
{
	struct kprobe *p = &s->kp[s->n];

	*p = (struct kprobe){ .addr = (kprobe_opcode_t *)at,
			      .pre_handler = kind == COUNTS ? NULL : handler,
			      .post_handler = kind == AFTER ? post : NULL };
	if (s->n == MOST || register_kprobe(p))
		return;
	s->n++;
}

static bool begin(struct set *s, const struct function *f, int offset,
		  enum kind kind)
{
	const char *at = f->start + offset;

	s->n = 0;
	s->rp = (struct kretprobe){ .kp.addr = (kprobe_opcode_t *)at,
				    .kp.flags = kind == EXITS ?
							KPROBE_FLAG_RET_SITES :
							0,
				    .entry_handler = returned,
				    .handler = returned };
	if (kind == RETURN || kind == EXITS)
		return !register_kretprobe(&s->rp);
	if (kind != EACH) {
		begin_kprobe(s, at, kind);
		return s->n;
	}
	for (; at < f->end; at++)
		begin_kprobe(s, at, kind);
	return s->n > 1;
}

static void end(struct set *s, enum kind kind)
{
	int i;

	if (kind == RETURN || kind == EXITS)
		unregister_kretprobe(&s->rp);
	for (i = 0; i < s->n; i++)
		unregister_kprobe(&s->kp[i]);
}

static void say(const struct function *f, int offset, enum kind kind, long arg)
{
	printf("# %s+%d (%ld), %s: %d steps, %d bad, first at %#lx\n", f->name,
	       offset, arg, kinds[kind], run.steps, run.bad, run.bad_pc);
}

/* First without, and then with probes; called from one place. Return: false: there can be none. */
static bool probe_at(const struct function *f, int offset, enum kind kind,
		     long arg)
{
	volatile int passes = 2;
	long result[2];
	struct set s;
	int i;

	run.start = f->start;
	run.end = f->end;
	run.now = run.steps = run.bad = bare.n = 0;
	for (i = 0; i < passes; i++) {
		run.probed = i;
		if (i && !begin(&s, f, offset, kind))
			return false;
		find_stubs();
		result[i] = step(f->start, arg);
	}
	end(&s, kind);
	all_steps += (unsigned long)run.steps;
	run.bad += result[0] != result[1];
	if (run.bad)
		say(f, offset, kind, arg);
	return true;
}

/* Only addresses at which instructions begin can be probed. */
static void probe_everywhere(const struct function *f)
{
	int offset, probes = 0, failed = 0;
	enum kind kind;
	long arg;

	for (kind = 0; kind < KINDS; kind++)
		for (offset = 0; offset < f->end - f->start; offset++) {
			if (offset && kind >= RETURN)
				break;
			for (arg = 0; arg < 4; arg += 3) {
				if (!probe_at(f, offset, kind, arg))
					break;
				probes++;
				failed += run.bad != 0;
			}
		}
	ok(probes > 6 && !failed,
	   "%s: unwound at each step of %d probes, %d wrong", f->name, probes,
	   failed);
}

/* The kernel does not know the area any more: the thread stays on this CPU. */
static void leave_rseq(void)
{
	struct rseq *area =
		(void *)((char *)__builtin_thread_pointer() + __rseq_offset);
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (__rseq_size &&
	    !syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		area->cpu_id = area->cpu_id_start = (unsigned)cpu;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_step,
				.sa_flags = SA_SIGINFO };
	struct kprobe first = { .addr = (kprobe_opcode_t *)inner,
				.pre_handler = handler };
	void *warm[2];
	size_t i;

	backtrace(warm, 2);
	find_libunwind();
	is(register_kprobe(&first), 0, "a first probe");
	unregister_kprobe(&first);
	leave_rseq();
	sigaction(SIGTRAP, &sa, NULL);
	for (i = 0; i < NR_FUNCTIONS; i++)
		probe_everywhere(&functions[i]);
	ok(all_steps > 300 && handled && called_steps,
	   "%lu steps in code of ours, %lu in handlers that it calls, by %s",
	   all_steps, called_steps,
	   unw.init ? "libgcc and libunwind" : "libgcc");
	return plan();
}
