"""The JSON of an assembly, which the terminal prints and the database keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from judge.compile.assembly import LISTINGS, Assembly, FunctionAssembly
from judge.compile.listing import Instruction
from judge.judgement import KernelResources


def to_json(assembly: Assembly) -> dict[str, Any]:
    """Returns the assembly as JSON: each instruction is an object of its ``line`` and its ``text``."""
    kinds = ("ptx", "sass", *(kind for kind in assembly.kinds if kind not in ("ptx", "sass")))
    return {
        "architecture": assembly.architecture,
        "functions": [
            {
                "name": function.name,
                "symbol": function.symbol,
                "is_kernel": function.is_kernel,
                "block_threads": function.block_threads,
                "resources": dataclasses.asdict(function.resources) if function.resources else None,
                **{kind: [{"line": each.line, "text": each.text} for each in function.listing(kind)] for kind in kinds},
            }
            for function in assembly.functions
        ],
    }


def from_json(data: Mapping[str, Any]) -> Assembly:
    """Reads the output of ``to_json``."""
    return Assembly(
        data["architecture"],
        tuple(
            FunctionAssembly(
                symbol=each["symbol"],
                is_kernel=each["is_kernel"],
                block_threads=each["block_threads"],
                resources=KernelResources(**each["resources"]) if each["resources"] else None,
                **{kind: _listing(each.get(kind, ())) for kind in LISTINGS},
            )
            for each in data["functions"]
        ),
    )


def _listing(lines: Sequence[Mapping[str, Any]]) -> tuple[Instruction, ...]:
    return tuple(Instruction(each["text"], each["line"]) for each in lines)
