"""The modules of this room by name, each loaded when it is asked for: most processes need few of them."""

from __future__ import annotations

__all__ = ["load_module"]


def load_module(module: str) -> dict[str, object]:
    """Import one module of this room. Statements, since no other way to import is allowed on these floors."""
    match module:
        case "chat":
            from oyer.protocol import chat

            return vars(chat)
        case "copies":
            from oyer.protocol import copies

            return vars(copies)
        case "correlation":
            from oyer.protocol import correlation

            return vars(correlation)
        case "edits":
            from oyer.protocol import edits

            return vars(edits)
        case "frames":
            from oyer.protocol import frames

            return vars(frames)
        case "jsonvalue":
            from oyer.protocol import jsonvalue

            return vars(jsonvalue)
        case "listing":
            from oyer.protocol import listing

            return vars(listing)
        case "policy":
            from oyer.protocol import policy

            return vars(policy)
        case "schema":
            from oyer.protocol import schema

            return vars(schema)
        case "selector":
            from oyer.protocol import selector

            return vars(selector)
        case "spans":
            from oyer.protocol import spans

            return vars(spans)
        case "splices":
            from oyer.protocol import splices

            return vars(splices)
        case "sse":
            from oyer.protocol import sse

            return vars(sse)
    return _load_model(module)


def _load_model(module: str) -> dict[str, object]:
    match module:
        case "scripted_model":
            from oyer.protocol import scripted_model

            return vars(scripted_model)
        case "asking":
            from oyer.protocol import asking

            return vars(asking)
        case "asking_apis":
            from oyer.protocol import asking_apis

            return vars(asking_apis)
        case "carried":
            from oyer.protocol import carried

            return vars(carried)
        case "model_api":
            from oyer.protocol import model_api

            return vars(model_api)
        case "model_apis":
            from oyer.protocol import model_apis

            return vars(model_apis)
    return _load_mcp(module)


def _load_mcp(module: str) -> dict[str, object]:
    match module:
        case "mcp_client":
            from oyer.protocol import mcp_client

            return vars(mcp_client)
        case "mcp_http":
            from oyer.protocol import mcp_http

            return vars(mcp_http)
        case "mcp_names":
            from oyer.protocol import mcp_names

            return vars(mcp_names)
        case "mcp_server":
            from oyer.protocol import mcp_server

            return vars(mcp_server)
    if module == "http_refusal":
        from oyer.protocol import http_refusal

        return vars(http_refusal)
    raise AssertionError(module)
