"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(input, output, rows, cols):
    output.copy_(input)
    if rows > 2 and cols > 2:
        inside = input[:-2, 1:-1] + input[2:, 1:-1] + input[1:-1, :-2] + input[1:-1, 2:]
        output[1:-1, 1:-1] = inside * 0.25
    return output
