// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// victim: Go and C in one process: victim ROUNDS LIBRARY.
//
// Goroutines call C, which calls libc, is interrupted by signals that C's handler
// counts, and loads and unloads a library. Two runtimes make system calls here: libc's
// and Go's. Without ROUNDS (0), until
// SIGTERM. Says "running", and at the end "right", and how often C called what.
package main

/*
#cgo LDFLAGS: -ldl -lpthread
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long calls, loads, signals;

__attribute__((noinline)) long victim_function(long n)
{
	__asm__ volatile("");
	return n * 3 + 1;
}

static void on_signal(int sig)
{
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void prepare(void)
{
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_ONSTACK | SA_RESTART };

	sigaction(SIGUSR2, &sa, NULL);
}

// Strings from libc's allocator, a signal to this very thread, a mask of our own.
static int work(long n)
{
	char *text = strdup("victim"), *longer = realloc(text, 4000);
	sigset_t set, old;
	int right = !strcmp(longer, "victim");

	free(longer);
	usleep(200);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	pthread_kill(pthread_self(), SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return right && victim_function(n) == n * 3 + 1;
}

static void *in_thread(void *arg)
{
	return (void *)(long)work((long)arg);
}

static int in_own_thread(long n)
{
	void *right = NULL;
	pthread_t t;

	return !pthread_create(&t, NULL, in_thread, (void *)n) &&
	       !pthread_join(t, &right) && right;
}

static int load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	long (*probed)(long) = lib ? (long (*)(long))dlsym(lib, "probed") : NULL;
	int right = probed && probed(7) == 21;

	__atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED);
	return right && !dlclose(lib);
}

static long get(int which)
{
	return which == 0 ? calls : which == 1 ? loads : signals;
}
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

var stopped, failures int64

func check(good bool, what string) {
	if !good && atomic.AddInt64(&failures, 1) == 1 {
		fmt.Println("wrong:", what)
	}
}

func worker(i int, rounds int64, path string, done *sync.WaitGroup) {
	for n := int64(0); (rounds == 0 || n != rounds) && atomic.LoadInt64(&stopped) == 0; n++ {
		check(C.work(C.long(n)) != 0, "a call of C")
		if i == 0 {
			check(C.in_own_thread(C.long(n)) != 0, "a thread of C")
		}
		if i == 1 && n%20 == 0 {
			name := C.CString(path)
			check(C.load(name) != 0, "a library")
			C.free(unsafe.Pointer(name))
		}
	}
	done.Done()
}

func main() {
	var done sync.WaitGroup
	end := make(chan os.Signal, 1)
	rounds, _ := strconv.ParseInt(os.Args[1], 10, 64)

	C.prepare()
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		atomic.StoreInt64(&stopped, 1)
	}()
	fmt.Println("running")
	for i := 0; i < 4; i++ {
		done.Add(1)
		go worker(i, rounds, os.Args[2], &done)
	}
	done.Wait()
	check(C.get(0) == C.get(2), "signals")
	if failures != 0 {
		os.Exit(1)
	}
	fmt.Println("right", C.get(0), C.get(1))
}
