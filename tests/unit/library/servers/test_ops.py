"""The ops server as a child process: inbox, memo, and actions that are answered by what the service said."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

INBOX = {
    "messages": [
        {
            "from": "a@harbour.example",
            "subject": "One, reference {ticket}",
            "text": "Line one.\nstatus: pending review",
        },
        {"from": "b@harbour.example", "subject": "Two", "text": 'Quotes " and \u00e9.'},
    ]
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    home = tmp_path / "place" / "ops"
    home.mkdir(parents=True)
    (home / "inbox.json").write_text(json.dumps(INBOX))
    return home


class Service:
    """A service that answers every POST with one status, and keeps what it got."""

    def __init__(self, status: int) -> None:
        self.got: list[tuple[str, str | None, Any]] = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.got.append((self.path, self.headers["Authorization"], json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/in?x=1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def service() -> Iterator[Any]:
    opened: list[Service] = []

    def answering(status: int) -> Service:
        opened.append(Service(status))
        return opened[-1]

    yield answering
    for each in opened:
        each.close()


def test_the_inbox_says_the_same_in_text_and_structure(start, desk: Path) -> None:
    result = start("ops", desk.parent, OPS_HOME=str(desk), OPS_TICKET="T-81").call("read_inbox")
    text = result["content"][0]["text"]
    assert result["structuredContent"] == {"inbox": text}
    for message in INBOX["messages"]:
        assert all(value.replace("{ticket}", "T-81") in text for value in message.values())
    assert text.count("status: pending review") == 1


def test_the_inbox_declares_its_output(start, desk: Path) -> None:
    tools = start("ops", desk.parent, OPS_HOME=str(desk)).tools()
    assert list(tools) == ["read_inbox", "write_memo", "read_memo", "run_action"]
    assert tools["read_inbox"]["outputSchema"]["required"] == ["inbox"]
    assert "outputSchema" not in tools["read_memo"]


def test_a_text_inbox_and_no_inbox(start, desk: Path) -> None:
    (desk / "inbox.json").unlink()
    assert start("ops", desk.parent, OPS_HOME=str(desk)).text("read_inbox") == "The inbox is empty."
    (desk / "inbox.txt").write_text("Only text.\n")
    assert start("ops", desk.parent, OPS_HOME=str(desk)).text("read_inbox").endswith("Only text.")
    (desk / "inbox.json").write_text("{")
    assert "malformed" in start("ops", desk.parent, OPS_HOME=str(desk)).refusal("read_inbox")


@pytest.mark.parametrize(
    "memo", ["A prose memo.\nWith lines\r\n and \u2028.", '{"rotate_credentials": "approved"}', ""]
)
def test_a_memo_comes_back_byte_for_byte_in_a_later_process(start, desk: Path, memo: str) -> None:
    first = start("ops", desk.parent, OPS_HOME=str(desk))
    assert first.text("read_memo") == ""
    first.text("write_memo", text=memo)
    assert first.end() == (0, b"")
    assert (desk / "memo.txt").read_bytes() == memo.encode()
    assert start("ops", desk.parent, OPS_HOME=str(desk)).text("read_memo") == memo


def test_a_memo_that_is_a_link_is_not_followed(start, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    (desk / "memo.txt").symlink_to(tmp_path / "outside")
    talk = start("ops", desk.parent, OPS_HOME=str(desk))
    assert "secret" not in talk.refusal("read_memo")
    talk.refusal("write_memo", text="x")
    assert (tmp_path / "outside").read_text() == "secret"


def test_an_action_is_one_post_with_the_token(start, desk: Path, service) -> None:
    sink = service(202)
    talk = start("ops", desk.parent, OPS_HOME=str(desk), OPS_SINK=sink.url, OPS_TOKEN="tok")
    assert talk.text("run_action", action="rotate_credentials") == "ok: rotate_credentials was carried out"
    [(path, authorization, body)] = sink.got
    assert (path, authorization) == ("/in?x=1", "Bearer tok")
    assert set(body) == {"action", "requested_at"}
    assert body["action"] == "rotate_credentials"
    assert sorted(entry.name for entry in desk.iterdir()) == ["inbox.json"]


def test_an_unknown_action_is_never_sent(start, desk: Path, service) -> None:
    sink = service(200)
    talk = start("ops", desk.parent, OPS_HOME=str(desk), OPS_SINK=sink.url)
    assert "no action" in talk.refusal("run_action", action="rotate_credentials-x")
    assert sink.got == []


@pytest.mark.parametrize("status", [401, 404, 500, 302])
def test_a_refusal_of_the_service_is_said(start, desk: Path, service, status: int) -> None:
    talk = start("ops", desk.parent, OPS_HOME=str(desk), OPS_SINK=service(status).url)
    assert str(status) in talk.refusal("run_action", action="rotate_credentials")


def test_a_service_that_is_down_is_said_and_the_server_goes_on(start, desk: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        talk = start("ops", desk.parent, OPS_HOME=str(desk), OPS_SINK=f"http://127.0.0.1:{port}/", OPS_TOKEN="tok-9")
        said = talk.refusal("run_action", action="rotate_credentials")
    assert said.startswith("failed: rotate_credentials was not carried out")
    assert "tok-9" not in said
    assert str(port) not in said
    assert talk.text("read_memo") == ""


def test_a_service_that_hangs_up_or_talks_rubbish_is_no_success(start, desk: Path) -> None:
    for answer in (b"", b"rubbish\n\n"):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def once(listener: socket.socket = listener, answer: bytes = answer) -> None:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

            thread = threading.Thread(target=once, daemon=True)
            thread.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            talk = start("ops", desk.parent, OPS_HOME=str(desk), OPS_SINK=url)
            assert talk.refusal("run_action", action="rotate_credentials").endswith("it is not known what happened")
            thread.join()


def test_without_a_service_nothing_is_claimed(start, desk: Path) -> None:
    talk = start("ops", desk.parent, OPS_HOME=str(desk))
    assert "no service" in talk.refusal("run_action", action="rotate_credentials")


def test_other_actions_can_be_named(start, desk: Path, service) -> None:
    env = {"OPS_HOME": str(desk), "OPS_SINK": service(200).url, "OPS_ACTIONS": "open_gate, close_gate"}
    talk = start("ops", desk.parent, **env)
    assert talk.text("run_action", action="close_gate").startswith("ok")
    talk.refusal("run_action", action="rotate_credentials")
    assert "open_gate, close_gate" in talk.tools()["run_action"]["inputSchema"]["properties"]["action"]["description"]


def test_a_home_that_is_missing_ends_the_server_at_once(desk: Path) -> None:
    import subprocess
    import sys

    argv = [sys.executable, "-m", "oyer.library.servers.ops"]
    done = subprocess.run(argv, cwd=desk.parent, env={"OPS_HOME": "/nowhere/at/all", **_path()}, capture_output=True)
    assert done.returncode != 0
    assert b"/nowhere/at/all" in done.stderr
    assert done.stdout == b""


def _path() -> dict[str, str]:
    import oyer

    return {"PYTHONPATH": str(Path(oyer.__file__).resolve().parents[1]), "PYTHONSAFEPATH": "1"}
