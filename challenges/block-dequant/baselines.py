"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(X, S, Y, M, N, TILE_SIZE):
    rows = S.repeat_interleave(TILE_SIZE, dim=0)[:M]
    return X * rows.repeat_interleave(TILE_SIZE, dim=1)[:, :N]
