// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: the process ends inside nested functions: exits HOW. What is still to be
 * done then prints; the status is exit's argument or the signal's.
 */
#include "torture.h"
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <unistd.h>

struct announced {
	const char *name;

	explicit announced(const char *n) : name(n)
	{
	}
	~announced()
	{
		std::printf("%s is destroyed\n", name);
		std::fflush(stdout);
	}
};

static announced global("a global object");
static thread_local announced local_to_thread("an object of the thread");

static APART int work(int n)
{
	int sum = n ? n + work(n - 1) : 0;

	STAY();
	return sum;
}

static APART void at_exit()
{
	check("at exit", work(100) == 5050);
}

static APART void at_quick_exit()
{
	check("at quick exit", work(100) == 5050);
}

static APART void on_exit_status(int status, void *arg)
{
	check(static_cast<const char *>(arg), status == 3);
}

static APART void at_terminate()
{
	check("at terminate", work(100) == 5050);
	std::abort();
}

static APART void end_quietly() noexcept
{
	throw std::logic_error("behind noexcept");
}

static APART void end(const char *how)
{
	if (!std::strcmp(how, "exit"))
		std::exit(3);
	if (!std::strcmp(how, "quick"))
		std::quick_exit(4);
	if (!std::strcmp(how, "at-once"))
		_exit(5);
	if (!std::strcmp(how, "abort"))
		std::abort();
	if (!std::strcmp(how, "uncaught"))
		throw std::runtime_error("nobody wants this");
	if (!std::strcmp(how, "noexcept"))
		end_quietly();
	if (!std::strcmp(how, "terminate")) {
		std::set_terminate(at_terminate);
		std::terminate();
	}
	if (!std::strcmp(how, "thread"))
		std::thread([] { std::exit(3); }).join();
}

static APART int descend(int n, const char *how)
{
	announced local("never");
	int below = n ? descend(n - 1, how) : (end(how), 0);

	STAY();
	return below + 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";

	local_to_thread.name = "the main thread's object";
	std::atexit(at_exit);
	std::at_quick_exit(at_quick_exit);
	if (!std::strcmp(how, "exit"))
		on_exit(on_exit_status, const_cast<char *>("on exit"));
	std::printf("%d frames\n", descend(20, how));
	return verdict();
}
