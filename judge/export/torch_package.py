"""An exported kernel as a PyTorch extension: sources that the user's PyTorch compiles."""

from __future__ import annotations

from judge.compile.source_files import SUPPLIED, split_files
from judge.export import python
from judge.export.call import TORCH_TYPES, ExportedCall, identifier
from judge.export.samples import samples_of


def torch_package(call: ExportedCall, source: bytes) -> dict[str, bytes]:
    """Returns the files of the package by their paths."""
    inner, title = call.name, call.pack.title
    texts = {
        "README.md": _readme(call),
        "setup.py": _SETUP.format(name=call.name),
        "benchmark.py": _benchmark(call),
        f"{inner}/__init__.py": _INIT.format(name=inner, title=title),
        f"{inner}/op.py": _operator(call),
        f"{inner}/extension.py": _EXTENSION.format(name=call.name),
        f"{inner}/csrc/entry.cu": _entry(call),
        f"{inner}/csrc/binding.cpp": _binding(call),
        f"{inner}/csrc/{SUPPLIED}": call.pack.header(),
        f"tests/test_{call.name}.py": _test(call),
    }
    files = {f"{inner}/csrc/{file.name}": file.content for file in split_files(source)}
    return {
        **files,
        **{path: text.encode() for path, text in texts.items()},
        "tests/samples.npz": samples_of(call.pack),
    }


def _operator(call: ExportedCall) -> str:
    results = [identifier(each.name) for each in call.results]
    returns = {0: "None", 1: "Tensor"}.get(len(results), "tuple[" + ", ".join(["Tensor"] * len(results)) + "]")
    changed = [identifier(each.name) for each in call.pack.outputs if each.role == "inout"]
    body = [f"results, scalars = _arrange({python.names(call)})"]
    for each in (each for each in call.tensors if each.role == "in"):
        body.append(f"{identifier(each.name)} = {identifier(each.name)}.contiguous()")
    for name in changed:
        body.append(f"if not {name}.is_contiguous():")
        body.append(f'    raise ValueError("{name} is changed in place, so it must be contiguous")')
    fake = [f"results, _ = _arrange({python.names(call)})"]
    if results:
        body.append(f"{python.tuple_of(results)} = results")
    body.append(f"extension().launch({_in_order(call)})")
    if results:
        body.append(f"return {', '.join(results)}")
        fake.append("return results[0]" if len(results) == 1 else "return results")
    mutates = python.tuple_of([f'"{name}"' for name in changed])
    parts = {
        "title": call.pack.title,
        "name": call.name,
        "ceil_div": python.CEIL_DIV,
        "parameters": python.parameters(call),
        "names": python.names(call),
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


def _in_order(call: ExportedCall) -> str:
    given, number = [], 0
    for each in call.pack.arguments:
        if each.is_pointer:
            given.append(identifier(each.name))
        else:
            given.append(f"scalars[{number}]")
            number += 1
    return ", ".join(given)


def _entry(call: ExportedCall) -> str:
    """The kernel behind a function with plain C types, which takes a stream."""
    taken = ", ".join(
        f"{'const ' if each.role == 'in' else ''}void* {each.name}" if each.is_pointer else f"{each.c_type} {each.name}"
        for each in call.pack.arguments
    )
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
extern "C" int gpujudge_{call.name}({taken}, void* stream)
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
    taken, passed, declared, tensors = [], [], [], []
    for each in call.pack.arguments:
        if each.is_pointer:
            taken.append(f"const at::Tensor& {each.name}")
            passed.append(f"{each.name}.data_ptr()")
            declared.append(f"{'const ' if each.role == 'in' else ''}void* {each.name}")
            tensors.append(each.name)
        else:
            taken.append(f"{'double' if each.element.facts.is_float else 'int64_t'} {each.name}")
            passed.append(f"static_cast<{each.c_type}>({each.name})")
            declared.append(f"{each.c_type} {each.name}")
    return f"""#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cstdint>
#include <torch/extension.h>

extern "C" int gpujudge_{call.name}({", ".join(declared)}, void* stream);

void launch({", ".join(taken)})
{{
    for (const at::Tensor& tensor : {{{", ".join(tensors)}}}) TORCH_CHECK(tensor.is_cuda() && tensor.is_contiguous());
    const c10::cuda::CUDAGuard guard({tensors[0]}.device());
    C10_CUDA_CHECK(static_cast<cudaError_t>(
        gpujudge_{call.name}({", ".join(passed)}, c10::cuda::getCurrentCUDAStream().stream())));
}}

#ifdef GPUJUDGE_MODULE
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

_INIT = '''"""{title}: a CUDA kernel as an operator of PyTorch."""

from .op import {name}

__all__ = ["{name}"]
'''

_EXTENSION = '''"""The compiled part: what ``pip install .`` built, or else what the first call compiles."""

import functools
from pathlib import Path

HERE = Path(__file__).resolve().parent / "csrc"
#: PyTorch takes the operators of half and bfloat16 away, which kernels may use.
NVCC = ["-O3", *(f"-U__CUDA_NO_{{each}}__" for each in (
    "HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"
))]


@functools.cache
def extension():
    """Returns the module with ``launch``."""
    try:
        from . import _C
    except ImportError:
        from torch.utils.cpp_extension import load_inline

        return load_inline(
            "gpujudge_{name}",
            cpp_sources=[(HERE / "binding.cpp").read_text()],
            cuda_sources=['#include "entry.cu"'],
            functions=["launch"],
            extra_include_paths=[str(HERE)],
            extra_cuda_cflags=NVCC,
        )
    return _C
'''

_SETUP = """import sys
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

sys.path.insert(0, str(Path(__file__).resolve().parent))
from {name}.extension import NVCC  # noqa: E402

setup(
    name="gpujudge-{name}",
    version="1.0.0",
    packages=["{name}"],
    package_data={{"{name}": ["csrc/*"]}},
    ext_modules=[
        CUDAExtension(
            "{name}._C",
            ["{name}/csrc/binding.cpp", "{name}/csrc/entry.cu"],
            define_macros=[("GPUJUDGE_MODULE", None)],
            extra_compile_args={{"cxx": ["-O2"], "nvcc": NVCC}},
        )
    ],
    cmdclass={{"build_ext": BuildExtension}},
)
"""


def _test(call: ExportedCall) -> str:
    types = {each.name: TORCH_TYPES[each.element] for each in (*call.tensors, *call.results)}
    return f'''"""Compares the operator with the challenge's NumPy reference, within the challenge's tolerance."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from {call.name} import {call.name}

SAMPLES = np.load(Path(__file__).with_name("samples.npz"))
CASES = json.loads(SAMPLES["cases"].tobytes())
TENSORS = {[each.name for each in call.tensors]!r}
RESULTS = {[each.name for each in call.results]!r}
TYPES = {types!r}
KEYWORDS = {[each.name for each in call.keywords]!r}
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def tensor(case, name, device):
    dtype = getattr(torch, TYPES[name])
    stored = torch.from_numpy(SAMPLES[f"{{case['id']}}/{{name}}"].copy())
    return stored.view(dtype).reshape(shape(case, name)).to(device)


def shape(case, name):
    return tuple(SAMPLES[f"{{case['id']}}/{{name}}.shape"])


def arguments(case, device):
    return [tensor(case, name, device) for name in TENSORS] + [case[name] for name in KEYWORDS]


def check(case, device):
    given = arguments(case, device)
    made = {call.name}(*given)
    made = () if made is None else made if isinstance(made, tuple) else (made,)
    outputs = dict(zip(RESULTS, made)) | {{name: given[TENSORS.index(name)] for name in TENSORS}}
    for name, output in outputs.items():
        key = f"{{case['id']}}/{{name}}"
        if f"{{key}}.values" not in SAMPLES:
            continue
        expected, bound = SAMPLES[f"{{key}}.values"], SAMPLES[f"{{key}}.bound"]
        got = output.cpu().to(torch.float64 if output.dtype.is_floating_point else torch.int64).numpy()
        got = got.reshape(expected.shape)
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        with np.errstate(invalid="ignore"):
            assert np.all(same | (np.abs(got - expected) <= bound)), name


@needs_gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_it_computes_what_the_reference_does(case):
    check(case, "cuda")


@needs_gpu
def test_it_runs_on_the_callers_stream():
    with torch.cuda.stream(torch.cuda.Stream()):
        check(CASES[0], "cuda")


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_it_runs_on_the_tensors_gpu():
    check(CASES[0], "cuda:1")


@needs_gpu
def test_it_is_a_proper_operator():
    torch.library.opcheck({call.name}, arguments(CASES[0], "cuda"))


def test_shapes_and_types_are_known_without_a_gpu():
    from torch._subclasses.fake_tensor import FakeTensorMode

    case = CASES[0]
    with FakeTensorMode():
        given = [torch.empty(shape(case, name), dtype=getattr(torch, TYPES[name]), device="cuda") for name in TENSORS]
        given += [case[name] for name in KEYWORDS]
        made = {call.name}(*given)
    made = () if made is None else made if isinstance(made, tuple) else (made,)
    for name, output in zip(RESULTS, made):
        assert (tuple(output.shape), output.dtype) == (shape(case, name), getattr(torch, TYPES[name]))


def test_a_wrong_type_is_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    case = CASES[0]
    with FakeTensorMode(), pytest.raises(Exception, match="has the type"):
        given = [torch.empty(shape(case, name), dtype=torch.complex64, device="cuda") for name in TENSORS]
        {call.name}(*given, *[case[name] for name in KEYWORDS])
'''


def _benchmark(call: ExportedCall) -> str:
    return f'''"""Times the operator, eager and in torch.compile; ``--against module:function`` adds a peer.

All take the last sample. The cache is flushed before each call (triton.testing.do_bench).
"""

import argparse
import importlib

import triton.testing
import torch

from tests.test_{call.name} import CASES, arguments
from {call.name} import {call.name}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--against", metavar="MODULE:FUNCTION")
options = parser.parse_args()
given = arguments(CASES[-1], "cuda")
timed = {{"{call.name}": {call.name}, "{call.name}, compiled": torch.compile(lambda *given: {call.name}(*given))}}
if options.against:
    module, _, name = options.against.partition(":")
    peer = getattr(importlib.import_module(module), name)
    timed |= {{"peer": peer, "peer, compiled": torch.compile(peer)}}
for name, function in timed.items():
    low, median, high = triton.testing.do_bench(lambda: function(*given), quantiles=[0.1, 0.5, 0.9])
    print(f"{{name:32}} {{1e3 * median:10.2f}} us  ({{1e3 * low:.2f}} to {{1e3 * high:.2f}})")
'''


def _readme(call: ExportedCall) -> str:
    given = ", ".join(call.given)
    return f"""# {call.pack.title} for PyTorch

    pip install --no-build-isolation .        # compiles the kernel once; without it the first call does
    python -c 'from {call.name} import {call.name}'
    pytest tests                              # against the challenge's NumPy reference
    python benchmark.py --against module:function

`{call.name}({given})` is `torch.ops.gpujudge.{call.name}`.
It works in eager code, `torch.compile` and `torch.export`. The kernel launches on the default stream. The call orders
it after and before the caller's stream, so no CUDA graph can capture it.
"""
