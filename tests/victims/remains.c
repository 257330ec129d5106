// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * remains: in signal handlers nearly all the time, with what looks like the frames of handlers
 * that have returned among their locals and in the vector state of their own frame. Nothing of
 * these may change, nor count for the mask. Until SIGTERM; says "running", then "right".
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ucontext.h>
#include <unistd.h>

/* Of the kernel's frame, in words: the restorer, the context, siginfo. */
#define FRAME 55
#define LINK 2
#define FPSTATE 29
#define MASK 38
/* Of its fpstate, in bytes: the components that are used; one that seldom is (bit 6). */
#define USED 512
#define UPPER 1152
#define ROUNDS 2000

enum { OVERWRITTEN, RELINKED, WITHOUT_STATE, NR_REMAINS };

static volatile sig_atomic_t over;
static const char *volatile wrong;
static int kinds;
static sigset_t usual, inside;

long work(long n);

__attribute__((noinline)) long work(long n)
{
	long i, sum = 0;

	for (i = 0; i < n; i++) {
		sum += i * i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

static int mask_is(const sigset_t *wanted)
{
	sigset_t now;
	int sig;

	sigprocmask(SIG_BLOCK, NULL, &now);
	for (sig = 1; sig < 32; sig++)
		if (sigismember(&now, sig) != sigismember(wanted, sig))
			return 0;
	return 1;
}

/* All signals of the mask are set: the tool would clear some. */
static void make_remains(uint64_t (*remains)[FRAME], const uint64_t *frame)
{
	static const uint64_t no_state[128];
	int i;

	for (i = 0; i < NR_REMAINS; i++) {
		memcpy(remains[i], frame, sizeof(remains[i]));
		remains[i][MASK] = ~0ull;
	}
	memset(&remains[OVERWRITTEN][LINK], 'x', 64);
	remains[RELINKED][LINK] = 1;
	remains[WITHOUT_STATE][FPSTATE] = (uint64_t)no_state;
}

/* A whole frame in unused vector state. Return: where it is, or NULL. */
static uint64_t *hide(const uint64_t *frame)
{
	const char *state = (const char *)frame[FPSTATE];
	uint64_t *to = (uint64_t *)(state + UPPER), used;
	uint32_t size;

	memcpy(&size, state + 468, sizeof(size));
	memcpy(&used, state + USED, sizeof(used));
	if (size < UPPER + 512 || used & 1 << 6)
		return NULL;
	memcpy(to, frame, FRAME * sizeof(*to));
	to[MASK] = ~0ull;
	return to;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const uint64_t *frame = (uint64_t *)context - 1;
	uint64_t remains[NR_REMAINS][FRAME], copies[NR_REMAINS][FRAME];
	static uint64_t hidden[FRAME];
	uint64_t *hiding = hide(frame);
	int i;

	make_remains(remains, frame);
	memcpy(copies, remains, sizeof(copies));
	if (hiding)
		memcpy(hidden, hiding, sizeof(hidden));
	kinds = NR_REMAINS + !!hiding;
	for (i = 0; i < ROUNDS && !over; i++) {
		work(50);
		__asm__ volatile("" : : "r"(remains) : "memory");
	}
	if (memcmp(copies, remains, sizeof(copies)))
		wrong = "remains were changed";
	if (hiding && memcmp(hidden, hiding, sizeof(hidden)))
		wrong = "vector state was changed";
	if (!mask_is(&inside))
		wrong = "mask in the handler";
}

static void on_term(int sig)
{
	over = 1;
}

int main(void)
{
	struct sigaction act = { .sa_sigaction = on_signal,
				 .sa_flags = SA_SIGINFO };
	sigset_t all;

	sigaddset(&act.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &act, NULL);
	signal(SIGTERM, on_term);
	sigprocmask(SIG_BLOCK, NULL, &usual);
	inside = usual;
	sigaddset(&inside, SIGUSR1);
	sigaddset(&inside, SIGUSR2);
	puts("running");
	fflush(stdout);
	sigfillset(&all);
	while (!over && !wrong) {
		/* It comes in the call that unblocks it, under the mask that this sets. */
		sigprocmask(SIG_SETMASK, &all, NULL);
		raise(SIGUSR1);
		sigprocmask(SIG_SETMASK, &usual, NULL);
		raise(SIGUSR1);
		if (!mask_is(&usual))
			wrong = "mask";
	}
	printf("%s, %d kinds of remains\n",
	       wrong ? (const char *)wrong : "right", kinds);
	return wrong != NULL;
}
