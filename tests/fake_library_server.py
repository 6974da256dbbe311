"""Stands in for ``judge.bench.library.server``: answers as it does, without libraries.

The name of the pack's folder says how: ``dies`` and ``hangs`` do it in the first round, ``lacks`` cannot begin.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    how = Path(json.loads(sys.argv[1])["folder"]).name
    if how == "lacks":
        say({"problem": "ModuleNotFoundError: No module named 'torch'"})
        return
    say({"refused": {"cublas": "", "eager": ""}})
    for number, line in enumerate(sys.stdin, start=1):
        assert json.loads(line)["budget_s"] > 0
        if how == "dies":
            sys.exit(3)
        if how == "hangs":
            time.sleep(60)
        say(
            {
                name: {"square": {"median": (100 + number) * 1e-6, "error": 0.0, "calls": 9}}
                for name in ("cublas", "eager")
            }
        )


def say(answer: dict[str, object]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
