"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublaslt(A, B, C, scale_a, scale_b, M, N, K):
    scales = (torch.full((), scale, device=A.device) for scale in (scale_a, scale_b))
    return torch._scaled_mm(A, B.t(), *scales, out_dtype=torch.float16, use_fast_accum=False)
