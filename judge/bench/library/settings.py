"""How PyTorch is set up for baselines, whatever its defaults become."""

from __future__ import annotations

import warnings

import torch


def settle() -> None:
    """Makes single-precision products exact to single precision, and lets cuDNN try its algorithms.

    Also turns off the checks of sparse tensors, and PyTorch's warning that these are in beta.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)
    torch.sparse.check_sparse_tensor_invariants.disable()
    warnings.filterwarnings("ignore", "Sparse .* tensor support is in beta", UserWarning)
