/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Annotations and access to single words, as kernel code spells them. */
#ifndef DP_LINUX_COMPILER_H
#define DP_LINUX_COMPILER_H

/*
 * What is declared with DP_COMPAT() keeps its name in the source and is linked
 * as dp_compat_NAME: no function of ours can be taken for one of the program's,
 * or the other way round. The compiler's own calls of memcpy and the like follow.
 */
#define DP_COMPAT(name) __asm__("dp_compat_" #name)

/*
 * A function of the kernel's that a process cannot have, or that is not there for
 * modules yet: calling it ends the compilation with a sentence that names it.
 */
#define DP_ABSENT(name, why) \
	__attribute__((__error__("dprobes has no " #name "() for modules: " why)))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define barrier() __asm__ __volatile__("" ::: "memory")

/* Address spaces are for a checker; here there is one. */
#define __user
#define __kernel
#define __iomem
#define __percpu
#define __rcu
#define __force
#define __nocast
#define __safe
#define __private
#define __bitwise
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define __acquire(x) ((void)0)
#define __release(x) ((void)0)
#define __chk_user_ptr(x) ((void)0)

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#ifndef __attribute_const__
#define __attribute_const__ __attribute__ ((__const__))
#endif
#define noinline __attribute__((__noinline__))
#define noinline_for_stack noinline
#define notrace
#define noinstr noinline
#define __noreturn __attribute__((__noreturn__))
#define __must_check __attribute__((__warn_unused_result__))
#define __maybe_unused __attribute__((__unused__))
#define __always_unused __attribute__((__unused__))
#define __used __attribute__((__used__))
#define __packed __attribute__((__packed__))
#define __aligned(x) __attribute__((__aligned__(x)))
#define __section(s) __attribute__((__section__(s)))
#define __weak __attribute__((__weak__))
#define __alias(s) __attribute__((__alias__(#s)))
#define __pure __attribute__((__pure__))
#define __cold __attribute__((__cold__))
#define __malloc __attribute__((__malloc__))
#define __visible
#define __printf(a, b) __attribute__((__format__(printf, a, b)))
#define __scanf(a, b) __attribute__((__format__(scanf, a, b)))
#define __read_mostly
#define __ro_after_init
#define __cacheline_aligned __attribute__((__aligned__(64)))
#define ____cacheline_aligned __cacheline_aligned
#define ____cacheline_aligned_in_smp __cacheline_aligned
#define fallthrough __attribute__((__fallthrough__))
#define uninitialized_var(x) x = x
#define __same_type(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define ACCESS_ONCE(x) (*(volatile __typeof__(x) *)&(x))

#define __stringify_1(x...) #x
#define __stringify(x...) __stringify_1(x)
#define __PASTE_1(a, b) a##b
#define __PASTE(a, b) __PASTE_1(a, b)
#define __UNIQUE_ID(p) __PASTE(__PASTE(dp_unique_, p), __COUNTER__)

/* The configuration that a module may ask for. */
#ifndef DP_COMPAT_LIBRARY
#ifndef __KERNEL__
#define __KERNEL__ 1
#endif
#ifndef MODULE
#define MODULE 1
#endif
#endif
#define CONFIG_X86 1
#define CONFIG_X86_64 1
#define CONFIG_64BIT 1
#define CONFIG_SMP 1
#define CONFIG_MODULES 1
#define CONFIG_MODULE_UNLOAD 1
#define CONFIG_KPROBES 1
#define CONFIG_KRETPROBES 1
#define CONFIG_OPTPROBES 1
#define CONFIG_UPROBES 1
#define CONFIG_KALLSYMS 1
#define CONFIG_KALLSYMS_ALL 1
#define CONFIG_STACKTRACE 1
#define CONFIG_PRINTK 1
#define CONFIG_HZ 1000
#define CONFIG_NR_CPUS 256
#define __ARG_PLACEHOLDER_1 0,
#define __take_second_arg(ignored, value, ...) value
#define __is_defined_3(comma_or_not) __take_second_arg(comma_or_not 1, 0)
#define __is_defined_2(value) __is_defined_3(__ARG_PLACEHOLDER_##value)
#define __is_defined(x) __is_defined_2(x)
#define IS_BUILTIN(option) __is_defined(option)
#define IS_MODULE(option) __is_defined(option##_MODULE)
#define IS_ENABLED(option) (IS_BUILTIN(option) || IS_MODULE(option))
#define IS_REACHABLE(option) IS_BUILTIN(option)

#endif
