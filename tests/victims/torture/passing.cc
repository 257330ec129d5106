// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* passing: exceptions that go from thread to thread, and many at a time. */
#include "torture.h"
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static const int threads = 8, times = 50;

static APART int nest(int depth, int i)
{
	std::string local(30, 'x');
	int below;

	if (!depth)
		throw std::runtime_error(std::to_string(i));
	below = nest(depth - 1, i);
	STAY();
	return below + (int)local.size();
}

static APART std::exception_ptr keep(int depth, int i)
{
	try {
		nest(depth, i);
	} catch (...) {
		return std::current_exception();
	}
	return nullptr;
}

static APART void throw_again(int depth, const std::exception_ptr &p)
{
	if (!depth)
		std::rethrow_exception(p);
	throw_again(depth - 1, p);
	STAY();
}

static APART int value_of(int depth, const std::exception_ptr &p)
{
	try {
		throw_again(depth, p);
	} catch (const std::exception &e) {
		return std::stoi(e.what());
	}
	return -1;
}

static bool from_thread_to_thread()
{
	bool good = true;

	for (int i = 0; i < times; i++) {
		std::exception_ptr p;
		int got = 0;

		std::thread([&] { p = keep(i % 20, i); }).join();
		std::thread([&] { got = value_of(i % 20, p); }).join();
		good &= got == i && value_of(3, p) == i;
	}
	return good;
}

/* The same exception, thrown by all of them at once. */
static bool shared()
{
	std::exception_ptr p = keep(5, 12345);
	std::vector<std::thread> all;
	std::atomic<int> right{ 0 };

	for (int t = 0; t < threads; t++)
		all.emplace_back([&] {
			for (int i = 0; i < times; i++)
				right += value_of(i % 20, p) == 12345;
		});
	for (auto &t : all)
		t.join();
	return right == threads * times;
}

static bool futures()
{
	int right = 0;

	for (int i = 0; i < times; i++) {
		auto f = std::async(std::launch::async, nest, i % 20, i);

		try {
			f.get();
		} catch (const std::runtime_error &e) {
			right += std::stoi(e.what()) == i;
		}
	}
	return right == times;
}

static bool promises()
{
	int right = 0;

	for (int i = 0; i < times; i++) {
		std::promise<int> promise;

		std::thread t([&] { promise.set_exception(keep(4, i)); });
		try {
			promise.get_future().get();
		} catch (const std::runtime_error &e) {
			right += std::stoi(e.what()) == i;
		}
		t.join();
	}
	return right == times;
}

/* Through pthread_once(), which is C. */
static bool once()
{
	std::once_flag flag;
	int thrown = 0, calls = 0;

	for (int i = 0; i < 10; i++)
		try {
			std::call_once(flag, [&] {
				if (++calls < 5)
					nest(3, i);
			});
		} catch (const std::runtime_error &) {
			thrown++;
		}
	return calls == 5 && thrown == 4;
}

int main()
{
	check("from thread to thread", from_thread_to_thread());
	check("one exception in all threads", shared());
	check("futures", futures());
	check("promises", promises());
	check("call_once", once());
	return verdict();
}
