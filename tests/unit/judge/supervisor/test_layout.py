import dataclasses

import numpy as np
import pytest

from judge.packs.pack import Pack
from judge.runner.frames import Role, Scalar
from judge.supervisor.layout import argument_specs, lay_out, region_sizes
from judge.supervisor.shared import SharedRegion
from tests.host_device.judging import twice_pack


@pytest.fixture
def pack() -> Pack:
    return twice_pack()


def test_the_argument_list_in_order(pack: Pack) -> None:
    specs = argument_specs(pack.arguments)
    assert [(spec.name, spec.role, spec.scalar) for spec in specs] == [
        ("input", Role.IN, Scalar.POINTER),
        ("output", Role.OUT, Scalar.POINTER),
        ("N", Role.SCALAR, Scalar.INT32),
    ]


def test_a_scalar_that_c_cannot_take_by_value_is_refused(pack: Pack) -> None:
    half = dataclasses.replace(pack.arguments[2], dtype=np.dtype(np.float16))
    with pytest.raises(ValueError, match="cannot be passed by value"):
        argument_specs([half])


def test_inputs_and_outputs_lie_where_the_request_says(pack: Pack) -> None:
    case = next(case for case in pack.cases if case.id == "prime")
    inputs = pack.inputs(case, 3)
    layout = lay_out(pack, case, inputs)
    source, target, scalar = layout.request.slots
    assert (source.size, target.size, target.fill) == (4036, 4036, 0)
    assert int.from_bytes(scalar.value, "little") == 1009
    sizes = region_sizes(pack, case)
    assert sizes == (4096, 4096 + 4096), "with a page for the digest"
    region, outputs = (SharedRegion("test", size, read_only=False) for size in sizes)
    layout.put_inputs(region, inputs)
    assert np.array_equal(region.read(source.input_offset, (1009,), np.dtype(np.float32)), inputs["input"])
    outputs.write(target.output_offset, np.ones(1009, np.float32))
    assert layout.take_outputs(outputs)["output"].sum() == 1009
    layout.clear_outputs(outputs)
    assert not layout.take_outputs(outputs)["output"].any()
