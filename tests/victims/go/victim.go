// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// victim: goroutines that check their own results: victim [ROUNDS].
//
// Small stacks that grow and are moved, channels, garbage collection, preemption
// by signals, timers, processes. Without ROUNDS, until SIGTERM. Says "running", and
// at the end "right" or what was wrong.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	goroutines = 8
	calls      = 100
)

var stopped, failures int64

//go:noinline
func victimFunction(n int64) int64 {
	return n*3 + 1
}

// Its stack grows, and is moved.
//
//go:noinline
func deep(n int) int {
	var pad [40]int

	if n == 0 {
		return 0
	}
	pad[n%40] = n
	return deep(n-1) + pad[n%40]
}

func check(good bool, what string) {
	if !good && atomic.AddInt64(&failures, 1) == 1 {
		fmt.Println("wrong:", what)
	}
}

func round(i int) {
	for k := int64(0); k < calls; k++ {
		check(victimFunction(k) == k*3+1, "a result")
	}
	sums := make(chan int)
	go func() { sums <- deep(i + 60) }()
	check(<-sums == (i+60)*(i+61)/2, "a sum")
}

func worker(i int, rounds int64, done *sync.WaitGroup) {
	for n := int64(0); n != rounds && atomic.LoadInt64(&stopped) == 0; n++ {
		round(i)
		switch i {
		case 0:
			time.Sleep(time.Millisecond)
		case 1:
			runtime.GC()
		case 2:
			out, err := exec.Command("/bin/echo", "echo").Output()
			check(err == nil && string(out) == "echo\n", "a process")
		}
	}
	done.Done()
}

func main() {
	var done sync.WaitGroup
	rounds := int64(-1)
	end := make(chan os.Signal, 1)

	if len(os.Args) > 1 {
		rounds, _ = strconv.ParseInt(os.Args[1], 10, 64)
	}
	signal.Notify(end, syscall.SIGTERM)
	done.Add(goroutines)
	for i := 0; i < goroutines; i++ {
		go worker(i, rounds, &done)
	}
	go func() {
		<-end
		atomic.StoreInt64(&stopped, 1)
	}()
	fmt.Println("running")
	done.Wait()
	if failures != 0 {
		os.Exit(1)
	}
	fmt.Println("right")
}
