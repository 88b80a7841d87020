"""The floor: forwarders that copy and do nothing else, as short as the libraries allow.

python forwarders.py --lines COMMAND ...    between its own standard streams and a command's, line by line
python forwarders.py --http URL             over HTTP, body by body and stream piece by piece; prints its address
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from urllib.parse import urlsplit

HOP = ("connection", "content-length", "host", "keep-alive", "transfer-encoding")


async def lines(command: list[str]) -> None:
    """Stand between our own standard streams and the command's."""
    loop = asyncio.get_running_loop()
    child = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 26)
    assert child.stdin is not None and child.stdout is not None
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while line := await source.readline():
            target.write(line)
            await target.drain()

    back = asyncio.create_task(pump(child.stdout, writer))
    await pump(reader, child.stdin)
    child.stdin.close()
    await back
    await child.wait()


async def http(url: str) -> None:
    """Forward every request to the same path at `url`'s host, with connections kept on both sides."""
    import aiohttp  # noqa: PLC0415 - the other floor does without
    from aiohttp import web  # noqa: PLC0415

    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    plain = aiohttp.ClientTimeout(total=None)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(auto_decompress=False, timeout=plain, connector=connector) as client:

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
            body = await request.read()
            async with client.request(
                request.method, origin + request.raw_path, headers=headers, data=body or None, allow_redirects=False
            ) as came:
                kept = {name: value for name, value in came.headers.items() if name.lower() not in HOP}
                if came.content_type != "text/event-stream":
                    return web.Response(status=came.status, headers=kept, body=await came.read())
                answer = web.StreamResponse(status=came.status, headers=kept)
                await answer.prepare(request)
                async for piece in came.content.iter_any():
                    await answer.write(piece)
                await answer.write_eof()
                return answer

        runner = web.ServerRunner(web.Server(handle, auto_decompress=False, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
        os.write(1, f"http://127.0.0.1:{runner.addresses[0][1]}{parts.path}\n".encode())
        await asyncio.to_thread(sys.stdin.buffer.read)
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(lines(sys.argv[2:]) if sys.argv[1] == "--lines" else http(sys.argv[2]))
