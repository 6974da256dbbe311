"""Exported kernels on a real GPU: PyTorch compiles the package, and the package's own tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge.judgement import DeviceInfo
from tests.builds import ROOT

pytestmark = [pytest.mark.gpu, pytest.mark.jail, pytest.mark.nvcc]


@pytest.mark.parametrize(
    ("slug", "name", "arch", "by_setup"),
    [
        ("softmax", "plain", "compute_80", True),
        # Tensor maps, which the driver makes, and wgmma, which sm_90 alone lacks.
        ("gemm", "tuned_sm90", "sm_90", False),
    ],
    ids=["setup.py", "at the first call"],
)
def test_the_packages_own_tests_pass(
    slug: str, name: str, arch: str, by_setup: bool, gpu: DeviceInfo, tmp_path: Path
) -> None:
    if arch == "sm_90" and gpu.compute_capability != "9.0":
        pytest.skip("the GPU is not of compute capability 9.0")
    source, folder = ROOT / "reference_solutions" / slug / f"{name}.cu", tmp_path / "out"
    command = [sys.executable, "-m", "gpujudge", "export", "--torch", str(source), "--challenge", slug]
    done = subprocess.run(
        [*command, "--arch", arch, "--out", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # Whatever would be compiled at the first call after setup.py has no place to go.
    extensions = tmp_path / "extensions"
    if by_setup:
        extensions.write_text("")
        _run([sys.executable, "setup.py", "build_ext", "--inplace"], folder, extensions)
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], folder, extensions)


def _run(command: list[str], folder: Path, extensions: Path) -> None:
    environment = os.environ | {"TORCH_EXTENSIONS_DIR": str(extensions)}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
