"""Translates PTX text to a typed intermediate form: modules, functions, basic blocks, liveness.

Knows nothing of LLVM or of running.
"""

from emulator.ptx.errors import PtxError, Unsupported
from emulator.ptx.ir import Function, Module, Variable
from emulator.ptx.parser import parse_module

__all__ = ["Function", "Module", "PtxError", "Unsupported", "Variable", "parse_module"]
