"""The answers to what a program's library asks (native/report/remote.h): of any number of processes, on any thread."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from emulator.jit.artifact import Code, Description, Function
from emulator.jit.cache import Cache, KernelKey
from emulator.jit.options import Options
from emulator.jit.tiers import WANT_BETTER, TieredKernel
from emulator.ptx import Module, PtxError, Variable
from emulator.ptx.indirect import function_address
from emulator.runtime.modules import defined_variables, describe_kernel, read_module
from emulator.runtime.registers import RegisterCounts
from emulator.standalone.launch_times import LaunchTimes
from emulator.standalone.wire import Reader, Writer
from records import dataclass


@dataclass(frozen=True, slots=True)
class _Module:
    module: Module
    digest: bytes  # of its text
    registers: RegisterCounts


class Answers:
    """``cache`` is where machine code is kept; None: nowhere. ``launch_times`` model the time between events."""

    def __init__(self, cache: Path | None, launch_times: LaunchTimes | None = None) -> None:
        self._cache = Cache(cache) if cache else None
        self._lock = threading.Lock()  # of everything here, and of what compiles from modules' bodies
        self._improving = threading.Lock()  # while better code is made
        self._closed = False
        self._modules: dict[tuple[int, int], _Module] = {}
        self._kernels: dict[int, TieredKernel] = {}
        self._numbers = itertools.count(1)
        self._by_kind: dict[int, Callable[[Reader], bytes]] = {
            1: self._load_module,
            2: self._describe_kernel,
            3: self._compile_kernel,
            4: self._make_code,
            5: self._count_registers,
            6: self._modelled_time,
        }
        self._launch_times = launch_times

    def answer(self, kind: int, content: bytes) -> bytes:
        """Raises the exceptions of reading and compiling programs (``runtime.modules.refusal_of``)."""
        return self._by_kind[kind](Reader(content))

    def close(self) -> None:
        """Waits for the code that is being made, and makes no more: no thread may be in LLVM when the process ends."""
        self._closed = True
        self._improving.acquire()
        self._lock.acquire()

    def _load_module(self, question: Reader) -> bytes:
        process, number = question.numbers("IQ")
        image = question.rest()
        module, digest = read_module(image)
        with self._lock:
            self._modules[process, number] = _Module(module, digest, RegisterCounts(image))
        writer = Writer()
        writer.each(defined_variables(module), lambda out, variable: _put_variable(out, module, variable))
        return writer.bytes()

    def _module(self, question: Reader) -> tuple[_Module, str]:
        """With a kernel's name, which follows the module's number."""
        process, number = question.numbers("IQ")
        name = question.text().decode()
        with self._lock:
            found = self._modules.get((process, number))
        if found is None:
            raise PtxError(f"{name} is of a program that was not loaded")
        return found, name

    def _describe_kernel(self, question: Reader) -> bytes:
        found, name = self._module(question)
        info = describe_kernel(found.module, name)
        sizes = (info.static_shared_bytes, info.local_bytes, info.constant_bytes, info.max_threads)
        return Writer().numbers("8I", *sizes, *info.cluster, info.param_bytes).bytes()

    def _count_registers(self, question: Reader) -> bytes:
        found, name = self._module(question)
        (ask_ptxas,) = question.numbers("I")
        with self._lock:
            count = found.registers.of(name, ask_ptxas=bool(ask_ptxas))
        return Writer().numbers("I", count or 0).bytes()

    def _compile_kernel(self, question: Reader) -> bytes:
        found, name = self._module(question)
        x, y, z, observe = question.numbers("4I")
        key = KernelKey(found.digest, name, (x, y, z), Options.observed(observe))
        with self._lock:
            kernel = TieredKernel.cached(found.module, key, self._cache) or self._compiled(found.module, key)
            number = next(self._numbers)
            self._kernels[number] = kernel
        return _kernel_bytes(number, kernel)

    def _compiled(self, module: Module, key: KernelKey) -> TieredKernel:
        kernel = TieredKernel.compiled(module, key)
        self._keep(kernel)
        return kernel

    def _make_code(self, question: Reader) -> bytes:
        number, wanted = question.numbers("QI")
        if wanted == WANT_BETTER:
            return _code_bytes(self._better(number))
        function = Function(wanted)
        with self._lock:
            kernel = self._kernels[number]
            if function not in kernel.artifact.code:
                kernel.add(function, kernel.quick(function))
                self._keep(kernel)
            return _code_bytes([(function, kernel.artifact.code[function])])

    def _better(self, number: int) -> list[tuple[Function, Code]]:
        with self._lock:
            kernel = self._kernels[number]
            tasks = [(function, kernel.improvement(function)) for function in Function]
        better = []
        for function, improve in tasks:
            if improve is None:
                continue
            with self._improving:  # takes long: others can compile
                if self._closed:
                    break
                code = improve()
                with self._lock:
                    kernel.add(function, code)
                    self._keep(kernel)
            better.append((function, code))
        return better

    def _modelled_time(self, question: Reader) -> bytes:
        process, first, last = question.numbers("IQQ")
        if self._launch_times is None:
            raise ValueError("no GPU is modelled")
        return Writer().numbers("d", self._launch_times.between(process, first, last)).bytes()

    def _keep(self, kernel: TieredKernel) -> None:
        if self._cache:
            self._cache.store(kernel.key, kernel.artifact)


def _put_variable(out: Writer, module: Module, variable: Variable) -> None:
    is_constant = variable.space == "const"
    out.text(variable.name).numbers("QQI", max(1, variable.size), max(16, variable.align), is_constant)
    out.text(variable.initial or b"").numbers("I", len(variable.relocations))
    for it in variable.relocations:
        out.numbers("II", it.offset, it.size).text(it.symbol)
        out.numbers("Qq", function_address(module, it.symbol) or 0, it.addend)


def _kernel_bytes(number: int, kernel: TieredKernel) -> bytes:
    d: Description = kernel.artifact.description
    files = {file: index for index, file in enumerate(d.files)}
    out = Writer().numbers("Q", number).text(d.name).numbers("3I", *d.block)
    out.numbers("5I", d.register_bytes, d.shared_bytes, d.reserved_shared_bytes, d.local_bytes, d.parameter_bytes)
    out.each(d.parameters, lambda to, it: to.numbers("I", it.offset))
    out.each(d.parameters, lambda to, it: to.numbers("I", it.size))
    out.each(list(files), lambda to, file: to.text(file))
    out.each(d.sites, lambda to, it: to.numbers("IIBH2B6I", files[it.file], *it.numbers))
    out.each(d.block_lines, lambda to, it: to.numbers("II", files[it.file], it.line))
    out.each(d.shared_arrays, lambda to, it: to.text(it.name).numbers("II", it.offset, it.size))
    out.each(d.symbols, lambda to, name: to.text(name))
    out.numbers("4I", d.max_threads, d.uses_stack, d.uses_barriers, d.uses_grid_barrier)
    out.numbers("2I", d.block_count, d.observed).numbers("Q", kernel.hot_after)
    out.each(
        d.instruction_mix,
        lambda to, it: (
            to.numbers("3I", files[it.file], it.line, it.block)
            .numbers(f"{len(it.instructions)}I", *it.instructions)
            .numbers(f"{len(it.flops)}I", *it.flops)
        ),
    )
    for table in (*d.polling.tables(), d.waiting):
        out.each(table, lambda to, word: to.numbers("I", word))
    return out.bytes() + _code_bytes(kernel.artifact.code.items())


def _code_bytes(functions: Iterable[tuple[Function, Code]]) -> bytes:
    return Writer().each(list(functions), lambda out, it: out.numbers("I", it[0]).text(it[1].object)).bytes()
