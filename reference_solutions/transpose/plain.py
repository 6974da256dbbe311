# Tiles of 32 x 32: rows are read and columns written, and the compiler turns the tile in shared memory.

import triton
import triton.language as tl


@triton.jit
def transpose(x, y, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    col = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + row[:, None] * cols + col[None, :], mask=(row[:, None] < rows) & (col[None, :] < cols))
    tl.store(y + col[:, None] * rows + row[None, :], tl.trans(tile), mask=(col[:, None] < cols) & (row[None, :] < rows))


def solve(input, output, rows, cols):
    transpose[(triton.cdiv(cols, 32), triton.cdiv(rows, 32))](input, output, rows, cols, TILE=32)
