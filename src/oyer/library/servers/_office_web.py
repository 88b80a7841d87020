"""The web of an office: pages fetched over real HTTP from a small site, and forms submitted to another service.

Owns the site (a loopback service in this process, over `site/` of the directory, up from the first page that is
fetched) and the one POST of a form. Must never answer from elsewhere than the site, or say that something was
submitted without a 2xx.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

from oyer.library.servers._loop import Answer, TextTool
from oyer.library.servers._place import Place, PlaceError

__all__ = ["web_tools"]

SITE = "site"
TIMEOUT_S = 20

_ENDINGS = ("", ".html", ".txt", ".json", "/index.html")


def web_tools(place: Place, shown: Callable[[str], str], url: str, token: str) -> tuple[TextTool, ...]:
    """Return the tools of one site, read as `shown` says, and of the service at `url`, which may be empty."""
    port: list[int] = []

    def fetch(arguments: Mapping[str, str]) -> Answer:
        if not port:
            port.append(_serve_site(place, shown))
        return _get(port[0], arguments["path"])

    def submit(arguments: Mapping[str, str]) -> Answer:
        return _submit(url, token, _local(arguments["path"]), arguments["body"])

    page = {"path": "Path of a page, for instance /prices"}
    form = {"path": "Path of a form, for instance /orders", "body": "What to send, as JSON"}
    return (
        TextTool("fetch", "Fetch a page of the site.", fetch, page),
        TextTool("submit", "Submit a form.", submit, form),
    )


def _local(path: str) -> str:
    """Return a path in its one form. Raises: PlaceError where it is none."""
    path = path.strip()
    if not path or "://" in path or path.startswith("//") or any(letter <= " " or letter > "~" for letter in path):
        raise PlaceError("a path of the site is needed, for instance /prices")
    return "/" + path.lstrip("/")


def _get(port: int, path: str) -> Answer:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", _local(path))
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return Answer(f"failed: no proper answer about {path}: {error}", is_error=True)
    finally:
        connection.close()
    return Answer(text) if answer.status == 200 else Answer(f"{answer.status}: {text}", is_error=True)


def _serve_site(place: Place, shown: Callable[[str], str]) -> int:
    """Start the site on a free port of the loopback address, and return the port."""
    # Loaded at the first page only: it costs more than all the rest of the start.
    import http.server
    import threading

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = _page(place, self.path.partition("?")[0].partition("#")[0])
            data = ("There is no such page." if text is None else shown(text)).encode()
            self.send_response(404 if text is None else 200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep quiet: the answers say it all."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=partial(server.serve_forever, poll_interval=60), daemon=True).start()
    return server.server_port


def _page(place: Place, path: str) -> str | None:
    parts = [part for part in path.split("/") if part]
    if ".." in parts:
        return None
    inside = "/".join(parts)
    for ending in _ENDINGS:
        name = f"{SITE}/{inside}{ending}".replace("//", "/")
        try:
            return place.read_text(name)
        except PlaceError:
            continue
    return None


def _submit(url: str, token: str, path: str, body: str) -> Answer:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = body
    if not url:
        return Answer(f"failed: nothing was submitted to {path}, no service is set up for it", is_error=True)
    try:
        status = _post(url, token, {"path": path, "body": content})
    except ConnectionRefusedError:
        return Answer(f"failed: nothing was submitted to {path}, the service is unreachable", is_error=True)
    except (OSError, ValueError):
        return Answer(f"failed: no proper answer about {path}; it is not known what happened", is_error=True)
    if 200 <= status < 300:
        return Answer(f"ok: submitted to {path}")
    return Answer(f"failed: the service answered {status} to {path}", is_error=True)


def _post(url: str, token: str, content: Mapping[str, object]) -> int:
    import http.client
    from urllib.parse import urlsplit

    where = urlsplit(url)
    kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
    connection = kind(where.hostname or "", where.port, timeout=TIMEOUT_S)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    target = (where.path or "/") + (f"?{where.query}" if where.query else "")
    try:
        connection.request("POST", target, json.dumps(content).encode(), headers)
        answer = connection.getresponse()
        answer.read()
    except http.client.HTTPException as error:
        raise ValueError(str(error)) from error
    finally:
        connection.close()
    return answer.status
