"""Says what takes the place of names that newer toolkits lack, and that older programs and tutorials use."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OF_NAMESPACE = re.compile(r'\berror: namespace "(cub|thrust)" has no member (?:class |type )?"(\w{1,60})"')
_OF_DEVICE = re.compile(r'\berror: class "cudaDeviceProp" has no member "(\w{1,60})"')
_LOCATION = re.compile(r'\berror: no suitable constructor exists to convert from "int" to "cudaMemLocation"')
_REFERENCE = re.compile(r"\berror: (?:texture|surface) is not a template\b")

#: What CUDA 13's CUB and Thrust lack, and what to write instead.
_INSTEAD = {
    "cub::Sum": "cuda::std::plus<>{} (<cuda/std/functional>)",
    "cub::Max": "cuda::maximum<>{} (<cuda/functional>)",
    "cub::Min": "cuda::minimum<>{} (<cuda/functional>)",
    "cub::Equality": "cuda::std::equal_to<>{} (<cuda/std/functional>)",
    "cub::Inequality": "cuda::std::not_equal_to<>{} (<cuda/std/functional>)",
    "cub::Difference": "cuda::std::minus<>{} (<cuda/std/functional>)",
    "cub::Division": "cuda::std::divides<>{} (<cuda/std/functional>)",
    "cub::CountingInputIterator": "thrust::counting_iterator (<thrust/iterator/counting_iterator.h>)",
    "cub::ConstantInputIterator": "thrust::constant_iterator (<thrust/iterator/constant_iterator.h>)",
    "cub::TransformInputIterator": "thrust::transform_iterator (<thrust/iterator/transform_iterator.h>)",
    "cub::DiscardOutputIterator": "thrust::discard_iterator (<thrust/iterator/discard_iterator.h>)",
    "thrust::unary_function": "a struct that derives from nothing",
    "thrust::binary_function": "a struct that derives from nothing",
}
#: Members of cudaDeviceProp that CUDA 13 lacks, and the attributes that tell the same.
_ATTRIBUTES = {
    "clockRate": "cudaDevAttrClockRate",
    "memoryClockRate": "cudaDevAttrMemoryClockRate",
    "deviceOverlap": "cudaDevAttrGpuOverlap",
    "kernelExecTimeoutEnabled": "cudaDevAttrKernelExecTimeout",
    "computeMode": "cudaDevAttrComputeMode",
    "singleToDoublePrecisionPerfRatio": "cudaDevAttrSingleToDoublePrecisionPerfRatio",
}


def advice(log: str) -> str:
    """Returns the replacements of removed names that a compiler's log complains of, in words; empty where none is."""
    return "\n".join(dict.fromkeys(_advice(log)))


def _advice(log: str) -> Iterator[str]:
    if _REFERENCE.search(log):
        yield (
            "CUDA 12 has removed texture and surface references (texture<...>, cudaBindTexture). Make an object "
            "instead: cudaCreateTextureObject, or cudaCreateSurfaceObject, gives what tex1Dfetch and the like take as "
            "an argument."
        )
    for space, name in _OF_NAMESPACE.findall(log):
        if (instead := _INSTEAD.get(f"{space}::{name}")) is not None:
            yield f"CUDA 13 has removed {space}::{name}. Write instead: {instead}."
    for name in _OF_DEVICE.findall(log):
        if (attribute := _ATTRIBUTES.get(name)) is not None:
            yield (
                f"CUDA 13 has removed {name} from cudaDeviceProp. Ask instead: "
                f"cudaDeviceGetAttribute(&value, {attribute}, device)."
            )
    if _LOCATION.search(log):
        yield (
            "Since CUDA 13, cudaMemPrefetchAsync and cudaMemAdvise take a cudaMemLocation instead of a device: "
            "cudaMemPrefetchAsync(pointer, bytes, {cudaMemLocationTypeDevice, device}, 0, stream)."
        )
