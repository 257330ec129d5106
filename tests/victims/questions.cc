// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * questions: a program that does what the one-liners of dprobes(1) ask about, until it is killed:
 * opens a file that is there and one that is not, reads, allocates, uses OpenSSL, and has
 * functions and methods of its own.
 */
#include <dprobes/hooks.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

struct request {
	const char *path;
	unsigned int size;
};

namespace shop {
class cart {
	int sum = 0;

    public:
	void add(int price);
	int total() const;
};
} // namespace shop

void __attribute__((noinline)) shop::cart::add(int price)
{
	__asm__ volatile("");
	sum += price;
}

int __attribute__((noinline)) shop::cart::total() const
{
	__asm__ volatile("");
	return sum;
}

DECLARE_HOOK(request, const char *);

extern "C" int __attribute__((noinline)) handle(const struct request *r)
{
	char text[64];
	int fd = open64(r->path, O_RDONLY);
	HOOK(request, r->path);
	ssize_t n = read(fd, text, r->size);

	close(fd);
	return (int)n;
}

extern "C" void __attribute__((noinline)) grow(size_t size)
{
	void *volatile room = malloc(size);

	free(room);
}

typedef const void *(*method_fn)();
typedef void *(*new_fn)(const void *);
typedef void (*free_fn)(void *);

/* A context of TLS comes and goes. */
static void secure(void *library)
{
	method_fn method = (method_fn)dlsym(library, "TLS_method");
	new_fn make = (new_fn)dlsym(library, "SSL_CTX_new");
	free_fn drop = (free_fn)dlsym(library, "SSL_CTX_free");

	if (method && make && drop)
		drop(make(method()));
}

int main()
{
	const struct request there = { "/etc/passwd", 16 },
			     none = { "/no/such/file", 32 };
	void *library = dlopen("libssl.so.3", RTLD_NOW);
	shop::cart cart;
	int round;

	puts(library ? "with OpenSSL" : "without OpenSSL");
	fflush(stdout);
	for (round = 0;; round++) {
		handle(&there);
		handle(&none);
		grow(round % 2 ? 100 : 2000000);
		if (library)
			secure(library);
		cart.add(round);
		if (cart.total() < 0)
			cart = shop::cart();
		usleep(2000);
	}
}
