"""The protocol of a device, as the runner sees it. Import-light: it lives in the process that submissions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from judge.recipe import Recipe
from judge.runner.messages import LoadRequest, ReportClaim, Watch
from judge.runner.submission import Program

#: Every buffer starts at a multiple of this, as cudaMalloc's do.
ALIGNMENT_BYTES = 256


class DeviceError(Exception):
    """A CUDA error, by the names of the runtime API."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.code = code
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """How to open a device: see StartRequest."""

    ordinal: int = 0
    library: str = ""
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """``size`` bytes of device memory at ``address``, a multiple of ALIGNMENT_BYTES. ``base`` is where its surroundings
    begin: of what ``Device.allocate`` gave, the allocation's own start.

    What lies before and behind may be read but not written; ``Device.damage`` tells.
    """

    address: int
    size: int
    base: int


class Device(Protocol):
    """One open device. Each method raises DeviceError; a module that has one offers ``open_device(DeviceOptions)``.

    ``makes_code`` says whether it maps new executable memory after a submission is loaded, which a lock would forbid.
    """

    makes_code: bool

    def free_bytes(self) -> int:
        """What the device's memory has room for, if nothing is loaded."""

    def limit(self, load: LoadRequest) -> None:
        """The limits that hold for the submission that is loaded next: before it is."""

    def allocate(self, size: int, label: str) -> Buffer:
        """A buffer with unwritable surroundings. ``size`` 0 gives a valid address with nothing behind it."""

    def free(self, buffer: Buffer) -> None: ...

    def fill(self, buffer: Buffer, byte: int) -> None: ...

    def write(self, buffer: Buffer, source: memoryview) -> None:
        """Copies ``buffer.size`` bytes to the device."""

    def read(self, buffer: Buffer, target: memoryview) -> None:
        """Copies ``buffer.size`` bytes from the device; synchronous."""

    def watch(self, what: Watch) -> None:
        """What is to be looked for in the calls from now on, and told in the report. Nothing at first."""

    def settle(self) -> None:
        """Flushes the device's caches and returns when it is idle: the last thing before a call."""

    def time_call(self, call: Callable[[], None]) -> float:
        """Runs ``call`` and returns once the device is idle: the seconds it took on the device, negative if it
        cannot say.

        Raises DeviceError for any error that the call left behind.
        """

    def damage(self, buffer: Buffer) -> int:
        """1 if the bytes before the buffer were written, plus 2 if those behind it were; restores them."""

    def take_report(self) -> ReportClaim | None:
        """What the device saw since the last time it was asked; None where it cannot see."""

    def close(self) -> None: ...


class RecordingDevice(Device, Protocol):
    """A device that can write down what a submission asks of it, and do it again without the submission."""

    def record(self, most_bytes: int) -> None:
        """From now on: before the submission is loaded."""

    def take_recording(self) -> bytes:
        """All of it. Raises DeviceError when it is more than may be."""

    def replay(self, recording: bytes, program: bytes, addresses: Sequence[int]) -> tuple[Program, tuple[int, ...]]:
        """What does the recording again, with the device code that is in the file ``program``; and what it moves
        between host and device, as ``emulator.replay.Transfers``: of a GPU the first is the number of operations of a
        call, and the rest is not counted. ``addresses`` are those that the arguments' buffers
        had, 0 for scalars. Raises DeviceError when it cannot be done again."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A buffer of a timed call. ``recipe`` makes its contents, from the ``staged`` copy where it needs one; without one
    it is filled with the byte ``fill``. After the call it is compared with its recipe, or its digest is wanted, or
    neither."""

    buffer: Buffer
    recipe: Recipe | None = None
    staged: Buffer | None = None
    fill: int = 0
    compare: bool = False
    digest: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """``damage``, for each buffer, as in FetchReply; the digests of those that were to have one."""

    damage: tuple[int, ...]
    digests: tuple[bytes, ...]


class TimedDevice(Device, Protocol):
    """A device with a clock, which makes inputs and looks at outputs by itself: nothing large crosses the frames around
    a timed call."""

    def make_call(self, call: Callable[[], None]) -> None:
        """``time_call`` without its answer, so that as little as can be lies between the work and its end."""

    def elapsed(self) -> float:
        """The seconds that the last ``make_call`` took on the device. Raises DeviceError, as ``time_call`` does."""

    def within(self, arena: Buffer, shift: int, size: int) -> Buffer:
        """The buffer that begins ``shift`` bytes into ``arena``, which ``allocate`` gave; nothing is written."""

    def place(self, placed: Placed) -> None:
        """Restores the surroundings, and makes the contents."""

    def inspect(self, placed: Sequence[Placed]) -> Findings:
        """Looks at all of them after a call. What is compared is used up by it."""

    def piece_digests(self, buffer: Buffer, target: memoryview) -> None:
        """Copies the digests of the buffer's pieces, the first level of its digest's tree, to the host."""
