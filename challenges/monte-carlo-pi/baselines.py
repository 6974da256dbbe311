"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(points, pi, N):
    squares = points.long().square().sum(dim=1)
    return (squares < 1 << 32).sum() * (4.0 / N)
