# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""threads: does the same things over and over in several threads, and compares. Says "ready";
by SIGTERM it ends, and says "ok ROUNDS"."""
import hashlib
import json
import re
import signal
import sys
import threading
import zlib

stop = threading.Event()
rounds = [0] * 4


def work(n):
    data = json.dumps([{"n": i, "s": str(i * n), "f": i / 7} for i in range(60)])
    text = re.sub(r"(\d+)", lambda m: "<%s>" % m.group(1), data)
    packed = zlib.compress(text.encode())
    return hashlib.sha256(zlib.decompress(packed)).hexdigest(), len(packed), sorted(text)[:3]


wanted = [work(n) for n in range(8)]


def run(i):
    while not stop.is_set():
        n = rounds[i] % 8
        if work(n) != wanted[n]:
            print("round", rounds[i], "of thread", i, "is wrong", flush=True)
            sys.exit(1)
        rounds[i] += 1


signal.signal(signal.SIGTERM, lambda *args: stop.set())
threads = [threading.Thread(target=run, args=(i,)) for i in range(len(rounds))]
for t in threads:
    t.start()
print("ready", flush=True)
stop.wait()
for t in threads:
    t.join()
print("ok", sum(rounds))
