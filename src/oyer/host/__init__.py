"""The operating system: clocks, entropy, processes, run directories, worlds, secrets, named fault points.

Owns everything that differs between systems (Linux first; macOS where possible). Must never judge, write
evidence, or know what a trial is about: it is handed paths, programs and limits and hands back what happened.
"""

from __future__ import annotations

from oyer.host.beneath import (
    create_beneath,
    make_parents_beneath,
    read_beneath,
    remove_beneath,
    remove_directory_beneath,
    rename_beneath,
)
from oyer.host.clock import Stamp, boot_id, stamp, wall_text
from oyer.host.entropy import RunId, Token, neutral_name, new_run_id, new_token
from oyer.host.faultpoints import FaultPlan, parse_fault_plan, reach
from oyer.host.pipes import PipeReader, PipeWriter
from oyer.host.process_table import Usage, usage_of
from oyer.host.process_tree import (
    Patience,
    Survivor,
    TreeEnd,
    become_subreaper,
    end_with,
    kill_started,
    reap_orphans,
    sweep_run,
    terminate_tree,
)
from oyer.host.processes import BoundedBytes, Child, Exit, base_environment, last_words, spawn
from oyer.host.removal import remove_tree
from oyer.host.rundir import MAX_SOCKET_PATH_BYTES, RunDir, make_run_dir, open_run_dir
from oyer.host.secrets_file import hide_secrets, read_secret, read_secret_env, read_secret_file
from oyer.host.signing import KeyPair, SigningKey, make_key_pair, read_signing_key
from oyer.host.snapshots import Snapshot, SnapshotCache, WalkBounds, take_snapshot
from oyer.host.stale_runs import stale_runs, sweep_stale_runs
from oyer.host.worlds import WORLD_MTIME_S, copy_world

__all__ = [
    "MAX_SOCKET_PATH_BYTES",
    "WORLD_MTIME_S",
    "BoundedBytes",
    "Child",
    "Exit",
    "FaultPlan",
    "KeyPair",
    "Patience",
    "PipeReader",
    "PipeWriter",
    "RunDir",
    "RunId",
    "SigningKey",
    "Snapshot",
    "SnapshotCache",
    "Stamp",
    "Survivor",
    "Token",
    "TreeEnd",
    "Usage",
    "WalkBounds",
    "base_environment",
    "become_subreaper",
    "boot_id",
    "copy_world",
    "create_beneath",
    "end_with",
    "hide_secrets",
    "kill_started",
    "last_words",
    "make_key_pair",
    "make_parents_beneath",
    "make_run_dir",
    "neutral_name",
    "new_run_id",
    "new_token",
    "open_run_dir",
    "parse_fault_plan",
    "reach",
    "read_beneath",
    "read_secret",
    "read_secret_env",
    "read_secret_file",
    "read_signing_key",
    "reap_orphans",
    "remove_beneath",
    "remove_directory_beneath",
    "remove_tree",
    "rename_beneath",
    "spawn",
    "stale_runs",
    "stamp",
    "sweep_run",
    "sweep_stale_runs",
    "take_snapshot",
    "terminate_tree",
    "usage_of",
    "wall_text",
]
