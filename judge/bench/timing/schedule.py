"""Plans the calls of a process and their order.

A burst is a number of calls that are requested together. Bursts that count (TIMED) have the advertised sizes.
Unannounced warm-ups (WARM_UP) look the same. Decoys (DECOY) have other sizes, or do not count for no visible reason.
Each call has inputs of its own, or a near copy of an earlier call's; its buffers begin at offsets of their own, and its
outputs lie apart from the burst's other outputs. The plan is drawn from a secret stream, so a submission cannot tell
the calls apart.
"""

from __future__ import annotations

import enum
import math
import random
from dataclasses import dataclass

from judge.packs.data.decoys import decoy
from judge.packs.pack import Case, Pack
from judge.wire.bursts import SHIFT_BYTES

#: The longest burst, in calls and in seconds. Calls that take longer than that are made one by one and without decoys:
#: what surrounds a call is nothing beside them.
MAX_CALLS = 16
LONGEST_BURST_S = 0.5
#: What the outputs of one burst may take on the device, in total and as a share of its memory: all processes of a
#: submission are up, and have reserved their memory, before the first is timed.
_OUTPUT_BYTES = 2 << 30
_OUTPUT_SHARE = 0.05
#: Buffers are offset by whole pages: an offset within a page would change a kernel's time.
_OFFSET_STEP_BYTES = 16 * SHIFT_BYTES
_OFFSET_STEPS = 16
#: The ranges from which a process's warm-up time is drawn: after the GPU was idle, which lowers its clocks, and right
#: after it was busy.
WARM_UP_S, WARM_UP_OF_BUSY_S = (0.2, 0.4), (0.05, 0.15)
_DECOY_SHARE = 0.2
_DECOY_CALLS = 3
#: The share of decoys that have the advertised sizes.
_PLAIN_DECOYS = 0.3
_NEAR_COPY_SHARE = 0.25


class Purpose(enum.Enum):
    """The purpose of a burst; only the supervisor knows it."""

    WARM_UP = "warm-up"
    TIMED = "timed"
    DECOY = "decoy"


@dataclass(frozen=True, slots=True)
class InputKey:
    """Names a call's inputs: those numbered ``call``, or those of call ``like`` with a few elements of ``call``'s."""

    call: int
    like: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call with one buffer offset in bytes per argument."""

    case: Case
    inputs: InputKey
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedBurst:
    """Calls in their order; the n-th call's outputs lie in the n-th place of the output arenas."""

    purpose: Purpose
    calls: tuple[PlannedCall, ...]


def max_burst_calls(output_bytes: int, memory_bytes: int) -> int:
    """Returns how many calls' outputs a device with this much memory (0: unknown) can hold at a time.

    The result is at least two, since bursts of a single size have no slope.
    """
    room = min(_OUTPUT_BYTES, int(_OUTPUT_SHARE * memory_bytes)) if memory_bytes else _OUTPUT_BYTES
    return max(2, min(MAX_CALLS, room // max(1, output_bytes)))


def max_offset_bytes() -> int:
    """Returns the largest buffer offset."""
    return (_OFFSET_STEPS - 1) * _OFFSET_STEP_BYTES


class Schedule:
    """Draws the bursts of one case for one process.

    ``first_call`` is the number of the first call's inputs; no two processes share any. ``warm_up_s`` is the range from
    which the time of the warm-up is drawn.
    """

    def __init__(
        self,
        stream: random.Random,
        pack: Pack,
        case: Case,
        max_calls: int,
        first_call: int,
        warm_up_s: tuple[float, float] = WARM_UP_S,
    ) -> None:
        self._stream = stream
        self._pack = pack
        self._case = case
        self._max_calls = max_calls
        self._next_call = first_call
        self._warm_up_s = stream.uniform(*warm_up_s)
        self._sizes: list[int] = []
        #: The last call with the advertised sizes and inputs of its own.
        self._like: int | None = None

    def next_burst(self, elapsed_s: float, call_s: float) -> PlannedBurst:
        """Returns the next burst, ``elapsed_s`` after this process's first burst of the case.

        ``call_s`` is how long a call takes with all that surrounds it; infinity if that is not known yet.
        """
        longest = self.longest_burst(call_s)
        if elapsed_s < self._warm_up_s:
            return self._burst(Purpose.WARM_UP, self._case, self._size(longest))
        if call_s <= LONGEST_BURST_S and self._stream.random() < _DECOY_SHARE:
            case = (
                self._case
                if self._stream.random() < _PLAIN_DECOYS
                else decoy(self._pack, self._case, self._stream.choice)
            )
            calls = self._stream.randint(1, min(_DECOY_CALLS, longest))
            return self._burst(Purpose.DECOY, case, calls)
        return self._burst(Purpose.TIMED, self._case, self._size(longest))

    def longest_burst(self, call_s: float) -> int:
        """Returns how many calls the longest burst has."""
        return max(1, min(self._max_calls, int(LONGEST_BURST_S / call_s))) if call_s > 0 else self._max_calls

    def _size(self, longest: int) -> int:
        """Returns the size of the next burst; every round has each of a few sizes once, so that the slope is known."""
        if not self._sizes or max(self._sizes) > longest:
            self._sizes = sorted({1, *(math.ceil(longest * part / 4) for part in (1, 2, 3, 4))})
            self._stream.shuffle(self._sizes)
        return self._sizes.pop()

    def _burst(self, purpose: Purpose, case: Case, calls: int) -> PlannedBurst:
        return PlannedBurst(purpose, tuple(self._call(case) for _ in range(calls)))

    def _call(self, case: Case) -> PlannedCall:
        offsets = tuple(
            _OFFSET_STEP_BYTES * self._stream.randrange(_OFFSET_STEPS) if argument.is_pointer else 0
            for argument in self._pack.arguments
        )
        return PlannedCall(case, self._input_key(case), offsets)

    def _input_key(self, case: Case) -> InputKey:
        call = self._next_call
        self._next_call += 1
        if case is not self._case:
            return InputKey(call)
        if self._like is not None and self._stream.random() < _NEAR_COPY_SHARE:
            return InputKey(call, self._like)
        self._like = call
        return InputKey(call)
