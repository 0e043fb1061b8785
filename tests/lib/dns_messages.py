#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DNS messages, good and bad, for tests/lib/relay_dns.py and tests/lib/resolver.py.

dns_messages.py hostile: queries that are none, on stdout, each behind its length
dns_messages.py flood: the same among good ones, whose names tests/lib/resolver.py does not answer
"""

import os
import struct
import sys


def name(text):
    return b"".join(bytes([len(l)]) + l.encode() for l in text.split(".")) + b"\0"


def query(id=7, text="a.example", edns=None):
    opt = b"" if edns is None else struct.pack("!BHHIH", 0, 41, edns, 0, 0)
    head = struct.pack("!HHHHHH", id, 0x0100, 1, 0, 0, len(opt) > 0)
    return head + name(text) + struct.pack("!HH", 16, 1) + opt


def question(msg):
    end = msg.index(b"\0", 12) + 5
    return msg[12:end]


def answer(msg, rcode=0, size=0):
    """The answer to a query, filled up with so many bytes that nobody parses."""
    bare = msg[:2] + struct.pack("!HHHHH", 0x8180 | rcode, 1, 0, 0, 0) + question(msg)
    return bare + bytes(max(0, size - len(bare)))


def framed(msg):
    return struct.pack("!H", len(msg)) + msg


def hostile():
    """Queries that are none."""
    long = b"".join(b"\x3f" + b"x" * 63 for _ in range(1000)) + b"\0"
    head = struct.pack("!HHHHHH", 1, 0x0100, 1, 0, 0, 0)
    yield b""
    yield head[:11]
    yield head + long[:63000]
    yield head + b"\xc0\x0c" + bytes(4)
    yield head + b"\1a\xc0\x0c" + bytes(4)
    yield struct.pack("!HHHHHH", 1, 0x0100, 65535, 65535, 65535, 65535) + query()[12:]
    yield query() + bytes(60000)
    yield answer(query())
    yield os.urandom(1400)


def lies(msg):
    upper = msg[:12] + msg[12:].upper()
    other = bytes([msg[0] ^ 1]) + msg[1:]
    return [
        answer(other),
        answer(upper),
        msg,
        answer(msg)[:11],
        answer(msg)[:20],
        answer(msg)[:4] + bytes(8),
        answer(msg)[:5] + b"\2" + answer(msg)[6:],
        os.urandom(900),
    ]


def main():
    bad = list(hostile())
    if sys.argv[1:] == ["flood"]:
        bad = [m for b in bad for m in [b] + [query(i, "silent." + "x" * 60) for i in range(9)]]
    sys.stdout.buffer.write(b"".join(map(framed, bad)))


if __name__ == "__main__":
    main()
