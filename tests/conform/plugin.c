// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plugin: a library that the conformance tests load, probe and unload. */

int plugin_function(int n);
int c_shared_name(int n);

__attribute__((noinline, noclone)) int plugin_function(int n)
{
	__asm__ volatile("");
	return n + 30;
}

/* The main program has one of this name, too. */
__attribute__((noinline, noclone)) int c_shared_name(int n)
{
	__asm__ volatile("");
	return n + 40;
}
