"""``python -m judge.bench.library.server REQUEST``: the process that calls libraries. It ends with its input.

REQUEST is JSON: the pack's folder, the GPU's ordinal, the path of the judge's kernels, and a seed. It checks all
baselines and says in a line of JSON which are refused and why. Each further line of its input, ``{"budget_s": 2}``, has
it time a round. It runs trusted code only, outside of the jail.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any


def main(argv: list[str]) -> None:
    """Answers the request ``argv[0]``, then each line of standard input, with lines of JSON.

    An error is an answer with ``problem``, after which it ends.
    """
    # What libraries print must not be taken for answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    request = json.loads(argv[0])
    try:
        rounds = _open(request, answer)
    except Exception as error:  # the other side says it to people
        answer({"problem": f"{type(error).__name__}: {error}"})
        return
    for line in sys.stdin:
        try:
            found = rounds.next(float(json.loads(line)["budget_s"]))
        except Exception as error:
            answer({"problem": f"{type(error).__name__}: {error}"})
            return
        answer(
            {name: {case: dataclasses.asdict(each) for case, each in cases.items()} for name, cases in found.items()}
        )


def _open(request: dict[str, Any], answer: Any) -> Any:
    import torch

    from judge.bench.library import settings
    from judge.bench.library.rounds import Rounds, why_refused
    from judge.bench.library.timer import Timer
    from judge.packs.baselines import load_functions
    from judge.packs.collection.loader import load_pack

    pack = load_pack(Path(request["folder"]))
    torch.cuda.set_device(int(request["ordinal"]))
    torch.zeros(1, device="cuda")
    if any(baseline.module == "cupy" for baseline in pack.baselines.calls):
        try:
            import cupy

            cupy.cuda.Device(int(request["ordinal"])).use()
        except ImportError:
            pass  # its baselines say so
    settings.settle()
    functions = load_functions(pack.directory, pack.baselines)
    seed = int(request["seed"])
    refused = {each.name: why_refused(pack, each, functions[each.name], seed) for each in pack.baselines.calls}
    timer = Timer(Path(request["kernels"]))
    right = {name: function for name, function in functions.items() if not refused[name]}
    answer({"refused": refused})
    return Rounds(pack, right, timer, seed)


if __name__ == "__main__":
    main(sys.argv[1:])
