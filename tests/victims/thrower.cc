// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* thrower: constructors that allocate, exceptions through probed functions. */
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static std::map<std::string, std::vector<int>> early = [] {
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 100; i++)
		m["key number " + std::to_string(i)].assign(50, i);
	return m;
}();

struct guard {
	int &n;
	explicit guard(int &count) : n(count)
	{
	}
	~guard()
	{
		n++;
	}
};

extern "C" __attribute__((noipa)) int thrower_inner(int i)
{
	if (i % 3 == 0)
		throw std::runtime_error("number " + std::to_string(i));
	return i;
}

extern "C" __attribute__((noipa)) int thrower_outer(int i, int &unwound)
{
	guard g(unwound);
	return thrower_inner(i) + 1;
}

int main()
{
	int unwound = 0, caught = 0, sum = 0;

	for (int i = 0; i < 3000; i++) {
		try {
			sum += thrower_outer(i, unwound);
		} catch (const std::exception &e) {
			caught++;
			sum += e.what()[7];
		}
	}
	std::printf("%d unwound, %d caught, sum %d, %zu early\n", unwound,
		    caught, sum, early.size());
	return 0;
}
