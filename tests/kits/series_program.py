"""A series in a process of its own: `series_program.py CASE SUBJECTS OUT [repeat=N] [jobs=N] [rule=JSON]`.

`limit_bytes=N` bounds every file; `after=FIFO` has it wait for the end of one before it begins. Prints a line per step
of progress. Ends with 0, with 130 where it was interrupted, with 70 for a named error of ours.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path
from typing import TextIO

import series_kit

from oyer.errors import OyerError
from oyer.records import Sequential


def tell(stream: TextIO, line: str) -> None:
    stream.write(line + "\n")
    stream.flush()


def main(case: str, subjects: str, out: str, *options: str) -> int:
    given = dict(option.split("=", 1) for option in options)
    limit_bytes = int(given.get("limit_bytes", 0))
    if limit_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    if "after" in given:
        Path(given["after"]).read_bytes()
    sources = [source for source in series_kit.case_file(Path(case)) if "/" not in source.case.id]
    try:
        outcome = series_kit.run(
            sources,
            subjects.split(","),
            Path(out),
            repeat=int(given.get("repeat", 1)),
            jobs=int(given.get("jobs", 1)),
            sequential=Sequential.model_validate_json(given["rule"]) if "rule" in given else None,
            on_progress=lambda p: tell(sys.stdout, f"{p.done}/{p.total} {p.current}"),
        )
    except KeyboardInterrupt:
        return 130
    except OyerError as error:
        tell(sys.stderr, str(error))
        return error.exit_code
    return 130 if outcome.interrupted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
