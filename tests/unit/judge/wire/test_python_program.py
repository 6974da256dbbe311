from __future__ import annotations

import struct

import pytest

from emulator.fat_binaries import fat_binaries
from emulator.runtime.fatbinary import cubins, ptx_images
from judge.wire.call_shapes import CallShape, ShapedArgument, pack_shapes, unpack_shapes
from judge.wire.elements import Element
from judge.wire.frames import FrameError, Role
from judge.wire.python_program import CompiledKernel, PythonProgram, pack_program, unpack_program

PTX = b".version 8.0\n.target sm_80\n"
CUBIN = b"\x7fELF" + bytes(range(60))
KERNELS = (
    CompiledKernel('["add",7]', "add", 4, 0, 0, 1, ((0, "*fp32"), (3, "i32")), PTX),
    CompiledKernel('["add",8]', "add_2", 8, 65536, 128, 16, (), PTX + b"// more\n"),
)


@pytest.mark.parametrize("kernels", [KERNELS, KERNELS[:1], ()])
def test_a_program_is_read_as_it_was_written(kernels: tuple[CompiledKernel, ...]) -> None:
    program = PythonProgram("def solve(): ...\n# ä".encode(), 80, kernels)
    assert unpack_program(pack_program(program)) == program


def test_its_kernels_are_found_as_those_of_a_native_program() -> None:
    found = fat_binaries(pack_program(PythonProgram(b"source", 80, KERNELS)))
    images = [image for binary in found for image in ptx_images(binary)]
    assert [(image.architecture, image.text.encode()) for image in images] == [(80, each.image) for each in KERNELS]


def test_its_containers_have_the_flags_of_nvcc_for_64_bits_and_linux() -> None:
    (binary, _) = fat_binaries(pack_program(PythonProgram(b"source", 80, KERNELS)))
    # Behind the header of the container: kind, version, header size, and, 40 bytes on, the flags.
    assert struct.unpack_from("<HHI", binary, 16) == (1, 0x101, 64)
    assert struct.unpack_from("<Q", binary, 16 + 40) == (0x11,)


def test_a_native_program_is_none() -> None:
    """Of which a reader that goes by places alone would find sections, too."""
    data = bytearray(pack_program(PythonProgram(b"source", 80, KERNELS)))
    at = data.index(b".gpujudge.python\0")
    data[at : at + 16] = b".gnu.hash.python"
    with pytest.raises(FrameError, match="not a program in Python"):
        unpack_program(bytes(data))


def test_machine_code_is_kept_as_such() -> None:
    kernel = CompiledKernel("k", "add", 4, 0, 0, 1, (), CUBIN)
    data = pack_program(PythonProgram(b"", 90, (kernel,)))
    assert unpack_program(data).kernels[0].image == CUBIN
    (binary,) = fat_binaries(data)
    assert [(each.architecture, each.data.rstrip(b"\0")) for each in cubins(binary)] == [(90, CUBIN.rstrip(b"\0"))]


@pytest.mark.parametrize("data", [b"", b"\x7fELF", bytes(64), pack_program(PythonProgram(b"x", 80, KERNELS))[:-40]])
def test_what_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        unpack_program(data)


def test_shapes_are_read_as_they_were_written() -> None:
    arguments = (
        ShapedArgument("A", Role.IN, Element.FLOAT16, (3, 1 << 40)),
        ShapedArgument("N", Role.SCALAR, Element.INT32, (), b"12345678"),
    )
    shapes = (CallShape(False, arguments), CallShape(True, arguments[:1]))
    assert unpack_shapes(pack_shapes(shapes)) == shapes
    with pytest.raises(FrameError):
        unpack_shapes(pack_shapes(shapes)[:-1])
