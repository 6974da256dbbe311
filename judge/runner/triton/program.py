"""Loads a submission in Triton and calls its ``solve``, whose launches start kernels that were compiled ahead."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from judge.runner.device import DeviceError, LaunchingDevice
from judge.runner.submission import LoadError
from judge.runner.triton import stand_ins
from judge.runner.triton.arrays import Tensor
from judge.runner.triton.dtypes import dtype_of
from judge.runner.triton.kernels import NotCompiledError
from judge.runner.triton.source_module import execute, find_solve, stack, told
from judge.runner.triton.specialization import Specialization
from judge.wire.elements import Element
from judge.wire.frames import FrameError, Role
from judge.wire.messages import RAISED, ArgumentSpec
from judge.wire.python_program import PythonProgram, unpack_program

if TYPE_CHECKING:
    from judge.runner.device import Device

_AHEAD = (
    ". It does so with stand-ins for PyTorch: the build's notes name what they lack, after which nothing is compiled"
)
_FORMATS = {
    Element.INT8: "b", Element.UINT8: "B", Element.INT16: "h", Element.UINT16: "H", Element.INT32: "i",
    Element.UINT32: "I", Element.INT64: "q", Element.UINT64: "Q", Element.FLOAT32: "f", Element.FLOAT64: "d",
    Element.BOOL: "?",
}  # fmt: skip


def scalar(element: Element, value: bytes) -> int | float | bool:
    """Returns a scalar argument as Python has it."""
    found: int | float | bool = struct.unpack_from(f"<{_FORMATS[element]}", value)[0]
    return found


class CompiledLauncher:
    """Starts the kernel that was compiled for a launch."""

    def __init__(self, program: PythonProgram, device: LaunchingDevice) -> None:
        self._device = device
        # The pass that finds launches has no device, and so no PyTorch.
        self._why_unknown = "" if device.pytorch is None else _AHEAD
        self._kernels = {kernel.key: kernel for kernel in program.kernels}
        self._rounds = [dict(choice) for choice in program.rounds]
        self._chosen: dict[str, str] = {}

    def next_call(self) -> None:
        """Goes on to the choice of configurations that the next call has."""
        if self._rounds:
            self._chosen = self._rounds.pop(0)

    def launch(
        self,
        special: Specialization,
        general: Specialization,
        names: Sequence[str],
        grid: tuple[int, int, int],
        values: Sequence[Any],
    ) -> None:
        """Raises NotCompiledError where no kernel was compiled for it."""
        kernel = self._kernels.get(special.key) or self._kernels.get(general.key)
        if kernel is None:
            raise NotCompiledError(
                f"nothing was compiled for {general.in_words(names)}: the judge compiles ahead what solve launches "
                "with the sizes of each case, so launches may depend on sizes, and not on anything else"
                f"{self._why_unknown}"
            )
        given = [values[index] for index, _ in kernel.arguments]
        self._device.start_kernel(
            kernel, grid, [each.data_ptr() if hasattr(each, "data_ptr") else each for each in given]
        )

    def launch_one_of(self, place: str, choices: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Launches the chosen one, else the first that was compiled. Raises NotCompiledError where none was."""
        first: NotCompiledError | None = None
        chosen = self._chosen.get(place)
        ordered = choices if chosen is None else sorted(choices, key=lambda choice: choice[0] != chosen)
        for _, launch in ordered:
            try:
                launch()
                return
            except NotCompiledError as error:
                first = first or error
        if first is not None:
            raise first


class PythonSubmission:
    """A module whose ``solve`` is called. Its code at the top has run by the time the object exists."""

    def __init__(self, fd: int, arguments: Sequence[ArgumentSpec], device: LaunchingDevice) -> None:
        try:
            program = unpack_program(os.pread(fd, os.fstat(fd).st_size, 0))
        except FrameError as error:
            raise LoadError(str(error)) from None
        self._arguments = tuple(arguments)
        self._memory = device.scratch_memory()
        try:
            device.load_kernels(program)
        except (DeviceError, TypeError) as error:
            raise LoadError(f"its kernels are not taken: {error}") from None
        self._launcher = CompiledLauncher(program, device)
        self._pytorch = device.pytorch
        if self._pytorch is not None:
            self._pytorch.begin(device.note_other_work)
        stand_ins.install(self._launcher, self._memory, self._pytorch)
        try:
            self._solve = find_solve(execute(program.source))
        except BaseException as error:
            raise LoadError(told(error)) from None
        finally:
            _flush()

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:
        """Returns the arguments of one call: an array or tensor for each buffer, a number for each scalar."""
        bound: list[Any] = []
        for argument, value, shape in zip(self._arguments, values, shapes, strict=True):
            if argument.role is Role.SCALAR:
                bound.append(scalar(argument.element, cast(bytes, value)))
            elif self._pytorch is not None:
                bound.append(self._pytorch.tensor(cast(int, value), shape, argument.element))
            else:
                bound.append(Tensor(cast(int, value), shape, dtype_of(argument.element), self._memory))
        return bound

    def call(self, bound: Sequence[Any]) -> None:
        """Calls ``solve``, which may do anything, including never return. Raises DeviceError for what it raises."""
        self._launcher.next_call()
        try:
            self._solve(*bound)
        except DeviceError:
            raise
        except BaseException as error:
            text = told(error)
            with contextlib.suppress(OSError):
                os.write(2, f"{stack(error)}\n".encode(errors="replace"))
            raise DeviceError(999, RAISED, text) from None
        finally:
            _flush()

    def take_error(self) -> tuple[int, str, str]:
        """Returns nothing: what a launch was refused for was raised."""
        return 0, "", ""


def load_program(fd: int, arguments: Sequence[ArgumentSpec], device: Device) -> PythonSubmission:
    """Loads the submission's file. Raises LoadError."""
    if not hasattr(device, "start_kernel"):
        raise LoadError("this device starts no kernels for a submission in Python")
    return PythonSubmission(fd, arguments, cast(LaunchingDevice, device))


def _flush() -> None:
    """Writes the submission's output so far: it belongs to the call that printed it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
