#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# terminal.py output COMMAND ARG...: how long COMMAND takes to write to a terminal what it writes, in
#     seconds, and how many bytes came
# terminal.py echo KEYS COMMAND ARG...: COMMAND sends every byte back: the median time that a key takes
#     there and back, in microseconds; then what the process "claude" that is nearest to the terminal
#     has in memory, in KiB, and how many more processes there are between it and COMMAND's own
import fcntl
import os
import signal
import statistics
import struct
import sys
import termios
import time


def start(argv):
    pid, fd = os.forkpty()
    if pid == 0:
        try:
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return pid, fd


def read(fd):
    try:
        return os.read(fd, 1 << 16)
    except OSError:
        return b""


def output(argv):
    begin = time.monotonic()
    pid, fd = start(argv)
    total = 0
    while data := read(fd):
        total += len(data)
    os.waitpid(pid, 0)
    print(f"{time.monotonic() - begin:.3f} {total}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def is_ours(pid):
    """The supervisor, or the sandbox's first process"""
    with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        return f.read() == "claude\n"


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def session(pid):
    while not is_ours(pid):
        below = children(pid)
        if not below:
            return "0 0"
        pid = below[0]
    supervisor, more = pid, 0
    while (below := children(pid)) and is_ours(below[0]):
        pid = below[0]
        more += 1
    return f"{resident(supervisor)} {1 + more}"


def echo(keys, argv):
    pid, fd = start(argv)
    seen = b""
    while b"ready" not in seen:
        seen += read(fd)
    times = []
    for _ in range(keys):
        begin = time.monotonic()
        os.write(fd, b"k")
        while b"k" not in read(fd):
            pass
        times.append(time.monotonic() - begin)
    print(f"{statistics.median(times) * 1e6:.1f} {session(pid)}")
    os.kill(pid, signal.SIGKILL)
    os.close(fd)
    os.waitpid(pid, 0)


if sys.argv[1] == "output":
    output(sys.argv[2:])
else:
    echo(int(sys.argv[2]), sys.argv[3:])
