"""Finds out which kernels ``solve`` launches: it is called for the shapes of each case, and no device is there."""

from __future__ import annotations

import contextlib
import inspect
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.runner.triton.arrays import Tensor
from judge.runner.triton.dtypes import dtype_of
from judge.runner.triton.program import scalar
from judge.runner.triton.source_module import FILE_NAME, told
from judge.runner.triton.specialization import Specialization
from judge.wire.call_shapes import CallShape
from judge.wire.frames import Role
from judge.wire.python_program import MAX_SPECIALIZATIONS

_ALIGNMENT = 256
#: So long ``solve`` may take for all cases together, in seconds: it only launches.
PATIENCE_S = 5.0


#: The least number of an autotuned kernel's configurations that are noted, since the first may not compile.
LEAST_CHOICES = 9


class TooManyError(Exception):
    """Raised when more specializations are launched than are compiled."""


class _Expired(BaseException):
    """The pass has taken too long. Not an Exception, so that a submission rarely catches it."""


@dataclass(slots=True)
class Choice:
    """One configuration of the autotuned kernel at ``place``, in words.

    ``timed`` are its special ones of timed calls.
    """

    place: str
    told: str
    general: Specialization
    timed: dict[str, Specialization] = field(default_factory=dict)


@dataclass(slots=True)
class Recorded:
    """The launches: general specializations, special ones of timed calls, and the names of parameters.

    ``specials`` are all special ones of a general one, for where the latter does not compile. ``choices`` are all
    configurations of an autotuned kernel, by the general specialization of the first: only that one is in ``general``.
    ``lacking`` is what first ended ``solve`` because the stand-ins lack it, in words.
    """

    general: dict[str, Specialization] = field(default_factory=dict)
    timed: dict[str, Specialization] = field(default_factory=dict)
    specials: dict[str, dict[str, Specialization]] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    choices: dict[str, list[Choice]] = field(default_factory=dict)
    lacking: str = ""

    def __len__(self) -> int:
        return len({**self.general, **self.timed})


class RecordingLauncher:
    """Notes launches."""

    def __init__(self, most_choices: int = LEAST_CHOICES) -> None:
        self.found = Recorded()
        self._most_others = max(LEAST_CHOICES, most_choices) - 1
        self._last: tuple[Specialization, Specialization] | None = None
        self.is_timed = False
        #: What other configurations launch, which is not compiled unless it has to be.
        self._aside: list[tuple[Specialization, Specialization]] | None = None

    def launch(
        self,
        special: Specialization,
        general: Specialization,
        names: Sequence[str],
        grid: tuple[int, int, int],
        values: Sequence[Any],
    ) -> None:
        del grid, values
        found = self.found
        if self._aside is not None:
            self._aside.append((special, general))
            return
        self._last = special, general
        found.general[general.key] = general
        found.names[general.key] = found.names[special.key] = tuple(names)
        if self.is_timed:
            found.timed[special.key] = special
        of_it = found.specials.setdefault(general.key, {})
        if len(of_it) < MAX_SPECIALIZATIONS:
            of_it[special.key] = special
        if len(found) > MAX_SPECIALIZATIONS:
            raise TooManyError

    def launch_one_of(self, place: str, choices: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Notes the first as launched, and the others beside it."""
        (told, launch), *others = choices
        self._last = None
        launch()
        if self._last is None:  # an empty grid
            return
        known = self.found.choices.setdefault(self._last[1].key, [])
        self._add(known, place, told, *self._last)
        for told, launch in others[: self._most_others]:
            self._aside = []
            try:
                launch()
            except Exception:  # noqa: S112 (one that fails is not built)
                continue
            finally:
                aside, self._aside = self._aside, None
            if len(aside) == 1:
                self._add(known, place, told, *aside[0])

    def _add(
        self, known: list[Choice], place: str, told: str, special: Specialization, general: Specialization
    ) -> None:
        choice = next((each for each in known if each.general.key == general.key), None)
        if choice is None:
            choice = Choice(place, told, general)
            known.append(choice)
        if self.is_timed:
            choice.timed[special.key] = special


class NoMemory:
    """Gives addresses with nothing behind them."""

    def __init__(self) -> None:
        self._next = 1 << 44

    def allocate(self, size: int) -> int:
        address = self._next
        self._next += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        return address

    def free(self, address: int, size: int) -> None:
        """Does nothing."""

    def fill(self, address: int, byte: int, size: int) -> None:
        """Does nothing."""

    def write(self, address: int, data: bytes) -> None:
        """Does nothing."""

    def copy(self, target: int, source: int, size: int) -> None:
        """Does nothing."""


def require_arguments(solve: Callable[..., Any], shape: CallShape) -> None:
    """Raises TypeError where ``solve`` does not take the challenge's arguments, in their order."""
    names = [argument.name for argument in shape.arguments]
    wanted = f"solve({', '.join(names)})"
    try:
        signature = inspect.signature(solve)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise TypeError(f"`solve{signature}` cannot be called as {wanted}: {error}") from None


class NeverEndsError(Exception):
    """Raised when the top of a file takes too long."""


def run_top(execute: Callable[[], Any]) -> Any:
    """Runs the code at the top of a file and returns what it gives. Raises NeverEndsError, and what it raises."""
    with _alarm():
        try:
            return execute()
        except _Expired:
            raise NeverEndsError(f"the code at the top of the file takes longer than {PATIENCE_S:g} s") from None


def record(
    solve: Callable[..., Any], shapes: Sequence[CallShape], launcher: RecordingLauncher, path: str = FILE_NAME
) -> None:
    """Calls ``solve`` for each shape. Raises TooManyError, and ignores what ``solve`` raises.

    The judged call raises it again, but where it has what the stand-ins lack: that is noted, by the lines of ``path``.
    """
    memory = NoMemory()
    with _alarm():
        try:
            for shape in shapes:
                launcher.is_timed = shape.timed
                _record_one(solve, shape, memory, launcher.found, path)
        except _Expired:
            return


def _record_one(solve: Callable[..., Any], shape: CallShape, memory: NoMemory, found: Recorded, path: str) -> None:
    arguments: list[Any] = []
    for index, argument in enumerate(shape.arguments):
        if argument.role is Role.SCALAR:
            arguments.append(scalar(argument.element, argument.value))
        else:
            arguments.append(Tensor((index + 1) << 48, argument.shape, dtype_of(argument.element), memory))
    try:
        solve(*arguments)
    except (TooManyError, _Expired):
        raise
    except NotImplementedError as error:
        found.lacking = found.lacking or told(error, path)
    except BaseException:
        return


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def expire(*_: object) -> None:
        # Once more soon, in case that it is caught.
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        raise _Expired

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
