"""Where the two sides of a timed call run: always the same two processors for a GPU.

How long a message takes there and back depends on where the two happen to be, by more than the bound by the clock
leaves open. On the same two it takes a submission's process as long as an empty one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: With fewer there is none to spare for this.
_LEAST = 4
_TOPOLOGY = Path("/sys/devices/system/cpu")


class Processors(NamedTuple):
    """By their numbers, as the kernel counts them."""

    supervisor: int
    runner: int


def timing_processors(gpu: int, topology: Path = _TOPOLOGY) -> Processors | None:
    """Two for the GPU of this number, each on a core of its own: the last ones for the first GPU, since machines begin
    with the first ones when something interrupts them. None where there are too few."""
    allowed = sorted(os.sched_getaffinity(0))
    cores: dict[str, int] = {}
    for processor in allowed:
        cores.setdefault(_core(processor, topology), processor)
    if len(allowed) < _LEAST or len(cores) < 2:
        return None
    numbers = sorted(cores.values(), reverse=True)
    first = 2 * gpu % (len(numbers) - 1)
    return Processors(numbers[first], numbers[first + 1])


@contextlib.contextmanager
def staying_on(processor: int | None) -> Iterator[None]:
    """This thread runs there alone until the block ends; None: anywhere."""
    if processor is None:
        yield
        return
    before = os.sched_getaffinity(0)
    # It may have been taken from us meanwhile.
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _core(processor: int, topology: Path) -> str:
    """What a processor has in common with those on the same core."""
    try:
        return (topology / f"cpu{processor}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(processor)
