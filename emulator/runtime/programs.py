"""Answers the native library's questions about a program: its variables, its kernels, and machine code for them.

These run inside of calls of the program (a launch, a copy to a symbol), so that no exception may leave them: what
goes wrong becomes a CUDA error code and a reason.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from emulator.jit.artifact import Function
from emulator.jit.cache import KernelKey
from emulator.jit.options import Options
from emulator.jit.tiers import WANT_BETTER
from emulator.ptx import Module, Variable
from emulator.ptx.indirect import function_address
from emulator.runtime import fatbinary
from emulator.runtime.kernels import Kernels
from emulator.runtime.library import Callbacks, CompileKernel, CountRegisters, DescribeKernel, LoadModule, MakeCode
from emulator.runtime.modules import DeviceMemoryError, defined_variables, describe_kernel, read_module, refusal_of
from emulator.runtime.registers import RegisterCounts
from records import dataclass

#: The name of a thread that makes machine code, as ``/proc`` shows it.
MAKING_CODE = "making code"
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_libc = ctypes.CDLL(None)


@dataclass(slots=True)
class _Program:
    module: Module
    digest: bytes  # of its text
    addresses: dict[str, int]
    registers: RegisterCounts


class Programs:
    """The programs loaded into this process, by the numbers that the library gave them.

    Keep the object for the rest of the process: the library calls it, and runs the code that it holds.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self.kernels = Kernels(library)
        #: PTX that programs which are loaded from now on get in place of what has the same kernels.
        self.substitutes: Sequence[str] = ()
        self._library = library
        self._programs: dict[int, _Program] = {}
        #: The registers of a thread of each kernel, by its mangled name, where somebody else has asked ptxas.
        self.told_registers: Mapping[str, int] = {}
        self.callbacks = Callbacks(
            LoadModule(self._guarded(self._load)),
            DescribeKernel(self._guarded(self._describe)),
            CountRegisters(self._guarded(self._count_registers)),
            CompileKernel(self._guarded(self._compile)),
            MakeCode(self._guarded(self._make_code)),
        )

    def digests(self) -> dict[int, bytes]:
        """Returns the digest of each module loaded so far (``modules.digest_of``), by the module's number."""
        return {number: program.digest for number, program in self._programs.items()}

    def _guarded(self, answer: Callable[..., None]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            try:
                answer(*arguments)
            except Exception as error:
                refusal = refusal_of(error)
                if refusal.unsupported:
                    self._library.emu_set_unsupported(refusal.unsupported.encode())
                self._library.emu_set_reason(refusal.reason.encode())
                return refusal.code
            return 0

        return call

    # -- the questions

    def _load(self, number: int, image: int) -> None:
        data = fatbinary.read_at(image)
        module, digest = read_module(data, self.substitutes)
        variables = defined_variables(module)
        addresses = {variable.name: self._define(number, variable) for variable in variables}
        for variable in variables:
            _initialise(module, variable, addresses)
        self._programs[number] = _Program(module, digest, addresses, RegisterCounts(data))

    def _define(self, number: int, variable: Variable) -> int:
        is_constant = variable.space == "const"
        size = max(1, variable.size)
        address: int = self._library.emu_define_variable(
            number, variable.name.encode(), size, max(16, variable.align), is_constant
        )
        if not address:
            raise DeviceMemoryError(f"no memory for the variable {variable.name} ({variable.size} bytes)")
        return address

    def _describe(self, number: int, name: bytes, info: Any) -> None:
        info[0] = describe_kernel(self._programs[number].module, name.decode())

    def _count_registers(self, number: int, name: bytes, ask_ptxas: int, out: Any) -> None:
        kernel = name.decode()
        known = self.told_registers.get(kernel)
        out[0] = known or self._programs[number].registers.of(kernel, ask_ptxas=bool(ask_ptxas)) or 0

    def _compile(self, number: int, name: bytes, block: Any, observe: int, out: Any) -> None:
        program = self._programs[number]
        shape = (int(block[0]), int(block[1]), int(block[2]))
        key = KernelKey(program.digest, name.decode(), shape, Options.observed(observe))
        with _named(MAKING_CODE):
            out[0] = self.kernels.compile(program.module, key, program.addresses.__getitem__)

    def _make_code(self, kernel: int, wanted: int) -> None:
        if wanted == WANT_BETTER:
            self.kernels.improve(kernel)
        else:
            with _named(MAKING_CODE):
                self.kernels.add_function(kernel, Function(wanted))


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Names the calling thread."""
    before = ctypes.create_string_buffer(16)
    _libc.prctl(_PR_GET_NAME, before, 0, 0, 0)
    _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(_PR_SET_NAME, before, 0, 0, 0)


def _initialise(module: Module, variable: Variable, addresses: dict[str, int]) -> None:
    address = addresses[variable.name]
    if variable.initial:
        ctypes.memmove(address, variable.initial, len(variable.initial))
    for relocation in variable.relocations:
        known = addresses.get(relocation.symbol) or function_address(module, relocation.symbol) or 0
        value = known + relocation.addend
        data = (value & (1 << 8 * relocation.size) - 1).to_bytes(relocation.size, "little")
        ctypes.memmove(address + relocation.offset, data, relocation.size)
