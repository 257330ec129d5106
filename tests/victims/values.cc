// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// values: functions whose parameters and locals are of many kinds, and inlined in one another.
#include <cstdio>
#include <string>
#include <vector>
#include <map>
#include <memory>
#include <algorithm>
namespace zoo {
struct vec {
	double x, y;
	vec operator+(const vec &o) const
	{
		return { x + o.x, y + o.y };
	}
};
struct animal {
	virtual ~animal()
	{
	}
	virtual int legs(int add) const = 0;
	int id;
	const char *name;
};
struct cat : animal {
	cat(int i)
	{
		id = i;
		name = "cat";
	}
	int legs(int add) const override;
	short lives = 9;
};
struct bird : animal {
	bird(int i)
	{
		id = i;
		name = "bird";
	}
	int legs(int add) const override;
	long wings = 2;
};
__attribute__((noinline)) int cat::legs(int add) const
{
	return 4 + add + lives;
}
__attribute__((noinline)) int bird::legs(int add) const
{
	return 2 + add * (int)wings;
}
enum class mood : unsigned char { calm = 1, wild = 200 };
template <typename T>
__attribute__((noinline)) T sum(const std::vector<T> &v, T start)
{
	for (const T &x : v)
		start += x;
	return start;
}
__attribute__((noinline)) vec mid(vec a, vec b, int n, mood m)
{
	vec c = a + b;
	return { c.x / n, c.y / (m == mood::wild ? 2 : 1) };
}
__attribute__((noinline)) int count(const std::map<std::string, int> &m,
				    const std::string &key, bool exact)
{
	int n = 0;
	for (auto &[k, v] : m)
		if (exact ? k == key : k.find(key) == 0)
			n += v;
	return n;
}
struct pair {
	int a;
	char b;
};
struct wide {
	long a, b, c;
};
__attribute__((noinline)) long mix(pair p, wide w, signed char c,
				   unsigned short s, pair *q)
{
	for (int i = 0; i < p.a; i++) {
		long t = w.a * i;
		q->a += (int)t;
		w.c += c;
	}
	return w.c + s + q->a;
}
static unsigned long long fib(unsigned n)
{
	unsigned long long a = 0, b = 1;
	while (n--) {
		auto t = a + b;
		a = b;
		b = t;
	}
	return a;
}
__attribute__((noinline)) unsigned hash(const char *s, size_t len,
					unsigned seed)
{
	unsigned h = seed;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];
		h = (h ^ c) * 16777619u;
	}
	return h ^ (unsigned)fib(len % 50);
}
} // namespace zoo
int main(int argc, char **argv)
{
	using namespace zoo;
	std::vector<int> v;
	std::map<std::string, int> m;
	std::vector<std::unique_ptr<animal>> all;
	long total = 0;
	for (int i = 0; i < 20; i++) {
		v.push_back(i * 7 % 11);
		m["key" + std::to_string(i % 5)] += i;
		if (i % 2)
			all.emplace_back(new cat(i));
		else
			all.emplace_back(new bird(i));
	}
	std::sort(v.begin(), v.end());
	for (auto &a : all)
		total += a->legs(a->id);
	pair q = { 1, 'q' };
	vec c = mid({ 1, 2 }, { 3, 4 }, argc + 1, mood::wild);
	total += sum(v, 5) + count(m, "key1", true) + count(m, "key", false) +
		 mix({ 3, 'x' }, { 1, 2, 3 }, -4, 65000, &q) +
		 hash("hello world", 11, 77);
	printf("%ld %f %d\n", total, c.x + c.y, q.a);
}
