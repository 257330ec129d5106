// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracepoints: static tracepoints (USDT) with arguments of all forms, and with semaphores.
 *
 * "forms" passes each form once, and says what its arguments are, as dprobes trace shows them. "rounds"
 * makes rounds until SIGTERM, and says at its end how often it passed each tracepoint. Compiled with
 * -DLIBRARY it is a library with one tracepoint, which "rounds LIBRARY" loads at SIGUSR1, calls and unloads
 * at SIGUSR2. "fork" makes a child at SIGUSR1; that makes rounds itself.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name) \
	unsigned short name __attribute__((section(".probes"), used))

#ifdef LIBRARY
SEMAPHORE(plugin_called_semaphore);

unsigned long plugin_call(int n);

unsigned long plugin_call(int n)
{
	if (!plugin_called_semaphore)
		return 0;
	DTRACE_PROBE1(plugin, called, n);
	return 1;
}
#else

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SEMAPHORE(victim_guarded_semaphore);
SEMAPHORE(victim_other_semaphore);
SEMAPHORE(victim_twice_semaphore);
SEMAPHORE(victim_plain_semaphore);

int counter[2] = { -11, -22 };
static int hidden __attribute__((used)) = 33;
/* Of each thread's own, with room between them */
static __thread long before[5] __attribute__((aligned(64), used)) = { 1 };
static __thread int own[2] __attribute__((used)) = { -44, -55 };
static __thread unsigned char last __attribute__((used));

/* What sys/sdt.h writes, with any text for the arguments */
#define FORM(name, arguments)                        \
	"990: nop\n"                                 \
	".pushsection .note.stapsdt,\"\",\"note\"\n" \
	".balign 4\n"                                \
	".4byte 992f-991f,994f-993f,3\n"             \
	"991: .asciz \"stapsdt\"\n"                  \
	"992: .balign 4\n"                           \
	"993: .8byte 990b\n"                         \
	".8byte _.stapsdt.base\n"                    \
	".8byte 0\n"                                 \
	".asciz \"forms\"\n"                         \
	".asciz \"" name "\"\n"                      \
	".asciz \"" arguments "\"\n"                 \
	"994: .balign 4\n"                           \
	".popsection\n"

/* With registers rax, rbx, rdi and xmm0 as given */
#define PASS(name, arguments, a, b)                   \
	asm volatile(FORM(name, arguments)            \
		     :                                \
		     : "a"(a), "b"(b), "S"(a), "D"(b) \
		     : "memory")

#define SAY(name, format, ...) \
	printf("usdt:forms:" name " " format "\n", __VA_ARGS__)

#define BOTH(name, arguments, a, b, format, ...) \
	do {                                     \
		PASS(name, arguments, a, b);     \
		SAY(name, format, __VA_ARGS__);  \
	} while (0)

static void pass_registers(void)
{
	unsigned long v = 0x8123456789abcdef;

	BOTH("s8", "-1@%%al", v, 0l, "arg0=%d", (signed char)v);
	BOTH("u8", "1@%%al", v, 0l, "arg0=%u", (unsigned char)v);
	BOTH("s8high", "-1@%%ah", v, 0l, "arg0=%d", (signed char)(v >> 8));
	BOTH("u8high", "1@%%ah", v, 0l, "arg0=%u", (unsigned char)(v >> 8));
	BOTH("s16", "-2@%%ax", v, 0l, "arg0=%d", (short)v);
	BOTH("u16", "2@%%ax", v, 0l, "arg0=%u", (unsigned short)v);
	BOTH("s32", "-4@%%eax", v, 0l, "arg0=%d", (int)v);
	BOTH("u32", "4@%%eax", v, 0l, "arg0=%u", (unsigned int)v);
	BOTH("s64", "-8@%%rax", v, 0l, "arg0=%ld", (long)v);
	BOTH("u64", "8@%%rax", v, 0l, "arg0=0x%lx", v);
	BOTH("low", "1@%%sil 2@%%si 4@%%esi 1@%%bl 1@%%dil", v, v,
	     "arg0=%u arg1=%u arg2=%u arg3=%u arg4=%u", (unsigned char)v,
	     (unsigned short)v, (unsigned int)v, (unsigned char)v,
	     (unsigned char)v);
	BOTH("narrow", "-4@%%al 8@%%ax", v, 0l, "arg0=%u arg1=0x%x",
	     (unsigned char)v, (unsigned short)v);
	BOTH("unsized", "%%eax %%rbx", v, v, "arg0=%u arg1=0x%lx",
	     (unsigned int)v, v);
	asm volatile("mov %0, %%r9\n mov %0, %%r12\n" FORM(
			     "numbered",
			     "1@%%r9b -2@%%r9w 4@%%r9d -8@%%r12 1@%%r9l")
		     :
		     : "r"(v)
		     : "r9", "r12");
	SAY("numbered", "arg0=%u arg1=%d arg2=%u arg3=%ld arg4=%u",
	    (unsigned char)v, (short)v, (unsigned int)v, (long)v,
	    (unsigned char)v);
}

static void pass_memory(void)
{
	static const long words[4] = { 0x1122334455667788, -2, 3, -4 };
	const char *at = (const char *)words;

	BOTH("base", "8@(%%rbx) -8@8(%%rbx) -4@8(%%rbx)", 0l, at,
	     "arg0=0x%lx arg1=%ld arg2=%d", words[0], words[1], (int)words[1]);
	BOTH("below", "-8@-16(%%rbx) -8@-0x8(%%rbx)", 0l, at + 24,
	     "arg0=%ld arg1=%ld", words[1], words[2]);
	BOTH("index", "-8@(%%rax,%%rbx,8) -8@8(%%rax,%%rbx,8) -8@(%%rdi,%%rsi)",
	     at, 2l, "arg0=%ld arg1=%ld arg2=%ld", words[2], words[3],
	     *(const long *)(at + 2));
	BOTH("scaled", "-8@-8(,%%rbx,8)", at, ((long)at >> 3) + 4, "arg0=%ld",
	     words[3]);
	BOTH("sums", "-8@16+8-16(%%rbx) -8@8+8(%%rbx)", 0l, at,
	     "arg0=%ld arg1=%ld", words[1], words[2]);
	BOTH("blanks", "-8@8(%%rax, %%rbx, 8) -4@$3", at, 1l,
	     "arg0=%ld arg1=%d", words[2], 3);
}

static void pass_others(void)
{
	static const double reals[2] = { 1.5, -0.125 };
	const long bits = 0x3ff8000000000000; /* of 1.5 */
	static const float half = 2.25f;

	BOTH("numbers", "4@$5 -4@$-7 -8@$0x10 8@$010 1@$255", 0l, 0l,
	     "arg0=%u arg1=%d arg2=%d arg3=0x%x arg4=%u", 5u, -7, 16, 8, 255u);
	BOTH("symbols",
	     "-4@counter(%%rip) -4@counter+4(%%rip) -4@4+counter(%%rip) 4@hidden(%%rip) 8@$counter -4@counter",
	     0l, 0l, "arg0=%d arg1=%d arg2=%d arg3=%d arg4=0x%lx arg5=%d",
	     counter[0], counter[1], counter[1], hidden, (long)counter,
	     counter[0]);
	BOTH("thread", "8@%%fs:16 8@%%fs:(%%rax) 8@%%fs:8(%%rax)", 0l, 0l,
	     "arg0=0x%lx arg1=0x%lx arg2=0x%lx", (long)pthread_self(),
	     (long)pthread_self(), ((long *)pthread_self())[1]);
	asm volatile("movsd %0, %%xmm0\n movss %1, %%xmm11\n" FORM(
			     "reals",
			     "8f@%%xmm0 4f@%%xmm11 8f@8(%%rbx) -8@%%xmm0")
		     :
		     : "m"(reals[0]), "m"(half), "b"(reals)
		     : "xmm0", "xmm11");
	SAY("reals", "arg0=%g arg1=%g arg2=%g arg3=%ld", reals[0], half,
	    reals[1], bits);
	PASS("none", "", 0l, 0l);
	puts("usdt:forms:none");
	PASS("strange", "4@$1 8@%%ymm0", 0l, 0l);
	PASS("absent", "4@$1 -4@nowhere(%%rip) -4@own@gotpcrel(%%rip)", 0l, 0l);
	last = 66;
	BOTH("local",
	     "-4@%%fs:own@tpoff -4@%%fs:own@tpoff+4 -4@own@tpoff+4(%%rax) 1@%%fs:last@tpoff",
	     (long)pthread_self(), 0l, "arg0=%d arg1=%d arg2=%d arg3=%u",
	     own[0], own[1], own[1], last);
	before[0]++;
	PASS("noone", "4@%%fs:nobody@tpoff 4@%%fs:counter@tpoff", 0l, 0l);
}

static volatile sig_atomic_t ends, first, second;

static void note(int sig)
{
	if (sig == SIGUSR1)
		first = 1;
	else if (sig == SIGUSR2)
		second = 1;
	else
		ends = 1;
}

/* struct passes - how often each tracepoint was passed */
static struct passes {
	unsigned long guarded, twice, plain, plugin;
} passes;

static void *library;

static void load(const char *path)
{
	unsigned long (*call)(int);

	if (first && !library) {
		library = dlopen(path, RTLD_NOW);
		if (!library)
			fprintf(stderr, "%s\n", dlerror());
		first = 0;
	}
	if (second && library) {
		dlclose(library);
		library = NULL;
		second = 0;
	}
	call = library ? (unsigned long (*)(int))dlsym(library, "plugin_call") :
			 NULL;
	if (call)
		passes.plugin += call(7);
}

static void __attribute__((noinline)) make_round(int i)
{
	static const char text[] = "a text";

	if (victim_guarded_semaphore) {
		passes.guarded++;
		DTRACE_PROBE2(victim, guarded, i, text);
	}
	if (victim_twice_semaphore) {
		passes.twice += 2;
		DTRACE_PROBE1(victim, twice, 1);
		i++;
		DTRACE_PROBE2(victim, twice, 2, i);
	}
	passes.plain++;
	DTRACE_PROBE1(victim, plain, i & 3);
}

static void make_child(void)
{
	pid_t pid;

	first = 0;
	pid = fork();
	if (pid) {
		printf("child %d\n", pid);
		return;
	}
	memset(&passes, 0, sizeof(passes));
	while (!ends) {
		make_round(1);
		usleep(1000);
	}
	printf("child passed %lu %lu\n", passes.guarded, passes.plain);
	fflush(stdout);
	_exit(0);
}

static void make_rounds(const char *path, int forks)
{
	int i = 0;

	while (!ends) {
		make_round(i++);
		if (path)
			load(path);
		if (forks && first)
			make_child();
		usleep(1000);
	}
	while (forks && wait(NULL) > 0)
		;
	printf("passed %lu %lu %lu %lu\n", passes.guarded, passes.twice,
	       passes.plain, passes.plugin);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, note);
	signal(SIGUSR2, note);
	signal(SIGTERM, note);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "forms")) {
		pass_registers();
		pass_memory();
		pass_others();
		return 0;
	}
	puts("begun");
	make_rounds(argc > 2 ? argv[2] : NULL,
		    argc > 1 && !strcmp(argv[1], "fork"));
	return 0;
}
#endif
