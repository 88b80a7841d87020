"""What the subject starts instead of a server: hands its standard streams to the harness and waits.

Owns no message: nothing is read, changed or answered here. Must never name a case, an arm or a product in
anything it prints, and must start in milliseconds: standard library only, run with `-I -S`, copied by each
run into its own directory under a name that means nothing.

With pipes or sockets as standard streams the descriptors themselves are handed over and no byte passes
through this process. Anything else (a file, a terminal) is copied through two pipes of its own. Either way
the harness side sees the same: one message with two descriptors, answered at the end by the exit code to end
with. Standard error of the server is not given to the subject.
"""

from __future__ import annotations

try:
    import _socket as socket  # half the start of the pure wrapper, and all that is needed here
except ImportError:
    import socket  # type: ignore[no-redef]
import os
import stat
import sys

_HELLO = b"\x01"
_LOST = 70
_CHUNK_BYTES = 65536
_FD_BYTES = 4


def _is_stream(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _hand_over(link: socket.socket, reads: int, writes: int) -> None:
    fds = reads.to_bytes(_FD_BYTES, sys.byteorder) + writes.to_bytes(_FD_BYTES, sys.byteorder)
    link.sendmsg([_HELLO], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])


def _wait(link: socket.socket) -> int:
    """Return the exit code sent; `_LOST` when the other side vanished without one."""
    told = b""
    while not told.endswith(b"\n"):
        piece = link.recv(16)
        if not piece:
            return _LOST
        told += piece
    return int(told) & 0xFF


def _pass_streams(link: socket.socket) -> int:
    _hand_over(link, 0, 1)
    # Let go of both, so that the end of a stream is seen by whoever holds its other side.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return _wait(link)


def _copy(source: int, target: int) -> None:
    """Copy until the end of either; closing the target passes the end on."""
    try:
        while True:
            piece = os.read(source, _CHUNK_BYTES)
            if not piece:
                return
            while piece:
                piece = piece[os.write(target, piece) :]
    except OSError:
        return  # nobody reads any more
    finally:
        os.close(target)


def _copy_streams(link: socket.socket) -> int:
    import threading

    inner_reads, to_harness = os.pipe()
    from_harness, inner_writes = os.pipe()
    _hand_over(link, inner_reads, inner_writes)
    os.close(inner_reads)
    os.close(inner_writes)
    threading.Thread(target=_copy, args=(0, to_harness), daemon=True).start()
    back = threading.Thread(target=_copy, args=(from_harness, 1))
    back.start()
    code = _wait(link)
    back.join()
    return code


def main(argv: list[str]) -> int:
    """Connect to the socket named first, stand in for a server until it ends, and return its exit code."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(argv[1])
        if _is_stream(0) and _is_stream(1):
            return _pass_streams(link)
        return _copy_streams(link)
    except OSError:
        return _LOST
    finally:
        link.close()


if __name__ == "__main__":
    os._exit(main(sys.argv))
