// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* returns: values of every class, and the registers that calls preserve. */
#include "torture.h"
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>
#include <string.h>

#define TIMES 1000

struct memory {
	long word[9];
};
struct two {
	long a, b;
};
struct mixed {
	double d;
	long l;
};
struct three {
	float a, b, c;
};
struct bytes {
	char c[3];
};
struct wide {
	long double v;
};

static APART int an_int(int i)
{
	return -i;
}

static APART bool a_bool(int i)
{
	return i & 1;
}

static APART signed char a_char(int i)
{
	return (signed char)i;
}

static APART void *a_pointer(int i)
{
	return (char *)&wrong + i;
}

static APART float a_float(int i)
{
	return (float)i / 4;
}

static APART double a_double(int i)
{
	return i / 8.0;
}

static APART long double a_long_double(int i)
{
	return i + 0.5L;
}

static APART double complex a_complex(int i)
{
	return i + 2.5 * i * I;
}

static APART long double complex a_long_complex(int i)
{
	return i + 0.25L + (i + 0.75L) * I;
}

static APART __int128 an_int128(int i)
{
	return ((__int128)i << 90) + i;
}

static APART struct memory in_memory(int i)
{
	struct memory m;

	for (int k = 0; k < 9; k++)
		m.word[k] = i * k;
	return m;
}

static APART struct two in_two(int i)
{
	return (struct two){ i, -i };
}

static APART struct mixed in_mixed(int i)
{
	return (struct mixed){ i / 2.0, i };
}

static APART struct three in_vector(int i)
{
	return (struct three){ (float)i, (float)i + 1, (float)i + 2 };
}

static APART struct bytes in_bytes(int i)
{
	return (struct bytes){ { (char)i, (char)(i + 1), (char)(i + 2) } };
}

static APART struct wide in_x87(int i)
{
	return (struct wide){ i * 1.5L };
}

static APART long variadic(int n, ...)
{
	long sum = 0;
	va_list ap;

	va_start(ap, n);
	for (int k = 0; k < n; k++)
		sum += k % 2 ? (long)va_arg(ap, double) : va_arg(ap, long);
	va_end(ap);
	return sum;
}

static APART __attribute__((ms_abi)) long microsoft(long a, double b, long c,
						    long d, long e)
{
	return a + (long)b + c + d + e;
}

static APART __attribute__((ms_abi)) struct memory microsoft_memory(int i)
{
	return in_memory(i);
}

static APART __attribute__((target("avx"))) __m256d in_ymm(int i)
{
	return _mm256_set_pd(i, i + 1, i + 2, i + 3);
}

static APART void nothing(int i)
{
	STAY();
}

static bool integers(int i)
{
	nothing(i);
	return an_int(i) == -i && a_bool(i) == (i & 1) &&
	       a_char(i) == (signed char)i &&
	       a_pointer(i) == (char *)&wrong + i &&
	       an_int128(i) == ((__int128)i << 90) + i;
}

static bool floating(int i)
{
	return a_float(i) == (float)i / 4 && a_double(i) == i / 8.0 &&
	       a_long_double(i) == i + 0.5L &&
	       a_complex(i) == i + 2.5 * i * I &&
	       a_long_complex(i) == i + 0.25L + (i + 0.75L) * I;
}

static bool structures(int i)
{
	struct memory m = in_memory(i);
	struct two two = in_two(i);
	struct mixed mixed = in_mixed(i);
	struct three three = in_vector(i);
	struct bytes bytes = in_bytes(i);

	for (int k = 0; k < 9; k++)
		if (m.word[k] != i * k)
			return false;
	return two.a == i && two.b == -i && mixed.d == i / 2.0 &&
	       mixed.l == i && three.a == (float)i && three.b == (float)i + 1 &&
	       three.c == (float)i + 2 && bytes.c[0] == (char)i &&
	       bytes.c[1] == (char)(i + 1) && bytes.c[2] == (char)(i + 2) &&
	       in_x87(i).v == i * 1.5L;
}

static bool variable(int i)
{
	return variadic(0) == 0 && variadic(1, (long)i) == i &&
	       variadic(9, 1L, 2.0, (long)i, 4.0, 5L, 6.0, 7L, 8.0, 9L) ==
		       i + 42;
}

static bool other_convention(int i)
{
	struct memory m = microsoft_memory(i);

	return microsoft(i, 2.5, 3, 4, 5) == i + 14 && m.word[8] == i * 8;
}

static __attribute__((target("avx"))) bool wide_vector(int i)
{
	double v[4];

	_mm256_storeu_pd(v, in_ymm(i));
	return v[0] == i + 3 && v[1] == i + 2 && v[2] == i + 1 && v[3] == i;
}

/* More than the system's convention does: rdi, rsi and xmm6 to xmm15. */
static APART bool microsoft_preserves(int i)
{
	long rdi = i, rsi = -i;
	register double low __asm__("xmm6") = i + 0.5;
	register double high __asm__("xmm15") = i + 0.75;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "sub $192, %%rsp\n\t"
			 "and $-32, %%rsp\n\t"
			 "movq $5, 32(%%rsp)\n\t"
			 "call *%[f]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+D"(rdi), "+S"(rsi), "+x"(low), "+x"(high)
			 : [f] "r"(microsoft)
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "memory", "cc");
	return rdi == i && rsi == -i && low == i + 0.5 && high == i + 0.75;
}

static APART bool preserves(int i)
{
	void (*f)(int) = nothing;
	register long rbx __asm__("rbx") = i;
	register long r12 __asm__("r12") = i + 12;
	register long r14 __asm__("r14") = i + 14;
	register long r15 __asm__("r15") = i + 15;

	__asm__ volatile("mov %%rsp, %%r13\n\t"
			 "sub $192, %%rsp\n\t"
			 "and $-32, %%rsp\n\t"
			 "call *%%rax\n\t"
			 "mov %%r13, %%rsp"
			 : "+a"(f), "+r"(rbx), "+r"(r12), "+r"(r14), "+r"(r15)
			 :
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "r13", "xmm0", "memory", "cc");
	return rbx == i && r12 == i + 12 && r14 == i + 14 && r15 == i + 15;
}

static bool always(bool (*test)(int))
{
	bool good = true;

	for (int i = 0; i < TIMES; i++)
		good &= test(i);
	return good;
}

int main(void)
{
	check("integers", always(integers));
	check("floating point", always(floating));
	check("structures", always(structures));
	check("variable arguments", always(variable));
	check("another calling convention", always(other_convention));
	check("what that one preserves", always(microsoft_preserves));
	check("what calls preserve", always(preserves));
	check("a wide vector",
	      !__builtin_cpu_supports("avx") || always(wide_vector));
	return verdict();
}
