"""Measures the cost of checking one opened call of a benchmark, in processor time of the pack's code."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from judge.packs import sizes
from judge.packs.data.inputs import lazy_inputs
from judge.packs.data.lazy_array import real_arrays
from judge.packs.errors import PackError
from judge.packs.isolation.calls import product_threads, runs_pack_code
from judge.packs.judging import expected_of, expected_outputs
from judge.packs.pack import Case, Pack
from judge.verify.findings import Finding, note, warning
from judge.verify.prepared import SEED

#: A judgement on a GPU opens 12 to 30 calls: with more for each, their checks take longer than all else together.
_MOST_S = 2.5


def check_costs(pack: Pack) -> Iterator[Finding]:
    """Yields a note on each benchmark for GPUs with what checking one of its calls costs, a warning if that is much."""
    file = pack.directory / ("reference.py" if pack.reference.defines("spot_check") else "challenge.toml")
    for case in pack.benchmarks_for("cuda"):
        key = f"benchmarks.{case.id}"
        try:
            # Threads of a product that wait for one another take processor time as well.
            with product_threads(1):
                seconds = check_seconds(pack, case)
        except PackError as problem:
            yield warning("check-cost", file, key, f"the check of an opened call fails: {problem}")
            continue
        message = f"the check of an opened call takes {seconds:.1f} s of a processor"
        if seconds > _MOST_S:
            yield warning("check-cost", file, key, f"{message}; let spot_check draw blocks of the outputs to look at")
        else:
            yield note("check-cost", file, key, message)


def check_seconds(pack: Pack, case: Case) -> float:
    """Returns the processor time in which the pack makes what an opened call's outputs are compared with.

    Only what the check reads of the inputs is made, as in a judgement. Raises PackError where the pack's code fails.
    """
    return _check_seconds(pack, case)


@runs_pack_code
def _check_seconds(pack: Pack, case: Case) -> float:
    started = time.process_time()
    inputs = lazy_inputs(pack, case, SEED)
    if pack.reference.spot_check is None:
        expected_outputs(pack, case, real_arrays(inputs))
    else:
        outputs = {output.name: np.zeros(sizes.shape(case, output), output.dtype) for output in pack.outputs}
        parts = pack.reference.spot_check(np.random.default_rng(SEED), inputs, outputs)
        for part in [parts] if isinstance(parts, dict) else parts:
            for output in pack.outputs:
                if output.tolerance is not None:
                    _, values, magnitude = part[output.name]
                    expected_of(pack, case, output, values, magnitude, np.shape(values))
    return time.process_time() - started
