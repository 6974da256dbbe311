"""The one name that an installation of gpujudge takes: a wheel has this file as ``gpujudge/__init__.py``, and all
packages beside it. They are imported by names of their own (``judge``, ``web``), in gpujudge's processes only."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    home = str(Path(__file__).resolve().parent)
    # A clone is on the path already. The processes that this one starts find the packages as well.
    if home not in sys.path:
        sys.path.insert(0, home)
        others = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{home}{os.pathsep}{others}" if others else home
    from cli.main import main as run

    run()
