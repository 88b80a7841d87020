"""One harness under the fuzzer, in a process of its own: `python guided_child.py NAME [libFuzzer arguments]`.

Needs atheris. Only Oyer's own modules are instrumented, so that the fuzzer is guided by them and by nothing else.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[3]
PLACES = ["src", "tests/golden", "tests/fuzz/guided"]


def main(arguments: list[str]) -> None:
    """Load the harness, instrumented, and give it to the fuzzer, which ends the process."""
    sys.path[:0] = [str(ROOT / place) for place in PLACES]
    with atheris.instrument_imports(include=["oyer"]):
        from guided import harness

        one = harness(arguments[1])
    from guided_mutate import mutated

    def mutate(data: bytes, max_bytes: int, seed: int) -> bytes:
        """Change JSON as JSON every other time, and bytes as bytes else."""
        changed = mutated(data, max_bytes, seed) if seed % 2 else None
        return bytes(atheris.Mutate(data, max_bytes)) if changed is None else changed

    warnings.simplefilter("error")
    atheris.Setup([arguments[0], *arguments[2:]], one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
