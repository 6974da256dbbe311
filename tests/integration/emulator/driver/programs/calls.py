"""Drives the driver API by ctypes, and prints what it answers: calls.py IMAGE."""

from __future__ import annotations

import ctypes
import sys
from array import array
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

COUNT = 1000
BYTES = 4 * COUNT

driver = ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any, expected: str = "CUDA_SUCCESS") -> None:
    """Calls a function of the driver, and prints an unexpected result."""
    result = getattr(driver, name)(*arguments)
    told = c_char_p()
    driver.cuGetErrorName(result, byref(told))
    if told.value != expected.encode():
        print(name, told.value)


def number(name: str, *before: Any) -> int:
    """Returns the number that the function writes to its first argument."""
    out = c_int()
    call(name, byref(out), *before)
    return out.value


def handle(name: str, *others: Any) -> c_void_p:
    out = c_void_p()
    call(name, byref(out), *others)
    return out


def devices() -> None:
    print(number("cuDriverGetVersion"), number("cuDeviceGetCount"))
    print(number("cuDeviceGetAttribute", 75, 0), number("cuDeviceGetAttribute", 76, 0))  # compute capability
    call("cuDeviceGet", byref(c_int()), 1, expected="CUDA_ERROR_INVALID_DEVICE")
    name, size = ctypes.create_string_buffer(64), c_size_t()
    call("cuDeviceGetName", name, 64, 0)
    call("cuDeviceTotalMem_v2", byref(size), 0)
    print(name.value.decode(), size.value > 0)


def entry_points() -> None:
    for name, version in (("cuCtxCreate", 11000), ("cuCtxCreate", 13000), ("cuMemAlloc", 12000), ("cuNothing", 13000)):
        found, status = c_void_p(), c_int()
        driver.cuGetProcAddress_v2(name.encode(), byref(found), version, c_uint64(0), byref(status))
        symbols = [name + form for form in ("", "_v2", "_v3", "_v4") if hasattr(driver, name + form)]
        same = [it for it in symbols if ctypes.cast(getattr(driver, it), c_void_p).value == found.value]
        print(name, version, same[-1:], status.value)


def memory() -> None:
    pointer, pitch = c_uint64(), c_size_t()
    call("cuMemAlloc_v2", byref(pointer), c_size_t(0), expected="CUDA_ERROR_INVALID_VALUE")
    call("cuMemAllocPitch_v2", byref(pointer), byref(pitch), c_size_t(100), c_size_t(3), c_uint(4))
    begin, size = c_uint64(), c_size_t()
    call("cuMemGetAddressRange_v2", byref(begin), byref(size), c_uint64(pointer.value + 5))
    print(begin.value == pointer.value, size.value == 3 * pitch.value)
    kind = c_uint()
    call("cuPointerGetAttribute", byref(kind), 2, pointer)
    print(kind.value)
    call("cuPointerGetAttribute", byref(kind), 2, c_uint64(8), expected="CUDA_ERROR_INVALID_VALUE")
    call("cuMemsetD2D16_v2", pointer, pitch, 0x1234, c_size_t(50), c_size_t(3))
    rows = (ctypes.c_uint16 * 150)()
    copy = Copy2D(0, 0, 2, None, pointer.value, None, pitch, 0, 0, 1, ctypes.addressof(rows), 0, None, 100, 100, 3)
    call("cuMemcpy2D_v2", byref(copy))
    print(set(rows) == {0x1234})
    call("cuMemFree_v2", pointer)
    call("cuMemAllocAsync", byref(pointer), c_size_t(64), None)
    call("cuMemFreeAsync", pointer, None)


class Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [
        *(("from_x", c_size_t), ("from_y", c_size_t), ("from_type", c_uint), ("from_host", c_void_p)),
        *(("from_device", c_uint64), ("from_array", c_void_p), ("from_pitch", c_size_t)),
        *(("to_x", c_size_t), ("to_y", c_size_t), ("to_type", c_uint), ("to_host", c_void_p)),
        *(("to_device", c_uint64), ("to_array", c_void_p), ("to_pitch", c_size_t)),
        *(("width", c_size_t), ("height", c_size_t)),
    ]


def kernels(image: bytes) -> None:
    module = handle("cuModuleLoadData", image)
    function = handle("cuModuleGetFunction", module, b"add")
    print(number("cuFuncGetAttribute", 0, function), number("cuFuncGetAttribute", 1, function))
    blocks, threads = c_int(), c_int()
    call("cuOccupancyMaxPotentialBlockSize", byref(blocks), byref(threads), function, None, c_size_t(0), 0)
    print(blocks.value, threads.value)
    call("cuFuncSetAttribute", function, 8, 100 << 10)
    run(function)
    start, end, ms = handle("cuEventCreate", 0), handle("cuEventCreate", 0), c_float(-1)
    call("cuEventRecord", start, None)
    run(function)
    call("cuEventRecord", end, None)
    call("cuEventSynchronize", end)
    call("cuEventElapsedTime_v2", byref(ms), start, end)
    print(ms.value >= 0)
    call("cuEventDestroy_v2", start)
    call("cuEventDestroy_v2", end)
    call("cuModuleUnload", module)


def run(function: c_void_p) -> None:
    """Adds two arrays."""
    values = array("f", range(COUNT))
    pointers = [c_uint64() for _ in range(3)]
    for pointer in pointers:
        call("cuMemAlloc_v2", byref(pointer), c_size_t(BYTES))
        call("cuMemcpyHtoD_v2", pointer, c_void_p(values.buffer_info()[0]), c_size_t(BYTES))
    count = c_int(COUNT)
    arguments = (c_void_p * 4)(*[ctypes.addressof(it) for it in (*pointers, count)])
    call("cuLaunchKernel", function, 4, 1, 1, 256, 1, 1, 0, None, arguments, None)
    call("cuMemcpyDtoH_v2", c_void_p(values.buffer_info()[0]), pointers[2], c_size_t(BYTES))
    for pointer in pointers:
        call("cuMemFree_v2", pointer)
    print(values == array("f", range(0, 2 * COUNT, 2)))


def linked(image: bytes) -> None:
    """Links the image, loads it as a library and runs its kernel."""
    state = c_void_p()
    call("cuLinkCreate_v2", 0, None, None, byref(state))
    call("cuLinkAddData_v2", state, 1, image, c_size_t(len(image)), b"kernels", 0, None, None)
    code, size = c_void_p(), c_size_t()
    call("cuLinkComplete", state, byref(code), byref(size))
    library = handle("cuLibraryLoadData", code, None, None, 0, None, None, 0)
    call("cuLinkDestroy", state)
    function = handle("cuKernelGetFunction", handle("cuLibraryGetKernel", library, b"add"))
    variable, bytes_ = c_uint64(), c_size_t()
    call("cuLibraryGetGlobal", byref(variable), byref(bytes_), library, b"factor")
    print(bytes_.value)
    run(function)
    call("cuLibraryUnload", library)


def errors() -> None:
    """A module that no compiler takes, with a log."""
    log = ctypes.create_string_buffer(200)
    options = (c_int * 2)(5, 6)  # the buffer and its size
    values = (c_void_p * 2)(ctypes.addressof(log), 200)
    text = b".version 8.0\n.target sm_80\n.address_size 64\nnonsense"
    call("cuModuleLoadDataEx", byref(c_void_p()), text, 2, options, values, expected="CUDA_ERROR_INVALID_PTX")
    print(b"nonsense" in log.value or log.value)


def main() -> None:
    call("cuDeviceGetCount", byref(c_int()), expected="CUDA_ERROR_NOT_INITIALIZED")
    call("cuInit", 0)
    devices()
    entry_points()
    call("cuMemFree_v2", c_uint64(0), expected="CUDA_ERROR_INVALID_CONTEXT")
    call("cuCtxSetCurrent", handle("cuDevicePrimaryCtxRetain", 0))
    image = Path(sys.argv[1]).read_bytes()
    memory()
    kernels(image)
    linked(image)
    errors()
    call("cuDevicePrimaryCtxRelease_v2", 0)
    call("cuCtxSynchronize", expected="CUDA_ERROR_CONTEXT_IS_DESTROYED")


main()
