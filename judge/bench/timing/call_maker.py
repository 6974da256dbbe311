"""Turns planned calls into requests to the runner, and finds their inputs and outputs."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judge.bench.oracle.questions import Question
from judge.bench.timing.schedule import PlannedCall, max_burst_calls, max_offset_bytes
from judge.native.library import Bytes
from judge.packs.collection.pool import Pool, SecretPool
from judge.packs.data.inputs import host_inputs, input_recipes, lazy_inputs, pool_bytes, scalar_values
from judge.packs.data.storage import stored, stored_type
from judge.packs.data.streams import mask
from judge.packs.form.argument import Argument
from judge.packs.isolation.shared_array import SharedRooms
from judge.packs.pack import Case, Pack
from judge.packs.sizes import array_shape, buffer_bytes, output_specs
from judge.supervisor.factory import BURST_OUTPUT_BYTES
from judge.supervisor.layout import POISON_BYTE, Array
from judge.supervisor.session import Session
from judge.supervisor.shared_memory import align
from judge.wire.bursts import GUARD_BYTES, PieceRequest, ReserveRequest, TimedCall, TimedSlot
from judge.wire.digest import level_sizes
from judge.wire.recipe import Kind, Recipe

#: Outputs of one call up to this total size are copied out at once instead of being committed by a digest.
SMALL_OUTPUT_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class _OutputRegion:
    """Where an output and its piece digests lie in the shared memory, in bytes."""

    output_offset: int = 0
    digests_offset: int = 0
    digests_bytes: int = 0


@dataclass(frozen=True)
class CallMaker:
    """Makes the calls of one case, at or below its sizes. ``seed`` decides the inputs."""

    pack: Pack
    case: Case
    seed: int
    memory_bytes: int = 0

    @functools.cached_property
    def max_calls(self) -> int:
        """The calls of the longest burst."""
        host_made = self._host_made
        staged = sum(buffer_bytes(self.case, each) for each in self.pack.arguments if each.name in host_made)
        return max_burst_calls(self.output_bytes + staged, self.memory_bytes)

    @functools.cached_property
    def input_bytes(self) -> int:
        return self._bytes("in", "inout")

    @functools.cached_property
    def output_bytes(self) -> int:
        return self._bytes("out", "inout")

    @functools.cached_property
    def copies_outputs(self) -> bool:
        """Whether outputs are small enough to be copied out at once."""
        room = self.max_calls * self._output_stride
        return self.output_bytes <= SMALL_OUTPUT_BYTES and room <= BURST_OUTPUT_BYTES

    @property
    def opened_bytes(self) -> int:
        """The shared memory that an opened call takes; 0 if all outputs are copied at once."""
        regions = self._output_regions(self.case, 0).values()
        return (
            0 if self.copies_outputs else max((each.digests_offset + each.digests_bytes for each in regions), default=0)
        )

    def reservation(self, max_calls: int | None = None) -> ReserveRequest:
        """Returns the device memory that bursts of up to ``max_calls`` calls take."""
        calls = max_calls or self.max_calls
        rooms = tuple(
            self._place_bytes(argument) * (1 if argument.role == "in" else calls) if argument.is_pointer else 0
            for argument in self.pack.arguments
        )
        return ReserveRequest(rooms, calls * self._staged_bytes, pool_bytes(self.pack, self.case))

    def request(self, session: Session, calls: Sequence[PlannedCall]) -> tuple[TimedCall, ...]:
        """Returns the calls of a burst as they are sent. Raises what the session raises.

        Inputs that only the host can make are copied to the device first, masked, so that they mean nothing there
        before their call.
        """
        staged = self._stage(session, calls) if self._host_made else {}
        pooled = session.pool is not None
        return tuple(self.timed_call(call, index, staged, pooled=pooled) for index, call in enumerate(calls))

    def timed_call(
        self, call: PlannedCall, index: int, staged: dict[tuple[int, str], Recipe], *, pooled: bool
    ) -> TimedCall:
        """Returns the burst's call ``index`` as it is sent.

        ``staged`` has the recipes of inputs that only the host can make; ``pooled`` mixes the others with the pool.
        """
        key = call.inputs
        recipes = input_recipes(self.pack, call.case, self.seed, key.call, like=key.like, pooled=pooled)
        blank = self._blank_slots if call.case is self.case else self._make_blank_slots(call.case)
        copied_at = index * self._output_stride if self.copies_outputs else 0
        slots = []
        for argument, (slot, place_bytes), offset in zip(self.pack.arguments, blank, call.offsets, strict=True):
            if argument.is_pointer:
                at = copied_at if place_bytes else 0
                slot = replace(
                    slot,
                    output_offset=slot.output_offset + at,
                    digests_offset=slot.digests_offset + at,
                    recipe=recipes.get(argument.name) or staged.get((index, argument.name)),
                    shift=offset + index * place_bytes,
                )
            slots.append(slot)
        return TimedCall(tuple(slots), copy=self.copies_outputs)

    @functools.cached_property
    def _blank_slots(self) -> list[tuple[TimedSlot, int]]:
        return self._make_blank_slots(self.case)

    def _make_blank_slots(self, case: Case) -> list[tuple[TimedSlot, int]]:
        """Returns the arguments of a burst's first call without recipes and offsets, at or below the case's sizes.

        With each is how far behind it that of the next call lies: 0 for what is only read.
        """
        scalars, specs = scalar_values(self.pack, case), output_specs(self.pack, case)
        regions = self._output_regions(case, 0)
        slots = []
        for argument in self.pack.arguments:
            if not argument.is_pointer:
                slots.append((TimedSlot(value=scalars[argument.name].tobytes().ljust(8, b"\0")), 0))
                continue
            spec = specs.get(argument.name)
            region = regions.get(argument.name, _OutputRegion())
            slot = TimedSlot(
                size=buffer_bytes(case, argument),
                output_offset=region.output_offset,
                digests_offset=region.digests_offset,
                fill=POISON_BYTE if spec is not None and spec.initial == "poison" else 0,
                shape=array_shape(case, argument),
            )
            slots.append((slot, 0 if spec is None else self._place_bytes(argument)))
        return slots

    def inputs(self, call: PlannedCall, threads: int, pool: Pool | None) -> dict[str, Any]:
        """Returns the call's inputs, made lazily where they are read, on up to ``threads`` threads.

        ``pool`` is that of the session that made the call.
        """
        key = call.inputs
        return lazy_inputs(self.pack, call.case, self.seed, key.call, like=key.like, threads=threads, pool=pool)

    def question(
        self, call: PlannedCall, outputs: dict[str, Array], digests: tuple[bytes, ...], pool: SecretPool | None
    ) -> Question:
        """Returns the question to the oracle about the call's outputs."""
        key, case = call.inputs, call.case
        given = scalar_values(self.pack, case) | host_inputs(self.pack, case, self.seed, key.call, like=key.like)
        recipes = input_recipes(self.pack, case, self.seed, key.call, like=key.like, pooled=pool is not None)
        return Question(case, recipes, given, outputs, digests, pool)

    def outputs(self, session: Session, call: PlannedCall, index: int, rooms: SharedRooms) -> dict[str, Array]:
        """Returns private copies of the outputs of the burst's call ``index``, once they lie in the shared memory.

        They are as they lie in memory (judge.packs.data.storage): their digests are over these bytes. In ``rooms``
        the processes of the pack, which check them, can map them.
        """
        regions = self._output_regions(call.case, index)
        return {
            name: session.runner.outputs.read(
                regions[name].output_offset, spec.shape, stored_type(spec.element), make=rooms.take
            )
            for name, spec in output_specs(self.pack, call.case).items()
        }

    def pieces(self, session: Session, call: PlannedCall) -> dict[str, Bytes]:
        """Returns private copies of the piece digests of an opened call's outputs."""
        read, dtype = session.runner.outputs.read, np.dtype(np.uint8)
        return {
            name: read(region.digests_offset, (region.digests_bytes,), dtype).view(np.uint8)
            for name, region in self._output_regions(call.case, 0).items()
        }

    @functools.cached_property
    def _host_made(self) -> list[str]:
        """Returns the names of the inputs that the device cannot make."""
        return [name for name, recipe in input_recipes(self.pack, self.case, self.seed).items() if recipe is None]

    @functools.cached_property
    def _staged_bytes(self) -> int:
        """The device memory that the host-made inputs of one call take."""
        host_made = self._host_made
        return sum(align(buffer_bytes(self.case, each)) for each in self.pack.arguments if each.name in host_made)

    def _place_bytes(self, argument: Argument) -> int:
        """Returns how far apart an argument's places in its arena are."""
        return align(buffer_bytes(self.case, argument) + max_offset_bytes() + GUARD_BYTES)

    def _stage(self, session: Session, calls: Sequence[PlannedCall]) -> dict[tuple[int, str], Recipe]:
        """Copies masked host-made inputs to the device; returns their recipes by call index and argument."""
        with ThreadPoolExecutor(thread_name_prefix="inputs") as pool:
            return {
                (index, name): recipe
                for index, arrays in enumerate(pool.map(self._host_inputs, calls))
                for name, recipe in self._stage_call(session, index, arrays).items()
            }

    def _stage_call(self, session: Session, index: int, arrays: dict[str, Array]) -> dict[str, Recipe]:
        """Copies the masked inputs of the burst's call ``index`` to the device; returns their recipes by argument."""
        recipes = {}
        at = index * self._staged_bytes
        elements = {argument.name: argument.element for argument in self.pack.inputs}
        for name, array in arrays.items():
            key = (secrets.randbits(64), secrets.randbits(64))
            masked = mask(stored(elements[name], array), key)
            session.runner.inputs.write(0, masked)
            session.stage(PieceRequest(at, 0, masked.nbytes))
            recipes[name] = Recipe(Kind.MASKED, elements[name], key, stage=at)
            at += align(masked.nbytes)
        return recipes

    def _host_inputs(self, call: PlannedCall) -> dict[str, Array]:
        return host_inputs(self.pack, call.case, self.seed, call.inputs.call, like=call.inputs.like)

    def _output_regions(self, case: Case, index: int) -> dict[str, _OutputRegion]:
        """Returns where a call's outputs go. Outputs copied at once have a region per call and no digests."""
        at = index * self._output_stride if self.copies_outputs else 0
        regions = {}
        for argument in self.pack.outputs:
            size = buffer_bytes(case, argument)
            end = at + align(size)
            regions[argument.name] = _OutputRegion(at, end, 0 if self.copies_outputs else level_sizes(size)[0])
            at = end + align(regions[argument.name].digests_bytes)
        return regions

    @functools.cached_property
    def _output_stride(self) -> int:
        return sum(align(buffer_bytes(self.case, argument)) for argument in self.pack.outputs)

    def _bytes(self, *roles: str) -> int:
        sizes = (buffer_bytes(self.case, each) for each in self.pack.arguments if each.role in roles)
        return sum(sizes)


@dataclass(frozen=True)
class NullCallMaker(CallMaker):
    """Makes the null kernel's calls in one session, all of the advertised sizes.

    It reads no inputs: those that only the host can make are made once and remain on the device.
    """

    _arrays: dict[str, Array] = field(default_factory=dict)
    _staged: list[dict[str, Recipe]] = field(default_factory=list)

    @classmethod
    def like(cls, maker: CallMaker) -> NullCallMaker:
        return cls(maker.pack, maker.case, maker.seed, maker.memory_bytes)

    def request(self, session: Session, calls: Sequence[PlannedCall]) -> tuple[TimedCall, ...]:
        return super().request(session, [replace(call, case=self.case) for call in calls])

    def _stage(self, session: Session, calls: Sequence[PlannedCall]) -> dict[tuple[int, str], Recipe]:
        if not self._arrays:
            self._arrays.update(self._host_inputs(calls[0]))
        for index in range(len(self._staged), len(calls)):
            self._staged.append(self._stage_call(session, index, self._arrays))
        return {
            (index, name): recipe
            for index, recipes in enumerate(self._staged[: len(calls)])
            for name, recipe in recipes.items()
        }


def reservation(makers: Sequence[CallMaker], max_calls: int | None = None) -> ReserveRequest:
    """Returns the device memory that the bursts of every case take, one case after the other.

    With ``max_calls`` no call is opened, so no outputs need be copied fast.
    """
    of_each = [maker.reservation(max_calls) for maker in makers]
    return ReserveRequest(
        rooms=tuple(max(rooms) for rooms in zip(*(each.rooms for each in of_each), strict=True)),
        staged=max(each.staged for each in of_each),
        pool=max(each.pool for each in of_each),
        pinned=0 if max_calls else max(maker.opened_bytes for maker in makers),
    )
