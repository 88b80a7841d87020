"""The house rules that import-linter and ruff cannot see, checked on the syntax tree.

Owns: fronts, the I/O line, light rooms, owners of libraries, names, sizes, and case ids outside the library.
Must never: import the code it checks, or pass over a file it cannot parse.

``python tools/contracts.py [ROOT]`` prints ``path:line: rule: what is wrong`` and ends with 1 if there is any.
Source: docs/explanation/architecture.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CORE = tuple("errors records evidence protocol observe stats adjudicate plan report verify conform".split())
"""Floors 0 to 8: no clock, disk, network, process, environment, randomness or logging."""

PURE_STDLIB = frozenset(
    """__future__ abc array base64 binascii bisect codecs collections contextlib copy csv dataclasses datetime decimal
    difflib enum fnmatch fractions functools graphlib hashlib heapq hmac html inspect io ipaddress itertools json
    keyword math numbers operator pathlib re reprlib sqlite3 statistics string struct tarfile textwrap types typing
    unicodedata urllib weakref zlib""".split()
)
"""What the core may import of the standard library. A module joins this list when nothing in it acts on the world."""

PART_OF = {
    "fnmatch": {"fnmatchcase"},
    "inspect": {"cleandoc", "getdoc", "isclass", "signature"},
    "io": {"BytesIO", "StringIO"},
    "pathlib": {"PurePath", "PurePosixPath", "PureWindowsPath"},
    "sqlite3": {"Error", "SQLITE_DENY", "SQLITE_OK", "SQLITE_READ", "SQLITE_SELECT"}
    | {f"SQLITE_LIMIT_{name}" for name in "LENGTH SQL_LENGTH COLUMN EXPR_DEPTH COMPOUND_SELECT VDBE_OP".split()}
    | {f"SQLITE_LIMIT_{name}" for name in "FUNCTION_ARG ATTACHED TRIGGER_DEPTH WORKER_THREADS".split()},
    "tarfile": {"HeaderError", "REGTYPE", "TarError", "TarInfo", "USTAR_FORMAT"},
    "urllib": {"parse"},
}
"""Modules of which only a part is pure, and that part."""

CORE_LIBRARIES = {
    "annotated_types": {"records"},
    "jinja2": {"report"},
    "junitparser": {"report"},
    "krippendorff": {"stats"},
    "markupsafe": {"report"},
    "msgspec": set(CORE) - {"errors", "records", "protocol"},
    "numpy": {"stats"},
    "pydantic": {"records"},
    "pydantic_core": {"records"},
    "re2": set(CORE) - {"errors", "protocol"},
    "rfc8785": set(CORE) - {"errors", "protocol"},
    "scipy": {"stats"},
    "typing_extensions": {"records"},
    "yaml": {"records"},
    "zstandard": set(CORE) - {"errors", "protocol"},
}
"""Which rooms of the core may use which library."""

OWNED = {"pydantic": "records", "pydantic_core": "records"}
"""Libraries that exactly one room of the whole house may import."""

LATE = frozenset("duckdb krippendorff mcp numpy opentelemetry pandas scipy statsmodels".split())
"""Slow libraries: imported where they are used, never at the top of a module."""

ONCE_PER_SERIES = frozenset({"src/oyer/programs/http_sink.py"})
"""Programs that live as long as a series: no trial waits for their start."""

LIGHT = ("errors", "protocol", "programs")
"""Rooms loaded by processes that must start in 50 ms: standard library only, and none of HEAVY_STDLIB at the top."""

HEAVY_STDLIB = frozenset("asyncio concurrent dataclasses email http inspect logging multiprocessing unittest".split())

ONLY_ROOMS = {"programs": {"errors", "evidence", "protocol"}}
"""Rooms that may use fewer rooms than their floor allows."""

BANNED_CALLS = frozenset("open print input breakpoint exec eval compile __import__".split())
BANNED_METHODS = frozenset(
    """read_text read_bytes write_text write_bytes iterdir rglob mkdir rmdir unlink touch exists is_file is_dir
    is_symlink is_mount lstat stat chmod symlink_to hardlink_to readlink expanduser samefile""".split()
)
BANNED_DOTTED = frozenset(
    """datetime.now datetime.utcnow datetime.today date.today datetime.datetime.now datetime.datetime.utcnow
    datetime.datetime.today datetime.date.today""".split()
)
BANNED_NAMES = frozenset("base common helper helpers manager misc util utils".split())
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60


class Breach(NamedTuple):
    """One broken rule, at its place."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class Import(NamedTuple):
    """One imported module, with the names taken from it (none for a plain `import`)."""

    line: int
    module: str
    names: tuple[str, ...]
    at_top: bool


class Source(NamedTuple):
    """One module of the package, parsed."""

    path: Path
    shown: str
    room: str
    tree: ast.Module
    lines: int


def check(root: Path) -> list[Breach]:
    """Check the package under `root`/src/oyer and return every breach, in order of place."""
    package = root / "src" / "oyer"
    breaches: list[Breach] = []
    sources = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        shown = path.relative_to(root).as_posix()
        inner = path.relative_to(package)
        room = inner.parts[0] if len(inner.parts) > 1 else inner.stem
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            breaches.append(Breach(shown, error.lineno or 1, "syntax", error.msg))
            continue
        sources.append(Source(path, shown, room, tree, len(text.split("\n"))))
    fronts = {source.room: offered(source.tree) for source in sources if is_front(source, package)}
    for source in sources:
        breaches += check_source(source, package, fronts)
    breaches += check_case_ids(root, package)
    return sorted(breaches)


def is_front(source: Source, package: Path) -> bool:
    """Tell whether a module is what other rooms import: a room's `__init__.py`, or a room that is one module."""
    return source.path.parent == package or (source.path.parent.parent == package and source.path.stem == "__init__")


def offered(tree: ast.Module) -> frozenset[str] | None:
    """Return the names in a literal `__all__`, or None if there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target: ast.expr = node.targets[0]
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        else:
            continue
        value = node.value
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(value, ast.List | ast.Tuple):
            names = [item.value for item in value.elts if isinstance(item, ast.Constant)]
            return frozenset(map(str, names)) if len(names) == len(value.elts) else None
    return None


def check_source(source: Source, package: Path, fronts: dict[str, frozenset[str] | None]) -> Iterator[Breach]:
    """Apply every rule that looks at one module."""
    imports = list(imports_of(source, package))
    found = [
        *check_front(source, package),
        *check_fronts_used(source, imports, fronts),
        *check_libraries(source, imports),
        *check_size(source),
        *check_name(source),
    ]
    if source.room in CORE:
        found += [*check_pure_imports(imports, source.room), *check_pure_calls(source.tree)]
    for line, rule, message in found:
        yield Breach(source.shown, line, rule, message)


Found = tuple[int, str, str]


def imports_of(source: Source, package: Path) -> Iterator[Import]:
    """Yield every import of a module, relative ones resolved."""
    inner = source.path.relative_to(package.parent).with_suffix("").parts
    home = inner if source.path.stem == "__init__" else inner[:-1]
    if source.path.stem == "__init__":
        home = inner[:-1]
    for node, at_top in statements(source.tree, at_top=True):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, (), at_top)
        elif isinstance(node, ast.ImportFrom):
            above = home[: len(home) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield Import(node.lineno, module, tuple(alias.name for alias in node.names), at_top)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def statements(parent: ast.AST, *, at_top: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield every statement, and whether it runs when the module is loaded."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.stmt):
            yield node, at_top
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from statements(node, at_top=at_top and not isinstance(node, FUNCTIONS))


def check_front(source: Source, package: Path) -> Iterator[Found]:
    """Demand of a front: a docstring that says what the room owns, and a literal `__all__`."""
    if not is_front(source, package) or source.path.stem == "__main__":
        return
    if not ast.get_docstring(source.tree):
        yield 1, "front", "the front has no docstring; say what the room owns and what it must never do"
    if offered(source.tree) is None:
        yield 1, "front", "the front has no literal __all__; list what other rooms may use"


def check_fronts_used(
    source: Source, imports: list[Import], fronts: dict[str, frozenset[str] | None]
) -> Iterator[Found]:
    """Demand that other rooms are entered through their fronts: `from oyer.records import Case`."""
    for found in imports:
        parts = found.module.split(".")
        if parts[0] != "oyer":
            continue
        if len(parts) == 1:
            yield from check_root_names(source, found, fronts)
            continue
        room = parts[1]
        if room == source.room:
            continue
        allowed = ONLY_ROOMS.get(source.room)
        if allowed is not None and room not in allowed:
            yield found.line, "room", f"{source.room} may use only {', '.join(sorted(allowed))}, not {room}"
        if len(parts) > 2 or not found.names:
            yield found.line, "front", f"enter through the front: from oyer.{room} import ..., not {found.module}"
            continue
        offers = fronts.get(room)
        for name in found.names:
            if offers is not None and name not in offers:
                yield found.line, "front", f"the front of {room} does not offer {name} in its __all__"


def check_root_names(source: Source, found: Import, fronts: dict[str, frozenset[str] | None]) -> Iterator[Found]:
    """Refuse `from oyer import ROOM`, and `import oyer` in the core: both go around the fronts."""
    offers = fronts.get("__init__") or frozenset()
    if set(found.names) - offers or (not found.names and source.room in CORE):
        yield found.line, "front", "enter through the front: from oyer.ROOM import NAME, not from oyer itself"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "oyer" and node.attr in fronts:
            yield node.lineno, "front", f"enter through the front: from oyer.{node.attr} import NAME"


def check_libraries(source: Source, imports: list[Import]) -> Iterator[Found]:
    """Keep owned libraries in their room, slow ones late, and light rooms light."""
    for found in imports:
        top = found.module.split(".")[0]
        owner = OWNED.get(top)
        if owner is not None and source.room != owner:
            yield found.line, "owner", f"{top} is used only in {owner}/"
        if top in LATE and found.at_top:
            yield found.line, "late", f"{top} is slow to load; import it where it is used"
        waited_for = source.room in LIGHT and source.shown not in ONCE_PER_SERIES
        light = waited_for or source.shown == "src/oyer/__init__.py"
        if light and found.at_top:
            if top not in sys.stdlib_module_names and top != "oyer":
                yield found.line, "light", f"{source.shown} must stay light: no {top}"
            elif top in HEAVY_STDLIB:
                yield found.line, "light", f"{top} is slow to load; {source.room} must start in 50 ms"


def check_pure_imports(imports: list[Import], room: str) -> Iterator[Found]:
    """Keep everything that acts on the world above the I/O line."""
    for found in imports:
        top = found.module.split(".")[0]
        if top == "oyer":
            continue
        if top in sys.stdlib_module_names:
            if top not in PURE_STDLIB:
                yield found.line, "io", f"no {top} on floors 0 to 8 (if it does not act, add it to PURE_STDLIB)"
            elif top in PART_OF:
                below = found.module.split(".")[1:2] or found.names
                for name in sorted(set(below) - PART_OF[top]):
                    yield found.line, "io", part_message(top, name)
        elif room not in CORE_LIBRARIES.get(top, set()):
            yield found.line, "io", f"{room} may not use the library {top} (see CORE_LIBRARIES)"


def part_message(module: str, name: str) -> str:
    """Say that a name lies in the part of a module that acts."""
    return f"no {module}.{name} on floors 0 to 8; of {module} only {', '.join(sorted(PART_OF[module]))}"


def check_pure_calls(tree: ast.Module) -> Iterator[Found]:
    """Refuse the built-ins and methods that reach the disk, the terminal or the clock without an import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in BANNED_CALLS:
            yield node.lineno, "io", f"no {node.id}() on floors 0 to 8"
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            module, _, name = dotted.partition(".")
            if dotted in ("sqlite3.connect", "sqlite3.Connection"):
                if not in_memory(tree, node):
                    yield node.lineno, "io", f'no {dotted}() on floors 0 to 8 but of the constant ":memory:"'
            elif module in PART_OF and name and name.split(".")[0] not in PART_OF[module]:
                yield node.lineno, "io", part_message(module, name)
            elif dotted in BANNED_DOTTED:
                yield node.lineno, "io", f"no {dotted}() on floors 0 to 8"
            elif node.attr in BANNED_METHODS:
                yield node.lineno, "io", f"no .{node.attr}() on floors 0 to 8"


def in_memory(tree: ast.Module, opens: ast.Attribute) -> bool:
    """Whether what opens a database is called here for one in memory, or is the type of a connection and not called."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func is opens]
    if not calls:
        return opens.attr == "Connection"
    return all([ast.unparse(word) for word in call.args] == ["':memory:'"] and not call.keywords for call in calls)


def check_size(source: Source) -> Iterator[Found]:
    """Speak up when a module or function grows past what one reading holds."""
    if source.lines > MAX_MODULE_LINES:
        yield 1, "size", f"{source.lines} lines; a module has at most {MAX_MODULE_LINES}"
    for node in ast.walk(source.tree):
        if isinstance(node, FUNCTIONS):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield (
                    node.lineno,
                    "size",
                    f"{node.name} has {length} lines; a function has at most {MAX_FUNCTION_LINES}",
                )


def check_name(source: Source) -> Iterator[Found]:
    """Refuse names that say nothing about what a module owns."""
    stems = {source.path.stem, source.path.parent.name}
    for stem in sorted(stem for stem in stems if set(stem.strip("_").split("_")) & BANNED_NAMES):
        yield 1, "name", f"{stem} says nothing; name the module for what it owns"


def check_case_ids(root: Path, package: Path) -> Iterator[Breach]:
    """Refuse the id of a packaged case anywhere outside the library: the engine knows no case."""
    ids = case_ids(package / "library")
    if not ids:
        return
    pattern = re.compile(r"(?<![\w-])(" + "|".join(re.escape(name) for name in sorted(ids)) + r")(?![\w-])")
    for path in sorted(package.rglob("*")):
        if not path.is_file() or package / "library" in path.parents or path.suffix == ".pyc":
            continue
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").split("\n"), start=1):
            for match in pattern.finditer(line):
                shown = path.relative_to(root).as_posix()
                yield Breach(shown, number, "case-id", f"names the packaged case {match[1]}; only library/ knows cases")


def case_ids(library: Path) -> set[str]:
    """Return the ids of the Case documents packaged in the library."""
    ids = set()
    for path in sorted([*library.rglob("*.yaml"), *library.rglob("*.yml")]):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^oyer:\s*[\"']?Case@", text, re.MULTILINE):
            ids |= set(re.findall(r"^id:\s*[\"']?([^\s\"'#]+)", text, re.MULTILINE))
    return ids


def main(arguments: list[str]) -> int:
    """Check one tree and print what is wrong."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not (root / "src" / "oyer").is_dir():
        print(f"{root} holds no src/oyer")
        return 2
    breaches = check(root)
    for breach in breaches:
        print(breach)
    print(f"contracts: {len(breaches)} broken" if breaches else "contracts: kept")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
