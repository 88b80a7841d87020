"""Leaves a daemon behind: double fork and a session of its own; tells the daemon's pid."""

import os
import sys
import time

reads, writes = os.pipe()
if os.fork() == 0:
    os.setsid()
    daemon = os.fork()
    if daemon:
        os.write(writes, f"{daemon}\n".encode())
        os._exit(0)
    os.chdir("/")
    time.sleep(120)
    os._exit(0)
os.wait()
sys.stdout.write(os.read(reads, 64).decode())
sys.stdout.flush()
