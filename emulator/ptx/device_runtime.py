"""Functions of the CUDA device runtime: what nvcc calls for launches, streams, events and copies in device code.

Calls of them become ``call_device`` instructions, done by the library's helpers (``native/api/device_runtime``).
A kernel whose address device code takes gets a variable of its name, whose address stands for the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from emulator.ptx.ir import Module, Variable

#: How the names of nearly all of them begin.
PREFIX = "__cudaCDP2"
_PER_THREAD_STREAM = "_ptsz"
#: A helper of the native library for each: ``emu_device_`` and the name.
_WITH_PREFIX = frozenset(
    (
        "GetParameterBufferV2",
        "LaunchDeviceV2",
        "GetLastError",
        "PeekAtLastError",
        "GetErrorString",
        "GetErrorName",
        "GetDevice",
        "GetDeviceCount",
        "DeviceGetAttribute",
        "DeviceGetLimit",
        "RuntimeGetVersion",
        "StreamCreateWithFlags",
        "StreamDestroy",
        "StreamWaitEvent",
        "EventCreateWithFlags",
        "EventRecord",
        "EventRecordWithFlags",
        "EventDestroy",
        "FuncGetAttributes",
        "OccupancyMaxActiveBlocksPerMultiprocessor",
        "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "Malloc",
        "Free",
        "MemcpyAsync",
        "Memcpy2DAsync",
        "MemsetAsync",
        "Memset2DAsync",
    )
)
_WITHOUT = {"cudaGraphSetConditional": "GraphSetConditional", "cudaGraphLaunch": "GraphLaunch"}
_REFUSED = ("cudaGraphKernelNode", "__cudaDeviceSynchronize")
_HANDLE_BYTES = 16


def helper_of(name: str) -> str | None:
    """Returns the function's name as the native library has it; None where it has no such function."""
    if name in _WITHOUT:
        return _WITHOUT[name]
    plain = name.removeprefix(PREFIX).removesuffix(_PER_THREAD_STREAM)
    return plain if name.startswith(PREFIX) and plain in _WITH_PREFIX else None


def is_refused(name: str) -> bool:
    """Returns whether it is a function of the device runtime that the emulator lacks."""
    return name.startswith((PREFIX, *_REFUSED)) and helper_of(name) is None


def add_kernel_handles(module: Module, texts: Sequence[str]) -> None:
    """Adds a variable for each kernel, where the module's code launches kernels."""
    if not any(PREFIX in text for text in texts):
        return
    for function in module.entries.values():
        if function.defined:
            module.variables.setdefault(function.name, Variable(function.name, "global", _HANDLE_BYTES, _HANDLE_BYTES))
