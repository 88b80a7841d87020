"""The kit of the report tests, importable by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).with_name("report_kit.py")
if "report_kit" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("report_kit", _PATH)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["report_kit"] = _module
    _spec.loader.exec_module(_module)
