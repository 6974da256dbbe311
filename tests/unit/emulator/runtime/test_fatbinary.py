"""Fat binaries, whole and broken."""

from __future__ import annotations

import struct

import pytest

from emulator.runtime import fatbinary

PTX = b".version 9.0\n.target sm_80\n" * 20 + b"\0"


def entry(payload: bytes, *, kind: int = 1, architecture: int = 80, flags: int = 0, plain_size: int = 0) -> bytes:
    size = len(payload)
    fields = (kind, 0x101, 64, size, size, 0, 0, 9, architecture, 0, 0, flags, 0, plain_size)
    return struct.pack("<HHIQIIHHIIIQQQ", *fields) + payload


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_plain_ptx_among_machine_code() -> None:
    data = container(entry(b"\x7fELF", kind=2), entry(PTX), entry(PTX, architecture=90))

    assert [(image.architecture, image.text) for image in fatbinary.ptx_images(data)] == [
        (80, PTX[:-1].decode()),
        (90, PTX[:-1].decode()),
    ]


def test_lz4() -> None:
    # "abc", then 9 bytes from 3 back, then "Z".
    block = bytes([0x35]) + b"abc" + b"\x03\x00" + bytes([0x10]) + b"Z"

    (image,) = fatbinary.ptx_images(container(entry(block, flags=0x2000, plain_size=13)))

    assert image.text == "abcabcabcabcZ"


@pytest.mark.parametrize(("architectures", "chosen"), [([80, 70], 80), ([90, 100], 90), ([50, 86], 50), ([80], 80)])
def test_the_choice(architectures: list[int], chosen: int) -> None:
    images = [fatbinary.PtxImage(architecture, "") for architecture in architectures]
    image = fatbinary.choose(images, 80)
    assert image is not None
    assert image.architecture == chosen
    assert fatbinary.choose([], 80) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x50\xed\x55\xba",
        b"\x7fELF" + bytes(100),
        container(entry(PTX))[:-10],
        struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 40) + bytes(40),
        container(entry(b"garbage", flags=0x8000, plain_size=100)),
        container(entry(b"\xf0\xff", flags=0x2000, plain_size=100)),
        container(entry(PTX, flags=0x8000, plain_size=1 << 60)),
    ],
)
def test_foreign_and_broken_data(data: bytes) -> None:
    with pytest.raises(fatbinary.FatBinaryError):
        fatbinary.ptx_images(data)
