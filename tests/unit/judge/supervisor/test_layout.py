import numpy as np
import pytest

from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Pack
from judge.supervisor.layout import argument_specs, lay_out, region_sizes
from judge.supervisor.shared_memory import SharedRegion
from judge.wire.elements import Element
from judge.wire.frames import Role
from tests.host_device.judging import twice_pack


@pytest.fixture
def pack() -> Pack:
    return twice_pack()


def test_the_argument_list_in_order(pack: Pack) -> None:
    specs = argument_specs(pack.arguments)
    assert [(spec.name, spec.role, spec.element) for spec in specs] == [
        ("input", Role.IN, Element.FLOAT32),
        ("output", Role.OUT, Element.FLOAT32),
        ("N", Role.SCALAR, Element.INT32),
    ]


def test_inputs_and_outputs_lie_where_the_request_says(pack: Pack) -> None:
    case = next(case for case in pack.cases if case.id == "prime")
    inputs = make_inputs(pack, case, 3)
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
