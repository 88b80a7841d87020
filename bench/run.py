"""Run every measurement of this folder, one after the other: ``python bench/run.py [NAME ...]``.

A measurement is a script that prints ratios taken within one run; nothing here asserts a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run the named measurements, or all; end with 1 if one of them failed."""
    known = {path.stem: path for path in sorted(HERE.glob("*.py")) if path.stem not in ("run", "__init__")}
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"no measurement {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    failed = []
    for name in arguments or known:
        print(f"\n--- {name}", flush=True)
        if subprocess.call([sys.executable, str(known[name])]):
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
