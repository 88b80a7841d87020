"""`python -m oyer`: the command line without its script."""

from __future__ import annotations

import sys

from oyer.cli import main

sys.exit(main())
