"""What starting costs, as ratios to an interpreter that does nothing: `oyer --help` (aim: at most 6) and the front.

The commands are interleaved, so that whatever else the machine does falls on all alike.

``python bench/startup.py [ROUNDS]``
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": "pass",
    "import oyer": "import oyer",
    "oyer --help": "import sys; sys.argv = ['oyer', '--help']; from oyer.cli import main; main()",
}


def took(code: str) -> float:
    """Run a fresh interpreter on a line of code and return its wall time in seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main(rounds: int) -> None:
    """Measure and print a table."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, code in COMMANDS.items():
            times[name].append(took(code))
    floor = statistics.median(times["python -c pass"])
    print(f"{'':16} {'median ms':>10} {'p90 ms':>8} {'ratio':>6}   ({rounds} rounds)")
    for name, values in times.items():
        middle = statistics.median(values)
        late = sorted(values)[int(len(values) * 0.9)]
        print(f"{name:16} {middle * 1e3:10.1f} {late * 1e3:8.1f} {middle / floor:6.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
