"""Where the arguments of a call lie in the shared memories, and the requests that say so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.packs.pack import Case, OutputSpec, Pack
from judge.packs.signature import Argument
from judge.runner.digest import level_sizes
from judge.runner.frames import Role, Scalar
from judge.runner.messages import ArgumentSpec, PrepareRequest, Slot
from judge.supervisor.shared import SharedRegion, align

_ROLES = {"in": Role.IN, "out": Role.OUT, "inout": Role.INOUT, "scalar": Role.SCALAR}
_SCALARS = {
    np.dtype(np.int8): Scalar.INT8,
    np.dtype(np.uint8): Scalar.UINT8,
    np.dtype(np.int16): Scalar.INT16,
    np.dtype(np.uint16): Scalar.UINT16,
    np.dtype(np.int32): Scalar.INT32,
    np.dtype(np.uint32): Scalar.UINT32,
    np.dtype(np.int64): Scalar.INT64,
    np.dtype(np.uint64): Scalar.UINT64,
    np.dtype(np.float32): Scalar.FLOAT32,
    np.dtype(np.float64): Scalar.FLOAT64,
}
#: What an output is filled with where a pack asks for poison: a NaN in every floating-point type, -1 in integers.
POISON_BYTE = 0xFF
Array = npt.NDArray[np.generic]


def argument_specs(arguments: Sequence[Argument]) -> tuple[ArgumentSpec, ...]:
    """The argument list of ``solve`` as the runner is told it. Raises ValueError for a scalar type that cannot be
    passed.
    """
    specs = []
    for argument in arguments:
        scalar = Scalar.POINTER
        if argument.role == "scalar":
            if argument.dtype not in _SCALARS:
                raise ValueError(f"{argument.name}: a scalar of type {argument.dtype} cannot be passed by value")
            scalar = _SCALARS[argument.dtype]
        specs.append(ArgumentSpec(argument.name, _ROLES[argument.role], scalar))
    return tuple(specs)


@dataclass(frozen=True, slots=True)
class CallLayout:
    """One call's places in the two regions, as the runner is told them, and the outputs to be found there."""

    arguments: tuple[Argument, ...]
    request: PrepareRequest
    outputs: Mapping[str, OutputSpec]

    def put_inputs(self, region: SharedRegion, inputs: Mapping[str, object]) -> None:
        """Copies a call's inputs to their places."""
        for argument, slot in zip(self.arguments, self.request.slots, strict=True):
            if argument.role in ("in", "inout"):
                region.write(slot.input_offset, np.asarray(inputs[argument.name], dtype=argument.dtype))

    def clear_outputs(self, region: SharedRegion) -> None:
        """Takes away what an earlier call left there."""
        for argument, slot in zip(self.arguments, self.request.slots, strict=True):
            if argument.role in ("out", "inout"):
                region.clear(slot.output_offset, slot.size)

    def take_outputs(self, region: SharedRegion) -> dict[str, Array]:
        """Private copies of the outputs, by name."""
        return {
            argument.name: region.read(slot.output_offset, spec.shape, spec.dtype)
            for argument, slot in zip(self.arguments, self.request.slots, strict=True)
            if (spec := self.outputs.get(argument.name)) is not None
        }


def lay_out(pack: Pack, case: Case, inputs: Mapping[str, object]) -> CallLayout:
    """Places for a call with these inputs, each on pages of its own."""
    outputs = pack.output_spec(case)
    slots = []
    input_at = output_at = 0
    for argument in pack.arguments:
        if argument.role == "scalar":
            value = np.asarray(inputs[argument.name], dtype=argument.dtype).tobytes().ljust(8, b"\0")
            slots.append(Slot(value=value))
            continue
        size = argument_bytes(pack, case, argument)
        input_offset = output_offset = fill = 0
        if argument.role != "out":
            input_offset, input_at = input_at, input_at + align(size)
        if argument.role != "in":
            output_offset, output_at = output_at, output_at + align(size)
            fill = POISON_BYTE if outputs[argument.name].initial == "poison" else 0
        slots.append(Slot(size=size, input_offset=input_offset, output_offset=output_offset, fill=fill))
    return CallLayout(pack.arguments, PrepareRequest(tuple(slots)), outputs)


def region_sizes(pack: Pack, case: Case) -> tuple[int, int]:
    """The bytes that one call of a case takes of the input and of the output region, the digests of its outputs' pieces
    included."""
    sizes = {argument.name: argument_bytes(pack, case, argument) for argument in pack.arguments}
    inputs = sum(align(sizes[argument.name]) for argument in pack.arguments if argument.role in ("in", "inout"))
    written = [sizes[argument.name] for argument in pack.arguments if argument.role in ("out", "inout")]
    outputs = sum(align(size) + align(level_sizes(size)[0]) for size in written)
    return inputs, outputs


def argument_bytes(pack: Pack, case: Case, argument: Argument) -> int:
    """The size of an argument's buffer in a case; 0 for a scalar."""
    return math.prod(pack.shape(case, argument)) * argument.dtype.itemsize if argument.is_pointer else 0
