"""Breadth-first search on a grid in NumPy: all cells of one distance at a time."""

import numpy as np


def make_inputs(rng, rows, cols, start_row, start_col, end_row, end_col, walls, winding, labyrinth, forks, closed):
    grid = (rng.random((rows, cols)) < walls).astype(np.int32)
    if labyrinth:
        grid = _labyrinth(rng, rows, cols, labyrinth, forks)
        for row, col in ((start_row, start_col), (end_row, end_col)):
            # A way to the nearest cell.
            grid[row // 2 * 2, col // 2 * 2 : col + 1] = grid[row // 2 * 2 : row + 1, col] = 0
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


def _labyrinth(rng, rows, cols, strip, forks):
    """A labyrinth whose cells lie on even rows and columns, and whose way from one end to the other is long.

    The cells make a random tree. Strips of ``strip`` rows of cells are joined at alternating ends alone, somewhere in
    the last quarter, so that a way through all of them goes back and forth, and winds within each. A share ``forks`` of
    the other walls between rows is open within the strips: which of two ways is shorter is not decided in one place.
    """
    height, width = (rows + 1) // 2, (cols + 1) // 2
    cells, row, col = np.arange(height * width).reshape(height, width), np.arange(1, height), np.arange(width)
    weights, open_more = rng.random((height - 1, width)), rng.random((height - 1, width)) < forks
    is_between = (row % strip == 0)[:, None]
    at_left = (row // strip % 2 == 0)[:, None]
    is_joint = np.where(at_left, col, width - 1 - col) < max(1, width // 4)
    weights += np.where(is_between, np.where(is_joint, 1.0, 2.0), 0.0)
    below, beside = np.stack([cells[:-1], cells[1:]], 2), np.stack([cells[:, :-1], cells[:, 1:]], 2)
    pairs = np.concatenate([below.reshape(-1, 2), beside.reshape(-1, 2)])
    is_open = _tree(pairs, np.concatenate([weights.reshape(-1), rng.random(beside.size // 2)]), cells.size)
    grid = np.ones((rows, cols), np.int32)
    grid[::2, ::2] = 0
    grid[1 : 2 * height - 1 : 2, ::2] = ~(is_open[: weights.size].reshape(weights.shape) | (open_more & ~is_between))
    grid[::2, 1 : 2 * width - 1 : 2] = ~is_open[weights.size :].reshape(height, width - 1)
    return grid


def _tree(pairs, weights, count):
    """Which pairs belong to the lightest tree that joins all ``count`` cells (Boruvka's algorithm)."""
    order = np.argsort(weights)
    ends, is_chosen = pairs[order], np.zeros(len(pairs), bool)
    group = np.arange(count)
    while True:
        first, second = group[ends].T
        apart = np.flatnonzero(first != second)
        if not apart.size:
            is_in_tree = np.empty_like(is_chosen)
            is_in_tree[order] = is_chosen
            return is_in_tree
        # Of each group the lightest pair that leaves it: the first one, since they are sorted.
        lightest = np.full(count, len(pairs))
        np.minimum.at(lightest, first[apart], apart)
        np.minimum.at(lightest, second[apart], apart)
        groups = np.flatnonzero(lightest < len(pairs))
        pair = lightest[groups]
        is_chosen[pair] = True
        other = np.where(first[pair] == groups, second[pair], first[pair])
        parent = np.arange(count)
        parent[groups] = other
        # Of two groups that chose the same pair one stays.
        stays = groups[(parent[other] == groups) & (groups < other)]
        parent[stays] = stays
        while (parent[parent] != parent).any():
            parent = parent[parent]
        group = parent[group]


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
