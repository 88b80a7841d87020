"""A model endpoint that costs next to nothing: every request gets a stream of tokens, Chat Completions style.

    python endpoint.py     prints its address, then serves until standard input ends

A request says how many `tokens` it wants, and with `pause_ms` how long between two; else they come as fast as they can.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(data: str) -> bytes:
    """Write one event as one chunk."""
    raw = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(raw), raw)


def token(number: int) -> bytes:
    """Write one token as the API streams it."""
    choice = {"index": 0, "delta": {"content": f" word{number}"}, "finish_reason": None}
    return event(json.dumps({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}))


async def main() -> None:
    """Serve until standard input ends."""
    told = [token(number) for number in range(1000)]
    last = event('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}}')
    end = last + event("[DONE]") + b"0\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
                asked = json.loads(await reader.readexactly(length))
                pause_s = asked.get("pause_ms", 0) / 1000
                writer.write(HEAD)
                for one in told[: asked["tokens"]]:
                    writer.write(one)
                    await asyncio.sleep(pause_s)
                    await writer.drain()
                writer.write(end)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
    os.write(1, b"http://127.0.0.1:%d/v1\n" % server.sockets[0].getsockname()[1])
    await asyncio.to_thread(sys.stdin.buffer.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
