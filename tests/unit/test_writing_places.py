"""Every place of the sources that can write a file, with the reason why no secret can get to the disk there.

What is retained is redacted in one step before it is drafted; whoever adds a way to write has to say here how it
stands to that step.
"""

from __future__ import annotations

import ast
from pathlib import Path

import oyer

SOURCES = Path(oyer.__file__).parent
WRITES = {"write_bytes", "write_text", "mkstemp", "copyfile", "copyfileobj", "copytree", "copy2", "hardlink_to"}
WRITES |= {"NamedTemporaryFile"}
OS_WRITES = {"write", "pwrite", "writev", "sendfile"}

# What is kept with a series: behind the replacement, or searched and refused.
RETAINED = {
    "store/durable.py": "the only way to a series: journals are drafted before it, pins, blobs, derived files searched",
    "store/series.py": "puts a seal in force that `durable` wrote: digests and paths",
    "programs/sink_journal.py": "the twin of the store's journal in the sinks' process: it replaces before it appends",
    "store/bundle.py": "sealed files, byte for byte",
}
# What is written beside a series.
BESIDE = {
    "cli/crash.py": "goes through the output's replacement",
    "cli/init.py": "a project out of packaged files; no secret was read",
    "cli/locks.py": "searched and refused; what servers list is replaced before",
    "cli/planning.py": "a plan file: written before any secret is read",
    "cli/qualify.py": "records derived from evidence that is redacted",
    "cli/schema.py": "schemas of records",
    "host/signing.py": "keys of whoever signs: their own files of mode 0600",
    "library/servers/_office_notes.py": "a packaged server writes in its world",
    "library/servers/_place.py": "a packaged server writes in its world",
    "library/servers/files.py": "a packaged server writes in its world",
    "library/servers/ops.py": "a packaged server writes in its world",
}
# What goes to pipes, or into directories that are gone with their run.
PASSING = {
    "cli/commands.py": "help on standard output",
    "cli/door.py": "nowhere, in the place of a closed stream",
    "engine/validators.py": "a copy of the closing world, gone with its check",
    "cli/machine.py": "a look at the machine: zeros into a file that is removed",
    "engine/instruments.py": "the relay's own program, copied into the run's directory",
    "host/beneath.py": "worlds of a run, gone with it",
    "host/pipes.py": "standard input of a server",
    "host/stale_runs.py": "the mark of a run's directory: a process id",
    "host/worlds.py": "worlds of a run, gone with it",
    "library/servers/_loop.py": "standard output of a packaged server, into the tap",
    "programs/child_wire.py": "standard output of a subject, into the harness",
    "programs/door_session.py": "standard input of a relay",
    "programs/http_sink.py": "standard output of the sinks' process, into the harness",
    "programs/wire.py": "standard output of the bridge, into the tap",
    "programs/relay.py": "what passes between subject and tap",
    "programs/tool_servers.py": "standard input of a relay",
}


def writing_calls(tree: ast.AST) -> set[str]:
    """The calls by which a module can write a file or a descriptor."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        modes = [
            each.value for each in (*node.args, *(key.value for key in node.keywords)) if isinstance(each, ast.Constant)
        ]
        opens_to_write = name in ("open", "fdopen") and any(
            isinstance(mode, str) and mode in {"w", "wb", "x", "xb", "a", "ab", "r+", "r+b", "w+", "wb+"}
            for mode in modes
        )
        if name in WRITES or (owner == "os" and name in OS_WRITES) or opens_to_write:
            found.add(name)
    return found


def test_every_place_that_writes_says_why_no_secret_gets_to_the_disk_there() -> None:
    writing = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if writing_calls(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert writing == {*RETAINED, *BESIDE, *PASSING}


def test_a_planted_way_to_write_is_seen() -> None:
    for line in ("p.write_text(x)", "os.write(1, x)", "open(p, 'w')", "p.open('xb')", "shutil.copyfile(a, b)"):
        assert writing_calls(ast.parse(line)), line
    assert not writing_calls(ast.parse("p.open('rb'); stream.write(x)"))
