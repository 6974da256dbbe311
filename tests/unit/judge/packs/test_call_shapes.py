from __future__ import annotations

import math

from judge.packs.call_shapes import call_shapes
from judge.packs.collection.loader import load_pack
from judge.wire.call_shapes import ShapedArgument
from judge.wire.elements import Element
from judge.wire.frames import Role
from tests.builds import ROOT

PACK = load_pack(ROOT / "challenges" / "layer-norm")


def test_there_is_one_for_each_case_with_extents_and_values() -> None:
    shapes = call_shapes(PACK, "emulator")
    assert len(shapes) == len(PACK.cases_for("emulator")) + len(PACK.benchmarks_for("emulator"))
    assert [shape.timed for shape in shapes].count(True) == len(PACK.benchmarks_for("emulator"))
    first = PACK.cases_for("emulator")[0]
    rows, width = first.axes["N"], first.axes["C"]
    arguments = {argument.name: argument for argument in shapes[0].arguments}
    assert list(arguments) == ["input", "weight", "bias", "output", "N", "C", "eps"]
    assert arguments["output"] == ShapedArgument("output", Role.OUT, Element.FLOAT32, (rows, width))
    assert int.from_bytes(arguments["C"].value, "little") == width


def test_where_times_are_measured_smaller_sizes_are_told_too() -> None:
    shapes = call_shapes(PACK, "cuda")
    (advertised, *_) = PACK.benchmarks_for("cuda")
    widths = {int.from_bytes(shape.arguments[5].value, "little") for shape in shapes if not shape.timed}
    assert math.ceil(advertised.axes["C"] * 0.75) in widths
    assert len(shapes) > len(PACK.cases_for("cuda")) + len(PACK.benchmarks_for("cuda"))
    assert shapes == call_shapes(PACK, "cuda")


def test_a_product_of_axes_is_several_extents() -> None:
    pack = load_pack(ROOT / "challenges" / "batched-matmul")
    axes = pack.cases_for("emulator")[0].axes
    first = call_shapes(pack, "emulator")[0].arguments[0]
    assert first.shape == (axes["BATCH"], axes["M"], axes["K"])
