// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// beats FILE: as tests/victims/beats.c, in Go: goroutines that check what they get, and a beat each.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const workers = 4

var words []byte

func beat(i int) {
	atomic.AddUint64((*uint64)(unsafe.Pointer(&words[8*i])), 1)
}

func work(i int) {
	want := sha256.Sum256([]byte("hello"))
	for {
		b := make([]byte, 5)
		copy(b, "hello")
		if sha256.Sum256(b) != want {
			panic("wrong: a digest")
		}
		if fmt.Sprintf("%d", i) != string(rune('0'+i)) {
			panic("wrong: a text")
		}
		c := make(chan int)
		go func() { c <- i }()
		if <-c != i {
			panic("wrong: a channel")
		}
		beat(i)
	}
}

func spawn(i int) {
	for {
		if err := exec.Command("/bin/true").Run(); err != nil {
			panic(err)
		}
		runtime.GC()
		beat(i)
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	f, err := os.OpenFile(os.Args[1], os.O_RDWR|os.O_CREATE, 0666)
	if err == nil {
		err = f.Truncate(4096)
	}
	if err == nil {
		words, err = syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		panic(err)
	}
	for i := 0; i < workers; i++ {
		go work(i)
	}
	go spawn(workers)
	binary.LittleEndian.PutUint64(words[4088:], workers+1)
	for {
		time.Sleep(time.Second)
	}
}
