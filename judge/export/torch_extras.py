"""Writes the files around an exported operator: its build, its tests, its benchmark and its README."""

from __future__ import annotations

from judge.export.call import TORCH_TYPES, ExportedCall


def extras(call: ExportedCall) -> dict[str, str]:
    """Returns the texts by their paths."""
    return {
        "README.md": _readme(call),
        "setup.py": _SETUP.format(name=call.name),
        "benchmark.py": _benchmark(call),
        f"{call.name}/__init__.py": _INIT.format(name=call.name, title=call.pack.title),
        f"tests/test_{call.name}.py": _test(call),
    }


_INIT = '''"""{title}: a CUDA kernel as an operator of PyTorch."""

from .op import {name}

__all__ = ["{name}"]
'''

_SETUP = """import runpy
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

# Importing the package would register its operator.
extension = runpy.run_path(str(Path(__file__).resolve().parent / "{name}" / "extension.py"))

setup(
    name="gpujudge-{name}",
    version="1.0.0",
    packages=["{name}"],
    package_data={{"{name}": ["csrc/*"]}},
    ext_modules=[
        CUDAExtension(
            "{name}._C",
            ["{name}/csrc/binding.cpp", "{name}/csrc/entry.cu"],
            include_dirs=extension["include_paths"](),
            define_macros=[("AS_PYTHON_MODULE", None)],
            extra_compile_args={{"cxx": ["-O2"], "nvcc": extension["NVCC"]}},
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
