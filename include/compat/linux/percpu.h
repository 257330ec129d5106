/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One copy of a variable for each processor. */
#ifndef DP_LINUX_PERCPU_H
#define DP_LINUX_PERCPU_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/smp.h>

/*
 * A static per-CPU variable is an address in a section of the module. Its copies
 * are made, with the initial values, when one is first asked for. Copies of
 * allocated ones lie DP_PERCPU_STRIDE apart. A thread can be moved between
 * finding its copy and using it, so additions are atomic.
 */
#define DP_PERCPU_STRIDE 32768
#define PCPU_MIN_UNIT_SIZE DP_PERCPU_STRIDE

extern char __start_dp_percpu[] __attribute__((weak, visibility("hidden")));
extern char __stop_dp_percpu[] __attribute__((weak, visibility("hidden")));
#ifndef DP_COMPAT_LIBRARY
__attribute__((weak, visibility("hidden"))) void *dp_compat_percpu_copies;
#endif

/** dp_compat_percpu() - the copy of @p for @cpu. @start, @stop: the section;
 *  *@copies: where its copies are, NULL at first. Context: any. */
void *dp_compat_percpu(const volatile void *p, unsigned int cpu, char *start,
		       char *stop, void **copies);

#define DEFINE_PER_CPU(type, name) \
	__attribute__((section("dp_percpu"))) __typeof__(type) name
#define DECLARE_PER_CPU(type, name) \
	extern __attribute__((section("dp_percpu"))) __typeof__(type) name
#define DEFINE_PER_CPU_SHARED_ALIGNED DEFINE_PER_CPU
#define DEFINE_PER_CPU_ALIGNED DEFINE_PER_CPU
#define DEFINE_PER_CPU_READ_MOSTLY DEFINE_PER_CPU

#define per_cpu_ptr(p, cpu)                                                 \
	((__typeof__(*(p)) *)dp_compat_percpu(p, cpu, __start_dp_percpu,    \
					      __stop_dp_percpu,             \
					      &dp_compat_percpu_copies))
#define this_cpu_ptr(p) per_cpu_ptr(p, smp_processor_id())
#define raw_cpu_ptr(p) this_cpu_ptr(p)
#define __this_cpu_ptr(p) this_cpu_ptr(p)
#define get_cpu_ptr(p) this_cpu_ptr(p)
#define put_cpu_ptr(p) ((void)(p))
#define per_cpu(name, cpu) (*per_cpu_ptr(&(name), cpu))
#define get_cpu_var(name) (*this_cpu_ptr(&(name)))
#define put_cpu_var(name) ((void)&(name))
#define __get_cpu_var(name) get_cpu_var(name)

#define this_cpu_read(name) __atomic_load_n(this_cpu_ptr(&(name)), __ATOMIC_RELAXED)
#define this_cpu_write(name, v) \
	__atomic_store_n(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED)
#define this_cpu_add(name, v) \
	((void)__atomic_fetch_add(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED))
#define this_cpu_add_return(name, v) \
	__atomic_add_fetch(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED)
#define this_cpu_sub(name, v) this_cpu_add(name, -(v))
#define this_cpu_inc(name) this_cpu_add(name, 1)
#define this_cpu_dec(name) this_cpu_add(name, -1)
#define this_cpu_inc_return(name) this_cpu_add_return(name, 1)
#define this_cpu_dec_return(name) this_cpu_add_return(name, -1)
#define this_cpu_xchg(name, v) \
	__atomic_exchange_n(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED)
#define __this_cpu_read this_cpu_read
#define __this_cpu_write this_cpu_write
#define __this_cpu_add this_cpu_add
#define __this_cpu_sub this_cpu_sub
#define __this_cpu_inc this_cpu_inc
#define __this_cpu_dec this_cpu_dec
#define __this_cpu_inc_return this_cpu_inc_return
#define raw_cpu_inc this_cpu_inc
#define raw_cpu_dec this_cpu_dec
#define raw_cpu_read this_cpu_read
#define raw_cpu_write this_cpu_write

/** __alloc_percpu() - zeros for every processor, up to DP_PERCPU_STRIDE bytes of
 *  all such variables together. Context: any. Return: NULL if there is no room. */
void *__alloc_percpu(size_t size, size_t align) DP_COMPAT(alloc_percpu);
#define alloc_percpu(type) \
	((__typeof__(type) *)__alloc_percpu(sizeof(type), __alignof__(type)))
#define alloc_percpu_gfp(type, gfp) alloc_percpu(type)
/** free_percpu() - Context: any. */
void free_percpu(void *p) DP_COMPAT(free_percpu);

#endif
