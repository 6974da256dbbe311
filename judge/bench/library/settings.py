"""How PyTorch is set up for baselines, whatever its defaults become."""

from __future__ import annotations

import torch


def settle() -> None:
    """Makes single-precision products exact to single precision, and lets cuDNN try its algorithms."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)
