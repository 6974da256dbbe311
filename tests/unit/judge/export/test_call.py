"""The generated Python reads from the shapes of each challenge's cases what the judge itself passes."""

from __future__ import annotations

import ast
import ctypes
import importlib
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from judge.export import python
from judge.export.call import ExportedCall, call_of, identifier, python_of
from judge.export.torch_package import torch_package
from judge.packs import sizes
from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import scalar_values
from judge.packs.pack import Case

CHALLENGES = Path(__file__).resolve().parents[4] / "challenges"
SLUGS = sorted(path.parent.name for path in CHALLENGES.glob("*/challenge.toml"))


def values(call: ExportedCall, case: Case, **changed: tuple[int, ...]) -> dict[str, Any]:
    """Runs the generated lines with arrays of the case's shapes; returns their variables."""
    shapes = {each.name: sizes.array_shape(case, each) for each in call.tensors} | changed
    names: dict[str, Any] = {identifier(name): SimpleNamespace(shape=shape) for name, shape in shapes.items()}
    names |= {identifier(each.name): case.variables[each.name] for each in call.keywords}
    exec(python.CEIL_DIV + "\n" + "\n".join(python.read_sizes(call)), names)
    return names


@pytest.mark.parametrize("slug", SLUGS)
def test_sizes_and_numbers_follow_from_the_shapes(slug: str) -> None:
    call = call_of(load_pack(CHALLENGES / slug))
    for case in (*call.pack.cases, *call.pack.benchmarks):
        found = values(call, case)
        assert {axis: found[identifier(axis)] for axis, _ in call.sizes} == {
            axis: case.axes[axis] for axis, _ in call.sizes
        }
        passed = [eval(each, found) for each in python.scalars(call)]
        assert passed == pytest.approx([float(value) for value in scalar_values(call.pack, case).values()], rel=1e-6)
        for each in (argument for argument in call.pack.arguments if argument.is_pointer):
            assert eval(python.shape(call, each.name), found) == sizes.array_shape(case, each)


def test_sizes_that_no_shape_tells_are_given() -> None:
    call = call_of(load_pack(CHALLENGES / "top-k"))
    assert call.given == ("input", "k")
    assert python.keywords(call, typed=True) == ["k: int"]
    assert call_of(load_pack(CHALLENGES / "fft-1d")).sizes == (("N", "signal.shape[0] // 2"),)
    gemm = call_of(load_pack(CHALLENGES / "gemm"))
    assert python.keywords(gemm, typed=True) == ["alpha: float = 1.0", "beta: float = 0.0"]
    assert python.keywords(gemm, typed=False) == ["alpha = 1.0", "beta = 0.0"]
    assert python.in_order(gemm) == "A, B, C, scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]"


def test_sizes_for_which_nothing_was_judged_are_refused() -> None:
    call = call_of(load_pack(CHALLENGES / "gemm"))
    case = call.pack.cases[0]
    with pytest.raises(ValueError, match="K is 20: it must be a multiple of 16, at least 16"):
        values(call, case, A=(16, 20))


def test_names_that_python_keeps_for_itself_are_changed() -> None:
    assert [identifier(name) for name in ("lambda", "min", "N")] == ["lambda_", "min_", "N"]
    assert python_of("min(N, min) + ceil_div(max, 2)") == "min(N, min_) + ceil_div(max_, 2)"


@pytest.mark.parametrize("slug", ["gemm", "softmax", "top-k", "adam-step", "fp8-gemm"])
def test_the_package_is_python(slug: str) -> None:
    call = call_of(load_pack(CHALLENGES / slug))
    files = torch_package(call, b'#include "a.cuh"\n// gpujudge: file=a.cuh\nint a;\n', "compute_80")
    assert files[f"{call.name}/csrc/a.cuh"] == b"int a;\n"
    for path, content in files.items():
        if path.endswith(".py"):
            ast.parse(content)


@pytest.mark.parametrize(
    ("arch", "code"), [("compute_80", []), ("sm_90", ["compute_90a,code=sm_90a"]), ("sm_86", ["compute_86,code=sm_86"])]
)
def test_the_package_is_compiled_as_the_kernel_was_judged(arch: str, code: list[str]) -> None:
    """With device lambdas, say; and where a GPU was named with that GPU's own instructions."""
    call = call_of(load_pack(CHALLENGES / "gemm"))
    files = torch_package(call, b"int a;\n", arch)
    names: dict[str, Any] = {"__file__": "extension.py"}
    exec(files["gemm/extension.py"], names)
    options = names["NVCC"]
    assert {"-O3", "--extended-lambda", f"-std={call.pack.build.std}", "-U__CUDA_NO_HALF_OPERATORS__"} <= {*options}
    assert [option.partition("arch=")[2] for option in options if "arch=" in option] == code


def test_the_package_finds_the_functions_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which nothing links to a kernel that makes tensor maps."""
    files = torch_package(call_of(load_pack(CHALLENGES / "gemm")), b"int a;\n", "sm_90")
    folder = tmp_path / "exported_gemm"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "extension.py").write_bytes(files["gemm/extension.py"])
    (folder / "_C.py").write_text("launch = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    loaded: list[tuple[str, int]] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name, mode: loaded.append((name, mode)))
    extension = importlib.import_module("exported_gemm.extension").extension()
    assert loaded == [("libcuda.so.1", ctypes.RTLD_GLOBAL)]
    assert extension.__name__ == "exported_gemm._C"


def test_the_package_finds_the_headers_of_cutlass(monkeypatch: pytest.MonkeyPatch) -> None:
    call = call_of(load_pack(CHALLENGES / "gemm"))

    def include_paths(source: bytes) -> list[str]:
        names: dict[str, Any] = {"__file__": "extension.py"}
        exec(torch_package(call, source, "sm_90")["gemm/extension.py"], names)
        paths: list[str] = names["include_paths"]()
        return paths

    source = b"#include <cutlass/gemm/device/gemm.h>\n"
    monkeypatch.setenv("CUTLASS_PATH", "/opt/cutlass")
    assert include_paths(b"int a;\n") == []
    assert include_paths(source) == ["/opt/cutlass/include"]
    monkeypatch.delenv("CUTLASS_PATH")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ImportError, match="pip install nvidia-cutlass"):
        include_paths(source)


def test_setup_compiles_as_the_first_call_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = torch_package(call_of(load_pack(CHALLENGES / "gemm")), b"#include <cute/tensor.hpp>\n", "sm_90")
    (tmp_path / "gemm").mkdir()
    for name in ("setup.py", "gemm/extension.py"):
        (tmp_path / name).write_bytes(files[name])
    torch = ModuleType("torch.utils.cpp_extension")
    given: dict[str, Any] = {}
    vars(torch).update(BuildExtension=None, CUDAExtension=lambda *_, **options: given.update(options))
    setuptools = ModuleType("setuptools")
    vars(setuptools).update(setup=lambda **_: None)
    for module in (torch, setuptools, ModuleType("torch"), ModuleType("torch.utils")):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setenv("CUTLASS_PATH", "/opt/cutlass")
    runpy.run_path(str(tmp_path / "setup.py"))
    assert given["include_dirs"] == ["/opt/cutlass/include"]
    assert "-gencode=arch=compute_90a,code=sm_90a" in given["extra_compile_args"]["nvcc"]
