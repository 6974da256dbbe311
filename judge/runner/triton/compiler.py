"""Compiles kernels to PTX by Triton's own compiler. The only module that imports Triton."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from judge.runner.triton import stand_ins
from judge.runner.triton.recording_pass import NoMemory
from judge.runner.triton.source_module import FILE_NAME, execute, told
from judge.runner.triton.specialization import Specialization

#: Shared memory that a block may have on a GPU, in bytes, by compute capability.
SHARED_BYTES = {75: 65536, 80: 166912, 86: 101376, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
#: What Triton makes of a kernel before LLVM has it.
STAGES = ("ttir", "ttgir")
#: The first compute capability with ``tl.float8e4nv``.
_FP8_CAPABILITY = 89
#: One compiled kernel, as plain data; or, under ``error``, why there is none.
Made = dict[str, Any]


class SourceError(Exception):
    """The source does not run under Triton; the message says why."""


class Compiler:
    """Triton, with the submission's module in it."""

    def __init__(
        self, source: bytes, path: str, capability: int, ptx_version: int, *, for_emulator: bool, keeps_stages: bool
    ) -> None:
        self._capability, self._ptx_version, self._path = capability, ptx_version, path
        self._is_for_emulator, self._keeps_stages = for_emulator, keeps_stages
        self._functions: dict[tuple[str, int], Any] = {}
        self._triton = self._import()
        try:
            execute(source, path)
        except BaseException as error:
            raise SourceError(told(error, path)) from None

    def _import(self) -> ModuleType:
        """Imports Triton and has it leave to us what launches: here kernels are only compiled."""
        triton = importlib.import_module("triton")
        stand_ins.torch_alone(NoMemory())
        real = triton.jit

        def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
            if fn is None:
                return lambda function: jit(function, **options)
            made = real(fn, **options)
            self._functions[fn.__qualname__, fn.__code__.co_firstlineno] = made
            return made

        vars(triton).update(
            jit=jit, autotune=lambda *_, **__: lambda inside: inside, heuristics=lambda *_, **__: lambda inside: inside
        )
        triton.runtime.driver.set_active(stand_ins.runtime_driver().active)
        return triton

    def compile(self, wanted: Specialization, name: str) -> Made:
        """Compiles one kernel, whose entry is to be called ``name``."""
        place = (wanted.kernel, wanted.line)
        function = self._functions.get(place)
        if function is None:
            text = f"the kernel {wanted.kernel} is made anew within solve; define it at the top of the file"
            return {"error": f"{FILE_NAME}:{wanted.line}: error: {text}"}
        try:
            return self._compile(function, wanted, name)
        except BaseException as error:
            return {"error": self._told(error, function)}

    def _compile(self, function: Any, wanted: Specialization, name: str) -> Made:
        """Compiles; for the emulator a second time where that needs it.

        It does so with long pointers if thread-local memory is used, which lies anywhere there, and for a later
        architecture if the kernel has a type that only that has.
        """
        try:
            made = self._compile_once(function, wanted, name)
        except BaseException as error:
            if not (self._is_for_emulator and self._capability < _FP8_CAPABILITY and _lacks_fp8(error)):
                raise
            before, self._capability = self._capability, _FP8_CAPABILITY
            try:
                return self._compile(function, wanted, name)
            finally:
                self._capability = before
        if self._is_for_emulator and ".local " in made.get("ptx", ""):
            nvidia: Any = importlib.import_module("triton.backends.nvidia.compiler")
            flags = nvidia.get_llvm_flags
            nvidia.get_llvm_flags = lambda: [flag for flag in flags() if flag != "nvptx-short-ptr"]
            try:
                made = self._compile_once(function, wanted, name)
            finally:
                nvidia.get_llvm_flags = flags
        return made

    def _compile_once(self, function: Any, wanted: Specialization, name: str) -> Made:
        compiler = importlib.import_module("triton.compiler.compiler")
        target = importlib.import_module("triton.backends.compiler").GPUTarget("cuda", self._capability, 32)
        names = function.arg_names
        signature = dict(zip(names, wanted.nested_signature, strict=True))
        paths = wanted.paths
        constants = {paths[index]: self._decoded(value) for index, value in wanted.constants}
        attrs = {paths[index]: [["tt.divisibility", 16]] for index in wanted.multiples}
        source = compiler.ASTSource(function, signature, constants, attrs)
        backend = compiler.make_backend(target)
        given = {key: value for key, value in wanted.options if value is not None}
        options = backend.parse_options({**given, "ptx_version": self._ptx_version, **source.parse_options()})
        context = compiler.ir.context()
        compiler.ir.load_dialects(context)
        backend.load_dialects(context)
        metadata: dict[str, Any] = {"target": target, **options.__dict__}
        module = source.make_ir(
            target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        stages: dict[str, Any] = {}
        backend.add_stages(stages, options, source.language)
        kept: dict[str, str] = {}
        for stage in ("ttir", "ttgir", "llir"):
            module = stages[stage](module, metadata)
            if self._keeps_stages and stage in STAGES:
                kept[stage] = str(module)
        # Before what takes longest.
        shared, most = int(metadata["shared"]), SHARED_BYTES.get(self._capability, 101376)
        if shared > most:
            text = f"{wanted.in_words(names)} needs {shared:,} bytes of shared memory a block, and there are {most:,}"
            return {"error": f"{FILE_NAME}:{wanted.line}: error: {text}: make its tiles smaller, or num_stages"}
        if int(metadata.get("num_ctas", 1)) != 1:
            return {"error": f"{FILE_NAME}:{wanted.line}: error: num_ctas above 1 (clusters) is not supported"}
        module = stages["ptx"](module, metadata)
        entry = str(metadata["name"])
        return {
            "name": name,
            "warps": int(metadata["num_warps"]),
            "shared": shared,
            "scratch": int(metadata.get("global_scratch_size") or 0),
            "align": int(metadata.get("global_scratch_align") or 1),
            "ptx": _with_own_lines(re.sub(rf"(\.entry\s+){re.escape(entry)}\b", rf"\g<1>{name}", module)),
            **{stage: text.replace(f"@{entry}(", f"@{name}(") for stage, text in kept.items()},
        }

    def _decoded(self, constant: Sequence[Any]) -> Any:
        """Returns the value of an encoded constant."""
        kind, value = constant
        if kind == "none":
            return None
        if kind == "tuple":
            return tuple(self._decoded(each) for each in value)
        if kind == "dtype":
            return self._triton.language.dtype(value)
        if kind == "kernel":
            return self._functions[value[0], value[1]]
        return float(value) if kind == "float" else value

    def _told(self, error: BaseException, function: Any) -> str:
        """Returns an error of the compiler by the line of the file that it is about.

        An error inside one of Triton's own functions names the line that calls the function.
        """
        own = {each.src: each for each in self._functions.values()}
        last, place = error, None
        at: BaseException | None = error
        while at is not None:
            if hasattr(at, "node") and hasattr(at, "src"):
                last = at
                if hasattr(at.node, "lineno") and (at.src in own or place is None):
                    place = own.get(at.src, function), at.node
            at = at.__cause__
        if place is None:
            return told(error, self._path)
        holder, node = place
        line = _line_of_def(holder) + node.lineno - 1
        message = getattr(last, "error_message", None) or self._cause(last)
        return f"{FILE_NAME}:{line}:{node.col_offset + 1}: error: {message or type(last).__name__}"

    @staticmethod
    def _cause(error: BaseException) -> str:
        cause = error.__cause__ or error.__context__
        if isinstance(cause, AssertionError) and not str(cause):
            # What Triton asserts says more than nothing.
            return f"Triton demands: {traceback.extract_tb(cause.__traceback__)[-1].line}"
        return f"{type(cause).__name__}: {cause}" if cause is not None else ""


def _line_of_def(function: Any) -> int:
    """Returns the line of the file where a function's source begins for Triton: at ``def``, behind its decorators."""
    begins = (number for number, text in enumerate(function.raw_src) if text.lstrip().startswith("def "))
    return int(function.starting_line_number) + next(begins, 0)


def _lacks_fp8(error: BaseException | None) -> bool:
    """Returns whether Triton refused a type of 8-bit floats for the architecture."""
    while error is not None:
        if "fp8" in str(error) and "not supported in this architecture" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _with_own_lines(ptx: str) -> str:
    """Returns PTX in which all of a piece of inline assembly belongs to the line that it is for.

    LLVM counts the lines within such a piece on from that line.
    """
    lines, inside = [], False
    for line in ptx.split("\n"):
        text = line.strip()
        inside = text.startswith("// begin inline asm") or (inside and not text.startswith("// end inline asm"))
        if not (inside and text.startswith(".loc")):
            lines.append(line)
    return "\n".join(lines)


def compile_side_by_side(
    compiler: Compiler, wanted: Sequence[tuple[Specialization, str]], processes: int
) -> list[Made]:
    """Compiles in several processes. A result that never comes is an error without words."""
    count = max(1, min(processes, len(wanted)))
    readers = []
    for number in range(count):
        read_fd, write_fd = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(read_fd)
                made = [compiler.compile(*each) for each in wanted[number::count]]
                with os.fdopen(write_fd, "w") as pipe:
                    json.dump(made, pipe)
                status = 0
            finally:
                os._exit(status)
        os.close(write_fd)
        readers.append((child, read_fd))
    results: list[Made] = [{"error": "the compiler crashed"} for _ in wanted]
    for number, (child, read_fd) in enumerate(readers):
        with os.fdopen(read_fd, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        if data:
            results[number::count] = json.loads(data)
    sys.stdout.flush()
    return results
