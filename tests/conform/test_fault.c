// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fault: what happens when a handler faults, or the probed instruction does. */
#include "conform.h"
#include "victims.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#define TRAP_DIVIDE 0
#define TRAP_OPCODE 6
#define TRAP_PROTECTION 13
#define TRAP_PAGE 14

#define BAD 0x10ul /* nothing is mapped there */
#define NON_CANONICAL 0x8000000000000000ul

static unsigned long good = 41;
static int seen_trap = -1;
static struct kprobe *seen_probe;
static unsigned long seen_ip;

static void note_fault(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	count(&counts.fault);
	seen_probe = p;
	seen_trap = trapnr;
	seen_ip = regs->ip;
}

/* --- the probed instruction --- */

static int mend_it(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	note_fault(p, regs, trapnr);
	regs->di = (unsigned long)&good;
	regs->si = 1;
	return 1;
}

static int leave_it(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	note_fault(p, regs, trapnr);
	return 0;
}

struct fault {
	const char *name;
	victim_t *run;
	void *const *at, *const *next;
	unsigned long a, b;
	int trapnr, signal;
};

#define FAULT(v, a, b, trapnr, signal)                          \
	{                                                       \
#v, v, &v##_at, &v##_next, a, b, trapnr, signal \
	}

static const struct fault faults[] = {
	FAULT(v_load, BAD, 0, TRAP_PAGE, SIGSEGV),
	FAULT(v_load_short, BAD, 0, TRAP_PAGE, SIGSEGV),
	FAULT(v_load, NON_CANONICAL, 0, TRAP_PROTECTION, SIGSEGV),
	FAULT(v_div, 1, 0, TRAP_DIVIDE, SIGFPE),
	FAULT(v_ud2, 0, 0, TRAP_OPCODE, SIGILL),
};

static unsigned int length_of(const struct fault *f)
{
	return (char *)*f->next - (char *)*f->at;
}

/* An instruction whose use is to fault may be refused: doc/differences.md. */
static bool is_refused(const struct fault *f, struct kprobe *kp)
{
	if (f->trapnr != TRAP_OPCODE || register_kprobe(kp) != -EINVAL) {
		unregister_kprobe(kp);
		kp->addr = *f->at;
		return false;
	}
	check(strstr(dp_last_diag()->text, "ud2"));
	seen_trap = TRAP_OPCODE;
	return true;
}

/* How long the instruction is that skip_by() goes on behind. */
static unsigned int skipped;

/* As if it had given 41. */
static int skip_by(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	note_fault(p, regs, trapnr);
	regs->ax = 41;
	regs->ip = (unsigned long)p->addr + skipped;
	return 1;
}

static void one_fault(const struct fault *f, bool post)
{
	struct kprobe kp = { .addr = *f->at,
			     .pre_handler = count_pre,
			     .post_handler = post ? count_post : NULL,
			     .fault_handler = skip_by };

	counts = (struct conform_counts){ 0 };
	skipped = length_of(f);
	if (is_refused(f, &kp))
		return;
	must(register_kprobe(&kp));
	check_eq(f->run(f->a, f->b), 42);
	check_eq(counts.pre, 1);
	check_eq(counts.fault, 1);
	check_eq(counts.post, 0);
	check_eq(seen_trap, f->trapnr);
	check(seen_probe == &kp);
	check_eq(seen_ip, (unsigned long)*f->at);
	check_eq(f->run(f->a, f->b), 42);
	check_eq(counts.fault, 2);
	unregister_kprobe(&kp);
}

TEST(row_106_a_fault_of_the_instruction_calls_fault_handler)
{
	unsigned int i;

	for (i = 0; i < COUNT(faults); i++) {
		one_fault(&faults[i], false);
		one_fault(&faults[i], true);
	}
}

TEST(row_117_trapnr_is_the_processors_number)
{
	unsigned int i;

	for (i = 0; i < COUNT(faults); i++) {
		one_fault(&faults[i], false);
		check_eq(seen_trap, faults[i].trapnr);
	}
}

TEST(row_118_one_goes_on_with_the_registers_that_it_left)
{
	struct kprobe kp = { .addr = v_load_at,
			     .pre_handler = count_pre,
			     .fault_handler = mend_it };
	struct kprobe div = { .addr = v_div_at, .fault_handler = mend_it };

	must(register_kprobe(&kp));
	check_eq(v_load(BAD, 0), 42);
	check_eq(counts.fault, 1);
	check_eq(v_load(NON_CANONICAL, 0), 42);
	check_eq(counts.fault, 2);
	check_eq(v_load((unsigned long)&good, 0), 42);
	check_eq(counts.fault, 2);
	unregister_kprobe(&kp);
	must(register_kprobe(&div));
	check_eq(v_div(9, 0), 10);
	check_eq(seen_trap, TRAP_DIVIDE);
	unregister_kprobe(&div);
}

static void fault_often(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(v_load(BAD, 0), 42);
}

TEST(row_118_on_every_thread)
{
	struct kprobe kp = { .addr = v_load_at, .fault_handler = mend_it };
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();

	must(register_kprobe(&kp));
	in_threads(fault_often);
	check_eq(counts.fault, wanted);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
}

/* --- the program's own handlers --- */

static sigjmp_buf out;
static volatile int own_signal, own_count;
static unsigned long own_pc, own_address;
static int own_code;

static void own_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	own_signal = sig;
	own_count++;
	own_pc = uc->uc_mcontext.gregs[REG_RIP];
	own_address = (unsigned long)info->si_addr;
	own_code = info->si_code;
}

static void own_skip(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	own_handler(sig, info, context);
	uc->uc_mcontext.gregs[REG_RAX] = 41;
	uc->uc_mcontext.gregs[REG_RIP] += skipped;
}

static void own_jump(int sig, siginfo_t *info, void *context)
{
	own_handler(sig, info, context);
	siglongjmp(out, 1);
}

static void catch_faults(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler,
				.sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGFPE, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* What the program's handler sees is what it sees without a probe. */
static void own_fault(const struct fault *f, struct kprobe *kp)
{
	unsigned long address;
	int code;

	skipped = length_of(f);
	check_eq(f->run(f->a, f->b), 42);
	address = own_address;
	code = own_code;
	if (is_refused(f, kp))
		return;
	must(register_kprobe(kp));
	own_pc = own_address = own_code = own_signal = 0;
	check_eq(f->run(f->a, f->b), 42);
	check_eq(own_signal, f->signal);
	check_eq(own_pc, (unsigned long)*f->at);
	check_eq(own_address, address);
	check_eq(own_code, code);
	unregister_kprobe(kp);
}

static void own_faults(bool post, kprobe_fault_handler_t fault_handler)
{
	unsigned int i;

	for (i = 0; i < COUNT(faults); i++) {
		struct kprobe kp = { .addr = *faults[i].at,
				     .pre_handler = count_pre,
				     .post_handler = post ? count_post : NULL,
				     .fault_handler = fault_handler };

		own_fault(&faults[i], &kp);
	}
	check(counts.pre >= COUNT(faults) - 1);
	check_eq(counts.post, 0);
}

TEST(row_118_otherwise_the_fault_is_the_programs_at_its_own_address)
{
	catch_faults(own_skip);
	own_faults(false, NULL);
}

TEST(row_118_the_same_with_a_post_handler)
{
	catch_faults(own_skip);
	own_faults(true, NULL);
}

TEST(row_118_the_same_when_fault_handler_returns_zero)
{
	catch_faults(own_skip);
	own_faults(false, leave_it);
	check_eq(counts.fault, counts.pre);
}

TEST(row_118_the_program_sets_its_handler_behind_the_probe)
{
	struct kprobe kp = probe_at(v_load_at);
	struct sigaction sa;

	must(register_kprobe(&kp));
	catch_faults(own_skip);
	check(!sigaction(SIGSEGV, NULL, &sa));
	check(sa.sa_sigaction == own_skip);
	check(sa.sa_flags & SA_SIGINFO);
	skipped = (char *)v_load_next - (char *)v_load_at;
	check_eq(v_load(BAD, 0), 42);
	check_eq(own_pc, (unsigned long)v_load_at);
	unregister_kprobe(&kp);
	check_eq(v_load(BAD, 0), 42);
	check_eq(own_count, 2);
}

/* As runtimes do that live on SIGSEGV. */
TEST(row_118_the_program_leaves_its_handler_by_siglongjmp)
{
	struct kprobe kp = probe_at(v_load_at);
	volatile int i;

	catch_faults(own_jump);
	must(register_kprobe(&kp));
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(out, 1))
			v_load(BAD, 0);
	check_eq(own_count, ROUNDS);
	check_eq(counts.pre, ROUNDS);
	check_eq(v_load((unsigned long)&good, 0), 42);
	check_eq(counts.pre, ROUNDS + 1);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
}

TEST(row_118_faults_elsewhere_are_not_ours)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .fault_handler = leave_it };

	catch_faults(own_skip);
	must(register_kprobe(&kp));
	skipped = (char *)v_load_next - (char *)v_load_at;
	check_eq(v_load(BAD, 0), 42);
	check_eq(own_pc, (unsigned long)v_load_at);
	check_eq(counts.fault, 0);
	catch_faults(own_handler);
	raise(SIGSEGV);
	check_eq(own_count, 2);
	check_eq(own_code, SI_TKILL);
	check_eq(counts.fault, 0);
	unregister_kprobe(&kp);
}

HELPER(die_in_probed_load)
{
	struct kprobe kp = probe_at(v_load_at);

	must(register_kprobe(&kp));
	v_load(BAD, 0);
}

HELPER(die_in_probed_division)
{
	struct kprobe kp = { .addr = v_div_at,
			     .post_handler = count_post,
			     .fault_handler = leave_it };

	must(register_kprobe(&kp));
	v_div(1, 0);
}

TEST(row_118_without_a_handler_of_its_own_the_program_dies_of_it)
{
	int status = in_process("die_in_probed_load");

	check(WIFSIGNALED(status));
	check_eq(WTERMSIG(status), SIGSEGV);
	status = in_process("die_in_probed_division");
	check(WIFSIGNALED(status));
	check_eq(WTERMSIG(status), SIGFPE);
}

/* A handler that goes on inside the bytes of a jump, as code does that the
 * compiler has given a table of where to go on after a fault. */
static void own_retry(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	own_handler(sig, info, context);
	uc->uc_mcontext.gregs[REG_RSI] = 1;
	uc->uc_mcontext.gregs[REG_RIP] = (unsigned long)v_div + 3;
}

TEST(row_059_a_fault_that_leads_back_into_a_region)
{
	struct kprobe kp = probe_at(v_div);
	const char *arm = getenv("DPROBES_ARM");
	int i;

	/* Nobody can know of such a way, and its jumps have nothing inside. */
	if (arm && !strcmp(arm, "quiesce"))
		conform_skip("quiesce has no breakpoints inside its jumps");
	catch_faults(own_retry);
	must(register_kprobe(&kp));
	for (i = 0; i < 20; i++)
		check_eq(v_div(9, 0), 10);
	check_eq(own_count, 20);
	check_eq(own_pc, (unsigned long)v_div_at);
	check_eq(counts.pre, 20);
	unregister_kprobe(&kp);
}

TEST(row_059_a_fault_whose_handler_skips_the_instruction)
{
	struct kprobe kp = probe_at(v_load_two);
	int i;

	catch_faults(own_skip);
	skipped = 3;
	must(register_kprobe(&kp));
	for (i = 0; i < 20; i++)
		check_eq(v_load_two(BAD, 1), 42);
	check_eq(own_count, 20);
	check_eq(own_pc, (unsigned long)v_load_two_at);
	check_eq(counts.pre, 20);
	unregister_kprobe(&kp);
}

/* A page that the program's handler maps when it is touched. */
static char *lazy;

static void map_lazily(int sig, siginfo_t *info, void *context)
{
	own_handler(sig, info, context);
	mprotect(lazy, 4096, PROT_READ | PROT_WRITE);
}

TEST(row_118_a_program_that_maps_pages_as_they_are_touched)
{
	struct kprobe kp = { .addr = v_load_at,
			     .pre_handler = count_pre,
			     .post_handler = count_post };

	lazy = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	catch_faults(map_lazily);
	must(register_kprobe(&kp));
	check_eq(v_load((unsigned long)lazy, 0), 1);
	check_eq(own_count, 1);
	check(counts.pre >= 1);
	check_eq(counts.post, 1);
	unregister_kprobe(&kp);
}

/* --- handlers that fault --- */

static int pre_load(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	if (v_bad_load(BAD, 0) == 41)
		count(&counts.entry);
	return 0;
}

static void post_load(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	count(&counts.post);
	if (v_bad_load(BAD, 0) == 41)
		count(&counts.entry);
}

static int pre_divide(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	v_div(1, 0);
	return 0;
}

static int pre_opcode(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	__asm__ volatile("ud2");
	return 0;
}

static int pre_protection(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	v_bad_load(NON_CANONICAL, 0);
	return 0;
}

/* In a handler's own load: the registers are the handler's. */
static int skip_bad_load(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	note_fault(p, regs, trapnr);
	regs->ax = 41;
	regs->ip = (unsigned long)v_bad_load_next;
	return 1;
}

static int mend_bad_load(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	note_fault(p, regs, trapnr);
	regs->di = (unsigned long)&good;
	return 1;
}

static void handler_goes_on(struct kprobe *kp)
{
	int i;

	must(register_kprobe(kp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(v_mov(0, 0), 7);
	check_eq(counts.fault, ROUNDS);
	check_eq(counts.entry, ROUNDS);
	check_eq(seen_trap, TRAP_PAGE);
	check(seen_probe == kp);
	check_eq(seen_ip, (unsigned long)v_bad_load_at);
	check(!(kp->flags & KPROBE_FLAG_DISABLED));
	unregister_kprobe(kp);
}

TEST(row_106_a_fault_in_pre_handler_calls_fault_handler)
{
	struct kprobe kp = { .addr = v_mov_at,
			     .pre_handler = pre_load,
			     .fault_handler = skip_bad_load };

	handler_goes_on(&kp);
	check_eq(counts.pre, ROUNDS);
}

TEST(row_106_a_fault_in_post_handler_calls_fault_handler)
{
	struct kprobe kp = { .addr = v_mov_at,
			     .post_handler = post_load,
			     .fault_handler = mend_bad_load };

	handler_goes_on(&kp);
	check_eq(counts.post, ROUNDS);
}

/* In a thread that blocks the signals of faults, where the kernel would kill. */
static void block_faults(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGFPE);
	sigaddset(&set, SIGBUS);
	sigaddset(&set, SIGILL);
	sigprocmask(how, &set, NULL);
}

TEST(row_106_a_fault_in_a_handler_of_a_thread_that_blocks_it)
{
	struct kprobe kp = { .addr = v_mov_at,
			     .pre_handler = pre_load,
			     .fault_handler = skip_bad_load };

	block_faults(SIG_BLOCK);
	handler_goes_on(&kp);
	kp.post_handler = count_post;
	counts = (struct conform_counts){ 0 };
	handler_goes_on(&kp);
	check_eq(counts.post, ROUNDS);
}

TEST(row_106_a_fault_of_the_instruction_in_a_thread_that_blocks_it)
{
	struct kprobe kp = { .addr = v_load_at, .fault_handler = mend_it };

	block_faults(SIG_BLOCK);
	must(register_kprobe(&kp));
	check_eq(v_load(BAD, 0), 42);
	check_eq(counts.fault, 1);
	unregister_kprobe(&kp);
}

/* With an alternate stack, on which both the trap and the fault would be put. */
TEST(row_106_a_fault_in_a_handler_of_a_thread_with_an_alternate_stack)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct kprobe kp = { .addr = v_mov_at,
			     .pre_handler = pre_load,
			     .post_handler = count_post,
			     .fault_handler = skip_bad_load };

	check(!sigaltstack(&ss, NULL));
	handler_goes_on(&kp);
	check_eq(counts.pre, ROUNDS);
	check_eq(counts.post, ROUNDS);
}

TEST(row_117_trapnr_of_faults_in_handlers)
{
	static const kprobe_pre_handler_t handlers[] = { pre_load, pre_divide,
							 pre_opcode,
							 pre_protection };
	static const int traps[] = { TRAP_PAGE, TRAP_DIVIDE, TRAP_OPCODE,
				     TRAP_PROTECTION };
	unsigned int i;

	for (i = 0; i < COUNT(handlers); i++) {
		struct kprobe kp = { .addr = v_mov_at,
				     .pre_handler = handlers[i],
				     .fault_handler = leave_it };

		seen_trap = -1;
		must(register_kprobe(&kp));
		check_eq(v_mov(0, 0), 7);
		check_eq(seen_trap, traps[i]);
		unregister_kprobe(&kp);
	}
}

/* --- and nobody deals with it --- */

static char reports[4096];

static void keep_report(const char *line)
{
	strncat(reports, line, sizeof(reports) - strlen(reports) - 2);
	strcat(reports, "\n");
}

static void handler_ends(struct kprobe *kp, unsigned long *calls)
{
	int i;

	reports_to(keep_report);
	*calls = 0;
	reports[0] = 0;
	must(register_kprobe(kp));
	for (i = 0; i < 10; i++)
		check_eq(v_mov(0, 0), 7);
	check_eq(*calls, 1);
	check(listed(v_mov_at, "[DISABLED]"));
	check(kp->flags & KPROBE_FLAG_DISABLED);
	check(reports[0]);
	unregister_kprobe(kp);
	check(kp->addr == v_mov_at);
	check_eq(v_mov(0, 0), 7);
}

TEST(row_118_a_faulting_pre_handler_disables_its_probe)
{
	static const kprobe_pre_handler_t handlers[] = { pre_load, pre_divide,
							 pre_opcode,
							 pre_protection };
	unsigned int i;

	for (i = 0; i < COUNT(handlers); i++) {
		struct kprobe kp = { .addr = v_mov_at,
				     .pre_handler = handlers[i] };

		handler_ends(&kp, &counts.pre);
	}
}

TEST(row_118_a_faulting_post_handler_disables_its_probe)
{
	struct kprobe kp = { .addr = v_mov_at,
			     .post_handler = post_load,
			     .fault_handler = leave_it };

	handler_ends(&kp, &counts.post);
	check_eq(counts.fault, 1);
}

static int faulting_fault(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	count(&counts.fault);
	v_bad_load(BAD, 0);
	return 1;
}

TEST(row_118_a_fault_handler_that_faults_is_not_called_for_it)
{
	struct kprobe kp = { .addr = v_mov_at,
			     .pre_handler = pre_load,
			     .fault_handler = faulting_fault };

	handler_ends(&kp, &counts.pre);
	check_eq(counts.fault, 1);
}

TEST(row_118_a_neighbour_at_the_address_goes_on)
{
	struct kprobe bad = { .addr = v_mov_at, .pre_handler = pre_divide };
	struct kprobe fine = { .addr = v_mov_at, .post_handler = count_post };
	int i;

	must(register_kprobe(&bad));
	must(register_kprobe(&fine));
	for (i = 0; i < 10; i++)
		check_eq(v_mov(0, 0), 7);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 10);
	check_eq(fine.nmissed, 0);
	unregister_kprobe(&bad);
	unregister_kprobe(&fine);
}

TEST(row_118_a_disabled_one_can_be_enabled_again)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = pre_divide };

	must(register_kprobe(&kp));
	v_mov(0, 0);
	v_mov(0, 0);
	check_eq(counts.pre, 1);
	must(enable_kprobe(&kp));
	v_mov(0, 0);
	v_mov(0, 0);
	check_eq(counts.pre, 2);
	unregister_kprobe(&kp);
}

static void fault_once_each(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(v_mov(0, 0), 7);
}

TEST(row_118_handlers_that_fault_on_several_threads)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = pre_load };

	must(register_kprobe(&kp));
	in_threads(fault_once_each);
	check(counts.pre >= 1);
	check(counts.pre <= (unsigned long)conform_threads());
	unregister_kprobe(&kp);
}

static int ret_fault(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	v_bad_load(BAD, 0);
	return 0;
}

TEST(row_118_handlers_of_return_probes_that_fault)
{
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.handler = ret_fault };
	int i;

	must(register_kretprobe(&rp));
	for (i = 0; i < 10; i++)
		check_eq(c_plain(1, 1), 4);
	check_eq(counts.ret, 1);
	unregister_kretprobe(&rp);
	rp.handler = count_ret;
	rp.entry_handler = ret_fault;
	counts.ret = 0;
	must(register_kretprobe(&rp));
	for (i = 0; i < 10; i++)
		check_eq(c_plain(1, 1), 4);
	check(counts.ret <= 2);
	unregister_kretprobe(&rp);
}

/* A program that handles SIGSEGV is not told of a handler's fault. */
TEST(row_118_the_programs_handler_does_not_see_a_handlers_fault)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = pre_load };

	catch_faults(own_skip);
	must(register_kprobe(&kp));
	check_eq(v_mov(0, 0), 7);
	check_eq(own_count, 0);
	unregister_kprobe(&kp);
}
