"""Files written by ``gpujudge export`` compile with nvcc and run on the emulator."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.builds import ROOT, build_with_nvcc
from tests.emulated_programs import emulate
from tests.integration.emulator.standalone.conftest import FLAGS, PTX

pytestmark = [pytest.mark.nvcc, pytest.mark.jail, pytest.mark.exhaustive(share=2)]

#: The kernel is a part of the program, so that one compilation does.
PROGRAM = """
#include "ENTRY"
#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(float* x, float value, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}
int main()
{
    const int n = 1000;
    float *a, *b, *c, got[n];
    cudaMalloc(&a, sizeof got), cudaMalloc(&b, sizeof got), cudaMalloc(&c, sizeof got);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<<<4, 256, 0, stream>>>(a, 1, n);
    fill<<<4, 256, 0, stream>>>(b, 2, n);
    const int error = gpujudge_vector_add(a, b, c, n, stream);
    cudaMemcpyAsync(got, c, sizeof got, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaStreamDestroy(stream);
    for (int i = 0; i < n; ++i)
        if (got[i] != 3) return std::printf("%d: %f\\n", i, got[i]), 1;
    return error;
}
"""


def gpujudge(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpujudge", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.usefixtures("library")
def test_the_kernel_runs_after_and_before_the_callers_stream(tmp_path: Path) -> None:
    source = ROOT / "reference_solutions/vector-add/tuned.cu"
    folder = tmp_path / "out"
    done = gpujudge("export", "--torch", str(source), "--challenge", "vector-add", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    main = tmp_path / "main.cu"
    main.write_text(PROGRAM.replace("ENTRY", str(folder / "vector_add/csrc/entry.cu")))
    program = build_with_nvcc(main, *FLAGS, *PTX, "-cudart", "shared", suffix="")
    run = emulate("--check=full", program)
    assert run.exit_code == 0, run.stdout + run.stderr
    assert "no problems found" in run.stderr


def test_the_library_and_its_wrapper(tmp_path: Path) -> None:
    source = ROOT / "reference_solutions/softmax/plain.cu"
    folder = tmp_path / "out"
    done = gpujudge("export", "--ctypes", str(source), "--challenge", "softmax", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["libsoftmax.so", "softmax.h", "softmax.py"]
    spec = importlib.util.spec_from_file_location("softmax", folder / "softmax.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def array(shape: tuple[int, ...], kind: str = "<f4") -> Any:
        held = np.zeros(shape, kind)
        about = {"shape": shape, "typestr": kind, "data": (held.ctypes.data, False), "strides": None}
        return SimpleNamespace(__cuda_array_interface__=about, held=held)

    called: list[tuple[Any, ...]] = []
    module._load = lambda: SimpleNamespace(solve=lambda *given: called.append(given))
    given, made = array((5,)), array((5,))
    module.softmax(given, made)
    assert called == [(given.held.ctypes.data, made.held.ctypes.data, 5)]
    with pytest.raises(TypeError, match="input holds elements of the kind f8; the kernel takes f4"):
        module.softmax(array((5,), "<f8"), made)
    with pytest.raises(ValueError, match=r"output has the shape \(4,\); it must be \(5,\)"):
        module.softmax(given, array((4,)))
    names = subprocess.run(["nm", "-D", str(folder / "libsoftmax.so")], capture_output=True, text=True, check=True)
    assert " T solve\n" in names.stdout


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    source = ROOT / "reference_solutions/softmax/plain.cu"
    neither = gpujudge("export", str(source), "--challenge", "softmax")
    assert neither.returncode == 2
    assert "say --torch or --ctypes" in neither.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("")
    taken = gpujudge("export", "--torch", str(source), "--challenge", "softmax", "--out", str(tmp_path / "full"))
    assert taken.returncode == 2
    assert "is there already" in taken.stderr
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("int x")
    refused = gpujudge("export", "--torch", str(wrong), "--challenge", "softmax", "--out", str(tmp_path / "no"))
    assert refused.returncode == 11
    assert not (tmp_path / "no").exists()
