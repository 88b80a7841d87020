"""Writes the seeds of the corpus anew from real material: `python tests/fuzz/guided/guided_seeds.py`.

The golden series gives journals, ledger, seals, records and messages; the shipped cases and our own vectors give the
rest. Seeds are named `seed-*`; what fuzzing found is named `found-*` and stays.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "src"), str(ROOT / "tests" / "golden")]

from bundle_kit import members_of, odd_header  # noqa: E402
from golden_build import build_series  # noqa: E402
from golden_memory import files_of  # noqa: E402
from golden_script import CASE_FILE  # noqa: E402
from guided import CORPUS, HARNESSES, corpus_of  # noqa: E402
from guided_bundle import good_bundle  # noqa: E402
from guided_verify import good  # noqa: E402
from model_streams import STREAMS, WHOLE  # noqa: E402

from oyer.evidence import (  # noqa: E402
    ARCHIVE_END,
    Signed,
    StoredFile,
    digest_of,
    encode_blob,
    encode_manifest,
    encode_signed,
    make_bundle_statement,
    make_manifest,
    make_plan_statement,
    member_header,
    member_padding,
    parse_seal,
    unpack,
)

Seeds = dict[str, bytes]
LIMIT_BYTES = 1 << 24
SMALL_BYTES = 4_000
VECTORS = 14


def golden() -> tuple[Seeds, Seeds]:
    """Return the files of a small golden series, and the journals of its manipulated trial."""
    with tempfile.TemporaryDirectory() as place:
        build_series(Path(place) / "series", ("obedient",), ("baseline", "manipulated"))
        files = files_of(Path(place) / "series")
    (packed,) = [path for path in files if path.startswith("trials/") and "manipulated" in path]
    return files, unpack(files[packed], LIMIT_BYTES)


def messages(journals: Seeds) -> list[bytes]:
    """Return what crossed the wire, as far as it is small, in order."""
    found = []
    for line in journals["tap.desk.jsonl"].split(b"\n"):
        body = json.loads(line)["body"] if line else {}
        for part in body.values():
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and text.startswith("{") and len(text) < 600:
                found.append(text.strip("\n").encode())
    return list(dict.fromkeys(found))


def records_seeds(files: Seeds) -> Iterator[tuple[str, str, bytes]]:
    """Yield documents and cases."""
    cases = sorted((ROOT / "src" / "oyer" / "library" / "cases").rglob("*.yaml"))
    yield "records-cases", "golden", CASE_FILE.encode()
    for path in cases:
        yield "records-cases", path.parent.name, path.read_bytes()
    for path in [path for path in files if path.startswith("pins/")]:
        if b'"Case@1"' in files[path]:
            yield "records-cases", "full", files[path]
            yield "records-documents", "case", files[path]
    yield "records-documents", "plan", files["plan.json"]
    yield "records-documents", "short", CASE_FILE.encode()[:900]
    odd = b"%YAML 1.2\n---\na: &x [1, 0x1f, .inf, \"\\u00e9\", 'it''s']\nb: |\n  two\n  lines\nc: >-\n  fold\nd: {e: ~}\n...\n"
    yield "records-documents", "odd", odd
    yield "records-documents", "two", b"a: 1\n---\nb: [x, {y: z}]\n"


def evidence_seeds(files: Seeds, journals: Seeds) -> Iterator[tuple[str, str, bytes]]:
    """Yield journals, ledger, seals, packed bytes, an archive and what is signed."""
    for name, data in journals.items():
        yield (
            "evidence-journal",
            name.removesuffix(".jsonl"),
            b"".join(data.splitlines(keepends=True)[:5])[: SMALL_BYTES * 2],
        )
    yield "evidence-journal", "whole", journals["sink.actions.jsonl"]
    yield "evidence-ledger", "whole", files["ledger.jsonl"]
    yield "evidence-seals", "run", files["seals/001.json"]
    yield "evidence-seals", "judge", files["seals/002.json"]
    yield "evidence-seals", "both", files["seals/001.json"] + b"\n" + files["seals/002.json"]
    small = journals["sink.actions.jsonl"][:1200]
    tar = _tar("sink.actions.jsonl", small) + bytes(8192 - 512 - 1536)
    yield "evidence-packing", "blob", encode_blob(small)
    yield "evidence-packing", "empty", encode_blob(b"")
    yield "evidence-packing", "archive", tar[:4096]
    yield "evidence-packing", "packed", encode_blob(tar)
    members = {f"series/{path}": data for path, data in files.items() if len(data) < 700}
    stored = [StoredFile(path=path, sha256=digest_of(data), size=len(data)) for path, data in members.items()]
    withheld = [file for file in stored if file.path.startswith("series/pins/")]
    manifest = make_manifest([file for file in stored if file not in withheld], withheld)
    head = parse_seal(files["seals/001.json"]).digest
    statement = make_bundle_statement(manifest, "golden-series", head)
    plan = make_plan_statement(files["plan.json"], "2026-01-01T00:00:00Z")
    pieces = [
        member_header(path, len(data)) + data + member_padding(len(data)) for path, data in sorted(members.items())[:3]
    ]
    yield "evidence-archive", "three", b"".join(pieces) + ARCHIVE_END
    yield "evidence-archive", "empty", ARCHIVE_END
    yield "evidence-signed", "manifest", encode_manifest(manifest)
    yield "evidence-signed", "statement", statement
    yield "evidence-signed", "plan", plan
    yield "evidence-signed", "envelope", encode_signed(Signed(statement, "0" * 64, bytes(64)))
    yield "evidence-signed", "plan-envelope", encode_signed(Signed(plan, "0" * 64, bytes(64)))


def _tar(name: str, data: bytes) -> bytes:
    import tarfile

    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    return member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict") + data + bytes(-len(data) % 512)


EDITS: list[dict[str, Any]] = [
    {"kind": "replace_text", "find": "waiting", "with": "approved"},
    {"kind": "replace_json", "patch": [{"op": "replace", "path": "/status", "value": "approved"}]},
    {"kind": "replace_json", "patch": [{"op": "test", "path": "/n", "value": 1}, {"op": "move", "from": "/n", "path": "/m/-"}]},
    {"kind": "replace_result", "result": {"content": [{"type": "text", "text": "other"}]}},
    {"kind": "append_text", "text": "And one thing more."},
    {"kind": "error", "code": -32000, "message": "no", "data": {"a": 1}},
    {"kind": "error", "tool": "it failed"},
    {"kind": "tool_description", "tool": "t", "text": "Another."},
    {"kind": "tool_schema", "tool": "t", "schema": {"type": "object", "required": ["a"]}},
    {"kind": "shadow_tool", "definition": {"name": "u", "inputSchema": {"type": "object"}}},
    {"kind": "drop"},
]  # fmt: skip
ANSWER = {
    "jsonrpc": "2.0",
    "id": 7,
    "result": {
        "content": [
            {"type": "text", "text": '{"status": "waiting", "n": 1, "m": []}'},
            {"type": "text", "text": "waiting"},
        ],
        "structuredContent": {"status": "waiting", "n": 1.0, "m": []},
        "isError": False,
    },
}
LISTING = {
    "jsonrpc": "2.0",
    "id": 2,
    "result": {
        "tools": [{"name": "t", "description": "A tool.", "inputSchema": {"type": "object"}}],
        "nextCursor": "x",
    },
}


def protocol_seeds(journals: Seeds) -> Iterator[tuple[str, str, bytes]]:
    """Yield real frames, and edits of answers."""
    crossed = messages(journals)
    for place, at in enumerate(range(0, min(len(crossed), 12), 4)):
        yield "protocol-frames", f"wire-{place}", b"\n".join(crossed[at : at + 4]) + b"\n"
        yield "protocol-ends", f"wire-{place}", b"\n".join(crossed[at : at + 4]) + b"\n"
        yield "protocol-spans", f"wire-{place}", crossed[at]
    batch = b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},3]'
    yield "protocol-frames", "batch", batch
    yield "protocol-spans", "odd", b' {"a\\ud83d\\ude00":[1.50e+2,-0,{"":""}],"b":"\\ud800 \\/ \xc3\xa9"} \r'
    answers = [
        json.dumps(
            LISTING if ("tool" in edit and "text" in edit) or "schema" in edit or "definition" in edit else ANSWER
        )
        for edit in EDITS
    ]
    for place, (edit, answer) in enumerate(zip(EDITS, answers, strict=True)):
        yield (
            "protocol-edits",
            f"{place:02}-{edit['kind']}",
            json.dumps(edit).encode() + b"\n" + answer.encode() + b"\n",
        )
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    said = [{"jsonrpc": "2.0", "id": 1, "result": start}, LISTING, dict(ANSWER, id=3)]
    yield "protocol-ends", "answers", b"".join(json.dumps(item).encode() + b"\n" for item in said)
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}},
        },
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "t", "arguments": {"a": 1}}},
    ]
    yield "protocol-ends", "requests", b"".join(json.dumps(item).encode() + b"\n" for item in asked)


def chat_seeds() -> Iterator[tuple[str, str, bytes]]:
    """Yield requests, answers and streams of a model, and lines of a subject."""
    call = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}
    spoken = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    choice = {"index": 0, "message": spoken, "finish_reason": "tool_calls"}
    request = {"model": "m", "messages": [{"role": "user", "content": "hello"}, spoken, {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}]}], "tools": [{"type": "function", "function": {"name": "t", "parameters": {}}}], "stream": True}  # fmt: skip
    yield "protocol-chat", "request", json.dumps(request).encode()
    yield (
        "protocol-chat",
        "response",
        json.dumps({"id": "r", "model": "m", "choices": [choice], "usage": usage}).encode(),
    )
    yield "protocol-chat", "error", b'{"error":{"message":"busy","type":"overloaded","code":429}}'
    deltas = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "he"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [dict(call, index=0)]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ""}}]}, "finish_reason": "tool_calls"}], "usage": usage},
    ]  # fmt: skip
    stream = b"".join(b"data: " + json.dumps(delta).encode() + b"\n\n" for delta in deltas)
    yield "protocol-chat", "stream", b": hello\r\n\r\n" + stream + b"data: [DONE]\n\n"
    for name, whole in STREAMS.items():
        yield "protocol-chat", f"stream-{name}", whole
        yield "protocol-chat", f"whole-{name}", json.dumps(WHOLE[name]).encode()
    said = {"text": "done", "ended_by": "subject", "calls": 2, "model_calls": 1}
    stopped = said | {"ended_by": "stop", "stopped_by": "tool_calls"}
    notes = [{"said": said}, {"said": stopped}, {"note": {"text": "n"}}, {"note": {"fault": "model", "text": ""}}]
    yield "subject-lines", "all", b"".join(json.dumps(note).encode() + b"\n" for note in notes)


def verify_seeds() -> Iterator[tuple[str, str, bytes]]:
    """Yield changes of a series: none, a flipped byte in places, and mended ones."""
    yield "verify-series", "none", b""
    for file in range(0, 18, 6):
        yield "verify-series", f"one-{file:02}", bytes([0, file, 1, 40, 1, 1]) + b"x"
    files = good()
    for file, path in enumerate(sorted(files)):
        for at, line in enumerate(files[path].split(b"\n")):
            if 200 < len(line) < 1100 and (at % 5 == 3 or path.endswith(".json")) and "/" in path:
                yield "verify-series", f"line-{file:02}-{at:02}", b"@%d %d\n" % (file, at) + line + b"\n"
    for file in range(11, 15):
        yield "verify-series", f"mended-{file:02}", bytes([1, file, 4, 200, 2, 2]) + b"99"


def bundle_seeds() -> Iterator[tuple[str, str, bytes]]:
    """Yield changes of a bundle: none, one in each header field, and of each member, mended and not, put in as it is."""
    yield "verify-bundle", "none", b""
    for word, at in (
        ("name", 0),
        ("mode", 100),
        ("size", 124),
        ("time", 136),
        ("sum", 148),
        ("kind", 156),
        ("link", 157),
    ):
        yield "verify-bundle", f"header-{word}", bytes([0, 0, 0, at, 1, 1]) + b"7"
    members = sorted(members_of(good_bundle()))
    for number, path in enumerate(members):
        word = path.removeprefix("series/").partition("/")[0].removesuffix(".json").removesuffix(".jsonl")
        for mode in (1, 2):
            yield "verify-bundle", f"{word}-{number:02}-{mode}", bytes([mode, number, 0, 30, 1, 1]) + b"x"
    for word, name, kind in (("link", members[1], b"2"), ("up", "../x", b"0"), ("twice", members[0], b"0")):
        yield "verify-bundle", f"odd-{word}", bytes([3, 1, 0, 0, 0, 255]) + odd_header(name, 0, kind)[:255]
    yield "verify-bundle", "cut", bytes([0, 0, 0, 90, 255, 0])


def conform_seeds() -> Iterator[tuple[str, str, bytes]]:
    """Yield whole vectors of our own, the smallest first, and a pair of which one is like the other."""
    import yaml

    values = yaml.safe_load((ROOT / "tests" / "conform" / "own-vectors.yaml").read_bytes())
    whole = {value["id"]: value for value in values if "like" not in value["given"]}
    likes = [value for value in values if value["given"].get("like") in whole]
    for value in sorted(whole.values(), key=lambda value: len(json.dumps(value)))[:VECTORS]:
        yield "conform-vectors", value["id"], json.dumps([value]).encode()
    for value in sorted(likes, key=lambda value: len(json.dumps(value)))[:2]:
        pair = [whole[value["given"]["like"]], value]
        yield "conform-vectors", "like-" + value["id"], json.dumps(pair).encode()


def main() -> None:
    """Remove the old seeds, write the new ones, say how much there is."""
    files, journals = golden()
    made = [
        *records_seeds(files),
        *evidence_seeds(files, journals),
        *protocol_seeds(journals),
        *chat_seeds(),
        *verify_seeds(),
        *bundle_seeds(),
        *conform_seeds(),
    ]
    for name in HARNESSES:
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        for old in corpus_of(name):
            if old.name.startswith("seed-"):
                old.unlink()
    for name, word, data in made:
        (CORPUS / name / f"seed-{word}").write_bytes(data)
    for name in HARNESSES:
        sizes = [path.stat().st_size for path in corpus_of(name)]
        sys.stdout.write(f"{name:20} {len(sizes):3} files {sum(sizes):7} bytes\n")


if __name__ == "__main__":
    main()
