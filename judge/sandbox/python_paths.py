"""Where a Python inside a jail finds its modules."""

from __future__ import annotations

import sys
from pathlib import Path

import judge

#: No site (-S), no working directory (-P), no user packages: only what PYTHONPATH names.
PYTHON_OPTIONS = ("-P", "-S", "-s", "-B")


def module_paths(data_dir: Path) -> list[Path]:
    """Returns where this process finds modules, the folder of ``judge`` first; no working directory.

    An entry above that folder or the data folder (``PYTHONPATH=/srv``) is left out: a jail that showed it would show
    the trusted code, and no bind below it could be made. One that the jail shows anyway stays: the packages of an
    installed gpujudge are one of those there.
    """
    home = Path(judge.__file__).resolve().parent.parent
    paths = [home]
    for entry in sys.path:
        path = Path(entry)
        if not entry or not path.is_absolute() or not path.exists():
            continue
        found = path.resolve()
        above = home.is_relative_to(found) and not is_shown_anyway(found)
        if found not in paths and not above and not data_dir.resolve().is_relative_to(found):
            paths.append(found)
    return paths


def is_shown_anyway(path: Path) -> bool:
    """Returns whether the jail shows the path without a bind; of ``judge`` it shows only what the runner needs."""
    home = Path(judge.__file__).resolve().parent.parent
    roots = (Path("/usr"), Path(sys.prefix), Path(sys.base_prefix))
    return path == home or any(path.is_relative_to(root) for root in roots)
