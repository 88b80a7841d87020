"""Programs that run in a process of their own: the relay, the sink process, and the subjects Oyer ships.

Owns scripts, started by path or with `-m`; nothing imports them but their tests. They may use errors, evidence
and protocol only, and start in milliseconds where a trial waits for them. Must never know a case or an arm.
"""

from __future__ import annotations

__all__: list[str] = []
