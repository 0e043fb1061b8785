# SPDX-License-Identifier: Apache-2.0
"""Clients and resolvers around tests/lib/relay: relay_dns.py RELAY CASE

Each function whose name begins with dns_ is a case. All of it is on the loopback, and whatever is
waited for has a deadline.
"""

import os
import socket
import struct
import sys
import threading
import time

from dns_messages import answer, framed, hostile, lies, query, question
from relay_lib import DEADLINE, Relay, check, connect, ends, main, receive, until

SERVFAIL, REFUSED = 2, 5


def ident(msg):
    return struct.unpack("!H", msg[:2])[0]


def rcode(msg):
    return msg[3] & 15


def receive_framed(conn):
    head = receive(conn, 2)
    return head and receive(conn, struct.unpack("!H", head)[0])


class Resolver:
    """Answers each query with the messages that a function makes of it; None: hangs up."""

    def __init__(self, udp=lambda q: [answer(q)], tcp=lambda q: [answer(q)], host="127.0.0.1"):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.udp, self.tcp, self.seen = udp, tcp, []
        while True:
            self.dgram = socket.socket(family, socket.SOCK_DGRAM)
            self.dgram.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            self.dgram.bind((host, 0))
            self.port = self.dgram.getsockname()[1]
            self.stream = socket.socket(family, socket.SOCK_STREAM)
            try:
                self.stream.bind((host, self.port))
                break
            except OSError:
                continue
        self.stream.listen(512)
        self.name = f"{host}#{self.port}"
        threading.Thread(target=self.serve_udp, daemon=True).start()
        threading.Thread(target=self.serve_tcp, daemon=True).start()

    def serve_udp(self):
        while True:
            msg, peer = self.dgram.recvfrom(65535)
            self.seen.append((msg, peer[1]))
            for reply in self.udp(msg):
                self.dgram.sendto(reply, peer)

    def serve_tcp(self):
        while True:
            conn, _ = self.stream.accept()
            threading.Thread(target=self.serve_conn, args=(conn,), daemon=True).start()

    def serve_conn(self, conn):
        with conn:
            while True:
                try:
                    msg = receive_framed(conn)
                    replies = self.tcp(msg) if msg else None
                    if replies is None:
                        return
                    conn.sendall(b"".join(map(framed, replies)))
                except OSError:
                    return


def nobody():
    """A resolver's name where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1#{s.getsockname()[1]}"


def silent():
    return Resolver(udp=lambda q: [], tcp=lambda q: [])


def client(relay, host="127.0.0.1"):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.settimeout(DEADLINE)
    s.connect((host, relay.port))
    return s


def ask(s, msg):
    s.send(msg)
    return s.recv(65535)


def timed(s, msg):
    start = time.monotonic()
    return ask(s, msg), time.monotonic() - start


def dns_in_flight():
    n, held, r = 300, [], silent()
    with Relay("dns", r.name) as relay:
        s = client(relay)
        for i in range(n):
            until(lambda: len(r.seen) > i - 64, "queries do not arrive")
            s.send(query(i, f"n{i}.Example"))
        until(lambda: len(r.seen) == n, "queries do not arrive")
        for msg, port in reversed(r.seen):
            r.dgram.sendto(answer(msg), ("127.0.0.1", port))
        for _ in range(n):
            msg = s.recv(65535)
            check(question(msg) == question(query(0, f"n{ident(msg)}.Example")), msg)
            held.append(ident(msg))
        check(sorted(held) == list(range(n)), held)
        check(len({port for _, port in r.seen}) == n, "ports were used twice")
        ids = [ident(msg) for msg, _ in r.seen]
        check(len(set(ids)) > n * 0.9 and sum(i == j for i, j in enumerate(ids)) < 5, ids)
        check(max(ids) - min(ids) > 30000, "ids are not random")
        until(lambda: relay.fds() < 16, "sockets stay open")


def dns_failover():
    first, second = silent(), Resolver()
    with Relay("dns", "--try-ms", 300, first.name, second.name) as relay:
        s = client(relay)
        msg, took = timed(s, query(1))
        check(ident(msg) == 1 and rcode(msg) == 0 and 0.25 < took < 2, msg, took)
        check(len(first.seen) == 1 and len(second.seen) == 1)
        # what the first says now is late, and comes to nothing
        late, port = first.seen[0]
        first.dgram.sendto(answer(late), ("127.0.0.1", port))
        check(ident(ask(s, query(2))) == 2)


def dns_remembers():
    first, second = silent(), Resolver()
    with Relay("dns", "--try-ms", 400, first.name, second.name) as relay:
        s, t = client(relay), connect(relay.port)
        msg, took = timed(s, query(0))
        check(rcode(msg) == 0 and took > 0.3, msg, took)
        for id in range(1, 20):
            msg, took = timed(s, query(id))
            check(ident(msg) == id and rcode(msg) == 0 and took < 0.3, msg, took)
        check(len(first.seen) == 1 and len(second.seen) == 20, len(first.seen))
        # who does not answer by UDP may do so by TCP, and is asked
        start = time.monotonic()
        for id in (20, 21):
            t.sendall(framed(query(id)))
            check(ident(receive_framed(t)) == id)
            took = time.monotonic() - start
            check(took > 0.3, took)
        check(took < 0.7, took)


def dns_tries_again():
    talk = threading.Event()
    first = Resolver(udp=lambda q: [answer(q)] if talk.is_set() else [])
    second = Resolver()
    with Relay("dns", "--try-ms", 200, "--again-ms", 600, first.name, second.name) as relay:
        s = client(relay)
        check(rcode(ask(s, query())) == 0)
        # still silent: when its time has come it is one query that waits for it
        until(lambda: ask(s, query()) and len(first.seen) == 2, "it is not asked again")
        check(timed(s, query())[1] < 0.15 and len(first.seen) == 2, len(first.seen))
        talk.set()
        until(lambda: ask(s, query()) and len(first.seen) == 3, "it is not asked any more")
        n = len(second.seen)
        for id in range(20):
            check(ident(ask(s, query(id))) == id)
        check(len(first.seen) == 23 and len(second.seen) == n, len(first.seen))


def dns_all_silent():
    talk = threading.Event()
    both = [Resolver(udp=lambda q: [answer(q)] if talk.is_set() else []) for _ in range(2)]
    with Relay("dns", "--try-ms", 300, both[0].name, both[1].name) as relay:
        s = client(relay)
        for n in (1, 2):
            check(rcode(ask(s, query(n))) == SERVFAIL)
            check([len(r.seen) for r in both] == [n, n])
        talk.set()
        for n in (3, 4):
            msg, took = timed(s, query(n))
            check(rcode(msg) == 0 and took < 0.25, took)
        check([len(r.seen) for r in both] == [4, 2], both[1].seen)


def dns_dead():
    for n in (1, 2, 3, 4):
        names = [silent().name for _ in range(n)]
        threading.Thread(target=dead_one, args=(names,)).start()


def dead_one(names):
    try:
        with Relay("dns", *names) as relay:
            start = time.monotonic()
            s, t = client(relay), connect(relay.port)
            s.send(query(9))
            t.sendall(framed(query(10)))
            for id, msg in ((9, s.recv(65535)), (10, receive_framed(t))):
                took = time.monotonic() - start
                check(ident(msg) == id and rcode(msg) == SERVFAIL and 3.5 < took < 5, msg, took)
                check(len(msg) == len(query()) and question(msg) == question(query()))
    except BaseException as error:
        print(len(names), "resolvers:", repr(error), file=sys.stderr)
        os._exit(1)


def dns_refused():
    r = Resolver()
    with Relay("dns", nobody(), nobody(), r.name) as relay:
        s, t = client(relay), connect(relay.port)
        msg, took = timed(s, query(1))
        check(rcode(msg) == 0 and took < 1, msg, took)
        t.sendall(framed(query(2)))
        check(rcode(receive_framed(t)) == 0)
    with Relay("dns", nobody()) as relay:
        msg, took = timed(client(relay), query(3))
        check(ident(msg) == 3 and rcode(msg) == SERVFAIL and took < 1, msg, took)
        t = connect(relay.port)
        t.sendall(framed(query(4)))
        check(rcode(receive_framed(t)) == SERVFAIL)


def dns_says_no():
    no, yes = Resolver(udp=lambda q: [answer(q, SERVFAIL)]), Resolver()
    last = Resolver(udp=lambda q: [answer(q, REFUSED, 100)], tcp=lambda q: None)
    with Relay("dns", no.name, yes.name) as relay:
        check(rcode(ask(client(relay), query())) == 0)
    with Relay("dns", no.name, last.name) as relay:
        msg = ask(client(relay), query())
        check(rcode(msg) == REFUSED and len(msg) == 100, msg)
    with Relay("dns", last.name) as relay:
        t = connect(relay.port)
        t.sendall(framed(query(5)))
        check(rcode(receive_framed(t)) == SERVFAIL, "a resolver that hangs up")


def dns_truncated():
    size = 600
    r = Resolver(udp=lambda q: [answer(q, 3, size)], tcp=lambda q: [answer(q, 3, 40000)])
    with Relay("dns", r.name) as relay:
        s, t = client(relay), connect(relay.port)
        msg = ask(s, query(1))
        check(msg[2] & 2 and ident(msg) == 1 and rcode(msg) == 3, msg)
        check(msg[4:12] == struct.pack("!HHHH", 1, 0, 0, 0) and len(msg) < 100, msg)
        check(len(ask(s, query(2, edns=1232))) == 600)
        size = 512
        check(len(ask(s, query(3))) == 512)
        check(len(ask(s, query(4, edns=0))) == 512)
        size = 1233
        check(ask(s, query(5, edns=1232))[2] & 2)
        size = 60000
        check(len(ask(s, query(6, edns=65535))) == 60000)
        t.sendall(framed(query(7)))
        check(len(receive_framed(t)) == 40000)


def dns_pipelined():
    others, n = threading.Semaphore(0), 40

    def serve(msg):
        if b"first" in msg:
            for _ in range(n - 1):
                check(others.acquire(timeout=DEADLINE))
        else:
            others.release()
        return [answer(msg, 0, 5000)]

    r = Resolver(tcp=serve)
    with Relay("dns", r.name) as relay:
        t = connect(relay.port)
        everything = b"".join(
            framed(query(i, "first.example" if i == 0 else f"n{i}.example")) for i in range(n)
        )
        t.sendall(everything[:1])
        t.sendall(everything[1:])
        ids = []
        for _ in range(n):
            msg = receive_framed(t)
            check(len(msg) == 5000, len(msg))
            ids.append(ident(msg))
        check(ids.index(0) >= n - 16 and sorted(ids) == list(range(n)), ids)
        # half-closed: what was asked is answered, and then it ends
        t.sendall(framed(query(77)) + framed(query(78)))
        t.shutdown(socket.SHUT_WR)
        check({ident(receive_framed(t)) for _ in range(2)} == {77, 78})
        check(t.recv(1) == b"")


def dns_lies():
    def serve(msg):
        return lies(msg) + [answer(msg, 0, 99), answer(msg, 0, 98)]

    r = Resolver(udp=serve, tcp=serve)
    with Relay("dns", r.name) as relay:
        s, t = client(relay), connect(relay.port)
        for i in range(20):
            msg = ask(s, query(i))
            check(len(msg) == 99 and ident(msg) == i, msg)
            t.sendall(framed(query(i)))
            msg = receive_framed(t)
            check(len(msg) == 99 and ident(msg) == i, msg)
    # nothing but lies is as good as silence
    r = Resolver(udp=lies, tcp=lies)
    with Relay("dns", "--try-ms", 200, r.name) as relay:
        msg, took = timed(client(relay), query())
        check(rcode(msg) == SERVFAIL and took > 0.3, msg, took)


def dns_polled():
    r, first = Resolver(), silent()
    with Relay("polled", "dns", "--try-ms", 200, first.name, r.name) as relay:
        msg, took = timed(client(relay), query(6))  # time passes there, too
        check(ident(msg) == 6 and rcode(msg) == 0 and took > 0.15, msg, took)


def dns_families():
    r = Resolver(host="::1")
    with Relay("dns", r.name) as relay:
        for host in ("127.0.0.1", "::1"):
            check(rcode(ask(client(relay, host), query())) == 0)
            t = connect(relay.port, host)
            t.sendall(framed(query(5)))
            check(ident(receive_framed(t)) == 5)


def dns_full():
    r = silent()
    with Relay("dns", "--max-udp", 4, r.name) as relay:
        s = client(relay)
        for i in range(6):
            s.send(query(i))
        for i in range(2):
            msg = s.recv(65535)
            check(ident(msg) == i and rcode(msg) == SERVFAIL, msg)
    with Relay("dns", "--max-tcp", 2, r.name) as relay:
        t = connect(relay.port)
        t.sendall(b"".join(framed(query(i)) for i in range(4)))
        for i in (2, 3):
            msg = receive_framed(t)
            check(ident(msg) == i and rcode(msg) == SERVFAIL, msg)


def dns_flood():
    talk = threading.Event()
    r = Resolver(udp=lambda q: [answer(q)] if talk.is_set() else [])
    with Relay("dns", "--try-ms", 100, r.name) as relay:
        s = client(relay)
        check(rcode(ask(s, query())) == SERVFAIL)
        before, bad = relay.kib(), list(hostile())
        for i in range(30000):
            try:
                s.send(bad[i // 10 % len(bad)] if i % 10 == 0 else query(i & 0xFFFF, "x" * 60))
            except ConnectionRefusedError:
                raise AssertionError("the relay is gone")
        talk.set()
        s = client(relay)
        s.settimeout(0.5)
        for i in range(20):  # the queue that the flood left may be full
            try:
                msg = ask(s, query(i))
            except TimeoutError:
                continue
            if rcode(msg) == 0:
                break
        else:
            raise AssertionError("no answer after the flood")
        relay.grew_at_most(before, 8192)
        until(lambda: relay.fds() < 16, "sockets stay open")


def dns_tcp_flood():
    r = Resolver(tcp=lambda q: [answer(q, 0, 65535)])
    with Relay("dns", r.name) as relay:
        before, conns = relay.kib(), []
        for i in range(300):  # each asks, and reads nothing
            conns.append(connect(relay.port))
            try:
                conns[-1].sendall(b"".join(framed(query(j)) for j in range(50)))
            except OSError:
                pass
        t = connect(relay.port)
        t.sendall(framed(query(1)))
        check(ident(receive_framed(t)) == 1)
        check(relay.fds() < 64 + 128 + 16, relay.fds())
        relay.grew_at_most(before, 16384)
        for conn in conns:
            conn.close()
        t.sendall(framed(query(2)))
        check(ident(receive_framed(t)) == 2)


def dns_tcp_closed():
    r = Resolver()
    with Relay("dns", "--idle-ms", 300, "--max-clients", 2, r.name) as relay:
        for msg in hostile():
            t = connect(relay.port)
            t.sendall(framed(msg))
            check(ends(t), msg[:40])
        t = connect(relay.port)
        t.sendall(b"\0")
        start = time.monotonic()
        check(ends(t) and 0.2 < time.monotonic() - start < 5, "an idle connection stays open")
        three = [connect(relay.port) for _ in range(3)]
        check(ends(three[0]))
        three[2].sendall(framed(query(3)))
        check(ident(receive_framed(three[2])) == 3)


main(globals())
