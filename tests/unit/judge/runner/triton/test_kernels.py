"""Launches through the stand-ins, without Triton and without a device: what is launched, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from judge.runner.triton import stand_ins
from judge.runner.triton.arrays import Tensor
from judge.runner.triton.build import Refused, _recorded
from judge.runner.triton.dtypes import DTYPES
from judge.runner.triton.recording_pass import NoMemory, RecordingLauncher, record
from judge.runner.triton.source_module import execute, find_solve, stack, told
from judge.runner.triton.specialization import NotSpecialized, Parameter, Specialization, encode, specialize
from judge.wire.call_shapes import CallShape, ShapedArgument, pack_shapes
from judge.wire.elements import Element
from judge.wire.frames import Role

HEAD = """\
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, n, scale, BLOCK: tl.constexpr):
    tl.store(x, libdevice.exp(tl.load(y)))


"""


def shape(n: int, *, timed: bool = False) -> CallShape:
    return CallShape(
        timed,
        (
            ShapedArgument("x", Role.OUT, Element.FLOAT32, (n,)),
            ShapedArgument("y", Role.IN, Element.FLOAT16, (n,)),
            ShapedArgument("n", Role.SCALAR, Element.INT32, (), n.to_bytes(8, "little")),
        ),
    )


@pytest.fixture
def launcher() -> Iterator[RecordingLauncher]:
    made = RecordingLauncher()
    remove = stand_ins.install(made, NoMemory())
    yield made
    remove()
    assert "triton" not in sys.modules


def launched(launcher: RecordingLauncher, solve: str, *shapes: CallShape) -> list[Specialization]:
    record(find_solve(execute((HEAD + solve).encode())), shapes or (shape(100),), launcher)
    return [*launcher.found.general.values(), *launcher.found.timed.values()]


def test_a_launch_is_known_by_types_constants_and_options(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(triton.cdiv(n, 64),)](x, y, n, 0.5, BLOCK=64, num_warps=2)\n"
    (found,) = launched(launcher, text)
    assert (found.kernel, found.line) == ("add", 7)
    assert found.signature == ("*fp32", "*fp16", "i32", "fp32", "constexpr")
    assert (found.constants, found.multiples) == (((4, ("int", 64)),), (0, 1))
    assert dict(found.options)["num_warps"] == 2
    assert found.arguments == ((0, "*fp32"), (1, "*fp16"), (2, "i32"), (3, "fp32"))
    assert Specialization.of_key(found.key) == found


def test_only_timed_calls_are_specialized_for_values(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(1,)](x, y, n, 0.5, BLOCK=64)\n"
    general, even, one = launched(launcher, text, shape(3), shape(32, timed=True), shape(1, timed=True))
    assert (general.multiples, even.multiples) == ((0, 1), (0, 1, 2))
    assert one.signature[2] == "constexpr"


def test_wide_numbers_unaligned_parts_none_and_types(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(1,)](x[1:], None, 1 << 40, True, BLOCK=tl.float16)\n"
    (found,) = launched(launcher, text)
    assert found.signature == ("*fp32", "constexpr", "i64", "u1", "constexpr")
    assert (found.constants, found.multiples) == (((1, ("none", None)), (4, ("dtype", "fp16"))), ())


def test_nothing_is_compiled_for_a_number_of_half_precision(launcher: RecordingLauncher) -> None:
    """No launch passes one. The call raises that when it is judged, with its line."""
    text = "@triton.jit\ndef scaled(x, by: tl.float16):\n    tl.store(x, by)\n\n\ndef solve(x, y, n):\n"
    assert launched(launcher, text + "    scaled[(1,)](x, 0.5)\n") == []
    parameter = Parameter("by", is_constant=False, fixed="fp16")
    with pytest.raises(NotSpecialized, match="by: a number of the type fp16 cannot be passed by value"):
        specialize("scaled", 1, [parameter], [0.5], {})


def test_tuples_count_as_the_arguments_in_them(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(1,)]((x, (y[1:], 1)), None, n, 0.5, BLOCK=64)\n"
    (found,) = launched(launcher, text)
    assert found.nested_signature == (("*fp32", ("*fp16", "i32")), "constexpr", "i32", "fp32", "constexpr")
    assert found.paths == ((0, 0), (0, 1, 0), (0, 1, 1), (1,), (2,), (3,), (4,))
    assert found.multiples == (0,)
    assert "x[1][0]: *fp16, x[1][1]: i32, y=None" in found.in_words(("x", "y", "n", "s", "BLOCK"))
    assert Specialization.of_key(found.key) == found


def test_heuristics_autotuning_and_grids_that_are_computed(launcher: RecordingLauncher) -> None:
    text = """
@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=8), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x, 0)


def solve(x, y, n):
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
"""
    found, timed = launched(launcher, text, shape(100, timed=True))
    assert found.constants == ((2, ("int", 128)), (3, ("bool", False)))
    assert dict(found.options)["num_warps"] == 8
    # The other configuration is noted beside it.
    (choices,) = launcher.found.choices.values()
    assert [each.told for each in choices] == [
        "1 of 2 (BLOCK=128, num_warps=8)",
        "2 of 2 (BLOCK=64)",
    ]
    assert choices[0].timed == {timed.key: timed}
    assert [each.general.constants[0] for each in choices] == [(2, ("int", 128)), (2, ("int", 64))]
    assert len(choices[1].timed) == 1


def test_what_tutorials_ask_of_triton_before_they_launch(launcher: RecordingLauncher) -> None:
    text = """
from triton import language
from triton.runtime import driver

device = triton.runtime.driver.active.get_active_torch_device()
registers = driver.active.utils.get_device_properties(device.index)["max_num_regs"]


@triton.jit
def typed(x: tl.tensor, n: language.int32, BLOCK: language.constexpr):
    tl.store(x, 0)


def solve(x, y, n):
    assert driver.active.get_current_target().backend == "cuda"
    assert torch.cuda.current_stream().cuda_stream == 0
    kernel = typed.warmup(x, n, BLOCK=64, num_warps=8, grid=(1,))
    kernel._init_handles()
    programs = registers // (kernel.n_regs * 32 * kernel.metadata.num_warps)
    kernel[(max(1, programs), 1, 1)](x, n, 64)
"""
    (found,) = launched(launcher, text)
    assert (found.constants, dict(found.options)["num_warps"]) == (((2, ("int", 64)),), 8)
    assert found.signature[1] == "i32"


def test_a_configuration_that_cannot_be_launched_is_left_out(launcher: RecordingLauncher) -> None:
    text = """
def two(configs, arguments, **more):
    return [configs[1], triton.Config({"BLOCK": 16}), configs[0]]


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 64})], key=[],
                 prune_configs_by={"early_config_prune": two})
@triton.jit
def tuned(x, BLOCK: tl.constexpr):
    tl.store(x, 0)


def solve(x, y, n):
    tuned[lambda meta: (1 if meta["BLOCK"] < 128 else "no",)](x)
"""
    (found,) = launched(launcher, text)
    assert found.constants == ((1, ("int", 64)),)
    (choices,) = launcher.found.choices.values()
    assert [each.told for each in choices] == [
        "2 of 2 (BLOCK=64)",
        "one more of 2 (BLOCK=16)",
    ]


@pytest.mark.parametrize(
    ("call", "told_as"),
    [
        ("add[(1,)](x, y, n, 0.5)", "missing a required argument: 'BLOCK'"),
        ("add[(1,)](x, y, n, 0.5, BLOCK=64, num_wraps=2)", "option 'num_wraps'"),
        ("add[(n / 2,)](x, y, n, 0.5, BLOCK=64)", "up to three whole numbers"),
        ("add[(1, 1, 1, 1)](x, y, n, 0.5, BLOCK=64)", "up to three whole numbers"),
        ("add[(-1,)](x, y, n, 0.5, BLOCK=64)", "a grid of"),
        ("add(x, y, n, 0.5, BLOCK=64)", r"launch it by add\[grid\]"),
        ("add[(1,)](x, 'y', n, 0.5, BLOCK=64)", "a kernel takes no str"),
        ("add[(1,)](x, y, n, 0.5, BLOCK=x)", "an array is not a constant"),
        ("add[(1,)](x, y, 1 << 70, 0.5, BLOCK=1)", "64 bits"),
        ("tl.load(x)", "works inside of kernels only"),
        ("torch.softmax(x, 0)", "torch.softmax is not there"),
        ("triton.testing.do_bench(solve)", "triton.testing.do_bench is not there"),
    ],
)
def test_what_cannot_be_launched_is_told(launcher: RecordingLauncher, call: str, told_as: str) -> None:
    solve = find_solve(execute(f"{HEAD}def solve(x, y, n):\n    {call}\n".encode()))
    x = Tensor(4096, (8,), DTYPES["float32"], NoMemory())
    with pytest.raises(Exception, match=told_as) as caught:
        solve(x, x, 8)
    assert told(caught.value).startswith("kernel.py:13: error: ")
    assert stack(caught.value).startswith("kernel.py:13: in solve: ")
    assert not launcher.found.general


def test_no_blocks_are_no_launch(launcher: RecordingLauncher) -> None:
    assert not launched(launcher, "def solve(x, y, n):\n    add[(0,)](x, y, n, 0.5, BLOCK=64)\n")


def test_what_solve_raises_is_left_to_the_judged_call(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(1,)](x, y, n, 0.5, BLOCK=n)\n    assert n < 50\n"
    assert len(launched(launcher, text, shape(10), shape(100), shape(20))) == 3


@pytest.mark.parametrize(
    ("source", "log"),
    [
        ("import pandas\ndef solve(x, y, n): ...\n", "kernel.py:1: error: ModuleNotFoundError"),
        (
            "import torch.nn.functional as F\nF.softmax()\ndef solve(x, y, n): ...\n",
            "kernel.py:2: error: NotImplementedError: torch.nn.functional.softmax is not there",
        ),
        ("def solve(x, y, n)\n", "kernel.py:1: error: SyntaxError"),
        ("x = 1 / 0\ndef solve(x, y, n): ...\n", "kernel.py:1: error: ZeroDivisionError"),
        ("def other(): ...\n", "there is no function `solve`"),
        ("solve = 3\n", "`solve` is not a function"),
        ("def solve(x, y): ...\n", r"`solve\(x, y\)` cannot be called as solve\(x, y, n\)"),
        (
            f"{HEAD}def solve(x, y, n):\n    for i in range(500):\n        add[(1,)](x, y, n, 0.5, BLOCK=i)\n",
            "more than 96",
        ),
        ("raise SystemExit(0)\n", "SystemExit"),
    ],
)
def test_a_file_that_does_not_build_says_why(source: str, log: str) -> None:
    with pytest.raises(Refused, match=log):
        _recorded(source.encode(), pack_shapes([shape(8)]), "kernel.py")


def test_what_the_stand_ins_lack_is_told_by_its_line(launcher: RecordingLauncher) -> None:
    text = "def solve(x, y, n):\n    add[(1,)](x, y, n, 0.5, BLOCK=8)\n    torch.relu(x)\n    y.missing()\n"
    assert len(launched(launcher, text)) == 1
    assert launcher.found.lacking.startswith("kernel.py:14: error: NotImplementedError: torch.relu is not there")


def test_streams_of_pytorch_are_one(launcher: RecordingLauncher) -> None:
    text = (
        "def solve(x, y, n):\n"
        "    side = torch.cuda.Stream()\n"
        "    side.wait_stream(torch.cuda.current_stream())\n"
        "    with torch.cuda.stream(side):\n"
        "        add[(1,)](x, y, n, 0.5, BLOCK=8)\n"
        "    side.synchronize()\n"
        "    add[(1,)](x, y, n, 0.5, BLOCK=16)\n"
    )
    assert len(launched(launcher, text)) == 2


def test_constants_are_plain() -> None:
    assert encode("c", (1, 2.5, None, "x")) == ("tuple", (("int", 1), ("float", "2.5"), ("none", None), ("str", "x")))
    with pytest.raises(NotSpecialized, match="no dict"):
        encode("c", {})


def test_the_host_functions_of_triton() -> None:
    assert [stand_ins.cdiv(7, 2), stand_ins.cdiv(8, 2)] == [4, 4]
    values: Sequence[Any] = [stand_ins.next_power_of_2(n) for n in (0, 1, 2, 3, 1000, 1024)]
    assert values == [0, 1, 2, 4, 1024, 1024]
