"""Breadth-first search on a grid in NumPy: all cells of one distance at a time."""

import numpy as np


def make_inputs(rng, rows, cols, start_row, start_col, end_row, end_col, walls, winding, closed):
    grid = (rng.random((rows, cols)) < walls).astype(np.int32)
    if winding:
        # A wall along every other row, with a gap near alternating ends.
        grid[:] = 0
        for row in range(1, rows - 1, 2):
            gap = int(rng.integers(0, 3))
            grid[row] = 1
            grid[row, gap if row // 2 % 2 else cols - 1 - gap] = 0
    if closed:
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            row, col = end_row + down, end_col + right
            if 0 <= row < rows and 0 <= col < cols:
                grid[row, col] = 1
    grid[start_row, start_col] = grid[end_row, end_col] = 0
    return {"grid": grid}


def reference(grid, rows, cols, start_row, start_col, end_row, end_col, result=None):
    # A wall all around saves the comparisons with the borders.
    width = int(cols) + 2
    is_free = np.pad(grid == 0, 1).reshape(-1)
    end = (int(end_row) + 1) * width + int(end_col) + 1
    front = np.array([(int(start_row) + 1) * width + int(start_col) + 1])
    is_free[front] = False
    steps = 0
    while front.size:
        if (front == end).any():
            return np.array([steps])
        neighbours = (front[:, None] + np.array([-width, -1, 1, width])).reshape(-1)
        front = np.unique(neighbours[is_free[neighbours]])
        is_free[front] = False
        steps += 1
    return np.array([-1])
