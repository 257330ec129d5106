# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""beats.py FILE: as tests/victims/beats.c, in Python: threads that check what they get, and a beat each."""
import hashlib
import mmap
import os
import struct
import subprocess
import sys
import threading
import time
import zlib

WORKERS = 4
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
words = mmap.mmap(fd, 4096)


def beat(i):
    n, = struct.unpack_from("<Q", words, 8 * i)
    struct.pack_into("<Q", words, 8 * i, n + 1)


def wrong(what):
    print("wrong:", what, file=sys.stderr, flush=True)
    os.abort()


def worker(i):
    data = bytes(range(256)) * 50
    digest, crc = hashlib.md5(data).hexdigest(), zlib.crc32(data)
    while True:
        again = bytes(bytearray(data))
        if hashlib.md5(again).hexdigest() != digest or zlib.crc32(again) != crc:
            wrong("a digest")
        if ",".join([str(k) for k in range(500)]).count(",") != 499:
            wrong("a text")
        beat(i)


def spawner(i):
    while True:
        if subprocess.run(["/bin/true"]).returncode:
            wrong("a command")
        t = threading.Thread(target=lambda: None)
        t.start()
        t.join()
        beat(i)
        time.sleep(0.003)


for n in range(WORKERS):
    threading.Thread(target=worker, args=(n,)).start()
threading.Thread(target=spawner, args=(WORKERS,)).start()
struct.pack_into("<Q", words, 4088, WORKERS + 1)
