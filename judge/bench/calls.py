"""Planned calls as the runner is told them, and their contents as this side knows them."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge.bench.schedule import PlannedCall, most_shift_bytes, places_for
from judge.native.library import Bytes
from judge.packs.distributions import mask
from judge.packs.pack import Case, Pack
from judge.packs.signature import Argument
from judge.recipe import Element, Kind, Recipe
from judge.runner.bursts import ReserveRequest, StageRequest, TimedCall, TimedSlot, TimeRequest
from judge.runner.digest import level_sizes
from judge.supervisor.factory import BURST_OUTPUT_BYTES
from judge.supervisor.layout import POISON_BYTE, Array
from judge.supervisor.session import Session
from judge.supervisor.shared import align

#: Outputs of a call that are together no larger are copied out at once, instead of being committed by a digest.
SMALL_OUTPUT_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class _OutputPlace:
    """In the shared memory: where an output lies, and so many bytes of digests of its pieces."""

    output: int = 0
    digests: int = 0
    digests_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CallMaker:
    """The calls of one case, at or below its sizes, with the contents that ``seed`` decides."""

    pack: Pack
    case: Case
    seed: int
    memory_bytes: int = 0

    @property
    def places(self) -> int:
        """How many calls a burst has at the most."""
        made_here = self._made_here()
        staged = sum(self._size(self.case, each) for each in self.pack.arguments if each.name in made_here)
        return places_for(self.output_bytes + staged, self.memory_bytes)

    @property
    def input_bytes(self) -> int:
        return self._bytes("in", "inout")

    @property
    def output_bytes(self) -> int:
        return self._bytes("out", "inout")

    @property
    def copies(self) -> bool:
        """Whether outputs are so small that they are copied out at once."""
        room = self.places * self._output_stride
        return self.output_bytes <= SMALL_OUTPUT_BYTES and room <= BURST_OUTPUT_BYTES

    @property
    def opened_bytes(self) -> int:
        """What a call that is opened takes of the shared memory; 0 where all are copied at once."""
        places = self._output_places(self.case, 0).values()
        return 0 if self.copies else max((place.digests + place.digests_bytes for place in places), default=0)

    def reserve(self, session: Session, places: int | None = None) -> None:
        """Makes room on the device, for bursts of ``places`` calls at the most. Raises what the session raises."""
        rooms = tuple(
            self._size(self.case, argument) + most_shift_bytes() if argument.is_pointer else 0
            for argument in self.pack.arguments
        )
        session.reserve(ReserveRequest(rooms, places or self.places))

    def request(self, session: Session, calls: Sequence[PlannedCall]) -> TimeRequest:
        """The burst, with what only this side can make brought to the device, masked, so that it means nothing there
        before its call. Raises what the session raises."""
        staged = self._stage(session, calls) if self._made_here() else {}
        return TimeRequest(tuple(self._timed(call, place, staged) for place, call in enumerate(calls)))

    def inputs(self, call: PlannedCall, threads: int) -> dict[str, Any]:
        """What ``solve`` got, to be made as it is looked at, on so many threads at the most."""
        contents = call.contents
        return self.pack.drawn_inputs(call.case, self.seed, contents.call, like=contents.like, threads=threads)

    def outputs(self, session: Session, call: PlannedCall, place: int) -> dict[str, Array]:
        """Private copies of a call's outputs from the shared memory, once they have been copied there."""
        places = self._output_places(call.case, place)
        return {
            name: session.runner.outputs.read(places[name].output, spec.shape, spec.dtype)
            for name, spec in self.pack.output_spec(call.case).items()
        }

    def pieces(self, session: Session, call: PlannedCall) -> dict[str, Bytes]:
        """Likewise the digests of the pieces of its outputs, as they came with those of a call that was opened."""
        return {
            name: session.runner.outputs.read(place.digests, (place.digests_bytes,), np.dtype(np.uint8)).view(np.uint8)
            for name, place in self._output_places(call.case, 0).items()
        }

    def _made_here(self) -> list[str]:
        """The inputs that no device can make."""
        return [name for name, recipe in self.pack.recipes(self.case, self.seed).items() if recipe is None]

    def _timed(self, call: PlannedCall, place: int, staged: dict[tuple[int, str], Recipe]) -> TimedCall:
        contents = call.contents
        recipes = self.pack.recipes(call.case, self.seed, contents.call, like=contents.like)
        scalars = self.pack.scalars(call.case)
        specs = self.pack.output_spec(call.case)
        places = self._output_places(call.case, place)
        slots = []
        for argument, shift in zip(self.pack.arguments, call.shifts, strict=True):
            if not argument.is_pointer:
                slots.append(TimedSlot(value=scalars[argument.name].tobytes().ljust(8, b"\0")))
                continue
            spec = specs.get(argument.name)
            out = places.get(argument.name, _OutputPlace())
            slots.append(
                TimedSlot(
                    size=self._size(call.case, argument),
                    output_offset=out.output,
                    digests_offset=out.digests,
                    fill=POISON_BYTE if spec is not None and spec.initial == "poison" else 0,
                    recipe=recipes.get(argument.name) or staged.get((place, argument.name)),
                    shift=shift,
                    place=place if spec is not None else 0,
                )
            )
        return TimedCall(tuple(slots), copy=self.copies)

    def _stage(self, session: Session, calls: Sequence[PlannedCall]) -> dict[tuple[int, str], Recipe]:
        """Masked recipes by place and argument."""
        recipes: dict[tuple[int, str], Recipe] = {}
        with ThreadPoolExecutor(thread_name_prefix="inputs") as pool:
            for place, arrays in enumerate(pool.map(self._host_inputs, calls)):
                for name, array in arrays.items():
                    key = (secrets.randbits(64), secrets.randbits(64))
                    masked = mask(array, key)
                    session.runner.inputs.write(0, masked)
                    session.stage(StageRequest(len(recipes), 0, masked.nbytes))
                    element = Element[array.dtype.name.upper()]
                    recipes[place, name] = Recipe(Kind.MASKED, element, key, stage=len(recipes))
        return recipes

    def _host_inputs(self, call: PlannedCall) -> dict[str, Array]:
        return self.pack.host_inputs(call.case, self.seed, call.contents.call, like=call.contents.like)

    def _output_places(self, case: Case, place: int) -> dict[str, _OutputPlace]:
        """Where a call's outputs go: those that are copied at once lie apart from the other calls', and have no
        digests."""
        at = place * self._output_stride if self.copies else 0
        places = {}
        for argument in self.pack.outputs:
            size = self._size(case, argument)
            end = at + align(size)
            places[argument.name] = _OutputPlace(at, end, 0 if self.copies else level_sizes(size)[0])
            at = end + align(places[argument.name].digests_bytes)
        return places

    @property
    def _output_stride(self) -> int:
        return sum(align(self._size(self.case, argument)) for argument in self.pack.outputs)

    def _size(self, case: Case, argument: Argument) -> int:
        """Bytes; 0 for a scalar."""
        return math.prod(self.pack.shape(case, argument)) * argument.dtype.itemsize if argument.is_pointer else 0

    def _bytes(self, *roles: str) -> int:
        return sum(self._size(self.case, argument) for argument in self.pack.arguments if argument.role in roles)
