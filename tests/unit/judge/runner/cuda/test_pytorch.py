"""PyTorch's own tensors over the judge's buffers, on PyTorch's CPU in place of the GPU. Skipped without PyTorch."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

from judge.runner.cuda.pytorch import PyTorch
from judge.runner.device import DeviceError
from judge.runner.triton import stand_ins
from judge.runner.triton.build import _recorded
from judge.runner.triton.dtypes import know_types
from judge.runner.triton.program import PythonSubmission, load_program
from judge.wire.call_shapes import CallShape, ShapedArgument, pack_shapes
from judge.wire.elements import Element
from judge.wire.frames import Role
from judge.wire.messages import ArgumentSpec
from judge.wire.python_program import CompiledKernel, PythonProgram, pack_program

COUNT = 24
HEAD = """
import torch
import triton
import triton.language as tl
from gpujudge_triton import empty_like

@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    tl.store(c + tl.arange(0, BLOCK), tl.load(a) + tl.load(b))

"""
LAUNCH = "def solve(A, B, C, N):\n    add[(triton.cdiv(N, 8),)](A, B, C, N, BLOCK=8)\n"


class HostPyTorch(PyTorch):
    """PyTorch's CPU, whose addresses are the host's."""

    def __init__(self, *, has_functions: bool) -> None:
        self.has_functions, self.device = has_functions, torch.device("cpu")
        know_types(torch)

    def _bytes_at(self, address: int, size: int) -> Any:
        return torch.frombuffer((ctypes.c_ubyte * size).from_address(address), dtype=torch.uint8)


class HostDevice:
    """Starts the one kernel: adds two buffers of floats."""

    def __init__(self, pytorch: PyTorch) -> None:
        self.pytorch = pytorch
        self.grids: list[tuple[int, int, int]] = []
        self.other_work = 0

    def scratch_memory(self) -> None: ...

    def load_kernels(self, program: PythonProgram) -> None: ...

    def start_kernel(self, _: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int]) -> None:
        self.grids.append(grid)
        count = given[3]
        first, second, out = ((ctypes.c_float * count).from_address(address) for address in given[:3])
        for index in range(count):
            out[index] = first[index] + second[index]

    def note_other_work(self) -> None:
        self.other_work += 1


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Takes back what a runner does to its process for good."""
    before = {name: getattr(torch, name) for name in dir(torch) if callable(getattr(torch, name))}
    finders, modules = list(stand_ins.sys.meta_path), dict(stand_ins.sys.modules)
    yield
    while _get_current_dispatch_mode_stack():
        _pop_mode()
    for name, value in before.items():
        if getattr(torch, name) is not value:
            setattr(torch, name, value)
    stand_ins.sys.meta_path[:] = finders
    for name in set(stand_ins.sys.modules) - set(modules):
        if name.partition(".")[0] in ("triton", "gpujudge_triton", "kernel"):
            del stand_ins.sys.modules[name]
    stand_ins.sys.modules.update(modules)


def loaded(body: str, *, functions: bool = False) -> tuple[PythonSubmission, HostDevice]:
    """A submission, its kernels compiled for what the pass with stand-ins finds."""
    source = (HEAD + body).encode()
    arguments = [ArgumentSpec(name, Role.INOUT, Element.FLOAT32) for name in "ABC"]
    arguments.append(ArgumentSpec("N", Role.SCALAR, Element.INT32))
    shaped = [ShapedArgument(each.name, each.role, each.element, (COUNT,)) for each in arguments[:3]]
    shaped.append(ShapedArgument("N", Role.SCALAR, Element.INT32, (), COUNT.to_bytes(8, "little")))
    # The pass is of another process, which has no PyTorch.
    kept = {name: each for name, each in stand_ins.sys.modules.items() if name.partition(".")[0] == "torch"}
    found = _recorded(source, pack_shapes([CallShape(timed=False, arguments=tuple(shaped))]), "kernel.py")
    stand_ins.sys.modules.update(kept)
    kernels = [
        CompiledKernel(key, "add", 4, 0, 0, 1, each.arguments, b"\x7fELF") for key, each in found.general.items()
    ]
    fd = os.memfd_create("program")
    try:
        os.write(fd, pack_program(PythonProgram(source, 90, tuple(kernels))))
        device = HostDevice(HostPyTorch(has_functions=functions))
        return load_program(fd, arguments, device), device  # type: ignore[arg-type]
    finally:
        os.close(fd)


def called(submission: PythonSubmission) -> list[float]:
    """The output of a call whose inputs are 0, 1, 2 and so on, and twos."""
    buffers = [(ctypes.c_float * COUNT)(*values) for values in (range(COUNT), [2.0] * COUNT, [0.0] * COUNT)]
    addresses = [ctypes.addressof(each) for each in buffers]
    submission.call(submission.bind([*addresses, COUNT.to_bytes(8, "little")], [(COUNT,)] * 3 + [()]))
    return list(buffers[2])


SUM = [index + 2.0 for index in range(COUNT)]


def test_a_kernel_gets_the_addresses_of_tensors_that_nothing_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", True, raising=False)
    submission, device = loaded(LAUNCH)
    assert called(submission) == SUM
    assert (device.grids, device.other_work) == ([(3, 1, 1)], 0)


def test_the_module_and_its_tensors_are_the_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", True, raising=False)
    body = LAUNCH + (
        "    if hasattr(A, 'mean'):\n"
        "        assert type(A) is torch.Tensor and A.dtype is torch.float32 and A.shape == (N,)\n"
        "        assert A.view(4, 6).t().stride() == (1, 6) and float(A[3]) == 3.0\n"
        "        scratch = torch.empty(N), empty_like(A)\n"
        "        scratch[0].copy_(C), scratch[1].zero_()\n"
        "        C[2:].copy_(scratch[0][2:]); C[:2].fill_(7)\n"
    )
    submission, device = loaded(body)
    assert called(submission) == [7.0, 7.0, *SUM[2:]]
    assert device.other_work, "a recording would lack it"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("torch.add(A, B, out=C)", "add"),
        ("C.copy_(A.view(4, 6) @ B.view(6, 4)[:, :1].flatten())", "mm|mv|addmv|mul"),
        ("C[:4].copy_(torch.nn.functional.softmax(A[:4], 0))", "_softmax"),
        ("torch.ops.aten.mul(A, B)", "mul"),
        ("C.copy_(A.view(4, 6).t().contiguous().view(-1))", "clone of another type or order"),
        ("C.copy_(A.to(torch.float16))", "_to_copy of another type or order"),
    ],
)
def test_what_computes_is_refused_by_its_line(body: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", True, raising=False)
    submission, _ = loaded(f"def solve(A, B, C, N):\n    {body}\n")
    with pytest.raises(DeviceError, match=f"kernel.py:12: error: NotImplementedError: ({what})") as refused:
        called(submission)
    assert "leaves to kernels" in refused.value.message


def test_functions_are_there_where_the_site_allows_them() -> None:
    submission, device = loaded("def solve(A, B, C, N):\n    torch.add(A, B, out=C)\n", functions=True)
    assert called(submission) == SUM
    assert device.other_work, "a recording would lack it"


def test_a_launch_behind_what_the_pass_lacks_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", True, raising=False)
    body = LAUNCH.replace("add[", "B = torch.relu(B)\n    add[")
    submission, _ = loaded(body, functions=True)
    with pytest.raises(DeviceError, match=r"nothing was compiled for add .*stand-ins for PyTorch.*build's notes"):
        called(submission)


def test_a_tensor_of_the_host_is_refused() -> None:
    submission, _ = loaded(LAUNCH)
    with pytest.raises(DeviceError, match="a: the tensor is not on the GPU"):
        called(submission)


@pytest.mark.parametrize("element", list(Element))
def test_every_element_has_its_type(element: Element) -> None:
    memory = (ctypes.c_ubyte * 64)()
    made = HostPyTorch(has_functions=False).tensor(ctypes.addressof(memory), (2, 3), element)
    assert (made.shape, made.data_ptr()) == ((2, 3), ctypes.addressof(memory))
    assert str(made.dtype).removeprefix("torch.").startswith(element.name.lower())
    assert HostPyTorch(has_functions=False).tensor(0, (0, 3), element).shape == (0, 3)
