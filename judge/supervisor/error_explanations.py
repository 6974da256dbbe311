"""Explains CUDA errors and Unix signals to the author of a kernel, in one sentence each."""

from __future__ import annotations

import signal

_CUDA = {
    "cudaErrorInvalidValue": "an argument of a CUDA call or launch was out of range: look at its sizes and offsets",
    "cudaErrorMemoryAllocation": "the device memory allowed for this challenge ran out",
    "cudaErrorInvalidConfiguration": "the launch configuration is not possible: look at threads a block (at most 1024),"
    " the grid's dimensions and the shared memory",
    "cudaErrorInvalidDeviceFunction": "the kernel was not built for this device",
    "cudaErrorNoKernelImageForDevice": "the kernel was not built for this device",
    "cudaErrorInvalidResourceHandle": "a stream, an event or a handle was used that does not exist",
    "cudaErrorIllegalAddress": "a kernel touched memory that is not its own: look at the bounds of the last blocks",
    "cudaErrorLaunchOutOfResources": "too many registers or too much shared memory for this block size",
    "cudaErrorLaunchTimeout": "a kernel ran for too long",
    "cudaErrorAssert": "an assert() in a kernel failed",
    "cudaErrorHardwareStackError": "a kernel's call stack overflowed or was overwritten",
    "cudaErrorIllegalInstruction": "a kernel reached an instruction that does not exist, or a trap",
    "cudaErrorMisalignedAddress": "an address was not a multiple of the access's size; vector loads need it",
    "cudaErrorInvalidAddressSpace": "an instruction for one memory space was given an address of another",
    "cudaErrorInvalidPc": "a kernel jumped to where no code is",
    "cudaErrorLaunchFailure": "a kernel failed on the device: by a trap, or by an access through a wild pointer",
}

_SIGNALS = {
    signal.SIGSEGV: "the host code touched memory that is not its own: is a device pointer dereferenced there?",
    signal.SIGBUS: "the host code touched memory that is not there",
    signal.SIGFPE: "the host code divided an integer by zero",
    signal.SIGILL: "the host code ran into an illegal instruction",
    signal.SIGABRT: "abort(), or a failed assert() in the host code",
}


def explain_cuda(name: str, message: str) -> str:
    """Returns e.g. ``cudaErrorIllegalAddress: an illegal memory access was encountered (a kernel touched …)``."""
    text = f"{name}: {message}" if message else name
    return f"{text} ({_CUDA[name]})" if name in _CUDA else text


def explain_signal(number: int) -> str:
    """Returns e.g. ``killed by SIGSEGV (…)``."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    meaning = _SIGNALS.get(signal.Signals(number)) if name.startswith("SIG") else None
    return f"killed by {name}" + (f" ({meaning})" if meaning else "")
