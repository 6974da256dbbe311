"""Checks outputs of timed calls on the GPU itself, in a trusted process that runs the pack's reference by CuPy."""
