# SPDX-License-Identifier: Apache-2.0
"""What tests/lib/relay_dns.py and relay_stream.py share: the relay as a child, and waiting."""

import os
import select
import socket
import subprocess
import sys
import time

DEADLINE = 20
RELAY = sys.argv[1]
SANITIZED = b"__asan_init" in open(RELAY, "rb").read()


def check(what, *facts):
    if not what:
        raise AssertionError(*facts)


class Relay:
    """The relay as a child, which ends with the block."""

    def __init__(self, *args):
        self.child = subprocess.Popen(
            [RELAY, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        check(select.select([self.child.stdout], [], [], DEADLINE)[0], "the relay does not start")
        self.ports = [int(port) for port in self.child.stdout.readline().split()]
        check(self.ports, "the relay did not start")
        self.port = self.ports[0]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.child.stdin.close()
        status = self.child.wait(DEADLINE)
        check(kind is not None or status == 0, f"the relay ended with {status}")

    def kib(self):
        for line in open(f"/proc/{self.child.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("no VmRSS")

    def grew_at_most(self, before, kib):
        now = self.kib()
        check(SANITIZED or now - before <= kib, f"from {before} to {now} KiB")

    def fds(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def cpu(self):
        fields = open(f"/proc/{self.child.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until(condition, what):
    """For what no descriptor tells of."""
    end = time.monotonic() + DEADLINE
    while not condition():
        check(time.monotonic() < end, what)
        time.sleep(0.005)


def connect(port, host="127.0.0.1"):
    return socket.create_connection((host, port), DEADLINE)


def receive(conn, size):
    data = b""
    while len(data) < size:
        part = conn.recv(size - len(data))
        if not part:
            return None
        data += part
    return data


def ends(conn):
    try:
        return conn.recv(1) == b""
    except ConnectionResetError:
        return True


def main(cases):
    """Run the case that the command line names, of a module's globals()."""
    cases[sys.argv[2]]()
