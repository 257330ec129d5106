// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cxx: the headers and the library, from C++. */
#include <dprobes/kprobes.h>
#include <cstdio>

static int hits;

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	hits += regs_get_kernel_argument(regs, 0) == 5;
	return 0;
}

static int ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits += regs_return_value(regs) == 6 &&
		get_kretprobe(ri)->data_size == 8;
	return 0;
}

extern "C" __attribute__((noinline)) long cxx_function(long n)
{
	__asm__ volatile("");
	return n + 1;
}

__attribute__((noinline)) static long hidden(long n)
{
	__asm__ volatile("");
	return n + 2;
}
NOKPROBE_SYMBOL(hidden);

namespace outer {
__attribute__((noinline)) long mangled(long n)
{
	__asm__ volatile("");
	return n + 3;
}
} // namespace outer

static bool probes()
{
	struct kprobe kp = kprobe(), mangled = kprobe(), no = kprobe();
	struct kretprobe rp = kretprobe();

	kp.symbol_name = "cxx_function";
	kp.pre_handler = pre;
	rp.kp.symbol_name = "cxx_function";
	rp.handler = ret;
	rp.data_size = 8;
	mangled.addr = reinterpret_cast<kprobe_opcode_t *>(outer::mangled);
	no.addr = reinterpret_cast<kprobe_opcode_t *>(hidden);
	if (register_kprobe(&kp) || register_kretprobe(&rp) ||
	    register_kprobe(&mangled) || register_kprobe(&no) != -22)
		return false;
	if (cxx_function(5) != 6 || outer::mangled(1) != 4 || hidden(1) != 3)
		return false;
	if (hits != 2 || dp_kprobe_hits(&mangled) != 1)
		return false;
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
	unregister_kprobe(&mangled);
	return cxx_function(5) == 6 && hits == 2;
}

namespace outer {
/* An exception passes through a function that is probed at its entry. */
__attribute__((noinline, noclone)) void throws(int n)
{
	if (n)
		throw n;
}
} // namespace outer

static bool exceptions()
{
	struct kprobe kp = kprobe();
	int caught = 0;

	kp.addr = reinterpret_cast<kprobe_opcode_t *>(outer::throws);
	kp.pre_handler = NULL;
	if (register_kprobe(&kp))
		return false;
	for (int i = 1; i <= 100; i++) {
		try {
			outer::throws(i);
		} catch (int n) {
			caught += n == i;
		}
	}
	if (dp_kprobe_hits(&kp) != 100)
		return false;
	unregister_kprobe(&kp);
	return caught == 100;
}

int main()
{
	std::printf("1..2\n");
	std::printf("%s 1 - row_103_the_headers_serve_cxx\n",
		    probes() ? "ok" : "not ok");
	std::printf("%s 2 - row_160_exceptions_pass_through_probed_functions\n",
		    exceptions() ? "ok" : "not ok");
	return 0;
}
