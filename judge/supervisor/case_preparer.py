"""Prepares cases, their inputs and what the reference says of them, while the runner works on earlier ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from judge.packs.data.inputs import make_inputs
from judge.packs.data.storage import stored, values_of
from judge.packs.judging import Checker, expected_outputs, make_checker, reference_outputs
from judge.packs.pack import Case, Pack
from judge.packs.sizes import buffer_bytes
from judge.supervisor.layout import Array
from records import dataclass

#: Cases beyond the next one are prepared ahead as long as their arguments take no more than this together.
_AHEAD_BYTES = 16 << 20
#: What the inputs of public cases are made from, so that they are the same for everybody.
_PUBLIC_SEED = 1


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with its inputs, and what checks the outputs. ``answers`` are the reference's, of a public case."""

    case: Case
    inputs: dict[str, Any]
    check: Checker
    answers: dict[str, Array] | None = None


def prepare_case(pack: Pack, seed: int, case: Case) -> PreparedCase:
    """Returns the case with inputs that are made from ``seed``, unless it is public."""
    return _prepared(pack, case, make_inputs(pack, case, _PUBLIC_SEED if case.is_public else seed))


def scaled_down(pack: Pack, prepared_case: PreparedCase) -> PreparedCase | None:
    """Returns the case with each array of floating-point numbers divided by a power of two, so that none exceeds 1.

    None where none does, and where a number is infinite or none. Raises PackError.
    """
    inputs = dict(prepared_case.inputs)
    for argument in pack.inputs:
        if not (argument.is_pointer and argument.element.facts.is_float):
            continue
        values = np.asarray(inputs[argument.name])
        largest = float(np.abs(values).max(initial=0.0))
        if not math.isfinite(largest):
            return None
        if largest > 1.0:
            smaller = stored(argument.element, values * values.dtype.type(0.5 ** math.frexp(largest)[1]))
            inputs[argument.name] = np.ascontiguousarray(values_of(argument.element, smaller))
    if all(inputs[name] is each for name, each in prepared_case.inputs.items()):
        return None
    return _prepared(pack, prepared_case.case, inputs)


def _prepared(pack: Pack, case: Case, inputs: dict[str, Any]) -> PreparedCase:
    expected = expected_outputs(pack, case, inputs)
    check = make_checker(pack, case, inputs, expected)
    if not case.is_public:
        return PreparedCase(case, inputs, check)
    answers: dict[str, Array] = {name: each.values for name, each in expected.items()}
    if len(answers) < len(pack.outputs):
        # Several answers are right where nothing is compared; the reference's is one of them.
        answers = {**reference_outputs(pack, case, inputs), **answers}
    return PreparedCase(case, inputs, check, answers)


class CasePreparer:
    """Prepares cases in a thread, in order and ahead of ``take``. A context manager.

    The next case is always prepared; further ones as long as their arguments fit into _AHEAD_BYTES together.
    """

    def __init__(self, pack: Pack, seed: int, cases: Sequence[Case]) -> None:
        self._pack = pack
        self._seed = seed
        self._cases = deque(cases)
        self._prepared: deque[tuple[int, Future[PreparedCase]]] = deque()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cases")

    def __enter__(self) -> Self:
        self._prepare_ahead()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self) -> PreparedCase:
        """Returns the next case, once it is prepared."""
        _, future = self._prepared.popleft()
        prepared_case = future.result()
        self._prepare_ahead()
        return prepared_case

    def _prepare_ahead(self) -> None:
        while self._cases:
            size = sum(buffer_bytes(self._cases[0], argument) for argument in self._pack.arguments)
            if self._prepared and sum(each for each, _ in self._prepared) + size > _AHEAD_BYTES:
                return
            future = self._pool.submit(prepare_case, self._pack, self._seed, self._cases.popleft())
            self._prepared.append((size, future))
