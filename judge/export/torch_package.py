"""An exported kernel as a PyTorch extension: sources that the user's PyTorch compiles."""

from __future__ import annotations

from judge.compile.architecture import is_ptx_alone, specific_architecture
from judge.compile.cutlass import includes_cutlass
from judge.compile.jailed_compiler import language_options
from judge.compile.source_files import SUPPLIED, split_files
from judge.export import python
from judge.export.call import TORCH_TYPES, ExportedCall, identifier
from judge.export.samples import samples_of
from judge.export.torch_extras import extras


def torch_package(call: ExportedCall, source: bytes, arch: str) -> dict[str, bytes]:
    """Returns the files of the package by their paths.

    For an ``arch`` such as ``sm_90`` the package is compiled for that GPU with all of its instructions; for a virtual
    one, PyTorch chooses the architectures.
    """
    inner = call.name
    texts = {
        **extras(call),
        f"{inner}/op.py": _operator(call),
        f"{inner}/extension.py": _EXTENSION.format(
            name=call.name,
            options=", ".join(map(repr, _nvcc_options(call, arch))),
            include_paths=_CUTLASS if includes_cutlass(source) else _NO_LIBRARY,
        ),
        f"{inner}/csrc/entry.cu": _entry(call),
        f"{inner}/csrc/binding.cpp": _binding(call),
        f"{inner}/csrc/{SUPPLIED}": call.pack.header(),
    }
    files = {f"{inner}/csrc/{file.name}": file.content for file in split_files(source)}
    return {
        **files,
        **{path: text.encode() for path, text in texts.items()},
        "tests/samples.npz": samples_of(call.pack),
    }


def _nvcc_options(call: ExportedCall, arch: str) -> list[str]:
    """Returns the options with which the kernel was judged, without the folder, which PyTorch names."""
    options = [option for option in language_options(call.pack) if not option.startswith("-I")]
    if is_ptx_alone(arch):
        return options
    # PyTorch asks for sm_90 of its own, which lacks the instructions of sm_90a. With this it asks for nothing.
    number = specific_architecture(arch).removeprefix("sm_")
    return [*options, f"-gencode=arch=compute_{number},code=sm_{number}"]


def _operator(call: ExportedCall) -> str:
    names = ", ".join(call.given)
    tensors = [f"{identifier(each.name)}: Tensor" for each in call.tensors]
    results = [identifier(each.name) for each in call.results]
    returns = {0: "None", 1: "Tensor"}.get(len(results), "tuple[" + ", ".join(["Tensor"] * len(results)) + "]")
    changed = [identifier(each.name) for each in call.pack.outputs if each.role == "inout"]
    body = [f"results, scalars = _arrange({names})"]
    for each in (each for each in call.tensors if each.role == "in"):
        body.append(f"{identifier(each.name)} = {identifier(each.name)}.contiguous()")
    for name in changed:
        body.append(f"if not {name}.is_contiguous():")
        body.append(f'    raise ValueError("{name} is changed in place, so it must be contiguous")')
    fake = [f"results, _ = _arrange({names})"]
    if results:
        body.append(f"{python.tuple_of(results)} = results")
    body.append(f"extension().launch({python.in_order(call)})")
    if results:
        body.append(f"return {', '.join(results)}")
        fake.append("return results[0]" if len(results) == 1 else "return results")
    mutates = python.tuple_of([f'"{name}"' for name in changed])
    parts = {
        "title": call.pack.title,
        "name": call.name,
        "ceil_div": python.CEIL_DIV,
        "parameters": ", ".join([*tensors, *python.keywords(call, typed=True)]),
        "names": names,
        "arrange": python.indented(_arrange(call)),
        "mutates": mutates,
        "returns": returns,
        "body": python.indented(body),
        "fake": python.indented(fake),
    }
    return _OPERATOR.format(**parts)


def _arrange(call: ExportedCall) -> list[str]:
    """Returns the lines that check what a call got, and make what it returns."""
    first = identifier(call.tensors[0].name)
    lines = list(python.read_sizes(call))
    for each in call.tensors:
        kind, shape = TORCH_TYPES[each.element], python.shape(call, each.name)
        lines.append(f'_check("{each.name}", {identifier(each.name)}, torch.{kind}, {shape}, {first}.device)')
    for each in call.results:
        maker = "zeros" if each.initial == "zero" else "empty"
        kind, shape = TORCH_TYPES[each.element], python.shape(call, each.name)
        lines.append(f"{identifier(each.name)} = torch.{maker}({shape}, dtype=torch.{kind}, device={first}.device)")
    made = python.tuple_of([identifier(each.name) for each in call.results])
    return [*lines, f"return {made}, {python.tuple_of(python.scalars(call))}"]


def _c_parameters(call: ExportedCall) -> str:
    """Returns the parameters of the entry function in C: arrays as plain pointers, and a stream."""
    taken = [
        f"{'const ' if each.role == 'in' else ''}void* {each.name}" if each.is_pointer else f"{each.c_type} {each.name}"
        for each in call.pack.arguments
    ]
    return ", ".join([*taken, "void* stream"])


def _entry(call: ExportedCall) -> str:
    """The kernel behind a function with plain C types, which takes a stream."""
    passed = ", ".join(
        f"static_cast<{each.c_type}>({each.name})" if each.is_pointer else each.name for each in call.pack.arguments
    )
    return f"""// The kernel as it was judged, with a stream. `solve` gets another name: several kernels go together.
#define solve gpujudge_{call.name}_solve
#include "kernel.cu"
#undef solve

#include <cuda_runtime.h>

namespace {{

// `then` goes on after what `first` has been given so far.
cudaError_t order(cudaStream_t first, cudaStream_t then)
{{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error != cudaSuccess) return error;
    error = cudaEventRecord(event, first);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(then, event, 0);
    cudaEventDestroy(event);
    return error;
}}

}}  // namespace

// `solve` launches on the default stream: it begins after what `stream` has, and `stream` goes on after it.
extern "C" int gpujudge_{call.name}({_c_parameters(call)})
{{
    const cudaStream_t caller = static_cast<cudaStream_t>(stream);
    const bool other = caller != nullptr && caller != cudaStreamLegacy;
    if (other)
        if (const cudaError_t error = order(caller, cudaStreamLegacy); error != cudaSuccess) return error;
    gpujudge_{call.name}_solve({passed});
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
    return other ? order(cudaStreamLegacy, caller) : cudaSuccess;
}}
"""


def _binding(call: ExportedCall) -> str:
    taken, passed, tensors = [], [], []
    for each in call.pack.arguments:
        if each.is_pointer:
            taken.append(f"const at::Tensor& {each.name}")
            passed.append(f"{each.name}.data_ptr()")
            tensors.append(each.name)
        else:
            taken.append(f"{'double' if each.element.facts.is_float else 'int64_t'} {each.name}")
            passed.append(f"static_cast<{each.c_type}>({each.name})")
    return f"""#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cstdint>
#include <torch/extension.h>

extern "C" int gpujudge_{call.name}({_c_parameters(call)});

void launch({", ".join(taken)})
{{
    for (const at::Tensor& tensor : {{{", ".join(tensors)}}}) TORCH_CHECK(tensor.is_cuda() && tensor.is_contiguous());
    const c10::cuda::CUDAGuard guard({tensors[0]}.device());
    C10_CUDA_CHECK(static_cast<cudaError_t>(
        gpujudge_{call.name}({", ".join(passed)}, c10::cuda::getCurrentCUDAStream().stream())));
}}

#ifdef AS_PYTHON_MODULE
PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {{ module.def("launch", &launch); }}
#endif
"""


_OPERATOR = '''"""{title} as an operator of PyTorch, in eager code, torch.compile and torch.export."""

import torch
from torch import Tensor

from .extension import extension

{ceil_div}

def _check(name, tensor, dtype, shape, device):
    if tensor.dtype != dtype:
        raise TypeError(f"{{name}} has the type {{tensor.dtype}}; the kernel takes {{dtype}}")
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"{{name}} has the shape {{tuple(tensor.shape)}}; it must be {{tuple(shape)}}")
    if tensor.device != device:
        raise ValueError(f"{{name}} lies on {{tensor.device}} and another tensor on {{device}}")


def _arrange({names}):
    """Returns the tensors that the call makes and the numbers that it passes, or raises what is wrong."""
{arrange}


@torch.library.custom_op("gpujudge::{name}", mutates_args={mutates}, device_types="cuda")
def {name}({parameters}) -> {returns}:
    """{title}. Runs on the caller's stream and the tensors' GPU."""
{body}


@{name}.register_fake
def _({parameters}):
{fake}
'''

_EXTENSION = '''"""The compiled part: what ``pip install .`` built, or else what the first call compiles."""

import contextlib
import ctypes
import functools
from pathlib import Path

HERE = Path(__file__).resolve().parent / "csrc"
#: The options with which the kernel was judged. PyTorch takes operators of half and bfloat16 away, which it may use.
NVCC = [{options}, *(f"-U__CUDA_NO_{{each}}__" for each in (
    "HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"
))]


def include_paths():
{include_paths}

@functools.cache
def extension():
    """Returns the module with ``launch``."""
    # Nothing links CUDA's driver, in which a kernel may call functions (cuTensorMapEncodeTiled).
    with contextlib.suppress(OSError):
        ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    try:
        from . import _C
    except ImportError:
        from torch.utils.cpp_extension import load_inline

        return load_inline(
            "gpujudge_{name}",
            cpp_sources=[(HERE / "binding.cpp").read_text()],
            cuda_sources=['#include "entry.cu"'],
            functions=["launch"],
            extra_include_paths=[str(HERE), *include_paths()],
            extra_cuda_cflags=NVCC,
        )
    return _C
'''

_NO_LIBRARY = '''    """Returns the folders of libraries whose headers the kernel includes: there are none."""
    return []
'''

_CUTLASS = '''    """Returns the folder of CUTLASS's headers: of $CUTLASS_PATH, else of the package nvidia-cutlass."""
    import importlib.util
    import os

    if "CUTLASS_PATH" in os.environ:
        return [str(Path(os.environ["CUTLASS_PATH"]) / "include")]
    spec = importlib.util.find_spec("cutlass_library")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the kernel includes CUTLASS: pip install nvidia-cutlass, or set CUTLASS_PATH")
    return [str(Path(spec.submodule_search_locations[0]) / "source" / "include")]
'''
