"""What a process is asked to compute, in which order: drawn from a secret stream, so that no call can be told apart.

A burst is a number of calls that are asked for and answered together. Bursts that count (TIMED) have the advertised
sizes; unannounced warm-ups (WARM_UP) look the same; decoys (DECOY) have other sizes or do not count for no reason that
shows. Every call has contents of its own, or those of an earlier call but for a few elements (a near copy); its buffers
begin at shifts of their own, and its outputs lie apart from the burst's other outputs.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import random
from dataclasses import dataclass

from judge.bench.stopping import LEAST_SAMPLES
from judge.packs.pack import Case, Pack
from judge.runner.bursts import SHIFT_BYTES

#: The longest burst.
MOST_CALLS = 16
#: What the outputs of one burst may take on the device, all told, and as a share of its memory.
_OUTPUT_BYTES = 2 << 30
_OUTPUT_SHARE = 0.25
#: Buffers are shifted by whole pages: where a kernel's data begin within one would change its time.
_SHIFT_STEP_BYTES = 16 * SHIFT_BYTES
_SHIFT_STEPS = 16
#: A process warms up for a time drawn from these.
_WARM_UP_S = (0.2, 0.4)
_DECOY_SHARE = 0.2
_DECOY_CALLS = 3
#: Decoys that have the advertised sizes all the same.
_PLAIN_DECOYS = 0.3
_LEAST_DECOY_SIZE = 0.75
_NEAR_COPY_SHARE = 0.25
#: Calls that are looked at in each process, decoys among them: as many as have so many bytes of inputs and outputs in
#: all, within these bounds. All calls have been committed; where a share f of them is not honest, none of 4 in each of
#: three processes is seen with probability (1 - f)^12: two in ten thousand for the half that moves a median.
_OPENED_BYTES = 512 << 20
_LEAST_OPENED, _MOST_OPENED = 4, 10
#: Looking at every such call costs next to nothing.
SMALL_BYTES = 1 << 20


class Purpose(enum.Enum):
    """What a burst is for; only this side knows."""

    WARM_UP = "warm-up"
    TIMED = "timed"
    DECOY = "decoy"


@dataclass(frozen=True, slots=True)
class Contents:
    """Which inputs: those of ``call``, or those of the earlier call ``like`` with a few elements of ``call``'s."""

    call: int
    like: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """``shifts``: bytes, one an argument."""

    case: Case
    contents: Contents
    shifts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedBurst:
    """The calls in their order; the outputs of the n-th lie in the n-th place."""

    purpose: Purpose
    calls: tuple[PlannedCall, ...]


def places_for(output_bytes: int, memory_bytes: int) -> int:
    """How many calls' outputs a device of so much memory (0: unknown) keeps at a time; two at the least, since bursts
    of one size have no slope."""
    room = min(_OUTPUT_BYTES, int(_OUTPUT_SHARE * memory_bytes)) if memory_bytes else _OUTPUT_BYTES
    return max(2, min(MOST_CALLS, room // max(1, output_bytes)))


def most_shift_bytes() -> int:
    """No shift is larger."""
    return (_SHIFT_STEPS - 1) * _SHIFT_STEP_BYTES


class Schedule:
    """One process's bursts of one case. ``first_call`` numbers the contents: no two processes share any."""

    def __init__(self, stream: random.Random, pack: Pack, case: Case, places: int, first_call: int) -> None:
        self._stream = stream
        self._pack = pack
        self._case = case
        self._places = places
        self._next_call = first_call
        self._warm_up_s = stream.uniform(*_WARM_UP_S)
        self._sizes: list[int] = []
        #: The last call with the advertised sizes and contents of its own.
        self._like: int | None = None

    def next_burst(self, elapsed_s: float) -> PlannedBurst:
        """``elapsed_s``: since this process's first burst of the case."""
        if elapsed_s < self._warm_up_s:
            return self._burst(Purpose.WARM_UP, self._case, self._size())
        if self._stream.random() < _DECOY_SHARE:
            case = self._case if self._stream.random() < _PLAIN_DECOYS else self._jittered()
            calls = self._stream.randint(1, min(_DECOY_CALLS, self._places))
            return self._burst(Purpose.DECOY, case, calls)
        return self._burst(Purpose.TIMED, self._case, self._size())

    def _size(self) -> int:
        """Every few bursts each of a few sizes comes up once, so that a slope is well known."""
        if not self._sizes:
            self._sizes = sorted({1, *(math.ceil(self._places * part / 4) for part in (1, 2, 3, 4))})
            self._stream.shuffle(self._sizes)
        return self._sizes.pop()

    def _burst(self, purpose: Purpose, case: Case, calls: int) -> PlannedBurst:
        return PlannedBurst(purpose, tuple(self._call(case) for _ in range(calls)))

    def _call(self, case: Case) -> PlannedCall:
        shifts = tuple(
            _SHIFT_STEP_BYTES * self._stream.randrange(_SHIFT_STEPS) if argument.is_pointer else 0
            for argument in self._pack.arguments
        )
        return PlannedCall(case, self._contents(case), shifts)

    def _contents(self, case: Case) -> Contents:
        call = self._next_call
        self._next_call += 1
        if case is not self._case:
            return Contents(call)
        if self._like is not None and self._stream.random() < _NEAR_COPY_SHARE:
            return Contents(call, self._like)
        self._like = call
        return Contents(call)

    def _jittered(self) -> Case:
        """The case with sizes at or below the advertised, within what the axes allow."""
        axes = {axis.name: axis for axis in self._pack.axes}
        sizes: dict[str, int] = {}
        for name, size in self._case.axes.items():
            step = axes[name].multiple_of
            least = max(axes[name].min, math.ceil(size * _LEAST_DECOY_SIZE))
            first = -(-least // step) * step
            sizes[name] = first + step * self._stream.randrange((size - first) // step + 1) if first <= size else size
        case = dataclasses.replace(self._case, axes=sizes)
        return case if _fits(self._pack, case, self._case) else self._case


def _fits(pack: Pack, case: Case, advertised: Case) -> bool:
    """Whether such sizes make sense together, and no buffer becomes larger than the advertised."""
    try:
        return all(
            0 <= math.prod(pack.shape(case, argument)) <= math.prod(pack.shape(advertised, argument))
            for argument in pack.arguments
        )
    except (ValueError, ArithmeticError):
        return False


def how_many_to_open(call_bytes: int) -> int | None:
    """Of a process's calls, each with so many bytes of inputs and outputs; None: all of them."""
    if call_bytes <= SMALL_BYTES:
        return None
    return max(_LEAST_OPENED, min(_MOST_OPENED, _OPENED_BYTES // call_bytes))


class Openings:
    """Which calls of a process are looked at: an even sample of ``count`` of them (None: all), however many there will
    be; from another stream than the schedule's, which nothing in the jail tells. Of the first LEAST_SAMPLES, which are
    always made, the sample is drawn at once; each later call takes the place of one in it with the right probability
    (J. S. Vitter's algorithm R, ACM Transactions on Mathematical Software 11, 1985).
    """

    def __init__(self, stream: random.Random, count: int | None) -> None:
        self._stream = stream
        self._count = count
        first = stream.sample(range(LEAST_SAMPLES), count) if count is not None else []
        self._first = {call: place for place, call in enumerate(first)}
        self._calls = 0

    def place_of_next(self) -> int | None:
        """Where the next call lies among those to be looked at, in place of an earlier one maybe; None: nowhere."""
        call, self._calls = self._calls, self._calls + 1
        if self._count is None:
            return call
        if call < LEAST_SAMPLES:
            return self._first.get(call)
        place = self._stream.randrange(self._calls)
        return place if place < self._count else None
