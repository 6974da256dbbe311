"""Lays out the arguments of a call in the shared memory, and builds the requests that say where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge.packs.data.storage import stored, stored_type, values_of
from judge.packs.form.argument import Argument
from judge.packs.pack import Case, Pack
from judge.packs.sizes import OutputSpec, array_shape, buffer_bytes, output_specs
from judge.supervisor.shared_memory import SharedRegion, align
from judge.wire.digest import level_sizes
from judge.wire.frames import Role
from judge.wire.messages import ArgumentSpec, PrepareRequest, Slot
from records import dataclass

_ROLES = {"in": Role.IN, "out": Role.OUT, "inout": Role.INOUT, "scalar": Role.SCALAR}
#: What an output is filled with where a pack asks for poison: a NaN in every floating-point type, -1 in integers.
POISON_BYTE = 0xFF
Array = npt.NDArray[np.generic]


def argument_specs(arguments: Sequence[Argument]) -> tuple[ArgumentSpec, ...]:
    """Returns the arguments of ``solve`` in wire form."""
    return tuple(ArgumentSpec(argument.name, _role(argument), argument.element) for argument in arguments)


def _role(argument: Argument) -> Role:
    """Returns the role in wire form. Arguments that are not const in the signature may be written to."""
    spent = argument.role == "in" and not argument.c_type.startswith("const ")
    return Role.SPENT if spent else _ROLES[argument.role]


@dataclass(frozen=True, slots=True)
class CallLayout:
    """Where one call's arguments lie in the two regions, and the outputs to be read from there."""

    arguments: tuple[Argument, ...]
    request: PrepareRequest
    outputs: Mapping[str, OutputSpec]

    def put_inputs(self, region: SharedRegion, inputs: Mapping[str, object]) -> None:
        """Copies a call's inputs into the region."""
        for argument, slot in zip(self.arguments, self.request.slots, strict=True):
            if argument.is_input:
                region.write(slot.input_offset, stored(argument.element, np.asarray(inputs[argument.name])))

    def clear_outputs(self, region: SharedRegion) -> None:
        """Zeroes the outputs, so that no earlier call's results remain."""
        for argument, slot in zip(self.arguments, self.request.slots, strict=True):
            if argument.is_output:
                region.clear(slot.output_offset, slot.size)

    def take_outputs(self, region: SharedRegion) -> dict[str, Array]:
        """Returns private copies of the outputs, by name."""
        return {
            argument.name: values_of(
                spec.element, region.read(slot.output_offset, spec.shape, stored_type(spec.element))
            )
            for argument, slot in zip(self.arguments, self.request.slots, strict=True)
            if (spec := self.outputs.get(argument.name)) is not None
        }


def lay_out(pack: Pack, case: Case, inputs: Mapping[str, object]) -> CallLayout:
    """Returns the layout of a call with these inputs; each argument has pages of its own."""
    outputs = output_specs(pack, case)
    slots = []
    input_at = output_at = 0
    for argument in pack.arguments:
        if argument.role == "scalar":
            value = stored(argument.element, np.asarray(inputs[argument.name])).tobytes().ljust(8, b"\0")
            slots.append(Slot(value=value))
            continue
        size = buffer_bytes(case, argument)
        input_offset = output_offset = fill = 0
        extents = array_shape(case, argument)
        if argument.role != "out":
            input_offset, input_at = input_at, input_at + align(size)
        if argument.role != "in":
            output_offset, output_at = output_at, output_at + align(size)
            fill = POISON_BYTE if outputs[argument.name].initial == "poison" else 0
        slots.append(Slot(size=size, input_offset=input_offset, output_offset=output_offset, fill=fill, shape=extents))
    return CallLayout(pack.arguments, PrepareRequest(tuple(slots)), outputs)


def region_sizes(pack: Pack, case: Case) -> tuple[int, int]:
    """Returns the bytes of the input and the output region for one call, including the outputs' piece digests."""
    sizes = {argument.name: buffer_bytes(case, argument) for argument in pack.arguments}
    inputs = sum(align(sizes[argument.name]) for argument in pack.arguments if argument.role in ("in", "inout"))
    written = [sizes[argument.name] for argument in pack.arguments if argument.role in ("out", "inout")]
    outputs = sum(align(size) + align(level_sizes(size)[0]) for size in written)
    return inputs, outputs
