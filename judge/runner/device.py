"""The protocol of a device as the runner uses it. It imports little: submissions share the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judge.runner.submission import Program
from judge.wire.elements import Element
from judge.wire.messages import LoadRequest, ReportClaim, Watch
from judge.wire.python_program import CompiledKernel, PythonProgram
from judge.wire.recipe import Recipe
from judge.wire.recordings import ReplayReply

#: Every buffer starts at a multiple of this, as cudaMalloc's do.
ALIGNMENT_BYTES = 256


class DeviceError(Exception):
    """A CUDA error, named as in the runtime API."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.code = code
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """How to open a device; see StartRequest."""

    ordinal: int = 0
    library: str = ""
    threads: int = 0
    pytorch: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """``size`` bytes of device memory at ``address``, a multiple of ALIGNMENT_BYTES.

    ``base`` is where its guard band before it begins: for a buffer of ``Device.allocate``, the allocation's start. The
    guard bands may be read but not written; ``Device.damage`` checks them.
    """

    address: int
    size: int
    base: int


class Device(Protocol):
    """One open device. Its module offers ``open_device(DeviceOptions)``. Every method raises DeviceError.

    ``makes_code`` says whether the device maps new executable memory after a submission is loaded, which the seccomp
    filter would forbid.
    """

    makes_code: bool

    def limit(self, load: LoadRequest) -> None:
        """Sets the limits of the submission that is loaded next."""

    def allocate(self, size: int, label: str) -> Buffer:
        """Returns a buffer between guard bands. ``size`` 0 gives a valid address with nothing behind it."""

    def free(self, buffer: Buffer) -> None: ...

    def fill(self, buffer: Buffer, byte: int) -> None: ...

    def write(self, buffer: Buffer, source: memoryview) -> None:
        """Copies ``buffer.size`` bytes to the device."""

    def read(self, buffer: Buffer, target: memoryview) -> None:
        """Copies ``buffer.size`` bytes from the device and waits for them."""

    def watch(self, what: Watch, schedule_seed: int) -> None:
        """Sets the checks of later reports, none at first, and the order of warps and blocks."""

    def settle(self) -> None:
        """Flushes the device's caches and returns when the device is idle: the last step before a call."""

    def time_call(self, call: Callable[[], None]) -> float:
        """Runs ``call`` and returns, once the device is idle, the seconds it took there; negative without a clock.

        Raises DeviceError for any error that the call left behind.
        """

    def damage(self, buffer: Buffer) -> int:
        """Returns 1 if the guard band before the buffer was written, plus 2 if the one behind it was; restores both."""

    def take_report(self) -> ReportClaim | None:
        """Returns the device's observations since the last report; None for a device that sees nothing."""

    def first_finding(self) -> str:
        """Returns in words what the device first found wrong since the last report; an empty text if it sees nothing.

        The submission is ending the process, within a call.
        """

    def close(self) -> None: ...


class ScratchMemory(Protocol):
    """Memory that a submission in Python allocates. Every method raises DeviceError."""

    def allocate(self, size: int) -> int: ...

    def free(self, address: int, size: int) -> None: ...

    def fill(self, address: int, byte: int, size: int) -> None: ...

    def write(self, address: int, data: bytes) -> None: ...

    def copy(self, target: int, source: int, size: int) -> None: ...


class TensorModule(Protocol):
    """PyTorch, as a submission in Python gets it. ``device`` is the GPU, as PyTorch names it."""

    device: Any

    @property
    def module(self) -> Any: ...

    @property
    def makers(self) -> dict[str, Callable[..., Any]]:
        """The functions that make tensors, by their names."""

    def begin(self, on_work: Callable[[], None]) -> None:
        """Makes the module ready for the submission, which is loaded next.

        ``on_work`` is called where PyTorch itself may put the device to work.
        """

    def tensor(self, address: int, shape: Sequence[int], element: Element) -> Any:
        """Returns a tensor over memory of the device, which nothing copies."""


class LaunchingDevice(Device, Protocol):
    """A device that starts kernels for a submission in Python, which has no native host code.

    ``pytorch`` is None where submissions get stand-ins for it.
    """

    pytorch: TensorModule | None

    def scratch_memory(self) -> ScratchMemory: ...

    def load_kernels(self, program: PythonProgram) -> None:
        """Makes the kernels ready to be started."""

    def start_kernel(self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float]) -> None:
        """Starts a loaded kernel on its arguments: addresses and numbers."""

    def note_other_work(self) -> None:
        """Says that something beside kernels, copies and fills of this device was asked for, which is not recorded."""


class RewritingDevice(Device, Protocol):
    """A device that runs other device code than a program brings."""

    def rewrite(self, texts: Sequence[str]) -> None:
        """Gives programs that are loaded from now on this PTX in place of what has the same kernels.

        Errors of earlier programs are forgotten.
        """


class RecordingDevice(Device, Protocol):
    """A device that records what a submission asks of it, and replays that without the submission."""

    def record(self, most_bytes: int) -> None:
        """Records from now on. Call it before the submission is loaded."""

    def take_recording(self) -> bytes:
        """Returns the recording. Raises DeviceError where it is too long."""

    def replay(self, recording: bytes, program: bytes, addresses: Sequence[int]) -> tuple[Program, ReplayReply]:
        """Returns a program that repeats the recording with the device code in ``program``, and what its calls do.

        ``addresses`` are those that the arguments' buffers had, 0 for scalars. Raises DeviceError where the recording
        cannot be repeated.
        """


@dataclass(frozen=True, slots=True)
class Placed:
    """A buffer of a timed call.

    ``recipe`` makes its contents, from what lies ``beside`` if it needs that: its part of the pool, or a staged copy.
    Without a recipe the byte ``fill`` fills it. After the call it is compared with its recipe, or digested, or neither.
    """

    buffer: Buffer
    recipe: Recipe | None = None
    beside: Buffer | None = None
    fill: int = 0
    compare: bool = False
    digest: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """``damage`` for each buffer, as in FetchReply, and the digests of the buffers that were to be digested."""

    damage: tuple[int, ...]
    digests: tuple[bytes, ...]


class TimedDevice(Device, Protocol):
    """A device with a clock that makes inputs and checks outputs by itself.

    So nothing large crosses the frames around a timed call.
    """

    def undo(self) -> None:
        """Takes back what earlier calls left in the device's caches, and returns when the device is idle.

        It comes when nothing is known of the next call, and is on nobody's clock.
        """

    def make_call(self, call: Callable[[], None]) -> None:
        """Runs a call as ``time_call`` does, with as little as possible between the work and its end."""

    def elapsed(self) -> float:
        """Returns the seconds that the last ``make_call`` took. Raises DeviceError, as ``time_call`` does."""

    def within(self, arena: Buffer, shift: int, size: int) -> Buffer:
        """Returns the buffer ``shift`` bytes into ``arena``, which ``allocate`` gave; writes nothing."""

    def pin(self, memory: memoryview) -> None:
        """Makes copies from the device to this memory fast, where the device can do that."""

    def place(self, placed: Placed) -> None:
        """Restores the guard bands and makes the contents."""

    def inspect(self, placed: Sequence[Placed]) -> Findings:
        """Checks all buffers after a call. Comparing a buffer with its recipe destroys its contents."""

    def piece_digests(self, buffer: Buffer, target: memoryview) -> None:
        """Copies to the host the digests of the buffer's pieces: the first level of its tree digest."""
