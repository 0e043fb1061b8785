#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""service.py PORT: says each byte back that comes to PORT of 127.0.0.1; "ready" when it listens."""

import asyncio
import resource
import sys


async def echo(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = await asyncio.start_server(echo, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
