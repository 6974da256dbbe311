"""Turns PyCUDA's texts into CUDA errors with the names that kernel authors know."""

from __future__ import annotations

from judge.runner.device import DeviceError

#: cuGetErrorString's text -> (code, the runtime API's name, what it usually means). Codes: CUDA driver API, CUresult.
_ERRORS = {
    "invalid argument": (1, "cudaErrorInvalidValue"),
    "out of memory": (2, "cudaErrorMemoryAllocation"),
    "invalid device ordinal": (101, "cudaErrorInvalidDevice"),
    "device kernel image is invalid": (200, "cudaErrorInvalidKernelImage"),
    "no kernel image is available for execution on the device": (209, "cudaErrorNoKernelImageForDevice"),
    "uncorrectable ECC error encountered": (214, "cudaErrorECCUncorrectable"),
    "invalid resource handle": (400, "cudaErrorInvalidResourceHandle"),
    "an illegal memory access was encountered": (700, "cudaErrorIllegalAddress"),
    "too many resources requested for launch": (701, "cudaErrorLaunchOutOfResources"),
    "the launch timed out and was terminated": (702, "cudaErrorLaunchTimeout"),
    "device-side assert triggered": (710, "cudaErrorAssert"),
    "hardware stack error": (714, "cudaErrorHardwareStackError"),
    "an illegal instruction was encountered": (715, "cudaErrorIllegalInstruction"),
    "misaligned address": (716, "cudaErrorMisalignedAddress"),
    "operation not supported on global/shared address space": (717, "cudaErrorInvalidAddressSpace"),
    "invalid program counter": (718, "cudaErrorInvalidPc"),
    "unspecified launch failure": (719, "cudaErrorLaunchFailure"),
    "unknown error": (999, "cudaErrorUnknown"),
}


def device_error(text: str) -> DeviceError:
    """Returns the error for a text such as ``cuCtxSynchronize failed: an illegal memory access was encountered``.

    An unknown text gets code 999.
    """
    _call, _, words = text.partition(" failed: ")
    for known, (code, name) in _ERRORS.items():
        if words.startswith(known):
            return DeviceError(code, name, known)
    return DeviceError(999, "cudaErrorUnknown", text)
