"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(A, B, C, batch, M, N, K, stride_a, stride_b, stride_c):
    left, right, out = (
        array.as_strided((batch, *shape), (array.shape[1], shape[1], 1))
        for array, shape in ((A, (M, K)), (B, (K, N)), (C, (M, N)))
    )
    torch.bmm(left, right, out=out)
    return C
