#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# terminal.py STEP... -- COMMAND ARG...: a person at a terminal. COMMAND has a pty as its controlling
# terminal, 24 lines of 80 columns; the steps are done one after the other:
#   see=REGEX     wait until the output after what was seen last has it; --- what it matched is printed
#                 if it has a group
#   type=TEXT     keys, with Python's escapes
#   size=ROWSxCOLUMNS
#   run=COMMAND   of a shell, outside the terminal
#   hang          the terminal is gone: its master is closed
#   end           wait for the end of COMMAND, and print its status as a shell has it
# Everything is awaited; what has not come after a minute is a failure, with all output so far.
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

SECONDS = 60


class Terminal:
    def __init__(self, argv):
        self.output = b""
        self.seen = 0
        self.pid, self.fd = os.forkpty()
        if self.pid == 0:
            try:
                os.execvp(argv[0], argv)
            finally:
                os._exit(127)
        self.size("24x80")

    def size(self, text):
        rows, columns = map(int, text.split("x"))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def fail(self, what):
        sys.stderr.write(f"{what}; all output was:\n{self.output.decode(errors='replace')}\n")
        os.kill(self.pid, signal.SIGKILL)
        sys.exit(1)

    def read(self, deadline, what):
        """Returns False at the end of the output."""
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.fd], [], [], left)[0]:
            self.fail(f"{what}: not in {SECONDS} s")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: nobody has the terminal any more
            return False
        self.output += data
        return data != b""

    def see(self, text):
        regex = re.compile(text.encode(), re.DOTALL)
        deadline = time.monotonic() + SECONDS
        while True:
            match = regex.search(self.output, self.seen)
            if match:
                break
            if not self.read(deadline, f"see={text}"):
                self.fail(f"see={text}: the output has ended")
        self.seen = match.end()
        for group in match.groups():
            print(group.decode(errors="replace"))

    def type(self, text):
        data = text.encode("latin-1").decode("unicode_escape").encode("latin-1")
        while data:
            data = data[os.write(self.fd, data):]

    def run(self, text):
        done = subprocess.run(text, shell=True, check=False)
        if done.returncode != 0:
            self.fail(f"run={text}: status {done.returncode}")

    def hang(self):
        os.close(self.fd)
        self.fd = -1

    def end(self):
        deadline = time.monotonic() + SECONDS
        while self.fd >= 0 and self.read(deadline, "end"):
            continue
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > deadline:
                self.fail(f"end: not in {SECONDS} s")
            time.sleep(0.01)
        status = os.waitstatus_to_exitcode(status)
        print(f"status {status if status >= 0 else 128 - status}")


def main():
    split = sys.argv.index("--")
    terminal = Terminal(sys.argv[split + 1:])
    for step in sys.argv[1:split]:
        name, _, text = step.partition("=")
        method = getattr(terminal, name)
        if text:
            method(text)
        else:
            method()


main()
