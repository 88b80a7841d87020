"""A real server below a wrapper: tells its pid, ignores SIGTERM and the end of its input."""

import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write(f"{os.getpid()}\n")
sys.stdout.flush()
time.sleep(120)
