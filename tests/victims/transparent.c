// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * transparent: all of a thread's state through many different instructions:
 * transparent [-a] [-v] ROUNDS. 0: until SIGTERM.
 *
 * Each round loads general registers, flags with DF, x87, MXCSR, the vector and
 * mask registers the processor has, and memory around the stack pointer with
 * values made from its seed, runs transparent_block() and adds all that the
 * block left to a digest. No address and nothing undefined is in it, so a run
 * with probes must print what a run without prints. Seeds come again after SEEDS
 * rounds and must then leave the same as before, whatever was armed or disarmed
 * meanwhile.
 *
 * Every instruction of the block, from transparent_start to transparent_end, can
 * be probed. It has instructions of 1 to 15 bytes, arrivals at every one of a row
 * of short instructions, and calls that look at their return addresses.
 *
 * -a  SIGALRM at 1 kHz meanwhile, whose handler uses vector registers
 * -v  prints what each round left, so that two runs can be compared with diff
 */
#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define SEEDS 64
#define DATA 12288
/* It starts with the values of the seed; checkpoints of this size follow. */
#define SEEDED 4096
#define CHECKPOINT 768
#define CHECKPOINTS 7
#define ABOVE 256
#define RED_ZONE 128
#define STACK_SIZE 65536
#define FNV_BASIS 14695981039346656037ull
#define FNV_PRIME 1099511628211ull
#define USED __attribute__((used, aligned(64)))

/* The block's asm knows these offsets. */
struct state {
	uint64_t gpr[16]; /* as instructions number them */
	uint64_t flags;
	uint64_t unused[7];
	uint64_t k[8];
	unsigned char fx[512];
	unsigned char z[32][64];
};

_Static_assert(offsetof(struct state, flags) == 128, "asm");
_Static_assert(offsetof(struct state, k) == 192, "asm");
_Static_assert(offsetof(struct state, fx) == 256, "asm");
_Static_assert(offsetof(struct state, z) == 768, "asm");

enum { RSP = 4 };
enum { LEVEL_SSE2, LEVEL_AVX2, LEVEL_AVX512 };

void transparent_run(void);
void transparent_block(void);

static USED struct state before, after;
static USED unsigned char data[DATA];
static USED unsigned char stack[STACK_SIZE];
static USED unsigned char aside[STACK_SIZE];
static USED uint64_t saved_rsp;
static USED int level;
static USED uint32_t usual_mxcsr = 0x1f80;
static volatile sig_atomic_t stop;
static int verbose;
static uint64_t random_state;

/* Loads "before", runs the block and stores "after". */
__asm__(".text\n"
	".balign 16\n"
	".globl transparent_run\n"
	".type transparent_run, @function\n"
	"transparent_run:\n"
	" .cfi_startproc\n"
	" push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
	" mov %rsp, saved_rsp(%rip)\n"
	" .cfi_undefined rip\n"
	" fxrstor64 before+256(%rip)\n"
	" cmpl $1, level(%rip)\n"
	" jb 3f\n"
	" ja 2f\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu before+768+64*\\i(%rip), %ymm\\i\n"
	" .endr\n"
	" jmp 3f\n"
	"2:\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu64 before+768+64*\\i(%rip), %zmm\\i\n"
	" .endr\n"
	" .irp i,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	" vmovdqu64 before+768+64*\\i(%rip), %zmm\\i\n"
	" .endr\n"
	" .irp i,0,1,2,3,4,5,6,7\n"
	" kmovq before+192+8*\\i(%rip), %k\\i\n"
	" .endr\n"
	"3:\n"
	" lea aside+65536(%rip), %rsp\n"
	" push before+128(%rip)\n"
	" popf\n"
	" mov before+32(%rip), %rsp\n"
	" mov before+0(%rip), %rax\n mov before+8(%rip), %rcx\n"
	" mov before+16(%rip), %rdx\n mov before+24(%rip), %rbx\n"
	" mov before+40(%rip), %rbp\n mov before+48(%rip), %rsi\n"
	" mov before+56(%rip), %rdi\n mov before+64(%rip), %r8\n"
	" mov before+72(%rip), %r9\n mov before+80(%rip), %r10\n"
	" mov before+88(%rip), %r11\n mov before+96(%rip), %r12\n"
	" mov before+104(%rip), %r13\n mov before+112(%rip), %r14\n"
	" mov before+120(%rip), %r15\n"
	" jmp transparent_block\n"

	"transparent_store:\n"
	" mov %rsp, after+32(%rip)\n"
	" lea aside+65536(%rip), %rsp\n"
	" pushf\n"
	" pop after+128(%rip)\n"
	" cld\n"
	" mov %rax, after+0(%rip)\n mov %rcx, after+8(%rip)\n"
	" mov %rdx, after+16(%rip)\n mov %rbx, after+24(%rip)\n"
	" mov %rbp, after+40(%rip)\n mov %rsi, after+48(%rip)\n"
	" mov %rdi, after+56(%rip)\n mov %r8, after+64(%rip)\n"
	" mov %r9, after+72(%rip)\n mov %r10, after+80(%rip)\n"
	" mov %r11, after+88(%rip)\n mov %r12, after+96(%rip)\n"
	" mov %r13, after+104(%rip)\n mov %r14, after+112(%rip)\n"
	" mov %r15, after+120(%rip)\n"
	" fxsave64 after+256(%rip)\n"
	" cmpl $1, level(%rip)\n"
	" jb 3f\n"
	" ja 2f\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu %ymm\\i, after+768+64*\\i(%rip)\n"
	" .endr\n"
	" vzeroupper\n"
	" jmp 3f\n"
	"2:\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu64 %zmm\\i, after+768+64*\\i(%rip)\n"
	" .endr\n"
	" .irp i,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	" vmovdqu64 %zmm\\i, after+768+64*\\i(%rip)\n"
	" .endr\n"
	" .irp i,0,1,2,3,4,5,6,7\n"
	" kmovq %k\\i, after+192+8*\\i(%rip)\n"
	" .endr\n"
	" vzeroupper\n"
	"3:\n"
	" fninit\n"
	" ldmxcsr usual_mxcsr(%rip)\n"
	" mov saved_rsp(%rip), %rsp\n"
	" pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	" ret\n"
	" .cfi_endproc\n"
	".size transparent_run, . - transparent_run\n");

/*
 * The strings of data+512 and data+1024 with DF as it is, from their middles on,
 * and what comes of it to data+AT.
 */
__asm__(".macro strings at\n"
	" lea data+768(%rip), %rsi\n"
	" lea data+1280(%rip), %rdi\n"
	" mov $16, %ecx\n"
	" rep movsb\n"
	" movsb\n movsw\n movsl\n movsq\n"
	" lodsb\n stosb\n lodsw\n lodsl\n lodsq\n"
	" add %rax, data+\\at(%rip)\n"
	" mov $3, %cl\n"
	" rep stosq\n"
	" stosw\n stosl\n"
	" scasb\n"
	" pushf\n pop data+\\at+8(%rip)\n"
	" scasl\n"
	" mov $40, %ecx\n"
	" repne scasb\n"
	" pushf\n pop data+\\at+16(%rip)\n"
	" cmpsw\n cmpsq\n"
	" lea data+1280(%rip), %rdi\n"
	" mov $40, %ecx\n"
	" repe cmpsb\n"
	" pushf\n pop data+\\at+24(%rip)\n"
	" mov %rcx, data+\\at+32(%rip)\n"
	" lea data(%rip), %rbx\n"
	" sub %rbx, %rsi\n sub %rbx, %rdi\n"
	" mov %rsi, data+\\at+40(%rip)\n"
	" mov %rdi, data+\\at+48(%rip)\n"
	".endm\n");

/*
 * All general registers, the red zone, x87 and SSE state and flags to data+AT.
 * No register has an address then. The flags are alive all the while.
 */
__asm__(".macro checkpoint at\n"
	" cmp %r9, %r8\n"
	" push -8(%rsp)\n pop data+\\at+120(%rip)\n"
	" mov %rax, data+\\at(%rip)\n mov %rcx, data+\\at+8(%rip)\n"
	" mov %rdx, data+\\at+16(%rip)\n mov %rbx, data+\\at+24(%rip)\n"
	" mov %rbp, data+\\at+32(%rip)\n mov %rsi, data+\\at+40(%rip)\n"
	" mov %rdi, data+\\at+48(%rip)\n mov %r8, data+\\at+56(%rip)\n"
	" mov %r9, data+\\at+64(%rip)\n mov %r10, data+\\at+72(%rip)\n"
	" mov %r11, data+\\at+80(%rip)\n mov %r12, data+\\at+88(%rip)\n"
	" mov %r13, data+\\at+96(%rip)\n mov %r14, data+\\at+104(%rip)\n"
	" mov %r15, data+\\at+112(%rip)\n"
	" .irp i,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128\n"
	" push -\\i(%rsp)\n pop data+\\at+256-\\i(%rip)\n"
	" .endr\n"
	" fxsave64 data+\\at+256(%rip)\n"
	" pushf\n pop data+\\at+248(%rip)\n"
	".endm\n");

/*
 * What the manual calls undefined is overwritten before anything looks at it.
 * Addresses are gone at the end, from registers, data and stack.
 */
__asm__(".text\n"
	".balign 16\n"
	".globl transparent_block, transparent_start, transparent_end\n"
	".type transparent_block, @function\n"
	"transparent_block:\n"
	"transparent_start:\n"
	" .cfi_startproc\n"
	" .cfi_undefined rip\n"
	" endbr64\n"
	/* Everything as it comes. */
	" pushf\n pop data+0(%rip)\n"
	" mov %rax, data+256(%rip)\n mov %rcx, data+264(%rip)\n"
	" mov %rdx, data+272(%rip)\n mov %rbx, data+280(%rip)\n"
	" mov %rbp, data+288(%rip)\n mov %rsi, data+296(%rip)\n"
	" mov %rdi, data+304(%rip)\n"
	/* Chains of flags through all registers and sizes. */
	" adc %rax, %rbx\n adc %ecx, %edx\n sbb %r8, %r9\n"
	" adc $0x12345678, %r10\n sbb $-5, %bp\n adc %r12w, %r13w\n"
	" sbb %al, %ah\n adc %sil, %dil\n rcl %r11\n rcr %r14b\n"
	" adc $0x7654, %ax\n sbb $0x1234567, %eax\n adc %r15, data+312(%rip)\n"
	" pushf\n pop data+8(%rip)\n"
	" lahf\n mov %ah, data+16(%rip)\n seto %r14b\n"
	" cmc\n lahf\n setc %r15b\n setbe %bl\n setg %dil\n setp %r8b\n sets %dl\n"
	" mov $0xd5, %ah\n sahf\n jc 1f\n inc %r9\n"
	"1: cmovz %rax, %rcx\n cmovno %ebp, %esi\n cmovs data+320(%rip), %r11\n"
	" mov $0x02, %ah\n sahf\n cmovbe %r10, %r12\n cmova %edi, %ecx\n"
	" stc\n adc $0, %r9d\n clc\n sbb %r10, %r10\n"
	" add data+328(%rip), %r10\n"
	" add %al, %al\n pushf\n pop data+24(%rip)\n"
	" checkpoint 4096\n"
	/* Lengths of 1 to 15, flags alive across them. */
	" cmp %r9, %r8\n"
	" nop\n .byte 0x66, 0x90\n nopl (%rax)\n nopl 64(%rax)\n"
	" .byte 0x0f, 0x1f, 0x44, 0, 0\n"
	" .byte 0x66, 0x0f, 0x1f, 0x44, 0, 0\n"
	" .byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n"
	" .byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x66, 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x66, 0x66, 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" .byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	" mov $7, %ecx\n"
	" movabs $0x1122334455667788, %rax\n"
	" movq $0x13579bd, data+336(%rip)\n"
	" movq $0x2468ace, -128(%rsp,%rcx,8)\n"
	" .byte 0x48, 0xc7, 0x84, 0xcc\n .long -128, 0x7fffffff\n"
	" mov %r9, %rsi\n movzwl %r8w, %edx\n movsbq %r9b, %rdi\n"
	" movslq %r10d, %rbp\n movzbl data+344(%rip), %ebx\n"
	" lea 0x1234(%r8,%r9,4), %r12\n lea (%rax,%rcx), %r13d\n"
	" bswap %rax\n xchg %rax, %r11\n xchg %ebx, %ebp\n cwtl\n cltq\n cqto\n"
	" setae %cl\n setl %ch\n"
	" pushf\n pop data+32(%rip)\n"
	" .byte 0x3e, 0x3e, 0xf0, 0x48, 0x81, 0x84, 0x24\n .long -64, 0x1020304\n"
	" lock addq $0x5060708, -72(%rsp)\n"
	" pushf\n pop data+40(%rip)\n"
	/* Multiplications, divisions, shifts, bits. */
	" mov %r8, %rax\n mul %r9\n xor %rdx, %rax\n"
	" imul $0x1357, %r9, %r9\n imul $-3, %ebp, %ebp\n imul %r10, %r12\n"
	" mov $0x7fff, %edx\n mov $0x10001, %ecx\n or $1, %rax\n div %ecx\n"
	" mov %eax, data+348(%rip)\n mov %edx, data+352(%rip)\n"
	" mov %r8, %rax\n cqto\n mov $0x3fff1, %ebx\n idiv %rbx\n"
	" add %rdx, %r8\n"
	" mov $0x7b, %al\n mov $9, %cl\n xor %ah, %ah\n divb %cl\n"
	" mov %r9b, %cl\n rol %cl, %r10\n ror $13, %r11d\n shl $3, %rsi\n"
	" sar %cl, %rdi\n shr %ebp\n shld $7, %r8, %r9\n shrd %cl, %r10, %r11\n"
	" or $0x100, %edx\n bsf %rdx, %rax\n bsr %rdx, %rbx\n"
	" bt $5, %r8\n adc %r9, %r8\n"
	" bts %ecx, %r10d\n adc $3, %r9\n btr $33, %r11\n sbb $1, %bl\n"
	" mov $0x123, %edx\n btc %rdx, data+64(%rip)\n adc %edx, %edx\n"
	" neg %rdi\n not %rsi\n dec %r14\n inc %bh\n"
	" lea data+3072(%rip), %rbx\n mov %r8b, %al\n xlat\n xor %ebx, %ebx\n"
	" add %al, %bl\n"
	" pushf\n pop data+48(%rip)\n"
	" checkpoint 4864\n"
	/* The red zone. */
	" mov %rax, -128(%rsp)\n mov %r8d, -120(%rsp)\n movb $0x5a, -113(%rsp)\n"
	" add -128(%rsp), %rcx\n sub %r9, -112(%rsp)\n xadd %r10, -104(%rsp)\n"
	" movups %xmm3, -96(%rsp)\n lock cmpxchg %rdx, -80(%rsp)\n"
	" mov -64(%rsp), %rax\n lock cmpxchg %r11, -64(%rsp)\n"
	" xchg %r12, -48(%rsp)\n lea -40(%rsp), %rdi\n mov $0x77, %al\n"
	" movb %al, 3(%rdi)\n incl -36(%rsp)\n xor %edi, %edi\n"
	" addl $1, 252(%rsp)\n rolw $3, 128(%rsp)\n adc %rcx, (%rsp)\n"
	" push -24(%rsp)\n pop -24(%rsp)\n"
	/* Branches: short and near, to both sides. */
	" mov $5, %ecx\n"
	"1: adc %r8, %r9\n loop 1b\n"
	" mov $9, %ecx\n"
	"1: sbb $0x1111, %r10\n cmp %ecx, %r10d\n loopne 1b\n"
	" mov $4, %ecx\n"
	"1: cmp %ecx, %ecx\n loope 1b\n"
	" jrcxz 2f\n inc %r11\n"
	"2: mov $1, %ecx\n jrcxz 3f\n inc %r12\n"
	"3: jecxz 4f\n dec %ecx\n jmp 3b\n"
	"4: mov $7, %ebp\n"
	"5: add $0x2fffffff, %r13d\n jo 6f\n js 7f\n jpe 8f\n jbe 9f\n"
	" inc %r14\n jmp 4f\n"
	"6: add $2, %r14\n .byte 0xe9\n .long 4f - . - 4\n"
	"7: add $3, %r15\n jmp 4f\n"
	"8: sub %r14, %r15\n jmp 4f\n"
	"9: rcl %r15\n"
	"4: dec %ebp\n .byte 0x0f, 0x85\n .long 5b - . - 4\n"
	" test %r13d, %r13d\n .byte 0x0f, 0x88\n .long 1f - . - 4\n xor %rbp, %r15\n"
	"1: jmp 2f\n"
	"3: lea 5f(%rip), %rax\n jmp *%rax\n inc %r8\n"
	"2: jmp 3b\n"
	"5: xor %eax, %eax\n add $0, %eax\n pushf\n pop data+56(%rip)\n"
	/* Each of a row of short instructions is jumped to. */
	" xor %r12d, %r12d\n"
	"1: lea strip(%rip), %r13\n cmp %r12d, %r14d\n"
	" jmp *(%r13,%r12,8)\n"
	".Ls0: inc %eax\n"
	".Ls1: cwtl\n"
	".Ls2: cmc\n"
	".Ls3: rcl %edx\n"
	".Ls4: cltd\n"
	".Ls5: push %rdx\n"
	".Ls6: nop\n"
	".Ls7: stc\n"
	".Ls8: sbb %ebx, %edx\n"
	".Ls9: lahf\n"
	".Ls10: cltq\n"
	".Ls11: adc %eax, %ebx\n"
	".Ls12: jnc 2f\n"
	".Ls13: inc %ecx\n"
	"2: pushf\n pop %rsi\n add %rsi, %r14\n add %rax, %r15\n"
	" mov before+32(%rip), %rsp\n"
	" inc %r12d\n cmp $14, %r12d\n jne 1b\n"
	/* The same through a table of distances, as compilers make them. */
	" mov $4, %r12d\n"
	"1: lea distances(%rip), %r13\n movslq (%r13,%r12,4), %rax\n"
	" add %r13, %rax\n jmp *%rax\n"
	".Ld0: inc %ebx\n"
	".Ld1: add %ebx, %r14d\n"
	".Ld2: cmc\n"
	".Ld3: adc $1, %r15b\n"
	".Ld4: dec %r12d\n jns 1b\n"
	" xor %eax, %eax\n xor %r13d, %r13d\n"
	/* Calls, their return addresses, and the stack, away from the red zone. */
	" lea -256(%rsp), %rsp\n"
	" call 1f\n"
	"1: pop %rax\n lea 1b(%rip), %rcx\n sub %rcx, %rax\n add %rax, data+72(%rip)\n"
	" call .Ladd\n lea .Ladd(%rip), %rcx\n call *%rcx\n call *functions(%rip)\n"
	" push %rcx\n call *(%rsp)\n push $-2\n call *8(%rsp)\n pop %rsi\n pop %rcx\n"
	" lea functions(%rip), %rdx\n mov $1, %eax\n call *-8(%rdx,%rax,8)\n"
	" push $0x12345678\n push %r8\n call .Lpops\n"
	" pushw $0x1234\n popw %dx\n"
	" push %rsp\n pop %rax\n sub %rsp, %rax\n add %rax, %r9\n"
	" push data+360(%rip)\n pop data+368(%rip)\n push %rbp\n pop (%rsp)\n"
	" push -8(%rsp)\n pop %rax\n xor %eax, %eax\n"
	" mov %rbp, data+376(%rip)\n enter $48, $0\n mov %r9, -48(%rbp)\n"
	" add -48(%rbp), %r8\n leave\n cmp %rbp, data+376(%rip)\n sete %bpl\n"
	" lea 1f(%rip), %rax\n push %rax\n ret\n inc %r8\n"
	"1: lea 2f(%rip), %rax\n push %rax\n jmp *(%rsp)\n inc %r8\n"
	"2: pop %rcx\n sub %rcx, %rax\n setz %al\n"
	" call 3f\n jmp 4f\n"
	".Ladd: lea 1(%r15,%r8), %r15\n adc $0, %r14\n ret\n"
	".Lpops: pushf\n add %rbp, 24(%rsp)\n pop %rax\n add 16(%rsp), %r15\n"
	" and $0xcff, %eax\n add %rax, %r15\n ret $16\n"
	"3: sub $24, %rsp\n mov %r8, -8(%rsp)\n cmp -8(%rsp), %r8\n"
	" setne -9(%rsp)\n add $24, %rsp\n .byte 0xf3, 0xc3\n"
	"4: lea 256(%rsp), %rsp\n xor %ecx, %ecx\n xor %edx, %edx\n"
	" checkpoint 5632\n"
	/* Strings: DF as it came, set and clear. */
	" strings 80\n"
	" std\n"
	" strings 136\n"
	" cld\n"
	" strings 192\n"
	" push data+0(%rip)\n popf\n"
	" mov $1, %ebx\n xadd %rbx, data+768(%rip)\n"
	/* Atomics, thread block, kernel. */
	" mov data+2560(%rip), %rax\n mov data+2568(%rip), %rdx\n"
	" lock cmpxchg16b data+2560(%rip)\n sete %bpl\n"
	" mov %r8, %rax\n lock cmpxchg8b data+2576(%rip)\n cmpxchg %cl, %dl\n"
	" mov $1, %eax\n lock xadd %eax, data+2584(%rip)\n"
	" xchg %al, data+2588(%rip)\n lock btsl $3, data+2592(%rip)\n"
	" adc %r8, %r9\n movnti %r9, data+2600(%rip)\n"
	" mfence\n lfence\n sfence\n pause\n prefetcht0 data(%rip)\n"
	" mov %fs:0, %rax\n sub %fs:0, %rax\n adc %rax, %r8\n"
	" mov %ss, %eax\n add %eax, %edx\n"
	" mov $0x1fff, %eax\n syscall\n xor %ecx, %ecx\n add %rax, %r11\n"
	" checkpoint 6400\n"
	/* x87. */
	" fnstsw %ax\n mov %ax, data+1672(%rip)\n fnstcw data+1674(%rip)\n"
	" fincstp\n fincstp\n ffree %st(0)\n ffree %st(7)\n ffree %st(6)\n"
	" fldl data+1536(%rip)\n fldpi\n fmull data+1544(%rip)\n fadd %st, %st(1)\n"
	" fxch %st(1)\n fdivrl data+1552(%rip)\n fsubs data+1600(%rip)\n"
	" fabs\n fsqrt\n pushf\n pop data+3328(%rip)\n fcomi %st(1), %st\n fcmovnbe %st(1), %st\n setp %bl\n"
	" adc $0, %r9\n fchs\n frndint\n fildl data+1640(%rip)\n fldl2e\n"
	" fscale\n fxam\n fnstsw %ax\n pushf\n pop data+3336(%rip)\n and $0x4500, %eax\n add %rax, %r10\n"
	" fstpt data+1680(%rip)\n fistpll data+1696(%rip)\n fsts -100(%rsp)\n"
	" faddp %st, %st(1)\n fldcw data+1648(%rip)\n fistps data+1704(%rip)\n"
	" fldt data+1680(%rip)\n fmul %st(0), %st\n fstl data+1712(%rip)\n"
	" fldcw data+1674(%rip)\n fwait\n fdecstp\n ftst\n"
	" pushf\n pop data+3344(%rip)\n fucomi %st(2), %st\n sbb %r10, %r11\n"
	" checkpoint 7168\n"
	/* SSE. */
	" movups data+2050(%rip), %xmm4\n movaps data+2064(%rip), %xmm5\n"
	" addps %xmm5, %xmm0\n mulpd %xmm4, %xmm1\n paddq %xmm2, %xmm3\n"
	" pshufd $0x1b, %xmm3, %xmm6\n punpcklbw %xmm6, %xmm7\n"
	" cvtsi2sd %r8, %xmm8\n addsd data+1536(%rip), %xmm8\n"
	" cvttsd2si %xmm8, %rax\n add %rax, %r9\n cvtpd2ps %xmm8, %xmm9\n"
	" comisd data+1544(%rip), %xmm8\n jp 1f\n ja 1f\n inc %r10\n"
	"1: ucomiss %xmm9, %xmm10\n adc %r9, %r10\n sqrtps %xmm9, %xmm10\n"
	" pmovmskb %xmm7, %eax\n add %eax, %r11d\n movmskpd %xmm1, %ebx\n"
	" pslldq $3, %xmm11\n psrlq %xmm12, %xmm13\n pcmpgtd %xmm14, %xmm15\n"
	" movntps %xmm5, data+2080(%rip)\n movhps %xmm15, -120(%rsp)\n"
	" stmxcsr data+1728(%rip)\n movq %xmm7, %rdx\n movd %r9d, %xmm2\n"
	" divss data+1604(%rip), %xmm12\n ldmxcsr data+1732(%rip)\n"
	" mulss %xmm10, %xmm12\n"
	" pushf\n pop data+3352(%rip)\n cmpl $1, level(%rip)\n .byte 0x0f, 0x82\n .long .Lend - . - 4\n"
	/* AVX2, and what came with it for general registers. */
	" checkpoint 7936\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu %ymm\\i, data+9472+32*\\i(%rip)\n"
	" .endr\n"
	" vaddps data+2112(%rip), %ymm1, %ymm2\n vpaddq %ymm3, %ymm4, %ymm4\n"
	" vpermq $0x4e, %ymm4, %ymm5\n vperm2i128 $0x21, %ymm5, %ymm6, %ymm7\n"
	" vpbroadcastd data+2148(%rip), %ymm8\n vinserti128 $1, %xmm8, %ymm9, %ymm9\n"
	" vpmaskmovd %ymm8, %ymm7, data+2176(%rip)\n"
	" vfmadd231pd data+2208(%rip), %ymm10, %ymm11\n vpmovmskb %ymm11, %eax\n"
	" pushf\n pop data+3360(%rip)\n vtestps %ymm12, %ymm13\n adc %rax, %r8\n vptest %ymm1, %ymm2\n"
	" sbb %r8, %r9\n vpxor %ymm14, %ymm13, %ymm14\n"
	" vpcmpeqd %ymm15, %ymm15, %ymm15\n vpsrld $26, %ymm9, %ymm0\n"
	" lea data+2304(%rip), %rsi\n vpgatherdd %ymm15, (%rsi,%ymm0,4), %ymm3\n"
	" xor %esi, %esi\n vmovups %ymm3, -128(%rsp)\n vmovaps %ymm4, data+2240(%rip)\n"
	" vcvtps2ph $0, %ymm2, -96(%rsp)\n vextractf128 $1, %ymm7, data+2272(%rip)\n"
	" andn %r8, %r9, %rax\n bextr %r10, %r11, %rbx\n pdep %r8, %r9, %rdi\n"
	" pext data+2296(%rip), %r8, %rsi\n rorx $11, %r9, %r10\n sarx %r8, %r9, %rbp\n"
	" mov %r8, %rdx\n mulx %r9, %rax, %r12\n tzcnt %r8, %rcx\n lzcnt %r9d, %edx\n"
	" movbe data+2290(%rip), %r13\n popcnt %r13, %r14\n crc32b %r8b, %r15d\n"
	" crc32q data+2280(%rip), %r15\n blsr %r9, %r9\n add %r13, %r14\n"
	" testb $1, data+4000(%rip)\n jz 1f\n vzeroupper\n"
	"1: cmpl $2, level(%rip)\n .byte 0x0f, 0x82\n .long .Lend - . - 4\n"
	/* AVX-512. */
	" checkpoint 8704\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu64 %zmm\\i, data+9984+64*\\i(%rip)\n"
	" .endr\n"
	" .irp i,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	" vmovdqu64 %zmm\\i, data+9984+64*\\i(%rip)\n"
	" .endr\n"
	" .irp i,0,1,2,3,4,5,6,7\n"
	" kmovq %k\\i, data+12032+8*\\i(%rip)\n"
	" .endr\n"
	" vpaddd %zmm1, %zmm16, %zmm17{%k1}\n vpaddq data+2304(%rip), %zmm2, %zmm18{%k2}{z}\n"
	" vaddps data+2308(%rip){1to16}, %zmm19, %zmm19\n"
	" vmulpd {rz-sae}, %zmm3, %zmm20, %zmm20\n"
	" vpternlogd $0x96, %zmm4, %zmm21, %zmm22\n vpermt2d %zmm5, %zmm22, %zmm23\n"
	" vpcmpgtd %zmm6, %zmm24, %k3{%k4}\n kaddq %k3, %k5, %k6\n"
	" pushf\n pop data+3368(%rip)\n kortestq %k6, %k3\n adc %r8, %r9\n kshiftrq $3, %k5, %k5\n"
	" kmovq %k5, %rax\n kmovd %r9d, %k4\n kmovw %k4, data+2432(%rip)\n"
	" ktestd %k3, %k4\n sbb %r9, %r10\n kxorq %k1, %k2, %k1\n"
	" vpcompressd %zmm25, data+2436(%rip){%k3}\n vpexpandd data+2308(%rip), %zmm26{%k4}\n"
	" vplzcntd %zmm27, %zmm27\n vpconflictd %zmm28, %zmm29\n"
	" vpsrld $27, %zmm30, %zmm31\n kxnorw %k7, %k7, %k7\n"
	" lea data+2624(%rip), %rbx\n vpscatterdd %zmm17, (%rbx,%zmm31,4){%k7}\n"
	" kmovq %k6, %k7\n vpgatherdd (%rbx,%zmm31,4), %zmm30{%k7}\n mov $0, %ebx\n"
	" vpmovm2b %k6, %zmm16\n vpmovb2m %zmm21, %k0\n kunpckwd %k1, %k2, %k7\n"
	" vblendmps %zmm22, %zmm23, %zmm24{%k1}\n vcvtps2udq %zmm19, %zmm28\n"
	" vmovdqu8 %zmm20, data+2753(%rip){%k2}\n vmovups %zmm18, -128(%rsp){%k1}\n"
	" pushf\n pop data+3376(%rip)\n adcx %r8, %r9\n adox %r9, %r10\n adcx data+2288(%rip), %r11\n"
	" adox %r11, %r12\n vmovdqu64 %xmm29, -64(%rsp)\n valignd $3, %ymm24, %ymm25, %ymm25\n"
	".Lend:\n"
	/* MMX now and then, which has an effect on the x87 tags. */
	" testb $2, data+4000(%rip)\n jz 1f\n movq %r8, %mm3\n paddb data+1736(%rip), %mm3\n"
	" pmaddwd %mm3, %mm4\n movq %mm4, %rdx\n testb $4, data+4000(%rip)\n jz 1f\n emms\n"
	/* The flags that came, and what the carry makes of them. */
	"1: push data+0(%rip)\n popf\n adc %r8, %r15\n rcr %r14\n sbb %r9, %r13\n"
	" jmp transparent_store\n"
	"transparent_end:\n"
	" .cfi_endproc\n"
	".size transparent_block, . - transparent_block\n"
	".section .data.rel.ro, \"aw\"\n"
	".balign 8\n"
	"strip:\n"
	" .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
	" .quad .Ls\\i\n"
	" .endr\n"
	"functions: .quad .Ladd\n"
	".section .rodata\n"
	".balign 4\n"
	"distances:\n"
	" .irp i,0,1,2,3,4\n"
	" .long .Ld\\i - distances\n"
	" .endr\n"
	".text\n");

static uint64_t rnd(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void fill(void *to, size_t len)
{
	uint64_t *word = to;

	for (; len >= sizeof(*word); len -= sizeof(*word))
		*word++ = rnd();
}

/* Values that carry, overflow and vanish more often than random ones. */
static uint64_t varied(void)
{
	switch (rnd() & 7) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return rnd() & 0xff;
	case 3:
		return 1ull << (rnd() & 63);
	case 4:
		return 0x7fffffffull + (rnd() & 1);
	default:
		return rnd();
	}
}

/* What cannot be denormal or a NaN, for the arithmetic that is to succeed. */
static double plain(void)
{
	return ((double)(rnd() & 0xfffff) - 500000) / 1024;
}

/* Every exception is masked: none may end the block. */
static uint32_t make_mxcsr(void)
{
	return 0x1f80 | (rnd() & 0xe07f);
}

static uint16_t make_fcw(void)
{
	return 0x027f | (rnd() & 0x0d00);
}

static void make_x87(unsigned char *fx)
{
	uint16_t control = make_fcw(), status = rnd() & 0x7f7f;
	uint32_t mxcsr = make_mxcsr();
	long double value;
	int i;

	memset(fx, 0, 160);
	memcpy(fx, &control, sizeof(control));
	memcpy(fx + 2, &status, sizeof(status));
	fx[4] = (unsigned char)rnd();
	memcpy(fx + 24, &mxcsr, sizeof(mxcsr));
	for (i = 0; i < 8; i++) {
		value = plain();
		memcpy(fx + 32 + 16 * i, &value, 10);
	}
}

static void make_data(void)
{
	uint32_t mxcsr = make_mxcsr();
	uint16_t control = make_fcw();
	double d;
	float f;
	int i;

	fill(data, SEEDED);
	memset(data + SEEDED, 0, DATA - SEEDED);
	for (i = 0; i < 8; i++) {
		d = plain();
		memcpy(data + 1536 + 8 * i, &d, sizeof(d));
		f = (float)plain();
		memcpy(data + 1600 + 4 * i, &f, sizeof(f));
	}
	memcpy(data + 1648, &control, sizeof(control));
	memcpy(data + 1732, &mxcsr, sizeof(mxcsr));
}

static unsigned char *make_state(uint64_t seed)
{
	unsigned char *rsp;
	int i;

	random_state = seed * 0x2545f4914f6cdd1dull;
	rsp = stack + STACK_SIZE / 2 + 8 * (rnd() & 7);
	memset(&after, 0, sizeof(after));
	fill(&before, sizeof(before));
	for (i = 0; i < 16; i++)
		before.gpr[i] = varied();
	before.gpr[RSP] = (uint64_t)rsp;
	/* CF PF AF ZF SF OF, DF, ID */
	before.flags = 0x202 | (rnd() & 0x200cd5);
	make_x87(before.fx);
	make_data();
	fill(rsp - RED_ZONE, RED_ZONE + ABOVE);
	return rsp;
}

static void mix(uint64_t *digest, const char *name, const void *from,
		size_t len)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, (const unsigned char *)from + i, sizeof(word));
		*digest = (*digest ^ word) * FNV_PRIME;
		*digest ^= *digest >> 29;
		if (verbose)
			printf("%s+%zu %016lx\n", name, i, word);
	}
}

static void mix_vectors(uint64_t *digest)
{
	size_t len = level == LEVEL_AVX512 ? 64 : 32;
	char name[32];
	int i;

	if (level == LEVEL_AVX512)
		mix(digest, "k", after.k, sizeof(after.k));
	for (i = 0; level && i < (level == LEVEL_AVX512 ? 32 : 16); i++) {
		snprintf(name, sizeof(name), "vector %d", i);
		mix(digest, name, after.z[i], len);
	}
}

/* Where the last x87 instruction was is no part of what it did. */
static void mask_x87(unsigned char *fx)
{
	memset(fx + 6, 0, 18);
	memset(fx + 28, 0, 4);
}

static uint64_t digest_state(const unsigned char *rsp)
{
	uint64_t digest = FNV_BASIS;
	int i;

	after.gpr[RSP] -= (uint64_t)rsp;
	mask_x87(after.fx);
	for (i = 0; i < CHECKPOINTS; i++)
		mask_x87(data + SEEDED + i * CHECKPOINT + 256);
	mix(&digest, "gpr", after.gpr, sizeof(after.gpr));
	mix(&digest, "flags", &after.flags, sizeof(after.flags));
	mix(&digest, "fxsave", after.fx, 416);
	mix_vectors(&digest);
	mix(&digest, "data", data, sizeof(data));
	mix(&digest, "stack", rsp - RED_ZONE, RED_ZONE + ABOVE);
	return digest;
}

static uint64_t run_round(uint64_t seed)
{
	const unsigned char *rsp = make_state(seed);

	if (verbose)
		printf("seed %lu\n", seed);
	transparent_run();
	return digest_state(rsp);
}

static uint32_t enabled_features(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static int find_level(void)
{
	const uint32_t extras = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C |
				bit_MOVBE | bit_POPCNT | bit_SSE4_2;
	const uint32_t avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
	const uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ |
				bit_AVX512VL | bit_AVX512CD | bit_ADX;
	uint32_t a, b, c, d, enabled;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & extras) != extras)
		return LEVEL_SSE2;
	enabled = enabled_features();
	if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT))
		return LEVEL_SSE2;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & avx2) != avx2 ||
	    (enabled & 6) != 6)
		return LEVEL_SSE2;
	if ((b & avx512) != avx512 || (enabled & 0xe6) != 0xe6)
		return LEVEL_AVX2;
	return LEVEL_AVX512;
}

static void on_term(int sig)
{
	stop = 1;
}

/* Leaves nothing of the vector registers as it was. */
static void on_alarm(int sig)
{
	static volatile long double sum;
	static unsigned char from[512], to[512];

	sum = sum * 0.5 + sig;
	from[sig] = (unsigned char)sum;
	memcpy(to, from, sizeof(to));
}

static void start_alarm(void)
{
	struct sigaction sa = { .sa_handler = on_alarm,
				.sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static int run_rounds(unsigned long rounds)
{
	uint64_t first[SEEDS], digest = FNV_BASIS, one;
	unsigned long i;

	for (i = 0; !stop && (!rounds || i < rounds); i++) {
		one = run_round(i % SEEDS + 1);
		if (i < SEEDS)
			first[i] = one;
		if (one != first[i % SEEDS]) {
			printf("wrong: seed %lu in round %lu\n", i % SEEDS + 1,
			       i);
			return 1;
		}
		digest = (digest ^ one) * FNV_PRIME;
	}
	if (rounds)
		printf("right: %lu rounds at level %d: %016lx\n", i, level,
		       digest);
	else
		puts("right");
	return 0;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "av")) != -1) {
		if (c == 'a')
			start_alarm();
		else if (c == 'v')
			verbose = 1;
		else
			return 2;
	}
	level = find_level();
	signal(SIGTERM, on_term);
	puts("running");
	fflush(stdout);
	return run_rounds(optind < argc ? strtoul(argv[optind], NULL, 0) :
					  SEEDS);
}
