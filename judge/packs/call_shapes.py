"""The shapes of the calls that a challenge is judged by, for languages that look ahead at what ``solve`` launches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np

from judge.judgement import DeviceKind
from judge.kinds import KINDS
from judge.packs.data.decoys import decoy
from judge.packs.data.inputs import scalar_values
from judge.packs.data.storage import stored
from judge.packs.pack import Case, Pack
from judge.packs.sizes import array_shape
from judge.wire.call_shapes import CallShape, ShapedArgument
from judge.wire.frames import Role

_ROLES = {"in": Role.IN, "out": Role.OUT, "inout": Role.INOUT, "scalar": Role.SCALAR}
#: The number of sizes that are drawn of a benchmark's decoys. Few sizes change the code's path (the next power of two).
_DRAWN = 24


def call_shapes(pack: Pack, kind: DeviceKind) -> tuple[CallShape, ...]:
    """Returns the arguments of each case on a kind of device, the public ones first and the timed ones last.

    Where times are measured some timed calls have smaller sizes than the case says (``judge.packs.data.decoys``): for
    each there is the smallest, and a sample of what lies between.
    """
    functional = [_call_shape(pack, case, timed=False) for case in pack.cases_for(kind)]
    benchmarks = pack.benchmarks_for(kind)
    smaller = [each for case in benchmarks for each in _decoys(pack, case)] if has_decoys(kind) else []
    decoys = dict.fromkeys(_call_shape(pack, each, timed=False) for each in smaller)
    return (*functional, *decoys, *(_call_shape(pack, case, timed=True) for case in benchmarks))


def has_decoys(kind: DeviceKind) -> bool:
    """Returns whether timed calls on a kind of device are measured, and some of them have other sizes."""
    return kind in KINDS and KINDS[kind].is_real


def _decoys(pack: Pack, case: Case) -> Iterator[Case]:
    yield decoy(pack, case, lambda sizes: sizes[0])
    drawing = random.Random(case.id)  # noqa: S311 (the same each time)
    for _ in itertools.repeat(None, _DRAWN):
        yield decoy(pack, case, drawing.choice)


def _call_shape(pack: Pack, case: Case, *, timed: bool) -> CallShape:
    scalars = scalar_values(pack, case)
    arguments = []
    for argument in pack.arguments:
        value = bytes(8)
        if argument.name in scalars:
            value = stored(argument.element, np.asarray(scalars[argument.name])).tobytes().ljust(8, b"\0")
        arguments.append(
            ShapedArgument(argument.name, _ROLES[argument.role], argument.element, array_shape(case, argument), value)
        )
    return CallShape(timed, tuple(arguments))
