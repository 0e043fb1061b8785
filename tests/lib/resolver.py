#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""resolver.py ADDRESS ANSWER LOG: a DNS server on port 53 of ADDRESS, UDP and TCP. Each name of
type A is ANSWER, no other type has an answer; each query is a line of LOG: its name and protocol.
"""

import socket
import struct
import sys
import threading


def answer(query, address):
    end = 12
    labels = []
    while query[end] != 0:
        labels.append(query[end + 1:end + 1 + query[end]].decode("latin-1"))
        end += 1 + query[end]
    question = query[12:end + 5]
    found = question[-4:-2] == b"\0\1"
    reply = query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, int(found), 0, 0) + question
    if found:
        reply += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(address)
    return ".".join(labels), reply


def serve_tcp(listener, address, log):
    while True:
        peer, _ = listener.accept()
        with peer, peer.makefile("rwb") as stream:
            header = stream.read(2)
            if len(header) < 2:
                continue
            name, reply = answer(stream.read(struct.unpack(">H", header)[0]), address)
            print(name, "tcp", file=log, flush=True)
            stream.write(struct.pack(">H", len(reply)) + reply)


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
            name, reply = answer(query, address)
            print(name, "udp", file=log, flush=True)
            udp.sendto(reply, peer)


main()
