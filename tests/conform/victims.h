/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * victims: the functions that the conformance tests probe.
 *
 * Those of victims.S have known instructions; those of victims.c have the
 * prologues and conventions that a compiler gives them.
 */
#ifndef VICTIMS_H
#define VICTIMS_H

#ifndef __KERNEL__
#include <complex.h>
#include <setjmp.h>
#endif

typedef unsigned long victim_t(unsigned long a, unsigned long b);

/* NAME(a, b), its probed instruction and the one behind that */
#define VICTIM(name)                    \
	extern void *const name##_at;   \
	extern void *const name##_next; \
	victim_t name

VICTIM(v_mov);
VICTIM(v_mov_reg);
VICTIM(v_push);
VICTIM(v_pop);
VICTIM(v_jcc);
VICTIM(v_jcc_near);
VICTIM(v_jmp);
VICTIM(v_call);
VICTIM(v_ret);
VICTIM(v_ret_imm);
VICTIM(v_loop);
VICTIM(v_jrcxz);
VICTIM(v_jmp_ind);
VICTIM(v_jmp_mem);
VICTIM(v_call_ind);
VICTIM(v_call_mem);
VICTIM(v_syscall);
VICTIM(v_lea_rip);
VICTIM(v_mov_rip);
VICTIM(v_rep);
VICTIM(v_pushf);
VICTIM(v_popf);
VICTIM(v_cmpxchg);
VICTIM(v_sse);
VICTIM(v_endbr);
VICTIM(v_load);
VICTIM(v_load_short);
VICTIM(v_div);
VICTIM(v_ud2);
VICTIM(v_bad_load);
VICTIM(v_redzone);
VICTIM(v_df);

extern void *const v_jcc_taken,
	*const v_jcc_near_taken,
		*const v_jmp_taken,
			*const v_loop_taken,
				*const v_jrcxz_taken,
					*const v_jmp_ind_taken,
						*const v_jmp_mem_taken;
extern const unsigned long v_data;
extern unsigned long v_syscall_rcx;
victim_t v_callee, v_tiny, v_tiny2, v_switch, v_chain, v_elsewhere;
void v_ret_only(void);

extern void *const v_two_at, *const v_load_two_at;
victim_t v_two, v_load_two;

extern void *const v_again_at, *const v_again_last;
victim_t v_again;

extern void *const v_into_at, *const v_into_loop;
victim_t v_into;

#define CHAIN 12
extern void *const v_chain_0,
	*const v_chain_1,
		*const v_chain_2,
			*const v_chain_3,
				*const v_chain_4,
					*const v_chain_5,
						*const v_chain_6,
							*const v_chain_7,
								*const v_chain_8,
									*const v_chain_9,
										*const v_chain_10,
											*const v_chain_11;

extern void *const v_regs_at, *const v_regs_next;
void v_regs(const unsigned long *in, unsigned long *out);

extern void *const v_xmm_at, *const v_ymm_at, *const v_zmm_at, *const v_x87_at;
void v_xmm(const void *in, void *out);
void v_ymm(const void *in, void *out);
void v_zmm(const void *in, void *out);
void v_x87(unsigned long cw, void *out);
void clobber_xmm(void);
void clobber_ymm(void);
void clobber_zmm(void);

unsigned long v_on_stack(victim_t *function, unsigned long a, void *stack);

extern void *const v_caller_back;
victim_t v_caller, v_returns;

/* --- compiled --- */

long c_plain(long a, long b);
long c_other(long a, long b);
long c_third(long a, long b);
long c_frame(long n);
long c_recurse(long n);
long c_fib(long n);
int c_static_caller(int n);

long c_six(long a, long b, long c, long d, long e, long f);
/* 64 and 72 bytes of arguments on the stack */
long c_stack64(long a, long b, long c, long d, long e, long f, long s0, long s1,
	       long s2, long s3, long s4, long s5, long s6, long s7);
long c_stack72(long a, long b, long c, long d, long e, long f, long s0, long s1,
	       long s2, long s3, long s4, long s5, long s6, long s7, long s8);
#ifndef __KERNEL__
double c_doubles(double a, float b, double c, double d, double e, double f,
		 double g, double h, double i);
long double c_long_double(long double a, long double b);
double _Complex c_complex(double _Complex a);
long double _Complex c_long_complex(long double _Complex a);
#endif
__int128 c_int128(__int128 a);

struct big {
	long v[9];
};
#ifndef __KERNEL__
struct pair {
	long a;
	double b;
};
#endif
struct big c_big(struct big in, long add);
#ifndef __KERNEL__
struct pair c_pair(struct pair in);
long c_varargs(int n, ...);
#endif
long __attribute__((ms_abi))
c_ms(long a, long b, long c, long d, long e, long f);
#ifndef __KERNEL__
double __attribute__((ms_abi))
c_ms_double(double a, long b, double c, long d, double e);
#endif

/* Calls @back with @arg in the middle. */
long c_call_back(void (*back)(long), long arg);
long c_tail(long a, long b);
#ifndef __KERNEL__
void c_jump_out(jmp_buf env);
#endif
const void *c_look_back(void);
void c_void(void);

#endif
