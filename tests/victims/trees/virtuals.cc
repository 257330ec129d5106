// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Virtual functions: by a base, by the second base and by a virtual one, where the compiler puts thunks between */
#include "trees.h"
#include <memory>
#include <vector>

extern "C" CALLED long f_leaf(long n)
{
	return n + 1;
}

struct shape {
	CALLED virtual long f_area() const = 0;
	CALLED virtual long f_twice() const
	{
		return f_area() + f_area();
	}
	UNTOLD virtual ~shape() = default;
};

struct named {
	CALLED virtual long f_name() const
	{
		return f_leaf(1);
	}
	UNTOLD virtual ~named() = default;
};

struct square : shape, named {
	long a;
	UNTOLD explicit square(long a) : a(a)
	{
	}
	CALLED long f_area() const override
	{
		return f_leaf(a * a);
	}
	CALLED long f_name() const override
	{
		return f_leaf(a) + named::f_name();
	}
};

struct box : virtual square {
	UNTOLD explicit box(long a) : square(a)
	{
	}
	CALLED long f_area() const override
	{
		return 6 * square::f_area();
	}
	CALLED long f_twice() const override
	{
		return shape::f_twice() + f_name();
	}
};

CALLED long f_all(const shape &s, const named &n)
{
	return s.f_area() + s.f_twice() + n.f_name();
}

UNTOLD int main()
{
	square s(3);
	box b(4);

	return f_all(s, s) + f_all(b, b) + f_all(s, b) == 1;
}
