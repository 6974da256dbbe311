"""The shapes of the calls that a challenge is judged by, for languages that look ahead at what ``solve`` launches."""

from __future__ import annotations

import numpy as np

from judge.judgement import DeviceKind
from judge.packs.inputs import scalar_values
from judge.packs.pack import Case, Pack
from judge.packs.sizes import shape
from judge.packs.storage import stored
from judge.wire.call_shapes import CallShape, ShapedArgument
from judge.wire.frames import Role

_ROLES = {"in": Role.IN, "out": Role.OUT, "inout": Role.INOUT, "scalar": Role.SCALAR}


def call_shapes(pack: Pack, kind: DeviceKind) -> tuple[CallShape, ...]:
    """Returns the arguments of each case on a kind of device, the public ones first and the timed ones last."""
    return tuple(_call_shape(pack, case) for case in (*pack.cases_for(kind), *pack.benchmarks_for(kind)))


def _call_shape(pack: Pack, case: Case) -> CallShape:
    scalars = scalar_values(pack, case)
    arguments = []
    for argument in pack.arguments:
        value = bytes(8)
        if argument.name in scalars:
            value = stored(argument.element, np.asarray(scalars[argument.name])).tobytes().ljust(8, b"\0")
        arguments.append(
            ShapedArgument(argument.name, _ROLES[argument.role], argument.element, shape(case, argument), value)
        )
    return CallShape(case.group == "benchmark", tuple(arguments))
