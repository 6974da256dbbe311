"""The library's loader of machine code: what LLVM writes runs, what is damaged is refused."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

from emulator.jit import engine
from emulator.jit.artifact import Tier
from emulator.runtime.library import load

# Constants of its own, a table of addresses, a jump table, a call to a helper of the library, an address of one.
SOURCE = """
@table = private unnamed_addr constant [2 x ptr] [ptr @first, ptr @second]
@first = private unnamed_addr constant [4 x i32] [i32 10, i32 11, i32 12, i32 13]
@second = private unnamed_addr constant [4 x i32] [i32 20, i32 21, i32 22, i32 23]
declare i32 @emu_fns(i32, i32, i32)
declare i64 @emu_globaltimer()

define i64 @uniform(i32 %what) #0 {
entry:
  switch i32 %what, label %none [
    i32 0, label %zero
    i32 1, label %one
    i32 2, label %two
    i32 3, label %three
    i32 4, label %four
    i32 5, label %five
  ]
zero:
  ret i64 1000
one:
  %place = getelementptr [2 x ptr], ptr @table, i64 0, i64 1
  %row = load volatile ptr, ptr %place
  %item = getelementptr i32, ptr %row, i64 3
  %number = load i32, ptr %item
  %wide = zext i32 %number to i64
  ret i64 %wide
two:
  %address = ptrtoint ptr @emu_globaltimer to i64
  ret i64 %address
three:
  %now = call i64 @emu_globaltimer()
  ret i64 %now
four:
  %float = uitofp i32 %what to double
  %more = fadd double %float, 0x3FD3333333333333
  %bits = bitcast double %more to i64
  ret i64 %bits
five:
  ret i64 5000
none:
  ret i64 -1
}
"""


@pytest.fixture(scope="module")
def native(library: Path) -> ctypes.CDLL:
    return load(library)


def made(text: str = SOURCE, tier: Tier = Tier.BEST) -> bytes:
    target = engine.host_target()
    return engine.emit_object(engine.module_text((), (text,), target), target, tier)


def loaded(native: ctypes.CDLL, code: bytes, name: bytes = b"uniform") -> int:
    message = ctypes.c_char_p()
    address = native.emu_load_object(code, len(code), name, ctypes.byref(message))
    if not address:
        raise ValueError((message.value or b"").decode())
    return int(address)


@pytest.mark.parametrize("tier", list(Tier))
def test_code_runs_where_it_is_loaded(native: ctypes.CDLL, tier: Tier) -> None:
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32)(loaded(native, made(tier=tier)))

    timer = ctypes.cast(native.emu_globaltimer, ctypes.c_void_p).value
    native.emu_globaltimer.restype = ctypes.c_uint64
    before = native.emu_globaltimer()
    assert [function(n) for n in (0, 1, 2, 5, 6)] == [1000, 23, timer, 5000, -1]
    assert before <= function(3) <= native.emu_globaltimer()
    assert ctypes.c_double.from_buffer(ctypes.c_int64(function(4))).value == 4.3


def test_code_is_not_writable(native: ctypes.CDLL) -> None:
    address = loaded(native, made())

    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, _, end = line.split()[0].partition("-")
        if int(begin, 16) <= address < int(end, 16):
            assert line.split()[1] == "r-xp"
            return
    raise AssertionError("it is mapped nowhere")


def test_what_is_not_here_is_named(native: ctypes.CDLL) -> None:
    text = "declare i64 @{0}()\ndefine i64 @uniform() #0 {{\n %x = call i64 @{0}()\n ret i64 %x\n}}"
    for name in ("system", "emu_nothing"):
        with pytest.raises(ValueError, match=f"it needs {name}, which is not here"):
            loaded(native, made(text.format(name)))
    with pytest.raises(ValueError, match="it has no function masked"):
        loaded(native, made(), b"masked")


def test_a_truncated_object_is_refused(native: ctypes.CDLL) -> None:
    code = made()

    for size in range(0, len(code) - 1, 7):
        with pytest.raises(ValueError, match=r"\w"):
            loaded(native, code[:size])


def test_a_damaged_object_hurts_nobody(native: ctypes.CDLL) -> None:
    # Which are refused depends on where the damage is: code itself may be anything.
    code = made()
    draw = random.Random(1)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(code)
        for _ in range(draw.choice((1, 1, 4))):
            damaged[draw.randrange(len(code))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        try:
            loaded(native, bytes(damaged))
        except ValueError:
            refused += 1

    assert 500 < refused < 3000
