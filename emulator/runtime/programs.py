"""Answers the native library's questions about a program: its variables, its kernels, and machine code for them.

These run inside of calls of the program (a launch, a copy to a symbol), so that no exception may leave them: what
goes wrong becomes a CUDA error code and a reason.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from emulator.jit.artifact import Function
from emulator.jit.cache import KernelKey
from emulator.jit.options import Options
from emulator.ptx import Module, PtxError, Unsupported, Variable, parse_module
from emulator.ptx.indirect import function_address
from emulator.runtime import fatbinary
from emulator.runtime.kernels import Kernels
from emulator.runtime.library import Callbacks, CompileKernel, DescribeKernel, KernelInfo, LoadModule, MakeCode

ARCHITECTURE = 80

_INVALID_IMAGE = 200
_NO_IMAGE = 209
_INVALID_PTX = 218
_NOT_SUPPORTED = 801
_OUT_OF_MEMORY = 2

_WANT_BETTER = 2  # EmuCodeWanted; the others are Function
_MOST_THREADS = 1024
_LOCAL = re.compile(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+[\w$]+\[(\d+)\]")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")

_log = logging.getLogger(__name__)


class _OutOfMemoryError(Exception):
    pass


@dataclass(slots=True)
class _Program:
    module: Module
    digest: bytes  # of its text
    addresses: dict[str, int]


class Programs:
    """The programs loaded into this process, by the number that the library gave each.

    Keep the object for the rest of the process: the library calls it, and runs the code that it holds.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self.kernels = Kernels(library)
        self._library = library
        self._programs: dict[int, _Program] = {}
        self.callbacks = Callbacks(
            LoadModule(self._guarded(self._load)),
            DescribeKernel(self._guarded(self._describe)),
            CompileKernel(self._guarded(self._compile)),
            MakeCode(self._guarded(self._make_code)),
        )

    def _guarded(self, answer: Callable[..., None]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            try:
                answer(*arguments)
            except Unsupported as error:
                self._library.emu_set_unsupported(_described(error).encode())
                return self._failed(_NOT_SUPPORTED, _described(error))
            except PtxError as error:
                return self._failed(_INVALID_PTX, str(error))
            except fatbinary.NoPtxError as error:
                return self._failed(_NO_IMAGE, str(error))
            except fatbinary.FatBinaryError as error:
                return self._failed(_INVALID_IMAGE, str(error))
            except _OutOfMemoryError as error:
                return self._failed(_OUT_OF_MEMORY, str(error))
            except Exception as error:
                _log.exception("while answering the native library")
                reason = f"a fault of the emulator itself: {type(error).__name__}: {error}"
                self._library.emu_set_unsupported(reason.encode())  # whoever wrote the program is not to blame
                return self._failed(_NOT_SUPPORTED, reason)
            return 0

        return call

    def _failed(self, code: int, reason: str) -> int:
        self._library.emu_set_reason(reason.encode())
        return code

    # -- the questions

    def _load(self, number: int, image: int) -> None:
        images = fatbinary.ptx_images(fatbinary.read_at(image))
        chosen = fatbinary.choose(images, ARCHITECTURE)
        if chosen is None:
            raise fatbinary.NoPtxError("no PTX in the program: build it with -gencode arch=compute_80,code=compute_80")
        module = parse_module(chosen.text)
        addresses: dict[str, int] = {}
        for variable in module.variables.values():
            if variable.space in ("global", "const") and not variable.external:
                addresses[variable.name] = self._define(number, variable)
        for name in addresses:
            _initialise(module, module.variables[name], addresses)
        self._programs[number] = _Program(module, hashlib.sha256(chosen.text.encode()).digest(), addresses)

    def _define(self, number: int, variable: Variable) -> int:
        is_constant = variable.space == "const"
        size = max(1, variable.size)
        address: int = self._library.emu_define_variable(
            number, variable.name.encode(), size, max(16, variable.align), is_constant
        )
        if not address:
            raise _OutOfMemoryError(f"no memory for the variable {variable.name} ({variable.size} bytes)")
        return address

    def _describe(self, number: int, name: bytes, info: Any) -> None:
        module = self._programs[number].module
        function = module.functions.get(name.decode())
        if function is None or not function.is_entry:
            raise PtxError(f"no kernel {name.decode()} in this program")
        body = module.bodies.get(function.name, "")
        answer: KernelInfo = info.contents
        answer.static_shared_bytes = _shared_bytes(module, body)
        answer.local_bytes = sum(int(size) for _, size in _LOCAL.findall(body))
        answer.constant_bytes = sum(v.size for v in module.variables.values() if v.space == "const")
        answer.most_threads = min(function.max_threads or _MOST_THREADS, _MOST_THREADS)

    def _compile(self, number: int, name: bytes, block: Any, observe: int, out: Any) -> None:
        program = self._programs[number]
        shape = (int(block[0]), int(block[1]), int(block[2]))
        key = KernelKey(program.digest, name.decode(), shape, Options(observe=bool(observe)))
        out[0] = self.kernels.compile(program.module, key, program.addresses.__getitem__)

    def _make_code(self, kernel: int, wanted: int) -> None:
        if wanted == _WANT_BETTER:
            self.kernels.improve(kernel)
        else:
            self.kernels.add_function(kernel, Function(wanted))


def _described(error: Unsupported) -> str:
    return f"{error.what} ({error.file}:{error.line})" if error.line else error.what


def _initialise(module: Module, variable: Variable, addresses: dict[str, int]) -> None:
    address = addresses[variable.name]
    if variable.initial:
        ctypes.memmove(address, variable.initial, len(variable.initial))
    for relocation in variable.relocations:
        known = addresses.get(relocation.symbol) or function_address(module, relocation.symbol) or 0
        value = known + relocation.addend
        data = (value & (1 << 8 * relocation.size) - 1).to_bytes(relocation.size, "little")
        ctypes.memmove(address + relocation.offset, data, relocation.size)


def _shared_bytes(module: Module, body: str) -> int:
    """Static shared memory of the kernel: its own variables, and those of the module that it names."""
    end = 0
    names = set(_NAME.findall(body))
    for variable in module.variables.values():
        if variable.space == "shared" and variable.size and variable.name in names:
            end = -(-end // variable.align) * variable.align + variable.size
    for align, size in re.findall(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+[\w$]+\[(\d+)\]", body):
        end = -(-end // int(align)) * int(align) + int(size)
    return end
