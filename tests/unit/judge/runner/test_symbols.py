import ctypes
import os

import pytest

from judge.runner.symbols import function_offsets
from tests.host_device.judging import build

_SOURCE = """
static int last = 7;
extern "C" __attribute__((visibility("hidden"), noinline)) int hidden_error() { int was = last; last = 0; return was; }
extern "C" int solve() { return hidden_error() * 0; }
extern "C" int absent();
"""


def _file(data: bytes) -> int:
    fd = os.memfd_create("library")
    os.write(fd, data)
    return fd


@pytest.mark.cxx
def test_a_hidden_function_is_found_and_can_be_called() -> None:
    fd = _file(build(_SOURCE).library)
    offsets = function_offsets(fd, ["solve", "hidden_error", "absent"])
    assert set(offsets) == {"solve", "hidden_error"}
    library = ctypes.CDLL(f"/proc/self/fd/{fd}")
    with pytest.raises(AttributeError):
        _ = library.hidden_error
    base = ctypes.cast(library.solve, ctypes.c_void_p).value
    assert base is not None
    function = ctypes.CFUNCTYPE(ctypes.c_int)(base - offsets["solve"] + offsets["hidden_error"])
    assert (function(), function()) == (7, 0)


@pytest.mark.cxx
def test_a_stripped_library_tells_nothing() -> None:
    assert function_offsets(_file(build(_SOURCE + "// stripped", "-s").library), ["hidden_error"]) == {}


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"\x7fELF\x02" + bytes(59), b"x" * 100, b"\x7fELF\x02" + b"\xff" * 200]
)
def test_what_is_no_library_tells_nothing(data: bytes) -> None:
    assert function_offsets(_file(data), ["solve"]) == {}
