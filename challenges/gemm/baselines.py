"""The same task by calls of libraries (judge.packs.baselines)."""


def cublas(A, B, C, M, N, K, alpha, beta):
    if alpha == beta == 1:
        raise ValueError("PyTorch rounds the product to half precision before it adds C here")
    return C.addmm_(A, B, beta=beta, alpha=alpha)
