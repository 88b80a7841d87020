"""A subject process that breaks the rules in one named way, after it has read its first turn.

python odd_subject.py MANNER
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

manner = sys.argv[1]


def say(text: str = "done", **more: object) -> None:
    line = {"said": {"text": text, "ended_by": "subject", "calls": 0, **more}}
    os.write(1, json.dumps(line).encode() + b"\n")


if manner == "dies early":
    os._exit(7)
sys.stdin.readline()
sys.stdin.readline()
if manner == "hangs":
    time.sleep(60)
elif manner == "ignores the end":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say()
    time.sleep(60)
elif manner == "leaves a child":
    # A grandchild that holds every stream of its parent open.
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    os._exit(0)
elif manner == "leaves a daemon":
    # A process that left group, session and parent, and keeps nothing but its environment.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for stream in (0, 1, 2):
                os.close(stream)
            os.chdir("/")
            time.sleep(120)
        os._exit(0)
    os.wait()
    say()
    sys.stdin.read()
elif manner == "answers and goes":
    say("last words")
elif manner == "closes its output":
    os.close(1)
    time.sleep(60)
elif manner == "half a line":
    os.write(1, b'{"said": {"te')
elif manner == "endless line":
    try:
        while True:
            os.write(1, b"x" * 65536)
    except OSError:
        pass
elif manner == "many notes":
    for number in range(2000):
        os.write(1, b'{"note": {"n": %d}}\n' % number)
    say()
    sys.stdin.read()
elif manner == "complains":
    os.write(2, b"e" * 200_000)
    say()
    sys.stdin.read()
elif manner == "harness without a fault":
    say("", ended_by="harness")
    sys.stdin.read()
elif manner == "surrogate":
    os.write(1, b'{"said": {"text": "\\ud800", "ended_by": "subject", "calls": 0}}\n')
    sys.stdin.read()
else:
    os.write(1, manner.encode() + b"\n")
    sys.stdin.read()
