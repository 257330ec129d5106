// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Templates, operators, and functions without names */
#include "trees.h"
#include <algorithm>
#include <vector>

template <int N> CALLED long f_down(long n)
{
	return n + f_down<N - 1>(n + N);
}
template <> CALLED long f_down<0>(long n)
{
	return n;
}

template <class T, class... Rest> struct f_sum {
	CALLED static T of(T a, Rest... rest)
	{
		return a + f_sum<Rest...>::of(rest...);
	}
};
template <class T> struct f_sum<T> {
	CALLED static T of(T a)
	{
		return a;
	}
};

struct f_number {
	long n;
	CALLED f_number operator+(const f_number &o) const
	{
		return { n + o.n };
	}
	CALLED bool operator<(const f_number &o) const
	{
		return n < o.n;
	}
	CALLED explicit operator long() const
	{
		return n;
	}
};

CALLED long f_call(long (*f)(long), long n)
{
	return f(n) + f(n + 1);
}
template <class F> CALLED long f_twice(F f, long n)
{
	return f(f(n));
}

CALLED long f_unnamed(long k)
{
	auto down = [](long n) CALLED { return f_down<2>(n); };

	return f_call(down, 4) +
	       f_twice([k](long n) CALLED { return f_down<1>(n) * k; }, 5);
}

CALLED long f_sorts()
{
	std::vector<f_number> v;

	for (long i = 0; i < 20; i++)
		v.push_back({ i * 7 % 20 });
	std::sort(v.begin(), v.end());
	return (long)(v[0] + v[19]);
}

UNTOLD int main()
{
	return f_down<9>(1) + f_sum<long, int, char>::of(1, 2, 3) + f_sorts() +
		       f_unnamed(3) ==
	       1;
}
