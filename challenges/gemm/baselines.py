"""The same task by calls of libraries (judge.packs.baselines)."""


def cublas(A, B, C, M, N, K, alpha, beta):
    return C.addmm_(A, B, beta=beta, alpha=alpha)
