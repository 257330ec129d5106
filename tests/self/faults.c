// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* faults: of probed instructions, of handlers, of fault_handlers. */
#include "tests/self/self.h"

__asm__(".text\n.balign 16\n"
	".type loads, @function\nloads:\n.cfi_startproc\n"
	"loads_at: mov (%rdi), %rax\n nop\n nop\n nop\n ret\n"
	".cfi_endproc\n.size loads, .-loads\n"
	".balign 16\n.type divides, @function\ndivides:\n.cfi_startproc\n"
	"mov %rdi, %rax\n cqo\n"
	"divides_at: idiv %rsi\n nop\n nop\n ret\n"
	".cfi_endproc\n.size divides, .-divides\n");
long loads(const long *p);
long divides(long a, long b);
long eats_stack(long n);
extern char loads_at[], divides_at[];
static volatile long *volatile nowhere = (long *)24;

static volatile long runs, faults, traps;
static long there = 77;
static sigjmp_buf out;
static void *volatile seen;
static volatile int how;

enum { REPAIR = 1, JUMP };

static void on_fault(int sig, siginfo_t *info, void *uc_)
{
	ucontext_t *uc = uc_;

	faults++;
	seen = (void *)uc->uc_mcontext.gregs[REG_RIP];
	if (how == JUMP)
		siglongjmp(out, 1);
	if (sig == SIGFPE)
		uc->uc_mcontext.gregs[REG_RSI] = 1;
	else
		uc->uc_mcontext.gregs[REG_RDI] = (long)&there;
}

static void take(void)
{
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGFPE, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGILL, &act, NULL);
}

static int just_count(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	return 0;
}

static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

/* @arg: with a post_handler */
static int program(void *arg)
{
	struct kprobe a = { .addr = (void *)loads_at,
			    .pre_handler = just_count,
			    .post_handler = arg ? after : NULL };
	struct kprobe b = { .addr = (void *)divides_at,
			    .pre_handler = just_count,
			    .post_handler = arg ? after : NULL };
	int i;

	take();
	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	for (i = 0; i < 100; i++) {
		how = REPAIR;
		seen = NULL;
		EXPECT(loads((long *)16) == 77 && seen == loads_at);
		EXPECT(divides(40 + i, 0) == 40 + i && seen == divides_at);
		EXPECT(loads((long *)(0x1234ull << 48)) == 77);
		how = JUMP;
		seen = NULL;
		if (!sigsetjmp(out, 1))
			loads((long *)16);
		EXPECT(seen == loads_at);
	}
	EXPECT(faults == 400);
	EXPECT(loads(&there) == 77 && divides(12, 4) == 3);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	return 0;
}

static int mends(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	traps = trapnr;
	regs->di = (unsigned long)&there;
	return 1;
}

static int declines(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	traps = trapnr;
	return 0;
}

static int crashes(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	traps = trapnr;
	return (int)*nowhere;
}

static int fault_handlers(void *arg)
{
	struct kprobe a = { .addr = (void *)loads_at,
			    .pre_handler = just_count,
			    .fault_handler = mends };

	take();
	how = REPAIR;
	EXPECT(!register_kprobe(&a));
	EXPECT(loads((long *)16) == 77 && traps == 14 && !faults);
	unregister_kprobe(&a);
	a.fault_handler = declines;
	EXPECT(!register_kprobe(&a));
	EXPECT(loads((long *)16) == 77 && faults == 1 && seen == loads_at);
	unregister_kprobe(&a);
	a.fault_handler = crashes;
	EXPECT(!register_kprobe(&a));
	EXPECT(loads((long *)16) == 77 && faults == 2 && seen == loads_at);
	EXPECT(loads(&there) == 77);
	unregister_kprobe(&a);
	return 0;
}

static int bad_pre(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	return (int)*nowhere;
}

static void bad_post(struct kprobe *p, struct pt_regs *regs, unsigned long f)
{
	runs++;
	*nowhere = 1;
}

static DP_HANDLER_GPR int bad_gpr(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	return (int)*nowhere;
}

static int given_up(struct kprobe *a)
{
	runs = traps = 0;
	EXPECT(!register_kprobe(a));
	errno = 55;
	EXPECT(loads(&there) == 77 && runs == 1 && errno == 55);
	EXPECT(loads(&there) == 77 && runs == 1);
	EXPECT(!a->fault_handler || traps == 14);
	unregister_kprobe(a);
	a->flags = 0;
	return 0;
}

static const char *const in_order[] = { "kprobe at loads", "kprobe at divides",
					"kprobe at ?+0x0 has faulted" };
#define IN_ORDER 3
static volatile long reports;

static void expect_report(const char *line)
{
	reports += reports < IN_ORDER && strstr(line, in_order[reports]);
}

/* mov $1, %eax; ret, where no symbol is */
static void *unnamed(void)
{
	static const char code[] = "\xb8\x01\0\0\0\xc3";
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : memcpy(at, code, sizeof(code));
}

static int reported(void *arg)
{
	struct kprobe a = { .addr = (void *)loads_at, .pre_handler = bad_pre };
	struct kprobe b = { .addr = (void *)divides_at,
			    .pre_handler = bad_pre };
	struct kprobe c = { .addr = unnamed(), .pre_handler = bad_pre };

	dp_set_report(expect_report);
	EXPECT(c.addr && !register_kprobe(&a) && !register_kprobe(&b) &&
	       !register_kprobe(&c));
	EXPECT(divides(12, 4) == 3 && loads(&there) == 77 && !reports);
	EXPECT(((int (*)(void))(uintptr_t)c.addr)() == 1);
	unregister_kprobe(&a);
	EXPECT(reports == IN_ORDER);
	unregister_kprobe(&b);
	unregister_kprobe(&c);
	return 0;
}

static char alt[65536];

static void take_alternate(void)
{
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };

	sigaltstack(&ss, NULL);
}

static const kprobe_fault_handler_t fault_handlers_of[] = { NULL, declines,
							    crashes };
#define FAULT_HANDLERS 3

/* @arg: with an alternate stack */
static int handlers(void *arg)
{
	int i;

	if (arg)
		take_alternate();
	for (i = 0; i < FAULT_HANDLERS; i++) {
		struct kprobe a = { .addr = (void *)loads_at,
				    .pre_handler = bad_pre,
				    .fault_handler = fault_handlers_of[i] };

		if (given_up(&a))
			return 1;
		a.pre_handler = bad_gpr;
		if (given_up(&a))
			return 1;
		a.pre_handler = NULL;
		a.post_handler = bad_post;
		if (given_up(&a))
			return 1;
	}
	return 0;
}

static __attribute__((noipa)) long twice(long n)
{
	return 2 * n;
}

/* Not before calls go the short way. */
#define WARM 100

static int bad_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return ++runs == WARM ? (int)*nowhere : 0;
}

static int bad_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return bad_entry(ri, regs);
}

static int followed(struct kretprobe *rp, unsigned long entries)
{
	struct dp_kretprobe_account a = { 0 };
	int i;

	runs = traps = 0;
	EXPECT(!register_kretprobe(rp));
	for (i = 0; i < 2 * WARM; i++) {
		errno = 55;
		EXPECT(twice(i) == 2 * i && errno == 55);
	}
	EXPECT(runs == WARM && (!rp->kp.fault_handler || traps == 14));
	EXPECT(!dp_kretprobe_account(rp, &a));
	EXPECT(a.entries == entries && a.returned == entries && !a.inside);
	unregister_kretprobe(rp);
	return 0;
}

/* @arg: with an alternate stack */
static int returns(void *arg)
{
	int i;

	if (arg)
		take_alternate();
	for (i = 0; i < FAULT_HANDLERS; i++) {
		struct kretprobe a = { .kp.addr = (void *)twice,
				       .kp.fault_handler = fault_handlers_of[i],
				       .entry_handler = bad_entry };
		struct kretprobe b = { .kp.addr = (void *)twice,
				       .kp.fault_handler = fault_handlers_of[i],
				       .handler = bad_return };

		if (followed(&a, WARM) || followed(&b, WARM))
			return 1;
	}
	return 0;
}

static int overflow(void *arg)
{
	struct kprobe a = { .addr = (void *)loads_at,
			    .pre_handler = just_count };
	struct kprobe b = { .symbol_name = "eats_stack",
			    .pre_handler = just_count };
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK };
	int i;

	take_alternate();
	sigaction(SIGSEGV, &act, NULL);
	how = JUMP;
	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	for (i = 0; i < 10; i++)
		if (!sigsetjmp(out, 1))
			eats_stack(1l << 40);
	EXPECT(faults == 10);
	runs = 0;
	EXPECT(loads(&there) == 77 && runs == 1);
	return 0;
}

long __attribute__((noipa)) eats_stack(long n)
{
	volatile char room[300];

	room[0] = (char)n;
	return n ? eats_stack(n - 1) + room[0] : 0;
}

/** struct frame - what the kernel puts on a stack for a signal */
struct frame {
	void *restorer;
	unsigned long flags;
	void *link;
	stack_t stack;
	mcontext_t context;
	unsigned long mask;
	siginfo_t info;
};

#define BELOW 16384

/* How many signal frames of the breakpoint are below @sp? One that the agent has looked at has the pc in place of the
 * exception's number. @ended: of those, how many say that their handler has ended */
static int __attribute__((noipa, no_sanitize("address", "undefined")))
frames_below(const char *sp, int *ended)
{
	const char *at = (char *)((uintptr_t)sp & ~15ul) - 8;
	int n = 0;

	for (; at > sp - BELOW; at -= 16) {
		const struct frame *f = (const void *)at;
		const greg_t *regs = f->context.gregs;

		if ((unsigned short)regs[REG_CSGSFS] != 0x33 ||
		    regs[REG_TRAPNO] != (greg_t)loads_at + 1 ||
		    (uintptr_t)sp - (uintptr_t)regs[REG_RSP] > 512)
			continue;
		n++;
		*ended += !f->info.si_signo;
	}
	return n;
}

/* Whoever scans stacks that lie side by side finds old frames, and must know them. */
static int leftovers(void *arg)
{
	struct kprobe a = { .addr = (void *)loads_at,
			    .pre_handler = just_count };
	int n, ended = 0;

	setenv("DPROBES_ARM", "trap", 1);
	EXPECT(!register_kprobe(&a));
	EXPECT(loads(&there) == 77);
	n = frames_below(__builtin_frame_address(0), &ended);
	EXPECT(runs == 1 && n == 1 && ended == 1);
	return 0;
}

int main(void)
{
	ok_child(program, NULL, 20, "the program's own faults");
	ok_child(program, alt, 20, "… with a post_handler");
	ok_child(fault_handlers, NULL, 20, "fault_handlers");
	ok_child(handlers, NULL, 20, "handlers that fault");
	ok_child(handlers, alt, 20, "… with an alternate stack");
	ok_child(reported, NULL, 20, "… are told of in the order of probes");
	ok_child(returns, NULL, 20, "handlers of return probes that fault");
	ok_child(returns, alt, 20, "… with an alternate stack");
	ok_child(overflow, NULL, 60, "the stack is too small");
	ok_child(leftovers, NULL, 20,
		 "the frame of a trap tells that it is over");
	return plan();
}
