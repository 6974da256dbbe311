"""LLVM IR text → machine code in memory."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import binding

llvm: Any = binding  # it has no types of its own

# MCJIT's symbol table and code generators are shared by the process.
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Target:
    """The CPU that code is made for."""

    cpu: str
    features: str

    @property
    def has_avx512(self) -> bool:
        return all(f"+{name}" in self.features.split(",") for name in ("avx512f", "avx512vl", "avx512bw", "avx512dq"))


@cache
def host_target() -> Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def bind(name: str, address: int) -> None:
    """Make a helper known to generated code."""
    llvm.add_symbol(name, address)


def attributes(target: Target) -> str:
    width = "512" if target.has_avx512 else "256"
    return (
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{width}" "target-cpu"="{target.cpu}" '
        f'"target-features"="{target.features}" }}'
    )


def module_text(declarations: Iterable[str], definitions: Iterable[str], target: Target) -> str:
    return "\n".join(
        (
            'target triple = "x86_64-unknown-linux-gnu"',
            *sorted(declarations),
            *definitions,
            attributes(target),
            "!0 = !{}",
            '!1 = !{!"branch_weights", i32 2000, i32 1}',
            '!2 = !{!"branch_weights", i32 1, i32 2000}',
        )
    )


@dataclass(frozen=True, slots=True)
class Code:
    address: int
    engine: Any  # keeps the memory


_LARGE = 25_000  # lines of IR from which code is made in a hurry


def compile_ir(text: str, entry: str, target: Target) -> Code:
    """Quick passes (registers to SSA, local simplification), then the code generator; less of both for very large
    functions."""
    hurry = text.count("\n") > _LARGE
    with _lock:
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=target.cpu, features=target.features, opt=0 if hurry else 1, jit=True
        )
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        if not hurry:
            passes.add_instruction_combine_pass()
            passes.add_simplify_cfg_pass()
        passes.run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        address = engine.get_function_address(entry)
    return Code(address, engine)


def pointer_of(function: object) -> int:
    """The address of a ctypes function."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]
