#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""resolver.py ADDRESS ANSWER LOG: a DNS server on port 53 of ADDRESS, UDP and TCP. Each name of
type A is ANSWER, no other type has an answer; each query is a line of LOG: its name and protocol.

The first label of a name may ask for something else:

  lies       messages that are no answer to the query come before the one that is
  only-lies  and none comes that is
  flood      200 messages of 60,000 bytes that are no answer come before the one that is
  truncated  over UDP nothing but "ask again over TCP"
  oversize   an answer of 65,000 bytes, which is no more than the header says
  silent     nothing
"""

import socket
import struct
import sys
import threading

from dns_messages import lies, name

PADDING = b"\xc0\x0c" + struct.pack(">HHIH", 16, 1, 60, 256) + b"\xff" + b"x" * 255


def read_name(query):
    end = 12
    labels = []
    while query[end] != 0:
        labels.append(query[end + 1:end + 1 + query[end]].decode("latin-1"))
        end += 1 + query[end]
    return labels, query[12:end + 5]


def answer(query, question, address, flags=0x8180, padding=0):
    found = question[-4:-2] == b"\0\1" and address is not None
    reply = query[:2] + struct.pack(">HHHHH", flags, 1, int(found), 0, padding) + question
    if found:
        reply += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(address)
    return reply + PADDING * padding


def answers(query, address, tcp):
    """The name asked for, and the messages that come back."""
    labels, question = read_name(query)
    good = answer(query, question, address)
    kind = labels[0] if labels else ""
    if kind == "lies":
        replies = lies(query) + [good]
    elif kind == "only-lies":
        replies = lies(query)
    elif kind == "flood":
        other = query[:2] + b"\x81\x80" + query[4:12] + name("another.example") + bytes(60000)
        replies = [other[:60000]] * 200 + [good]
    elif kind == "truncated" and not tcp:
        replies = [answer(query, question, None, flags=0x8380)]
    elif kind == "oversize":
        replies = [answer(query, question, address, padding=65000 // len(PADDING))]
    elif kind == "silent":
        replies = []
    else:
        replies = [good]
    return ".".join(labels), replies


def serve_tcp(listener, address, log):
    while True:
        peer, _ = listener.accept()
        with peer, peer.makefile("rwb") as stream:
            header = stream.read(2)
            if len(header) < 2:
                continue
            asked, replies = answers(stream.read(struct.unpack(">H", header)[0]), address, True)
            print(asked, "tcp", file=log, flush=True)
            try:
                stream.write(b"".join(struct.pack(">H", len(m)) + m for m in replies))
                stream.flush()
            except OSError:
                pass


def main():
    own, address, path = sys.argv[1:]
    family = socket.AF_INET6 if ":" in own else socket.AF_INET
    udp = socket.socket(family, socket.SOCK_DGRAM)
    udp.bind((own, 53))
    tcp = socket.create_server((own, 53), family=family)
    with open(path, "a") as log:
        print("ready", file=log, flush=True)
        threading.Thread(target=serve_tcp, args=(tcp, address, log), daemon=True).start()
        while True:
            query, peer = udp.recvfrom(65535)
            asked, replies = answers(query, address, False)
            print(asked, "udp", file=log, flush=True)
            for reply in replies:
                udp.sendto(reply, peer)


main()
