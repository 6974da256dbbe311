"""How the arguments of a launch decide which code it needs.

Triton compiles a kernel for the types of its arguments, for the values of its ``constexpr`` ones and for its options;
and for addresses and whole numbers that are multiples of 16, and whole numbers that are 1, it makes better code. A
launch therefore has two keys: with all of that (``special``), and with types, constants and addresses alone
(``general``), whose code is right for any number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge.runner.triton.dtypes import triton_name

#: What an address or a whole number is a multiple of for better code.
_DIVISOR = 16
#: The options of a launch by which code differs, with their defaults.
OPTIONS: dict[str, Any] = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
#: Options that need no other code here, or that mean nothing on these devices.
IGNORED_OPTIONS = (
    "warmup",
    "stream",
    "enable_fp_fusion",
    "launch_cooperative_grid",
    "waves_per_eu",
    "matrix_instr_nonkdim",
)
#: Types that an annotation fixes.
_FIXED = {
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int1": "u1",
    "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
    "fp16": "fp16", "bf16": "bf16", "fp32": "fp32", "fp64": "fp64", "u1": "u1",
}  # fmt: skip


#: Types of numbers that no launch here passes by value.
_NOT_BY_VALUE = ("fp16", "bf16")


class NotSpecialized(TypeError):
    """An argument of a launch that no kernel takes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel. ``fixed`` is the type that its annotation gives it; empty if none."""

    name: str
    is_constant: bool
    fixed: str = ""
    specialized: bool = True
    aligned: bool = True


@dataclass(frozen=True, slots=True)
class Specialization:
    """The arguments' properties for which a kernel has to be compiled.

    ``signature`` has for each argument its type, or ``constexpr``; ``constants`` the values of those, by index;
    ``multiples`` the indices of what is a multiple of 16. A tuple counts as the arguments in it: ``structure`` has for
    each parameter 0, or for a tuple the same of each of its parts. It is empty where there are no tuples.
    """

    kernel: str
    line: int
    signature: tuple[str, ...]
    constants: tuple[tuple[int, Any], ...]
    multiples: tuple[int, ...]
    options: tuple[tuple[str, Any], ...]
    structure: tuple[Any, ...] = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        parts = [
            self.kernel, self.line, self.signature, self.constants, self.multiples, self.options, self.structure,
        ]  # fmt: skip
        object.__setattr__(self, "key", json.dumps(parts, separators=(",", ":")))

    @classmethod
    def of_key(cls, key: str) -> Specialization:
        """Returns the specialization that has this key."""
        kernel, line, signature, constants, multiples, options, structure = json.loads(key)
        return cls(
            kernel,
            line,
            tuple(signature),
            tuple((index, _frozen(value)) for index, value in constants),
            tuple(multiples),
            tuple((name, value) for name, value in options),
            _frozen(structure),
        )

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each argument the index of its parameter, and its place within the tuples there."""
        return tuple(_paths(self.structure or (0,) * len(self.signature)))

    @property
    def nested_signature(self) -> tuple[Any, ...]:
        """The signature by parameters: a tuple for each that is one."""
        kinds = iter(self.signature)

        def nested(structure: Any) -> Any:
            return tuple(map(nested, structure)) if isinstance(structure, tuple) else next(kinds)

        made: tuple[Any, ...] = nested(self.structure or (0,) * len(self.signature))
        return made

    def argument_names(self, names: Sequence[str]) -> list[str]:
        """Returns the arguments' names from the parameters': ``pair[1]`` for the second part of ``pair``."""
        return [names[path[0]] + "".join(f"[{index}]" for index in path[1:]) for path in self.paths]

    @property
    def arguments(self) -> tuple[tuple[int, str], ...]:
        """The parameters that the device gets, by index, with their types."""
        return tuple((index, kind) for index, kind in enumerate(self.signature) if kind != "constexpr")

    def in_words(self, names: Sequence[str]) -> str:
        """Returns e.g. ``softmax with BLOCK=256, x: *fp32, n: i32 (num_warps=4)``."""
        constants = dict(self.constants)
        parts = [
            f"{name}={show(constants[index])}" if kind == "constexpr" else f"{name}: {kind}"
            for index, (name, kind) in enumerate(zip(self.argument_names(names), self.signature, strict=True))
        ]
        options = ", ".join(f"{name}={value}" for name, value in self.options if value != OPTIONS.get(name))
        return f"{self.kernel} with {', '.join(parts)}" + (f" ({options})" if options else "")


def _paths(structure: tuple[Any, ...], begin: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    for index, each in enumerate(structure):
        path = (*begin, index)
        if isinstance(each, tuple):
            yield from _paths(each, path)
        else:
            yield path


def arguments_of(parameters: Sequence[Parameter], values: Sequence[Any]) -> tuple[list[Parameter], list[Any], Any]:
    """Returns parameters and values with each tuple's parts in its place, and the ``structure`` that they had."""
    parts: list[Parameter] = []
    found: list[Any] = []

    def take(parameter: Parameter, value: Any) -> Any:
        if isinstance(value, (tuple, list)) and not parameter.is_constant:
            return tuple(
                take(replace(parameter, name=f"{parameter.name}[{index}]"), each) for index, each in enumerate(value)
            )
        parts.append(parameter)
        found.append(value)
        return 0

    structure = tuple(take(parameter, value) for parameter, value in zip(parameters, values, strict=True))
    return parts, found, structure if any(isinstance(each, tuple) for each in structure) else ()


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def show(constant: Any) -> str:
    """Returns an encoded constant in words."""
    kind, value = constant
    return "None" if kind == "none" else f"({', '.join(map(show, value))})" if kind == "tuple" else str(value)


def specialize(
    kernel: str, line: int, parameters: Sequence[Parameter], values: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Specialization, Specialization]:
    """Returns the special and the general one of a launch. Raises NotSpecialized for an argument that nothing takes."""
    sorted_options = tuple(sorted(options.items()))
    parameters, values, structure = arguments_of(parameters, values)
    made = []
    for special in (True, False):
        signature: list[str] = []
        constants: list[tuple[int, Any]] = []
        multiples: list[int] = []
        for index, (parameter, value) in enumerate(zip(parameters, values, strict=True)):
            if parameter.is_constant or value is None:
                signature.append("constexpr")
                constants.append((index, encode(parameter.name, value)))
                continue
            kind, is_multiple = _type_of(parameter, value)
            if kind in _NOT_BY_VALUE:
                raise NotSpecialized(
                    f"{parameter.name}: a number of the type {kind} cannot be passed by value: leave its type out"
                )
            if (
                special
                and not parameter.fixed
                and kind in ("i32", "i64", "u64")
                and value == 1
                and parameter.specialized
            ):
                signature.append("constexpr")
                constants.append((index, ("int", 1)))
                continue
            signature.append(kind)
            wanted = kind.startswith("*") or (special and parameter.specialized)
            if wanted and is_multiple and parameter.aligned:
                multiples.append(index)
        made.append(
            Specialization(
                kernel, line, tuple(signature), tuple(constants), tuple(multiples), sorted_options, structure
            )
        )  # fmt: skip
    return made[0], made[1]


def _type_of(parameter: Parameter, value: Any) -> tuple[str, bool]:
    """Returns the type of an argument, and whether it is a multiple of 16."""
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        if not getattr(value, "is_cuda", True):
            raise NotSpecialized(f"{parameter.name}: the tensor is not on the GPU")
        return f"*{triton_name(value.dtype)}", value.data_ptr() % _DIVISOR == 0
    if isinstance(value, bool):
        return parameter.fixed or "u1", False
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise NotSpecialized(f"{parameter.name}: {value} does not fit into 64 bits")
        kind = "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if value < 1 << 63 else "u64"
        return parameter.fixed or kind, value % _DIVISOR == 0
    if isinstance(value, float):
        return parameter.fixed or "fp32", False
    raise NotSpecialized(f"{parameter.name}: a kernel takes no {type(value).__name__}")


def encode(name: str, value: Any) -> tuple[str, Any]:
    """Returns a constant in the form that keys have. Raises NotSpecialized for one that keys cannot have."""
    value = getattr(value, "constexpr_value", value)
    if value is None:
        return "none", None
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind.__name__, repr(value) if kind is float else value
    if isinstance(value, tuple | list):
        return "tuple", tuple(encode(name, each) for each in value)
    if hasattr(value, "triton_dtype"):
        return "dtype", value.triton_dtype
    if hasattr(value, "kernel_place"):
        return "kernel", value.kernel_place
    if hasattr(value, "data_ptr"):
        raise NotSpecialized(f"{name} is tl.constexpr, and an array is not a constant")
    raise NotSpecialized(f"{name}: a constant is a number, a text, a type or a kernel, and no {type(value).__name__}")


def fixed_type(annotation: str) -> str:
    """Returns the type that an annotation of a parameter gives it; empty where it gives none."""
    return _FIXED.get(annotation.rpartition(".")[2].strip(), "")
