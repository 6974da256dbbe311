"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(input, output, rows, cols):
    return output.copy_(input.t())
