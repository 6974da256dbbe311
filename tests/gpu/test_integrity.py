"""The judge keeps what it hands out, and legitimate techniques cost nothing: figures, on a real GPU.

``tests/gpu/test_adversarial.py`` judges the same kernels among all others; here they are held to tighter bounds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.judgement import Judgement
from judge.pipeline import Mode
from judge.verdict import Verdict
from tests.adversarial.hostile import everything
from tests.gpu import kernels
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

#: Beyond the functional cases, with what surrounds them.
_HELD_S = 32.0
_SLOW = """
__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long begun, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begun < nanoseconds);
}
"""
Submit = Callable[[str], Judgement]


@pytest.fixture(scope="module")
def kept() -> dict[str, Judgement]:
    return {}


@pytest.fixture
def submit(request: pytest.FixtureRequest, judge_on_gpu: JudgeOnGpu, kept: dict[str, Judgement]) -> Submit:
    """Returns a function that judges a file: ``submit("l2/window")``.

    The file is of ``tests/adversarial/kernels``, or the honest kernel. Each judgement is made once and printed.
    """

    def judged(name: str) -> Judgement:
        if name not in kept:
            if name == "honest":
                source, challenge = kernels.HONEST, "vector-add"
            else:
                one = next(each for each in everything() if str(each) == name)
                if one.is_open("cuda"):
                    request.applymarker(pytest.mark.xfail(reason=one.is_open("cuda"), strict=False))
                source, challenge = one.source.decode(), one.challenge
            kept[name] = judge_on_gpu(source, challenge, Mode.SUBMIT)
            _print(name, kept[name])
        return kept[name]

    return judged


def _print(name: str, judgement: Judgement) -> None:
    score = judgement.measurement
    details = "" if score is None else f"{score.value * 1e6:.2f} us, spread {score.spread:.4f}, {score.runs} calls "
    case = score.cases[0] if score is not None else None
    names = ("clock_s", "clock_by_slope_s", "clock_in_all_s", "around_s", "stopped_by", "opened")
    clock = {each: getattr(case, each, None) for each in names} if case is not None else ""
    print(f"\n{name}: {judgement.verdict.value} {details}in {judgement.wall_s:.1f} s {judgement.message} {clock}")


def _ratio(submit: Submit, name: str) -> float:
    made, honest = submit(name).measurement, submit("honest").measurement
    assert made is not None
    assert honest is not None
    return made.value / honest.value


def test_copies_during_the_hold_gain_nothing(submit: Submit) -> None:
    if submit("l2/copies_during_the_hold").verdict is Verdict.ACCEPTED:
        assert _ratio(submit, "l2/copies_during_the_hold") > 0.98


@pytest.mark.parametrize("name", ["residue/inputs_made_anew", "residue/inputs_made_anew_fast"])
def test_making_inputs_anew_gains_nothing(submit: Submit, judge_on_gpu: JudgeOnGpu, name: str) -> None:
    """Against the honest kernel that each file names. ``benchmarks/making_inputs_anew.cu`` has other shares."""
    made = submit(name)
    honest = next(each for each in everything() if str(each) == name).honest_source.decode()
    reading = judge_on_gpu(honest, "vector-add", Mode.SUBMIT)
    _print("reading all", reading)
    assert reading.measurement is not None
    if made.measurement is not None:
        assert made.measurement.value > 0.98 * reading.measurement.value


def test_a_host_that_may_sleep_costs_nothing(submit: Submit) -> None:
    assert 0.97 < _ratio(submit, "controls/sleeps_while_it_waits") < 1.03
    sleeping = submit("controls/sleeps_while_it_waits").measurement
    assert sleeping is not None
    assert sleeping.spread < 0.03


@pytest.mark.parametrize(
    "name", ["controls/window_of_a_launch", "controls/carve_out_in_solve", "l2/access_policy_window"]
)
def test_lines_that_persist_are_no_reason_to_doubt_a_time(submit: Submit, name: str) -> None:
    assert submit(name).verdict is Verdict.ACCEPTED, submit(name).message


def test_memory_that_a_constructor_takes_is_its_own(submit: Submit) -> None:
    assert submit("memory/no_room_beside_it").verdict in (Verdict.ACCEPTED, Verdict.MEMORY_LIMIT_EXCEEDED)


@pytest.mark.parametrize("call_s", [0.02, 0.3, 3.5])
def test_slow_calls_hold_the_gpu_for_half_a_minute_at_most(
    judge_on_gpu: JudgeOnGpu, submit: Submit, call_s: float
) -> None:
    """Slow where it is timed only, so that the whole judgement is the timing."""
    submit("honest")  # The null kernel's times are the machine's, and kept from here on.
    source = kernels.vector_add(
        f"if (N > 10000000) spin<<<1, 1>>>({round(call_s * 1e9)}ull); {kernels.LAUNCH}", before=_SLOW
    )
    judgement = judge_on_gpu(source, mode=Mode.SUBMIT)
    _print(f"{call_s} s a call", judgement)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    assert judgement.measurement.value == pytest.approx(call_s, rel=0.02)
    assert judgement.wall_s < _HELD_S
