"""PyTorch in a runner's jail and under its filters, on the CPU: what it needs is imported before they are there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge.sandbox.bind import Bind
from judge.sandbox.launch import run_to_end
from judge.sandbox.policy import run_policy
from judge.sandbox.python_paths import PYTHON_OPTIONS, is_shown_anyway, module_paths
from judge.settings import RunLimits

pytestmark = pytest.mark.jail

PROGRAM = """
import os, sys, torch
from judge.runner import seccomp
from judge.runner.cuda.pytorch import KernelsOnly, PyTorch
from judge.wire import landlock

class HostPyTorch(PyTorch):
    def __init__(self):
        self.has_functions, self.device = False, torch.device("cpu")

with KernelsOnly(lambda: None):
    repr(torch.ones(3).fill_(1.0))
landlock.restrict_runner()
seccomp.lock_before_load()
HostPyTorch().begin(lambda: None)
seccomp.lock_after_load()
imported = set(sys.modules)
made = torch.empty(100).fill_(2.0).view(10, 10)
print(made.t().shape, made[0, 0].item(), made.clone()[0, :2], torch.empty_like(made).device)
try:
    made + made
except NotImplementedError as error:
    print(error)
print("imported:", sorted(set(sys.modules) - imported))
"""


def test_tensors_work_under_the_filters_and_import_nothing_more(tmp_path: Path) -> None:
    paths = module_paths(tmp_path)
    policy = run_policy(
        RunLimits(),
        binds=[Bind.same(path) for path in paths if not is_shown_anyway(path)],
        env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    output = run_to_end(policy, [sys.executable, *PYTHON_OPTIONS, "-c", PROGRAM], wall_s=120.0, output_bytes=1 << 16)
    told = output.data.decode()
    assert output.exit.ok, told
    assert "torch.Size([10, 10]) 2.0 tensor([2., 2.]) cpu" in told
    assert "add is PyTorch's own work" in told
    assert told.endswith("imported: []\n")
