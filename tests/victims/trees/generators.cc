// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Coroutines of the language: what they call is on the stack of what has resumed them */
#include "trees.h"
#include <coroutine>

extern "C" {
CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_step(long n)
{
	return n % 3 ? f_step(n / 3) + f_leaf(n) : f_leaf(n);
}
}

struct generator {
	struct promise_type {
		long value;

		generator get_return_object()
		{
			return { std::coroutine_handle<
				promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(long n)
		{
			value = n;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static generator f_generate(long n)
{
	for (;;) {
		f_leaf(n);
		co_yield f_step(n++);
	}
}

/* One that resumes another one */
static generator f_twice(generator inner)
{
	for (;;) {
		f_leaf(0);
		inner.handle.resume();
		co_yield f_step(inner.handle.promise().value);
	}
}

extern "C" CALLED long f_turn(generator *g)
{
	f_leaf(1);
	g->handle.resume();
	f_leaf(2);
	return g->handle.promise().value;
}

UNTOLD int main()
{
	generator all[] = { f_generate(3), f_generate(100),
			    f_twice(f_generate(50)) };

	for (int i = 0; i < 30; i++)
		f_turn(&all[i * 2 % 3]);
	for (generator &g : all)
		g.handle.destroy();
	return 0;
}
