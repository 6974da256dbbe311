"""Compiles LLVM IR text to machine code, as a relocatable object."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

from llvmlite import binding

from emulator.jit.artifact import Tier
from emulator.jit.options import Target

llvm: Any = binding  # it has no types of its own

# The global context of LLVM, where modules are made, is shared by the process.
_lock = threading.Lock()


@cache
def host_target() -> Target:
    """Returns the CPU of this machine, as LLVM names it; the first call initializes LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def attributes(target: Target) -> str:
    """Returns the line of LLVM IR that defines ``#0``, the attributes of all functions of a module."""
    width = "512" if target.has_avx512 else "256"
    return (
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{width}" "target-cpu"="{target.cpu}" '
        f'"target-features"="{target.features}" }}'
    )


def module_text(declarations: Iterable[str], definitions: Iterable[str], target: Target) -> str:
    """Returns a module's text.

    ``!1`` marks branches that are nearly always taken, ``!2`` those that rarely are.
    """
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


_LARGE = 25_000  # lines of IR from which even the best code is made in a hurry


def emit_object(text: str, target: Target, tier: Tier) -> bytes:
    """The ELF object: position-independent, constants near the code, helpers called by name.

    Quick code has registers in SSA form and no more; for the best there are local simplifications and a better code
    generator, which takes two to four times as long.
    """
    quick = tier is Tier.QUICK or text.count("\n") > _LARGE
    host_target()  # initialises LLVM
    with _lock:
        return _emit(text, target, quick=quick)


def _emit(text: str, target: Target, *, quick: bool) -> bytes:
    """Takes the lock for granted. Objects that it makes in the global context are gone when it returns."""
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(
        cpu=target.cpu, features=target.features, opt=0 if quick else 1, reloc="pic", codemodel="small"
    )
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    if not quick:
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


def warm_up() -> None:
    """Loads the parts of LLVM that the first kernel would otherwise wait for."""
    text = module_text((), ("define i32 @f() #0 {\n ret i32 0\n}",), host_target())
    for tier in (Tier.QUICK, Tier.BEST):
        emit_object(text, host_target(), tier)
