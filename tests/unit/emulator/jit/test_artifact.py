"""Artifacts: what they hold, that they survive being bytes, that damage is noticed."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from emulator.jit.artifact import Artifact, ArtifactError, Function, Tier
from emulator.jit.compiler import Compilation, compile_artifact
from emulator.jit.loader import load_artifact
from emulator.ptx import Unsupported, parse_module
from emulator.runtime.library import load
from tests.unit.emulator.jit.conftest import HEADER

KERNEL = """
.file 1 "divide.cu"
.global .align 4 .u32 counter;
.visible .entry divide(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    .loc 1 7 0
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    atom.global.add.u32 %r3, [counter], 1;
EVEN:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""


@pytest.fixture(scope="module")
def artifact() -> bytes:
    return compile_artifact(parse_module(HEADER + KERNEL), "divide", (64, 1, 1))


def test_it_has_all_that_running_the_kernel_needs(artifact: bytes) -> None:
    read = Artifact.from_bytes(artifact)

    d = read.description
    assert (d.name, d.block, d.symbols, d.parameter_bytes) == ("divide", (64, 1, 1), ("counter",), 12)
    assert [(p.name, p.offset, p.size) for p in d.parameters] == [("out", 0, 8), ("n", 8, 4)]
    assert {(s.file, s.line, s.size) for s in d.sites} == {("divide.cu", 7, 4)}
    assert {f: code.tier for f, code in read.code.items()} == dict.fromkeys(Function, Tier.BEST)
    assert read.to_bytes() == artifact


def test_compiling_again_makes_the_same(artifact: bytes) -> None:
    assert compile_artifact(parse_module(HEADER + KERNEL), "divide", (64, 1, 1)) == artifact


def test_it_can_be_loaded(library: Path, artifact: bytes) -> None:
    kernel = load_artifact(load(library), artifact, {"counter": 0x1234}.__getitem__)

    assert all(kernel.native.functions)
    assert kernel.native.symbols[0] == 0x1234
    assert kernel.native.sites[0].file == b"divide.cu"
    assert ctypes.string_at(kernel.native.name) == b"divide"


def test_damage_is_noticed(artifact: bytes) -> None:
    for position in range(0, len(artifact), 97):
        with pytest.raises(ArtifactError):
            Artifact.from_bytes(artifact[:position])
        damaged = bytearray(artifact)
        damaged[position] ^= 4
        with pytest.raises(ArtifactError):
            Artifact.from_bytes(bytes(damaged))


def test_a_block_smaller_than_a_warp_has_no_uniform_function() -> None:
    module = parse_module(HEADER + KERNEL)

    assert Compilation(module, "divide", (31, 1, 1)).functions == (Function.MASKED,)
    assert Compilation(module, "divide", (32, 1, 1)).functions == (Function.UNIFORM, Function.MASKED)


def test_what_cannot_run_is_refused_with_its_line() -> None:
    text = KERNEL.replace("mul.wide.u32 %rd2, %r1, 4;", "tcgen05.fence::before_thread_sync;")

    with pytest.raises(Unsupported) as caught:
        compile_artifact(parse_module(HEADER + text), "divide", (64, 1, 1))

    assert "tcgen05" in caught.value.what
    assert caught.value.line == 7
