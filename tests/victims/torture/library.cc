// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* library: what C++ programs do all day, and with what throws in the middle of it. */
#include "torture.h"
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

static const int times = 10;

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual std::unique_ptr<shape> clone() const = 0;
};

struct named {
	virtual ~named() = default;
	virtual std::string name() const
	{
		return "nameless";
	}
	virtual const named *self() const
	{
		return this;
	}
};

struct square : shape, named {
	double side;

	explicit square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
	std::unique_ptr<shape> clone() const override
	{
		return std::make_unique<square>(*this);
	}
	std::string name() const override
	{
		return "square";
	}
	const square *self() const override
	{
		return this;
	}
};

struct odd : virtual shape, virtual named {
	double area() const override
	{
		throw std::domain_error(name());
	}
	std::unique_ptr<shape> clone() const override
	{
		return std::make_unique<odd>();
	}
};

static APART double total(const std::vector<std::unique_ptr<shape>> &all)
{
	double sum = 0;

	for (const auto &s : all)
		sum += s->area();
	return sum;
}

static APART std::string name_of(const named &n)
{
	return n.self()->name();
}

static bool virtual_calls()
{
	std::vector<std::unique_ptr<shape>> all;

	for (int i = 0; i < 10; i++)
		all.push_back(std::make_unique<square>(i));
	for (int i = 0; i < 10; i++)
		all.push_back(all[i]->clone());
	if (total(all) != 570 || name_of(square(1)) != "square")
		return false;
	all.push_back(odd().clone());
	try {
		total(all);
	} catch (const std::domain_error &e) {
		return e.what() == std::string("nameless");
	}
	return false;
}

static APART std::function<int(int)> compose(std::function<int(int)> f,
					     std::function<int(int)> g)
{
	return [f, g](int i) { return f(g(i)); };
}

static bool functions()
{
	std::function<int(int)> f = [](int i) { return i + 1; }, none;

	for (int i = 0; i < 5; i++)
		f = compose(f, f);
	if (f(0) != 32)
		return false;
	try {
		compose(f, none)(1);
	} catch (const std::bad_function_call &) {
		return true;
	}
	return false;
}

static bool streams()
{
	std::ostringstream out;
	std::istringstream in("12 0x1f 3.5 words end");
	int a, b;
	double c;
	std::string d;

	in >> a >> std::hex >> b >> std::dec >> c >> d;
	out << a << ' ' << std::showbase << std::hex << b << ' ' << std::fixed
	    << std::setprecision(3) << c << ' ' << std::quoted(d);
	if (out.str() != "12 0x1f 3.500 \"words\"")
		return false;
	in.exceptions(std::ios::failbit);
	try {
		in >> a;
	} catch (const std::ios_base::failure &) {
		return true;
	}
	return false;
}

static bool expressions()
{
	static const std::string text = "one=1, two=22, three=333";
	static const std::regex pair("([a-z]+)=([0-9]+)");
	std::map<std::string, int> found;

	for (std::sregex_iterator i(text.begin(), text.end(), pair), end;
	     i != end; ++i)
		found[(*i)[1]] = std::stoi((*i)[2]);
	if (found["one"] + found["two"] + found["three"] != 356)
		return false;
	try {
		std::regex bad("([a-z");
	} catch (const std::regex_error &) {
		return true;
	}
	return false;
}

static bool sorting()
{
	std::vector<std::string> v;
	std::unordered_map<std::string, int> count;
	int calls = 0;

	for (int i = 0; i < 200; i++)
		v.push_back(std::to_string(i * 7919 % 211));
	std::sort(v.begin(), v.end());
	for (const auto &s : v)
		count[s.substr(0, 1)]++;
	if (!std::is_sorted(v.begin(), v.end()) || count.size() != 10)
		return false;
	try {
		std::stable_sort(v.begin(), v.end(),
				 [&](const std::string &a,
				     const std::string &b) {
					 if (++calls == 500)
						 throw calls;
					 return a > b;
				 });
	} catch (int n) {
		return n == 500 && v.size() == 200;
	}
	return false;
}

static APART bool compare_to_limit(const void *a, int limit)
{
	if (*static_cast<const int *>(a) == limit)
		throw limit;
	return true;
}

static int by_value(const void *a, const void *b)
{
	compare_to_limit(a, 77);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static bool c_callbacks()
{
	std::vector<int> v;
	int key = 77;

	for (int i = 0; i < 100; i++)
		v.push_back(i * 37 % 101);
	try {
		qsort(v.data(), v.size(), sizeof(int), by_value);
	} catch (int n) {
		try {
			bsearch(&key, v.data(), v.size(), sizeof(int),
				by_value);
		} catch (int m) {
			return n == 77 && m == 77;
		}
	}
	return false;
}

static void always(const char *what, bool (*test)())
{
	bool good = true;

	for (int i = 0; i < times; i++)
		good &= test();
	check(what, good);
}

int main()
{
	always("virtual calls", virtual_calls);
	always("std::function", functions);
	always("streams", streams);
	always("regular expressions", expressions);
	always("sorting", sorting);
	always("callbacks from C", c_callbacks);
	std::cout << "and " << std::setw(5) << 1.5 << " lines to stdout"
		  << std::endl;
	std::cerr << "and to stderr" << std::endl;
	return verdict();
}
