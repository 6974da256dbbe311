"""Arguments of every kind in timed calls, through the real jail, on the device of host memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge.bench.conditions import GpuConditions
from judge.bench.statistics import StoppingRule
from judge.bench.timing.call_maker import CallMaker, NullCallMaker
from judge.bench.timing.case_timer import CaseTimer, ProcessTiming
from judge.bench.timing.sampling import SecretStream
from judge.bench.timing.schedule import InputKey, PlannedCall
from judge.bench.timing.verification import Verifier
from judge.packs.isolation.shared_array import SharedRooms
from judge.packs.pack import Pack
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.layout import Array
from judge.verdict import Verdict
from tests.host_device.judging import HONEST, build, host_factory, pack_like_twice

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

_SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
_SMALL = ("axes = { N = 500000 }", "axes = { N = 3000 }")

IN_PLACE = pack_like_twice(
    _SMALL,
    (
        "[arrays.output]",
        '[arrays.output]\nrole = "inout"\ndata = { kind = "integers", low = -9, high = 9 }',
    ),
    ("low = -1.0, high = 1.0", "low = 0.5, high = 0.5"),
    reference="def reference(input, output, N):\n    return output + 0.5\n",
)
POISONED = pack_like_twice(_SMALL, ("[arrays.output]", '[arrays.output]\ninitial = "poison"'))
SORTED = pack_like_twice(
    ('data = { kind = "uniform", low = -1.0, high = 1.0 }', ""),
    reference="""
import numpy as np


def make_inputs(rng, N):
    return {"input": np.sort(rng.standard_normal(N, np.float32))}


def reference(input, N):
    return np.float64(2.0) * input
""",
)


def _time(pack: Pack, source: str) -> ProcessTiming:
    session = host_factory(_SETTINGS, pack.benchmarks, pack=pack).start()
    try:
        maker = CallMaker(pack, pack.benchmarks[0], seed=5, memory_bytes=256 << 20)
        session.reserve(maker.reservation())
        session.load(build(source))
        verifier = Verifier(maker)
        rule = StoppingRule(budget_s=0.05)
        timing = CaseTimer(session, maker, SecretStream(b"s"), 1, verifier, GpuConditions(), rule).run()
        timing.outcome = (verifier.finish_checks() if timing.samples else None) or timing.outcome
        return timing
    finally:
        session.finish()


def _solve(body: str) -> str:
    return f'extern "C" void solve(const float* in, float* out, int n) {{ for (int i = 0; i < n; i++) {body} }}'


def test_inout_arguments_are_made_anew_for_each_call() -> None:
    assert _time(IN_PLACE, _solve("out[i] += in[i];")).outcome.verdict is Verdict.ACCEPTED
    assert _time(IN_PLACE, _solve("out[i] = in[i];")).outcome.verdict is Verdict.WRONG_ANSWER


def test_outputs_are_poisoned_if_the_pack_says_so() -> None:
    assert _time(POISONED, HONEST).outcome.verdict is Verdict.ACCEPTED
    wrong = _time(POISONED, _solve("if (i) out[i] = 2 * in[i];")).outcome
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert "nan" in wrong.message


def test_host_made_inputs_are_staged_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.bench.statistics.FEWEST_S", 1e6)
    timing = _time(SORTED, HONEST)
    assert timing.outcome.verdict is Verdict.ACCEPTED, timing.outcome
    assert len(timing.samples) >= 50 or timing.stopped_by == "out of time"
    assert _time(SORTED, _solve("out[i] = 2 * in[n - 1 - i];")).outcome.verdict is Verdict.WRONG_ANSWER


def test_where_inputs_take_the_host_long_a_few_calls_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.bench.statistics.FEWEST_S", 1e6)
    monkeypatch.setattr("judge.bench.timing.case_timer._FEWEST_WITH_INPUTS_S", 0.02)
    assert 1 <= len(_time(SORTED, HONEST).samples) < 50


def test_the_null_kernels_inputs_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[PlannedCall] = []
    make = CallMaker._host_inputs

    def counted(maker: CallMaker, call: PlannedCall) -> dict[str, Array]:
        made.append(call)
        return make(maker, call)

    monkeypatch.setattr(CallMaker, "_host_inputs", counted)
    case = SORTED.benchmarks[0]
    calls = [PlannedCall(case, InputKey(number), (0, 0, 0)) for number in range(3)]
    session = host_factory(_SETTINGS, SORTED.benchmarks, pack=SORTED).start()
    try:
        maker = NullCallMaker.like(CallMaker(SORTED, case, seed=5, memory_bytes=256 << 20))
        session.reserve(maker.reservation())
        # It reads them, unlike a null kernel, to show that they are there.
        session.load(build(HONEST))
        for count in (1, 3, 2):
            session.time(maker.request(session, calls[:count]))
            for index in range(count):
                session.open_call(index)
                found = maker.outputs(session, calls[index], index, SharedRooms())["output"]
                assert np.array_equal(found, 2 * make(maker, made[0])["input"].astype(np.float32))
        assert len(made) == 1
    finally:
        session.finish()


@pytest.mark.parametrize(("axes", "copies"), [(16_384, True), (16_385, False)])
def test_small_outputs_are_copied_and_large_ones_committed(axes: int, copies: bool) -> None:
    pack = pack_like_twice(("axes = { N = 500000 }", f"axes = {{ N = {axes} }}"))
    assert CallMaker(pack, pack.benchmarks[0], seed=5).copies_outputs is copies
