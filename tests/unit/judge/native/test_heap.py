"""Threads share two arenas of the allocator once they are bounded."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, threading
from judge.native.heap import bound_arenas
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p
{call}
together = threading.Barrier(8)
def allocate():
    together.wait()
    libc.malloc(ctypes.c_size_t(100_000))
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stream)
libc.fflush(stream)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc_info")
@pytest.mark.parametrize(("call", "bounded"), [("bound_arenas()", True), ("", False)])
def test_threads_share_two_arenas(call: str, bounded: bool) -> None:
    command = [sys.executable, "-c", _PROGRAM.format(call=call)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert (len(re.findall("<heap nr=", told)) <= 2) is bounded, told
