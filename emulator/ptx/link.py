"""Links several modules into one program, as ``nvcc -rdc=true`` does.

Definitions take the place of ``.extern`` declarations of the same name; of several definitions (``.weak``) the first
is taken. A name that is a module's own (neither visible nor weak) is made unique where another module has it as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from emulator.ptx.ir import Module
from emulator.ptx.parser import parse_module


def link(texts: Sequence[str]) -> Module:
    """Raises ``PtxError`` when one of them is not PTX."""
    modules = [parse_module(text) for text in texts]
    if len(modules) == 1:
        return modules[0]
    owners = Counter(name for module in modules for name in (*module.variables, *module.functions))
    for number, (text, module) in enumerate(zip(texts, modules, strict=True)):
        own = [name for name in (*module.variables, *module.functions) if owners[name] > 1 and _is_own(text, name)]
        if own:
            modules[number] = parse_module(_renamed(text, own, f"$L{number}"))
    whole = modules[0]
    for name in whole.functions:
        whole.files_of[name] = whole.files
    for module in modules[1:]:
        _add(whole, module)
    return whole


def _is_own(text: str, name: str) -> bool:
    """Returns whether no declaration makes it visible to other modules."""
    declared = re.compile(
        rf"^[^\n;{{}}]*\.(?:visible|weak|extern|common)\b[^;{{}}]*?(?<![\w$%]){re.escape(name)}(?![\w$%])", re.M
    )
    return declared.search(text) is None


def _renamed(text: str, names: Sequence[str], suffix: str) -> str:
    words = "|".join(re.escape(name) for name in names)
    return re.sub(rf"(?<![\w$%])({words})(?![\w$%])", lambda m: m.group(1) + suffix, text)


def _add(whole: Module, module: Module) -> None:
    for name, variable in module.variables.items():
        known = whole.variables.get(name)
        if known is None or (known.external and not variable.external):
            whole.variables[name] = variable
    for name, function in module.functions.items():
        there = whole.functions.get(name)
        if there is not None and (there.defined or not function.defined):
            continue
        whole.functions[name] = function
        whole.files_of[name] = module.files
        if name in module.bodies:
            whole.bodies[name] = module.bodies[name]
