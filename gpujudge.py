"""The one name that an installation of gpujudge takes.

A wheel has this file as ``gpujudge/__init__.py``, and all packages beside it. They are imported by names of their own
(``judge``, ``web``), in gpujudge's processes only.

For programs there are ``Judge``, ``Kernel``, ``Result``, ``Case`` and ``JudgeError``: see ``judge/batch/client.py``;
for pytest there is ``pytest_plugin``: see ``emulator/standalone/pytest_plugin.py``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.batch.client import Case as Case
    from judge.batch.client import Judge as Judge
    from judge.batch.client import JudgeError as JudgeError
    from judge.batch.client import Kernel as Kernel
    from judge.batch.client import Result as Result

_OFFERED = ("Case", "Judge", "JudgeError", "Kernel", "Result")


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


def __getattr__(name: str) -> Any:
    """Imports what programs use, by its file: a program's own package named ``judge`` stays its own."""
    if name == "pytest_plugin":
        return _load("emulator/standalone/pytest_plugin.py")
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _load("judge/batch/client.py")
    for each in _OFFERED:
        globals()[each] = getattr(module, each)
    return globals()[name]


def _load(path: str) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    file = Path(__file__).resolve().parent / path
    spec = spec_from_file_location(f"gpujudge_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look for their module there.
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def __dir__() -> list[str]:
    return [*globals(), *_OFFERED]


if __name__ == "__main__":
    main()
