// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// server: answers POST /A/B with a body of C bytes by "A B C B*(B+1)/2"; says its port.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

//go:noinline
func add(sum, i int) int { return sum + i }

func deep(n int) int {
	var room [64]byte
	room[n%64] = 1
	if n == 0 {
		return 0
	}
	return deep(n-1) + int(room[n%64]) - 1
}

func handle(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	parts := strings.Split(r.URL.Path, "/")
	b, _ := strconv.Atoi(parts[2])
	sum := deep(b % 500)
	for i := 0; i <= b; i++ {
		sum = add(sum, i)
	}
	fmt.Fprintf(w, "%s %d %d %d", parts[1], b, n, sum)
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		os.Exit(0)
	}()
	http.Serve(l, http.HandlerFunc(handle))
}
