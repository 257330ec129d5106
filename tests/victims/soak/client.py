# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""client: asks a server without a break, and checks each answer.

client.py redis SOCKET | http PORT. Says "ready" after the first answers, ends by SIGTERM and
then says "ok ANSWERS"; status 1 with words if one was wrong, late or lost.
"""
import http.client
import os
import signal
import socket
import sys
import threading

LATE = 20  # seconds
CLIENTS = 4

stop = threading.Event()
ready = threading.Barrier(CLIENTS + 1)
answers = [0] * CLIENTS


def wrong(what):
    print(what, flush=True)
    os._exit(1)


class Redis:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LATE)
        self.sock.connect(path)
        self.file = self.sock.makefile("rb")

    def ask(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.sock.sendall(b"".join(parts))
        return self.answer()

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            data = self.file.read(int(rest) + 2)
            return data[:-2].decode()
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        if kind == b":":
            return int(rest)
        return line.decode().strip()

    def check(self, client, n):
        key, value = "key:%d:%d" % (client, n % 100), "v" * (n % 50) + str(n)
        return (self.ask("SET", key, value) == "+OK" and self.ask("GET", key) == value
                and self.ask("INCR", "count:%d" % client) == n + 1
                and self.ask("LPUSH", "list:%d" % client, n) == n % 20 + 1
                and (n % 20 < 19 or (self.ask("LRANGE", "list:%d" % client, 0, 0) == [str(n)]
                                     and self.ask("DEL", "list:%d" % client) == 1)))


class Http:
    def __init__(self, port):
        self.conn = http.client.HTTPConnection("127.0.0.1", int(port), timeout=LATE)

    def check(self, client, n):
        size = n % 300
        self.conn.request("POST", "/%d/%d" % (client, n), body=b"x" * size)
        said = self.conn.getresponse().read().decode()
        return said == "%d %d %d %d" % (client, n, size, n * (n + 1) // 2)


def run(client, make):
    server = make()
    n = 0
    try:
        while not stop.is_set():
            if not server.check(client, n):
                wrong("client %d: a wrong answer to request %d" % (client, n))
            n += 1
            if n == 5:
                ready.wait(LATE)
    except Exception as e:
        wrong("client %d: request %d: %s" % (client, n, e))
    answers[client] = n


kind, where = sys.argv[1:]
signal.signal(signal.SIGTERM, lambda *args: stop.set())
threads = [threading.Thread(target=run, args=(i, lambda: {"redis": Redis, "http": Http}[kind](where)))
           for i in range(CLIENTS)]
for t in threads:
    t.start()
ready.wait(LATE)
print("ready", flush=True)
stop.wait()
for t in threads:
    t.join()
print("ok", sum(answers))
