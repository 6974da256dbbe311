"""Checks that the oracle, which checks timed calls on a GPU, says of right and of wrong outputs what NumPy says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from judge.bench.oracle.questions import Question
from judge.packs import sizes
from judge.packs.data.inputs import host_inputs, input_recipes, make_inputs, scalar_values
from judge.packs.data.storage import stored, stored_type
from judge.packs.isolation.shared_array import shared_empty
from judge.packs.judging import expected_outputs
from judge.packs.pack import Case, Pack
from judge.verify.findings import Finding, error, note, warning
from judge.verify.prepared import SEED
from judge.wire.elements import Element

#: Larger functional cases are left out, and benchmarks whose arguments take more: NumPy would need minutes.
_CASE_BYTES, _BENCHMARK_BYTES = 32 << 20, 2 << 30
#: Cases whose outputs are asked about with a change, too.
_CHANGED = 3


class OpenOracle(Protocol):
    """The part of ``judge.bench.oracle.oracle.Oracle`` that a verification uses."""

    #: Why it answers nothing; empty while it does.
    problem: str

    def settle(self, within_s: float) -> None:
        """Returns once it is up, or was ended."""

    def agrees(self, question: Question) -> bool:
        """Returns whether all outputs are right."""


def check_oracle(pack: Pack, oracle: OpenOracle) -> Iterator[Finding]:
    """Yields the cases of which the oracle does not say what NumPy says: the functional ones and a benchmark.

    A note tells of a pack that it cannot check, whose timed calls NumPy checks. The benchmarks of a pack with a spot
    check, of which NumPy cannot compute all, are left out.
    """
    file = pack.reference.path
    oracle.settle(within_s=60.0)
    cases = [case for case in pack.cases_for("cuda") if sizes.case_bytes(pack, case) < _CASE_BYTES]
    functional = [case for case in cases if case.group != "benchmark"]
    for number, case in enumerate([*functional, *_benchmarks(pack)]):
        if oracle.problem:
            break
        if not ask(oracle, pack, case, change=False) and not oracle.problem:
            message = f"CuPy refuses what NumPy computes for the case {case.id}: NumPy checks such calls again"
            yield warning("oracle-refuses", file, "reference", message)
        if number < _CHANGED and not oracle.problem and ask(oracle, pack, case, change=True):
            message = f"with CuPy it accepts an output of the case {case.id} with other bits in its last element"
            yield error("oracle-accepts", file, "reference", message)
    if oracle.problem:
        yield note("oracle", file, "reference", f"NumPy checks timed calls, not a GPU: {oracle.problem}")


def ask(oracle: OpenOracle, pack: Pack, case: Case, *, change: bool) -> bool:
    """Returns whether the oracle takes NumPy's outputs of a case for right; with a ``change``, of its last elements."""
    inputs = make_inputs(pack, case, SEED)
    outputs = {}
    for output, expected in zip(pack.outputs, expected_outputs(pack, case, inputs).values(), strict=True):
        room = shared_empty(sizes.shape(case, output), stored_type(output.element))
        room[...] = stored(output.element, expected.values.reshape(room.shape))
        if change and room.size:
            # Half of its bits: far from every number that it could be.
            last = room.reshape(-1)[-1:].view(np.uint8)
            last[:] = last == 0 if output.element is Element.BOOL else last ^ 0x55
        outputs[output.name] = room
    given = scalar_values(pack, case) | host_inputs(pack, case, SEED)
    return oracle.agrees(Question(case, input_recipes(pack, case, SEED), given, outputs))


def _benchmarks(pack: Pack) -> list[Case]:
    """Returns the smallest benchmark of which NumPy computes every output."""
    if pack.reference.defines("spot_check"):
        return []
    sized = sorted((sizes.case_bytes(pack, case), case.id, case) for case in pack.benchmarks_for("cuda"))
    return [case for size, _, case in sized if size <= _BENCHMARK_BYTES][:1]
