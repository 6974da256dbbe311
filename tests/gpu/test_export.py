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
    ("slug", "name", "arch"),
    [
        ("softmax", "plain", "compute_80"),
        # Tensor maps, which the driver makes, and wgmma, which sm_90 alone lacks.
        ("gemm", "tuned_sm90", "sm_90"),
    ],
)
def test_the_packages_own_tests_pass(slug: str, name: str, arch: str, gpu: DeviceInfo, tmp_path: Path) -> None:
    if arch == "sm_90" and gpu.compute_capability != "9.0":
        pytest.skip("the GPU is not of compute capability 9.0")
    source, folder = ROOT / "reference_solutions" / slug / f"{name}.cu", tmp_path / "out"
    command = [sys.executable, "-m", "gpujudge", "export", "--torch", str(source), "--challenge", slug]
    done = subprocess.run(
        [*command, "--arch", arch, "--out", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env=os.environ | {"TORCH_EXTENSIONS_DIR": str(tmp_path / "extensions")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
