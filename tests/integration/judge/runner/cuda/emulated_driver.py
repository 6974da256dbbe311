"""The part of PyCUDA that ``judge.runner.cuda.device`` uses, on the emulator: for tests without a GPU.

Kernels are launched from the bytes that their arguments are packed to, as the driver does it.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from emulator import Runtime
from judge.gpu.kernels import build
from judge.runner.device import DeviceOptions
from judge.wire.kernel_abi import LAWS
from tests.builds import CACHE, SHARED_LIBRARY, built_once

if TYPE_CHECKING:
    from judge.runner.cuda.device import CudaDevice

SOURCES = Path(build.__file__).parent

#: The kernels have 26,000 lines once their templates are expanded, and their speed is not tested here.
_QUICKLY = ("-Xcicc", "-O1")
_INCLUDE = """
#include "kernels.cu"
struct RecipeArguments { void* data; u64 bytes; Recipe recipe; const void* beside; u32* found; };
struct WriteGuardArguments { unsigned char* data; u64 size; u32 guard; u64 key; };
struct CheckGuardArguments { unsigned char* data; u64 size; u32 guard; u64 key; u32* found; };
struct DigestArguments { const unsigned char* data; u64 size; u32* digests; };
struct SweepArguments { uint4* buffer; u64 pieces; };
struct HoldArguments { u64 nanoseconds; uint4* buffer; u64 pieces; };
struct WaitArguments { u64 nanoseconds; u64* until; };
struct LongerArguments { u64 nanoseconds; u64 at_most; const u64* until; uint4* buffer; u64 pieces; };
"""
_LAUNCH = """
extern "C" void launch_%s(u32 blocks, u32 threads, const %s* a) { %s<<<blocks, threads>>>(%s); }
"""


def _host_code() -> str:
    kernels = [
        ("write_guards", "WriteGuardArguments", "a->data, a->size, a->guard, a->key"),
        ("check_guards", "CheckGuardArguments", "a->data, a->size, a->guard, a->key, a->found"),
        ("digest_pieces", "DigestArguments", "a->data, a->size, a->digests"),
        ("sweep", "SweepArguments", "a->buffer, a->pieces"),
        ("hold", "HoldArguments", "a->nanoseconds, a->buffer, a->pieces"),
        ("wait", "WaitArguments", "a->nanoseconds, a->until"),
        ("hold_longer", "LongerArguments", "a->nanoseconds, a->at_most, a->until, a->buffer, a->pieces"),
    ]
    for law in LAWS:
        works = ("make", "compare") if law == "masked" else ("make", "compare", "plant", "unplant")
        arguments = "a->data, a->bytes, a->recipe, a->beside, a->found"
        kernels += [(f"{work}_{law}", "RecipeArguments", arguments) for work in works]
    return _INCLUDE + "".join(_LAUNCH % (name, type_, name, arguments) for name, type_, arguments in kernels)


def built_kernels() -> Path:
    """A library with the kernels, for the emulator: compiled unless it was before."""
    text = _host_code()
    digest = hashlib.sha256((text + " ".join((*SHARED_LIBRARY, *_QUICKLY))).encode())
    for source in sorted(SOURCES.glob("*.cu*")):
        digest.update(source.read_bytes())
    out = CACHE / "judge-kernels" / f"{digest.hexdigest()[:16]}.so"
    with built_once(out):
        if not out.exists():
            source, unfinished = out.with_suffix(".cu"), out.with_suffix(".tmp")
            source.write_text(text)
            command = ["nvcc", *SHARED_LIBRARY, *_QUICKLY, f"-I{SOURCES}", str(source), "-o", str(unfinished)]
            subprocess.run(command, check=True)
            unfinished.replace(out)
            source.unlink()
    return out


class Function:
    """A kernel. Everything that the emulator's checks say of it is a failure of the test."""

    def __init__(self, runtime: Runtime, launch: Any) -> None:
        self._runtime = runtime
        self._launch = launch
        self._format = ""

    def prepare(self, arguments: str) -> None:
        self._format = arguments

    def prepared_call(self, grid: tuple[int, int], block: tuple[int, int, int], *arguments: float) -> None:
        self.prepared_async_call(grid, block, None, *arguments)

    def prepared_async_call(
        self, grid: tuple[int, int], block: tuple[int, int, int], _stream: None, *arguments: float
    ) -> None:
        packed = struct.pack(self._format, *arguments)
        self._launch(grid[0], block[0], packed + bytes(8))
        self._runtime.synchronize()
        report = self._runtime.take_report()
        assert not report.findings, report.findings[0]


class Allocation:
    def __init__(self, runtime: Runtime, size: int) -> None:
        self._runtime = runtime
        self._address = runtime.malloc(size)

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        self._runtime.free(self._address)


class Driver:
    """In the place of ``judge.runner.cuda.driver.Driver``: answers success, and has no clock."""

    def has(self, name: str) -> bool:
        return bool(name)

    def call(self, name: str, *arguments: object) -> None: ...

    def prepare(self, name: str, *arguments: object) -> Callable[[], int]:  # noqa: ARG002 -- nothing is called
        return lambda: 0

    def function(self, name: str) -> Callable[..., int]:  # noqa: ARG002 -- nothing is called
        return lambda *_: 0

    def check(self, name: str, code: int) -> None:
        assert code == 0, name


def emulated_pycuda(runtime: Runtime, library: ctypes.CDLL) -> dict[str, ModuleType]:
    """``pycuda`` and ``pycuda.driver``, for ``sys.modules``."""

    def write(address: int, source: memoryview) -> None:
        runtime.view(int(address), source.nbytes)[:] = source

    def read(target: memoryview | bytearray, address: int) -> None:
        view = memoryview(target)
        view[:] = runtime.view(int(address), view.nbytes)

    def fill(address: int, byte: int, size: int) -> None:
        runtime.view(int(address), size)[:] = bytes([byte]) * size

    context = SimpleNamespace(push=lambda: None, pop=lambda: None, synchronize=runtime.synchronize)
    device = SimpleNamespace(get_attribute=lambda attribute: attribute, retain_primary_context=lambda: context)

    def module(_path: str) -> SimpleNamespace:
        return SimpleNamespace(get_function=lambda name: Function(runtime, getattr(library, f"launch_{name}")))

    driver = ModuleType("pycuda.driver")
    names: dict[str, Any] = {
        "Error": RuntimeError, "init": lambda: None, "Device": lambda _ordinal: device,
        "device_attribute": SimpleNamespace(
            MULTIPROCESSOR_COUNT=2, L2_CACHE_SIZE=4096, MAX_THREADS_PER_MULTIPROCESSOR=1024
        ),
        "DeviceAllocation": Allocation, "mem_alloc": lambda size: Allocation(runtime, size),
        "Stream": lambda _flags=0: None, "memset_d8": fill, "memcpy_htod": write, "memcpy_dtoh": read,
        "module_from_file": module,
    }  # fmt: skip
    for name, value in names.items():
        setattr(driver, name, value)
    package = ModuleType("pycuda")
    package.driver = driver  # type: ignore[attr-defined]
    return {"pycuda": package, "pycuda.driver": driver}


def our_modules() -> Sequence[str]:
    """Those that import PyCUDA: to be imported anew."""
    return [
        "judge.runner.cuda.device",
        "judge.runner.cuda.kernels",
        "judge.runner.cuda.flush",
        "judge.runner.cuda.timer",
    ]


@contextlib.contextmanager
def emulated_device(runtime: Runtime) -> Iterator[CudaDevice]:
    """``judge.runner.cuda.device`` on the emulator, as long as it lasts.

    Each kernel is compiled when a test launches it, and those that make and compare inputs for less than a warp: then
    they need no code for whole warps, which takes as long to compile as the other.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in our_modules():
            patch.delitem(sys.modules, name, raising=False)
        for name, module in emulated_pycuda(runtime, ctypes.CDLL(str(built_kernels()))).items():
            patch.setitem(sys.modules, name, module)
        patch.setattr("judge.runner.cuda.driver.Driver", Driver)
        cuda = importlib.import_module("judge.runner.cuda.device")
        patch.setattr("judge.runner.cuda.flush._MIN_BYTES", 1 << 16)
        patch.setattr("judge.wire.kernel_abi._THREADS", 16)
        patch.setattr(cuda.CudaDevice, "_warm_up", lambda _device: None)
        opened = cuda.open_device(DeviceOptions())
        yield opened
        opened.close()
        for name in our_modules():
            sys.modules.pop(name, None)
