# SPDX-License-Identifier: Apache-2.0
"""Clients and servers around tests/lib/relay: relay_stream.py RELAY CASE

Each function whose name begins with stream_ is a case. All of it is on the loopback, and whatever
is waited for has a deadline.
"""

import hashlib
import os
import random
import select
import socket
import struct
import threading
import time

from relay_lib import DEADLINE, Relay, check, connect, ends, main, receive, until


class Server:
    """Hands each connection to a function, in a thread of its own."""

    def __init__(self, serve, host="127.0.0.1", port=0):
        self.listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, port))
        self.listener.listen(4096)
        self.port = self.listener.getsockname()[1]
        self.serve = serve
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve_one, args=(conn,), daemon=True).start()

    def serve_one(self, conn):
        with conn:
            try:
                self.serve(conn)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def read_all(conn):
    parts = []
    while True:
        part = conn.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def echo(conn):
    while True:
        part = conn.recv(1 << 16)
        if not part:
            return
        conn.sendall(part)


class EchoServer:
    """Thousands of connections in one thread."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(4096)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        poll, conns = select.epoll(), {}
        poll.register(self.listener, select.EPOLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self.listener.fileno():
                    conn, _ = self.listener.accept()
                    conns[conn.fileno()] = conn
                    poll.register(conn, select.EPOLLIN)
                    continue
                data = conns[fd].recv(4096)
                if data:
                    conns[fd].sendall(data)
                else:
                    conns.pop(fd).close()


def stream_half_close():
    data = os.urandom(1 << 20)

    def listens_first(conn):
        got = read_all(conn)
        conn.sendall(got + data)

    def speaks_first(conn):
        conn.sendall(data)
        conn.shutdown(socket.SHUT_WR)
        check(read_all(conn) == data)
        done.set()

    done = threading.Event()
    a, b = Server(listens_first), Server(speaks_first)
    with Relay("stream", a.port, b.port) as relay:
        conn = connect(relay.ports[0])
        conn.sendall(b"question")
        conn.shutdown(socket.SHUT_WR)
        check(read_all(conn) == b"question" + data)
        conn = connect(relay.ports[1])
        check(read_all(conn) == data)
        conn.sendall(data)
        check(not done.is_set())
        conn.shutdown(socket.SHUT_WR)
        check(done.wait(DEADLINE))
        conn.close()
        until(lambda: relay.fds() < 32, "connections stay open")


def stream_thousand():
    n, server = 1000, EchoServer()
    with Relay("stream", server.port) as relay:
        with connect(relay.port) as conn:
            conn.sendall(b"x")
            check(conn.recv(1) == b"x")
        before = relay.kib()
        conns = [connect(relay.port) for _ in range(n)]
        for turn in range(2):
            for i, conn in enumerate(conns):
                conn.sendall(f"{turn} {i}".encode())
            for i, conn in enumerate(conns):
                want = f"{turn} {i}".encode()
                check(receive(conn, len(want)) == want)
        check(2 * n <= relay.fds() <= 2 * n + 64, f"{relay.fds()} descriptors")
        relay.grew_at_most(before, 4096)
        print(f"{relay.kib() - before} KiB for {n} connections")
        for conn in conns:
            conn.close()
        until(lambda: relay.fds() < 64, "connections stay open")


def fill(conn, block):
    """Send until nobody takes any more; returns what was taken."""
    conn.setblocking(False)
    sent, digest = 0, hashlib.sha256()
    while select.select([], [conn], [], 0.5)[1]:
        try:
            n = conn.send(block)
        except BlockingIOError:
            continue
        digest.update(block[:n])
        sent += n
        check(sent < 64 << 20, "no back-pressure")
    conn.settimeout(DEADLINE)
    return sent, digest


def stream_back_pressure():
    read, got = threading.Event(), []

    def lazy(conn):
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        check(read.wait(60))
        digest, n = hashlib.sha256(), 0
        while part := conn.recv(1 << 16):
            digest.update(part)
            n += len(part)
        got.append((n, digest.hexdigest()))
        conn.sendall(b"done")

    server = Server(lazy)
    with Relay("stream", server.port) as relay:
        before, cpu = relay.kib(), relay.cpu()
        conns = [connect(relay.port) for _ in range(4)]
        filled = [fill(conn, os.urandom(1 << 18)) for conn in conns]
        relay.grew_at_most(before, 1024)
        check(relay.cpu() - cpu < 1, "it spins")
        read.set()
        for conn in conns:
            conn.shutdown(socket.SHUT_WR)
            check(read_all(conn) == b"done")
        check(sorted(got) == sorted((n, d.hexdigest()) for n, d in filled), got)


def stream_bulk():
    server = Server(echo)
    failed = []

    def pump(port, seed):
        data = random.Random(seed).randbytes(4 << 20)
        conn = connect(port)
        sender = threading.Thread(
            target=lambda: (conn.sendall(data), conn.shutdown(socket.SHUT_WR)), daemon=True
        )
        sender.start()
        if read_all(conn) != data:
            failed.append(seed)

    with Relay("stream", server.port) as relay:
        threads = [threading.Thread(target=pump, args=(relay.port, i)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
            check(not thread.is_alive(), "bytes are stuck")
        check(not failed, failed)


def stream_polled():
    server, data = Server(echo), os.urandom(1 << 22)
    with Relay("polled", "stream", server.port) as relay:
        conn = connect(relay.port)
        sender = threading.Thread(target=conn.sendall, args=(data,), daemon=True)
        sender.start()
        check(receive(conn, len(data)) == data)


def stream_comes_and_goes():
    server = Server(echo)
    port = server.port
    with Relay("stream", port) as relay:
        for _ in range(3):
            conn = connect(relay.port)
            conn.sendall(b"there")
            check(receive(conn, 5) == b"there")
            conn.close()
            server.close()
            start = time.monotonic()
            try:
                check(ends(connect(relay.port)), "nobody is there")
            except ConnectionResetError:
                pass
            check(time.monotonic() - start < 1, "nobody is there, and it takes long")
            server = Server(echo, port=port)


def stream_families():
    server = Server(echo, "::1")
    with Relay("stream", server.port) as relay:
        conn = connect(relay.port)
        conn.sendall(b"six")
        check(receive(conn, 3) == b"six")


def reset(conn):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    conn.close()


def was_reset(conn):
    try:
        conn.recv(1)
        return False
    except ConnectionResetError:
        return True


def stream_reset():
    told = threading.Event()

    def breaks(conn):
        conn.recv(1)
        reset(conn)

    def sees(conn):
        conn.sendall(b"x")
        if was_reset(conn):
            told.set()

    a, b = Server(breaks), Server(sees)
    with Relay("stream", a.port, b.port) as relay:
        conn = connect(relay.ports[0])
        conn.sendall(b"x")
        check(was_reset(conn), "an end that was none")
        conn = connect(relay.ports[1])
        check(conn.recv(1) == b"x")
        reset(conn)
        check(told.wait(DEADLINE))
        until(lambda: relay.fds() < 32, "connections stay open")


def stream_stop():
    server = EchoServer()
    with Relay("stream", server.port) as relay:
        conns = [connect(relay.port) for _ in range(50)]  # some of them wait to be accepted
        relay.child.stdin.write(b".")
        relay.child.stdin.flush()

        def refuses():
            try:
                connect(relay.port).close()
                return False
            except (ConnectionRefusedError, ConnectionResetError):
                return True

        until(refuses, "it takes more connections")
        for i, conn in enumerate(conns):
            conn.sendall(b"%02d" % i)
            check(receive(conn, 2) == b"%02d" % i)
            conn.close()


def stream_few_fds():
    server, data = EchoServer(), os.urandom(1 << 16)
    with Relay("stream", "--max-fds", 40, server.port) as relay:
        conns = [connect(relay.port) for _ in range(60)]
        for i, conn in enumerate(conns):
            conn.sendall(b"%02d" % i)
        served = []
        while True:  # those that got through, and no more until one of them closes
            ready = select.select([c for c in conns if c not in served], [], [], 1)[0]
            if not ready:
                break
            served += ready
        check(8 <= len(served) <= 20, f"{len(served)} of {len(conns)} at once")
        check(relay.fds() >= 38, relay.fds())
        cpu = relay.cpu()
        check(not select.select([c for c in conns if c not in served], [], [], 1)[0])
        check(relay.cpu() - cpu < 0.2, "it spins")
        for conn in served[:2]:  # no descriptor is left for a pipe, perhaps
            receive(conn, 2)
            conn.sendall(data)
            check(receive(conn, len(data)) == data)
            conn.sendall(b"..")
        for conn in conns:  # in their order: each that ends makes room for another
            check(receive(conn, 2) is not None)
            conn.close()


main(globals())
