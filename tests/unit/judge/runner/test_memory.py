import os

import pytest

from judge.runner.memory import SharedMemory, same_bytes


def _file(data: bytes) -> int:
    fd = os.memfd_create("test")
    os.write(fd, data)
    return fd


def test_pieces_lie_inside() -> None:
    memory = SharedMemory(_file(b"0123456789"), 10, writable=False)
    assert bytes(memory.piece(2, 3)) == b"234"
    for offset, size in ((8, 3), (-1, 1), (0, 11), (11, 0)):
        with pytest.raises(ValueError, match="outside"):
            memory.piece(offset, size)


def test_inputs_cannot_be_written() -> None:
    memory = SharedMemory(_file(b"0123456789"), 10, writable=False)
    with pytest.raises(TypeError):
        memory.piece(0, 1)[0] = 1


def test_an_empty_memory_has_an_empty_piece() -> None:
    assert bytes(SharedMemory(_file(b""), 0, writable=True).piece(0, 0)) == b""


def test_same_bytes() -> None:
    assert same_bytes(memoryview(b""), memoryview(b""))
    assert same_bytes(memoryview(b"abc"), memoryview(bytearray(b"abc")))
    assert not same_bytes(memoryview(b"abc"), memoryview(b"abd"))
    assert not same_bytes(memoryview(b"abc"), memoryview(b"ab"))
    assert same_bytes(memoryview(b"xabc")[1:], memoryview(b"abc"))
