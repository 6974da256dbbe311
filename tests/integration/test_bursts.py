"""Bursts of timed calls in the real jail, on the host device: what the runner makes, keeps and tells."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judge.errors import InternalError
from judge.packs.data.inputs import input_recipes, lazy_inputs, make_inputs
from judge.packs.data.streams import mask
from judge.packs.pack import Case
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import BurstRecord, Session
from judge.supervisor.shared_memory import align
from judge.supervisor.verdict_rules import outcome_of_refusal
from judge.wire.bursts import GUARD_BYTES, PieceRequest, ReserveRequest, TimedCall, TimedSlot
from judge.wire.digest import level_sizes, piece_digests, tree_digest
from judge.wire.elements import Element
from judge.wire.frames import Failure, Op
from judge.wire.recipe import Kind, Recipe
from tests.host_device.judging import HONEST, build, host_factory, twice_pack

SEED = 7
SHIFT = 8192
Start = Callable[..., Session]


@pytest.fixture
def start() -> Iterator[Start]:
    sessions = []

    def started(source: str, places: int = 3) -> Session:
        settings = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
        session = host_factory(settings, twice_pack().benchmarks).start()
        sessions.append(session)
        place = _place(twice_pack().benchmarks[0])
        session.reserve(ReserveRequest((place, places * place, 0), place, place))
        session.load(build(source))
        return session

    yield started
    for session in sessions:
        session.finish()


@pytest.fixture
def case() -> Case:
    return twice_pack().benchmarks[0]


def _size(case: Case) -> int:
    return 4 * case.axes["N"]


def _place(case: Case) -> int:
    """How far apart the places of an arena are."""
    return align(_size(case) + SHIFT + GUARD_BYTES)


def _call(
    case: Case,
    call: int,
    place: int,
    *,
    like: int | None = None,
    recipe: Recipe | None = None,
    shift: int = 0,
    copy: bool = False,
) -> TimedCall:
    recipe = recipe or input_recipes(twice_pack(), case, SEED, call, like=like)["input"]
    slots = (
        TimedSlot(size=_size(case), recipe=recipe, shift=shift),
        TimedSlot(size=_size(case), digests_offset=align(_size(case)), fill=255, shift=place * _place(case) + shift),
        TimedSlot(value=case.axes["N"].to_bytes(8, "little")),
    )
    return TimedCall(slots, copy)


def _output(session: Session, case: Case) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    found = session.runner.outputs.read(0, (case.axes["N"],), np.dtype(np.float32))
    assert found.dtype == np.float32
    return found  # type: ignore[return-value]


def _pieces(session: Session, case: Case) -> bytes:
    size = _size(case)
    return session.runner.outputs.read(align(size), (level_sizes(size)[0],), np.dtype(np.uint8)).tobytes()


def _burst(session: Session, case: Case) -> BurstRecord:
    calls = (_call(case, 1, 2, shift=256), _call(case, 2, 0, like=1, shift=SHIFT), _call(case, 3, 1))
    return session.time(calls)


def _damage(made: BurstRecord) -> list[tuple[int, ...]]:
    return [claim.commit.damage for claim in made.calls]


def _digests(made: BurstRecord) -> list[tuple[bytes, ...]]:
    return [claim.commit.digests for claim in made.calls]


def test_every_call_of_a_burst_can_be_opened_and_is_what_was_committed(start: Start, case: Case) -> None:
    session = start(HONEST)
    made = session.time((_call(case, 1, 2, shift=256), _call(case, 2, 0, like=1), _call(case, 3, 1)))
    assert _damage(made) == [(0, 0, 0)] * 3
    assert all(0 < claim.ran.elapsed_s < claim.wall_s for claim in made.calls)
    assert sum(claim.wall_s for claim in made.calls) < made.wall_s
    for index, (call, like) in ((2, (3, None)), (0, (1, None)), (1, (2, 1))):
        session.open_call(index)
        output = _output(session, case)
        assert np.array_equal(output, 2 * make_inputs(twice_pack(), case, SEED, call, like=like)["input"])
        assert (tree_digest(output.tobytes()),) == _digests(made)[index]
        assert piece_digests(output.tobytes()) == _pieces(session, case)


def test_a_masked_input_is_unmasked_for_its_call(start: Start, case: Case) -> None:
    session = start(HONEST)
    array = np.arange(case.axes["N"], dtype=np.float32)
    key = (secrets.randbits(64), secrets.randbits(64))
    session.runner.inputs.write(0, mask(array, key))
    session.stage(PieceRequest(4096, 0, array.nbytes))
    recipe = Recipe(Kind.MASKED, Element.FLOAT32, key, stage=4096)
    made = session.time((_call(case, 1, 0, recipe=recipe, copy=True),))
    assert _damage(made) == [(0, 0, 0)]
    assert _digests(made) == [()]
    assert np.array_equal(_output(session, case), 2 * array)


def _altered(code: str) -> str:
    return HONEST.replace("{ for", "{ static int calls; calls++; " + code + " for")


@pytest.mark.parametrize(
    ("code", "damage"),
    [
        ("if (calls == 2) out[-1] = 0;", (0, 1, 0)),
        ("if (calls == 2) out[n] = 0;", (0, 2, 0)),
        ("if (calls == 2) ((float*)in)[n - 1] += 1;", (4, 0, 0)),
    ],
)
def test_damage_is_told_of_the_call_that_did_it(start: Start, case: Case, code: str, damage: tuple[int, ...]) -> None:
    session = start(_altered(code))
    assert _damage(_burst(session, case)) == [(0, 0, 0), damage, (0, 0, 0)]


def test_buffers_lie_where_the_request_says(start: Start, case: Case) -> None:
    seen = start('extern "C" void solve(const long* in, long* out, int n) { out[0] = (long)in; out[1] = (long)out; }')
    _burst(seen, case)
    addresses = []
    for index in range(3):
        seen.open_call(index)
        addresses.append(seen.runner.outputs.read(0, (2,), np.dtype(np.int64)))
    inputs = [int(pair[0]) for pair in addresses]
    assert (inputs[0] - inputs[2], inputs[1] - inputs[2]) == (256, SHIFT)
    assert len({int(pair[1]) for pair in addresses}) == 3


def test_outputs_that_are_written_later_are_not_those_that_were_committed(start: Start, case: Case) -> None:
    """The second call repairs the first one's output."""
    late = """
    extern "C" void solve(const float* in, float* out, int n) {
        static float *first_out; static float kept[500000]; static int calls;
        if (calls++ == 0) { first_out = out; for (int i = 0; i < n; i++) kept[i] = 2 * in[i]; return; }
        for (int i = 0; i < n; i++) first_out[i] = kept[i];
    }"""
    session = start(late)
    made = _burst(session, case)
    session.open_call(0)
    output = _output(session, case)
    assert np.array_equal(output, 2 * make_inputs(twice_pack(), case, SEED, 1)["input"])
    assert (tree_digest(output.tobytes()),) != _digests(made)[0]


def test_a_burst_outside_of_what_was_reserved_ends_the_runner(start: Start, case: Case) -> None:
    session = start(HONEST, places=1)
    with pytest.raises(RunnerEnded):
        session.time((_call(case, 1, 1),))


def test_room_that_cannot_be_had_is_the_machines_fault(start: Start) -> None:
    with pytest.raises(RequestRefused) as caught:
        start(HONEST, places=1 << 17)
    assert caught.value.reply.failure == Failure.MEMORY
    with pytest.raises(InternalError, match="too little memory"):
        outcome_of_refusal(caught.value.reply, Op.RESERVE, 0)


def test_nothing_can_be_reserved_once_a_submission_is_loaded(start: Start) -> None:
    session = start(HONEST)
    with pytest.raises(RunnerEnded):
        session.reserve(ReserveRequest((0, 0, 0)))


def test_the_pool_is_in_the_inputs_and_differs_from_process_to_process(start: Start, case: Case) -> None:
    found = []
    for _ in range(2):
        session = start(HONEST)
        assert session.pool is not None
        recipe = input_recipes(twice_pack(), case, SEED, 1, pooled=True)["input"]
        session.time((_call(case, 1, 0, recipe=recipe),))
        session.open_call(0)
        found.append(_output(session, case))
        made = lazy_inputs(twice_pack(), case, SEED, 1, pool=session.pool)["input"]
        assert np.array_equal(found[-1], 2 * np.asarray(made))
        assert not session.runner.inputs.read(0, (1000,), np.dtype(np.uint8)).any(), "nothing of it is left there"
    assert not np.array_equal(*found)


def test_a_later_burst_follows_an_earlier_one(start: Start, case: Case) -> None:
    session = start(HONEST)
    for _ in range(2):
        assert len(_burst(session, case).calls) == 3
